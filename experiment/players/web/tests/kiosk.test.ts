import assert from "node:assert/strict";
import { test } from "node:test";

import { RefusedError } from "../src/api";
import { cleanCode, describeRefusal } from "../src/kiosk";

const typed: [string, string | null][] = [
  ["P01", "P01"],
  [" P 01\t", "P 01"],
  ["Ｐ０１", "P01"],
  ["\u200fP01\u200e", "P01"],
  ["م-٧", "م-٧"],
  ["  ", null],
  ["\u200b", null],
];

for (const [text, code] of typed) {
  test(`the code in ${JSON.stringify(text)} is ${code}`, () => assert.equal(cleanCode(text), code));
}

test("a code that opens nothing is refused in a sentence, never with what is stored", () => {
  const texts = { elsewhere: "elsewhere", unreachable: "unreachable" };
  const of = (status: number, answer = {}) => describeRefusal(new RefusedError(status, "fault", answer), texts);
  assert.equal(of(0), "unreachable");
  assert.equal(of(503), "unreachable");
  assert.equal(of(409, { reason: "open_elsewhere", text: ["in another tab"] }), "elsewhere");
  assert.equal(of(409, { reason: "finished", text: ["Finished.", "Thank you."], code: "GARDEN" }), "Finished. Thank you.");
  assert.equal(of(400), "fault");
  assert.equal(describeRefusal(new TypeError("x"), texts), "unreachable");
});
