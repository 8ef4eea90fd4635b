// The three calls of a session. Addresses are relative: the study may live under any prefix.

import type { Event } from "./events";
import type { Payload } from "./session";

/** An answer that is not the expected one; `status` is 0 when there was no answer at all. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly missing: number[] = [],
  ) {
    super(message);
  }
}

/** Whether the same call may succeed later: no answer, a busy or broken server. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Refused && (error.status === 0 || error.status === 408 || error.status === 429 || error.status >= 500);

async function call<Answer>(path: string, method: string, body: unknown, options: RequestInit & { token?: string } = {}): Promise<Answer> {
  const { token, ...rest } = options;
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  let response: Response;
  try {
    response = await fetch(path, { method, headers, body: JSON.stringify(body), cache: "no-store", ...rest });
  } catch (error) {
    throw new Refused(0, String(error));
  }
  const answer = (await response.json().catch(() => ({}))) as { error?: string; missing?: number[] };
  if (!response.ok) throw new Refused(response.status, answer.error ?? response.statusText, answer.missing);
  return answer as Answer;
}

export const openSession = (participant: string | null, source: Source): Promise<Payload> =>
  call("api/sessions", "POST", { participant, source });

/** Who sits at the page: a robot says so in the address, and its data are marked. */
export type Source = "server" | "robot";

export const sourceOf = (search: string): Source =>
  new URLSearchParams(search).get("source") === "robot" ? "robot" : "server";

type Ticket = Pick<Payload, "session" | "token">;

const address = ({ session }: Ticket, what: string): string => `api/sessions/${encodeURIComponent(session)}/${what}`;

/** Stores events. `leaving`: the request outlives the page. */
export const storeEvents = (ticket: Ticket, events: readonly Event[], leaving = false): Promise<{ stored: number }> =>
  call(address(ticket, "events"), "PUT", { events }, { token: ticket.token, keepalive: leaving });

export const completeSession = (ticket: Ticket, events: number): Promise<{ code: string }> =>
  call(address(ticket, "complete"), "POST", { events }, { token: ticket.token });

/** The participant's id in the address of the page, under our own name or a recruiter's. */
export function participantOf(search: string): string | null {
  const parameters = new URLSearchParams(search);
  return parameters.get("participant") || parameters.get("PROLIFIC_PID") || null;
}
