import type { Painted } from "./events";

/** Makes a change to the page and notes when, and the animation frame that paints it and the one after. */
export function paint(change: () => void): Painted {
  change();
  const painted: Painted = { request: performance.now(), frame: null, frame2: null };
  requestAnimationFrame((frame) => {
    painted.frame = frame;
    requestAnimationFrame((frame2) => {
      painted.frame2 = frame2;
    });
  });
  return painted;
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
