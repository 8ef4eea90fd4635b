import assert from "node:assert/strict";
import { test } from "node:test";

import { RefusedError } from "../src/api";
import type { Event } from "../src/screens";
import { type UploadOptions, computeBackoff, createUploads } from "../src/uploads";

const event = (seq: number): Event => ({ seq, visit: 0, t: seq, kind: "end", step: null, screen: null, value: {} });

/** A server that fails as told, one status a call, and then stores what it gets. */
function server(...failures: number[]) {
  const stored = new Map<number, Event>();
  const calls: number[][] = [];
  const put = async (events: readonly Event[]): Promise<void> => {
    calls.push(events.map(({ seq }) => seq));
    const status = failures.shift();
    if (status !== undefined) throw new RefusedError(status, "told to");
    for (const sent of events) stored.set(sent.seq, { ...sent });
  };
  return { stored, calls, put };
}

const waits: number[] = [];
const quick: UploadOptions = {
  wait: async (ms) => {
    waits.push(ms);
  },
};

test("everything that was added is stored, in order", async () => {
  const there = server();
  const queue = createUploads(there.put, quick);
  for (let seq = 0; seq < 2500; seq += 1) queue.add(event(seq));
  await queue.stored();
  assert.deepEqual([...there.stored.keys()], Array.from({ length: 2500 }, (_, seq) => seq));
  assert.equal(queue.unsent().length, 0);
});

test("no network and a broken server are tried again, ever more slowly", async () => {
  const there = server(0, 503, 500, 429);
  const troubles: number[] = [];
  waits.length = 0;
  const queue = createUploads(there.put, { ...quick, trouble: (attempt) => troubles.push(attempt) });
  queue.add(event(0));
  await queue.stored();
  assert.deepEqual(waits, [1000, 2000, 4000, 8000]);
  assert.deepEqual(troubles, [1, 2, 3, 4, 0]);
  assert.equal(there.stored.size, 1);
});

test("the pause between tries stays within 15 s", () => {
  assert.equal(computeBackoff(20), 15_000);
});

test("nothing is sent while paused, not even a second try", async () => {
  const there = server(503);
  let release = (): void => {};
  const queue = createUploads(there.put, { wait: () => new Promise((done) => (release = done)) });
  queue.add(event(0));
  queue.resume();
  await new Promise(setImmediate);
  queue.pause();
  release();
  await new Promise(setImmediate);
  queue.add(event(1));
  assert.equal(there.calls.length, 1);
  await queue.stored();
  assert.deepEqual(there.calls[1], [0, 1]);
});

test("an answer that will not change stops the queue and says so", async () => {
  const there = server(401);
  let failure: unknown = null;
  const queue = createUploads(there.put, { ...quick, failed: (error) => (failure = error) });
  queue.add(event(0));
  await assert.rejects(queue.stored(), RefusedError);
  assert.ok(failure instanceof RefusedError);
  queue.resume();
  assert.equal(there.calls.length, 1);
});

test("a visit whose first numbers are taken is numbered anew", async () => {
  const there = server(409);
  const queue = createUploads(there.put, { ...quick, renumber: async () => ({ visit: 2, next: 10 }) });
  queue.add(event(4));
  queue.add(event(5));
  await queue.stored();
  assert.deepEqual([...there.stored.values()].map(({ seq, visit }) => [seq, visit]), [[10, 2], [11, 2]]);
});

test("a conflict after something was stored is another page of the same participant: it stops", async () => {
  const there = server();
  const queue = createUploads(async (events) => {
    if (there.calls.length > 0) throw new RefusedError(409, "differs");
    await there.put(events);
  }, { ...quick, renumber: async () => ({ visit: 2, next: 10 }) });
  queue.add(event(0));
  await queue.stored();
  queue.add(event(1));
  await assert.rejects(queue.stored(), RefusedError);
});

test("what the server misses is sent again", async () => {
  const there = server();
  const queue = createUploads(there.put, quick);
  [0, 1, 2].forEach((seq) => queue.add(event(seq)));
  await queue.stored();
  queue.again([1]);
  await queue.stored();
  assert.deepEqual(there.calls, [[0, 1, 2], [1]]);
});
