import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsPsych } from "jspsych";

import { keyLabel, orderAnswers } from "../src/answers";
import { watchDeadline, judgeAnswer } from "../src/task-frame";
import { plugins } from "../src/screen-plugins";
import { toFrames } from "../src/words";
import { screens } from "./screens";

type Data = Record<string, unknown>;

/** What a plugin answers when it is simulated without a page. */
function simulated(name: keyof typeof screens, change: object = {}): Data {
  let data: Data | null = null;
  const jsPsych = {
    finishTrial: (result: Data) => (data = result),
    randomization: { sampleExGaussian: () => 310.5, randomInt: (_low: number, high: number) => high },
  } as unknown as JsPsych;
  const screen = { ...screens[name], ...change };
  const made = plugins[screen.kind];
  let loaded = 0;
  const ends: unknown[] = [];
  const record = (kind: string, _t: number, value: unknown): void => void (kind === "outcome" && ends.push(value));
  new made(jsPsych).simulate({ screen, record } as never, "data-only", {}, () => (loaded += 1));
  assert.equal(loaded, 1);
  assert.ok(data);
  assert.deepEqual(Object.keys(data).sort(), Object.keys(made.info.data).sort());
  assert.deepEqual(ends.map((value) => (value as Data)["outcome"]), [data["outcome"]]);
  return data;
}

test("a simulated reading has a time for each word, from key to key", () => {
  const data = simulated("words");
  assert.deepEqual([data["outcome"], data["rt"], data["rt_onset"]], ["read", [310.5, 310.5, 310.5], [300.5, 300.5, 300.5]]);
});

test("simulated timed words stand as long as they should", () => assert.deepEqual(simulated("timed")["rt"], [200, 200]));

test("a simulated point lies on the scale", () => assert.deepEqual(simulated("points")["response"], 5));

test("a simulated slider stops within its ends", () => assert.equal(simulated("slider")["response"], 100));

test("a simulated sentence read at once takes a time for each word", () => assert.equal(simulated("whole")["rt"], 3 * 310.5));

test("a simulated choice has the condition and where it stood", () => {
  const { response, side } = simulated("pair");
  assert.deepEqual([response, side], ["bad", "left"]);
});

test("a simulated answer comes in time and is judged where the page is told", () => {
  const { outcome, response, rt } = simulated("told");
  assert.deepEqual([outcome, response, rt], ["wrong", 2, 180]);
});

test("a simulated text is no longer than it may be", () => assert.equal(simulated("entry")["response"], "simu"));

test("a simulated form is filled in", () => assert.deepEqual(simulated("form")["response"], { hand: "right" }));

test("a simulated maze has a choice a word", () => assert.deepEqual(simulated("maze")["correct"], [true, true]));

test("a simulated page is left with its first button, or as one without buttons", () => {
  assert.equal(simulated("text")["outcome"], "accepted");
  assert.equal(simulated("bare")["outcome"], "continued");
});

for (const [kind, made] of Object.entries(plugins)) {
  test(`the plugin of ${kind} declares its version, parameters and data`, () => {
    assert.equal(made.info.name, `gardenpath-${kind.replace("_", "-")}`);
    assert.match(made.info.version ?? "", /^\d+\.\d+\.\d+$/);
    for (const declared of [...Object.values(made.info.parameters), ...Object.values(made.info.data)]) assert.equal(typeof declared.type, "number");
  });
}

test("answers with a side stand there, others as they come", () => {
  const order = (direction: string): unknown[] => orderAnswers(screens.pair.answers, direction).map(({ value }) => value);
  assert.deepEqual([order("ltr"), order("rtl")], [["bad", "good"], ["good", "bad"]]);
  assert.deepEqual(orderAnswers(screens.points.answers, "rtl").map(({ value }) => value), [1, 2, 3, 4, 5]);
});

test("what is printed on a key", () => assert.deepEqual(["KeyF", "4", "ArrowLeft"].map(keyLabel), ["F", "4", "←"]));

test("an answer is judged only where the page is told what is right", () => {
  assert.deepEqual([judgeAnswer(screens.told, 1), judgeAnswer(screens.told, 2)], ["right", "wrong"]);
  assert.equal(judgeAnswer({ ...screens.told, is_judged_by_player: false }, 1), "answered");
  assert.equal(judgeAnswer({ ...screens.told, right: [] }, 1), "answered");
});

test("a screen without a deadline takes every answer", () => {
  const isLate = watchDeadline(screens.points, { request: 1, frame: 2, frame2: 3 }, () => assert.fail());
  assert.equal(isLate(1e9), false);
});

test("ms are whole frames", () => {
  assert.deepEqual([toFrames(250, 60), toFrames(200, 59.94), toFrames(5, 60), toFrames(0, 60)], [15, 12, 0, 0]);
});
