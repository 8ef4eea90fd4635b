// An exported study: the same pages as on our own server, with jsPsych's data as what is kept. Each row of data also holds
// our session and the events since the row before, so that what comes back makes the same tables.

import { type Ending, isTemporary } from "./api";
import { paragraphs } from "./dom";
import { End } from "./end";
import { type ExportedStudy, type ExportedList, type Person, buildEnding, readPerson } from "./exported-study";
import { type Host, type Row, type SessionFile, folderHost, jatosHost } from "./hosts";
import { type Journal, openJournal } from "./journal";
import { startKeys, holdKeysUntil } from "./keys";
import { codeElement, fileButton, showMessage, showEnding, backLink } from "./messages";
import type { Event, Script } from "./screens";
import { sleep } from "./sleep";
import { type Uploads, computeBackoff, createUploads } from "./uploads";
import { STOPPED, Visit } from "./visit";
import { orderSteps, resumeWalk } from "./walk";

/** So long the page tries to store before it offers a file, ms. */
const PATIENCE = 120_000;

const currentTime = (): string => new Date().toISOString().replace("Z", "+00:00");
const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A session as it stands in the data (experiment/sessions/sessions.py). */
interface Session {
  id: string;
  participant: string;
  list_name: string;
  slot: number;
  order: number[];
  list_sha256: string;
  procedure_sha256: string;
  started: string;
  finished: string | null;
  source: string;
}

/** What this browser remembers of a session, so that a reload goes on with it. */
interface StoredSession {
  session: Session;
  assignment: number;
  by: string;
  /** ms since 1970 */
  until: number;
}

const PREFIX = "gardenpath ";

/** 32 bits of a text (FNV-1a): whoever looks at this browser's storage finds no ids there. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16);
}

/** Somebody with an id is known again in this browser, somebody without in this tab alone. */
class SessionMemory {
  private key: string;

  constructor(
    key: string,
    private storage: () => Storage,
    private hours: number,
  ) {
    this.key = PREFIX + hashText(key);
    try {
      const old = (name: string): boolean => name.startsWith(PREFIX) && (this.read(name)?.until ?? Infinity) <= Date.now();
      Object.keys(storage()).filter(old).forEach((name) => storage().removeItem(name));
    } catch {
      // storage is switched off
    }
  }

  private read(name: string): StoredSession | null {
    try {
      return JSON.parse(this.storage().getItem(name) ?? "null") as StoredSession | null;
    } catch {
      return null; // storage is switched off, or holds something else
    }
  }

  get(): StoredSession | null {
    return this.read(this.key);
  }

  set(stored: Omit<StoredSession, "until"> | null): void {
    try {
      if (stored === null) this.storage().removeItem(this.key);
      else this.storage().setItem(this.key, JSON.stringify({ ...stored, until: Date.now() + 3_600_000 * this.hours }));
    } catch {
      // a reload then begins anew
    }
  }
}

/** Whether this is the only page with this session; held until the page goes. */
async function isOnlyPage(session: string): Promise<boolean> {
  if (!navigator.locks) return true;
  return new Promise<boolean>((answer) => {
    void navigator.locks.request(`gardenpath ${session}`, { ifAvailable: true }, (lock) => {
      answer(lock !== null);
      return lock ? new Promise<never>(() => {}) : undefined;
    });
  });
}

interface Journals {
  events: Journal;
  rows: Journal<Row>;
}

class Page {
  private visit: Visit;
  private visitNumber: number;
  private rows: Row[];
  /** events that stand in no row yet */
  private pending: Event[];
  private appended: Uploads<Row> | null = null;
  private sending = false;

  constructor(
    private exported: ExportedStudy,
    private who: Person | null,
    private host: Host,
    private memory: SessionMemory,
    private stored: StoredSession,
    private journals: Journals,
  ) {
    const { session } = stored;
    const { texts } = this;
    this.rows = journals.rows.left.map((row) => Object.assign(row, { gardenpath_session: session }));
    const reported = new Set(this.rows.flatMap((row) => (row["gardenpath_events"] as Event[]).map(({ seq }) => seq)));
    this.pending = journals.events.left.filter(({ seq }) => !reported.has(seq));
    const append = host.append?.bind(host);
    if (append) {
      this.appended = createUploads<Row>(append, {
        trouble: (attempt) => this.sending && showMessage([attempt > 2 ? texts.error : texts.saving]),
        failed: (error) => console.warn("rows are kept for the end of the session:", error),
      });
      this.rows.forEach((row) => this.appended?.add(row));
    }
    const { left } = journals.events;
    this.visitNumber = Math.max(-1, ...left.map(({ visit }) => visit)) + 1;
    const numbering = { visit: this.visitNumber, next: Math.max(-1, ...left.map(({ seq }) => seq)) + 1 };
    const keep = (event: Event): void => {
      this.pending.push(event);
      journals.events.keep(event);
    };
    const { script, labels } = this.list;
    const stand = resumeWalk(orderSteps(script, session.order), left);
    this.visit = new Visit(script, stand, numbering, keep, this.appended ?? { pause() {}, resume() {} }, labels);
  }

  private get list(): ExportedList {
    return findList(this.exported, this.stored.session);
  }

  private get texts(): Script["texts"] {
    return this.list.script.texts;
  }

  private ending(kind: string): Ending {
    return buildEnding(this.exported, this.who, kind);
  }

  private get sat(): SessionFile {
    const { id, participant } = this.stored.session;
    return { session: id, participant, filename: `${id}.json` };
  }

  private add(data: Record<string, unknown>): void {
    const { session, assignment, by } = this.stored;
    const row: Row = Object.assign(data, {
      ...{ seq: this.rows.length, visit: this.visitNumber },
      ...{ study: this.exported.study.name, session: session.id, participant: session.participant },
      ...{ list_name: session.list_name, seed: this.list.seed, slot: session.slot, assignment, assigned_by: by },
      ...{ gardenpath_session: session, gardenpath_events: this.pending },
    });
    this.pending = [];
    this.rows.push(row);
    this.journals.rows.keep(row);
    this.appended?.add(row);
    this.host.keepAlive(session.id, assignment);
  }

  private file(): HTMLElement {
    return fileButton(this.texts.keep_file, this.sat.filename, () => JSON.stringify(this.rows));
  }

  private forget(): void {
    void this.journals.events.close();
    void this.journals.rows.close();
  }

  private async depart(reason: string): Promise<void> {
    const { texts } = this;
    showMessage([texts.saving]);
    this.appended?.pause();
    this.forget();
    this.memory.set(null);
    await this.host.leave(this.sat.session, reason).catch((error: unknown) => console.error("the platform was not notified:", error));
    showEnding(this.ending(reason), texts.return_link, texts.withdraw);
  }

  /** Stores the whole, however long the platform is away; then the participant is told that it is done. */
  private async finish(): Promise<void> {
    const { texts } = this;
    let kept: boolean | null = null;
    showMessage([texts.saving]);
    this.sending = true;
    const overdue = setTimeout(() => {
      this.sending = false;
      const { text, code } = this.ending("unsent");
      showMessage(text, ...(code ? [codeElement(code)] : []), this.file());
    }, PATIENCE);
    for (let attempt = 1; kept === null; attempt += 1) {
      await this.appended?.stored().catch(() => {}); // refused for good: the whole is tried nevertheless
      try {
        kept = await this.host.save(this.rows, this.sat, this.stored.assignment);
      } catch (error) {
        console.warn("the data are not stored yet:", error);
        const appendedAll = this.appended && attempt > 2 && this.appended.unsent().length === 0;
        if (appendedAll) kept = true; // as lines, all of them
        else if (this.sending) showMessage([attempt > 2 && isTemporary(error) ? texts.error : texts.saving]);
        if (!appendedAll) await sleep(computeBackoff(attempt));
      }
    }
    clearTimeout(overdue);
    this.sending = false;
    this.visit.over = STOPPED;
    if (!kept) await this.handed();
    const { session, assignment, by } = this.stored;
    const once = this.who && this.exported.online.sessions === 1;
    this.memory.set(once ? { session: { ...session, participant: "" }, assignment, by } : null);
    this.forget();
    showComplete(this.list.script, this.ending("finished"), this.file());
  }

  /** Settles when the participant has the file, where nothing else takes the data. */
  private async handed(): Promise<void> {
    const button = this.file();
    const taken = new Promise((done) => button.addEventListener("click", done, { once: true }));
    button.className = "first";
    showMessage(this.ending("handed_over").text, button);
    await taken;
  }

  async run(simulation: string | null): Promise<void> {
    const { journals, visit } = this;
    holdKeysUntil(() => journals.events.writing() ?? journals.rows.writing());
    const end = {
      type: End,
      done: () => {
        visit.record("end", performance.now(), [null, null], {});
        this.stored.session.finished = currentTime();
      },
    };
    const last = { timeline: [end], conditional_function: () => !visit.over && visit.walk.ending === null };
    const added = { on_data_update: (data: Record<string, unknown>) => this.add(data) };
    const whole = await visit.run(added, [last], async (jsPsych, timeline) => {
      for (const row of this.rows) jsPsych.data.get().push(row);
      window.jsPsych = jsPsych; // for hooks that want its data in another form
      if (simulation === "visual" || simulation === "data-only") await jsPsych.simulate(timeline, simulation);
      else await jsPsych.run(timeline);
    });
    if (whole) await this.finish();
    else if (visit.over) await this.depart(visit.over);
  }
}

/** The last page of who has come to the end. */
function showComplete({ texts }: Script, { code, url }: Ending, ...more: HTMLElement[]): void {
  const way = url ? [backLink(url, texts.return_link)] : [];
  const coded = code ? [codeElement(code)] : [];
  showMessage([...paragraphs(texts.debriefing), ...(code ? [texts.your_code] : [])], ...coded, ...way, ...more);
}

async function openSession(exported: ExportedStudy, host: Host, who: Person | null, memory: SessionMemory): Promise<StoredSession> {
  const known = memory.get();
  if (known && exported.lists.some(({ sha256 }) => sha256 === known.session.list_sha256)) return known;
  const id = `s-${randomHex(8)}`;
  const { assignment, by } = await host.assign(id);
  const [index, slot, order] = exported.assignments[assignment] as ExportedStudy["assignments"][number];
  const list = exported.lists[index] as ExportedList;
  const test = host.parameters.get("source") === "robot" || host.parameters.has("simulate");
  const session: Session = {
    ...{ id, participant: who?.id ?? `p-${randomHex(8)}`, list_name: list.name, slot, order },
    ...{ list_sha256: list.sha256, procedure_sha256: list.procedure_sha256 },
    ...{ started: currentTime(), finished: null, source: test ? "robot" : host.source },
  };
  const stored = { session, assignment, by };
  memory.set(stored);
  return { ...stored, until: Infinity };
}

const findList = ({ lists }: ExportedStudy, session: Session): ExportedList =>
  lists.find(({ sha256 }) => sha256 === session.list_sha256) as ExportedList;

async function main(): Promise<void> {
  startKeys();
  try {
    const exported = window.gardenpathStudy;
    const { study, online } = exported;
    const { language, direction, texts } = (exported.lists[0] as ExportedList).script;
    document.documentElement.lang = language;
    document.documentElement.dir = direction;
    document.title = study.title;
    const host = window.jatos ? await jatosHost(window.jatos, exported) : folderHost(exported, () => showMessage([texts.error]));
    const who = readPerson(host.parameters);
    const known = who ? `${who.platform} ${who.id}` : host.run;
    const memory = new SessionMemory(
      `${study.name} ${known ?? window.location.search}`,
      () => (known ? window.localStorage : window.sessionStorage),
      online.resume_hours,
    );
    const stored = await openSession(exported, host, who, memory);
    if (stored.session.finished) return showComplete(findList(exported, stored.session).script, buildEnding(exported, who, "finished"));
    const { id } = stored.session;
    if (!(await isOnlyPage(id))) {
      showMessage(buildEnding(exported, who, "open_elsewhere").text);
      while (!(await isOnlyPage(id))) await sleep(2000);
      return window.location.reload(); // the other page has gone on with it
    }
    const name = `gardenpath export ${study.name}`;
    const journals = {
      events: await openJournal<Event>(id, online.resume_hours, name),
      rows: await openJournal<Row>(`${id} rows`, online.resume_hours, name),
    };
    await new Page(exported, who, host, memory, stored, journals).run(host.parameters.get("simulate"));
  } catch (error) {
    console.error(error);
    showMessage([error instanceof Error ? error.message : String(error)]);
  }
}

void main();
