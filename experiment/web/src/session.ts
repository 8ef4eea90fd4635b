// What a session consists of: a payload of the server becomes a list of steps. Pure.

/** The texts of the page, experiment/texts/*.toml. */
export interface Texts {
  device: string;
  no_keyboard: string;
  enlarge: string;
  no_larger: string;
  consent: string[];
  consent_accept: string;
  consent_decline: string;
  instructions: string[];
  continue: string;
  start_hint: string;
  done_hint: string;
  other_key: string;
  yes: string;
  no: string;
  slider_hint: string;
  go_on: string;
  right: string;
  wrong: string;
  practice_over: string;
  break: string;
  interrupted: string;
  about_you: string;
  may_be_empty: string;
  needed: string;
  not_a_number: string;
  debriefing: string;
  completion: string;
  return_link: string;
  saving: string;
  stopped: string;
  error: string;
  keep_file: string;
  withdraw: string;
  withdraw_question: string;
  withdraw_yes: string;
  withdraw_no: string;
  preview: string;
}

export interface Sentence {
  condition: string;
  words: string[];
  /** what stands after each word but the last */
  gaps: string[];
}

export interface Trial {
  trial: number;
  role: string;
  item: string;
  condition: string;
  presentation: "centred" | "moving_window" | "cumulative" | "whole" | "with_task";
  context: string | null;
  sentences: Sentence[];
  tasks: ("question" | "rating" | "choice")[];
  /** `answer` is there in practice alone */
  question: { text: string; choices: string[]; answer: string | null } | null;
  break_before: boolean;
}

export interface Rating {
  kind: "keys" | "slider" | "yes_no";
  name: string;
  prompt: string;
  low: string;
  high: string;
  points: number;
}

/** A question about the participant. */
export interface Field {
  name: string;
  label: string;
  kind: "text" | "number" | "choice";
  choices: string[];
  low: number | null;
  high: number | null;
  needed: boolean;
}

/** The last page of who does not reach the end. */
export interface Ending {
  text: string[];
  code: string | null;
  url: string | null;
}

export interface Payload {
  session: string;
  token: string;
  visit: number;
  next_seq: number;
  done: number[];
  study: { name: string; title: string; language: string; direction: "ltr" | "rtl" };
  online: {
    test: boolean;
    heartbeat_seconds: number;
    resume: string | null;
    resume_hours: number;
    endings: Record<"refused" | "unsuitable" | "withdrawn" | "unsent", Ending>;
  };
  procedure: {
    rating: Rating | null;
    choice: { name: string; prompt: string; arrangement: "side_by_side" | "stacked" };
    demographics: Field[];
    device: { min_width: number; min_height: number; keyboard: boolean };
  };
  texts: Texts;
  consent_sha256: string;
  trials: Trial[];
}

export type Step =
  | { kind: "device" }
  | { kind: "consent" }
  | { kind: "instructions"; page: number }
  | { kind: "practice_over" }
  | { kind: "break" }
  | { kind: "trial"; trial: Trial; progress: number }
  | { kind: "demographics" };

/** Whether consent and instructions lie behind: the participant has been here before, or looks at a later trial. */
export const isResumed = (payload: Payload): boolean =>
  payload.done.length > 0 && (payload.visit > 0 || payload.online.test);

/** The steps that are left of a session; `progress` is the share of trials behind the participant once the trial is over. */
export function steps(payload: Payload): Step[] {
  const done = new Set(payload.done);
  const left: Step[] = [];
  if (!isResumed(payload)) {
    if (payload.procedure.device.keyboard) left.push({ kind: "device" });
    left.push({ kind: "consent" });
    payload.texts.instructions.forEach((_, page) => left.push({ kind: "instructions", page }));
  }
  payload.trials.forEach((trial, index) => {
    if (done.has(trial.trial)) return;
    const practiceEnds = trial.role !== "practice" && payload.trials[index - 1]?.role === "practice";
    if (practiceEnds) left.push({ kind: "practice_over" });
    else if (trial.break_before) left.push({ kind: "break" });
    left.push({ kind: "trial", trial, progress: (index + 1) / payload.trials.length });
  });
  if (payload.procedure.demographics.length > 0) left.push({ kind: "demographics" });
  return left;
}
