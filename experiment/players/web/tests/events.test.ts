// What the page records is what the schema says: every kind of event, from a visit as it runs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Ajv2020 } from "ajv/dist/2020.js";

import schema from "../../../sessions/screens.schema.json";
import { type SimulatedResponse, EMPTY_RESPONSE, recordSimulated } from "../src/plugin";
import { plugins } from "../src/screen-plugins";
import type { Event, Screen } from "../src/screens";
import { type EventValues, createRecorder } from "../src/recorder";
import { screens } from "./screens";

const validate = new Ajv2020({ strict: false, allErrors: true }).compile<Event>({ $defs: schema.$defs, $ref: "#/$defs/Event" });
const valid = (event: unknown): void => assert.ok(validate(event), JSON.stringify([event, validate.errors]));

const display = { request: 10.5, frame: 16.7, frame2: null };
const press = { by: "key", handler: 300.25, repeats: 2, released: 90.5, trusted: true } as const;
const machine: EventValues["visit"] = {
  ...{ time_origin: 1.7e12, device: "Chrome on Linux", refresh_hz: null, timer_ms: 0.005, width: 1280, height: 800, pixel_ratio: 1.5 },
  ...{ isolated: true, keyboard: null, monitor: null, full_screen: null, font: null, software: {} },
};
const everyKind: { [Kind in keyof EventValues]: EventValues[Kind][] } = {
  visit: [machine],
  begin: [{}],
  word: [
    { word: -1, line: null, column: null, display, press, correct: null, first: null },
    { word: 3, line: 0, column: 3, display, press: null, correct: false, first: 250.5 },
  ],
  outcome: [
    { outcome: "read", ...EMPTY_RESPONSE },
    { outcome: "answered", ...EMPTY_RESPONSE, answer: "grammatical", side: "left", display, press },
    { outcome: "answered", ...EMPTY_RESPONSE, answer: { age: 31, languages: "en, nl" }, display, press },
    { outcome: "right", ...EMPTY_RESPONSE, answer: "door", display, press, first: 120.5, pasted: 1 },
    { outcome: "timeout", ...EMPTY_RESPONSE, display },
  ],
  press: (["early", "held", "modifier", "other"] as const).map((reason) => ({ reason, code: "Space" })),
  interruption: (["blur", "focus", "hidden", "visible", "resize"] as const).map((reason) => ({ reason })),
  done: [{ dropped_frames: null }],
  end: [{}],
};
const placeOf = (kind: string): [number | null, number | null] =>
  kind === "visit" || kind === "end" ? [null, null] : [3, kind === "begin" || kind === "done" ? null : 1];

for (const kind of Object.keys(everyKind) as (keyof EventValues)[]) {
  test(`an event of kind ${kind} follows the schema`, () => {
    const kept: Event[] = [];
    const { record, begin } = createRecorder({ visit: 1, next: 40 }, (event) => kept.push(event));
    begin(machine);
    kept.length = 0;
    for (const value of everyKind[kind]) record(kind, 300.125, placeOf(kind), value);
    kept.forEach(valid);
    assert.deepEqual(kept.map((event) => event.seq), kept.map((_, index) => 41 + index));
  });
}

test("the schema refuses a word without its display, and one outside of a screen", () => {
  const [word] = everyKind.word;
  const event = { seq: 0, visit: 0, t: 1, kind: "word", step: 0, screen: 0, value: word };
  valid(event);
  assert.equal(validate({ ...event, value: { ...word, display: undefined } }), false);
  assert.equal(validate({ ...event, screen: null }), false);
  assert.equal(validate({ ...event, more: 1 }), false);
});

test("nothing is told before there is consent; then the machine comes first, and what waited in its order", () => {
  const kept: Event[] = [];
  const { record, begin } = createRecorder({ visit: 0, next: 7 }, (event) => kept.push(event));
  record("begin", 5, [0, null], {});
  record("outcome", 9, [0, 0], { outcome: "accepted", ...EMPTY_RESPONSE });
  record("done", 9.5, [0, null], { dropped_frames: null });
  assert.deepEqual(kept, []);
  begin(machine);
  record("end", 12, [null, null], {});
  kept.forEach(valid);
  const sent = kept.map(({ kind, seq, t }) => [kind, seq, t]);
  assert.deepEqual(sent, [["visit", 7, 0], ["begin", 8, 5], ["outcome", 9, 9], ["done", 10, 9.5], ["end", 11, 12]]);
});

test("numbers go on after a new numbering", () => {
  const kept: Event[] = [];
  const numbering = { visit: 0, next: 0 };
  const { record, begin } = createRecorder(numbering, (event) => kept.push(event));
  begin(machine);
  record("end", 1, [null, null], {});
  numbering.visit = 1;
  numbering.next += 6;
  record("end", 2, [null, null], {});
  assert.deepEqual(kept.map(({ seq, visit }) => [seq, visit]), [[0, 0], [1, 0], [8, 1]]);
});

for (const [name, screen] of Object.entries(screens)) {
  test(`what a simulation leaves of ${name} follows the schema`, () => {
    const random = { randomInt: (_low: number, high: number) => high, sampleExGaussian: () => 310.5 };
    const act: SimulatedResponse = plugins[screen.kind].kind.drawResponse(screen as never, random);
    let seq = 0;
    recordSimulated(screen as Screen, act, (kind, t, value) => valid({ seq: (seq += 1), visit: 0, t, kind, step: 0, screen: 0, value }));
    assert.ok(seq > 0);
  });
}
