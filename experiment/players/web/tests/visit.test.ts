import assert from "node:assert/strict";
import { test } from "node:test";

import { readArrival } from "../src/api";
import { type Machine, deviceName, refreshRate, minClockStep, checkMachine } from "../src/checks";
import { fittingSize, paragraphs } from "../src/dom";
import { computeNeeds } from "../src/fitting";
import { splitIntoLines } from "../src/sentence-window";

test("who comes is what the address says, with the tab and the browser's own token", () => {
  const of = (search: string) => JSON.stringify(readArrival(search, "tab", null));
  const rest = ',"tab":"tab","resume":null,"source":"server"}';
  assert.equal(of("?participant=P%201"), `{"participant":"P 1"${rest}`);
  assert.equal(of("?PROLIFIC_PID=a&STUDY_ID=x&SESSION_ID=y&other=z"), `{"PROLIFIC_PID":"a","STUDY_ID":"x","SESSION_ID":"y"${rest}`);
  assert.equal(of("?participant="), `{${rest.slice(1)}`);
  assert.deepEqual(readArrival("?preview=E1-L2&trial=3&key=k&source=robot", "t", "r"), {
    preview: { list_name: "E1-L2", trial: 3, key: "k" },
    ...{ tab: "t", resume: "r", source: "robot", key: "k" },
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
    assert.equal(checkMachine({ window: large, screen: large, pointer: true, ...change }, needs), expected);
  });
}

test("a study without keys takes a device without a keyboard", () => {
  const needs = { min_width: 300, min_height: 480, keyboard: false };
  assert.equal(checkMachine({ window: small, screen: small, pointer: false }, needs), "yes");
});

test("a line begins where the study says", () => {
  assert.deepEqual(splitIntoLines(5, [2, 4]), [[0, 1], [2, 3], [4]]);
  assert.deepEqual(splitIntoLines(2, [4]), [[0, 1]]);
  assert.deepEqual(splitIntoLines(0, []), []);
});

test("a machine must have room for the longest line at the smallest size", () => {
  const device = { min_width: 800, min_height: 480, keyboard: true };
  assert.equal(computeNeeds(device, 40, 16).min_width, 800);
  assert.equal(computeNeeds(device, 60, 16).min_width, 1044);
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

for (const [agent, expected] of devices) test(`a family without versions: ${expected}`, () => assert.equal(deviceName(agent), expected));

test("the refresh rate is that of the median interval, whatever frames were missed", () => {
  const frames = Array.from({ length: 61 }, (_, n) => (n * 1000) / 60 + (n > 30 ? 50 : 0));
  assert.ok(Math.abs((refreshRate(frames) as number) - 60) < 0.01);
  assert.equal(refreshRate([0, 16, 33]), null);
});

test("the step of the clock is its smallest advance", () => {
  assert.equal(minClockStep([1, 1, 1.5, 3, 3.25]), 0.25);
  assert.equal(minClockStep([1, 1, 1]), null);
});

test("an empty line parts paragraphs", () => assert.deepEqual(paragraphs(" a\nb\n\n\nc \n"), ["a\nb", "c"]));

test("words shrink only where the widest does not fit", () => {
  assert.equal(fittingSize(40, 300, 900), 40);
  assert.equal(fittingSize(40, 1800, 900), 20);
});
