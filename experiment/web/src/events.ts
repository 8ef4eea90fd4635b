// What a session leaves behind. The shapes here are those of ../../events.schema.json; a test holds them together.

/** A display: when it was asked for, and the two animation frames that followed (null while they have not come). */
export interface Painted {
  request: number;
  frame: number | null;
  frame2: number | null;
}

/** A display that a press ended. */
export interface Shown extends Painted {
  handler: number;
  repeats: number;
  /** when the key that brought the display was let go; null where it was not */
  released: number | null;
  trusted: boolean;
}

export type Ignored = "early" | "held" | "modifier" | "other";
export type Side = "left" | "right" | "upper" | "lower";

/** Which of the trial's sentences: left out for the first. */
interface OfSentence {
  sentence?: number;
}

/** Where a word stands on the lines of its sentence; nothing where there are no lines. */
export interface Place {
  line?: number;
  column?: number;
}

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
    keyboard: boolean;
    /** these come from the lab alone */
    monitor?: string;
    full_screen?: boolean;
    font?: string;
    software?: Record<string, string>;
  };
  consent: { accepted: true; sha256: string; at: string };
  instructions: { page: number | "practice_over" | "feedback" };
  trial: { role: string; item: string; condition: string };
  start: Shown & OfSentence;
  word: Shown & OfSentence & Place & { word: number };
  reading: Shown & OfSentence & { what: "sentence" | "context" };
  press: { reason: Ignored; code: string };
  response: Shown & {
    task: "rating" | "question" | "choice";
    prompt: string;
    response: number | string;
    side?: Side;
    by: "key" | "button";
  };
  /** `dropped_frames` comes from the lab alone */
  trial_end: { dropped_frames?: number | null };
  break: { request: number };
  interruption: { reason: "blur" | "focus" | "hidden" | "visible" | "resize" | "escape" };
  demographics: { answers: Record<string, string | number> };
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

/** What of a press stands in the event of the display that it ended. */
export interface Ending {
  handler: number;
  released: number | null;
  trusted: boolean;
}

/** `display` ended by a press, as it stands now. */
export function shown(display: Painted, press: Ending, repeats: number): Shown {
  const { request, frame, frame2 } = display;
  return { request, frame, frame2, handler: press.handler, repeats, released: press.released, trusted: press.trusted };
}

/** Reading times, ms from key press to key press: one for each press after the first. */
export function readingTimes(presses: readonly number[]): number[] {
  return presses.slice(1).map((t, index) => t - (presses[index] as number));
}
