// A slider over whole numbers, which must be moved before one can go on.

import { taskFrame, watchDeadline, scaleEnds, limitToDeadline, judgeAnswer } from "./task-frame";
import { button, element, markChange, paint } from "./dom";
import { wantsSpace } from "./guards";
import { clickPress, copyDisplay, definePlugin, waitForKeys } from "./plugin";
import type { Press, Slider as Screen } from "./screens";

/** Keys that move the slider, or go to the button and press it. */
const SLIDER_KEYS = /^(Arrow|Page|Home|End|Tab|Enter)/;

export const Slider = definePlugin<Screen>({
  kind: "slider",

  show({ screen, display, direction, record, end }) {
    const { least, most, low, high, prompt } = screen;
    const stage = taskFrame(screen, direction);
    const scale = element("div", "scale");
    scale.dir = "ltr";
    const slider = element("input", "slider untouched") as HTMLInputElement;
    Object.assign(slider, { type: "range", min: String(least), max: String(most), step: "1", value: String(Math.round((least + most) / 2)) });
    slider.setAttribute("aria-label", `${prompt} ${least}: ${low}, ${most}: ${high}`);
    const go = button("first", screen.button, (event) => answered(event.timeStamp, clickPress(event, repeats())));
    go.disabled = true;
    scale.append(slider, scaleEnds(screen));
    stage.append(scale, element("p", "below", screen.hint), go);
    markChange(stage, "slider", screen.name);
    const painted = paint(() => display.replaceChildren(stage));
    slider.focus({ preventScroll: true });
    const moved = (): void => {
      slider.classList.remove("untouched");
      go.disabled = false;
    };
    for (const kind of ["input", "pointerdown"]) slider.addEventListener(kind, moved);

    const isLate = watchDeadline(screen, painted, (t) => end("timeout", t, { display: copyDisplay(painted) }));
    function answered(t: number, press: Press): void {
      if (go.disabled || isLate(t)) return;
      const answer = slider.valueAsNumber;
      end(judgeAnswer(screen, answer), t, { answer, display: copyDisplay(painted), press });
    }
    const repeats = waitForKeys(record, {
      painted: () => painted,
      wants: (press) => wantsSpace(press) && !go.disabled,
      accepted: answered,
      silent: ({ code }) => SLIDER_KEYS.test(code),
    });
  },

  drawResponse(screen, { randomInt, sampleExGaussian }) {
    const answer = randomInt(screen.least, screen.most);
    return { outcome: judgeAnswer(screen, answer), answer, ms: [limitToDeadline(screen, Math.max(400, sampleExGaussian(1500, 300, 1 / 500, true)))] };
  },

  perform(display, _screen, { answer, ms: [ms = 0] }, { click }) {
    const slider = display.querySelector(".slider") as HTMLInputElement;
    slider.value = String(answer);
    slider.dispatchEvent(new Event("input"));
    click(display.querySelector("button.first"), ms);
  },
});
