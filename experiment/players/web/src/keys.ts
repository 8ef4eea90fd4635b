// The keyboard of the page: one pair of listeners for the whole session, so that a key held down across two screens is known.

import { Keys, type Press, type Verdict, isSpace, pressOf } from "./guards";

export interface Screen {
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
const waiting: (() => void)[] = [];
let screen: Screen | null = null;
let cover: Screen | null = null;
let uncovered: (() => void)[] = [];
let gate: () => Promise<void> | null = () => null;

/** The screen that listens, unless it is covered. */
export const current = (): Screen | null => (cover ? null : screen);

export function listen(next: Screen | null): void {
  screen = next;
}

/** Lets what lies over the page listen in place of the screen, until it is null again. */
export function coverWith(next: Screen | null): void {
  cover = next;
  if (cover) return;
  const waiting = uncovered;
  uncovered = [];
  for (const act of waiting) act();
}

/** Acts as soon as nothing covers the page. */
export function onceUncovered(act: () => void): void {
  if (cover) uncovered.push(act);
  else act();
}

/** What lies over the page and has buttons of its own. */
export const deaf: Screen = { wants: () => false, frame: () => null, accepted() {}, ignored() {}, exclusive: false };

export const letGo = (): void => keys.letGo();

export const released = (): number | null => keys.released;

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

/** Acts after all the keys that were pressed until now. */
export function inOrder(handle: () => void): void {
  if (waiting.length === 0 && !gate()) return handle();
  waiting.push(handle);
  if (waiting.length === 1) void drain();
}

/** Fields and buttons have the space bar for themselves. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLButtonElement || target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

function down(event: KeyboardEvent): void {
  const press = pressOf(event, performance.now());
  const target = cover ?? screen;
  if (target) {
    // A key that answers must not also type into what is shown next, nor scroll it.
    const scrolls = isSpace(press) && (keys.isDown("Space") || (target.exclusive && !isControl(event.target)));
    if (scrolls || (!press.ctrl && !press.alt && !press.meta && target.wants(press, event))) event.preventDefault();
  }
  inOrder(() => judge(press, event));
}

function judge(press: Press, event: KeyboardEvent): void {
  const target = cover ?? screen;
  if (!target) return;
  const reason = keys.judge(press, target.wants(press, event), target.frame());
  if (reason === "accept") target.accepted(keys.accept(press));
  else target.ignored(press, reason);
}

function up(event: KeyboardEvent): void {
  inOrder(() => keys.up(event, event.timeStamp));
}

export function start(): void {
  window.addEventListener("keydown", down, { capture: true });
  window.addEventListener("keyup", up, { capture: true });
  window.addEventListener("blur", letGo);
}
