// What the tasks with a few answers share: a button for each answer, and the keys that do the same.

import { element, mark, paint } from "./display";
import { type Recorder, type Shown, type Side, shown } from "./events";
import { type Press, digit, keyName } from "./guards";
import { listen, released } from "./keys";

export interface Answer {
  /** what stands in the events */
  value: number | string;
  button: HTMLElement;
  key(press: Press): boolean;
  side?: Side;
}

export interface Given extends Shown {
  by: "key" | "button";
}

const keysOf: Record<Side, string[]> = {
  left: ["KeyF", "ArrowLeft"],
  right: ["KeyJ", "ArrowRight"],
  upper: ["KeyF", "ArrowUp"],
  lower: ["KeyJ", "ArrowDown"],
};

/** What is printed on the key of a side. */
const capOf: Record<Side, string> = { left: "F", right: "J", upper: "F", lower: "J" };

/** Where the first and the second of two answers stand. */
export const sidesOf = (direction: string, stacked = false): [Side, Side] => {
  if (stacked) return ["upper", "lower"];
  return direction === "rtl" ? ["right", "left"] : ["left", "right"];
};

/** Whether a press answers for a side: by the place of its key on the keyboard, whatever the layout types there. */
export const answersSide = (press: Pick<Press, "code" | "key">, side: Side): boolean =>
  keysOf[side].includes(press.code || press.key);

function button(label: string, cap: string): HTMLElement {
  const made = element("button", "answer");
  made.setAttribute("type", "button");
  if (cap) {
    const key = element("kbd", "", cap);
    key.setAttribute("aria-hidden", "true");
    made.setAttribute("aria-keyshortcuts", cap);
    made.append(key);
  }
  made.append(element("span", "", label));
  return made;
}

/** An answer for each label: two are answered by F and J as they stand, more by their number; numbers always do. */
export function answers(labels: readonly string[], values: readonly (number | string)[], sides: [Side, Side]): Answer[] {
  return labels.map((label, index) => {
    const side = labels.length === 2 ? (sides[index] as Side) : null;
    const value = values[index] as number | string;
    const isNumber = (press: Press): boolean => digit(press) === index + 1;
    if (!side) return { value, button: button(label, String(index + 1)), key: isNumber };
    return { value, side, button: button(label, capOf[side]), key: (press) => answersSide(press, side) || isNumber(press) };
  });
}

/** Shows a task and calls `answered` once, with the answer and with how and when it was given. */
export function ask(
  display: HTMLElement,
  stage: HTMLElement,
  task: { screen: string; choices: readonly Answer[]; position: number; record: Recorder },
  answered: (choice: Answer, t: number, given: Given) => void,
): void {
  let repeats = 0;
  let open = true;
  mark(stage, task.screen);
  stage.tabIndex = -1;
  const painted = paint(() => display.replaceChildren(stage));
  stage.focus({ preventScroll: true });

  const close = (choice: Answer, t: number, given: Given): void => {
    if (!open) return;
    open = false;
    listen(null);
    answered(choice, t, given);
  };
  for (const choice of task.choices) {
    choice.button.addEventListener("click", (event) => {
      if (painted.frame === null) return;
      const press = { handler: performance.now(), released: released(), trusted: event.isTrusted };
      close(choice, event.timeStamp, { by: "button", ...shown(painted, press, repeats) });
    });
  }
  listen({
    exclusive: true,
    frame: () => painted.frame,
    wants: (press) => task.choices.some((choice) => choice.key(press)),
    accepted: (press) => {
      const choice = task.choices.find((one) => one.key(press)) as Answer;
      close(choice, press.t, { by: "key", ...shown(painted, press, repeats) });
    },
    ignored: (press, reason) => {
      if (reason === "repeat") repeats += 1;
      else task.record("press", press.t, task.position, { reason, code: keyName(press) });
    },
  });
}

/** The frame of a task: its prompt, read out when it appears, below the sentence where that is still to be seen. */
export function taskStage(kind: string, prompt: string, sentence = "", direction = "ltr"): HTMLElement {
  const stage = element("section", `task ${kind}`);
  if (sentence) {
    const shown = element("p", "stimulus", sentence);
    shown.dir = direction;
    stage.append(shown);
  }
  const heading = element("h1", "prompt", prompt);
  heading.dir = "auto";
  heading.setAttribute("aria-live", "polite");
  stage.append(heading);
  return stage;
}
