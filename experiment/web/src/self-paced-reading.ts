// Self-paced reading, one word at a time in the middle of the screen: the space bar replaces the fixation mark by the
// first word, each word by the next, and ends the last.

import { type JsPsych, type JsPsychPlugin, ParameterType } from "jspsych";

import { element, paint } from "./display";
import { type Painted, type Recorder, readingTimes, shown } from "./events";
import { keyName, wantsSpace } from "./guards";
import { listen } from "./keys";
import type { Given, SimulationMode, SimulationOptions } from "./plugin";

const info = {
  name: "gardenpath-self-paced-reading",
  version: "0.1.0",
  parameters: {
    /** The words of the sentence, in reading order; shown one at a time as they stand. */
    words: { type: ParameterType.STRING, array: true, default: undefined },
    /** The presented position of the trial, from 0; stands in its events. */
    position: { type: ParameterType.INT, default: 0 },
    /** The mark that is shown where the words will stand. */
    fixation: { type: ParameterType.STRING, default: "+" },
    /** What to do at the fixation mark; stands below it. */
    hint: { type: ParameterType.STRING, default: "" },
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

export class SelfPacedReading implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private jsPsych: JsPsych) {}

  trial(display: HTMLElement, trial: Given<Info>): void {
    const record = trial.record as Recorder;
    const box = element("div", "word fixation", trial.fixation);
    const hint = element("p", "hint", trial.hint);
    const stage = element("section", "reading");
    box.dir = trial.direction;
    stage.append(box, hint);

    const presses: number[] = [];
    const frames: number[] = [];
    let word = -1; // -1 is the fixation mark
    let repeats = 0;
    let painted: Painted = paint(() => display.replaceChildren(stage));

    const show = (): void => {
      painted = paint(() => {
        box.textContent = trial.words[word] as string;
        if (word > 0) return;
        box.classList.remove("fixation");
        hint.classList.add("gone");
      });
    };

    listen({
      exclusive: true,
      frame: () => painted.frame,
      wants: wantsSpace,
      accepted: (press, handler) => {
        const value = shown(painted, handler, repeats);
        if (word < 0) record("start", press.t, trial.position, value);
        else record("word", press.t, trial.position, { word, ...value });
        if (word >= 0) frames.push(painted.frame as number);
        presses.push(press.t);
        repeats = 0;
        word += 1;
        if (word < trial.words.length) return show();
        listen(null);
        this.jsPsych.finishTrial({ ...reading(trial.words, presses, frames) });
      },
      ignored: (press, reason) => {
        if (reason === "repeat") repeats += 1;
        else record("press", press.t, trial.position, { reason, code: keyName(press) });
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
