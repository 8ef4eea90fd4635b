// Leaving the window or changing its size in the middle of a trial: it is recorded, the sentence is covered, and the reader
// comes back when ready.

import { element, markChange, paint } from "./dom";
import { keyName, wantsSpace } from "./guards";
import { setCover, currentListener, releaseKeys } from "./keys";
import type { Ignored, Interruption } from "./screens";

/** Receives what happens: the place in the session is known there. */
type RecordInterruption = (kind: "press" | "interruption", t: number, value: Ignored | Interruption) => void;

/** Hides the page until the space bar is pressed; that press ends no word. False where there is nothing to hide. */
function showInterruption(text: string, note: RecordInterruption, t: number): boolean {
  const below = currentListener();
  if (!below?.exclusive) return false;
  const made = element("div", "cover");
  made.append(element("p", "", text));
  made.setAttribute("role", "alert");
  markChange(made, "cover");
  const stage = document.getElementById("stage") as HTMLElement;
  stage.inert = true;
  const painted = paint(() => document.body.append(made));
  setCover({
    exclusive: true,
    frame: () => painted.frame,
    wants: wantsSpace,
    accepted: (press) => {
      note("press", press.t, { reason: "other", code: keyName(press) });
      made.remove();
      stage.inert = false;
      setCover(null);
    },
    ignored: (press, reason) => {
      if (reason !== "repeat") note("press", press.t, { reason, code: keyName(press) });
    },
  });
  below.left?.(t);
  return true;
}

/**
 * Records each loss and return of the window from now on, and changes of its size while the keys are somebody's. Where a study needs
 * no keyboard nothing is covered: nobody could uncover it, and turning a phone is no absence.
 */
export function watchInterruptions(text: string, note: RecordInterruption, keyboard: boolean): void {
  const recordReturn = (t: number, reason: Interruption["reason"]): void => note("interruption", t, { reason });
  const lost = (t: number, reason: "blur" | "hidden"): void => {
    releaseKeys();
    recordReturn(t, reason);
    if (keyboard) showInterruption(text, note, t);
  };
  window.addEventListener("blur", (event) => lost(event.timeStamp, "blur"));
  window.addEventListener("focus", (event) => recordReturn(event.timeStamp, "focus"));
  document.addEventListener("visibilitychange", (event) => {
    if (document.visibilityState === "hidden") lost(event.timeStamp, "hidden");
    else recordReturn(event.timeStamp, "visible");
  });
  // The lines of a sentence stay as they are, and may stand out of a smaller window.
  window.addEventListener("resize", (event) => {
    if (!currentListener()?.exclusive) return;
    recordReturn(event.timeStamp, "resize");
    if (keyboard) showInterruption(text, note, event.timeStamp);
  });
}
