// A session on our own server, from loading to the completion code.

import {
  type Arrival,
  type Ending,
  type Payload,
  RefusedError,
  readArrival,
  completeSession,
  takenOverTexts,
  heartbeat,
  isTemporary,
  openSession,
  screenSession,
  storeEvents,
  withdrawSession,
} from "./api";
import { element, paragraphs } from "./dom";
import { type Journal, openJournal, findStoredEvents } from "./journal";
import { startKeys, holdKeysUntil } from "./keys";
import { readKiosk } from "./kiosk";
import { codeElement, fileButton, showMessage, showEnding, backLink } from "./messages";
import type { FormAnswers, Judge } from "./plugin";
import type { Numbering } from "./recorder";
import { sleep } from "./sleep";
import { storeResumeToken, readResumeToken, findTabName } from "./tab";
import { type Uploads, computeBackoff, createUploads } from "./uploads";
import { STOPPED, Visit } from "./visit";
import { orderSteps, resumeWalk } from "./walk";

import "./style.css";

// Before the texts of the study have come there are only these.
const UNREACHABLE = "The study cannot be reached at the moment. This page tries again by itself; please leave it open.";
const NOT_OPENED = "The study cannot be opened.";

/** So long the page tries to send before it offers a code that is looked at by hand, ms. */
const PATIENCE = 120_000;

const kioskPage = readKiosk();

interface OpenSession {
  payload: Payload;
  arrival: Arrival;
}

/** Opens the session, however long the server is away or another tab has it. */
async function openUntilReached(): Promise<OpenSession> {
  for (let attempt = 1; ; attempt += 1) {
    const who = readArrival(window.location.search, await findTabName(), readResumeToken());
    try {
      return { payload: await openSession(who), arrival: who };
    } catch (error) {
      const open = takenOverTexts(error);
      if (!open && !isTemporary(error)) throw error;
      showMessage(open ?? [UNREACHABLE]);
      await sleep(open ? Math.min(5000, 1000 * ((error as RefusedError).answer.retry_after ?? 5)) : computeBackoff(attempt));
    }
  }
}

class Session {
  private visit: Visit;
  private queue: Uploads;
  private numbering: Numbering;
  /** the participant waits for the last events to be stored */
  private sending = false;

  constructor(
    private payload: Payload,
    private who: Arrival,
    private journal: Journal,
  ) {
    const { left } = journal;
    const { script, order, done, tallies, outcomes } = payload;
    this.numbering = { visit: payload.visit, next: Math.max(payload.next_seq, ...left.map(({ seq }) => seq + 1)) };
    const away = kioskPage?.texts.kept ?? script.texts.error;
    const stored = new Set<number>();
    const forget = (seqs: readonly number[]): void => {
      seqs.forEach((seq) => stored.add(seq));
      journal.forget(findStoredEvents(this.queue.kept(), stored));
    };
    this.queue = createUploads((events) => storeEvents(payload, events), {
      journal: { keep: journal.keep, forget },
      trouble: (attempt) => this.sending && showMessage([attempt > 2 ? away : script.texts.saving]),
      failed: (error) => this.stop(takenOverTexts(error) ?? [script.texts.stopped]),
      ...(left.length === 0 && { renumber: () => this.renumber() }),
    });
    const stand = resumeWalk(orderSteps(script, order), left, done, tallies, outcomes);
    const judge: Judge = (_, answers, say) => this.judged(answers, say);
    this.visit = new Visit(script, stand, this.numbering, (event) => this.queue.add(event), this.queue, undefined, judge);
    for (const event of left) this.queue.add(event);
  }

  private async renumber(): Promise<{ visit: number; next: number }> {
    const fresh = await openSession({ ...this.who, resume: readResumeToken() });
    this.numbering.next += fresh.next_seq - this.payload.next_seq;
    this.numbering.visit = fresh.visit;
    Object.assign(this.payload, { token: fresh.token, next_seq: fresh.next_seq, visit: fresh.visit });
    return { visit: fresh.visit, next: fresh.next_seq };
  }

  /** Ends the session on this page for good; what is unsent can be kept as a file. */
  private stop(texts: readonly string[]): void {
    if (this.visit.over) return;
    this.visit.leave(STOPPED);
    setTimeout(() => {
      if (this.queue.unsent().length > 0) showMessage(texts, this.file());
      else if (kioskPage) void this.journal.close().then(() => kioskPage.over(texts));
      else showMessage(texts);
    });
  }

  private file(): HTMLElement {
    const { session, script } = this.payload;
    const text = (): string => JSON.stringify({ session, events: this.queue.kept() });
    return fileButton(script.texts.keep_file, `${session}.json`, text);
  }

  /** Offers what there is for the researchers to look at, and the code for that. */
  private toBeLookedAt(): void {
    const { text, code } = this.payload.online.endings.unsent;
    showMessage(text, ...(code ? [codeElement(code)] : []), this.file());
  }

  /** The end was reached and the server does not give the code: that is no fault of who has read. */
  private unfinished(error: unknown): void {
    const open = takenOverTexts(error);
    if (open || kioskPage || this.visit.over) return this.stop(open ?? [this.payload.script.texts.stopped]);
    this.visit.leave(STOPPED);
    this.toBeLookedAt();
  }

  /** What the server says of the answers to the screener, however long it is away. Of who is screened out it keeps nothing. */
  private async judged(answers: FormAnswers, say: (text: string) => void): Promise<"accepted" | "screened_out"> {
    const { online, script } = this.payload;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { outcome, ...ending } = await screenSession(this.payload, answers);
        if (outcome === "accepted") return outcome;
        Object.assign(online.endings, { screened_out: ending });
      } catch (error) {
        if (isTemporary(error)) {
          say(script.texts.error);
          await sleep(computeBackoff(attempt));
          continue;
        }
        // Gone: it was judged before, and the answer was lost on its way.
        if (!(error instanceof RefusedError) || error.status !== 404) {
          this.stop(takenOverTexts(error) ?? [script.texts.stopped]);
          return new Promise(() => {});
        }
      }
      this.queue.pause(); // nothing more is to be stored
      return "screened_out";
    }
  }

  /** Leaves the study: the server forgets what it may not keep and says what to show last. */
  private async depart(reason: string): Promise<void> {
    const { online } = this.payload;
    const { texts } = this.payload.script;
    showMessage([texts.saving]);
    const forgotten = this.journal.close();
    storeResumeToken(null, 0);
    const last = ({ text, ...way }: Ending): void => {
      if (kioskPage) void forgotten.then(() => kioskPage.over(text));
      else showEnding({ text, ...way }, texts.return_link, texts.withdraw);
    };
    if (reason === "screened_out") return last(online.endings[reason] as Ending);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return last(await withdrawSession(this.payload, reason));
      } catch (error) {
        const passing = isTemporary(error);
        if (kioskPage && passing) showMessage([texts.error]);
        else if (!passing || attempt === 3) last(online.endings[reason] ?? { text: [texts.saving], code: null, url: null });
        if (!passing) return;
        await sleep(computeBackoff(attempt)); // the server has to hear of it, as long as this page is open
      }
    }
  }

  private async beat(): Promise<void> {
    let seconds = this.payload.online.heartbeat_seconds;
    while (!this.visit.over) {
      await sleep(1000 * seconds);
      while (this.queue.paused() && !this.visit.over) await sleep(500); // nothing is sent while a sentence is read
      if (this.visit.over) return;
      try {
        ({ seconds } = await heartbeat(this.payload));
      } catch (error) {
        const open = takenOverTexts(error);
        if (open) this.stop(open);
      }
    }
  }

  private watch(): void {
    document.addEventListener("visibilitychange", () => {
      // The page may be gone in a moment, and nobody is reading.
      const unsent = this.queue.unsent();
      if (document.visibilityState !== "hidden" || unsent.length === 0 || this.visit.over) return;
      void storeEvents(this.payload, unsent.slice(0, 120), true).catch(() => {});
    });
    window.addEventListener("pagehide", () => {
      if (!this.visit.over) void heartbeat(this.payload, true).catch(() => {});
    });
    void this.beat();
  }

  /** Stores what is left and shows the completion code; goes on trying as long as the page is open. */
  private async finish(): Promise<void> {
    const { script } = this.payload;
    const { texts } = script;
    const began = performance.now();
    let stored = false;
    showMessage([texts.saving]);
    this.sending = true;
    this.visit.record("end", performance.now(), [null, null], {});
    const overdue = (async () => {
      while (!stored && performance.now() - began < PATIENCE) await sleep(500);
      if (stored || this.visit.over || kioskPage) return;
      this.sending = false;
      this.toBeLookedAt();
    })();
    for (let attempt = 1; ; attempt += 1) {
      await this.queue.stored();
      try {
        const { code, url } = await completeSession(this.payload, this.numbering.next);
        stored = true;
        this.sending = false;
        await overdue;
        this.visit.over = STOPPED;
        await this.journal.close();
        storeResumeToken(null, 0);
        if (kioskPage) return void kioskPage.over([...paragraphs(texts.debriefing), kioskPage.texts.stored]);
        showMessage([...paragraphs(texts.debriefing), texts.your_code], codeElement(code), ...(url ? [backLink(url, texts.return_link)] : []));
        return;
      } catch (error) {
        if (error instanceof RefusedError && error.answer.missing?.length && attempt < 5) this.queue.again(error.answer.missing);
        else if (!isTemporary(error)) throw error;
        await sleep(computeBackoff(attempt));
      }
    }
  }

  async run(): Promise<void> {
    holdKeysUntil(() => this.journal.writing());
    this.watch();
    const whole = await this.visit.run();
    const { over } = this.visit;
    if (whole) await this.finish().catch((error: unknown) => this.unfinished(error));
    else if (over && over !== STOPPED) await this.depart(over);
  }
}

async function main(): Promise<void> {
  startKeys();
  try {
    const { payload, arrival: who } = await (kioskPage ?? { open: openUntilReached }).open();
    const { study, online, script } = payload;
    document.documentElement.lang = script.language;
    document.documentElement.dir = script.direction;
    document.title = study.title;
    if (online.resume) storeResumeToken(online.resume, online.resume_hours);
    if (online.test) document.body.append(element("p", "preview", script.texts.preview));
    await new Session(payload, who, await openJournal(payload.session, online.resume_hours, kioskPage?.journal)).run();
  } catch (error) {
    console.error(error);
    showEnding(error instanceof RefusedError ? error.answer : {}, "", error instanceof RefusedError && error.message ? error.message : NOT_OPENED);
  }
}

void main();
