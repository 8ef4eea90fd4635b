import assert from "node:assert/strict";
import { test } from "node:test";

import { type BatchSession, type Reservation, findLeastUsed, openAssignmentPool } from "../src/batch";

type Data = Record<string, Record<string, unknown>>;

/** A batch session on a server, and copies of it in pages: a change made on an old copy is refused, and the copy renewed. */
class Server {
  data: Data = {};
  version = 0;

  page(): BatchSession {
    let copy = { data: structuredClone(this.data), version: this.version };
    const change = async (apply: (data: Data) => void): Promise<void> => {
      const made = copy.version;
      await Promise.resolve(); // others may be quicker
      const fresh = made === this.version;
      if (fresh) {
        apply(this.data);
        this.version += 1;
      }
      copy = { data: structuredClone(this.data), version: this.version };
      if (!fresh) throw new Error("version conflict");
    };
    const at = (path: string): [string, string] => path.split("/").slice(1) as [string, string];
    return {
      get: (name) => structuredClone(copy.data[name]),
      set: (name, value) => change((data) => void (data[name] = value as Record<string, unknown>)),
      add: (path, value) => change((data) => void ((data[at(path)[0]] as Record<string, unknown>)[at(path)[1]] = value)),
      remove: (path) => change((data) => void delete (data[at(path)[0]] as Record<string, unknown>)[at(path)[1]]),
    };
  }
}

const options = { assignments: 4, lease: 1000, now: () => 5000, wait: async () => {} };
const taken = (server: Server): Record<string, Reservation> => server.data["gardenpath"] as Record<string, Reservation>;

test("those who arrive at once get different assignments", async () => {
  const server = new Server();
  const pages = Array.from({ length: 8 }, () => openAssignmentPool(server.page(), options));
  const assignments = await Promise.all(pages.map((page, n) => page.reserve(`s-${n}`)));
  assert.deepEqual(assignments.sort(), [0, 0, 1, 1, 2, 2, 3, 3]);
});

test("a session that comes back keeps its assignment", async () => {
  const server = new Server();
  await openAssignmentPool(server.page(), options).reserve("first");
  assert.equal(await openAssignmentPool(server.page(), options).reserve("second"), 1);
  assert.equal(await openAssignmentPool(server.page(), options).reserve("second"), 1);
});

test("a assignment is free again when nobody has been heard of for the lease, unless its session is complete", () => {
  const now = 5000;
  assert.equal(findLeastUsed({ a: [0, 3999, 0], b: [1, 4500, 0] }, 2, now, 1000), 0);
  assert.equal(findLeastUsed({ a: [0, 0, 1], b: [1, 3999, 0] }, 2, now, 1000), 1);
  assert.equal(findLeastUsed({ a: [7, 4999, 0] }, 2, now, 1000), 0, "of an export with more assignments");
});

test("who goes on keeps the assignment, who is complete keeps it for good, who leaves gives it back", async () => {
  const server = new Server();
  const one = openAssignmentPool(server.page(), options);
  const assignment = await one.reserve("one");
  await openAssignmentPool(server.page(), options).reserve("two");
  await openAssignmentPool(server.page(), { ...options, now: () => 5900 }).renew("one", assignment);
  assert.deepEqual(taken(server)["one"], [0, 5900, 0]);
  await one.renew("one", assignment, true).catch(() => assert.fail("an old copy is renewed and the change tried again"));
  assert.deepEqual(taken(server)["one"], [0, 5000, 1]);
  await openAssignmentPool(server.page(), options).release("two");
  assert.deepEqual(Object.keys(taken(server)), ["one"]);
});

test("a channel that stays closed is an error, not a assignment that two have", async () => {
  const closed: BatchSession = { get: () => undefined, set: () => Promise.reject("closed"), add: () => Promise.reject("closed"), remove: () => Promise.reject("closed") };
  await assert.rejects(openAssignmentPool(closed, options).reserve("one"));
});
