import type { Display } from "./screens";

let waitingDisplays: Display[] = [];
let frameCallbacks: ((t: number) => boolean)[] = [];
let isRunning = false;

/**
 * Asks for every animation frame, as long as the page is open. Asked for only when needed, the frame after a change comes
 * with the time of the last refresh, up to 17 ms before the change that it paints (seen in Chromium 156).
 */
function runFrame(t: number): void {
  for (const painted of waitingDisplays) {
    if (painted.frame === null) painted.frame = t;
    else painted.frame2 = t;
  }
  waitingDisplays = waitingDisplays.filter((painted) => painted.frame2 === null);
  const due = frameCallbacks;
  frameCallbacks = [];
  frameCallbacks.unshift(...due.filter((callback) => callback(t)));
  requestAnimationFrame(runFrame);
}

function startFrames(): void {
  if (!isRunning) requestAnimationFrame(runFrame);
  isRunning = true;
}

/** Makes a change to the page and notes when, and the animation frame that paints it and the one after. */
export function paint(change: () => void): Display {
  change();
  const painted: Display = { request: performance.now(), frame: null, frame2: null };
  waitingDisplays.push(painted);
  startFrames();
  return painted;
}

/** Makes a change within the frame of time `t`, which paints it. */
export function paintAt(t: number, change: () => void): Display {
  change();
  const painted: Display = { request: t, frame: t, frame2: null };
  waitingDisplays.push(painted);
  return painted;
}

/** Acts on each animation frame with its time, until it returns false. What follows on the page has to wait for the next task. */
export function everyFrame(callback: (t: number) => boolean): void {
  frameCallbacks.push(callback);
  startFrames();
}

let changeCount = 0;

/** Says on an element what it now shows, and counts: whoever watches the page from outside sees each change. */
export function markChange(shown: HTMLElement, screen: string, name = ""): void {
  changeCount += 1;
  shown.dataset["screen"] = screen;
  shown.dataset["step"] = String(changeCount);
  if (name) shown.dataset["name"] = name;
}

/** An element with text; texts of a study are plain text and are never read as markup. */
export function element(tag: string, className: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

export function button(className: string, label: string, pressed: (event: MouseEvent) => void): HTMLButtonElement {
  const made = element("button", className, label) as HTMLButtonElement;
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

/** Text on a sheet, in the form that all pages of text share. */
export function sheet(heading: string, paragraphs: readonly string[]): HTMLElement {
  const made = element("section", "sheet");
  made.tabIndex = -1;
  // Whoever hears the page begins at its heading: where none is shown, it is the study's title.
  made.append(heading ? element("h1", "", heading) : element("h1", "unseen", document.title));
  made.append(...paragraphs.map((text) => element("p", "", text)));
  return made;
}

export const paragraphs = (text: string): string[] =>
  text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The size, in px, that lets the widest word fit in `width`: `size` itself where it does. */
export const fittingSize = (size: number, widest: number, width: number): number =>
  widest > width ? (size * width) / widest : size;
