// Self-paced reading, one word at a time: the space bar shows the first word, replaces each word by the next, and ends
// the last. Words stand in the middle of the screen, or in their place in the sentence.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { element, mark, paint } from "./display";
import { type Painted, type Recorder, readingTimes, shown } from "./events";
import { keyName, wantsSpace } from "./guards";
import { listen } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";
import { type SentenceWindow, centred, onLines } from "./windows";

const info = {
  name: "gardenpath-self-paced-reading",
  version: "0.2.0",
  parameters: {
    /** "centred", "moving_window" or "cumulative". */
    presentation: { type: ParameterType.STRING, default: "centred" },
    /** The words of the sentence, in reading order; shown one at a time as they stand. */
    words: { type: ParameterType.STRING, array: true, default: undefined },
    /** What stands between the words of a line: a space each, or nothing. */
    gaps: { type: ParameterType.STRING, array: true, default: [] },
    /** Which of the trial's sentences this is, from 0; stands in its events from 1 on. */
    sentence: { type: ParameterType.INT, default: 0 },
    /** The presented position of the trial, from 0; stands in its events. */
    position: { type: ParameterType.INT, default: 0 },
    /** The mark that is shown where the words will stand. */
    fixation: { type: ParameterType.STRING, default: "+" },
    /** What to do at the fixation mark; stands below it. */
    hint: { type: ParameterType.STRING, default: "" },
    /** What to do after a key that takes nobody on; left empty, nothing is said. */
    reminder: { type: ParameterType.STRING, default: "" },
    /** Reading direction of the words, "ltr" or "rtl". */
    direction: { type: ParameterType.STRING, default: "ltr" },
    /** Receives each event of the trial: (kind, t, trial, value). */
    record: { type: ParameterType.FUNCTION, default: () => {} },
  },
  data: {
    /** The words that were read. */
    words: { type: ParameterType.STRING, array: true },
    /** When each key press came, ms on the page's clock: first the one at the fixation mark, then one for each word. */
    presses: { type: ParameterType.FLOAT, array: true },
    /** Reading time of each word, ms from key press to key press. */
    rt: { type: ParameterType.FLOAT, array: true },
    /** Reading time of each word, ms from the frame that painted it to its key press. */
    rt_onset: { type: ParameterType.FLOAT, array: true },
  },
} as const;

type Info = typeof info;

interface Reading {
  words: string[];
  presses: number[];
  rt: number[];
  rt_onset: number[];
}

/** The data of a trial from the times of its presses and of the frames that painted its words. */
function reading(words: readonly string[], presses: readonly number[], frames: readonly number[]): Reading {
  const onset = frames.map((frame, word) => (presses[word + 1] as number) - frame);
  return { words: [...words], presses: [...presses], rt: readingTimes(presses), rt_onset: onset };
}

const windowOf = (trial: Given<Info>): SentenceWindow =>
  trial.presentation === "centred"
    ? centred(trial.words, trial.fixation, trial.direction)
    : onLines(trial.words, trial.gaps, trial.direction, trial.presentation === "cumulative");

export class SelfPacedReading implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const { words, position } = trial;
    const which = trial.sentence ? { sentence: trial.sentence } : {};
    const view = windowOf(trial);
    const hint = element("p", "hint", trial.hint);
    const stage = element("section", "reading");
    stage.append(view.root, hint);
    mark(stage, "start");

    const presses: number[] = [];
    const frames: number[] = [];
    let word = -1; // -1 is what stands there at the beginning
    let repeats = 0;
    let painted: Painted = paint(() => {
      display.replaceChildren(stage);
      view.settle();
    });

    const show = (): void => {
      painted = paint(() => {
        view.show(word);
        hint.classList.add("gone");
        mark(stage, "word");
      });
    };

    listen({
      exclusive: true,
      frame: () => painted.frame,
      wants: wantsSpace,
      accepted: (press) => {
        const read = word;
        const value = shown(painted, press, repeats);
        if (read >= 0) frames.push(painted.frame as number);
        presses.push(press.t);
        repeats = 0;
        word += 1;
        if (word < words.length) show();
        else listen(null);
        if (read < 0) record("start", press.t, position, { ...which, ...value });
        else record("word", press.t, position, { word: read, ...which, ...view.place(read), ...value });
        if (word === words.length) this.jsPsych.finishTrial({ ...reading(words, presses, frames) });
      },
      ignored: (press, reason) => {
        if (reason === "repeat") repeats += 1;
        else record("press", press.t, position, { reason, code: keyName(press) });
        if (!trial.reminder || (reason !== "other" && reason !== "held")) return;
        hint.textContent = trial.reminder;
        hint.classList.remove("gone");
      },
    });
  }

  simulate(trial: Given<Info>, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
    const data = { ...this.draw(trial.words), ...options.data } as Reading;
    onLoad();
    if (mode === "data-only") return this.jsPsych.finishTrial({ ...data });
    this.trial(this.jsPsych.getDisplayElement(), trial);
    data.presses.forEach((t) => this.jsPsych.pluginAPI.pressKey(" ", t));
  }

  /** Presses about 350 ms apart (ex-Gaussian), at least 150 ms; each word painted 10 ms after the press before it. */
  private draw(words: readonly string[]): Reading {
    const { sampleExGaussian } = this.jsPsych.randomization;
    const presses = [500];
    for (const _ of words) presses.push((presses[presses.length - 1] as number) + Math.max(150, sampleExGaussian(280, 40, 1 / 70, true)));
    return reading(words, presses, presses.slice(0, -1).map((t) => t + 10));
  }
}
