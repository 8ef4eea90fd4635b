import assert from "node:assert/strict";
import { test } from "node:test";

import { type Press, type Verdict, digit, isHeld, keyName, verdict, wantsSpace } from "../src/guards";

const space: Press = {
  code: "Space",
  key: " ",
  t: 100,
  repeat: false,
  ctrl: false,
  alt: false,
  meta: false,
  shift: false,
  composing: false,
  handler: 100.2,
  released: null,
  trusted: true,
};

// [what happens, the press, when the word was painted, keys still down, the verdict]
const cases: [string, Partial<Press>, number | null, string[], Verdict][] = [
  ["a plain press", {}, 90, [], "accept"],
  ["a press at the very frame", { t: 90 }, 90, [], "accept"],
  ["an auto-repeat", { repeat: true }, 90, ["Space"], "repeat"],
  ["an auto-repeat of a key that was never accepted", { repeat: true }, 90, [], "repeat"],
  ["a second press without a release", {}, 90, ["Space"], "held"],
  ["a second press without a release, too early as well", {}, null, ["Space"], "held"],
  ["a press while a rating key is still down", {}, 90, ["Digit4"], "accept"],
  ["a press before the frame", { t: 89.9 }, 90, [], "early"],
  ["a press before there was any frame", {}, null, [], "early"],
  ["Ctrl and space", { ctrl: true }, 90, [], "modifier"],
  ["Alt and space", { alt: true }, 90, [], "modifier"],
  ["Cmd and space", { meta: true }, 90, [], "modifier"],
  ["Shift and space", { shift: true }, 90, [], "modifier"],
  ["space while an input method composes", { composing: true }, 90, [], "other"],
  ["another key", { code: "Enter", key: "Enter" }, 90, [], "other"],
  ["another key before the frame", { code: "KeyX", key: "x" }, null, [], "other"],
  ["a space bar without a code", { code: "" }, 90, [], "accept"],
];

for (const [name, change, frame, down, expected] of cases) {
  test(`${name}: ${expected}`, () => {
    const press = { ...space, ...change };
    const held = isHeld(press, new Set(down));
    assert.equal(verdict(press, { wanted: wantsSpace(press), frame, held }), expected);
  });
}

test("a rating is locked until the space bar is let go", () => {
  const four = { ...space, code: "Digit4", key: "4" };
  assert.equal(verdict(four, { wanted: true, frame: 90, held: isHeld(four, new Set(["Space"])) }), "held");
  assert.equal(verdict(four, { wanted: true, frame: 90, held: isHeld(four, new Set()) }), "accept");
});

const digits: [string, string, string, boolean, number | null][] = [
  ["top row", "Digit4", "4", false, 4],
  ["keypad", "Numpad7", "7", false, 7],
  ["keypad without NumLock", "Numpad1", "End", false, 1],
  ["French top row", "Digit1", "&", false, 1],
  ["French top row with Shift", "Digit1", "1", true, 1],
  ["American top row with Shift", "Digit1", "!", true, null],
  ["Arabic digits", "Digit3", "٣", false, 3],
  ["a layout that moves its digits", "Digit2", "7", true, 7],
  ["zero", "Digit0", "0", false, null],
  ["a letter", "KeyA", "a", false, null],
  ["a function key", "F1", "F1", false, null],
];

for (const [name, code, key, shift, expected] of digits) {
  test(`${name}: ${expected}`, () => assert.equal(digit({ code, key, shift }), expected));
}

test("every key has a name", () => {
  assert.equal(keyName({ code: "", key: " " }), "Space");
  assert.equal(keyName({ code: "", key: "x" }), "x");
  assert.equal(keyName({ code: "", key: "" }), "unknown");
});
