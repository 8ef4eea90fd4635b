// What is said outside of the script: before it begins, after it ends, and the question whether to stop.

import type { Ending } from "./api";
import { button, element, markChange, sheet } from "./dom";
import { setCover, IGNORING_LISTENER, setListener } from "./keys";
import type { Script } from "./screens";

const stage = (): HTMLElement => document.getElementById("stage") as HTMLElement;
const bar = (): HTMLProgressElement => document.getElementById("progress") as HTMLProgressElement;

/** The bar at the top: the share of trials behind the participant, null to hide it. */
export function showProgress(share: number | null): void {
  bar().hidden = share === null;
  if (share !== null) bar().value = share;
}

/** A page that says how things stand. */
export function showMessage(texts: readonly string[], ...more: HTMLElement[]): HTMLElement {
  setListener(null);
  document.querySelector(".cover")?.remove();
  setCover(null);
  const page = sheet("", texts);
  page.setAttribute("role", "status");
  page.append(...more);
  markChange(page, "message");
  stage().inert = false;
  stage().replaceChildren(page);
  showProgress(null);
  page.focus();
  return page;
}

/** A code to be copied. */
export function codeElement(code: string): HTMLElement {
  const output = element("output", "code", code);
  output.dir = "ltr";
  return output;
}

/** A link to where the participant came from; addresses of other kinds than the web's are not followed. */
export function backLink(url: string, label: string): HTMLElement {
  const link = element("a", "first button", label) as HTMLAnchorElement;
  if (/^https?:/i.test(url)) link.href = url;
  return link;
}

/** The last page of who does not reach the end. */
export function showEnding(ending: Partial<Ending>, label: string, otherwise: string): void {
  const more = [...(ending.code ? [codeElement(ending.code)] : []), ...(ending.url ? [backLink(ending.url, label || ending.url)] : [])];
  showMessage(ending.text ?? [otherwise], ...more);
}

/** A button that gives a text as a file to keep. */
export function fileButton(label: string, name: string, text: () => string): HTMLElement {
  return button("second", label, () => {
    const link = element("a", "") as HTMLAnchorElement;
    link.href = URL.createObjectURL(new Blob([text()], { type: "application/json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
}

/** Asks whether to withdraw, over the page that asked; settles with the answer. */
export function confirmWithdrawal(texts: Script["texts"]): Promise<boolean> {
  const cover = element("div", "cover question");
  const page = sheet("", [texts.withdraw_question]);
  const row = element("div", "buttons");
  cover.setAttribute("role", "dialog");
  cover.setAttribute("aria-modal", "true");
  cover.setAttribute("aria-label", texts.withdraw);
  page.append(row);
  cover.append(page);
  markChange(page, "withdraw");
  setCover(IGNORING_LISTENER);
  stage().inert = true;
  return new Promise((answer) => {
    for (const [label, kind, yes] of [[texts.withdraw_no, "first", false], [texts.withdraw_yes, "second", true]] as const) {
      const answered = (): void => {
        cover.remove();
        stage().inert = false;
        setCover(null);
        answer(yes);
      };
      row.append(button(kind, label, answered));
    }
    document.body.append(cover);
    row.querySelector("button")?.focus();
  });
}
