// A sentence word by word, in the middle of the screen or in its place on the lines: the space bar shows the first word,
// replaces each word by the next, and ends the last; or, once it has begun, time does.

import { ParameterType } from "jspsych";

import { element, everyFrame, markChange, paint, paintAt } from "./dom";
import { wantsSpace } from "./guards";
import { copyDisplay, definePlugin, waitForKeys } from "./plugin";
import type { Display, Press, Words as Screen } from "./screens";
import { centredWindow, lineWindow } from "./sentence-window";

/** How many frames something stands for so many ms. */
export const toFrames = (ms: number, hz: number): number => Math.round((ms * hz) / 1000);

export const Words = definePlugin<Screen>({
  kind: "words",
  data: {
    /** The words that were read. */
    words: { type: ParameterType.STRING },
    /** When each display ended, ms on the page's clock: first the fixation mark, then each word. */
    ends: { type: ParameterType.FLOAT },
    /** Reading time of each word, ms from the frame that painted it to its end. */
    rt_onset: { type: ParameterType.FLOAT },
  },

  show({ screen, display, direction, record, hz, end }) {
    const { words, pace } = screen;
    const view = screen.arrangement === "centred" ? centredWindow(words, screen.fixation, direction) : lineWindow(screen, direction);
    const hint = element("p", "hint", screen.hint);
    const stage = element("section", "words");
    stage.append(view.root, hint);
    markChange(stage, "start", screen.name);

    const ends: number[] = [];
    const onsets: number[] = [];
    let word = -1; // -1 is what stands there at the beginning
    let painted: Display = paint(() => display.replaceChildren(stage));

    const change = (): void => {
      view.show(word);
      hint.classList.add("gone");
      markChange(stage, "word", screen.name);
    };
    const ended = (read: number, t: number, shown: Display, press: Press | null): void => {
      record("word", t, { word: read, ...view.locate(read), display: shown, press, correct: null, first: null });
      if (read >= 0) onsets.push(t - (shown.frame ?? shown.request));
      ends.push(t);
    };
    const over = (outcome: "read" | "interrupted", t: number): void => {
      const rt = ends.slice(1).map((at, n) => at - (ends[n] as number));
      end(outcome, t, {}, { words: words.slice(0, onsets.length), ends, rt, rt_onset: onsets });
    };

    function byTime(stands: number, pauses: number, period: number): void {
      let cleared: number | null = null; // when the word before was taken away
      let open = true;
      waitForKeys(record, {
        painted: () => painted,
        wants: () => false,
        accepted() {},
        left(t) {
          open = false;
          view.clear(word);
          over("interrupted", t);
        },
      });
      const lasted = (t: number, since: number | null, frames: number): boolean => since !== null && t - since > (frames - 0.5) * period;
      everyFrame((t) => {
        if (!open) return false;
        if (cleared === null && lasted(t, painted.frame, stands)) {
          cleared = t;
          if (pauses > 0 || word === words.length - 1) view.clear(word);
          ended(word, t, copyDisplay(painted), null);
        }
        if (cleared === null || !(pauses === 0 || lasted(t, cleared, pauses))) return true;
        word += 1;
        if (word < words.length) {
          cleared = null;
          painted = paintAt(t, change);
          return true;
        }
        const last = cleared;
        setTimeout(() => over("read", last)); // what follows is painted by the next frame
        return false;
      });
    }

    waitForKeys(record, {
      painted: () => painted,
      wants: wantsSpace,
      accepted(t, press) {
        const [read, shown] = [word, copyDisplay(painted)];
        word += 1;
        if (word < words.length) painted = paint(change);
        ended(read, t, shown, press);
        if (word === words.length) over("read", t);
        else if (pace) byTime(Math.max(1, toFrames(pace.word, hz())), toFrames(pace.pause, hz()), 1000 / hz());
      },
      ignored(reason) {
        if (!screen.reminder || (reason !== "other" && reason !== "held")) return;
        hint.textContent = screen.reminder;
        hint.classList.remove("gone");
      },
    });
  },

  drawResponse({ words, pace }, { sampleExGaussian }) {
    const ms = words.map(() => (pace ? pace.word : Math.max(150, sampleExGaussian(280, 40, 1 / 70, true))));
    const ends = [500];
    for (const wait of ms) ends.push((ends[ends.length - 1] as number) + wait);
    return { outcome: "read", answer: null, ms: [500, ...ms], more: { words: [...words], ends, rt_onset: ms.map((wait) => wait - 10) } };
  },

  perform(_display, { pace }, { ms }, { press }) {
    let at = 0;
    for (const wait of pace ? ms.slice(0, 1) : ms) press("Space", (at += wait));
  },
});
