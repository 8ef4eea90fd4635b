// What is recorded of a visit: events in order, none of them told before the participant agrees. Pure.

import type { Event } from "./screens";

/** What an event of each kind holds. */
export type EventValues = { [One in Event as One["kind"]]: One["value"] };
export type EventKind = keyof EventValues;
/** The step and the screen of an event; null where it has none. */
export type EventPosition = readonly [step: number | null, screen: number | null];
export type RecordAt = <One extends EventKind>(kind: One, t: number, position: EventPosition, value: EventValues[One]) => void;

/** The number of this visit and of the next event. */
export interface Numbering {
  visit: number;
  next: number;
}

interface Recorder {
  record: RecordAt;
  /** From now on everything is told: what the machine is first of all, then what was recorded until now. */
  begin(visit: EventValues["visit"]): void;
}

/** Numbers events from `numbering.next` on, counting there, and hands each to `keep`. */
export function createRecorder(numbering: Numbering, keep: (event: Event) => void): Recorder {
  let waiting: Omit<Event, "seq" | "visit">[] | null = [];
  function emit(event: Omit<Event, "seq" | "visit">): void {
    keep({ seq: numbering.next, visit: numbering.visit, ...event } as Event);
    numbering.next += 1;
  }
  return {
    record(kind, t, [step, screen], value) {
      const event = { t, kind, step, screen, value } as Omit<Event, "seq" | "visit">;
      if (waiting) waiting.push(event);
      else emit(event);
    },
    begin(visit) {
      const before = waiting ?? [];
      waiting = null;
      emit({ t: 0, kind: "visit", step: null, screen: null, value: visit });
      before.forEach(emit);
    },
  };
}
