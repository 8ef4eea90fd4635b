// What is settled once before the session: whether the window is large enough, and the size of the words.

import { machine, suits } from "./checks";
import { element, fittingSize, paragraphs } from "./display";
import { show } from "./screens";
import type { Payload } from "./session";

/** One size for the whole session, such that the longest word fits; never changed from word to word. */
export function sizeWords(payload: Payload): void {
  const probe = element("div", "word");
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const context = document.createElement("canvas").getContext("2d");
  if (context) {
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const words = new Set(payload.trials.flatMap((trial) => trial.sentences.flatMap((sentence) => sentence.words)));
    const widest = Math.max(0, ...Array.from(words, (word) => context.measureText(word).width));
    const size = fittingSize(parseFloat(style.fontSize), widest, window.innerWidth * 0.92);
    document.documentElement.style.setProperty("--word-size", `${size}px`);
  }
  probe.remove();
}

/** Whether the window suits the study, or is made to; false when the participant says that it cannot be. */
export async function suitable(payload: Payload): Promise<boolean> {
  const needs = payload.procedure.device;
  const { texts } = payload;
  let given = suits(machine(), needs);
  if (given !== "enlarge") return given === "yes";
  const button = element("button", "second", texts.no_larger) as HTMLButtonElement;
  const text = texts.enlarge.replace("{width}", String(needs.min_width)).replace("{height}", String(needs.min_height));
  show(paragraphs(text), button);
  let gaveUp = false;
  button.addEventListener("click", () => (gaveUp = true));
  while (given === "enlarge" && !gaveUp) {
    await new Promise((done) => setTimeout(done, 100));
    given = suits(machine(), needs);
  }
  return given === "yes";
}
