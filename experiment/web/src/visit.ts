// How a visit begins, wherever the page is run: what the device is, what was agreed to, and a watch over interruptions.

import type { check } from "./checks";
import { watchInterruptions } from "./interruption";
import type { Sitting } from "./timeline";

/** Records the first events of a visit; `consented` is when consent was given, null where that lies behind. */
export async function beginVisit(sitting: Sitting, checks: ReturnType<typeof check>, consented: number | null): Promise<void> {
  const { payload, record, queue } = sitting;
  const visit = await checks;
  record("visit", 0, null, { ...visit, keyboard: sitting.keyboard });
  if (consented !== null) {
    const at = new Date(visit.time_origin + consented).toISOString();
    record("consent", consented, null, { accepted: true, sha256: payload.consent_sha256, at });
  }
  watchInterruptions(payload.texts.interrupted, record, () => sitting.running);
  queue.resume();
}
