// A visit, wherever the page is run: from the first page to the last screen of the script, and what is recorded of it.

import { type JsPsych, initJsPsych } from "jspsych";

import { measureMachine } from "./checks";
import { sizeWords, ensureSuitableWindow } from "./fitting";
import { watchInterruptions } from "./interruption";
import { type Judge, judgeLocally, EMPTY_RESPONSE } from "./plugin";
import { type Numbering, type EventPosition, type RecordAt, type EventValues, createRecorder } from "./recorder";
import type { Label, RunningVisit, Timeline } from "./running-visit";
import type { Event, Outcome, Script } from "./screens";
import { buildTimeline } from "./timeline";
import type { Uploads } from "./uploads";
import type { Walk } from "./walk";

/** The session goes on nowhere, or is complete: nobody has to be told. */
export const STOPPED = "stopped";

export class Visit implements RunningVisit {
  /** why the session ends before its end, null while it goes on */
  over: string | null = null;
  /** the screen at hand */
  position: EventPosition = [null, null];
  /** frames a second, as measured */
  hz: number | null = null;
  /** whether a key has ended a screen of this visit; null as long as none was asked for */
  private keyboard: boolean | null = null;
  private recorder: ReturnType<typeof createRecorder>;
  private checks = measureMachine();
  private jsPsych: JsPsych | null = null;

  /** `keep` receives each event. */
  constructor(
    readonly script: Script,
    readonly walk: Walk,
    numbering: Numbering,
    keep: (event: Event) => void,
    readonly queue: Pick<Uploads, "pause" | "resume">,
    readonly labels?: readonly Label[],
    readonly judge: Judge = judgeLocally,
  ) {
    this.recorder = createRecorder(numbering, keep);
  }

  /** Whether the participant has agreed to take part when this step comes. */
  agreed(step: number): boolean {
    const { consent } = this.script;
    return consent === null || step > consent || this.walk.done.has(consent);
  }

  readonly record: RecordAt = (kind, t, position, value) => {
    if (kind === "outcome" && (value as EventValues["outcome"]).press?.by === "key") this.keyboard = true;
    this.recorder.record(kind, t, position, value);
  };

  /** From now on what happens is told. */
  async begin(): Promise<void> {
    const seen = await this.checks;
    this.hz = seen.refresh_hz;
    this.recorder.begin({ ...seen, keyboard: this.keyboard, monitor: null, full_screen: null, font: null, software: {} });
    const { texts, device } = this.script;
    const note: Parameters<typeof watchInterruptions>[1] = (kind, t, value) => {
      const inTrial = this.walk.steps[this.position[0] ?? -1]?.step.trial != null;
      if (kind === "interruption" || inTrial) this.record(kind, t, this.position, value as EventValues["press"] & EventValues["interruption"]);
    };
    watchInterruptions(texts.interrupted, note, device.keyboard);
    this.queue.resume();
  }

  /** Goes on after the screen at hand has ended so. */
  async ended(outcome: Outcome): Promise<void> {
    const [number] = this.walk.at as [number, number];
    this.position = [null, null];
    if (!this.walk.endScreen(outcome)) return;
    this.record("done", performance.now(), [number, null], { dropped_frames: null });
    if (number === this.script.consent) await this.begin();
    else this.queue.resume();
  }

  /** Ends the session at the screen at hand. */
  readonly leave = (reason: string): void => {
    this.over ??= reason;
    this.walk.leave(reason);
    this.jsPsych?.abortExperiment();
  };

  /** Goes through what is left of the script, and `more` after that; says whether it was gone through to its end. */
  async run(
    options: object = {},
    more: Timeline = [],
    play = (jsPsych: JsPsych, all: Timeline): Promise<void> => jsPsych.run(all),
  ): Promise<boolean> {
    if (this.walk.ending === null && !(await ensureSuitableWindow(this.script))) this.over = "unsuitable";
    this.over ??= this.walk.ending;
    if (this.over) return false;
    if (this.agreed(0)) await this.begin();
    if (this.walk.interrupted) {
      this.record("outcome", performance.now(), this.walk.at as EventPosition, { outcome: "interrupted", ...EMPTY_RESPONSE });
      await this.ended("interrupted");
    }
    sizeWords(this.script);
    const stage = document.getElementById("stage") as HTMLElement;
    stage.replaceChildren();
    this.jsPsych = initJsPsych({ display_element: stage, ...options });
    const all = [...buildTimeline(this), ...more];
    if (all.length > 0) await play(this.jsPsych, all);
    this.over ??= this.walk.ending;
    return this.over === null;
  }
}
