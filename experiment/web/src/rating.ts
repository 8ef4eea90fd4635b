// A rating on a scale with labelled ends, answered with a number key.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { element, paint } from "./display";
import { type Recorder, shown } from "./events";
import { digit, keyName } from "./guards";
import { listen } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-rating",
  version: "0.1.0",
  parameters: {
    /** The name of the scale; stands in the events as the prompt. */
    scale: { type: ParameterType.STRING, default: "rating" },
    /** The question above the scale. */
    prompt: { type: ParameterType.STRING, default: undefined },
    /** What the lowest point, 1, means. */
    low: { type: ParameterType.STRING, default: "" },
    /** What the highest point means. */
    high: { type: ParameterType.STRING, default: "" },
    /** The number of points, from 2 to 9. */
    points: { type: ParameterType.INT, default: 7 },
    /** The presented position of the trial, from 0; stands in its events. */
    position: { type: ParameterType.INT, default: 0 },
    /** Receives each event of the trial: (kind, t, trial, value). */
    record: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** The number that was pressed. */
    response: { type: ParameterType.INT },
    /** ms from the frame that painted the question to the key press. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

/**
 * The points in a row, numbered as the keys are on the keyboard: from left to right in every language.
 * The row is for the eye; the list item's numbers and both labels are read out in order.
 */
function scaleRow(trial: Given<Info>): HTMLElement {
  const scale = element("div", "scale");
  const row = element("ol", "points");
  scale.dir = "ltr";
  for (let point = 1; point <= trial.points; point += 1) row.append(element("li", "point", String(point)));
  const ends = element("div", "ends");
  const low = element("span", "end low", trial.low);
  const high = element("span", "end high", trial.high);
  low.dir = high.dir = "auto";
  ends.append(low, high);
  scale.append(row, ends);
  return scale;
}

export class Rating implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const stage = element("section", "rating");
    const prompt = element("h1", "prompt", trial.prompt);
    prompt.setAttribute("aria-live", "polite");
    stage.append(prompt, scaleRow(trial));
    let repeats = 0;
    const painted = paint(() => display.replaceChildren(stage));

    listen({
      exclusive: true,
      frame: () => painted.frame,
      wants: (press) => (digit(press) ?? Infinity) <= trial.points,
      accepted: (press, handler) => {
        const response = digit(press) as number;
        const value = { task: "rating", prompt: trial.scale, response, ...shown(painted, handler, repeats) } as const;
        record("response", press.t, trial.position, value);
        listen(null);
        this.jsPsych.finishTrial({ response, rt: press.t - (painted.frame as number) });
      },
      ignored: (press, reason) => {
        if (reason === "repeat") repeats += 1;
        else record("press", press.t, trial.position, { reason, code: keyName(press) });
      },
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const { randomInt, sampleExGaussian } = this.jsPsych.randomization;
    const drawn = { response: randomInt(1, trial.points), rt: Math.max(200, sampleExGaussian(900, 200, 1 / 300, true)) };
    const data = { ...drawn, ...options.data };
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial(data);
    this.trial(this.jsPsych.getDisplayElement(), trial);
    this.jsPsych.pluginAPI.pressKey(String(data.response), data.rt);
  }
}
