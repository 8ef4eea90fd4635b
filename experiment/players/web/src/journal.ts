// Write-ahead: every event is kept on this machine until the server has it, so that a closed tab loses nothing.

import type { Event } from "./screens";

export interface Journal<Item = Event> {
  keep(event: Item): void;
  forget(seqs: readonly number[]): void;
  /** Settles when all that was kept is on disk; null when it is. */
  writing(): Promise<void> | null;
  /** Events of this session that an earlier page kept and nobody acknowledged, in order. */
  left: Item[];
  /** Forgets the session, which is complete or withdrawn, and keeps nothing any more. */
  close(): Promise<void>;
}

/**
 * Of the events that are stored those that this page needs no more: how the screens of a step ended, and which words were shown, is
 * kept until its end is stored as well, so that what was judged or seen counts whichever of them is still on its way when the page
 * is loaded again.
 */
export function findStoredEvents(kept: readonly Event[], stored: ReadonlySet<number>): number[] {
  const done = new Set(kept.flatMap(({ kind, seq, step }) => (kind === "done" && stored.has(seq) ? [step] : [])));
  const tells = ({ kind, step }: Event): boolean => (kind === "begin" || kind === "word" || kind === "outcome") && !done.has(step);
  return kept.filter((event) => stored.has(event.seq) && !tells(event)).map(({ seq }) => seq);
}

/** Longer than this no key waits for a disk, ms. */
const PATIENCE = 250;

/** A journal in memory, for browsers that keep nothing. */
const memoryJournal = <Item>(): Journal<Item> => ({ keep() {}, forget() {}, writing: () => null, left: [], close: async () => {} });

const awaitRequest = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore("events");
  return awaitRequest(request);
}

interface JournalEntry<Item> {
  event: Item;
  /** when the session can no longer be gone on with, ms since 1970 */
  until: number;
}

/** Deletes what was kept of other sessions, anybody's at this computer, that can no longer be gone on with. */
function forgetOthers(store: IDBObjectStore, session: string, now: number): void {
  const request = store.openCursor();
  request.onsuccess = () => {
    const entry = request.result;
    const another = entry && (entry.key as [string, number])[0] !== session;
    if (another && (entry.value as JournalEntry<unknown>).until < now) entry.delete();
    entry?.continue();
  };
}

/** Of how many sessions a journal that is not open holds events; one that holds none is deleted. */
export async function countUnsentSessions(name: string): Promise<number> {
  let opened: IDBDatabase;
  let sessions: Set<string>;
  try {
    opened = await openDatabase(name);
    const store = opened.transaction("events", "readwrite").objectStore("events");
    forgetOthers(store, "", Date.now());
    sessions = new Set(((await awaitRequest(store.getAllKeys())) as [string, number][]).map(([session]) => session));
  } catch {
    return 0; // this browser keeps nothing
  }
  opened.close();
  if (sessions.size > 0) return sessions.size;
  const request = indexedDB.deleteDatabase(name);
  await new Promise((done) => (request.onsuccess = request.onerror = request.onblocked = done));
  return 0;
}

/** The journal of a session that is kept for so long; where the browser keeps nothing, one that does not outlive the page. */
export async function openJournal<Item extends { seq: number } = Event>(
  session: string,
  hours: number,
  name = `gardenpath ${window.location.pathname}`,
): Promise<Journal<Item>> {
  let opened: IDBDatabase;
  const mine = IDBKeyRange.bound([session], [session, []]);
  let left: JournalEntry<Item>[];
  try {
    opened = await openDatabase(name);
    const store = opened.transaction("events", "readwrite").objectStore("events");
    forgetOthers(store, session, Date.now());
    left = (await awaitRequest(store.getAll(mine))) as JournalEntry<Item>[];
  } catch (error) {
    console.warn("events are kept in memory alone:", error);
    return memoryJournal();
  }
  let pending = 0;
  let written: Promise<void> | null = null;
  let closed = false;

  function change(apply: (store: IDBObjectStore) => void): Promise<void> {
    if (closed) return Promise.resolve();
    return new Promise((done) => {
      const transaction = opened.transaction("events", "readwrite", { durability: "relaxed" });
      transaction.oncomplete = transaction.onabort = () => done();
      apply(transaction.objectStore("events"));
      transaction.commit();
    });
  }

  return {
    left: left.map(({ event }) => event),
    keep(event) {
      pending += 1;
      const kept: JournalEntry<Item> = { event, until: Date.now() + hours * 3_600_000 };
      const slow = new Promise<void>((done) => setTimeout(done, PATIENCE));
      written = Promise.race([change((store) => store.put(kept, [session, event.seq])), slow]).finally(() => (pending -= 1));
    },
    forget: (seqs) => void change((store) => seqs.forEach((seq) => store.delete([session, seq]))),
    writing: () => (pending > 0 ? written : null),
    close() {
      const forgotten = change((store) => store.delete(mine));
      closed = true;
      return forgotten.catch(() => {}).then(() => opened.close());
    },
  };
}
