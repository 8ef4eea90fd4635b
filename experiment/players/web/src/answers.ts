// A choice of answers, each with a button and keys that do the same: the points of a scale, short answers in a row, or the
// sentences of a pair.

import { ParameterType } from "jspsych";

import { taskFrame, watchDeadline, scaleEnds, limitToDeadline, judgeAnswer } from "./task-frame";
import { element, markChange, paint } from "./dom";
import { isOneOf } from "./guards";
import { clickPress, copyDisplay, definePlugin, waitForKeys } from "./plugin";
import type { Answer, Answers as Screen, Press } from "./screens";

/** What is printed on a key. */
export const keyLabel = (key: string): string => ARROWS[key] ?? key.replace(/^Key/, "");
const ARROWS: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

/** The answers in the order in which they stand, from where reading begins. */
export function orderAnswers(answers: readonly Answer[], direction: string): Answer[] {
  const order = direction === "rtl" ? ["right", "left"] : ["left", "right"];
  const rank = ({ side }: Answer): number => ["upper", ...order, "lower"].indexOf(side ?? "");
  return answers.every(({ side }) => side !== null) ? [...answers].sort((a, b) => rank(a) - rank(b)) : [...answers];
}

const CLASSES = { points: "points", row: "answers", pair: "pair", stacked_pair: "pair stacked" };

function answerButton(answer: Answer, screen: Screen): HTMLElement {
  const points = screen.arrangement === "points";
  const made = element("button", points ? "point" : "answer", points ? answer.label : "");
  made.setAttribute("type", "button");
  if (points) {
    const [first, last] = [screen.answers[0], screen.answers[screen.answers.length - 1]];
    const end = answer === first ? screen.low : answer === last ? screen.high : "";
    if (end) made.setAttribute("aria-label", `${answer.label}: ${end}`);
    return made;
  }
  const [key] = answer.keys;
  if (key) {
    const printed = element("kbd", "", keyLabel(key));
    printed.setAttribute("aria-hidden", "true");
    made.setAttribute("aria-keyshortcuts", keyLabel(key));
    made.append(printed);
  }
  made.append(element("span", "", answer.label));
  return made;
}

export const Answers = definePlugin<Screen>({
  kind: "answers",
  data: {
    /** Where the chosen answer stood. */
    side: { type: ParameterType.STRING },
  },

  show({ screen, display, direction, record, end }) {
    const stage = taskFrame(screen, direction);
    const points = screen.arrangement === "points";
    const row = element("div", CLASSES[screen.arrangement]);
    // Points are numbered as the keys are on the keyboard: from left to right in every language.
    row.dir = points ? "ltr" : direction;
    const buttons = orderAnswers(screen.answers, direction).map((answer) => [answer, answerButton(answer, screen)] as const);
    row.append(...buttons.map(([, made]) => made));
    if (points) {
      const scale = element("div", "scale");
      scale.dir = "ltr";
      scale.append(row, scaleEnds(screen));
      stage.append(scale);
    } else stage.append(row);
    markChange(stage, "answers", screen.name);
    const painted = paint(() => display.replaceChildren(stage));
    stage.focus({ preventScroll: true });

    const late = (t: number): void => end("timeout", t, { display: copyDisplay(painted) }, { side: null });
    const isLate = watchDeadline(screen, painted, late);
    const answered = ({ value, side }: Answer, t: number, press: Press): void => {
      if (isLate(t)) return;
      end(judgeAnswer(screen, value), t, { answer: value, side, display: copyDisplay(painted), press }, { side });
    };
    const repeats = waitForKeys(record, {
      painted: () => painted,
      wants: (press) => screen.answers.some(({ keys }) => isOneOf(press, keys)),
      accepted: (t, press, key) => answered(screen.answers.find(({ keys }) => isOneOf(key, keys)) as Answer, t, press),
    });
    for (const [answer, made] of buttons) {
      made.addEventListener("click", (event) => {
        if (painted.frame !== null) answered(answer, event.timeStamp, clickPress(event, repeats()));
      });
    }
  },

  drawResponse(screen, { randomInt, sampleExGaussian }) {
    const { value, side } = screen.answers[randomInt(0, screen.answers.length - 1)] as Answer;
    const ms = limitToDeadline(screen, Math.max(300, sampleExGaussian(1200, 300, 1 / 500, true)));
    return { outcome: judgeAnswer(screen, value), answer: value, ms: [ms], more: { side } };
  },

  perform(display, { answers }, { answer, ms: [ms = 0] }, { press, click }) {
    const [key] = answers.find(({ value }) => value === answer)?.keys ?? [];
    if (key) press(/^\d$/.test(key) ? `Digit${key}` : key, ms);
    else click(display.querySelector(".answer, .point"), ms);
  },
});
