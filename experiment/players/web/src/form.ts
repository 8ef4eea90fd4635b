// Questions about the participant: a form that screen readers can read.

import { element, markChange, paint } from "./dom";
import { setListener } from "./keys";
import { clickPress, copyDisplay, definePlugin } from "./plugin";
import type { FieldSection as Field, Form as Screen, Press } from "./screens";

type Control = HTMLInputElement | HTMLSelectElement;
type Texts = Pick<Screen, "missing" | "no_number">;

/** What is wrong with an answer, or null; as in the lab (../../lab/form.py), both held to ../../judging.json. */
export function findFault(field: Field, answer: string, texts: Texts): string | null {
  if (answer === "") return field.required ? texts.missing : null;
  if (field.kind !== "number") return null;
  const [low, high] = [field.min ?? 0, field.max ?? 999];
  if (/^-?[0-9]{1,9}$/.test(answer) && Number(answer) >= low && Number(answer) <= high) return null;
  return texts.no_number.replace("{low}", String(low)).replace("{high}", String(high));
}

/** The answers as they are stored. */
export const toStoredAnswers = (fields: readonly Field[], answers: Readonly<Record<string, string>>): Record<string, string | number> =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => (answers[name] ? [[name, kind === "number" ? Number(answers[name]) : answers[name]]] : [])),
  );

/** Digits of every script as the ones of ASCII. */
export const toAsciiDigits = (text: string): string =>
  text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) as number;
    let zero = code; // Unicode has decimal digits in runs that begin with a zero, one or more scripts or styles of ten each
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((code - zero) % 10);
  });

/** Whether a form decides who takes part. */
const decidesEligibility = ({ exits }: Screen): boolean => exits.some(({ outcome }) => outcome === "screened_out");

function buildControl(field: Field): Control {
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

export const Form = definePlugin<Screen>({
  kind: "form",

  show({ screen, display, exitButtons, judge, end }) {
    const form = element("form", "sheet form") as HTMLFormElement;
    form.noValidate = true;
    form.append(element("h1", "", screen.heading), ...(screen.note ? [element("p", "", screen.note)] : []));
    const rows = screen.fields.map((field, index) => {
      const id = `field-${index}`;
      const label = element("label", "", field.label) as HTMLLabelElement;
      const asked = buildControl(field);
      const wrong = element("p", "wrong");
      label.htmlFor = asked.id = id;
      wrong.id = `${id}-wrong`;
      wrong.setAttribute("role", "alert");
      asked.setAttribute("aria-describedby", wrong.id);
      asked.setAttribute("aria-required", String(field.required));
      label.dir = asked.dir = "auto";
      form.append(label, asked, wrong);
      return { field, asked, wrong };
    });
    const row = element("div", "buttons");
    const button = element("button", "first", screen.button) as HTMLButtonElement;
    button.type = "submit";
    row.append(button);
    const kept = element("p", "wrong");
    kept.setAttribute("role", "alert");
    form.append(row, ...(decidesEligibility(screen) ? [kept] : []), ...exitButtons);
    markChange(form, "form", screen.name);
    setListener(null);
    const painted = paint(() => display.replaceChildren(form));
    window.scrollTo(0, 0);
    rows[0]?.asked.focus({ preventScroll: true });
    // Enter in a field presses the button, as the browser has it: a click without a pointer.
    let press: Press | null = null;
    button.addEventListener("click", (event) => {
      press = clickPress(event);
      if (event.detail === 0 && document.activeElement !== button) press.by = "key";
    });

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const answers: Record<string, string> = {};
      let first: Control | null = null;
      for (const { field, asked, wrong } of rows) {
        answers[field.name] = field.kind === "number" ? toAsciiDigits(asked.value.trim()) : asked.value.trim();
        const problem = findFault(field, answers[field.name] as string, screen);
        wrong.textContent = problem ?? "";
        asked.setAttribute("aria-invalid", String(problem !== null));
        if (problem !== null) first ??= asked;
      }
      if (first) return first.focus();
      const value = { answer: toStoredAnswers(screen.fields, answers), display: copyDisplay(painted), press };
      if (!decidesEligibility(screen)) return end("answered", event.timeStamp, value);
      for (const one of [button, ...rows.map(({ asked }) => asked)]) one.disabled = true;
      void judge(screen, value.answer, (text) => (kept.textContent = text)).then((outcome) => end(outcome, event.timeStamp, value));
    });
  },

  drawResponse(screen, { randomInt }) {
    const { fields, accepted } = screen;
    const drawn = (field: Field): string | number => {
      const choices = accepted[field.name] ?? field.choices;
      if (field.kind === "choice") return choices[randomInt(0, choices.length - 1)] as string;
      return field.kind === "number" ? randomInt(field.min ?? 0, field.max ?? 999) : "simulated";
    };
    const outcome = decidesEligibility(screen) ? "accepted" : "answered";
    return { outcome, answer: Object.fromEntries(fields.map((field) => [field.name, drawn(field)])), ms: [randomInt(4000, 20_000)] };
  },

  perform(display, { fields }, { answer, ms: [ms = 0] }, { click }) {
    const controls = display.querySelectorAll<Control>(".field");
    fields.forEach(({ name }, index) => ((controls[index] as Control).value = String((answer as Record<string, unknown>)[name])));
    click(display.querySelector("button.first"), ms);
  },
});
