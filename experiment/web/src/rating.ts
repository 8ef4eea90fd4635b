// A rating: a scale of points with labelled ends, or yes and no; answered by key or button.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { type Answer, answers, ask, sidesOf, taskStage } from "./answers";
import { element } from "./display";
import type { Recorder } from "./events";
import { digit } from "./guards";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-rating",
  version: "0.2.0",
  parameters: {
    /** "keys": numbers from 1 to `points`; "yes_no": yes (1) and no (0). */
    kind: { type: ParameterType.STRING, default: "keys" },
    /** The name of the scale; stands in the events as the prompt. */
    scale: { type: ParameterType.STRING, default: "rating" },
    /** The question above the scale. */
    prompt: { type: ParameterType.STRING, default: undefined },
    /** What the lowest point, 1, means; the label of no. */
    low: { type: ParameterType.STRING, default: "" },
    /** What the highest point means; the label of yes. */
    high: { type: ParameterType.STRING, default: "" },
    /** The number of points, from 2 to 9. */
    points: { type: ParameterType.INT, default: 7 },
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
    /** The number that was chosen. */
    response: { type: ParameterType.INT },
    /** ms from the frame that painted the question to the answer. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

/** The labels of a scale's two ends. */
export function ends(low: string, high: string): HTMLElement {
  const made = element("div", "ends");
  for (const [side, label] of [["low", low], ["high", high]] as const) {
    const end = element("span", `end ${side}`, label);
    end.dir = "auto";
    made.append(end);
  }
  return made;
}

/** The points in a row, numbered as the keys are on the keyboard: from left to right in every language. */
function points(trial: Given<Info>): { scale: HTMLElement; choices: Answer[] } {
  const scale = element("div", "scale");
  const row = element("div", "points");
  scale.dir = "ltr";
  const choices = Array.from({ length: trial.points }, (_, index) => {
    const value = index + 1;
    const button = element("button", "point", String(value));
    button.setAttribute("type", "button");
    const label = value === 1 ? trial.low : value === trial.points ? trial.high : "";
    if (label) button.setAttribute("aria-label", `${value}: ${label}`);
    row.append(button);
    return { value, button, key: (press: Parameters<typeof digit>[0]) => digit(press) === value };
  });
  scale.append(row, ends(trial.low, trial.high));
  return { scale, choices };
}

function yesNo(trial: Given<Info>): { scale: HTMLElement; choices: Answer[] } {
  const choices = answers([trial.high, trial.low], [1, 0], sidesOf(trial.direction));
  const scale = element("div", "answers");
  scale.dir = trial.direction;
  scale.append(...choices.map((choice) => choice.button));
  return { scale, choices };
}

export class Rating implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const stage = taskStage("rating", trial.prompt, trial.sentence, trial.direction);
    const { scale, choices } = trial.kind === "yes_no" ? yesNo(trial) : points(trial);
    stage.append(scale);
    ask(display, stage, { screen: "rating", choices, position: trial.position, record }, ({ value }, t, given) => {
      const response = value as number;
      record("response", t, trial.position, { task: "rating", prompt: trial.scale, response, ...given });
      this.jsPsych.finishTrial({ response, rt: t - (given.frame as number) });
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const { randomInt, sampleExGaussian } = this.jsPsych.randomization;
    const [low, high] = trial.kind === "yes_no" ? [0, 1] : [1, trial.points];
    const drawn = { response: randomInt(low, high), rt: Math.max(200, sampleExGaussian(900, 200, 1 / 300, true)) };
    const data = { ...drawn, ...options.data };
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial(data);
    const display = this.jsPsych.getDisplayElement();
    this.trial(display, trial);
    const index = trial.kind === "yes_no" ? 1 - data.response : data.response - 1;
    this.jsPsych.pluginAPI.clickTarget(display.querySelectorAll(".scale button, .answers button")[index] as Element, data.rt);
  }
}
