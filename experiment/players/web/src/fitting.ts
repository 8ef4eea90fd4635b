// What is settled once before the session: whether the window is large enough, and the size of the words.

import { machine, suits } from "./checks";
import { button, element, fittingSize, paragraphs } from "./dom";
import { show } from "./messages";
import type { Script } from "./screens";

/** One size for the whole session, such that the longest word fits; never changed from word to word. */
export function sizeWords({ front, trials, interludes, end }: Script): void {
  const probe = element("div", "word");
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const context = document.createElement("canvas").getContext("2d");
  if (context) {
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const widths = new Map<string, number>();
    const width = (word: string): number => widths.get(word) ?? (widths.set(word, context.measureText(word).width).get(word) as number);
    let [widest, pair] = [0, 0];
    for (const step of [...front, ...trials, ...interludes.flatMap(({ steps }) => steps), ...end]) {
      for (const screen of step.screens) {
        if (screen.kind === "words") for (const word of screen.words) widest = Math.max(widest, width(word));
        // Two of them stand side by side, with room between.
        if (screen.kind !== "word_pairs") continue;
        for (const { word, alternative } of screen.pairs) pair = Math.max(pair, 2.4 * width(word), 2.4 * width(alternative));
      }
    }
    const usual = parseFloat(style.fontSize);
    const size = fittingSize(usual, Math.max(widest, pair), window.innerWidth * 0.92);
    document.documentElement.style.setProperty("--word-size", `${size}px`);
    if (pair > 0) document.documentElement.style.setProperty("--pair-width", `${(pair * size) / usual}px`);
  }
  probe.remove();
}

/** Whether the window suits the study, or is made to; false when the participant says that it cannot be. */
export async function suitable({ device, texts }: Script): Promise<boolean> {
  let verdict = suits(machine(), device);
  if (verdict !== "enlarge") return verdict === "yes";
  let gaveUp = false;
  const text = texts.enlarge.replace("{width}", String(device.min_width)).replace("{height}", String(device.min_height));
  show(paragraphs(text), button("second", texts.no_larger, () => (gaveUp = true)));
  while (verdict === "enlarge" && !gaveUp) {
    await new Promise((done) => setTimeout(done, 100));
    verdict = suits(machine(), device);
  }
  return verdict === "yes";
}
