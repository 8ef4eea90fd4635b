// Leaving the window or changing its size in the middle of a trial: it is recorded, the sentence is covered, and the reader
// comes back when ready.

import { element, mark, paint } from "./display";
import type { Recorder } from "./events";
import { keyName, wantsSpace } from "./guards";
import { current, letGo, listen } from "./keys";

let cover: HTMLElement | null = null;

/** Hides the page until the space bar is pressed; that press ends no word. False where there is nothing to hide. */
function interrupt(text: string, record: Recorder, trial: number): boolean {
  const below = current();
  if (cover || !below?.exclusive) return false;
  const made = element("div", "cover");
  made.append(element("p", "", text));
  made.setAttribute("role", "alert");
  cover = made;
  mark(made, "cover");
  const stage = document.getElementById("stage") as HTMLElement;
  stage.inert = true;
  const painted = paint(() => document.body.append(made));
  const note = (t: number, code: string, reason: "other" | "held" | "early" | "modifier"): void =>
    record("press", t, trial, { reason, code });
  listen({
    exclusive: true,
    frame: () => painted.frame,
    wants: wantsSpace,
    accepted: (press) => {
      note(press.t, keyName(press), "other");
      made.remove();
      stage.inert = false;
      cover = null;
      listen(below);
    },
    ignored: (press, reason) => {
      if (reason !== "repeat") note(press.t, keyName(press), reason);
    },
  });
  return true;
}

/** Records each loss and return of the window from now on, and changes of its size within a trial; `trial` says which trial is running, if any. */
export function watchInterruptions(text: string, record: Recorder, trial: () => number | null): void {
  const lost = (t: number, reason: "blur" | "hidden"): void => {
    const running = trial();
    letGo();
    record("interruption", t, running, { reason });
    if (running !== null) interrupt(text, record, running);
  };
  window.addEventListener("blur", (event) => lost(event.timeStamp, "blur"));
  window.addEventListener("focus", (event) => record("interruption", event.timeStamp, trial(), { reason: "focus" }));
  document.addEventListener("visibilitychange", (event) => {
    if (document.visibilityState === "hidden") lost(event.timeStamp, "hidden");
    else record("interruption", event.timeStamp, trial(), { reason: "visible" });
  });
  // The lines of a sentence stay as they are, and may stand out of a smaller window.
  window.addEventListener("resize", (event) => {
    const running = trial();
    if (running === null || !interrupt(text, record, running)) return;
    record("interruption", event.timeStamp, running, { reason: "resize" });
  });
}
