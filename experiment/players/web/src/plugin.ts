// A jsPsych plugin for each kind of screen: what they have in common, from the parameters to the event that ends them.

import { type JsPsych, type JsPsychPlugin, ParameterType, type PluginInfo, type TrialType } from "jspsych";

import { button } from "./dom";
import { type Press as Pressed, type Verdict, keyName } from "./guards";
import { listen, onceUncovered, released } from "./keys";
import type { Values } from "./recorder";
import type { Display, Ended, Form, Outcome, Press, Screen, WordEnded } from "./screens";

/** What a screen says of itself: how its displays and it itself ended, and which presses ended nothing. */
export type Tell = <Kind extends "word" | "outcome" | "press">(kind: Kind, t: number, value: Values[Kind]) => void;

export type Answered = Record<string, string | number>;
/** Decides by the answers of a form who takes part; `say` shows what keeps it from deciding. */
export type Judge = (screen: Form, answers: Answered, say: (text: string) => void) => Promise<"accepted" | "screened_out">;

/** The judge where there is no server. */
export const judgeHere: Judge = ({ accepted }, answers) =>
  Promise.resolve(Object.entries(accepted).every(([name, right]) => right.includes(String(answers[name]))) ? "accepted" : "screened_out");

const parameters = {
  /** The screen (experiment/sessions/screens.schema.json). */
  screen: { type: ParameterType.OBJECT, default: undefined },
  /** Reading direction, "ltr" or "rtl". */
  direction: { type: ParameterType.STRING, default: "ltr" },
  /** Receives each event of the screen: (kind, t, value). */
  record: { type: ParameterType.FUNCTION, default: () => {} },
  /** Says how many frames a second the display has. */
  hz: { type: ParameterType.FUNCTION, default: () => 60 },
  /** Label and action of a way out of the study; none when the label is empty. */
  way_out: { type: ParameterType.STRING, default: "" },
  leave: { type: ParameterType.FUNCTION, default: () => {} },
  /** Decides by the answers of a form who takes part: (screen, answers, say) to a promise of the outcome. */
  judge: { type: ParameterType.FUNCTION, default: judgeHere },
} as const;

const data = {
  /** How the screen ended. */
  outcome: { type: ParameterType.STRING },
  /** The answer, null where none was given or asked for; of a form its answers by name. */
  response: { type: ParameterType.COMPLEX },
  /** ms from the frame that painted the screen to its end; of words a list, from press to press. */
  rt: { type: ParameterType.COMPLEX },
} as const;

interface Info extends PluginInfo {
  parameters: typeof parameters;
  data: Record<string, { type: ParameterType }>;
}
export type Given = Required<TrialType<Info>>;

// jsPsych 8.3 uses these two types in its contract of a plugin, but does not export them.
type Simulation = Parameters<NonNullable<JsPsychPlugin<PluginInfo>["simulate"]>>;
export type SimulationMode = Simulation[1];
export type SimulationOptions = Simulation[2];

/** A screen that is shown. */
export interface Shown<Kind extends Screen> {
  screen: Kind;
  display: HTMLElement;
  direction: "ltr" | "rtl";
  record: Tell;
  judge: Judge;
  hz(): number;
  /** the button that leads out of the study, where there is one */
  wayOut: HTMLElement[];
  /** Ends the screen, once: says so, and goes on as soon as nothing covers the page. */
  end(outcome: Outcome, t: number, value?: Partial<Ended>, more?: object): void;
}

/** What somebody does on a screen, ms from when it is shown, or the press before: of words one for each display. */
export interface Act {
  outcome: Outcome;
  answer: Ended["answer"];
  ms: number[];
  /** more of its data */
  more?: object;
}

export type Random = Pick<JsPsych["randomization"], "randomInt" | "sampleExGaussian">;

/** Hands on the page, for simulations that can be watched. */
export interface Hands {
  click(target: Element | null | undefined, ms: number): void;
  press(code: string, ms: number): void;
}

/** What the page knows of a kind of screen. */
export interface Kind<One extends Screen> {
  kind: One["kind"];
  /** what its data have beside outcome, response and rt */
  data?: Record<string, { type: ParameterType }>;
  show(shown: Shown<One>): void;
  /** Draws what somebody might do. */
  draw(screen: One, random: Random): Act;
  /** Does it. */
  act(display: HTMLElement, screen: One, act: Act, hands: Hands): void;
}

export const nothing: Omit<Ended, "outcome"> = { answer: null, side: null, display: null, press: null, first: null, pasted: null };

/** The plugin of a kind of screen. */
export function plugin<One extends Screen>(made: Kind<One>) {
  return class implements JsPsychPlugin<Info> {
    static kind = made;
    static info: Info = { name: `gardenpath-${made.kind.replace("_", "-")}`, version: "1.0.0", parameters, data: { ...data, ...made.data } };

    constructor(readonly jsPsych: JsPsych) {}

    trial(display: HTMLElement, trial: Given): void {
      const record = trial.record as Tell;
      let open = true;
      made.show({
        ...{ screen: trial.screen as One, display, direction: trial.direction as "ltr" | "rtl", record, hz: trial.hz, judge: trial.judge as Judge },
        wayOut: trial.way_out ? [button("quiet", trial.way_out, () => trial.leave())] : [],
        end: (outcome, t, value = {}, more = {}) => {
          if (!open) return;
          open = false;
          listen(null);
          record("outcome", t, { outcome, ...nothing, ...value });
          const onset = value.display?.frame ?? value.display?.request;
          const rt = onset === undefined || outcome === "timeout" ? null : t - onset;
          onceUncovered(() => this.jsPsych.finishTrial({ outcome, response: value.answer ?? null, rt, ...more }));
        },
      });
    }

    simulate(trial: Given, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
      const screen = trial.screen as One;
      const act: Act = { ...made.draw(screen, this.jsPsych.randomization), ...options.data };
      onLoad();
      if (mode === "data-only") {
        const rt = tell(screen, act, trial.record as Tell);
        return this.jsPsych.finishTrial({ outcome: act.outcome, response: act.answer, rt, ...act.more });
      }
      const display = this.jsPsych.getDisplayElement();
      this.trial(display, trial);
      const { pluginAPI } = this.jsPsych;
      const press = (code: string): void => {
        const key = code === "Space" ? " " : code;
        for (const type of ["keydown", "keyup"]) window.dispatchEvent(new KeyboardEvent(type, { code, key }));
      };
      made.act(display, screen, act, {
        click: (target, ms) => target && pluginAPI.clickTarget(target, ms),
        press: (code, ms) => void pluginAPI.setTimeout(() => press(code), ms),
      });
    }
  };
}

export type Plugin = ReturnType<typeof plugin>;

/** Says what an act that nobody saw leaves behind, and returns its rt. */
export function tell(screen: Screen, { outcome, answer, ms }: Act, record: Tell): number | number[] | null {
  let t = performance.now();
  const ended = (wait: number): { display: Display; press: Press } => {
    const display = { request: t, frame: t, frame2: null };
    t += wait;
    return { display, press: { by: "key", handler: t, repeats: 0, released: null, trusted: false } };
  };
  if (screen.kind !== "words" && screen.kind !== "word_pairs") {
    const side = screen.kind === "answers" ? (screen.answers.find(({ value }) => value === answer)?.side ?? null) : null;
    const first = screen.kind === "entry" ? t + (ms[0] as number) / 2 : null;
    const value = { outcome, ...nothing, answer, side, first, ...ended(ms[0] as number) };
    record("outcome", t, { ...value, pasted: screen.kind === "entry" ? 0 : null });
    return ms[0] as number;
  }
  ms.forEach((wait, n) => {
    const chosen = screen.kind === "word_pairs" && n > 0;
    const value: WordEnded = { word: n - 1, line: null, column: null, ...ended(wait), correct: chosen || null, first: chosen ? t : null };
    record("word", t, value);
  });
  record("outcome", t, { outcome, ...nothing });
  return ms.slice(1);
}

/** A key press as it stands in the event of the display that it ended. */
const byKey = ({ handler, released, trusted }: Pressed, repeats: number): Press => ({ by: "key", handler, repeats, released, trusted });

/** A click, as by a mouse, a finger, or a key on a button that has the focus. */
export function byButton(event: MouseEvent, repeats = 0): Press {
  const touch = event instanceof PointerEvent && event.pointerType === "touch";
  return { by: touch ? "touch" : "button", handler: performance.now(), repeats, released: released(), trusted: event.isTrusted };
}

/** Which keys a display waits for. */
export interface Wait {
  painted: () => Display;
  wants(press: Pressed): boolean;
  accepted(t: number, press: Press, key: Pressed): void;
  /** called for each other press, which is recorded */
  ignored?(reason: Exclude<Verdict, "accept" | "repeat">, press: Pressed): void;
  /** whether a press that ended nothing is passed over in silence */
  silent?(press: Pressed): boolean;
  /** called when the window is left */
  left?(t: number): void;
}

/** Waits for keys in a screen of a trial; returns how many auto-repeats came since the last press that counted. */
export function waitForKeys(record: Tell, { painted, wants, accepted, ignored, silent, left }: Wait): () => number {
  let repeats = 0;
  listen({
    exclusive: true,
    frame: () => painted().frame,
    wants,
    ...(left && { left }),
    accepted: (press) => {
      const counted = repeats;
      repeats = 0;
      accepted(press.t, byKey(press, counted), press);
    },
    ignored: (press, reason) => {
      if (reason === "repeat") repeats += 1;
      else {
        if (!silent?.(press)) record("press", press.t, { reason, code: keyName(press) });
        ignored?.(reason, press);
      }
    },
  });
  return () => repeats;
}

/** `display` as it stands now: its second frame may still come. */
export const now = (display: Display): Display => ({ ...display });
