// A text that is typed, ended by Enter or by a button.

import { ParameterType } from "jspsych";

import { taskFrame, watchDeadline, limitToDeadline, judgeAnswer } from "./task-frame";
import { button, element, markChange, paint } from "./dom";
import { toAsciiDigits } from "./form";
import { setListener, lastRelease } from "./keys";
import { clickPress, copyDisplay, definePlugin } from "./plugin";
import type { Entry as Screen, Press } from "./screens";

/** The line in which a text is typed, without help from the browser. */
function textField(longest: number): HTMLInputElement {
  const made = element("input", "field") as HTMLInputElement;
  Object.assign(made, { type: "text", maxLength: longest, autocomplete: "off", autocapitalize: "off", spellcheck: false, dir: "auto" });
  made.setAttribute("autocorrect", "off");
  made.setAttribute("spellcheck", "false");
  made.setAttribute("aria-labelledby", "prompt");
  made.setAttribute("aria-describedby", "missing");
  return made;
}

/** What is wrong with a typed answer, or nothing; as in the lab (../../lab/form_answers.py), both held to ../../judging.json. */
export function findEntryFault({ missing, not_positive }: Pick<Screen, "missing" | "not_positive">, answer: string): string {
  if (!answer) return missing;
  return not_positive && !(/^[0-9]*\.?[0-9]+$/.test(answer) && Number(answer) > 0) ? not_positive : "";
}

export const Entry = definePlugin<Screen>({
  kind: "entry",
  data: {
    /** ms from the frame that painted the screen to the first key. */
    rt_first: { type: ParameterType.FLOAT },
    /** How often text was pasted. */
    pasted: { type: ParameterType.INT },
  },

  show({ screen, display, direction, end }) {
    const stage = taskFrame(screen, direction);
    const field = textField(screen.longest);
    const missing = element("p", "wrong");
    missing.id = "missing";
    missing.setAttribute("role", "alert");
    const row = element("div", "typed");
    row.append(field, button("first", screen.button, (event) => answered(event.timeStamp, clickPress(event))));
    stage.append(row, missing);
    markChange(stage, "entry", screen.name);
    const painted = paint(() => display.replaceChildren(stage));
    field.focus({ preventScroll: true });

    let first: number | null = null;
    let pasted = 0;
    let down = false; // a key was pressed that was not held since the screen before
    for (const kind of ["beforeinput", "compositionstart"]) field.addEventListener(kind, ({ timeStamp }) => (first ??= timeStamp));
    field.addEventListener("paste", () => (pasted += 1));
    field.addEventListener("keydown", (event) => {
      if (event.repeat && !down) event.preventDefault();
      down ||= !event.repeat;
    });

    const typed = (): object => ({ rt_first: first === null ? null : first - (painted.frame ?? painted.request), pasted });
    const isLate = watchDeadline(screen, painted, (t) => end("timeout", t, { display: copyDisplay(painted), first, pasted }, typed()));
    function answered(t: number, press: Press): void {
      if (isLate(t)) return;
      const text = field.value.trim();
      const answer = screen.not_positive ? toAsciiDigits(text) : text;
      const fault = findEntryFault(screen, answer);
      missing.textContent = fault;
      field.setAttribute("aria-invalid", String(fault !== ""));
      if (fault) return field.focus();
      end(judgeAnswer(screen, answer), t, { answer, display: copyDisplay(painted), press, first, pasted }, typed());
    }
    setListener({
      exclusive: false,
      frame: () => painted.frame,
      // An input method takes its own Enter, which some browsers (Safari) tell by the number 229 alone.
      wants: ({ key }, event) => key === "Enter" && event.target === field && event.keyCode !== 229,
      accepted: ({ t, handler, trusted }) => answered(t, { by: "key", handler, repeats: 0, released: lastRelease(), trusted }),
      ignored: () => {},
    });
  },

  drawResponse(screen, { sampleExGaussian }) {
    const answer = (screen.not_positive ? "12.5" : "simulated").slice(0, screen.longest);
    const ms = limitToDeadline(screen, Math.max(1500, sampleExGaussian(3000, 500, 1 / 800, true)));
    return { outcome: judgeAnswer(screen, answer), answer, ms: [ms], more: { rt_first: ms / 2, pasted: 0 } };
  },

  perform(display, _screen, { answer, ms: [ms = 0] }, { click }) {
    const field = display.querySelector(".field") as HTMLInputElement;
    field.dispatchEvent(new InputEvent("beforeinput"));
    field.value = String(answer);
    click(display.querySelector("button.first"), ms);
  },
});
