// Events wait here until the server has them. Nothing is sent while a sentence is read.

import { RefusedError, takenOverTexts, isTemporary } from "./api";
import type { Journal } from "./journal";
import type { Event } from "./screens";
import { sleep } from "./sleep";

const BATCH_SIZE = 1000; // events a request; about 200 bytes each, far below the server's limit of 1 MB

/** What is sent: an event, or a row of data. */
export interface NumberedItem {
  seq: number;
  visit: number;
}

export interface Uploads<Item extends NumberedItem = Event> {
  add(event: Item): void;
  /** From now on nothing is sent, also no second try of an earlier request. */
  pause(): void;
  /** Sends what there is, and goes on trying until it is stored. */
  resume(): void;
  /** Settles when everything added so far is stored; rejects when the server refuses it for good. */
  stored(): Promise<void>;
  /** Puts these numbers back into the queue. */
  again(seqs: readonly number[]): void;
  unsent(): readonly Item[];
  /** All events of this page, stored or not. */
  kept(): readonly Item[];
  paused(): boolean;
}

/** ms before try number `attempt` (from 1): 1 s, 2 s, 4 s ... at most 15 s. */
export const computeBackoff = (attempt: number): number => Math.min(15_000, 1000 * 2 ** (attempt - 1));

export interface UploadOptions<Item extends NumberedItem = Event> {
  wait?: (ms: number) => Promise<void>;
  /** called after each failed try (with its number) and after a success that follows one (with 0) */
  trouble?: (attempt: number) => void;
  /** called when the server refuses the events for good */
  failed?: (error: unknown) => void;
  /** where events are kept until they are stored */
  journal?: Pick<Journal<Item>, "keep" | "forget">;
  /** the new numbering of this visit, asked for when an earlier visit took its first numbers */
  renumber?: () => Promise<{ visit: number; next: number }>;
}

export function createUploads<Item extends NumberedItem = Event>(
  put: (events: readonly Item[]) => Promise<unknown>,
  options: UploadOptions<Item> = {},
): Uploads<Item> {
  const { wait = sleep, trouble = () => {}, failed = () => {}, journal, renumber } = options;
  const kept: Item[] = [];
  let queue: Item[] = [];
  let paused = true;
  let accepted = false;
  let attempt = 0;
  let running: Promise<void> | null = null;
  let final: unknown = null;

  function renumbered(numbering: { visit: number; next: number }): void {
    const first = kept[0]?.seq ?? 0;
    journal?.forget(kept.map(({ seq }) => seq));
    for (const event of kept) {
      event.seq += numbering.next - first;
      event.visit = numbering.visit;
      journal?.keep(event);
    }
  }

  async function sendBatch(): Promise<void> {
    const batch = queue.slice(0, BATCH_SIZE);
    try {
      await put(batch);
      const sent = new Set(batch);
      queue = queue.filter((event) => !sent.has(event));
      journal?.forget(batch.map(({ seq }) => seq));
      accepted = true;
      if (attempt > 0) trouble(0);
      attempt = 0;
    } catch (error) {
      attempt += 1;
      trouble(attempt);
      if (isTemporary(error)) await wait(computeBackoff(attempt));
      else if (error instanceof RefusedError && error.status === 409 && !takenOverTexts(error) && !accepted && renumber && attempt < 5) renumbered(await renumber());
      else throw error;
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0 && !paused) await sendBatch();
  }

  function go(): void {
    if (running || final) return;
    running = drain()
      .catch((error: unknown) => {
        final = error;
        failed(error);
      })
      .finally(() => {
        running = null;
        if (queue.length > 0 && !paused) go();
      });
  }

  return {
    add(event) {
      kept.push(event);
      queue.push(event);
      journal?.keep(event);
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      go();
    },
    async stored() {
      this.resume();
      while (running) await running;
      if (final) throw final;
    },
    again(seqs) {
      const wanted = new Set(seqs);
      const waiting = new Set(queue);
      queue = kept.filter((event) => waiting.has(event) || wanted.has(event.seq));
    },
    unsent: () => queue,
    kept: () => kept,
    paused: () => paused,
  };
}
