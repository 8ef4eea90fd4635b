// A page of text that ends with a button, or with the space bar where the page says so.

import { button, element, markChange, paint, sheet } from "./dom";
import { wantsSpace } from "./guards";
import { setListener, lastRelease } from "./keys";
import { clickPress, copyDisplay, definePlugin } from "./plugin";
import type { Outcome, Press, Text as Screen } from "./screens";

const isInView = (shown: Element): boolean => shown.getBoundingClientRect().bottom <= window.innerHeight;

const firstOutcome = ({ buttons }: Screen): Outcome => buttons[0]?.outcome ?? "continued";

export const Text = definePlugin<Screen>({
  kind: "text",

  show({ screen, display, exitButtons, end }) {
    const page = sheet(screen.heading, screen.paragraphs);
    const row = element("div", "buttons");
    const left = (outcome: Outcome, t: number, press: Press): void => end(outcome, t, { display: copyDisplay(painted), press });
    const labelled = (className: string, label: string, outcome: Outcome): HTMLElement =>
      button(className, label, (event) => left(outcome, event.timeStamp, clickPress(event)));
    row.append(...screen.buttons.map(({ label, outcome }, n) => labelled(n === 0 ? "first" : "second", label, outcome)));
    page.append(row);
    if (screen.aside) page.append(labelled("quiet", screen.aside.label, screen.aside.outcome));
    page.append(...exitButtons);
    markChange(page, "text", screen.name);
    const painted = paint(() => display.replaceChildren(page));
    window.scrollTo(0, 0);
    page.focus({ preventScroll: true });
    setListener({
      exclusive: false,
      frame: () => painted.frame,
      // A focused button has the space bar for itself, and on a page that goes on below, it scrolls.
      wants: (press, event) => screen.space && wantsSpace(press) && !(event.target instanceof HTMLButtonElement) && isInView(row),
      accepted: ({ t, handler, trusted }) => left(firstOutcome(screen), t, { by: "key", handler, repeats: 0, released: lastRelease(), trusted }),
      ignored: () => {},
    });
  },

  drawResponse: (screen, { randomInt }) => ({ outcome: firstOutcome(screen), answer: null, ms: [randomInt(1000, 4000)] }),

  perform(display, screen, { ms: [ms = 0] }, { click, press }) {
    if (screen.buttons.length === 0) press("Space", ms);
    else click(display.querySelector("button.first"), ms);
  },
});
