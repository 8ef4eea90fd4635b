// A rating on a slider from 0 to 100, which must be moved before one can go on.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { taskStage } from "./answers";
import { element, mark, paint } from "./display";
import { type Ending, type Recorder, shown } from "./events";
import { keyName, wantsSpace } from "./guards";
import { listen, released } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";
import { ends } from "./rating";

const info = {
  name: "gardenpath-slider",
  version: "0.1.0",
  parameters: {
    /** The name of the scale; stands in the events as the prompt. */
    scale: { type: ParameterType.STRING, default: "rating" },
    /** The question above the slider. */
    prompt: { type: ParameterType.STRING, default: undefined },
    /** What 0 means. */
    low: { type: ParameterType.STRING, default: "" },
    /** What 100 means. */
    high: { type: ParameterType.STRING, default: "" },
    /** What to do; stands below the slider. */
    hint: { type: ParameterType.STRING, default: "" },
    /** The label of the button. */
    go_on: { type: ParameterType.STRING, default: undefined },
    /** The sentence, where it stands above the question. */
    sentence: { type: ParameterType.STRING, default: "" },
    /** Reading direction, "ltr" or "rtl". */
    direction: { type: ParameterType.STRING, default: "ltr" },
    /** The presented position of the trial, from 0; stands in its events. */
    position: { type: ParameterType.INT, default: 0 },
    /** Receives each event of the trial: (kind, t, trial, value). */
    record: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** Where the slider was left, from 0 to 100. */
    response: { type: ParameterType.INT },
    /** ms from the frame that painted the question to going on. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

export class Slider implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const stage = taskStage("rating", trial.prompt, trial.sentence, trial.direction);
    const scale = element("div", "scale");
    scale.dir = "ltr";
    const slider = element("input", "slider untouched") as HTMLInputElement;
    Object.assign(slider, { type: "range", min: "0", max: "100", step: "1", value: "50" });
    slider.setAttribute("aria-label", `${trial.prompt} 0: ${trial.low}, 100: ${trial.high}`);
    const button = element("button", "first", trial.go_on) as HTMLButtonElement;
    Object.assign(button, { type: "button", disabled: true });
    scale.append(slider, ends(trial.low, trial.high));
    stage.append(scale, element("p", "below", trial.hint), button);
    mark(stage, "slider");

    let repeats = 0;
    const painted = paint(() => display.replaceChildren(stage));
    slider.focus({ preventScroll: true });
    const moved = (): void => {
      slider.classList.remove("untouched");
      button.disabled = false;
    };
    for (const kind of ["input", "pointerdown"]) slider.addEventListener(kind, moved);

    const answer = (t: number, by: "key" | "button", press: Ending): void => {
      if (button.disabled) return;
      const response = slider.valueAsNumber;
      listen(null);
      button.disabled = true;
      record("response", t, trial.position, {
        ...{ task: "rating", prompt: trial.scale, response, by },
        ...shown(painted, press, repeats),
      });
      this.jsPsych.finishTrial({ response, rt: t - (painted.frame as number) });
    };
    button.addEventListener("click", (event) =>
      answer(event.timeStamp, "button", { handler: performance.now(), released: released(), trusted: event.isTrusted }),
    );
    const slides = (code: string): boolean => /^(Arrow|Page|Home|End|Tab|Enter)/.test(code);
    listen({
      exclusive: true,
      frame: () => painted.frame,
      wants: (press) => wantsSpace(press) && !button.disabled,
      accepted: (press) => answer(press.t, "key", press),
      ignored: (press, reason) => {
        if (reason === "repeat") repeats += 1;
        else if (!slides(press.code)) record("press", press.t, trial.position, { reason, code: keyName(press) });
      },
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const { randomInt, sampleExGaussian } = this.jsPsych.randomization;
    const drawn = { response: randomInt(0, 100), rt: Math.max(400, sampleExGaussian(1500, 300, 1 / 500, true)) };
    const data = { ...drawn, ...options.data };
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial(data);
    const display = this.jsPsych.getDisplayElement();
    this.trial(display, trial);
    const slider = display.querySelector(".slider") as HTMLInputElement;
    slider.value = String(data.response);
    slider.dispatchEvent(new Event("input"));
    this.jsPsych.pluginAPI.clickTarget(display.querySelector("button.first") as Element, data.rt);
  }
}
