import assert from "node:assert/strict";
import { test } from "node:test";

import { participantOf } from "../src/api";
import { device, refreshRate, smallestStep } from "../src/checks";
import { fittingSize, paragraphs } from "../src/display";
import { direction } from "../src/language";
import { type Payload, type Step, steps } from "../src/session";

const trial = (position: number, role: string, break_before = false) => ({
  trial: position,
  role,
  item: `i${position}`,
  condition: "c",
  words: ["One", "two."],
  break_before,
});

const payload = (change: Partial<Payload> = {}): Payload => ({
  session: "s",
  token: "t",
  visit: 0,
  next_seq: 0,
  done: [],
  study: { name: "s", title: "S", language: "en" },
  procedure: { presentation: "centred", rating: { name: "a", prompt: "?", low: "", high: "", points: 7 } },
  texts: {
    consent: ["c"],
    consent_accept: "yes",
    consent_decline: "no",
    declined: "d",
    instructions: ["one", "two"],
    continue: "next",
    start_hint: "h",
    practice_over: "p",
    break: "b",
    saving: "s",
    interrupted: "i",
    debriefing: "d",
    completion: "c",
    error: "e",
  },
  consent_sha256: "0".repeat(64),
  trials: [trial(0, "practice"), trial(1, "target"), trial(2, "filler", true), trial(3, "target")],
  ...change,
});

const brief = (step: Step): string => (step.kind === "trial" ? String(step.trial.trial) : step.kind);

const cases: [string, Partial<Payload>, string][] = [
  ["a new participant", {}, "consent instructions instructions 0 practice_over 1 break 2 3"],
  ["one who left before anything was done", { visit: 1 }, "consent instructions instructions 0 practice_over 1 break 2 3"],
  ["one who comes back after the practice", { visit: 1, done: [0] }, "practice_over 1 break 2 3"],
  ["one who comes back at a break", { visit: 1, done: [0, 1] }, "break 2 3"],
  ["one who comes back after the break", { visit: 2, done: [0, 1, 2] }, "3"],
  ["one who had read everything", { visit: 1, done: [0, 1, 2, 3] }, ""],
  ["a study without practice", { trials: [trial(0, "target")] }, "consent instructions instructions 0"],
];

for (const [name, change, expected] of cases) {
  test(`the steps of ${name}`, () => assert.equal(steps(payload(change)).map(brief).join(" "), expected));
}

test("progress counts the trials of earlier visits", () => {
  const shares = steps(payload({ visit: 1, done: [0, 1] })).flatMap((step) => (step.kind === "trial" ? [step.progress] : []));
  assert.deepEqual(shares, [0.75, 1]);
});

test("the participant's id comes from either parameter, or is absent", () => {
  assert.equal(participantOf("?participant=P%201"), "P 1");
  assert.equal(participantOf("?PROLIFIC_PID=abc&STUDY_ID=x"), "abc");
  assert.equal(participantOf("?participant="), null);
  assert.equal(participantOf(""), null);
});

const devices: [string, string][] = [
  ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 14.5; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on macOS"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15", "Safari on macOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1", "Chrome on iOS"],
  ["Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome on Android"],
  ["curl/8.0", "another browser on another system"],
];

for (const [agent, expected] of devices) test(`a family without versions: ${expected}`, () => assert.equal(device(agent), expected));

test("the refresh rate is that of the median interval, whatever frames were missed", () => {
  const frames = Array.from({ length: 61 }, (_, n) => (n * 1000) / 60 + (n > 30 ? 50 : 0));
  assert.ok(Math.abs((refreshRate(frames) as number) - 60) < 0.01);
  assert.equal(refreshRate([0, 16, 33]), null);
});

test("the step of the clock is its smallest advance", () => {
  assert.equal(smallestStep([1, 1, 1.5, 3, 3.25]), 0.25);
  assert.equal(smallestStep([1, 1, 1]), null);
});

const directions: [string, string][] = [
  ["en", "ltr"],
  ["ar-EG", "rtl"],
  ["he", "rtl"],
  ["FA", "rtl"],
  ["az-Arab-IR", "rtl"],
  ["ur-Latn", "ltr"],
  ["zh-Hant-TW", "ltr"],
];

for (const [language, expected] of directions) test(`${language} is ${expected}`, () => assert.equal(direction(language), expected));

test("an empty line parts paragraphs", () => assert.deepEqual(paragraphs(" a\nb\n\n\nc \n"), ["a\nb", "c"]));

test("words shrink only where the widest does not fit", () => {
  assert.equal(fittingSize(40, 300, 900), 40);
  assert.equal(fittingSize(40, 1800, 900), 20);
});
