import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsPsych } from "jspsych";

import { Rating } from "../src/rating";
import { SelfPacedReading } from "../src/self-paced-reading";
import { TextPage } from "../src/text-page";

type Data = Record<string, unknown>;

/** What a plugin answers when it is simulated without a page. */
function simulated(plugin: typeof SelfPacedReading | typeof Rating | typeof TextPage, parameters: object): Data {
  let data: Data | null = null;
  const jsPsych = {
    finishTrial: (result: Data) => (data = result),
    randomization: { sampleExGaussian: () => 310.5, randomInt: (_low: number, high: number) => high },
  } as unknown as JsPsych;
  const trial = parameters as Parameters<SelfPacedReading["simulate"]>[0] & Parameters<Rating["simulate"]>[0] & Parameters<TextPage["simulate"]>[0];
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

test("a simulated page of text is left with its first button", () => {
  const calls: unknown[][] = [];
  assert.equal(simulated(TextPage, { left: (...values: unknown[]) => calls.push(values) })["button"], 0);
  assert.equal(calls.length, 1);
});

for (const plugin of [SelfPacedReading, Rating, TextPage]) {
  test(`${plugin.info.name} declares its version, parameters and data`, () => {
    assert.match(plugin.info.version, /^\d+\.\d+\.\d+$/);
    for (const declared of [...Object.values(plugin.info.parameters), ...Object.values(plugin.info.data)]) {
      assert.equal(typeof declared.type, "number");
    }
  });
}
