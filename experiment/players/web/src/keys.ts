// The keyboard of the page: one pair of listeners for the whole session, so that a key held down across two screens is known.

import { Keys, type Press, type Verdict, isSpace, readPress } from "./guards";

export interface KeyListener {
  wants(press: Press, event: KeyboardEvent): boolean;
  /** when the display was painted; null while it was not */
  frame(): number | null;
  accepted(press: Press): void;
  ignored(press: Press, reason: Exclude<Verdict, "accept">): void;
  /** part of a trial: keep the space bar from scrolling the page, and cover the page when the window is left */
  exclusive: boolean;
  /** told when the window is left: what time runs in is over then */
  left?(t: number): void;
}

const keys = new Keys();
const waitingPresses: (() => void)[] = [];
let listener: KeyListener | null = null;
let cover: KeyListener | null = null;
let whenUncovered: (() => void)[] = [];
let gate: () => Promise<void> | null = () => null;

/** The screen that listens, unless it is covered. */
export const currentListener = (): KeyListener | null => (cover ? null : listener);

export function setListener(next: KeyListener | null): void {
  listener = next;
}

/** Lets what lies over the page listen in place of the screen, until it is null again. */
export function setCover(next: KeyListener | null): void {
  cover = next;
  if (cover) return;
  const waiting = whenUncovered;
  whenUncovered = [];
  for (const callback of waiting) callback();
}

/** Acts as soon as nothing covers the page. */
export function runUncovered(callback: () => void): void {
  if (cover) whenUncovered.push(callback);
  else callback();
}

/** What lies over the page and has buttons of its own. */
export const IGNORING_LISTENER: KeyListener = { wants: () => false, frame: () => null, accepted() {}, ignored() {}, exclusive: false };

export const releaseKeys = (): void => keys.letGo();

export const lastRelease = (): number | null => keys.released;

/** From now on keys wait, in order, until what `writing` promises is done; their times are those of the events. */
export function holdKeysUntil(writing: () => Promise<void> | null): void {
  gate = writing;
}

async function handleWaiting(): Promise<void> {
  while (waitingPresses.length > 0) {
    await gate();
    (waitingPresses[0] as () => void)();
    waitingPresses.shift();
  }
}

/** Acts after all the keys that were pressed until now. */
export function runInOrder(handle: () => void): void {
  if (waitingPresses.length === 0 && !gate()) return handle();
  waitingPresses.push(handle);
  if (waitingPresses.length === 1) void handleWaiting();
}

/** Fields and buttons have the space bar for themselves. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLButtonElement || target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

function handleKeyDown(event: KeyboardEvent): void {
  const press = readPress(event, performance.now());
  const target = cover ?? listener;
  if (target) {
    // A key that answers must not also type into what is shown next, nor scroll it.
    const scrolls = isSpace(press) && (keys.isDown("Space") || (target.exclusive && !isControl(event.target)));
    if (scrolls || (!press.ctrl && !press.alt && !press.meta && target.wants(press, event))) event.preventDefault();
  }
  runInOrder(() => handlePress(press, event));
}

function handlePress(press: Press, event: KeyboardEvent): void {
  const target = cover ?? listener;
  if (!target) return;
  const reason = keys.judge(press, target.wants(press, event), target.frame());
  if (reason === "accept") target.accepted(keys.accept(press));
  else target.ignored(press, reason);
}

function handleKeyUp(event: KeyboardEvent): void {
  runInOrder(() => keys.up(event, event.timeStamp));
}

export function startKeys(): void {
  window.addEventListener("keydown", handleKeyDown, { capture: true });
  window.addEventListener("keyup", handleKeyUp, { capture: true });
  window.addEventListener("blur", releaseKeys);
}
