import assert from "node:assert/strict";
import { test } from "node:test";

import { type Exported, endingOf, person, placeIn } from "../src/exported";

const given = (search: string): URLSearchParams => new URLSearchParams(search);

test("a place is a whole number in the address", () => {
  assert.equal(placeIn(given("?place=17")), 17);
  assert.equal(placeIn(given("?condition=0")), 0);
  assert.equal(placeIn(given("?participant=7")), null);
  for (const wrong of ["-1", "2.5", "", "E1-V1", "0x1"]) assert.throws(() => placeIn(given(`?place=${wrong}`)), /expected a whole number/);
});

test("who comes is known by the first id that is there", () => {
  assert.deepEqual(person(given("?participant=P1&PROLIFIC_PID=5f")), { id: "5f", platform: "prolific" });
  assert.deepEqual(person(given("?SONA=12")), { id: "12", platform: "sona" });
  assert.deepEqual(person(given("?participant=P1")), { id: "P1", platform: "link" });
  assert.equal(person(given("?place=1")), null);
  assert.equal(person(given(`?participant=${"x".repeat(201)}`)), null);
});

test("the way back bears the participant's id, written as an address writes it", () => {
  const sona = { finished: { text: [], code: "C", url: "https://sona/credit?survey_code=%7Bid%7D" }, refused: { text: ["no"], code: null, url: null } };
  const exported = { online: { endings: { sona } } } as unknown as Exported;
  const who = { id: "a b&c", platform: "sona" } as const;
  assert.equal(endingOf(exported, who, "finished").url, "https://sona/credit?survey_code=a%20b%26c");
  assert.equal(endingOf(exported, who, "refused").url, null);
});
