// A text read at once: a whole sentence, or the context before one. The space bar ends it.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { element, mark, paint } from "./display";
import { type Recorder, shown } from "./events";
import { keyName, wantsSpace } from "./guards";
import { listen } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-whole",
  version: "0.1.0",
  parameters: {
    /** The text. */
    text: { type: ParameterType.STRING, default: undefined },
    /** "sentence" or "context". */
    what: { type: ParameterType.STRING, default: "sentence" },
    /** Which of the trial's sentences this is, from 0; stands in its event from 1 on. */
    sentence: { type: ParameterType.INT, default: 0 },
    /** What to do; stands below the text. */
    hint: { type: ParameterType.STRING, default: "" },
    /** Reading direction, "ltr" or "rtl". */
    direction: { type: ParameterType.STRING, default: "ltr" },
    /** The presented position of the trial, from 0; stands in its events. */
    position: { type: ParameterType.INT, default: 0 },
    /** Receives each event of the trial: (kind, t, trial, value). */
    record: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** ms from the frame that painted the text to the press that ended it. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

export class Whole implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const what = trial.what as "sentence" | "context";
    const stage = element("section", `whole ${what}`);
    const text = element("p", "stimulus", trial.text);
    text.dir = trial.direction;
    stage.append(text, element("p", "below", trial.hint));
    mark(stage, what);
    let repeats = 0;
    const painted = paint(() => display.replaceChildren(stage));
    listen({
      exclusive: true,
      frame: () => painted.frame,
      wants: wantsSpace,
      accepted: (press) => {
        listen(null);
        const which = trial.sentence ? { sentence: trial.sentence } : {};
        record("reading", press.t, trial.position, { what, ...which, ...shown(painted, press, repeats) });
        this.jsPsych.finishTrial({ rt: press.t - (painted.frame as number) });
      },
      ignored: (press, reason) => {
        if (reason === "repeat") repeats += 1;
        else record("press", press.t, trial.position, { reason, code: keyName(press) });
      },
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const words = trial.text.split(/\s+/).length;
    const drawn = { rt: words * Math.max(150, this.jsPsych.randomization.sampleExGaussian(280, 40, 1 / 70, true)) };
    const data = { ...drawn, ...options.data };
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial(data);
    this.trial(this.jsPsych.getDisplayElement(), trial);
    this.jsPsych.pluginAPI.pressKey(" ", data.rt);
  }
}
