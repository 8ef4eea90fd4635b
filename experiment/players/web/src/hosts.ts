// Where an exported study runs: from a folder, whose data a hook takes or a file keeps, or in JATOS.

import type { JsPsych } from "jspsych";

import { RefusedError } from "./api";
import { type BatchSession, type AssignmentPool, openAssignmentPool } from "./batch";
import { type ExportedStudy, readAssignment } from "./exported-study";
import { sleep } from "./sleep";
import { computeBackoff } from "./uploads";
import type { NumberedItem } from "./uploads";

/** A row of jsPsych's data, numbered over the session. */
export type Row = NumberedItem & Record<string, unknown>;

export interface SessionFile {
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
  /** The participant's assignment, and who said so. */
  assign(session: string): Promise<{ assignment: number; by: string }>;
  /** Takes rows as they come; left out where they wait for the end. */
  append?(rows: readonly Row[]): Promise<unknown>;
  /** Stores all rows of a complete session; false where there is nowhere to store them. */
  save(rows: readonly Row[], sessionFile: SessionFile, assignment: number): Promise<boolean>;
  /** Says that a session goes on. */
  keepAlive(session: string, assignment: number): void;
  /** The participant leaves: the platform forgets what it has. */
  leave(session: string, reason: string): Promise<void>;
}

// ------------------------------------------------------------------------------------------------------ a folder

declare global {
  interface Window {
    gardenpathStudy: ExportedStudy;
    jsPsych?: JsPsych;
    /** Stores a session; it is complete when this settles, and what it throws is tried again. Yours, in save.js. */
    gardenpathSave?: (json: string, sessionFile: SessionFile) => Promise<unknown>;
    /** The next number of your own counter. Yours, in save.js. */
    gardenpathNextAssignment?: () => Promise<number>;
    jatos?: Jatos;
  }
}

const randomBelow = (below: number): number => (crypto.getRandomValues(new Uint32Array(1))[0] as number) % below;

export function folderHost({ assignments }: ExportedStudy, unreachable: () => void): Host {
  const parameters = new URLSearchParams(window.location.search);

  async function counted(next: () => Promise<number>): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const counter = Number(await next());
        if (Number.isInteger(counter) && counter >= 0) return counter;
        console.error(`gardenpathNextAssignment gave ${counter}; expected a whole number from 0 on`);
      } catch (error) {
        console.error("gardenpathNextAssignment failed:", error);
      }
      unreachable();
      await sleep(computeBackoff(attempt));
    }
  }

  return {
    source: "jspsych",
    parameters,
    run: null,
    async assign() {
      const assignment = readAssignment(parameters);
      if (assignment !== null) return { assignment: assignment % assignments.length, by: "address" };
      if (window.gardenpathNextAssignment) return { assignment: (await counted(window.gardenpathNextAssignment)) % assignments.length, by: "counter" };
      console.warn("No assignment in the address (?assignment=17) and no counter in save.js: the assignment is drawn at random, and lists will not balance.");
      return { assignment: randomBelow(assignments.length), by: "random" };
    },
    async save(rows, sessionFile) {
      if (!window.gardenpathSave) return false;
      await window.gardenpathSave(JSON.stringify(rows), sessionFile);
      return true;
    },
    keepAlive() {},
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

const formatLines = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** What jatos.js says when a request failed; too much data is refused for good, all else may pass. */
function toRefusedError(error: unknown): RefusedError {
  const message = error instanceof Error ? error.message : typeof error === "string" ? error : JSON.stringify(error ?? "");
  return new RefusedError(/\b413\b|too large/i.test(message) ? 413 : 0, message);
}

const sendToJatos = (request: PromiseLike<unknown>): Promise<unknown> => Promise.resolve(request).catch((error: unknown) => Promise.reject(toRefusedError(error)));

export async function jatosHost(jatos: Jatos, { assignments, online }: ExportedStudy): Promise<Host> {
  await new Promise<void>((ready) => jatos.onLoad(ready));
  const lease = 60_000 * online.lease_minutes;
  const batch: AssignmentPool = openAssignmentPool(jatos.batchSession, { assignments: assignments.length, lease });
  const parameters = new URLSearchParams(jatos.urlQueryParameters ?? {});
  let heard = Date.now();
  return {
    source: "jatos",
    parameters,
    run: String(jatos.studyResultId),
    async assign(session) {
      const assignment = readAssignment(parameters);
      if (assignment !== null) return { assignment: assignment % assignments.length, by: "address" };
      try {
        return { assignment: await batch.reserve(session), by: "batch" };
      } catch (error) {
        console.error("The batch session takes no reservation; the assignment is drawn at random:", error);
        return { assignment: randomBelow(assignments.length), by: "random" };
      }
    },
    append: (rows) => sendToJatos(jatos.appendResultData(formatLines(rows))),
    async save(rows, { session }, assignment) {
      await sendToJatos(jatos.submitResultData(formatLines(rows)));
      await batch.renew(session, assignment, true).catch((error: unknown) => console.warn("the assignment stays unconfirmed:", error));
      const end = jatos.endStudyWithoutRedirect ?? jatos.endStudyAjax;
      await Promise.resolve(end?.call(jatos, true)).catch((error: unknown) => console.warn("stored, but not marked as finished:", error));
      return true;
    },
    keepAlive(session, assignment) {
      if (Date.now() - heard < lease / 3) return;
      heard = Date.now();
      void batch.renew(session, assignment).catch(() => {});
    },
    async leave(session, reason) {
      await batch.release(session).catch((error: unknown) => console.warn("the assignment stays reserved for a while:", error));
      await (jatos.abortStudyWithoutRedirect ?? jatos.abortStudyAjax)?.call(jatos, reason);
    },
  };
}
