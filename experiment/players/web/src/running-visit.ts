// What the timeline needs of the visit that runs it, so that neither file needs the whole of the other.

import type { JsPsych } from "jspsych";

import type { Judge } from "./plugin";
import type { EventPosition, RecordAt as Recording } from "./recorder";
import type { Outcome, Script } from "./screens";
import type { Uploads } from "./uploads";
import type { Walk } from "./walk";

export type Timeline = Extract<Parameters<JsPsych["run"]>[0], readonly unknown[]>;

/** What only some trials are known by: role, item and condition, where the page is told. */
export type Label = Record<string, unknown>;

export interface RunningVisit {
  readonly script: Script;
  readonly walk: Walk;
  readonly queue: Pick<Uploads, "pause" | "resume">;
  readonly labels?: readonly Label[] | undefined;
  readonly judge: Judge;
  readonly record: Recording;
  /** why the session ends before its end, null while it goes on */
  readonly over: string | null;
  /** the screen at hand */
  position: EventPosition;
  /** frames a second, as measured */
  readonly hz: number | null;
  /** Whether the participant has agreed to take part when this step comes. */
  agreed(step: number): boolean;
  /** Goes on after the screen at hand has ended so. */
  ended(outcome: Outcome): Promise<void>;
  /** Ends the session at the screen at hand. */
  readonly leave: (reason: string) => void;
}
