// What an export of a study holds (experiment/exports/page.py), and what is read off it. Pure.

import type { Ending, Payload, Trial } from "./session";

export type Platform = "prolific" | "sona" | "link";
type Ended = "refused" | "unsuitable" | "withdrawn" | "unsent" | "handed_over" | "finished" | "open_elsewhere";

/** A version with its trials in the order of its file, and the presented positions before which a break comes. */
export interface ExportedVersion {
  name: string;
  sha256: string;
  procedure_sha256: string;
  seed: number;
  breaks: number[];
  trials: Trial[];
}

export interface Exported extends Pick<Payload, "study" | "procedure" | "texts" | "consent_sha256"> {
  online: {
    resume_hours: number;
    lease_minutes: number;
    /** how many sessions a person may have */
    sessions: number;
    /** in an address, ID stands for the participant's id */
    endings: Record<Platform, Record<Ended, Ending>>;
  };
  versions: ExportedVersion[];
  /** index of the version, slot, and the positions of its trials as presented */
  places: [number, number, number[]][];
}

/** How an id stands in the address of an ending before it is known whose it is: {id}, as an address writes it. */
const ID = "%7Bid%7D";

/** The trials of a version as presented in an order. */
export const presented = ({ trials, breaks }: Pick<ExportedVersion, "trials" | "breaks">, order: readonly number[]): Trial[] =>
  order.map((position, trial) => ({ ...(trials[position] as Trial), trial, break_before: breaks.includes(trial) }));

export interface Person {
  id: string;
  platform: Platform;
}

/** The parameters that name a participant, in the order in which they count. */
const names: [string, Platform][] = [
  ["PROLIFIC_PID", "prolific"],
  ["survey_code", "sona"],
  ["SONA", "sona"],
  ["participant", "link"],
  ["workerId", "link"],
];

/** Who comes, by the parameters of the address; null for who comes without an id. */
export function person(given: URLSearchParams): Person | null {
  for (const [name, platform] of names) {
    const id = given.get(name);
    if (id && id.length <= 200) return { id, platform };
  }
  return null;
}

/** The endings of who comes from there, with the ways back in this person's name. */
export function endingsOf(exported: Exported, who: Person | null): Record<Ended, Ending> {
  const endings = exported.online.endings[who?.platform ?? "link"];
  const named = ({ url, ...rest }: Ending): Ending => ({ ...rest, url: url && url.replaceAll(ID, encodeURIComponent(who?.id ?? "")) });
  return Object.fromEntries(Object.entries(endings).map(([kind, ending]) => [kind, named(ending)])) as Record<Ended, Ending>;
}

/** The number in `?place=17` or `?condition=17`, null where there is none; throws for what is no counter. */
export function placeIn(given: URLSearchParams): number | null {
  const stated = given.get("place") ?? given.get("condition");
  if (stated === null) return null;
  if (!/^\d{1,9}$/.test(stated)) throw new Error(`place is ${JSON.stringify(stated)}; expected a whole number from 0 on`);
  return Number(stated);
}
