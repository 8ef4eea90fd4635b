// A slider over whole numbers, which must be moved before one can go on.

import { asking, deadline, ends, inTime, judged } from "./asking";
import { button, element, mark, paint } from "./dom";
import { wantsSpace } from "./guards";
import { byButton, now, plugin, waitForKeys } from "./plugin";
import type { Press, Slider as Screen } from "./screens";

/** Keys that move the slider, or go to the button and press it. */
const moves = /^(Arrow|Page|Home|End|Tab|Enter)/;

export const Slider = plugin<Screen>({
  kind: "slider",

  show({ screen, display, direction, record, end }) {
    const { least, most, low, high, prompt } = screen;
    const stage = asking(screen, direction);
    const scale = element("div", "scale");
    scale.dir = "ltr";
    const slider = element("input", "slider untouched") as HTMLInputElement;
    Object.assign(slider, { type: "range", min: String(least), max: String(most), step: "1", value: String(Math.round((least + most) / 2)) });
    slider.setAttribute("aria-label", `${prompt} ${least}: ${low}, ${most}: ${high}`);
    const go = button("first", screen.button, (event) => answered(event.timeStamp, byButton(event, repeats())));
    go.disabled = true;
    scale.append(slider, ends(screen));
    stage.append(scale, element("p", "below", screen.hint), go);
    mark(stage, "slider", screen.name);
    const painted = paint(() => display.replaceChildren(stage));
    slider.focus({ preventScroll: true });
    const moved = (): void => {
      slider.classList.remove("untouched");
      go.disabled = false;
    };
    for (const kind of ["input", "pointerdown"]) slider.addEventListener(kind, moved);

    const isLate = deadline(screen, painted, (t) => end("timeout", t, { display: now(painted) }));
    function answered(t: number, press: Press): void {
      if (go.disabled || isLate(t)) return;
      const answer = slider.valueAsNumber;
      end(judged(screen, answer), t, { answer, display: now(painted), press });
    }
    const repeats = waitForKeys(record, {
      painted: () => painted,
      wants: (press) => wantsSpace(press) && !go.disabled,
      accepted: answered,
      silent: ({ code }) => moves.test(code),
    });
  },

  draw(screen, { randomInt, sampleExGaussian }) {
    const answer = randomInt(screen.least, screen.most);
    return { outcome: judged(screen, answer), answer, ms: [inTime(screen, Math.max(400, sampleExGaussian(1500, 300, 1 / 500, true)))] };
  },

  act(display, _screen, { answer, ms: [ms = 0] }, { click }) {
    const slider = display.querySelector(".slider") as HTMLInputElement;
    slider.value = String(answer);
    slider.dispatchEvent(new Event("input"));
    click(display.querySelector("button.first"), ms);
  },
});
