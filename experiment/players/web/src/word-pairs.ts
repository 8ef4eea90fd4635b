// Two words side by side, of which one goes on with the sentence; a wrong choice ends it, or has to be corrected.

import { ParameterType } from "jspsych";

import { element, markChange, paint } from "./dom";
import { wantsSpace } from "./guards";
import { copyDisplay, definePlugin, waitForKeys } from "./plugin";
import type { Display, Pair, Press, WordPairs as Screen } from "./screens";

/** By the place of the key on the keyboard, whatever the layout types there. */
const CHOICE_KEYS = { left: ["KeyF", "KeyE", "ArrowLeft"], right: ["KeyJ", "KeyI", "ArrowRight"] };
const SIDES = ["left", "right"] as const;

export const WordPairs = definePlugin<Screen>({
  kind: "word_pairs",
  data: {
    /** The words of the sentence that were reached. */
    words: { type: ParameterType.STRING },
    /** Whether the first choice at each was right. */
    correct: { type: ParameterType.BOOL },
    /** ms from the press before to the first choice at each. */
    rt_first: { type: ParameterType.FLOAT },
  },

  show({ screen, display, direction, record, end }) {
    const { pairs } = screen;
    const mid = element("p", "word fixation", "+");
    const row = element("div", "alternatives");
    row.dir = "ltr"; // left is left in every language
    const words = SIDES.map((side) => {
      const word = element("span", "alternative");
      word.dir = direction;
      const box = element("div", `side ${side}`);
      const key = element("kbd", "", side === "left" ? "F" : "J");
      key.setAttribute("aria-hidden", "true");
      box.append(word, key);
      row.append(box);
      return word;
    });
    const below = element("p", "hint", screen.hint);
    below.setAttribute("role", "status");
    const stage = element("section", "word_pairs");
    stage.append(mid, below);
    markChange(stage, "start", screen.name);

    let n = -1; // -1 is the fixation mark
    let last = 0; // when the press before came
    let wrong: number | null = null; // when the wrong word of this pair was chosen first
    let opens = 0; // keys are too early until then
    let painted: Display = paint(() => display.replaceChildren(stage));
    const rts: number[] = [];
    const firsts: number[] = [];
    const correct: boolean[] = [];

    const say = (text: string): void => {
      below.textContent = text;
      markChange(stage, "pair", screen.name);
    };
    const show = (): void => {
      const { word, alternative, side } = pairs[n] as Pair;
      (words[side === "left" ? 0 : 1] as HTMLElement).textContent = word;
      (words[side === "left" ? 1 : 0] as HTMLElement).textContent = alternative;
      if (n === 0) mid.replaceWith(row);
      say("");
    };
    const over = (t: number): void =>
      end(correct.every(Boolean) ? "right" : "wrong", t, {}, { words: pairs.slice(0, correct.length).map(({ word }) => word), correct, rt: rts, rt_first: firsts });

    function ended(t: number, press: Press, goes: boolean): void {
      const [read, shown, first] = [n, copyDisplay(painted), wrong ?? t];
      const right = goes && first === t;
      if (goes && n + 1 < pairs.length) {
        n += 1;
        wrong = null;
        painted = paint(show);
      }
      const chosen = read < 0 ? { correct: null, first: null } : { correct: right, first };
      record("word", t, { word: read, line: null, column: null, display: shown, press, ...chosen });
      if (read >= 0) {
        rts.push(t - last);
        firsts.push(first - last);
        correct.push(right);
      }
      last = t;
      if (!goes || read === pairs.length - 1) over(t);
    }

    function mistaken(t: number, press: Press): void {
      if (!screen.redo) return ended(t, press, false);
      const again = (): void => {
        opens = performance.now();
        say(screen.again || screen.error);
      };
      wrong = t;
      if (screen.delay === 0) return again();
      opens = Infinity;
      say(screen.error);
      setTimeout(again, screen.delay);
    }

    const isKey = (code: string, side: "left" | "right"): boolean => CHOICE_KEYS[side].includes(code);
    waitForKeys(record, {
      painted: () => ({ ...painted, frame: painted.frame && Math.max(painted.frame, opens) }),
      wants: (press) => {
        if (n < 0) return wantsSpace(press);
        const { side } = pairs[n] as Pair;
        return isKey(press.code, side) || (isKey(press.code, side === "left" ? "right" : "left") && (wrong === null || opens === Infinity));
      },
      accepted(t, press, { code }) {
        if (n < 0 || isKey(code, (pairs[n] as Pair).side)) ended(t, press, true);
        else mistaken(t, press);
      },
    });
  },

  drawResponse({ pairs }, { sampleExGaussian }) {
    const ms = pairs.map(() => Math.max(300, sampleExGaussian(600, 100, 1 / 200, true)));
    const more = { words: pairs.map(({ word }) => word), correct: pairs.map(() => true), rt_first: ms };
    return { outcome: "right", answer: null, ms: [500, ...ms], more };
  },

  perform(_display, { pairs }, { ms }, { press }) {
    let at = 0;
    ms.forEach((wait, n) => press(n === 0 ? "Space" : pairs[n - 1]?.side === "left" ? "KeyF" : "KeyJ", (at += wait)));
  },
});
