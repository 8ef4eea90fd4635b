// What page and lab both say of keys and forms: every case of judging.json, which tests/experiment/test_judging.py runs as well.

import assert from "node:assert/strict";
import { test } from "node:test";

import cases from "../../judging.json";
import { findEntryFault } from "../src/entry";
import { toAsciiDigits, findFault, toStoredAnswers } from "../src/form";
import { Keys, isOneOf, readPress } from "../src/guards";
import type { Answer, FieldSection as Field } from "../src/screens";

type Side = NonNullable<Answer["side"]>;

type Wanted = "space" | "nothing" | { points: number } | { answers: string[]; sides: [Side, Side] };
interface Step {
  show?: Wanted;
  frame?: number;
  left?: number;
  up?: string;
  down?: string;
  key?: string;
  with?: string[];
  repeat?: boolean;
  t?: number;
  is?: string;
  answer?: string | number;
  released?: number | null;
}

/** As experiment/tasks/answer_options.py writes them into screens. */
const places: Record<Side, string[]> = {
  left: ["KeyF", "ArrowLeft"],
  right: ["KeyJ", "ArrowRight"],
  upper: ["KeyF", "ArrowUp"],
  lower: ["KeyJ", "ArrowDown"],
};

/** The keys of each answer of a display; pages and words have one answer, the space bar. */
function answersOf(shown: Wanted): [string | number, string[]][] {
  if (shown === "nothing") return [];
  if (shown === "space") return [["space", ["Space"]]];
  if ("points" in shown) return Array.from({ length: shown.points }, (_, n) => [n + 1, [String(n + 1)]]);
  const keys = (n: number): string[] => [...(shown.answers.length === 2 ? places[shown.sides[n] as Side] : []), String(n + 1)];
  return shown.answers.map((answer, n) => [answer, keys(n)]);
}

/** What a browser says of a key that goes down: its modifiers count the key itself. */
function eventOf({ down = "", key = "", with: others = [], repeat = false, t = 0 }: Step): KeyboardEvent {
  const on = (name: string): boolean => key === name || others.includes(name);
  return {
    ...{ code: down, key, repeat, timeStamp: t, isComposing: false, isTrusted: true },
    ...{ ctrlKey: on("Control"), altKey: on("Alt"), metaKey: on("Meta"), shiftKey: on("Shift"), getModifierState: on },
  } as KeyboardEvent;
}

for (const { name, steps } of cases.keys as { name: string; steps: Step[] }[]) {
  test(name, () => {
    const keys = new Keys();
    let given: [string | number, string[]][] = [];
    let frame = 0;
    for (const step of steps) {
      if (step.show !== undefined) [given, frame] = [answersOf(step.show), step.frame as number];
      else if (step.left !== undefined) keys.letGo();
      else if (step.up !== undefined) keys.up({ code: step.up, key: "" }, step.t as number);
      else {
        const press = readPress(eventOf(step), (step.t as number) + 0.5);
        const wanted = given.some(([, one]) => isOneOf(press, one));
        const at = JSON.stringify(step);
        assert.equal(keys.judge(press, wanted, frame), step.is, at);
        // Nothing may have been painted yet when a press comes early.
        if (step.is === "early") assert.equal(keys.judge(press, wanted, null), "early", at);
        if (step.is !== "accept") continue;
        const [answer] = given.find(([, one]) => isOneOf(press, one)) as [string | number, string[]];
        assert.deepEqual([answer, keys.accept(press).released], [step.answer, step.released], at);
      }
    }
  });
}

test("digits of every script are those of ASCII", () => {
  for (const [given, expected] of cases.digits as [string, string][]) assert.equal(toAsciiDigits(given), expected);
});

const field = (change: object): Field =>
  ({ name: "n", label: "N", kind: "text", choices: [], min: null, max: null, required: false, ...change }) as Field;

test("what is wrong with an answer is said", () => {
  const texts = { missing: "needed", no_number: "{low} to {high}" };
  for (const one of cases.faults) assert.equal(findFault(field(one), one.given, texts), one.fault, JSON.stringify(one));
});

test("what is wrong with a typed answer is said", () => {
  for (const { not_positive, given, fault } of cases.typed)
    assert.equal(findEntryFault({ missing: "needed", not_positive }, given), fault ?? "", given);
});

test("empty answers are left out and numbers are numbers", () => {
  for (const { kinds, given, stored: expected } of cases.stored as { kinds: object; given: object; stored: object }[]) {
    const fields = Object.entries(kinds).map(([name, kind]) => field({ name, kind }));
    assert.deepEqual(toStoredAnswers(fields, { ...given }), expected);
  }
});
