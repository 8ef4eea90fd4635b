import assert from "node:assert/strict";
import { test } from "node:test";

import { answersSide, sidesOf } from "../src/answers";
import { arrival } from "../src/api";
import { type Machine, device, refreshRate, smallestStep, suits } from "../src/checks";
import { fittingSize, paragraphs } from "../src/display";
import { digits, fault, stored } from "../src/form";
import { type Field, type Payload, type Step, type Texts, type Trial, steps } from "../src/session";
import { joined, linesOf } from "../src/windows";

const trial = (position: number, role: string, break_before = false): Trial => ({
  trial: position,
  role,
  item: `i${position}`,
  condition: "c",
  presentation: "centred",
  context: null,
  sentences: [{ condition: "c", words: ["One", "two."], gaps: [" "] }],
  tasks: ["rating"],
  question: null,
  break_before,
});

const ending = { text: [], code: null, url: null };
const payload = (change: Partial<Payload> = {}): Payload => ({
  session: "s",
  token: "t",
  visit: 0,
  next_seq: 0,
  done: [],
  study: { name: "s", title: "S", language: "en", direction: "ltr" },
  online: {
    ...{ test: false, heartbeat_seconds: 30, resume: null, resume_hours: 24 },
    endings: { refused: ending, unsuitable: ending, withdrawn: ending, unsent: ending },
  },
  procedure: {
    rating: { kind: "keys", name: "a", prompt: "?", low: "", high: "", points: 7 },
    choice: { name: "preference", prompt: "?", arrangement: "side_by_side" },
    demographics: [],
    device: { min_width: 800, min_height: 480, keyboard: true },
  },
  texts: { instructions: ["one", "two"] } as Texts,
  consent_sha256: "0".repeat(64),
  trials: [trial(0, "practice"), trial(1, "target"), trial(2, "filler", true), trial(3, "target")],
  ...change,
});

const brief = (step: Step): string => (step.kind === "trial" ? String(step.trial.trial) : step.kind);

const cases: [string, Partial<Payload>, string][] = [
  ["a new participant", {}, "device consent instructions instructions 0 practice_over 1 break 2 3"],
  ["one who left before anything was done", { visit: 1 }, "device consent instructions instructions 0 practice_over 1 break 2 3"],
  ["one who comes back after the practice", { visit: 1, done: [0] }, "practice_over 1 break 2 3"],
  ["one who comes back at a break", { visit: 1, done: [0, 1] }, "break 2 3"],
  ["one who comes back after the break", { visit: 2, done: [0, 1, 2] }, "3"],
  ["one who had read everything", { visit: 1, done: [0, 1, 2, 3] }, ""],
  ["who looks at a later trial", { done: [0], online: { ...payload().online, test: true } }, "practice_over 1 break 2 3"],
  ["a study without practice", { trials: [trial(0, "target")] }, "device consent instructions instructions 0"],
];

for (const [name, change, expected] of cases) {
  test(`the steps of ${name}`, () => assert.equal(steps(payload(change)).map(brief).join(" "), expected));
}

test("progress counts the trials of earlier visits", () => {
  const shares = steps(payload({ visit: 1, done: [0, 1] })).flatMap((step) => (step.kind === "trial" ? [step.progress] : []));
  assert.deepEqual(shares, [0.75, 1]);
});

test("questions about the participant come after the last sentence, on every visit", () => {
  const procedure = { ...payload().procedure, demographics: [{ name: "age" } as Field] };
  assert.equal(steps(payload({ procedure, visit: 1, done: [0, 1, 2, 3] })).map(brief).join(), "demographics");
});

test("who comes is what the address says, with the tab and the browser's own token", () => {
  const of = (search: string) => JSON.stringify(arrival(search, "tab", null));
  const rest = ',"tab":"tab","resume":null,"source":"server"}';
  assert.equal(of("?participant=P%201"), `{"participant":"P 1"${rest}`);
  assert.equal(of("?PROLIFIC_PID=a&STUDY_ID=x&SESSION_ID=y&other=z"), `{"PROLIFIC_PID":"a","STUDY_ID":"x","SESSION_ID":"y"${rest}`);
  assert.equal(of("?participant="), `{${rest.slice(1)}`);
  assert.deepEqual(arrival("?preview=E1-V2&trial=3&key=k&source=robot", "t", "r"), {
    preview: { version: "E1-V2", trial: 3, key: "k" },
    ...{ tab: "t", resume: "r", source: "robot" },
  });
});

const large = { width: 1200, height: 800 };
const small = { width: 700, height: 800 };
const machines: [string, Partial<Machine>, "yes" | "enlarge" | "no"][] = [
  ["a large window", {}, "yes"],
  ["a small window on a large screen", { window: small }, "enlarge"],
  ["a small screen", { window: small, screen: small }, "no"],
  ["a tablet without a mouse", { pointer: false }, "no"],
];

for (const [name, change, expected] of machines) {
  test(`${name}: ${expected}`, () => {
    const needs = { min_width: 800, min_height: 480, keyboard: true };
    assert.equal(suits({ window: large, screen: large, pointer: true, ...change }, needs), expected);
  });
}

test("a study without keys takes a device without a keyboard", () => {
  const needs = { min_width: 300, min_height: 480, keyboard: false };
  assert.equal(suits({ window: small, screen: small, pointer: false }, needs), "yes");
});

test("the first answer stands where reading begins", () => {
  assert.deepEqual(sidesOf("ltr"), ["left", "right"]);
  assert.deepEqual(sidesOf("rtl"), ["right", "left"]);
  assert.deepEqual(sidesOf("rtl", true), ["upper", "lower"]);
});

test("a side is answered by the place of a key, whatever is printed on it", () => {
  assert.ok(answersSide({ code: "KeyF", key: "ا" }, "left"));
  assert.ok(answersSide({ code: "ArrowRight", key: "ArrowRight" }, "right"));
  assert.ok(answersSide({ code: "ArrowUp", key: "ArrowUp" }, "upper"));
  assert.ok(!answersSide({ code: "KeyJ", key: "j" }, "left"));
});

test("words with one top share a line", () => {
  assert.deepEqual(linesOf([10, 10.4, 52, 52, 94]), [[0, 1], [2, 3], [4]]);
  assert.deepEqual(linesOf([]), []);
});

test("a sentence is joined as its author parted it", () => {
  assert.equal(joined(["Two", "words."], [" "]), "Two words.");
  assert.equal(joined(["我们", "走", "吧。"], ["", ""]), "我们走吧。");
});

const texts = { needed: "needed", not_a_number: "{low} to {high}" };
const field = (change: Partial<Field>): Field => ({
  ...{ name: "n", label: "N", kind: "number", choices: [], low: 18, high: 99, needed: false },
  ...change,
});
const faults: [string, Field, string, string | null][] = [
  ["a number in range", field({}), "31", null],
  ["a number out of range", field({}), "17", "18 to 99"],
  ["words for a number", field({}), "old", "18 to 99"],
  ["half a year", field({}), "31.5", "18 to 99"],
  ["nothing", field({}), "", null],
  ["nothing where an answer is needed", field({ needed: true }), "", "needed"],
  ["any text", field({ kind: "text" }), "en, nl", null],
];

for (const [name, asked, given, expected] of faults) test(`${name}: ${expected}`, () => assert.equal(fault(asked, given, texts), expected));

test("empty answers are left out and numbers are numbers, in the digits of every script", () => {
  const fields = [field({ name: "age" }), field({ name: "job", kind: "text" }), field({ name: "hand", kind: "choice" })];
  assert.deepEqual(stored(fields, { age: digits("٣١"), job: "", hand: "left" }), { age: 31, hand: "left" });
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

test("an empty line parts paragraphs", () => assert.deepEqual(paragraphs(" a\nb\n\n\nc \n"), ["a\nb", "c"]));

test("words shrink only where the widest does not fit", () => {
  assert.equal(fittingSize(40, 300, 900), 40);
  assert.equal(fittingSize(40, 1800, 900), 20);
});
