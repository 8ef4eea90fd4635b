// A page of text that ends with a button, or with the space bar where the page says so.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { element, mark, paint } from "./display";
import { wantsSpace } from "./guards";
import { listen } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-text-page",
  version: "0.1.0",
  parameters: {
    /** Heading of the page; none when empty. */
    heading: { type: ParameterType.STRING, default: "" },
    /** The paragraphs, plain text. */
    paragraphs: { type: ParameterType.STRING, array: true, default: undefined },
    /** The labels of the buttons; the first is the one to go on with. */
    buttons: { type: ParameterType.STRING, array: true, default: undefined },
    /** Whether the space bar does what the first button does. */
    space: { type: ParameterType.BOOL, default: true },
    /** What the page is, for who watches from outside: "text", "break", "consent" ... */
    screen: { type: ParameterType.STRING, default: "text" },
    /** Label and action of a way out of the study; none when the label is empty. */
    way_out: { type: ParameterType.STRING, default: "" },
    leave: { type: ParameterType.FUNCTION, default: () => {} },
    /** Called when the page is left: (t of the press, index of the button, time of the display's request). */
    left: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** Index of the button with which the page was left. */
    button: { type: ParameterType.INT },
    /** ms from the display of the page to leaving it. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

/** Text on a sheet, in the form that all pages of text share. */
export function sheet(heading: string, paragraphs: readonly string[]): HTMLElement {
  const made = element("section", "sheet");
  made.tabIndex = -1;
  if (heading) made.append(element("h1", "", heading));
  made.append(...paragraphs.map((text) => element("p", "", text)));
  return made;
}

const isInView = (shown: Element): boolean => shown.getBoundingClientRect().bottom <= window.innerHeight;

export class TextPage implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const page = sheet(trial.heading, trial.paragraphs);
    const row = element("div", "buttons");
    let open = true;

    const leave = (t: number, button: number): void => {
      if (!open) return;
      open = false;
      listen(null);
      trial.left(t, button, painted.request);
      this.jsPsych.finishTrial({ button, rt: t - painted.request });
    };

    trial.buttons.forEach((label, index) => {
      const button = element("button", index === 0 ? "first" : "second", label) as HTMLButtonElement;
      button.type = "button";
      button.addEventListener("click", (event) => leave(event.timeStamp, index));
      row.append(button);
    });
    page.append(row);
    if (trial.way_out) {
      const out = element("button", "quiet", trial.way_out) as HTMLButtonElement;
      out.type = "button";
      out.addEventListener("click", () => trial.leave());
      page.append(out);
    }
    mark(page, trial.screen);
    const painted = paint(() => display.replaceChildren(page));
    window.scrollTo(0, 0);
    page.focus({ preventScroll: true });

    listen({
      exclusive: false,
      frame: () => painted.frame,
      // A focused button has the space bar for itself, and on a page that goes on below, it scrolls.
      wants: (press, event) => trial.space && wantsSpace(press) && !(event.target instanceof HTMLButtonElement) && isInView(row),
      accepted: (press) => leave(press.t, 0),
      ignored: () => {},
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const data = { button: 0, rt: this.jsPsych.randomization.randomInt(1000, 4000), ...options.data };
    onLoad();
    if (mode === "data-only") {
      trial.left(data.rt, data.button, 0);
      return this.jsPsych.finishTrial(data);
    }
    const display = this.jsPsych.getDisplayElement();
    this.trial(display, trial);
    if (trial.buttons.length === 0) this.jsPsych.pluginAPI.pressKey(" ", data.rt);
    else this.jsPsych.pluginAPI.clickTarget(display.querySelectorAll("button")[data.button] as Element, data.rt);
  }
}
