// Which tab this is: a reload is the same one, a second one is another, and a study runs in one at a time.
// What is kept is kept by study, whose id the server writes into the page: several studies may have one origin.

const findStudy = (): string => document.querySelector('meta[name="gardenpath-study"]')?.getAttribute("content") ?? "";
const TAB = "tab";
const RESUME = "resume";

const storageKey = (what: string): string => `gardenpath ${findStudy()} ${what}`;
/** What the key was before it named the study: read where there is none yet, by pages that an upgrade has changed. */
const sharedKey = (what: string): string => `gardenpath ${what}`;

const randomToken = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Storage may be switched off in the browser; then nothing is remembered. */
function readStorage(storage: () => Storage, what: string): string | null {
  try {
    return storage().getItem(storageKey(what)) ?? storage().getItem(sharedKey(what));
  } catch {
    return null;
  }
}

function writeStorage(storage: () => Storage, what: string, value: string | null): void {
  if (value === null) {
    removeItem(storage, storageKey(what));
    return;
  }
  try {
    storage().setItem(storageKey(what), value);
  } catch {
    // it is then asked for anew
  }
}

function removeItem(storage: () => Storage, key: string): void {
  try {
    storage().removeItem(key);
  } catch {
    // nothing was kept
  }
}

const localStore = (): Storage => window.localStorage;
const sessionStore = (): Storage => window.sessionStorage;

let isAloneAnswer: boolean | null = null;

/** Whether no other tab of this browser has this address open; held until the page goes. Null where browsers cannot say. */
export async function isAlone(): Promise<boolean | null> {
  if (!navigator.locks || isAloneAnswer) return isAloneAnswer;
  isAloneAnswer = await new Promise<boolean>((answer) => {
    const name = `gardenpath ${findStudy()} ${window.location.pathname}${window.location.search}`;
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      answer(lock !== null);
      return lock ? new Promise<never>(() => {}) : undefined;
    });
  });
  return isAloneAnswer;
}

/** The name of this tab. One that crashed is taken over at once by the next tab of this browser, an open one never. */
export async function findTabName(): Promise<string> {
  const only = await isAlone();
  if (only === false) return randomToken(); // also for a duplicated tab, which has the session storage of the first
  const storage = only ? localStore : sessionStore;
  const name = readStorage(storage, TAB) ?? randomToken();
  writeStorage(storage, TAB, name);
  return name;
}

/** What stands for a visitor without any id, by which this browser is known again; null where there is none, or it is too old. */
export function readResumeToken(now = Date.now()): string | null {
  const [until, token] = (readStorage(localStore, RESUME) ?? "").split(" ");
  return token && Number(until) > now ? token : null;
}

export function storeResumeToken(token: string | null, hours: number, now = Date.now()): void {
  writeStorage(localStore, RESUME, token && `${now + hours * 3_600_000} ${token}`);
}

/** Forgets which tab this is, and who came. */
export function forgetTab(): void {
  for (const storage of [localStore, sessionStore]) {
    for (const what of [TAB, RESUME]) {
      writeStorage(storage, what, null);
      removeItem(storage, sharedKey(what));
    }
  }
}
