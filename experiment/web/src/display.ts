import type { Painted } from "./events";

let waiting: Painted[] = [];
let beating = false;

/**
 * Asks for every animation frame, as long as the page is open. Asked for only when needed, the frame after a change comes
 * with the time of the last refresh, up to 17 ms before the change that it paints (seen in Chromium 156).
 */
function beat(t: number): void {
  for (const painted of waiting) {
    if (painted.frame === null) painted.frame = t;
    else painted.frame2 = t;
  }
  waiting = waiting.filter((painted) => painted.frame2 === null);
  requestAnimationFrame(beat);
}

/** Makes a change to the page and notes when, and the animation frame that paints it and the one after. */
export function paint(change: () => void): Painted {
  change();
  const painted: Painted = { request: performance.now(), frame: null, frame2: null };
  waiting.push(painted);
  if (!beating) requestAnimationFrame(beat);
  beating = true;
  return painted;
}

let steps = 0;

/** Says on an element what it now shows, and counts: whoever watches the page from outside sees each change. */
export function mark(shown: HTMLElement, screen: string): void {
  steps += 1;
  shown.dataset.screen = screen;
  shown.dataset.step = String(steps);
}

/** An element with text; texts of a study are plain text and are never read as markup. */
export function element(tag: string, className: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

export const paragraphs = (text: string): string[] =>
  text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The size, in px, that lets the widest word fit in `room`: `size` itself where it does. */
export const fittingSize = (size: number, widest: number, room: number): number =>
  widest > room ? (size * room) / widest : size;
