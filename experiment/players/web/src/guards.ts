// Which key presses count, as in the lab (../../lab/keys.py); both are held to ../../judging.json. Pure: the clock, the keyboard
// and the page are arguments.

import type { Ignored } from "./screens";

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

export type Verdict = "accept" | Ignored["reason"];

/** What the browser says of a key that went down. */
export const readPress = (event: KeyboardEvent, handler: number): Press => ({
  code: event.code,
  key: event.key,
  t: event.timeStamp,
  repeat: event.repeat,
  ctrl: event.ctrlKey,
  alt: event.altKey || event.getModifierState("AltGraph"),
  meta: event.metaKey,
  shift: event.shiftKey,
  composing: event.isComposing,
  handler,
  released: null,
  trusted: event.isTrusted,
});

export const isSpace = (press: Pick<Press, "code" | "key">): boolean => press.code === "Space" || press.key === " ";

/** Ctrl, Alt, Meta or Shift itself, on either side. */
const isModifier = (press: Pick<Press, "code" | "key">): boolean =>
  /^(?:Control|Alt|Meta|OS|Shift)(?:Left|Right)$/.test(press.code) ||
  ["Control", "Alt", "AltGraph", "Meta", "Shift"].includes(press.key);

/**
 * The number from 1 to 9 on the key, top row or keypad; null for any other key.
 * What the key types comes first, so that a layout may move its digits; then where it stands, for layouts that type
 * digits with Shift (French) or in another script (Arabic, Persian, Hindi), and for a keypad without NumLock.
 */
export function readDigit(press: Pick<Press, "code" | "key" | "shift">): number | null {
  if (/^[1-9]$/.test(press.key)) return Number(press.key);
  const match = /^(?:Digit|Numpad)([1-9])$/.exec(press.code);
  return match && !press.shift ? Number(match[1]) : null;
}

/**
 * What a display may want a press as: the key's place, whatever the layout types there, and the number that it is. The space
 * bar with Shift is wanted nowhere.
 */
export function listKeyNames(press: Pick<Press, "code" | "key" | "shift">): string[] {
  if (isSpace(press)) return press.shift ? [] : ["Space"];
  const number = readDigit(press);
  return number === null ? [press.code || press.key] : [press.code || press.key, String(number)];
}

/** Whether a press is one of these keys. */
export const isOneOf = (press: Press, keys: readonly string[]): boolean => listKeyNames(press).some((name) => keys.includes(name));

export const wantsSpace = (press: Press): boolean => isOneOf(press, ["Space"]);

/** One name a key, also where a press comes without a code. */
export const keyName = (press: Pick<Press, "code" | "key">): string =>
  isSpace(press) ? "Space" : press.code || press.key || "unknown";

/**
 * What a press is worth on a display that waits for `wanted` keys and was painted at `frame`; `held`: an earlier press still
 * blocks it. "modifier" is a key pressed with Ctrl, Alt or Meta, or the space bar with Shift; a modifier itself is a key like
 * any other.
 */
export function judgePress(press: Press, display: { wanted: boolean; frame: number | null; held: boolean }): Verdict {
  if (press.repeat) return "repeat";
  if (isModifier(press)) return "other";
  if (press.ctrl || press.alt || press.meta || (press.shift && isSpace(press))) return "modifier";
  if (press.composing || !display.wanted) return "other";
  if (display.held) return "held";
  if (display.frame === null || press.t < display.frame) return "early";
  return "accept";
}

/** Which keys are down: a key, or the space bar, that was not let go ends no display. */
export class Keys {
  private readonly blocking = new Set<string>();
  private last: { name: string; released: number | null } | null = null;

  judge(press: Press, wanted: boolean, frame: number | null): Verdict {
    return judgePress(press, { wanted, frame, held: this.isDown("Space") || this.isDown(keyName(press)) });
  }

  /** The press as it ends a display. */
  accept(press: Press): Press {
    const accepted = { ...press, released: this.released };
    this.blocking.add(keyName(press));
    this.last = { name: keyName(press), released: null };
    return accepted;
  }

  up(key: Pick<Press, "code" | "key">, t: number): void {
    this.blocking.delete(keyName(key));
    if (this.last?.name === keyName(key) && this.last.released === null) this.last.released = t;
  }

  /** Forget which keys are down: their release may go to another window. */
  letGo(): void {
    this.blocking.clear();
  }

  /** Whether this key ended a display and was not let go. */
  isDown(name: string): boolean {
    return this.blocking.has(name);
  }

  /** When the key that was accepted last was let go, ms; null where it was not yet. */
  get released(): number | null {
    return this.last?.released ?? null;
  }
}
