// A trial of the payload as jsPsych's timeline: context, sentence, and the tasks in their order.

import type { JsPsych } from "jspsych";

import { Choice } from "./choice";
import type { Recorder } from "./events";
import { Question } from "./question";
import { Rating } from "./rating";
import { SelfPacedReading } from "./self-paced-reading";
import type { Payload, Sentence, Trial } from "./session";
import { Slider } from "./slider";
import { Whole } from "./whole";
import { joined } from "./windows";

export type Timeline = Extract<Parameters<JsPsych["run"]>[0], readonly unknown[]>;

/** What all the trials of a session share. */
export interface Setting {
  payload: Payload;
  direction: "ltr" | "rtl";
  record: Recorder;
}

const textOf = ({ words, gaps }: Sentence): string => joined(words, gaps);

/** What is read before the first task. */
export function readings(trial: Trial, { payload, direction, record }: Setting): Timeline {
  const { texts } = payload;
  const shared = { position: trial.trial, direction, record };
  const context = { type: Whole, what: "context", text: trial.context ?? "", hint: texts.continue, ...shared };
  const sentences = trial.sentences.map((sentence, index) =>
    trial.presentation === "whole"
      ? { type: Whole, text: textOf(sentence), sentence: index, hint: texts.done_hint, ...shared }
      : {
          type: SelfPacedReading,
          ...{ presentation: trial.presentation, words: sentence.words, gaps: sentence.gaps, sentence: index },
          ...{ hint: texts.start_hint, reminder: trial.role === "practice" ? texts.other_key : "" },
          ...shared,
        },
  );
  return [...(trial.context ? [context] : []), ...(trial.presentation === "with_task" ? [] : sentences)];
}

/** The tasks; `feedback` makes a page that says whether the answer to a practice question was right. */
export function tasks(trial: Trial, setting: Setting, feedback: (right: () => boolean) => Timeline[number]): Timeline {
  const { payload, direction, record } = setting;
  const { procedure, texts } = payload;
  const [first] = trial.sentences;
  const sentence = trial.presentation === "with_task" && first ? textOf(first) : "";
  const shared = { position: trial.trial, direction, record };
  return trial.tasks.flatMap((task): Timeline => {
    switch (task) {
      case "question": {
        const { question } = trial;
        if (!question) return [];
        let given = "";
        const asked = {
          type: Question,
          ...{ question: question.text, choices: question.choices, sentence, ...shared },
          on_finish: (data: { response: string }) => (given = data.response),
        };
        return question.answer === null ? [asked] : [asked, feedback(() => given === question.answer)];
      }
      case "rating": {
        const { rating } = procedure;
        if (!rating) return [];
        const { name: scale, prompt, low, high, points, kind } = rating;
        const common = { scale, prompt, sentence, ...shared };
        if (kind === "slider") return [{ type: Slider, low, high, hint: texts.slider_hint, go_on: texts.go_on, ...common }];
        if (kind === "yes_no") return [{ type: Rating, kind, low: low || texts.no, high: high || texts.yes, ...common }];
        return [{ type: Rating, kind, low, high, points, ...common }];
      }
      case "choice": {
        const sentences = trial.sentences.map(textOf);
        const conditions = trial.sentences.map(({ condition }) => condition);
        return [{ type: Choice, ...procedure.choice, sentences, conditions, ...shared }];
      }
    }
  });
}
