// The end of an exported session: shows nothing; its row of data carries what was recorded after the last page.

import type { JsPsych, JsPsychPlugin } from "jspsych";
import { ParameterType } from "jspsych";

import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-end",
  version: "0.1.0",
  parameters: {
    /** Called once, before the row is made. */
    done: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {},
} as const;

type Info = typeof info;

export class End implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(_display: HTMLElement, trial: Given<Info>): void {
    trial.done();
    this.jsPsych.finishTrial({});
  }

  simulate(trial: Given<Info>, _mode: SimulationMode, _options: SimulationOptions, onLoad: () => void): void {
    onLoad();
    trial.done();
    this.jsPsych.finishTrial({});
  }
}
