// What screens that ask have in common: a prompt, what stands above it, a deadline, and whether an answer is right.

import { element, everyFrame } from "./dom";
import { runInOrder } from "./keys";
import type { Answers, Display, Entry, Outcome, Slider } from "./screens";

type TaskScreen = Answers | Slider | Entry;

/** The frame of a task: its prompt, read out when it appears, below what stands above it. */
export function taskFrame(screen: TaskScreen, direction: string): HTMLElement {
  const stage = element("section", "asked");
  if (screen.above.kind !== "nothing") {
    const shown = element("p", "stimulus", screen.above.text);
    shown.dir = direction;
    stage.append(shown);
  }
  const heading = element("h1", "prompt", screen.prompt);
  heading.dir = "auto";
  heading.id = "prompt";
  heading.setAttribute("aria-live", "polite");
  stage.append(heading);
  stage.tabIndex = -1;
  return stage;
}

/** The labels of a scale's two ends. */
export function scaleEnds({ low, high }: { low: string; high: string }): HTMLElement {
  const made = element("div", "ends");
  for (const [side, label] of [["low", low], ["high", high]] as const) {
    const end = element("span", `end ${side}`, label);
    end.dir = "auto";
    made.append(end);
  }
  return made;
}

/** How a screen ends with an answer: right or wrong where the page is told. */
export function judgeAnswer({ right, is_judged_by_player }: TaskScreen, answer: string | number): Outcome {
  if (!is_judged_by_player || right.length === 0) return "answered";
  return right.includes(answer) ? "right" : "wrong";
}

/** Calls `late` with the time when no answer is taken any more, and says of a time whether it lies after that. */
export function watchDeadline({ deadline: ms }: TaskScreen, painted: Display, late: (t: number) => void): (t: number) => boolean {
  const over = (): number => (ms === null || painted.frame === null ? Infinity : painted.frame + ms);
  if (ms !== null) {
    everyFrame((t) => {
      if (t < over()) return true;
      setTimeout(() => runInOrder(() => late(over()))); // what follows is painted by the next frame
      return false;
    });
  }
  return (t) => t >= over();
}

/** A time within the deadline, ms. */
export const limitToDeadline = ({ deadline: ms }: TaskScreen, drawn: number): number => (ms === null ? drawn : Math.min(drawn, 0.9 * ms));
