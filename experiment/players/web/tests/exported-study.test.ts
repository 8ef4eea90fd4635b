import assert from "node:assert/strict";
import { test } from "node:test";

import { type ExportedStudy, buildEnding, readPerson, readAssignment } from "../src/exported-study";

const given = (search: string): URLSearchParams => new URLSearchParams(search);

test("a assignment is a whole number in the address", () => {
  assert.equal(readAssignment(given("?assignment=17")), 17);
  assert.equal(readAssignment(given("?condition=0")), 0);
  assert.equal(readAssignment(given("?participant=7")), null);
  for (const wrong of ["-1", "2.5", "", "E1-L1", "0x1"]) assert.throws(() => readAssignment(given(`?assignment=${wrong}`)), /expected a whole number/);
});

test("who comes is known by the first id that is there", () => {
  assert.deepEqual(readPerson(given("?participant=P1&PROLIFIC_PID=5f")), { id: "5f", platform: "prolific" });
  assert.deepEqual(readPerson(given("?SONA=12")), { id: "12", platform: "sona" });
  assert.deepEqual(readPerson(given("?participant=P1")), { id: "P1", platform: "link" });
  assert.equal(readPerson(given("?assignment=1")), null);
  assert.equal(readPerson(given(`?participant=${"x".repeat(201)}`)), null);
});

test("the way back bears the participant's id, written as an address writes it", () => {
  const sona = { finished: { text: [], code: "C", url: "https://sona/credit?survey_code=%7Bid%7D" }, refused: { text: ["no"], code: null, url: null } };
  const exported = { online: { endings: { sona } } } as unknown as ExportedStudy;
  const who = { id: "a b&c", platform: "sona" } as const;
  assert.equal(buildEnding(exported, who, "finished").url, "https://sona/credit?survey_code=a%20b%26c");
  assert.equal(buildEnding(exported, who, "refused").url, null);
});
