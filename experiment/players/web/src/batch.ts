// The assignments of a study in the batch session of JATOS: reserved at the start, confirmed at the end, released when nobody
// comes back. Batch sessions refuse a change that was made on an old version of them, so two arrivals never get one assignment.

import { sleep } from "./sleep";

/** Assignment, when its session was last heard of (ms since 1970), and whether it is complete. */
export type Reservation = [assignment: number, seen: number, complete: 0 | 1];

/** The batch session of jatos.js, as far as it is used here. */
export interface BatchSession {
  get(name: string): unknown;
  set(name: string, value: unknown): PromiseLike<unknown>;
  add(path: string, value: unknown): PromiseLike<unknown>;
  remove(path: string): PromiseLike<unknown>;
}

const NAME = "gardenpath";

type Reservations = Record<string, Reservation>;

/** The assignment taken by the fewest complete and living sessions, the first of several. */
export function findLeastUsed(taken: Readonly<Reservations>, assignments: number, now: number, lease: number): number {
  const counts = new Array<number>(assignments).fill(0);
  for (const [assignment, seen, complete] of Object.values(taken)) {
    if (assignment < assignments && (complete || now - seen < lease)) counts[assignment] = (counts[assignment] as number) + 1;
  }
  return counts.indexOf(Math.min(...counts));
}

export interface AssignmentPool {
  /** The assignment of a session: the one that it has, or a new one. */
  reserve(session: string): Promise<number>;
  /** Says that a session goes on, or that it is complete. */
  renew(session: string, assignment: number, complete?: boolean): Promise<void>;
  release(session: string): Promise<void>;
}

export interface BatchOptions {
  assignments: number;
  /** ms without a sign after which a assignment is free again */
  lease: number;
  now?: () => number;
  wait?: (ms: number) => Promise<void>;
  random?: () => number;
}

export function openAssignmentPool(batch: BatchSession, options: BatchOptions): AssignmentPool {
  const { assignments, lease, now = Date.now, wait = sleep, random = Math.random } = options;
  const taken = (): Reservations | undefined => batch.get(NAME) as Reservations | undefined;

  /** Tries until the change was made on what the server has; each try looks at it anew. */
  async function until(change: () => PromiseLike<unknown> | null, tries: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const made = change();
      if (made === null) return;
      try {
        return void (await made);
      } catch (error) {
        if (attempt === tries) throw error;
        await wait(random() * Math.min(5000, 200 * 2 ** attempt)); // apart from the others who try
      }
    }
  }

  const put = (session: string, value: Reservation): PromiseLike<unknown> =>
    taken() ? batch.add(`/${NAME}/${session}`, value) : batch.set(NAME, { [session]: value });

  return {
    async reserve(session) {
      let assignment = 0;
      await until(() => {
        assignment = taken()?.[session]?.[0] ?? findLeastUsed(taken() ?? {}, assignments, now(), lease);
        return put(session, [assignment, now(), 0]);
      }, 30);
      return assignment;
    },
    renew: (session, assignment, complete = false) => until(() => put(session, [assignment, now(), complete ? 1 : 0]), complete ? 8 : 2),
    release: (session) => until(() => (taken()?.[session] ? batch.remove(`/${NAME}/${session}`) : null), 8),
  };
}
