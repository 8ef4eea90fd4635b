// The keyboard of the page: one pair of listeners for the whole session, so that a key held down across two screens is known.

import { type Press, type Verdict, isHeld, isSpace, keyName, verdict } from "./guards";

export interface Screen {
  wants(press: Press, event: KeyboardEvent): boolean;
  /** when the display was painted; null while it was not */
  frame(): number | null;
  accepted(press: Press, handler: number): void;
  ignored(press: Press, reason: Exclude<Verdict, "accept">): void;
  /** keep the space bar from scrolling the page or pushing buttons */
  exclusive: boolean;
}

const held = new Set<string>();
let screen: Screen | null = null;

export const current = (): Screen | null => screen;

export function listen(next: Screen | null): void {
  screen = next;
}

/** Forget which keys are down: their release may go to another window. */
export function letGo(): void {
  held.clear();
}

function read(event: KeyboardEvent): Press {
  return {
    code: event.code,
    key: event.key,
    t: event.timeStamp,
    repeat: event.repeat,
    ctrl: event.ctrlKey,
    alt: event.altKey,
    meta: event.metaKey,
    shift: event.shiftKey,
    composing: event.isComposing,
  };
}

function down(event: KeyboardEvent): void {
  const handler = performance.now();
  const press = read(event);
  const wasHeld = isHeld(press, held);
  const target = screen;
  if (!target) return;
  const wanted = target.wants(press, event);
  const reason = verdict(press, { wanted, frame: target.frame(), held: wasHeld });
  if (isSpace(press) && (target.exclusive || reason === "accept" || wasHeld)) event.preventDefault();
  if (reason === "accept") {
    held.add(keyName(press));
    target.accepted(press, handler);
  } else {
    target.ignored(press, reason);
  }
}

export function start(): void {
  window.addEventListener("keydown", down, { capture: true });
  window.addEventListener("keyup", (event) => held.delete(keyName(event)), { capture: true });
  window.addEventListener("blur", letGo);
}
