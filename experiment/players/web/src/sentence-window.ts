// How a sentence stands on the screen while it is read word by word.

import { element } from "./dom";
import type { WordEnded, Words } from "./screens";

type WordLocation = Pick<WordEnded, "line" | "column">;

const NO_LOCATION: WordLocation = { line: null, column: null };

export interface SentenceWindow {
  root: HTMLElement;
  /** Shows word `n`; before that, what stands there at the beginning. */
  show(n: number): void;
  /** Takes word `n` away again. */
  clear(n: number): void;
  locate(n: number): WordLocation;
}

/** One word at a time in the middle of the screen, in the place of a fixation mark. */
export function centredWindow(words: readonly string[], fixation: string, direction: string): SentenceWindow {
  const root = element("div", "word fixation", fixation);
  root.dir = direction;
  return {
    root,
    show(n) {
      root.textContent = words[n] as string;
      if (n === 0) root.classList.remove("fixation");
    },
    clear() {
      root.textContent = "";
    },
    locate: () => NO_LOCATION,
  };
}

/** The words' numbers on each line, of so many words; `breaks` begin a further line. */
export function splitIntoLines(count: number, breaks: readonly number[]): number[][] {
  const lines: number[][] = [];
  for (let n = 0; n < count; n++) {
    if (n === 0 || breaks.includes(n)) lines.push([]);
    (lines[lines.length - 1] as number[]).push(n);
  }
  return lines;
}

/**
 * The whole sentence as lines in place of its words, which the space bar uncovers one at a time; `cumulative`: a word
 * once uncovered stays. A covered word takes the room of its letters, so that nothing moves. Where a line begins is the
 * study's, the same on every screen.
 */
export function lineWindow({ words, gaps, breaks, arrangement }: Words, direction: string): SentenceWindow {
  const root = element("div", "lines");
  root.dir = direction;
  const spans = words.map((word) => element("span", "covered", word));
  const locations: WordLocation[] = [];
  for (const [line, numbers] of splitIntoLines(words.length, breaks).entries()) {
    const row = element("div", "line");
    numbers.forEach((n, column) => {
      locations[n] = { line, column };
      row.append(spans[n] as HTMLElement, column < numbers.length - 1 ? (gaps[n] ?? "") : "");
    });
    root.append(row);
  }
  return {
    root,
    show(n) {
      if (n > 0 && arrangement !== "cumulative") (spans[n - 1] as HTMLElement).classList.add("covered");
      (spans[n] as HTMLElement).classList.remove("covered");
    },
    clear: (n) => spans[n]?.classList.add("covered"),
    locate: (n) => locations[n] ?? NO_LOCATION,
  };
}
