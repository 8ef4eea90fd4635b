// Where an exported study runs: from a folder, whose data a hook takes or a file keeps, or in JATOS.

import type { JsPsych } from "jspsych";

import { Refused } from "./api";
import { type BatchSession, type Places, placesIn } from "./batch";
import { type Exported, placeIn } from "./exported";
import { backoff } from "./uploads";
import type { Numbered } from "./uploads";

/** A row of jsPsych's data, numbered over the session. */
export type Row = Numbered & Record<string, unknown>;

export interface Sat {
  session: string;
  participant: string;
  filename: string;
}

export interface Host {
  source: "jspsych" | "jatos";
  /** the parameters of the address with which the participant came */
  parameters: URLSearchParams;
  /** what stands for a participant without an id when the page is loaded again; null: this tab */
  run: string | null;
  /** The participant's place, and who said so. */
  place(session: string): Promise<{ place: number; by: string }>;
  /** Takes rows as they come; left out where they wait for the end. */
  append?(rows: readonly Row[]): Promise<unknown>;
  /** Stores all rows of a complete session; false where there is nowhere to store them. */
  save(rows: readonly Row[], sat: Sat, place: number): Promise<boolean>;
  /** Says that a session goes on. */
  alive(session: string, place: number): void;
  /** The participant leaves: the platform forgets what it has. */
  leave(session: string, reason: string): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

// ------------------------------------------------------------------------------------------------------ a folder

declare global {
  interface Window {
    gardenpathStudy: Exported;
    jsPsych?: JsPsych;
    /** Stores a session; it is complete when this settles, and what it throws is tried again. Yours, in save.js. */
    gardenpathSave?: (json: string, sat: Sat) => Promise<unknown>;
    /** The next number of your own counter. Yours, in save.js. */
    gardenpathPlace?: () => Promise<number>;
    jatos?: Jatos;
  }
}

const random = (below: number): number => (crypto.getRandomValues(new Uint32Array(1))[0] as number) % below;

export function folder({ places }: Exported, unreachable: () => void): Host {
  const parameters = new URLSearchParams(window.location.search);

  async function counted(next: () => Promise<number>): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const counter = Number(await next());
        if (Number.isInteger(counter) && counter >= 0) return counter;
        console.error(`gardenpathPlace gave ${counter}; expected a whole number from 0 on`);
      } catch (error) {
        console.error("gardenpathPlace failed:", error);
      }
      unreachable();
      await pause(backoff(attempt));
    }
  }

  return {
    source: "jspsych",
    parameters,
    run: null,
    async place() {
      const place = placeIn(parameters);
      if (place !== null) return { place: place % places.length, by: "address" };
      if (window.gardenpathPlace) return { place: (await counted(window.gardenpathPlace)) % places.length, by: "counter" };
      console.warn("No place in the address (?place=17) and no counter in save.js: the place is drawn at random, and versions will not balance.");
      return { place: random(places.length), by: "random" };
    },
    async save(rows, sat) {
      if (!window.gardenpathSave) return false;
      await window.gardenpathSave(JSON.stringify(rows), sat);
      return true;
    },
    alive() {},
    async leave() {},
  };
}

// --------------------------------------------------------------------------------------------------------- JATOS

/** jatos.js, served by JATOS, as far as it is used here; newer names beside the older ones. */
export interface Jatos {
  onLoad(ready: () => void): void;
  urlQueryParameters?: Record<string, string>;
  studyResultId: string | number;
  batchSession: BatchSession;
  appendResultData(data: string): PromiseLike<unknown>;
  submitResultData(data: string): PromiseLike<unknown>;
  endStudyWithoutRedirect?(successful: boolean, message?: string): PromiseLike<unknown>;
  endStudyAjax?(successful: boolean, message?: string): PromiseLike<unknown>;
  abortStudyWithoutRedirect?(message?: string): PromiseLike<unknown>;
  abortStudyAjax?(message?: string): PromiseLike<unknown>;
}

const lines = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** What jatos.js says when a request failed; too much data is refused for good, all else may pass. */
function refusal(error: unknown): Refused {
  const said = error instanceof Error ? error.message : typeof error === "string" ? error : JSON.stringify(error ?? "");
  return new Refused(/\b413\b|too large/i.test(said) ? 413 : 0, said);
}

const sent = (request: PromiseLike<unknown>): Promise<unknown> => Promise.resolve(request).catch((error: unknown) => Promise.reject(refusal(error)));

export async function inJatos(jatos: Jatos, { places, online }: Exported): Promise<Host> {
  await new Promise<void>((ready) => jatos.onLoad(ready));
  const lease = 60_000 * online.lease_minutes;
  const batch: Places = placesIn(jatos.batchSession, { places: places.length, lease });
  const parameters = new URLSearchParams(jatos.urlQueryParameters ?? {});
  let heard = Date.now();
  return {
    source: "jatos",
    parameters,
    run: String(jatos.studyResultId),
    async place(session) {
      const place = placeIn(parameters);
      if (place !== null) return { place: place % places.length, by: "address" };
      try {
        return { place: await batch.reserve(session), by: "batch" };
      } catch (error) {
        console.error("The batch session takes no reservation; the place is drawn at random:", error);
        return { place: random(places.length), by: "random" };
      }
    },
    append: (rows) => sent(jatos.appendResultData(lines(rows))),
    async save(rows, { session }, place) {
      await sent(jatos.submitResultData(lines(rows)));
      await batch.renew(session, place, true).catch((error: unknown) => console.warn("the place stays unconfirmed:", error));
      const end = jatos.endStudyWithoutRedirect ?? jatos.endStudyAjax;
      await Promise.resolve(end?.call(jatos, true)).catch((error: unknown) => console.warn("stored, but not marked as finished:", error));
      return true;
    },
    alive(session, place) {
      if (Date.now() - heard < lease / 3) return;
      heard = Date.now();
      void batch.renew(session, place).catch(() => {});
    },
    async leave(session, reason) {
      await batch.release(session).catch((error: unknown) => console.warn("the place stays reserved for a while:", error));
      await (jatos.abortStudyWithoutRedirect ?? jatos.abortStudyAjax)?.call(jatos, reason);
    },
  };
}
