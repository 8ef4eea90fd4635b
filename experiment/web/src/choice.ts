// A forced choice between two sentences, side by side or one above the other; the side of the chosen one is recorded.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { answers, ask, sidesOf, taskStage } from "./answers";
import { element } from "./display";
import type { Recorder, Side } from "./events";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-choice",
  version: "0.1.0",
  parameters: {
    /** The name of the choice; stands in the events as the prompt. */
    name: { type: ParameterType.STRING, default: "preference" },
    /** The question above the sentences. */
    prompt: { type: ParameterType.STRING, default: undefined },
    /** The two sentences, the one on the first side first. */
    sentences: { type: ParameterType.STRING, array: true, default: undefined },
    /** The condition of each sentence. */
    conditions: { type: ParameterType.STRING, array: true, default: undefined },
    /** "side_by_side" or "stacked". */
    arrangement: { type: ParameterType.STRING, default: "side_by_side" },
    /** Reading direction, "ltr" or "rtl"; the first side is where reading begins. */
    direction: { type: ParameterType.STRING, default: "ltr" },
    /** The presented position of the trial, from 0; stands in its events. */
    position: { type: ParameterType.INT, default: 0 },
    /** Receives each event of the trial: (kind, t, trial, value). */
    record: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** The condition of the chosen sentence. */
    response: { type: ParameterType.STRING },
    /** Where it stood. */
    side: { type: ParameterType.STRING },
    /** ms from the frame that painted the sentences to the choice. */
    rt: { type: ParameterType.FLOAT },
  },
} as const;

type Info = typeof info;

const sides = (trial: Given<Info>): [Side, Side] => sidesOf(trial.direction, trial.arrangement === "stacked");

export class Choice implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const stage = taskStage("choice", trial.prompt);
    const choices = answers(trial.sentences, trial.conditions, sides(trial));
    const pair = element("div", `pair ${trial.arrangement}`);
    pair.dir = trial.direction;
    pair.append(...choices.map((choice) => choice.button));
    stage.append(pair);
    ask(display, stage, { screen: "choice", choices, position: trial.position, record }, (chosen, t, given) => {
      const response = chosen.value as string;
      const side = chosen.side as Side;
      record("response", t, trial.position, { task: "choice", prompt: trial.name, response, side, ...given });
      this.jsPsych.finishTrial({ response, side, rt: t - (given.frame as number) });
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const { randomInt, sampleExGaussian } = this.jsPsych.randomization;
    const index = randomInt(0, 1);
    const drawn = { response: trial.conditions[index] as string, side: sides(trial)[index] as Side };
    const data = { ...drawn, rt: Math.max(400, sampleExGaussian(2500, 500, 1 / 800, true)), ...options.data };
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial(data);
    const display = this.jsPsych.getDisplayElement();
    this.trial(display, trial);
    const place = trial.conditions.indexOf(data.response);
    this.jsPsych.pluginAPI.clickTarget(display.querySelectorAll(".pair button")[place] as Element, data.rt);
  }
}
