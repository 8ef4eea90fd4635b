import assert from "node:assert/strict";
import { test } from "node:test";

import { Ajv2020 } from "ajv/dist/2020.js";

import schema from "../../events.schema.json";
import { type Event, type Kind, type Values, readingTimes, recorder, shown } from "../src/events";

const validate = new Ajv2020({ strict: false, allErrors: true }).compile<Event>(schema);

const press = { handler: 300.25, released: 90.5, trusted: true };
const display = shown({ request: 10.5, frame: 16.7, frame2: null }, press, 2);
const everyKind: { [K in Kind]: Values[K][] } = {
  visit: [
    {
      time_origin: 1.7e12,
      device: "Chrome on Linux",
      refresh_hz: null,
      timer_ms: 0.005,
      width: 1280,
      height: 800,
      pixel_ratio: 1.5,
      isolated: true,
      keyboard: true,
    },
    {
      ...{ time_origin: 1.7e12, device: "PsychoPy on Linux", refresh_hz: 59.94, timer_ms: 0.001, width: 1920, height: 1080 },
      ...{ pixel_ratio: 1, isolated: false, keyboard: true, monitor: "screen 0 of 1", full_screen: true, font: "DejaVu Sans" },
      software: { psychopy: "2026.2.5" },
    },
  ],
  consent: [{ accepted: true, sha256: "0".repeat(64), at: "2026-11-21T12:00:00.000Z" }],
  instructions: [{ page: 0 }, { page: "practice_over" }, { page: "feedback" }],
  trial: [{ role: "target", item: "i1", condition: "grammatical" }],
  start: [display],
  word: [{ word: 0, ...display }, { word: 3, sentence: 1, line: 0, column: 3, ...display }],
  reading: [{ what: "context", ...display }, { what: "sentence", sentence: 1, ...display }],
  press: (["early", "held", "modifier", "other"] as const).map((reason) => ({ reason, code: "Space" })),
  response: [
    { task: "rating", prompt: "acceptability", response: 7, by: "key", ...display },
    { task: "question", prompt: "question", response: "yes", by: "button", ...display },
    { task: "choice", prompt: "preference", response: "grammatical", side: "left", by: "key", ...display },
  ],
  trial_end: [{}, { dropped_frames: 0 }, { dropped_frames: null }],
  break: [{ request: 5 }],
  interruption: (["blur", "focus", "hidden", "visible", "resize", "escape"] as const).map((reason) => ({ reason })),
  demographics: [{ answers: { age: 31, languages: "en, nl" } }],
  end: [{}],
};
const outsideTrials = new Set<Kind>(["visit", "consent", "instructions", "break", "demographics", "end"]);

for (const kind of Object.keys(everyKind) as Kind[]) {
  test(`an event of kind ${kind} follows the schema`, () => {
    const kept: Event[] = [];
    const record = recorder({ visit: 1, next: 40 }, (event) => kept.push(event));
    for (const value of everyKind[kind]) record(kind, 300.125, outsideTrials.has(kind) ? null : 3, value);
    for (const event of kept) assert.ok(validate(event), JSON.stringify(validate.errors));
    assert.deepEqual(kept.map((event) => event.seq), kept.map((_, index) => 40 + index));
  });
}

test("the schema knows each of our kinds and no other", () => {
  assert.deepEqual(Object.keys(everyKind).sort(), [...schema.properties.kind.enum].sort());
});

test("the schema refuses a word without its frame and a word outside a trial", () => {
  const event = { seq: 0, visit: 0, t: 1, kind: "word", trial: 0, value: { word: 0, request: 1, handler: 2 } };
  assert.equal(validate(event), false);
  assert.equal(validate({ ...event, trial: null, value: { word: 0, ...display } }), false);
});

test("numbers go on after a new numbering", () => {
  const kept: Event[] = [];
  const numbering = { visit: 0, next: 0 };
  const record = recorder(numbering, (event) => kept.push(event));
  record("end", 1, null, {});
  numbering.visit = 1;
  numbering.next += 6;
  record("end", 2, null, {});
  assert.deepEqual(kept.map(({ seq, visit }) => [seq, visit]), [[0, 0], [7, 1]]);
});

test("what is recorded of a display does not change when its second frame comes later", () => {
  const painted = { request: 1, frame: 2, frame2: null as number | null };
  const value = shown(painted, press, 0);
  painted.frame2 = 18.7;
  assert.equal(value.frame2, null);
});

test("reading times are the differences of successive presses, unrounded", () => {
  assert.deepEqual(readingTimes([100, 350.25, 351]), [250.25, 0.75]);
  assert.deepEqual(readingTimes([100]), []);
  assert.deepEqual(readingTimes([]), []);
});
