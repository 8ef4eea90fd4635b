// A jsPsych plugin for each kind of screen: what they have in common, from the parameters to the event that ends them.

import { type JsPsych, type JsPsychPlugin, ParameterType, type PluginInfo, type TrialType } from "jspsych";

import { button } from "./dom";
import { type Press as Pressed, type Verdict, keyName } from "./guards";
import { setListener, runUncovered, lastRelease } from "./keys";
import type { EventValues } from "./recorder";
import type { Display, Ended, Form, Outcome, Press, Screen, WordEnded } from "./screens";

/** What a screen says of itself: how its displays and it itself ended, and which presses ended nothing. */
export type RecordEvent = <Kind extends "word" | "outcome" | "press">(kind: Kind, t: number, value: EventValues[Kind]) => void;

export type FormAnswers = Record<string, string | number>;
/** Decides by the answers of a form who takes part; `say` shows what keeps it from deciding. */
export type Judge = (screen: Form, answers: FormAnswers, say: (text: string) => void) => Promise<"accepted" | "screened_out">;

/** The judge where there is no server. */
export const judgeLocally: Judge = ({ accepted }, answers) =>
  Promise.resolve(Object.entries(accepted).every(([name, right]) => right.includes(String(answers[name]))) ? "accepted" : "screened_out");

const PARAMETERS = {
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
  judge: { type: ParameterType.FUNCTION, default: judgeLocally },
} as const;

const DATA = {
  /** How the screen ended. */
  outcome: { type: ParameterType.STRING },
  /** The answer, null where none was given or asked for; of a form its answers by name. */
  response: { type: ParameterType.COMPLEX },
  /** ms from the frame that painted the screen to its end; of words a list, from press to press. */
  rt: { type: ParameterType.COMPLEX },
} as const;

interface Info extends PluginInfo {
  parameters: typeof PARAMETERS;
  data: Record<string, { type: ParameterType }>;
}
export type TrialParameters = Required<TrialType<Info>>;

// jsPsych 8.3 uses these two types in its contract of a plugin, but does not export them.
type Simulation = Parameters<NonNullable<JsPsychPlugin<PluginInfo>["simulate"]>>;
export type SimulationMode = Simulation[1];
export type SimulationOptions = Simulation[2];

/** A screen that is shown. */
export interface ShownScreen<Kind extends Screen> {
  screen: Kind;
  display: HTMLElement;
  direction: "ltr" | "rtl";
  record: RecordEvent;
  judge: Judge;
  hz(): number;
  /** the button that leads out of the study, where there is one */
  exitButtons: HTMLElement[];
  /** Ends the screen, once: says so, and goes on as soon as nothing covers the page. */
  end(outcome: Outcome, t: number, value?: Partial<Ended>, more?: object): void;
}

/** What somebody does on a screen, ms from when it is shown, or the press before: of words one for each display. */
export interface SimulatedResponse {
  outcome: Outcome;
  answer: Ended["answer"];
  ms: number[];
  /** more of its data */
  more?: object;
}

export type Random = Pick<JsPsych["randomization"], "randomInt" | "sampleExGaussian">;

/** Hands on the page, for simulations that can be watched. */
export interface SimulatedHands {
  click(target: Element | null | undefined, ms: number): void;
  press(code: string, ms: number): void;
}

/** What the page knows of a kind of screen. */
export interface ScreenKind<One extends Screen> {
  kind: One["kind"];
  /** what its data have beside outcome, response and rt */
  data?: Record<string, { type: ParameterType }>;
  show(shown: ShownScreen<One>): void;
  /** Draws what somebody might do. */
  drawResponse(screen: One, random: Random): SimulatedResponse;
  /** Does it. */
  perform(display: HTMLElement, screen: One, response: SimulatedResponse, hands: SimulatedHands): void;
}

export const EMPTY_RESPONSE: Omit<Ended, "outcome"> = { answer: null, side: null, display: null, press: null, first: null, pasted: null };

/** The plugin of a kind of screen. */
export function definePlugin<One extends Screen>(made: ScreenKind<One>) {
  return class implements JsPsychPlugin<Info> {
    static kind = made;
    static info: Info = { name: `gardenpath-${made.kind.replace("_", "-")}`, version: "1.0.0", parameters: PARAMETERS, data: { ...DATA, ...made.data } };

    constructor(readonly jsPsych: JsPsych) {}

    trial(display: HTMLElement, trial: TrialParameters): void {
      const record = trial.record as RecordEvent;
      let open = true;
      made.show({
        ...{ screen: trial.screen as One, display, direction: trial.direction as "ltr" | "rtl", record, hz: trial.hz, judge: trial.judge as Judge },
        exitButtons: trial.way_out ? [button("quiet", trial.way_out, () => trial.leave())] : [],
        end: (outcome, t, value = {}, more = {}) => {
          if (!open) return;
          open = false;
          setListener(null);
          record("outcome", t, { outcome, ...EMPTY_RESPONSE, ...value });
          const onset = value.display?.frame ?? value.display?.request;
          const rt = onset === undefined || outcome === "timeout" ? null : t - onset;
          runUncovered(() => this.jsPsych.finishTrial({ outcome, response: value.answer ?? null, rt, ...more }));
        },
      });
    }

    simulate(trial: TrialParameters, mode: SimulationMode, options: SimulationOptions, onLoad: () => void): void {
      const screen = trial.screen as One;
      const simulated: SimulatedResponse = { ...made.drawResponse(screen, this.jsPsych.randomization), ...options.data };
      onLoad();
      if (mode === "data-only") {
        const rt = recordSimulated(screen, simulated, trial.record as RecordEvent);
        return this.jsPsych.finishTrial({ outcome: simulated.outcome, response: simulated.answer, rt, ...simulated.more });
      }
      const display = this.jsPsych.getDisplayElement();
      this.trial(display, trial);
      const { pluginAPI } = this.jsPsych;
      const press = (code: string): void => {
        const key = code === "Space" ? " " : code;
        for (const type of ["keydown", "keyup"]) window.dispatchEvent(new KeyboardEvent(type, { code, key }));
      };
      made.perform(display, screen, simulated, {
        click: (target, ms) => target && pluginAPI.clickTarget(target, ms),
        press: (code, ms) => void pluginAPI.setTimeout(() => press(code), ms),
      });
    }
  };
}

export type Plugin = ReturnType<typeof definePlugin>;

/** Says what an act that nobody saw leaves behind, and returns its rt. */
export function recordSimulated(screen: Screen, { outcome, answer, ms }: SimulatedResponse, record: RecordEvent): number | number[] | null {
  let t = performance.now();
  const ended = (wait: number): { display: Display; press: Press } => {
    const display = { request: t, frame: t, frame2: null };
    t += wait;
    return { display, press: { by: "key", handler: t, repeats: 0, released: null, trusted: false } };
  };
  if (screen.kind !== "words" && screen.kind !== "word_pairs") {
    const side = screen.kind === "answers" ? (screen.answers.find(({ value }) => value === answer)?.side ?? null) : null;
    const first = screen.kind === "entry" ? t + (ms[0] as number) / 2 : null;
    const value = { outcome, ...EMPTY_RESPONSE, answer, side, first, ...ended(ms[0] as number) };
    record("outcome", t, { ...value, pasted: screen.kind === "entry" ? 0 : null });
    return ms[0] as number;
  }
  ms.forEach((wait, n) => {
    const chosen = screen.kind === "word_pairs" && n > 0;
    const value: WordEnded = { word: n - 1, line: null, column: null, ...ended(wait), correct: chosen || null, first: chosen ? t : null };
    record("word", t, value);
  });
  record("outcome", t, { outcome, ...EMPTY_RESPONSE });
  return ms.slice(1);
}

/** A key press as it stands in the event of the display that it ended. */
const keyPress = ({ handler, released, trusted }: Pressed, repeats: number): Press => ({ by: "key", handler, repeats, released, trusted });

/** A click, as by a mouse, a finger, or a key on a button that has the focus. */
export function clickPress(event: MouseEvent, repeats = 0): Press {
  const touch = event instanceof PointerEvent && event.pointerType === "touch";
  return { by: touch ? "touch" : "button", handler: performance.now(), repeats, released: lastRelease(), trusted: event.isTrusted };
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
export function waitForKeys(record: RecordEvent, { painted, wants, accepted, ignored, silent, left }: Wait): () => number {
  let repeats = 0;
  setListener({
    exclusive: true,
    frame: () => painted().frame,
    wants,
    ...(left && { left }),
    accepted: (press) => {
      const counted = repeats;
      repeats = 0;
      accepted(press.t, keyPress(press, counted), press);
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
export const copyDisplay = (display: Display): Display => ({ ...display });
