// The page in the lab: one participant after the other at the same computer, each with a code, and nothing of them stays.

import { type Arrival, type Payload, RefusedError, isTemporary, openSession } from "./api";
import { button as buttonOf, element, markChange, paint } from "./dom";
import { countUnsentSessions } from "./journal";
import { setListener } from "./keys";
import { showMessage } from "./messages";
import { sleep } from "./sleep";
import { forgetTab, isAlone, findTabName } from "./tab";
import { computeBackoff } from "./uploads";

/** What the server has written into a kiosk's page, so that nothing has to be asked for. */
interface Settings {
  study: { title: string; language: string; direction: string };
  /** how long the last page of a session stands */
  seconds: number;
  /** the texts kiosk_* of experiment/texts/endings */
  texts: Record<
    | "code" | "start" | "enter" | "elsewhere" | "unreachable" | "unsent" | "kept" | "stored" | "finished" | "next" | "soon" | "window",
    string
  >;
}

export interface Kiosk {
  texts: Settings["texts"];
  /** the name of the journal, which no page but a kiosk's opens */
  journal: string;
  /** Asks for a code until there is one that opens a session. */
  open(): Promise<{ payload: Payload; arrival: Arrival }>;
  /** Ends a session whose journal is closed: forgets it, shows these texts, and comes back to the start. */
  over(texts: readonly string[]): Promise<void>;
}

/** The code in what was typed: without spaces around it and without what cannot be seen; null where nothing is left. */
export const cleanCode = (typed: string): string | null => typed.normalize("NFKC").replace(/\p{C}/gu, "").trim() || null;

/** What to say when a code opens nothing. */
export function describeRefusal(error: unknown, texts: Pick<Settings["texts"], "elsewhere" | "unreachable">): string {
  if (!(error instanceof RefusedError) || isTemporary(error)) return texts.unreachable;
  if (error.answer.reason === "open_elsewhere") return texts.elsewhere;
  return error.answer.text?.join(" ") ?? error.message;
}

/** Fills the screen, where the browser lets the page; settles within a second. */
async function fillScreen(): Promise<void> {
  const filled = document.documentElement.requestFullscreen?.().catch(() => {});
  await Promise.race([filled, sleep(1000)]);
}

interface Start {
  form: HTMLFormElement;
  input: HTMLInputElement;
  button: HTMLButtonElement;
  say(fault: string): void;
}

function startScreen({ study, texts }: Settings, unsent: number): Start {
  const form = element("form", "sheet form kiosk") as HTMLFormElement;
  const label = element("label", "", texts.code) as HTMLLabelElement;
  const input = element("input", "field") as HTMLInputElement;
  const wrong = element("p", "wrong");
  const row = element("div", "buttons");
  const button = element("button", "first", texts.start) as HTMLButtonElement;
  form.noValidate = true;
  form.addEventListener("submit", (event) => event.preventDefault());
  // A browser that offered earlier codes would tell who was here.
  Object.assign(input, { id: "code", type: "text", maxLength: 200, autocomplete: "off", autocapitalize: "off", spellcheck: false, dir: "auto" });
  label.htmlFor = input.id;
  wrong.id = "code-wrong";
  wrong.setAttribute("role", "alert");
  input.setAttribute("aria-describedby", wrong.id);
  button.type = "submit";
  row.append(button);
  form.append(element("h1", "", study.title), ...(unsent > 0 ? [element("p", "unsent", texts.unsent)] : []), label, input, wrong, row);
  const say = (fault: string): void => {
    wrong.textContent = fault;
    input.setAttribute("aria-invalid", String(fault !== ""));
    input.select();
    input.focus();
  };
  return { form, input, button, say };
}

const waitForSubmit = (form: HTMLFormElement): Promise<unknown> =>
  new Promise((done) => form.addEventListener("submit", done, { once: true }));

async function openFromKiosk(settings: Settings, journal: string): Promise<{ payload: Payload; arrival: Arrival }> {
  const { study, texts } = settings;
  document.documentElement.lang = study.language;
  document.documentElement.dir = study.direction;
  document.title = study.title;
  history.replaceState(null, "", window.location.pathname); // who comes is asked, never read from an address
  for (; (await isAlone()) === false; await sleep(1000)) showMessage([texts.window]);
  const { form, input, button, say } = startScreen(settings, await countUnsentSessions(journal));
  markChange(form, "kiosk");
  document.getElementById("stage")?.replaceChildren(form);
  input.focus();
  for (;;) {
    await waitForSubmit(form);
    const code = cleanCode(input.value);
    if (code === null) {
      say(texts.enter);
      continue;
    }
    button.disabled = true;
    await fillScreen();
    const arrival: Arrival = { participant: code, tab: await findTabName(), resume: null, source: "lab" };
    try {
      return { payload: await openSession(arrival), arrival };
    } catch (error) {
      forgetTab();
      button.disabled = false;
      say(describeRefusal(error, texts));
    }
  }
}

/** Settles at a press of Enter or of the button, or when the time is over. */
function waitToLeave(texts: readonly string[], label: string, seconds: number): Promise<void> {
  return new Promise((done) => {
    const button = buttonOf("second", label, () => done());
    const painted = paint(() => markChange(showMessage(texts, button), "over"));
    setListener({
      exclusive: false,
      frame: () => painted.frame,
      wants: (press) => press.code === "Enter" || press.code === "NumpadEnter",
      accepted: () => done(),
      ignored: () => {},
    });
    setTimeout(done, 1000 * seconds);
  });
}

async function showOver({ texts, seconds }: Settings, journal: string, messages: readonly string[]): Promise<void> {
  forgetTab();
  await countUnsentSessions(journal);
  await waitToLeave([...messages, texts.finished, texts.soon.replace("{seconds}", String(seconds))], texts.next, seconds);
  for (let attempt = 1; ; attempt += 1) {
    showMessage([]);
    const page = await fetch(window.location.pathname, { cache: "no-store" }).catch(() => null);
    if (page?.ok) break; // a reload without the server would leave the browser's own page of errors
    showMessage([texts.unreachable]);
    await sleep(computeBackoff(attempt));
  }
  window.location.reload(); // nothing stays in memory either
}

/** The kiosk that this page is; null where it is none, and for a preview, which is nobody's session. */
export function readKiosk(): Kiosk | null {
  const block = document.getElementById("kiosk");
  if (!block || new URLSearchParams(window.location.search).has("preview")) return null;
  const settings = JSON.parse(block.textContent ?? "") as Settings;
  const journal = `gardenpath kiosk ${window.location.pathname}`;
  return { texts: settings.texts, journal, open: () => openFromKiosk(settings, journal), over: (texts) => showOver(settings, journal, texts) };
}
