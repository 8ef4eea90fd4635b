// Every case of walk.json, which tests/experiment/test_walk.py runs as well: what is shown for a list of outcomes.

import assert from "node:assert/strict";
import { test } from "node:test";

import stated from "../../walk.json";
import { findStoredEvents } from "../src/journal";
import type { Event, Outcome, Screen, Script, Step } from "../src/screens";
import { type Outcomes, type Tallies, Walk, orderSteps, resumeWalk } from "../src/walk";

interface Stated {
  name: string;
  script: Pick<Script, "front" | "trials" | "interludes" | "end">;
  order: number[];
}

interface Case extends Stated {
  done?: number[];
  tallies?: Tallies;
  outcomes: Outcome[];
  positions: (number | null)[];
  visited: [number, number][];
  next: [number, number] | null;
  left_done: number[];
  left_tallies: Tallies;
  ending: string | null;
}

/** A step with what is not stated filled in. */
const step = (given: Partial<Step>, trial: number | null = null): Step => ({
  ...{ name: "step", trial, block: "", when: null },
  ...given,
  screens: (given.screens as Partial<Screen>[]).map((screen) => ({ when: null, exits: [], ...screen }) as unknown as Screen),
});

const stepsOf = ({ script: { front, trials, interludes, end }, order }: Stated) =>
  orderSteps(
    {
      front: front.map((one) => step(one)),
      trials: trials.map((one, n) => step(one, n)),
      interludes: interludes.map(({ before, steps }) => ({ before, steps: steps.map((one) => step(one)) })),
      end: end.map((one) => step(one)),
    },
    order,
  );

const state = ({ done, tallies, ending }: Walk): object => ({ done: [...done].sort((a, b) => a - b), tallies, ending });

/** Where a page that is loaded again stands, of whose events a server has the first ones. */
function loaded(steps: ReturnType<typeof stepsOf>, events: Event[], stored: number, done?: number[], tallies?: Tallies): Walk {
  const there = resumeWalk(steps, events.slice(0, stored), done, tallies);
  const gone = new Set(findStoredEvents(events, new Set(events.slice(0, stored).map(({ seq }) => seq))));
  const kept = events.filter(({ seq }) => !gone.has(seq));
  return resumeWalk(steps, kept, there.done, there.tallies, there.outcomes);
}

for (const one of stated.cases as unknown as Case[]) {
  test(one.name, () => {
    const steps = stepsOf(one);
    assert.deepEqual(steps.map(({ position }) => position), one.positions);
    const stand = new Walk(steps, one.done, one.tallies);
    const events: Event[] = [];
    const record = (kind: string, step: number, screen: number | null, value: object): void => {
      events.push({ seq: events.length, visit: 0, t: 0, kind, step, screen, value } as Event);
    };
    const visited = one.outcomes.map((outcome) => {
      const at = stand.at as [number, number];
      if (at[1] === 0) record("begin", at[0], null, {});
      record("outcome", ...at, { outcome });
      if (stand.endScreen(outcome)) record("done", at[0], null, {});
      // Whatever of these a server has, what it says and what the page kept lead to the same place.
      for (let stored = 0; stored <= events.length; stored += 1) {
        const again = loaded(steps, events, stored, one.done, one.tallies);
        assert.deepEqual(state(again), state(stand), `of ${events.length} events ${stored} stored`);
        if (stand.at) assert.deepEqual(again.at, [stand.at[0], 0], "what resumes is a step");
      }
      return at;
    });
    assert.deepEqual(visited, one.visited);
    assert.deepEqual(stand.at, one.next);
    assert.deepEqual(state(stand), { done: one.left_done, tallies: one.left_tallies, ending: one.ending });
  });
}

interface Resumed extends Stated {
  events: [string, number, number | null, Outcome | null][];
  at: [number, number];
  interrupted: Outcomes;
  outcomes: Outcome[];
  visited: [number, number][];
  left_done: number[];
  left_tallies: Tallies;
}

for (const one of stated.resumed as unknown as Resumed[]) {
  test(`after a break: ${one.name}`, () => {
    const steps = stepsOf(one);
    const events = one.events.map(([kind, step, screen, outcome], seq) => {
      return { seq, visit: 0, t: 0, kind, step, screen, value: outcome ? { outcome } : {} } as Event;
    });
    const whole = resumeWalk(steps, events);
    const stands = [...events, null].map((_, stored) => loaded(steps, events, stored));
    // A browser that keeps nothing knows what the server says.
    for (const stand of [...stands, resumeWalk(steps, [], whole.done, whole.tallies, whole.outcomes)]) {
      assert.deepEqual([stand.at, stand.outcomes], [one.at, one.interrupted]);
      const visited = one.outcomes.map((outcome, n) => {
        assert.equal(stand.interrupted, n === 0 && outcome === "interrupted");
        const at = stand.at as [number, number];
        stand.endScreen(outcome);
        return at;
      });
      assert.deepEqual(visited, one.visited);
      assert.equal(stand.at, null);
      assert.deepEqual(state(stand), { done: one.left_done, tallies: one.left_tallies, ending: null });
    }
  });
}
