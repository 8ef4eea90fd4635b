import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsPsych } from "jspsych";

import { Choice } from "../src/choice";
import { Form } from "../src/form";
import { Question } from "../src/question";
import { Rating } from "../src/rating";
import { SelfPacedReading } from "../src/self-paced-reading";
import { Slider } from "../src/slider";
import { TextPage } from "../src/text-page";
import { Whole } from "../src/whole";

type Data = Record<string, unknown>;

const plugins = [SelfPacedReading, Whole, Rating, Slider, Question, Choice, Form, TextPage];

/** What a plugin answers when it is simulated without a page. */
function simulated(plugin: (typeof plugins)[number], parameters: object): Data {
  let data: Data | null = null;
  const jsPsych = {
    finishTrial: (result: Data) => (data = result),
    randomization: { sampleExGaussian: () => 310.5, randomInt: (_low: number, high: number) => high },
  } as unknown as JsPsych;
  const trial = parameters as never;
  let loaded = 0;
  new plugin(jsPsych).simulate(trial, "data-only", {}, () => (loaded += 1));
  assert.equal(loaded, 1);
  assert.ok(data);
  assert.deepEqual(Object.keys(data).sort(), Object.keys(plugin.info.data).sort());
  return data;
}

test("a simulated reading has a time for each word, from key to key", () => {
  const data = simulated(SelfPacedReading, { words: ["One", "two", "three."] });
  assert.deepEqual(data["rt"], [310.5, 310.5, 310.5]);
  assert.deepEqual(data["rt_onset"], [300.5, 300.5, 300.5]);
});

test("a simulated rating lies on the scale", () => assert.equal(simulated(Rating, { points: 5 })["response"], 5));

test("a simulated yes or no is one of the two", () => assert.equal(simulated(Rating, { kind: "yes_no" })["response"], 1));

test("a simulated slider stops within its ends", () => assert.equal(simulated(Slider, {})["response"], 100));

test("a simulated sentence read at once takes a time for each word", () =>
  assert.equal(simulated(Whole, { text: "One two three." })["rt"], 3 * 310.5));

test("a simulated question is answered with one of its answers", () =>
  assert.equal(simulated(Question, { choices: ["yes", "no"] })["response"], "no"));

test("a simulated choice has the condition and where it stood", () => {
  const pair = { conditions: ["good", "bad"], arrangement: "side_by_side" };
  const { response, side } = simulated(Choice, { ...pair, direction: "rtl" });
  assert.deepEqual([response, side], ["bad", "left"]);
});

test("a simulated form is filled in", () => {
  const field = { name: "hand", label: "Hand", kind: "choice", choices: ["left", "right"], low: null, high: null, needed: true };
  assert.deepEqual(simulated(Form, { fields: [field], done: () => {} })["answers"], { hand: "right" });
});

test("a simulated page of text is left with its first button", () => {
  const calls: unknown[][] = [];
  assert.equal(simulated(TextPage, { left: (...values: unknown[]) => calls.push(values) })["button"], 0);
  assert.equal(calls.length, 1);
});

for (const plugin of plugins) {
  test(`${plugin.info.name} declares its version, parameters and data`, () => {
    assert.match(plugin.info.version, /^\d+\.\d+\.\d+$/);
    for (const declared of [...Object.values(plugin.info.parameters), ...Object.values(plugin.info.data)]) {
      assert.equal(typeof declared.type, "number");
    }
  });
}
