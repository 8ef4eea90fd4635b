// How a sentence stands on the screen while it is read word by word.

import { element } from "./dom";
import type { WordEnded } from "./screens";

type Place = Pick<WordEnded, "line" | "column">;

const NOWHERE: Place = { line: null, column: null };

export interface SentenceWindow {
  root: HTMLElement;
  /** To be called once the root is part of the page: lines are measured here, and never again. */
  settle(): void;
  /** Shows word `n`; before that, what stands there at the beginning. */
  show(n: number): void;
  /** Takes word `n` away again. */
  clear(n: number): void;
  place(n: number): Place;
}

/** One word at a time in the middle of the screen, in the place of a fixation mark. */
export function centred(words: readonly string[], fixation: string, direction: string): SentenceWindow {
  const root = element("div", "word fixation", fixation);
  root.dir = direction;
  return {
    root,
    settle: () => {},
    show(n) {
      root.textContent = words[n] as string;
      if (n === 0) root.classList.remove("fixation");
    },
    clear() {
      root.textContent = "";
    },
    place: () => NOWHERE,
  };
}

/** The words' numbers on each line, from the top of each word, in px. */
export function linesOf(tops: readonly number[]): number[][] {
  const lines: number[][] = [];
  tops.forEach((top, n) => {
    if (n === 0 || Math.abs(top - (tops[n - 1] as number)) > 1) lines.push([]);
    (lines[lines.length - 1] as number[]).push(n);
  });
  return lines;
}

/**
 * The whole sentence as lines in place of its words, which the space bar uncovers one at a time; `cumulative`: a word
 * once uncovered stays. A covered word takes the room of its letters, so that nothing moves.
 */
export function onLines(
  words: readonly string[],
  gaps: readonly string[],
  direction: string,
  cumulative: boolean,
): SentenceWindow {
  const root = element("div", "lines");
  root.dir = direction;
  const spans = words.map((word) => element("span", "covered", word));
  spans.forEach((span, n) => root.append(span, gaps[n] ?? ""));
  const places: Place[] = [];
  return {
    root,
    settle() {
      const lines = linesOf(spans.map((span) => span.offsetTop));
      const rows = lines.map((numbers, line) => {
        const row = element("div", "line");
        numbers.forEach((n, column) => {
          places[n] = { line, column };
          row.append(spans[n] as HTMLElement, column < numbers.length - 1 ? (gaps[n] ?? "") : "");
        });
        return row;
      });
      root.replaceChildren(...rows);
    },
    show(n) {
      if (n > 0 && !cumulative) (spans[n - 1] as HTMLElement).classList.add("covered");
      (spans[n] as HTMLElement).classList.remove("covered");
    },
    clear: (n) => spans[n]?.classList.add("covered"),
    place: (n) => places[n] ?? NOWHERE,
  };
}
