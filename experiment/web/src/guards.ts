// Which key presses count. Pure: the clock, the keyboard and the page are arguments.

import type { Ignored } from "./events";

export interface Press {
  code: string;
  key: string;
  /** when the press happened, ms */
  t: number;
  /** sent by the auto-repeat of a held key */
  repeat: boolean;
  ctrl: boolean;
  alt: boolean;
  meta: boolean;
  shift: boolean;
  composing: boolean;
  /** when the handler ran, ms */
  handler: number;
  /** when the key that was accepted before was let go, ms; null where it was not */
  released: number | null;
  trusted: boolean;
}

export type Verdict = "accept" | "repeat" | Ignored;

export const isSpace = (press: Pick<Press, "code" | "key">): boolean => press.code === "Space" || press.key === " ";

/** The space bar without Shift. */
export const wantsSpace = (press: Press): boolean => isSpace(press) && !press.shift;

/**
 * The number from 1 to 9 on the key, top row or keypad; null for any other key.
 * What the key types comes first, so that a layout may move its digits; then where it stands, for layouts that type
 * digits with Shift (French) or in another script (Arabic, Persian, Hindi), and for a keypad without NumLock.
 */
export function digit(press: Pick<Press, "code" | "key" | "shift">): number | null {
  if (/^[1-9]$/.test(press.key)) return Number(press.key);
  const place = /^(?:Digit|Numpad)([1-9])$/.exec(press.code);
  return place && !press.shift ? Number(place[1]) : null;
}

/** One name a key, also where a press comes without a code. */
export const keyName = (press: Pick<Press, "code" | "key">): string =>
  isSpace(press) ? "Space" : press.code || press.key || "unknown";

/** Whether an earlier press still blocks this one: the same key, or the space bar, has not been let go. */
export const isHeld = (press: Press, held: ReadonlySet<string>): boolean =>
  held.has("Space") || held.has(keyName(press));

/** What a press is worth on a display that waits for `wanted` keys and was painted at `frame`. */
export function verdict(press: Press, display: { wanted: boolean; frame: number | null; held: boolean }): Verdict {
  if (press.repeat) return "repeat";
  if (press.ctrl || press.alt || press.meta) return "modifier";
  if (press.composing || !display.wanted) return press.shift && isSpace(press) ? "modifier" : "other";
  if (display.held) return "held";
  if (display.frame === null || press.t < display.frame) return "early";
  return "accept";
}
