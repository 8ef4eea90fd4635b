// A session from loading to the completion code: the steps of the payload become jsPsych's timeline.

import { type JsPsych, initJsPsych } from "jspsych";

import {
  Refused,
  arrival,
  completeSession,
  heartbeat,
  isPassing,
  openSession,
  storeEvents,
  withdrawSession,
} from "./api";
import { check, machine, suits } from "./checks";
import { element, fittingSize, paragraphs } from "./display";
import { type Recorder, recorder } from "./events";
import { Form } from "./form";
import { watchInterruptions } from "./interruption";
import { type Journal, openJournal } from "./journal";
import { start, waitFor } from "./keys";
import { asksToWithdraw, codeOf, fileButton, show, showEnding, showProgress, wayBack } from "./screens";
import { type Payload, type Step, isResumed, steps } from "./session";
import { rememberResume, resumeToken, tabName } from "./tab";
import { type Timeline, readings, tasks } from "./tasks";
import { TextPage } from "./text-page";
import { type Uploads, backoff, uploads } from "./uploads";

import "./style.css";

// Before the texts of the study have come there are only these.
const unreachable = "The study cannot be reached at the moment. This page tries again by itself; please leave it open.";
const refused = "The study cannot be opened.";

/** So long the page tries to send before it offers a code that is looked at by hand, ms. */
const PATIENCE = 120_000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Opened {
  payload: Payload;
  tab: string;
}

/** Opens the session, however long the server is away or another tab has it. */
async function open(): Promise<Opened> {
  for (let attempt = 1; ; attempt += 1) {
    const tab = await tabName();
    try {
      return { payload: await openSession(arrival(window.location.search, tab, resumeToken())), tab };
    } catch (error) {
      const elsewhere = error instanceof Refused && error.answer.reason === "open_elsewhere";
      if (!elsewhere && !isPassing(error)) throw error;
      show(elsewhere ? (error.answer.text ?? [error.message]) : [unreachable]);
      await pause(elsewhere ? Math.min(5000, 1000 * (error.answer.retry_after ?? 5)) : backoff(attempt));
    }
  }
}

/** One size for the whole session, such that the longest word fits; never changed from word to word. */
function sizeWords(payload: Payload): void {
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
async function suitable(payload: Payload): Promise<boolean> {
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
    await pause(100);
    given = suits(machine(), needs);
  }
  return given === "yes";
}

type Departure = "refused" | "unsuitable" | "withdrawn";

class Session {
  private record: Recorder;
  private queue: Uploads;
  private numbering: { visit: number; next: number };
  private running: number | null = null;
  private keyboard = false;
  /** the participant waits for the last events to be stored */
  private sending = false;
  private over: Departure | "stopped" | null = null;
  private jsPsych: JsPsych | null = null;
  private checks = check();

  constructor(
    private payload: Payload,
    private tab: string,
    private journal: Journal,
  ) {
    const { left } = journal;
    this.numbering = { visit: payload.visit, next: Math.max(payload.next_seq, ...left.map(({ seq }) => seq + 1)) };
    this.queue = uploads((events) => storeEvents(payload, events), {
      journal,
      trouble: (attempt) => this.sending && show([attempt > 2 ? payload.texts.error : payload.texts.saving]),
      failed: () => this.stop([payload.texts.stopped]),
      ...(left.length === 0 && { renumber: () => this.renumber() }),
    });
    this.record = recorder(this.numbering, (event) => this.queue.add(event));
    for (const event of left) {
      this.queue.add(event);
      if (event.kind === "trial_end" && event.trial !== null) payload.done.push(event.trial);
    }
  }

  private async renumber(): Promise<{ visit: number; next: number }> {
    const fresh = await openSession(arrival(window.location.search, this.tab, resumeToken()));
    this.numbering.next += fresh.next_seq - this.payload.next_seq;
    this.numbering.visit = fresh.visit;
    Object.assign(this.payload, { token: fresh.token, next_seq: fresh.next_seq, visit: fresh.visit });
    return { visit: fresh.visit, next: fresh.next_seq };
  }

  /** Ends the session on this page for good; what is unsent can be kept as a file. */
  private stop(texts: readonly string[]): void {
    if (this.over) return;
    this.over = "stopped";
    this.jsPsych?.abortExperiment();
    setTimeout(() => show(texts, ...(this.queue.unsent().length > 0 ? [this.file()] : [])));
  }

  private file(): HTMLElement {
    const { session, texts } = this.payload;
    const text = (): string => JSON.stringify({ session, events: this.queue.kept() });
    return fileButton(texts.keep_file, `${session}.json`, text);
  }

  /** Leaves the study: the server forgets what it may not keep and says what to show last. */
  private async depart(reason: Departure): Promise<void> {
    const { texts, online } = this.payload;
    show([texts.saving]);
    this.journal.close();
    rememberResume(null, 0);
    let ending = online.endings[reason];
    for (let attempt = 1; attempt < 4; attempt += 1) {
      try {
        ending = await withdrawSession(this.payload, reason);
        break;
      } catch (error) {
        if (!isPassing(error)) break;
        await pause(backoff(attempt));
      }
    }
    showEnding(ending, texts.return_link, texts.withdraw);
  }

  /** Ends the timeline; `run` then departs. */
  private leave(reason: Departure): void {
    this.over ??= reason;
    this.jsPsych?.abortExperiment();
  }

  private withdrawal(): { way_out: string; leave: () => void } {
    const { texts } = this.payload;
    return { way_out: texts.withdraw, leave: () => void asksToWithdraw(texts).then((yes) => yes && this.leave("withdrawn")) };
  }

  private async beat(): Promise<void> {
    let seconds = this.payload.online.heartbeat_seconds;
    while (!this.over) {
      await pause(1000 * seconds);
      while (this.queue.paused() && !this.over) await pause(500); // nothing is sent while a sentence is read
      if (this.over) return;
      try {
        ({ seconds } = await heartbeat(this.payload, this.tab));
      } catch (error) {
        if (error instanceof Refused && error.answer.reason === "open_elsewhere") this.stop(error.answer.text ?? [error.message]);
      }
    }
  }

  private watch(): void {
    document.addEventListener("visibilitychange", () => {
      // The page may be gone in a moment, and nobody is reading.
      const unsent = this.queue.unsent();
      if (document.visibilityState !== "hidden" || unsent.length === 0 || this.over) return;
      void storeEvents(this.payload, unsent.slice(0, 120), true).catch(() => {});
    });
    window.addEventListener("pagehide", () => {
      if (!this.over) void heartbeat(this.payload, this.tab, true).catch(() => {});
    });
    void this.beat();
  }

  private async begin(consented: number | null): Promise<void> {
    const visit = await this.checks;
    this.record("visit", 0, null, { ...visit, keyboard: this.keyboard });
    if (consented !== null) {
      const at = new Date(visit.time_origin + consented).toISOString();
      this.record("consent", consented, null, { accepted: true, sha256: this.payload.consent_sha256, at });
    }
    watchInterruptions(this.payload.texts.interrupted, this.record, () => this.running);
    this.queue.resume();
  }

  private consent(): Timeline {
    const { texts, study } = this.payload;
    let consented: number | null = null;
    const page = {
      type: TextPage,
      screen: "consent",
      heading: study.title,
      paragraphs: texts.consent,
      buttons: [texts.consent_accept, texts.consent_decline],
      space: false,
      left: (t: number, button: number) => (button === 0 ? (consented = t) : this.leave("refused")),
      on_finish: () => (this.over ? undefined : this.begin(consented)),
    };
    return [page];
  }

  private device(): Timeline {
    const { texts } = this.payload;
    const page = {
      type: TextPage,
      screen: "device",
      paragraphs: paragraphs(texts.device),
      buttons: [],
      way_out: texts.no_keyboard,
      leave: () => this.leave("unsuitable"),
      left: () => (this.keyboard = true),
    };
    return [page];
  }

  private page(text: string, left: (t: number, button: number, request: number) => void, screen = "text"): Timeline[number] {
    const { texts } = this.payload;
    return {
      type: TextPage,
      ...{ screen, paragraphs: paragraphs(text), buttons: [texts.continue], left, ...this.withdrawal() },
      on_load: () => this.queue.resume(),
    };
  }

  private trial({ trial, progress }: Extract<Step, { kind: "trial" }>): Timeline {
    const { payload, record, queue } = this;
    const { texts } = payload;
    const position = trial.trial;
    const setting = { payload, direction: payload.study.direction, record };
    const feedback = (right: () => boolean): Timeline[number] => {
      const wrong = texts.wrong.replace("{answer}", trial.question?.answer ?? "");
      const page = this.page("", (t) => record("instructions", t, null, { page: "feedback" }));
      return { ...page, paragraphs: () => [right() ? texts.right : wrong] };
    };
    const read = readings(trial, setting).map((one) => ({ ...one, on_start: () => queue.pause() }));
    const asked = tasks(trial, setting, feedback).map((one) => ({
      ...one,
      on_load: () => {
        showProgress(progress);
        queue.resume();
      },
    }));
    const begin = {
      timeline: [...read, ...asked],
      on_timeline_start: () => {
        showProgress(null);
        this.running = position;
        record("trial", performance.now(), position, { role: trial.role, item: trial.item, condition: trial.condition });
      },
      on_timeline_finish: () => {
        if (this.over) return;
        record("trial_end", performance.now(), position, {});
        this.running = null;
        queue.resume();
      },
    };
    return [begin];
  }

  private timelineOf(step: Step): Timeline {
    const { payload, record } = this;
    const { texts, procedure } = payload;
    switch (step.kind) {
      case "device":
        return this.device();
      case "consent":
        return this.consent();
      case "instructions":
        return [this.page(texts.instructions[step.page] as string, (t) => record("instructions", t, null, { page: step.page }))];
      case "practice_over":
        return [this.page(texts.practice_over, (t) => record("instructions", t, null, { page: "practice_over" }))];
      case "break":
        return [this.page(texts.break, (t, _, request) => record("break", t, null, { request }), "break")];
      case "trial":
        return this.trial(step);
      case "demographics": {
        const done = (t: number, answers: Record<string, string | number>): void => record("demographics", t, null, { answers });
        return [{ type: Form, fields: procedure.demographics, texts, done, ...this.withdrawal() }];
      }
    }
  }

  /** Stores what is left and shows the completion code; goes on trying as long as the page is open. */
  private async finish(): Promise<void> {
    const { texts, online } = this.payload;
    const began = performance.now();
    let stored = false;
    show([texts.saving]);
    this.sending = true;
    this.record("end", performance.now(), null, {});
    const overdue = (async () => {
      while (!stored && performance.now() - began < PATIENCE) await pause(500);
      if (stored || this.over) return;
      this.sending = false;
      const { text, code } = online.endings.unsent;
      show(text, ...(code ? [codeOf(code)] : []), this.file());
    })();
    for (let attempt = 1; ; attempt += 1) {
      await this.queue.stored();
      try {
        const { code, url } = await completeSession(this.payload, this.numbering.next);
        stored = true;
        this.sending = false;
        await overdue;
        this.over = "stopped";
        this.journal.close();
        rememberResume(null, 0);
        show([...paragraphs(texts.debriefing), texts.completion], codeOf(code), ...(url ? [wayBack(url, texts.return_link)] : []));
        return;
      } catch (error) {
        if (error instanceof Refused && error.answer.missing?.length && attempt < 5) this.queue.again(error.answer.missing);
        else if (!isPassing(error)) throw error;
        await pause(backoff(attempt));
      }
    }
  }

  async run(): Promise<void> {
    const { payload } = this;
    waitFor(() => this.journal.writing());
    this.watch();
    if (!(await suitable(payload))) {
      this.over = "unsuitable";
      return this.depart("unsuitable");
    }
    if (isResumed(payload)) await this.begin(null);
    sizeWords(payload);
    const stage = document.getElementById("stage") as HTMLElement;
    stage.replaceChildren();
    const timeline = steps(payload).flatMap((step) => this.timelineOf(step));
    this.jsPsych = initJsPsych({ display_element: stage });
    if (timeline.length > 0) await this.jsPsych.run(timeline);
    if (this.over === "stopped") return;
    if (this.over) return this.depart(this.over);
    await this.finish().catch(() => this.stop([payload.texts.stopped]));
  }
}

async function main(): Promise<void> {
  start();
  try {
    const { payload, tab } = await open();
    const { study, online, texts } = payload;
    document.documentElement.lang = study.language;
    document.documentElement.dir = study.direction;
    document.title = study.title;
    if (online.resume) rememberResume(online.resume, online.resume_hours);
    if (online.test) document.body.append(element("p", "preview", texts.preview));
    await new Session(payload, tab, await openJournal(payload.session)).run();
  } catch (error) {
    console.error(error);
    showEnding(error instanceof Refused ? error.answer : {}, "", error instanceof Refused && error.message ? error.message : refused);
  }
}

void main();
