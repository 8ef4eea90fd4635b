// Questions about the participant: a form that screen readers can read.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { element, mark, paint } from "./display";
import { listen } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";
import type { Field, Texts } from "./session";

const info = {
  name: "gardenpath-form",
  version: "0.1.0",
  parameters: {
    /** The questions: name, label, kind ("text", "number", "choice"), choices, low, high, needed. */
    fields: { type: ParameterType.OBJECT, array: true, default: undefined },
    /** about_you, may_be_empty, needed, not_a_number, go_on. */
    texts: { type: ParameterType.OBJECT, default: undefined },
    /** Called with the answers when the form is complete: (t, answers). */
    done: { type: ParameterType.FUNCTION, default: () => {} },
    /** Label and action of a way out of the study; none when the label is empty. */
    way_out: { type: ParameterType.STRING, default: "" },
    leave: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** The answers by name; empty ones are left out. */
    answers: { type: ParameterType.OBJECT },
    /** ms from the display of the form to its end. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;
type Answers = Record<string, string | number>;
type Control = HTMLInputElement | HTMLSelectElement;

/** What is wrong with an answer, or null. */
export function fault(field: Field, given: string, texts: Pick<Texts, "needed" | "not_a_number">): string | null {
  if (given === "") return field.needed ? texts.needed : null;
  if (field.kind !== "number") return null;
  const [low, high] = [field.low ?? 0, field.high ?? 999];
  const value = Number(given);
  if (Number.isInteger(value) && value >= low && value <= high) return null;
  return texts.not_a_number.replace("{low}", String(low)).replace("{high}", String(high));
}

/** The answers as they are stored. */
export const stored = (fields: readonly Field[], given: Readonly<Record<string, string>>): Answers =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => (given[name] ? [[name, kind === "number" ? Number(given[name]) : given[name]]] : [])),
  );

/** Digits of every script as the ones of ASCII. */
export const digits = (text: string): string =>
  text.replace(/[٠-٩۰-۹०-९０-９]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = [0x660, 0x6f0, 0x966, 0xff10].find((first) => code >= first && code <= first + 9) as number;
    return String(code - zero);
  });

function control(field: Field): Control {
  if (field.kind === "choice") {
    const select = element("select", "field") as HTMLSelectElement;
    select.append(new Option("", ""), ...field.choices.map((choice) => new Option(choice, choice)));
    return select;
  }
  const input = element("input", "field") as HTMLInputElement;
  Object.assign(input, { type: "text", maxLength: 200, autocomplete: "off" });
  if (field.kind === "number") input.inputMode = "numeric";
  return input;
}

export class Form implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const fields = trial.fields as Field[];
    const texts = trial.texts as Texts;
    const form = element("form", "sheet form") as HTMLFormElement;
    form.noValidate = true;
    form.append(element("h1", "", texts.about_you), element("p", "", texts.may_be_empty));
    const rows = fields.map((field, index) => {
      const id = `field-${index}`;
      const label = element("label", "", field.label) as HTMLLabelElement;
      const asked = control(field);
      const wrong = element("p", "wrong");
      label.htmlFor = asked.id = id;
      wrong.id = `${id}-wrong`;
      wrong.setAttribute("role", "alert");
      asked.setAttribute("aria-describedby", wrong.id);
      asked.setAttribute("aria-required", String(field.needed));
      label.dir = asked.dir = "auto";
      form.append(label, asked, wrong);
      return { field, asked, wrong };
    });
    const row = element("div", "buttons");
    const button = element("button", "first", texts.go_on) as HTMLButtonElement;
    button.type = "submit";
    row.append(button);
    form.append(row);
    if (trial.way_out) {
      const out = element("button", "quiet", trial.way_out) as HTMLButtonElement;
      out.type = "button";
      out.addEventListener("click", () => trial.leave());
      form.append(out);
    }
    mark(form, "form");
    listen(null);
    const painted = paint(() => display.replaceChildren(form));
    window.scrollTo(0, 0);
    rows[0]?.asked.focus({ preventScroll: true });

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given: Record<string, string> = {};
      let first: Control | null = null;
      for (const { field, asked, wrong } of rows) {
        given[field.name] = field.kind === "number" ? digits(asked.value.trim()) : asked.value.trim();
        const found = fault(field, given[field.name] as string, texts);
        wrong.textContent = found ?? "";
        asked.setAttribute("aria-invalid", String(found !== null));
        if (found !== null) first ??= asked;
      }
      if (first) return first.focus();
      const answers = stored(fields, given);
      trial.done(event.timeStamp, answers);
      this.jsPsych.finishTrial({ answers, rt: event.timeStamp - painted.request });
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const { randomInt } = this.jsPsych.randomization;
    const drawn = (field: Field): string | number => {
      if (field.kind === "choice") return field.choices[randomInt(0, field.choices.length - 1)] as string;
      return field.kind === "number" ? randomInt(field.low ?? 0, field.high ?? 999) : "simulated";
    };
    const answers = Object.fromEntries((trial.fields as Field[]).map((field) => [field.name, drawn(field)]));
    const data = { answers, rt: randomInt(4000, 20_000), ...options.data };
    onLoad();
    if (mode === "data-only") {
      trial.done(data.rt, data.answers);
      return this.jsPsych.finishTrial(data);
    }
    const display = this.jsPsych.getDisplayElement();
    this.trial(display, trial);
    const controls = display.querySelectorAll<Control>(".field");
    (trial.fields as Field[]).forEach((field, index) => ((controls[index] as Control).value = String(answers[field.name])));
    this.jsPsych.pluginAPI.clickTarget(display.querySelector("button.first") as Element, data.rt);
  }
}
