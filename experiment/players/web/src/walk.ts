// Where a session stands: the steps of a script in order, and what comes next after each outcome. The twin of
// experiment/script.py; both are held to ../../walk.json. Pure.

import type { Event, Outcome, Screen, Script, Step } from "./screens";

/** An outcome that leads here skips what is left of its step. */
const SKIP = "skip";
const JUDGED: ReadonlySet<Outcome> = new Set(["right", "wrong", "timeout"]);

/** A step in its place in a session, numbered from 0; `position` counts trials as presented, null for a page. */
export interface Placed {
  number: number;
  step: Step;
  position: number | null;
}

/** What was judged in each block: right, and of how many. */
export type Tallies = Record<string, [number, number]>;

/** The steps of a session: front, the trials in this order with the interludes before them, end. */
export function sequence(script: Pick<Script, "front" | "trials" | "interludes" | "end">, order: readonly number[]): Placed[] {
  const before = new Map(script.interludes.map((one) => [one.before, one.steps]));
  const middle = order.flatMap((trial, n) => [...(before.get(n) ?? []), script.trials[trial] as Step]);
  let position = 0;
  return [...script.front, ...middle, ...script.end].map((step, number) => {
    const placed = { number, step, position: step.trial === null ? null : position };
    if (step.trial !== null) position += 1;
    return placed;
  });
}

function counted(tallies: Tallies, block: string, outcomes: Iterable<Outcome>): void {
  if (!block) return;
  const judged = [...outcomes].filter((outcome) => JUDGED.has(outcome));
  const [right, total] = tallies[block] ?? [0, 0];
  tallies[block] = [right + judged.filter((outcome) => outcome === "right").length, total + judged.length];
}

const exit = (screen: Screen, outcome: Outcome): string | undefined => screen.exits.find((one) => one.outcome === outcome)?.to;

export class Walk {
  readonly done: Set<number>;
  readonly tallies: Tallies;
  /** how the study was left before its end */
  ending: string | null = null;
  /** the step and the screen that come next, null at the end */
  at: [number, number] | null;
  private outcomes = new Map<number, Outcome>();

  /** `done` are steps of earlier visits, `tallies` what was judged in their blocks. */
  constructor(
    readonly steps: readonly Placed[],
    done: Iterable<number> = [],
    tallies: Tallies = {},
  ) {
    this.done = new Set(done);
    this.tallies = { ...tallies };
    this.at = this.nextStep(0);
  }

  isAt(step: number, screen = 0): boolean {
    return this.at?.[0] === step && this.at[1] === screen;
  }

  /** Goes on after the screen at hand has ended so; says whether its step has ended with it. */
  endScreen(outcome: Outcome): boolean {
    if (!this.at) throw new Error("the session is over");
    const [number, n] = this.at;
    const { screens } = (this.steps[number] as Placed).step;
    this.outcomes.set(n, outcome);
    const to = exit(screens[n] as Screen, outcome);
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
    counted(this.tallies, (this.steps[number] as Placed).step.block, this.outcomes.values());
    this.at = this.nextStep(number + 1);
    return true;
  }

  leave(ending: string): void {
    this.ending = ending;
    this.at = null;
  }

  private nextStep(from: number): [number, number] | null {
    this.outcomes.clear();
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
    const outcome = when && this.outcomes.get(when.screen);
    return !when || (outcome !== undefined && when.outcomes.includes(outcome as Outcome));
  }
}

/**
 * Where a session stands after these events, from where it stood before: of a step begun again only the last run counts, and
 * of one done before nothing.
 */
export function walk(steps: readonly Placed[], events: Iterable<Event>, before: Iterable<number> = [], tallies: Tallies = {}): Walk {
  const done = new Set(before);
  const counts = { ...tallies };
  const outcomes = new Map<number, Map<number, Outcome>>();
  let ending: string | null = null;
  for (const event of events) {
    const step = event.step === null ? undefined : steps[event.step]?.step;
    if (event.step === null || !step) continue;
    if (event.kind === "begin") outcomes.set(event.step, new Map());
    if (event.kind === "outcome" && step.screens[event.screen]) {
      const run = outcomes.get(event.step) ?? new Map<number, Outcome>();
      outcomes.set(event.step, run.set(event.screen, event.value.outcome));
      const to = exit(step.screens[event.screen] as Screen, event.value.outcome);
      if (to !== undefined && to !== SKIP) ending = to;
    }
    if (event.kind === "done" && !done.has(event.step)) {
      done.add(event.step);
      counted(counts, step.block, outcomes.get(event.step)?.values() ?? []);
    }
  }
  const made = new Walk(steps, done, counts);
  if (ending !== null) made.leave(ending);
  return made;
}
