// The steps of a session as jsPsych's timeline.

import { paragraphs } from "./display";
import type { Recorder } from "./events";
import { Form } from "./form";
import { asksToWithdraw, showProgress } from "./screens";
import type { Payload, Step } from "./session";
import { type Timeline, readings, tasks } from "./tasks";
import { TextPage } from "./text-page";
import type { Uploads } from "./uploads";

export type Departure = "refused" | "unsuitable" | "withdrawn";

/** What the timeline needs of the session that it belongs to. */
export interface Sitting {
  payload: Payload;
  record: Recorder;
  queue: Pick<Uploads, "pause" | "resume">;
  /** the trial that is running, null between trials */
  running: number | null;
  /** whether a key was pressed when one was asked for */
  keyboard: boolean;
  /** why the session ends before its end, null while it goes on */
  over: Departure | "stopped" | null;
  begin(consented: number): Promise<void>;
  leave(reason: Departure): void;
}

type Page = Timeline[number];

function withdrawal({ payload: { texts }, leave }: Sitting): { way_out: string; leave: () => void } {
  return { way_out: texts.withdraw, leave: () => void asksToWithdraw(texts).then((yes) => yes && leave("withdrawn")) };
}

function device(sitting: Sitting): Page {
  const { texts } = sitting.payload;
  return {
    type: TextPage,
    ...{ screen: "device", paragraphs: paragraphs(texts.device), buttons: [], way_out: texts.no_keyboard },
    leave: () => sitting.leave("unsuitable"),
    left: () => (sitting.keyboard = true),
  };
}

function consent(sitting: Sitting): Page {
  const { texts, study } = sitting.payload;
  let consented = 0;
  return {
    type: TextPage,
    ...{ screen: "consent", heading: study.title, paragraphs: texts.consent, space: false },
    buttons: [texts.consent_accept, texts.consent_decline],
    left: (t: number, button: number) => (button === 0 ? (consented = t) : sitting.leave("refused")),
    on_finish: () => (sitting.over ? undefined : sitting.begin(consented)),
  };
}

function page(sitting: Sitting, text: string, left: (t: number, button: number, request: number) => void, screen = "text"): Page {
  const { texts } = sitting.payload;
  return {
    type: TextPage,
    ...{ screen, paragraphs: paragraphs(text), buttons: [texts.continue], left, ...withdrawal(sitting) },
    on_load: () => sitting.queue.resume(),
  };
}

function trial(sitting: Sitting, { trial, progress }: Extract<Step, { kind: "trial" }>): Page {
  const { payload, record, queue } = sitting;
  const { texts, study } = payload;
  const position = trial.trial;
  const setting = { payload, direction: study.direction, record };
  const feedback = (right: () => boolean): Page => {
    const wrong = texts.wrong.replace("{answer}", trial.question?.answer ?? "");
    const said = page(sitting, "", (t) => record("instructions", t, null, { page: "feedback" }));
    return { ...said, paragraphs: () => [right() ? texts.right : wrong] };
  };
  const read = readings(trial, setting).map((one) => ({ ...one, on_start: () => queue.pause() }));
  const asked = tasks(trial, setting, feedback).map((one) => ({
    ...one,
    on_load: () => {
      showProgress(progress);
      queue.resume();
    },
  }));
  return {
    timeline: [...read, ...asked],
    data: { trial: position, role: trial.role, item: trial.item, condition: trial.condition },
    on_timeline_start: () => {
      showProgress(null);
      sitting.running = position;
      record("trial", performance.now(), position, { role: trial.role, item: trial.item, condition: trial.condition });
    },
    on_timeline_finish: () => {
      if (sitting.over) return;
      record("trial_end", performance.now(), position, {});
      sitting.running = null;
      queue.resume();
    },
  };
}

/** What a step of the session shows. */
export function shownAt(step: Step, sitting: Sitting): Page {
  const { payload, record } = sitting;
  const { texts, procedure } = payload;
  switch (step.kind) {
    case "device":
      return device(sitting);
    case "consent":
      return consent(sitting);
    case "instructions":
      return page(sitting, texts.instructions[step.page] as string, (t) => record("instructions", t, null, { page: step.page }));
    case "practice_over":
      return page(sitting, texts.practice_over, (t) => record("instructions", t, null, { page: "practice_over" }));
    case "break":
      return page(sitting, texts.break, (t, _, request) => record("break", t, null, { request }), "break");
    case "trial":
      return trial(sitting, step);
    case "demographics": {
      const done = (t: number, answers: Record<string, string | number>): void => record("demographics", t, null, { answers });
      return { type: Form, fields: procedure.demographics, texts, done, ...withdrawal(sitting) };
    }
  }
}
