// The calls of a session (docs/api.md). Addresses are relative: the study may live under any prefix.

import type { FormAnswers } from "./plugin";
import type { Event, Script } from "./screens";
import type { Outcomes, Tallies } from "./walk";

/** The last page of who does not reach the end. */
export interface Ending {
  text: string[];
  code: string | null;
  url: string | null;
}

/** What a session is opened with. */
export interface Payload {
  session: string;
  token: string;
  visit: number;
  next_seq: number;
  /** steps of earlier visits, and what was judged in their blocks */
  done: number[];
  tallies: Tallies;
  /** how the screens of the next step ended where timed words had begun in it */
  outcomes: Outcomes;
  study: { name: string; title: string };
  order: number[];
  script: Script;
  online: {
    test: boolean;
    heartbeat_seconds: number;
    resume: string | null;
    resume_hours: number;
    /** by how the session ended */
    endings: { unsent: Ending; [kind: string]: Ending };
  };
}

/** What the server says beside a refusal; which of it is there depends on the reason. */
export interface Refusal extends Partial<Ending> {
  error?: string;
  reason?: string;
  missing?: number[];
  retry_after?: number;
}

/** An answer that is not the expected one; `status` is 0 when there was no answer at all. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly answer: Refusal = {},
  ) {
    super(message);
  }
}

/** Whether the same call may succeed later: no answer, a busy or broken server. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof RefusedError && (error.status === 0 || error.status === 408 || error.status === 429 || error.status >= 500);

/** What to say where another tab has taken the session over; null for any other error. */
export const takenOverTexts = (error: unknown): string[] | null =>
  error instanceof RefusedError && error.answer.reason === "open_elsewhere" ? (error.answer.text ?? [error.message]) : null;

async function callServer<Answer>(path: string, method: string, body: unknown, options: RequestInit & { token?: string } = {}): Promise<Answer> {
  const { token, ...rest } = options;
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  let response: Response;
  try {
    response = await fetch(path, { method, headers, body: JSON.stringify(body), cache: "no-store", ...rest });
  } catch (error) {
    throw new RefusedError(0, String(error));
  }
  const answer = (await response.json().catch(() => ({}))) as Refusal;
  if (!response.ok) throw new RefusedError(response.status, answer.error ?? response.statusText, answer);
  return answer as Answer;
}

export const openSession = (arrival: Arrival): Promise<Payload> => callServer("api/sessions", "POST", arrival);

/** Who comes, from where, and in which tab. */
export type Arrival = Record<string, unknown> & { tab: string; resume: string | null };

const ARRIVAL_PARAMETERS = ["participant", "signature", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "survey_code"];

/** What the address of the page says of who comes: ids of a recruiter, a preview, or that it is a robot. */
export function readArrival(search: string, tab: string, resume: string | null): Arrival {
  const query = new URLSearchParams(search);
  const ids = Object.fromEntries(ARRIVAL_PARAMETERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
  const listName = query.get("preview");
  const preview = listName ? { preview: { list_name: listName, trial: Number(query.get("trial") ?? 0), key: query.get("key") } } : {};
  const source = query.get("source") === "robot" ? { source: "robot", key: query.get("key") } : { source: "server" };
  return { ...ids, ...preview, tab, resume, ...source };
}

export type Ticket = Pick<Payload, "session" | "token">;

const sessionAddress = ({ session }: Ticket, what: string): string => `api/sessions/${encodeURIComponent(session)}/${what}`;

/** Stores events. `leaving`: the request outlives the page. */
export const storeEvents = (ticket: Ticket, events: readonly Event[], leaving = false): Promise<{ stored: number }> =>
  callServer(sessionAddress(ticket, "events"), "PUT", { events }, { token: ticket.token, keepalive: leaving });

/** Has the answers to the screener judged; who is screened out is told how it ends. */
export const screenSession = (ticket: Ticket, answers: FormAnswers): Promise<{ outcome: "accepted" | "screened_out" } & Partial<Ending>> =>
  callServer(sessionAddress(ticket, "screener"), "POST", { answers }, { token: ticket.token });

export const completeSession = (ticket: Ticket, events: number): Promise<{ code: string; url: string | null }> =>
  callServer(sessionAddress(ticket, "complete"), "POST", { events }, { token: ticket.token });

/** Says that this tab is open, or `leaving` that it no longer is. */
export const heartbeat = (ticket: Ticket, leaving = false): Promise<{ seconds: number }> =>
  callServer(sessionAddress(ticket, "heartbeat"), "POST", { leaving }, { token: ticket.token, keepalive: leaving });

export const withdrawSession = (ticket: Ticket, reason: string): Promise<Ending> =>
  callServer(sessionAddress(ticket, "withdraw"), "POST", { reason }, { token: ticket.token });
