// The keyboard of the page: one pair of listeners for the whole session, so that a key held down across two screens is known.

import { type Press, type Verdict, isHeld, isSpace, keyName, verdict } from "./guards";

export interface Screen {
  wants(press: Press, event: KeyboardEvent): boolean;
  /** when the display was painted; null while it was not */
  frame(): number | null;
  accepted(press: Press): void;
  ignored(press: Press, reason: Exclude<Verdict, "accept">): void;
  /** part of a trial: keep the space bar from scrolling the page, and cover the page when the window is left */
  exclusive: boolean;
}

const held = new Set<string>();
const waiting: (() => void)[] = [];
let screen: Screen | null = null;
let last: { name: string; released: number | null } | null = null;
let gate: () => Promise<void> | null = () => null;

export const current = (): Screen | null => screen;

export function listen(next: Screen | null): void {
  screen = next;
}

/** Forget which keys are down: their release may go to another window. */
export function letGo(): void {
  held.clear();
}

/** When the key that was accepted last was let go, ms; null where it was not yet. */
export const released = (): number | null => last?.released ?? null;

/** From now on keys wait, in order, until what `writing` promises is done; their times are those of the events. */
export function waitFor(writing: () => Promise<void> | null): void {
  gate = writing;
}

async function drain(): Promise<void> {
  while (waiting.length > 0) {
    await gate();
    (waiting[0] as () => void)();
    waiting.shift();
  }
}

function inOrder(handle: () => void): void {
  if (waiting.length === 0 && !gate()) return handle();
  waiting.push(handle);
  if (waiting.length === 1) void drain();
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
    handler: performance.now(),
    released: null,
    trusted: event.isTrusted,
  };
}

/** Fields and buttons have the space bar for themselves. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLButtonElement || target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

function down(event: KeyboardEvent): void {
  const press = read(event);
  if (screen) {
    // A key that answers must not also type into what is shown next, nor scroll it.
    const scrolls = isSpace(press) && (held.has("Space") || (screen.exclusive && !isControl(event.target)));
    if (scrolls || (!press.ctrl && !press.alt && !press.meta && screen.wants(press, event))) event.preventDefault();
  }
  inOrder(() => judge(press, event));
}

function judge(press: Press, event: KeyboardEvent): void {
  const target = screen;
  if (!target) return;
  const wanted = target.wants(press, event);
  const reason = verdict(press, { wanted, frame: target.frame(), held: isHeld(press, held) });
  if (reason !== "accept") return target.ignored(press, reason);
  held.add(keyName(press));
  const accepted = { ...press, released: released() };
  last = { name: keyName(press), released: null };
  target.accepted(accepted);
}

function up(event: KeyboardEvent): void {
  inOrder(() => {
    const name = keyName(event);
    held.delete(name);
    if (last?.name === name && last.released === null) last.released = event.timeStamp;
  });
}

export function start(): void {
  window.addEventListener("keydown", down, { capture: true });
  window.addEventListener("keyup", up, { capture: true });
  window.addEventListener("blur", letGo);
}
