import type { JsPsychPlugin, PluginInfo, TrialType } from "jspsych";

/** The parameters of a trial as `trial()` receives them: with the defaults filled in. */
export type Given<Info extends PluginInfo> = Required<TrialType<Info>>;

// jsPsych 8.3 uses these two types in its contract of a plugin, but does not export them.
type Simulation = Parameters<NonNullable<JsPsychPlugin<PluginInfo>["simulate"]>>;
export type SimulationMode = Simulation[1];
export type SimulationOptions = Simulation[2];
