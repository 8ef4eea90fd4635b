// What only a browser says of a key; what the lab says as well is in judging.test.ts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Keys, type Press, readDigit, keyName, wantsSpace } from "../src/guards";

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

const judged = (change: Partial<Press>, keys = new Keys()): string => {
  const press = { ...space, ...change };
  return keys.judge(press, wantsSpace(press), 90);
};

test("a key while an input method composes is another key", () => assert.equal(judged({ composing: true }), "other"));

test("keys without a code are known by what they type", () => {
  assert.equal(judged({ code: "" }), "accept");
  assert.equal(judged({ code: "", key: "Control", ctrl: true }), "other");
  assert.equal(readDigit({ code: "", key: "4", shift: false }), 4);
});

test("a key whose release was lost is held until it is let go", () => {
  const keys = new Keys();
  keys.accept(space);
  assert.equal(judged({}, keys), "held");
  keys.up(space, 200);
  assert.equal(judged({}, keys), "accept");
});

test("every key has a name", () => {
  assert.equal(keyName({ code: "", key: " " }), "Space");
  assert.equal(keyName({ code: "", key: "x" }), "x");
  assert.equal(keyName({ code: "", key: "" }), "unknown");
});
