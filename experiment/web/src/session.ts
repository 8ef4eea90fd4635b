// What a session consists of: a payload of the server becomes a list of steps. Pure.

export interface Texts {
  consent: string[];
  consent_accept: string;
  consent_decline: string;
  declined: string;
  instructions: string[];
  continue: string;
  start_hint: string;
  practice_over: string;
  break: string;
  saving: string;
  interrupted: string;
  debriefing: string;
  completion: string;
  error: string;
}

export interface Trial {
  trial: number;
  role: string;
  item: string;
  condition: string;
  words: string[];
  break_before: boolean;
}

export interface Rating {
  name: string;
  prompt: string;
  low: string;
  high: string;
  points: number;
}

export interface Payload {
  session: string;
  token: string;
  visit: number;
  next_seq: number;
  done: number[];
  study: { name: string; title: string; language: string };
  procedure: { presentation: string; rating: Rating };
  texts: Texts;
  consent_sha256: string;
  trials: Trial[];
}

export type Step =
  | { kind: "consent" }
  | { kind: "instructions"; page: number }
  | { kind: "practice_over" }
  | { kind: "break" }
  | { kind: "trial"; trial: Trial; progress: number };

/** Whether the participant has been here before and got so far that consent and instructions are behind them. */
export const isResumed = (payload: Payload): boolean => payload.visit > 0 && payload.done.length > 0;

/** The steps that are left of a session; `progress` is the share of trials behind the participant once the trial is over. */
export function steps(payload: Payload): Step[] {
  const done = new Set(payload.done);
  const left: Step[] = [];
  if (!isResumed(payload)) {
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
  return left;
}
