// What is settled once before the session: whether the window is large enough, and the size of the words.

import { readMachine, checkMachine } from "./checks";
import { button, element, fittingSize, paragraphs } from "./dom";
import { showMessage } from "./messages";
import type { DeviceSection, DisplaySection, Screen, Script } from "./screens";
import { splitIntoLines } from "./sentence-window";

const SHARE = 0.92; // of the window's width, for words and lines

type TextMeasure = (text: string) => number;

/** How wide texts are in the letters of an element of this class, at the size that the class has. */
function withTextMeasure<T>(name: string, { font }: DisplaySection, use: (width: TextMeasure, size: number) => T): T {
  if (font) document.documentElement.style.setProperty("--sentence-font", font);
  const probe = element("div", name);
  document.body.append(probe);
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(probe);
  probe.remove();
  const context = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  const widths = new Map<string, number>();
  const width = (text: string): number => widths.get(text) ?? (widths.set(text, context.measureText(text).width).get(text) as number);
  return use(width, parseFloat(fontSize));
}

const listScreens = ({ front, trials, interludes, end }: Script): Screen[] =>
  [...front, ...trials, ...interludes.flatMap(({ steps }) => steps), ...end].flatMap(({ screens }) => screens);

/** The widest line on which a sentence stands, in sizes of its letters; 0 where none stands on lines. */
function widestLine(script: Script): number {
  return withTextMeasure("lines", script.display, (width, size) => {
    let widest = 0;
    for (const screen of listScreens(script)) {
      if (screen.kind !== "words" || screen.arrangement === "centred") continue;
      for (const numbers of splitIntoLines(screen.words.length, screen.breaks)) {
        const line = numbers.map((n, at) => width(screen.words[n] as string) + (at > 0 ? width(screen.gaps[n - 1] ?? "") : 0));
        widest = Math.max(widest, line.reduce((a, b) => a + b, 0));
      }
    }
    return widest / size;
  });
}

/** One size for the whole session, such that the longest word and the longest line fit; never changed from word to word. */
export function sizeWords(script: Script): void {
  const { display } = script;
  const root = document.documentElement.style;
  if (display.font_size !== null) root.setProperty("--word-size", `${display.font_size}px`);
  const available = window.innerWidth * SHARE;
  withTextMeasure("word", display, (width, usual) => {
    let [widest, pair] = [0, 0];
    for (const screen of listScreens(script)) {
      if (screen.kind === "words" && screen.arrangement === "centred") for (const word of screen.words) widest = Math.max(widest, width(word));
      // Two of them stand side by side, with space between.
      if (screen.kind !== "word_pairs") continue;
      for (const { word, alternative } of screen.pairs) pair = Math.max(pair, 2.4 * width(word), 2.4 * width(alternative));
    }
    const size = fittingSize(usual, Math.max(widest, pair), available);
    root.setProperty("--word-size", `${size}px`);
    if (pair > 0) root.setProperty("--pair-width", `${(pair * size) / usual}px`);
  });
  const line = widestLine(script);
  if (line === 0) return;
  if (display.font_size !== null) root.setProperty("--line-size", `${display.font_size}px`);
  const usual = withTextMeasure("lines", display, (_, size) => size);
  const size = fittingSize(usual, line * usual, available);
  root.setProperty("--line-size", `${size}px`);
  // Every sentence begins at the same position.
  root.setProperty("--line-width", `${Math.ceil(line * size) + 2}px`);
}

/** What a machine must have: the longest line has to fit at the smallest size of letters. */
export function computeNeeds(device: DeviceSection, line: number, smallest: number): DeviceSection {
  return { ...device, min_width: Math.max(device.min_width, Math.ceil((line * smallest) / SHARE)) };
}

/** Whether the window suits the study, or is made to; false when the participant says that it cannot be. */
export async function ensureSuitableWindow(script: Script): Promise<boolean> {
  const { texts, display } = script;
  const device = computeNeeds(script.device, widestLine(script), display.min_font_size);
  let verdict = checkMachine(readMachine(), device);
  if (verdict !== "enlarge") return verdict === "yes";
  let gaveUp = false;
  const text = texts.enlarge.replace("{width}", String(device.min_width)).replace("{height}", String(device.min_height));
  showMessage(paragraphs(text), button("second", texts.no_larger, () => (gaveUp = true)));
  while (verdict === "enlarge" && !gaveUp) {
    await new Promise((done) => setTimeout(done, 100));
    verdict = checkMachine(readMachine(), device);
  }
  return verdict === "yes";
}
