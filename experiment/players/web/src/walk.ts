// Where a session stands: the steps of a script in order, and what comes next after each outcome. The twin of
// experiment/scripts/script.py; both are held to ../../walk.json. Pure.

import type { Event, Outcome, Screen, Script, Step } from "./screens";

/** An outcome that leads here skips what is left of its step. */
const SKIP = "skip";
const JUDGED_OUTCOMES: ReadonlySet<Outcome> = new Set(["right", "wrong", "timeout"]);

/** A step in its place in a session, numbered from 0; `position` counts trials as presented, null for a page. */
export interface TimelineStep {
  number: number;
  step: Step;
  position: number | null;
}

/** What was judged in each block: right, and of how many. */
export type Tallies = Record<string, [number, number]>;

/** How screens of a step ended, by their numbers. */
export type Outcomes = Record<number, Outcome>;

/** The steps of a session: front, the trials in this order with the interludes before them, end. */
export function orderSteps(script: Pick<Script, "front" | "trials" | "interludes" | "end">, order: readonly number[]): TimelineStep[] {
  const before = new Map(script.interludes.map((one) => [one.before, one.steps]));
  const middle = order.flatMap((trial, n) => [...(before.get(n) ?? []), script.trials[trial] as Step]);
  let position = 0;
  return [...script.front, ...middle, ...script.end].map((step, number) => {
    const timelineStep = { number, step, position: step.trial === null ? null : position };
    if (step.trial !== null) position += 1;
    return timelineStep;
  });
}

function countJudged(tallies: Tallies, block: string, outcomes: Outcomes): void {
  if (!block) return;
  const judged = Object.values(outcomes).filter((outcome) => JUDGED_OUTCOMES.has(outcome));
  const [right, total] = tallies[block] ?? [0, 0];
  tallies[block] = [right + judged.filter((outcome) => outcome === "right").length, total + judged.length];
}

/** The number of the last screen that ended. */
const findLastScreen = (outcomes: Outcomes): number | undefined => Object.keys(outcomes).map(Number).sort((a, b) => b - a)[0];

const findExit = (screen: Screen, outcome: Outcome): string | undefined => screen.exits.find((one) => one.outcome === outcome)?.to;

export class Walk {
  readonly done: Set<number>;
  readonly tallies: Tallies;
  /** how the study was left before its end */
  ending: string | null = null;
  /** the step and the screen that come next, null at the end */
  at: [number, number] | null;
  /** the screen at hand is not shown, but ends with this outcome at once */
  interrupted = false;
  /** how the screens of the step at hand have ended */
  outcomes: Outcomes = {};

  /**
   * `done` are steps of earlier visits, `tallies` what was judged in their blocks. `outcomes` are those of the step that comes next
   * where it is not begun again, because timed words had begun in it: the last one is theirs.
   */
  constructor(
    readonly steps: readonly TimelineStep[],
    done: Iterable<number> = [],
    tallies: Tallies = {},
    outcomes: Outcomes = {},
  ) {
    this.done = new Set(done);
    this.tallies = { ...tallies };
    this.at = this.nextStep(0);
    const timed = findLastScreen(outcomes);
    if (!this.at || timed === undefined) return;
    Object.assign(this, { outcomes: { ...outcomes }, interrupted: true });
    this.at[1] = timed;
  }

  isAt(step: number, screen: number): boolean {
    return this.at?.[0] === step && this.at[1] === screen;
  }

  /** Goes on after the screen at hand has ended so; says whether its step has ended with it. */
  endScreen(outcome: Outcome): boolean {
    if (!this.at) throw new Error("the session is over");
    const [number, n] = this.at;
    const { screens } = (this.steps[number] as TimelineStep).step;
    this.outcomes[n] = outcome;
    this.interrupted = false;
    const to = findExit(screens[n] as Screen, outcome);
    if (to !== undefined && to !== SKIP) {
      this.leave(to);
      return false;
    }
    const following = to === SKIP ? -1 : screens.findIndex((screen, index) => index > n && this.shows(screen));
    if (following > 0) {
      this.at = [number, following];
      return false;
    }
    this.done.add(number);
    countJudged(this.tallies, (this.steps[number] as TimelineStep).step.block, this.outcomes);
    this.at = this.nextStep(number + 1);
    return true;
  }

  leave(ending: string): void {
    this.ending = ending;
    this.at = null;
  }

  private nextStep(from: number): [number, number] | null {
    this.outcomes = {};
    const next = this.steps.slice(from).find(({ number, step }) => !this.done.has(number) && this.runs(step));
    return next ? [next.number, 0] : null;
  }

  private runs({ when }: Step): boolean {
    if (!when) return true;
    const tally = this.tallies[when.block];
    if (!tally) return false; // of a round that was not needed no further one follows
    const [right, total] = tally;
    return (total ? right / total : 0) < when.below;
  }

  private shows({ when }: Screen): boolean {
    const outcome = when && this.outcomes[when.screen];
    return !when || (outcome !== undefined && when.outcomes.includes(outcome as Outcome));
  }
}

/** A step as it was run: how its screens ended, and the last timed words that had begun. */
interface StepRun {
  outcomes: Outcomes;
  timed?: number | undefined;
}

/**
 * Where a session stands after these events, from where it stood before: of a step begun again only the last run counts, of one
 * done before nothing, and one in which timed words had begun is not begun again.
 */
export function resumeWalk(
  steps: readonly TimelineStep[],
  events: Iterable<Event>,
  before: Iterable<number> = [],
  tallies: Tallies = {},
  outcomes: Outcomes = {},
): Walk {
  const done = new Set(before);
  const counts = { ...tallies };
  const runs = new Map<number, StepRun>();
  const [next] = new Walk(steps, done, counts).at ?? [];
  if (next !== undefined) runs.set(next, { outcomes: { ...outcomes }, timed: findLastScreen(outcomes) });
  let ending: string | null = null;
  for (const event of events) {
    const step = event.step === null ? undefined : steps[event.step]?.step;
    if (event.step === null || !step) continue;
    const run = (event.kind !== "begin" && runs.get(event.step)) || { outcomes: {} };
    runs.set(event.step, run);
    const screen = event.screen === null ? undefined : step.screens[event.screen];
    if (event.kind === "word" && screen?.kind === "words" && screen.pace) run.timed = event.screen;
    if (event.kind === "outcome" && screen) {
      run.outcomes[event.screen] = event.value.outcome;
      const to = findExit(screen, event.value.outcome);
      if (to !== undefined && to !== SKIP) ending = to;
    }
    if (event.kind === "done" && !done.has(event.step)) {
      done.add(event.step);
      countJudged(counts, step.block, run.outcomes);
    }
  }
  const made = new Walk(steps, done, counts);
  if (ending !== null) made.leave(ending);
  const { outcomes: ended = {}, timed } = (made.at && runs.get(made.at[0])) || {};
  if (timed === undefined) return made;
  const earlier = Object.entries(ended).filter(([screen]) => Number(screen) < timed);
  return new Walk(steps, done, counts, { ...Object.fromEntries(earlier), [timed]: "interrupted" });
}
