// What an export of a study holds (experiment/platforms/page.py), and what is read off it. Pure.

import type { Ending } from "./api";
import type { Script } from "./screens";
import type { Label } from "./running-visit";

export type Platform = "prolific" | "sona" | "link";

export interface ExportedList {
  name: string;
  sha256: string;
  procedure_sha256: string;
  seed: number;
  script: Script;
  /** what the data say of each trial of the script */
  labels: Label[];
}

export interface ExportedStudy {
  study: { name: string; title: string };
  online: {
    resume_hours: number;
    lease_minutes: number;
    /** how many sessions a person may have */
    sessions: number;
    /** by how a session ends; in an address, ID stands for the participant's id */
    endings: Record<Platform, Record<string, Ending>>;
  };
  lists: ExportedList[];
  /** index of the list, slot, and the positions of its trials as presented */
  assignments: [number, number, number[]][];
}

/** How an id stands in the address of an ending before it is known whose it is: {id}, as an address writes it. */
const ID = "%7Bid%7D";

export interface Person {
  id: string;
  platform: Platform;
}

/** The parameters that name a participant, in the order in which they count. */
const PERSON_PARAMETERS: [string, Platform][] = [
  ["PROLIFIC_PID", "prolific"],
  ["survey_code", "sona"],
  ["SONA", "sona"],
  ["participant", "link"],
  ["workerId", "link"],
];

/** Who comes, by the parameters of the address; null for who comes without an id. */
export function readPerson(query: URLSearchParams): Person | null {
  for (const [name, platform] of PERSON_PARAMETERS) {
    const id = query.get(name);
    if (id && id.length <= 200) return { id, platform };
  }
  return null;
}

/** How a session of who comes from there ends, with the ways back in this person's name. */
export function buildEnding({ online: { endings } }: ExportedStudy, who: Person | null, kind: string): Ending {
  const { url, ...rest } = endings[who?.platform ?? "link"][kind] ?? { text: [], code: null, url: null };
  return { ...rest, url: url && url.replaceAll(ID, encodeURIComponent(who?.id ?? "")) };
}

/** The number in `?assignment=17` or `?condition=17`, null where there is none; throws for what is no counter. */
export function readAssignment(query: URLSearchParams): number | null {
  const assignment = query.get("assignment") ?? query.get("condition");
  if (assignment === null) return null;
  if (!/^\d{1,9}$/.test(assignment)) throw new Error(`assignment is ${JSON.stringify(assignment)}; expected a whole number from 0 on`);
  return Number(assignment);
}
