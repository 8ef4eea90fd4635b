// What is recorded of a visit: events in order, none of them told before the participant agrees. Pure.

import type { Event } from "./screens";

/** What an event of each kind holds. */
export type Values = { [One in Event as One["kind"]]: One["value"] };
export type Kind = keyof Values;
/** The step and the screen of an event; null where it has none. */
export type Place = readonly [step: number | null, screen: number | null];
export type Record = <One extends Kind>(kind: One, t: number, place: Place, value: Values[One]) => void;

/** The number of this visit and of the next event. */
export interface Numbering {
  visit: number;
  next: number;
}

interface Recorder {
  record: Record;
  /** From now on everything is told: what the machine is first of all, then what was recorded until now. */
  begin(visit: Values["visit"]): void;
}

/** Numbers events from `numbering.next` on, counting there, and hands each to `keep`. */
export function recorder(numbering: Numbering, keep: (event: Event) => void): Recorder {
  let waiting: Omit<Event, "seq" | "visit">[] | null = [];
  function tell(event: Omit<Event, "seq" | "visit">): void {
    keep({ seq: numbering.next, visit: numbering.visit, ...event } as Event);
    numbering.next += 1;
  }
  return {
    record(kind, t, [step, screen], value) {
      const event = { t, kind, step, screen, value } as Omit<Event, "seq" | "visit">;
      if (waiting) waiting.push(event);
      else tell(event);
    },
    begin(visit) {
      const before = waiting ?? [];
      waiting = null;
      tell({ t: 0, kind: "visit", step: null, screen: null, value: visit });
      before.forEach(tell);
    },
  };
}
