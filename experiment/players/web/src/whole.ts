// A text read at once: a whole sentence, or the context before one. The space bar ends it.

import { element, markChange, paint } from "./dom";
import { wantsSpace } from "./guards";
import { copyDisplay, definePlugin, waitForKeys } from "./plugin";
import type { Whole as Screen } from "./screens";

export const Whole = definePlugin<Screen>({
  kind: "whole",

  show({ screen, display, direction, record, end }) {
    const stage = element("section", screen.sentence === null ? "whole context" : "whole");
    const text = element("p", "stimulus", screen.text);
    text.dir = direction;
    stage.append(text, element("p", "below", screen.hint));
    markChange(stage, "whole", screen.name);
    const painted = paint(() => display.replaceChildren(stage));
    waitForKeys(record, {
      painted: () => painted,
      wants: wantsSpace,
      accepted: (t, press) => end("read", t, { display: copyDisplay(painted), press }),
    });
  },

  drawResponse({ text }, { sampleExGaussian }) {
    const words = text.split(/\s+/).length;
    return { outcome: "read", answer: null, ms: [words * Math.max(150, sampleExGaussian(280, 40, 1 / 70, true))] };
  },

  perform: (_display, _screen, { ms: [ms = 0] }, { press }) => press("Space", ms),
});
