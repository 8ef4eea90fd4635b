// The end of an exported session: shows nothing; its row of data carries what was recorded after the last page.

import { type JsPsych, type JsPsychPlugin, ParameterType, type TrialType } from "jspsych";

import type { SimulationMode, SimulationOptions } from "./plugin";

const INFO = {
  name: "gardenpath-end",
  version: "0.1.0",
  parameters: {
    /** Called once, before the row is made. */
    done: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {},
} as const;

type Info = typeof INFO;
type TrialParameters = Required<TrialType<Info>>;

export class End implements JsPsychPlugin<Info> {
  static info = INFO;

  constructor(private jsPsych: JsPsych) {}

  trial(_display: HTMLElement, trial: TrialParameters): void {
    trial.done();
    this.jsPsych.finishTrial({});
  }

  simulate(trial: TrialParameters, _mode: SimulationMode, _options: SimulationOptions, onLoad: () => void): void {
    onLoad();
    trial.done();
    this.jsPsych.finishTrial({});
  }
}
