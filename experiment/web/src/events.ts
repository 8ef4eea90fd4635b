// What a session leaves behind. The shapes here are those of ../../events.schema.json; a test holds them together.

/** A display: when it was asked for, and the two animation frames that followed (null while they have not come). */
export interface Painted {
  request: number;
  frame: number | null;
  frame2: number | null;
}

/** A display that a key press ended. */
export interface Shown extends Painted {
  handler: number;
  repeats: number;
}

export type Ignored = "early" | "held" | "modifier" | "other";

export interface Values {
  visit: {
    time_origin: number;
    device: string;
    refresh_hz: number | null;
    timer_ms: number | null;
    width: number;
    height: number;
    pixel_ratio: number;
    isolated: boolean;
  };
  consent: { accepted: true; sha256: string };
  instructions: { page: number | "practice_over" };
  trial: { role: string; item: string; condition: string };
  start: Shown;
  word: Shown & { word: number };
  press: { reason: Ignored; code: string };
  response: Shown & { task: "rating"; prompt: string; response: number };
  trial_end: Record<string, never>;
  break: { request: number };
  interruption: { reason: "blur" | "focus" | "hidden" | "visible" };
  end: Record<string, never>;
}

export type Kind = keyof Values;

export interface Event<K extends Kind = Kind> {
  seq: number;
  visit: number;
  /** ms on the clock of this visit, unrounded */
  t: number;
  kind: K;
  /** presented position, null outside trials */
  trial: number | null;
  value: Values[K];
}

/** Everything that is recorded goes through a function of this type. */
export type Recorder = <K extends Kind>(kind: K, t: number, trial: number | null, value: Values[K]) => void;

export interface Numbering {
  visit: number;
  next: number;
}

/** A recorder that numbers its events from `numbering.next` on, counting there, and hands each to `keep`. */
export function recorder(numbering: Numbering, keep: (event: Event) => void): Recorder {
  return (kind, t, trial, value) => {
    keep({ seq: numbering.next, visit: numbering.visit, t, kind, trial, value });
    numbering.next += 1;
  };
}

/** `display` ended by a press that was handled at `handler`, as it stands now. */
export function shown(display: Painted, handler: number, repeats: number): Shown {
  return { request: display.request, frame: display.frame, frame2: display.frame2, handler, repeats };
}

/** Reading times, ms from key press to key press: one for each press after the first. */
export function readingTimes(presses: readonly number[]): number[] {
  return presses.slice(1).map((t, index) => t - (presses[index] as number));
}
