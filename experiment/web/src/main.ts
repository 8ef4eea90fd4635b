// A session from loading to the completion code: the steps of the payload become jsPsych's timeline.

import { type JsPsych, initJsPsych } from "jspsych";

import { Refused, completeSession, isPassing, openSession, participantOf, sourceOf, storeEvents } from "./api";
import { check } from "./checks";
import { element, fittingSize, paragraphs } from "./display";
import { type Recorder, recorder } from "./events";
import { watchInterruptions } from "./interruption";
import { listen, start } from "./keys";
import { direction } from "./language";
import { Rating } from "./rating";
import { SelfPacedReading } from "./self-paced-reading";
import { type Payload, type Step, isResumed, steps } from "./session";
import { TextPage, sheet } from "./text-page";
import { type Uploads, backoff, uploads } from "./uploads";

import "./style.css";

type Timeline = Extract<Parameters<JsPsych["run"]>[0], readonly unknown[]>;

const participant = participantOf(window.location.search);
const source = sourceOf(window.location.search);
const stage = document.getElementById("stage") as HTMLElement;
const bar = document.getElementById("progress") as HTMLProgressElement;

// Before the texts of the study have come there are only these.
const unreachable = "The study cannot be reached at the moment. This page tries again by itself; please leave it open.";
const refused = "The study cannot be opened.";

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function show(heading: string, texts: readonly string[], ...more: HTMLElement[]): void {
  listen(null);
  const page = sheet(heading, texts);
  page.setAttribute("role", "status");
  page.append(...more);
  stage.replaceChildren(page);
  bar.hidden = true;
  page.focus();
}

async function open(): Promise<Payload> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openSession(participant, source);
    } catch (error) {
      if (!isPassing(error)) throw error;
      show("", [unreachable]);
      await pause(backoff(attempt));
    }
  }
}

/** One size for the whole session, such that the longest word fits; never changed from word to word. */
function sizeWords(payload: Payload): void {
  const probe = element("div", "word");
  stage.append(probe);
  const style = getComputedStyle(probe);
  const context = document.createElement("canvas").getContext("2d");
  if (context) {
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const words = new Set(payload.trials.flatMap((trial) => trial.words));
    const widest = Math.max(0, ...Array.from(words, (word) => context.measureText(word).width));
    const size = fittingSize(parseFloat(style.fontSize), widest, window.innerWidth * 0.92);
    document.documentElement.style.setProperty("--word-size", `${size}px`);
  }
  probe.remove();
}

function showProgress(share: number | null): void {
  bar.hidden = share === null;
  if (share !== null) bar.value = share;
}

interface Run {
  payload: Payload;
  record: Recorder;
  queue: Uploads;
  /** the trial that is running, null between trials */
  enter(trial: number | null): void;
}

function trialSteps(step: Extract<Step, { kind: "trial" }>, run: Run): Timeline {
  const { trial } = step;
  const { record, queue, payload } = run;
  const { name: scale, prompt, low, high, points } = payload.procedure.rating;
  const position = trial.trial;
  const duringSentence: Recorder = (kind, ...rest) => {
    if (kind === "start") queue.pause();
    record(kind, ...rest);
  };
  const read = {
    type: SelfPacedReading,
    words: trial.words,
    position,
    hint: payload.texts.start_hint,
    direction: direction(payload.study.language),
    record: duringSentence,
    on_start: () => {
      showProgress(null);
      run.enter(position);
      record("trial", performance.now(), position, { role: trial.role, item: trial.item, condition: trial.condition });
    },
  };
  const rate = {
    type: Rating,
    ...{ scale, prompt, low, high, points, position, record },
    on_load: () => {
      showProgress(step.progress);
      queue.resume();
    },
    on_finish: () => {
      record("trial_end", performance.now(), position, {});
      run.enter(null);
      queue.resume();
    },
  };
  return [read, rate];
}

function timelineOf(step: Exclude<Step, { kind: "consent" }>, run: Run): Timeline {
  const { payload, record, queue } = run;
  const { texts } = payload;
  const textPage = (text: string, left: (t: number, button: number, request: number) => void): Timeline => [
    { type: TextPage, paragraphs: paragraphs(text), buttons: [texts.continue], left, on_load: () => queue.resume() },
  ];
  switch (step.kind) {
    case "instructions":
      return textPage(texts.instructions[step.page] as string, (t) => record("instructions", t, null, { page: step.page }));
    case "practice_over":
      return textPage(texts.practice_over, (t) => record("instructions", t, null, { page: "practice_over" }));
    case "break":
      return textPage(texts.break, (t, _, request) => record("break", t, null, { request }));
    case "trial":
      return trialSteps(step, run);
  }
}

/** Stores what is left and shows the completion code; goes on trying as long as the page is open. */
async function finish(run: Run, ticket: Payload, count: () => number): Promise<void> {
  const { texts } = run.payload;
  show("", [texts.saving]);
  run.record("end", performance.now(), null, {});
  for (let attempt = 1; ; attempt += 1) {
    await run.queue.stored();
    try {
      const { code } = await completeSession(ticket, count());
      const output = element("output", "code", code);
      output.dir = "ltr";
      show("", [...paragraphs(texts.debriefing), texts.completion], output);
      return;
    } catch (error) {
      if (error instanceof Refused && error.missing.length > 0 && attempt < 5) run.queue.again(error.missing);
      else if (!isPassing(error)) throw error;
      else show("", [texts.error]);
      await pause(backoff(attempt));
    }
  }
}

async function session(payload: Payload): Promise<void> {
  const { texts } = payload;
  const checks = check();
  const numbering = { visit: payload.visit, next: payload.next_seq };
  const ticket = { ...payload };
  let running: number | null = null;
  let ending = false;
  let stopped = false;

  const stop = (): void => {
    stopped = true;
    show("", [texts.error]);
  };
  const queue = uploads((events) => storeEvents(ticket, events), {
    failed: stop,
    trouble: (attempt) => {
      if (ending) show("", [attempt > 2 ? texts.error : texts.saving]);
    },
    renumber: async () => {
      const fresh = await openSession(participant, source);
      numbering.next += fresh.next_seq - ticket.next_seq;
      numbering.visit = fresh.visit;
      Object.assign(ticket, fresh);
      return { visit: fresh.visit, next: fresh.next_seq };
    },
  });
  const record = recorder(numbering, (event) => queue.add(event));
  const run: Run = { payload, record, queue, enter: (trial) => (running = trial) };

  async function begin(consented: number | null): Promise<void> {
    const visit = await checks;
    record("visit", 0, null, visit);
    if (consented !== null) record("consent", consented, null, { accepted: true, sha256: payload.consent_sha256 });
    watchInterruptions(texts.interrupted, record, () => running);
    document.addEventListener("visibilitychange", () => {
      // The page may be gone in a moment, and nobody is reading.
      const unsent = queue.unsent();
      if (document.visibilityState === "hidden" && unsent.length > 0) void storeEvents(ticket, unsent.slice(0, 200), true).catch(() => {});
    });
    queue.resume();
  }

  let consented: number | null = null;
  let declined = false;
  const consent = {
    type: TextPage,
    heading: payload.study.title,
    paragraphs: texts.consent,
    buttons: [texts.consent_accept, texts.consent_decline],
    space: false,
    left: (t: number, button: number) => (button === 0 ? (consented = t) : (declined = true)),
    on_finish: () => (declined ? undefined : begin(consented)),
  };
  const left = steps(payload).filter((step) => step.kind !== "consent");
  const rest = { timeline: left.flatMap((step) => timelineOf(step, run)), conditional_function: () => !declined };

  if (isResumed(payload)) await begin(null);
  sizeWords(payload);
  stage.replaceChildren();
  const timeline = [...(isResumed(payload) ? [] : [consent]), ...(left.length ? [rest] : [])];
  if (timeline.length) await initJsPsych({ display_element: stage }).run(timeline);
  if (stopped) return;
  if (declined) return show("", paragraphs(texts.declined));
  ending = true;
  await finish(run, ticket, () => numbering.next).catch(stop);
}

async function main(): Promise<void> {
  start();
  try {
    const payload = await open();
    document.documentElement.lang = payload.study.language;
    document.documentElement.dir = direction(payload.study.language);
    document.title = payload.study.title;
    await session(payload);
  } catch (error) {
    console.error(error);
    show("", [error instanceof Refused && error.message ? error.message : refused]);
  }
}

void main();
