// A page of text that ends with a button, or with the space bar where the page says so.

import { button, element, mark, paint, sheet } from "./dom";
import { wantsSpace } from "./guards";
import { listen, released } from "./keys";
import { byButton, now, plugin } from "./plugin";
import type { Outcome, Press, Text as Screen } from "./screens";

const isInView = (shown: Element): boolean => shown.getBoundingClientRect().bottom <= window.innerHeight;

const first = ({ buttons }: Screen): Outcome => buttons[0]?.outcome ?? "continued";

export const Text = plugin<Screen>({
  kind: "text",

  show({ screen, display, wayOut, end }) {
    const page = sheet(screen.heading, screen.paragraphs);
    const row = element("div", "buttons");
    const left = (outcome: Outcome, t: number, press: Press): void => end(outcome, t, { display: now(painted), press });
    const labelled = (className: string, label: string, outcome: Outcome): HTMLElement =>
      button(className, label, (event) => left(outcome, event.timeStamp, byButton(event)));
    row.append(...screen.buttons.map(({ label, outcome }, n) => labelled(n === 0 ? "first" : "second", label, outcome)));
    page.append(row);
    if (screen.aside) page.append(labelled("quiet", screen.aside.label, screen.aside.outcome));
    page.append(...wayOut);
    mark(page, "text", screen.name);
    const painted = paint(() => display.replaceChildren(page));
    window.scrollTo(0, 0);
    page.focus({ preventScroll: true });
    listen({
      exclusive: false,
      frame: () => painted.frame,
      // A focused button has the space bar for itself, and on a page that goes on below, it scrolls.
      wants: (press, event) => screen.space && wantsSpace(press) && !(event.target instanceof HTMLButtonElement) && isInView(row),
      accepted: ({ t, handler, trusted }) => left(first(screen), t, { by: "key", handler, repeats: 0, released: released(), trusted }),
      ignored: () => {},
    });
  },

  draw: (screen, { randomInt }) => ({ outcome: first(screen), answer: null, ms: [randomInt(1000, 4000)] }),

  act(display, screen, { ms: [ms = 0] }, { click, press }) {
    if (screen.buttons.length === 0) press("Space", ms);
    else click(display.querySelector("button.first"), ms);
  },
});
