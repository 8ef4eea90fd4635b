// A comprehension question: its answers as buttons, in the order in which they are written, and by key.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { answers, ask, sidesOf, taskStage } from "./answers";
import { element } from "./display";
import type { Recorder } from "./events";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-question",
  version: "0.1.0",
  parameters: {
    /** The question. */
    question: { type: ParameterType.STRING, default: undefined },
    /** The answers to choose from. */
    choices: { type: ParameterType.STRING, array: true, default: undefined },
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
    /** The answer that was chosen. */
    response: { type: ParameterType.STRING },
    /** ms from the frame that painted the question to the answer. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

export class Question implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const stage = taskStage("question", trial.question, trial.sentence, trial.direction);
    const choices = answers(trial.choices, trial.choices, sidesOf(trial.direction));
    const row = element("div", "answers");
    row.dir = trial.direction;
    row.append(...choices.map((choice) => choice.button));
    stage.append(row);
    ask(display, stage, { screen: "question", choices, position: trial.position, record }, ({ value }, t, given) => {
      const response = value as string;
      record("response", t, trial.position, { task: "question", prompt: "question", response, ...given });
      this.jsPsych.finishTrial({ response, rt: t - (given.frame as number) });
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const { randomInt, sampleExGaussian } = this.jsPsych.randomization;
    const response = trial.choices[randomInt(0, trial.choices.length - 1)] as string;
    const data = { response, rt: Math.max(300, sampleExGaussian(1400, 300, 1 / 500, true)), ...options.data };
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial(data);
    const display = this.jsPsych.getDisplayElement();
    this.trial(display, trial);
    const index = trial.choices.indexOf(data.response);
    this.jsPsych.pluginAPI.clickTarget(display.querySelectorAll(".answers button")[index] as Element, data.rt);
  }
}
