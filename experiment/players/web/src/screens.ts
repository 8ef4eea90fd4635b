// Made from ../../../sessions/screens.schema.json by build.mjs: change experiment/sessions/session_schema.py or study/screens.py, not this.

export type Screen = Text | Words | Whole | Answers | Slider | Entry | Form | WordPairs;
export type Outcome =
  | "continued"
  | "read"
  | "answered"
  | "right"
  | "wrong"
  | "timeout"
  | "interrupted"
  | "accepted"
  | "declined"
  | "unsuitable"
  | "screened_out";
export type Above = Nothing | Passage | Stimulus;
/**
 * One thing that happened in a session: numbered by seq over the whole session; t is ms on the clock of one visit (one loading of the page, one start of the lab program).
 */
export type Event =
  VisitEvent | BeganEvent | WordEndedEvent | EndedEvent | IgnoredEvent | InterruptionEvent | DoneEvent | OverEvent;

/**
 * What a session shows (script) and what it leaves behind (events).
 */
export interface Session {
  script: Script;
  events: Event[];
}
/**
 * All that a list's sessions show, position-free: a session is the front steps, the trials in its order with the interludes
 * between them, and the end steps, numbered from 0.
 *
 * Nothing is recorded before the step `consent` (its number) has ended. `texts` are what players say outside of screens; `lab`
 * holds those of the lab.
 */
export interface Script {
  language: string;
  direction: "ltr" | "rtl";
  device: DeviceSection;
  consent: number | null;
  front: Step[];
  trials: Step[];
  interludes: Interlude[];
  end: Step[];
  texts: {
    enlarge: string;
    no_larger: string;
    continue: string;
    go_on: string;
    interrupted: string;
    debriefing: string;
    your_code: string;
    return_link: string;
    saving: string;
    error: string;
    stopped: string;
    keep_file: string;
    withdraw: string;
    withdraw_question: string;
    withdraw_yes: string;
    withdraw_no: string;
    preview: string;
  };
  lab: {
    screened_out: string;
    stop_question: string;
    stop_yes: string;
    stopped_here: string;
    finished: string;
    enter: string;
    choose_and_enter: string;
  };
  display: DisplaySection;
  assets: Asset[];
}
/**
 * What a participant's machine must have; others are told so before anything else, and nothing of them is stored.
 */
export interface DeviceSection {
  min_width: number;
  min_height: number;
  keyboard: boolean;
}
/**
 * What is resumed as a whole: a page, or a trial. `trial` is its number among the list's trials, None for a page.
 */
export interface Step {
  name: string;
  screens: Screen[];
  trial: number | null;
  block: string;
  when: Share | null;
}
/**
 * A page of paragraphs, plain text; the first button is the one to go on with, by the space bar where `space` holds.
 *
 * `aside` is a button that leads out and stands apart; `lab` are the paragraphs that a lab shows instead, where they differ.
 */
export interface Text {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  paragraphs: string[];
  heading: string;
  buttons: Button[];
  aside: Button | null;
  space: boolean;
  lab: string[] | null;
  kind: "text";
}
/**
 * Show a screen only where an earlier one of its step ended so; a screen that was not shown did not end.
 */
export interface After {
  screen: number;
  outcomes: Outcome[];
}
/**
 * Where an outcome leads if not to the next screen: past the rest of the step (`skip`), or out of the study by an ending.
 */
export interface Exit {
  outcome: Outcome;
  to: string;
}
/**
 * A button of a page and the outcome that it gives.
 */
export interface Button {
  label: string;
  outcome: Outcome;
}
/**
 * A sentence word by word: the space bar shows each next word, or time does where there is a `pace`.
 *
 * `gaps` stand between the words: a space each, or nothing. `breaks` are the words, by number, that begin a further line, where
 * the sentence stands on lines. `reminder` is said after a key that takes nobody on.
 */
export interface Words {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  words: string[];
  gaps: string[];
  arrangement: "centred" | "moving_window" | "cumulative";
  fixation: string;
  hint: string;
  reminder: string;
  pace: Pace | null;
  breaks: number[];
  sentence: number;
  kind: "words";
}
/**
 * Timed presentation: how long each word stands and how long nothing stands after it, ms; frames are round(ms x Hz / 1000).
 */
export interface Pace {
  word: number;
  pause: number;
}
/**
 * A text that is read at once; `sentence` says which of the trial's sentences it is, None for a context.
 */
export interface Whole {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  text: string;
  hint: string;
  sentence: number | null;
  kind: "whole";
}
/**
 * A choice of answers: the `points` of a scale with two labelled ends, short ones in a `row`, or both sentences of a pair.
 */
export interface Answers {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  prompt: string;
  above: Above;
  deadline: number | null;
  right: (string | number)[];
  is_judged_by_player: boolean;
  answers: Answer[];
  arrangement: "points" | "row" | "pair" | "stacked_pair";
  low: string;
  high: string;
  kind: "answers";
}
/**
 * Nothing stands above a prompt.
 */
export interface Nothing {
  kind: "nothing";
}
/**
 * A text that stands above a prompt.
 */
export interface Passage {
  text: string;
  kind: "text";
}
/**
 * A sentence of the trial that stands above a prompt, by its number among those shown.
 */
export interface Stimulus {
  text: string;
  sentence: number;
  kind: "sentence";
}
/**
 * One of several answers: what it says, what is recorded, its keys and the side on which it stands.
 *
 * A key is a code of a keyboard's place ("KeyF", "ArrowLeft"), or a digit, whichever key of the layout types it.
 */
export interface Answer {
  label: string;
  value: string | number;
  keys: string[];
  side: ("left" | "right" | "upper" | "lower") | null;
}
/**
 * A slider over whole numbers, which has to be moved before one can go on; the lab has a hint of its own.
 */
export interface Slider {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  prompt: string;
  above: Above;
  deadline: number | null;
  right: (string | number)[];
  is_judged_by_player: boolean;
  low: string;
  high: string;
  least: number;
  most: number;
  hint: string;
  lab_hint: string;
  button: string;
  kind: "slider";
}
/**
 * A text that is typed, ended by Enter or by a button; an empty one is asked for again with `missing`, and with `not_positive`,
 * where that says something, one that is no number above 0 in digits, with a point before decimals.
 */
export interface Entry {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  prompt: string;
  above: Above;
  deadline: number | null;
  right: (string | number)[];
  is_judged_by_player: boolean;
  button: string;
  missing: string;
  not_positive: string;
  longest: number;
  kind: "entry";
}
/**
 * Questions about the participant: what is wrong with an answer is said with `missing` or `no_number` ({low}, {high}).
 *
 * One that can end with `screened_out` decides who takes part: by the answers that are `accepted` of each field, which leave the
 * server only where the player has to judge.
 */
export interface Form {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  heading: string;
  note: string;
  fields: FieldSection[];
  button: string;
  missing: string;
  no_number: string;
  accepted: {
    [k: string]: string[];
  };
  kind: "form";
}
/**
 * A question about the participant, asked after the last sentence: a short text, a number, or a choice.
 *
 * >>> FieldSection("hand", "Which hand do you write with?", "choice", ["left", "right"]).required
 * False
 */
export interface FieldSection {
  name: string;
  label: string;
  kind: string;
  choices: string[];
  min: number | null;
  max: number | null;
  required: boolean;
}
/**
 * Maze: two words side by side, of which one goes on with the sentence. It ends right where no wrong word was chosen.
 *
 * After a wrong choice the screen ends (`redo` False), or `error` is shown and the right choice goes on, once the keys have been
 * dead for `delay` ms; then `again` is shown.
 */
export interface WordPairs {
  name: string;
  task: string;
  when: After | null;
  exits: Exit[];
  pairs: Pair[];
  hint: string;
  redo: boolean;
  delay: number;
  error: string;
  again: string;
  sentence: number;
  kind: "word_pairs";
}
/**
 * A word and its alternative; `side` is where the word stands.
 */
export interface Pair {
  word: string;
  alternative: string;
  side: "left" | "right";
}
/**
 * Run a step only where the share of judged screens that ended right over a block lies below `below`.
 *
 * A block of which nothing was judged has the share 0; one that did not run leads to no further round.
 */
export interface Share {
  block: string;
  below: number;
}
/**
 * Steps that come before the trial at presented position `before`.
 */
export interface Interlude {
  before: number;
  steps: Step[];
}
/**
 * How sentences are set: their font, the largest and the smallest size of letters (px), and how many letters a line holds.
 *
 * >>> DisplaySection(font_size=28).min_font_size
 * 16.0
 */
export interface DisplaySection {
  font: string | null;
  font_size: number | null;
  min_font_size: number;
  line_width: number | null;
}
/**
 * A file that screens show, by name and hash.
 */
export interface Asset {
  name: string;
  sha256: string;
}
export interface VisitEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "visit";
  step: null;
  screen: null;
  value: Visit;
}
/**
 * The machine, in the first event of each visit; `time_origin` is ms since 1970 at t = 0, `timer_ms` the clock's smallest step.
 *
 * `monitor`, `full_screen`, `font` and `software` (versions by name) come from the lab.
 */
export interface Visit {
  time_origin: number;
  device: string;
  refresh_hz: number | null;
  timer_ms: number | null;
  width: number | null;
  height: number | null;
  pixel_ratio: number | null;
  isolated: boolean | null;
  keyboard: boolean | null;
  monitor: string | null;
  full_screen: boolean | null;
  font: string | null;
  software: {
    [k: string]: string;
  };
}
export interface BeganEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "begin";
  step: number;
  screen: null;
  value: Began;
}
/**
 * A step begins.
 */
export interface Began {}
export interface WordEndedEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "word";
  step: number;
  screen: number;
  value: WordEnded;
}
/**
 * The display of a word, or of what stands before the first (-1), ended at the event's t; without a press, by time.
 *
 * `line` and `column` are its position where sentences stand on lines; in Maze `correct` says whether the first choice was right,
 * and `first` when it was made, ms.
 */
export interface WordEnded {
  word: number;
  line: number | null;
  column: number | null;
  display: Display;
  press: Press | null;
  correct: boolean | null;
  first: number | null;
}
/**
 * When a display was asked for, the frame that painted it and the frame after that, ms; null where it has not come.
 */
export interface Display {
  request: number;
  frame: number | null;
  frame2: number | null;
}
/**
 * How a display was ended: `handler` is when the program saw it, `repeats` how many auto-repeats of a held key were ignored,
 * `released` when the press before was let go (null where it was not), `trusted` whether it came from a person's device.
 */
export interface Press {
  by: "key" | "button" | "touch";
  handler: number;
  repeats: number | null;
  released: number | null;
  trusted: boolean | null;
}
export interface EndedEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "outcome";
  step: number;
  screen: number;
  value: Ended;
}
/**
 * A screen ended with an outcome at the event's t; without a display where words had displays of their own.
 *
 * `answer` is what was answered (of a form, its answers by name); `side` is where the chosen answer stood; `first` is when the
 * first key of a typed answer came, ms; `pasted` is how often text was pasted.
 */
export interface Ended {
  outcome: Outcome;
  answer:
    | string
    | number
    | {
        [k: string]: string | number;
      }
    | null;
  side: ("left" | "right" | "upper" | "lower") | null;
  display: Display | null;
  press: Press | null;
  first: number | null;
  pasted: number | null;
}
export interface IgnoredEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "press";
  step: number | null;
  screen: number | null;
  value: Ignored;
}
/**
 * A key press that ended nothing.
 */
export interface Ignored {
  reason: "early" | "held" | "repeat" | "modifier" | "other";
  code: string;
}
export interface InterruptionEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "interruption";
  step: number | null;
  screen: number | null;
  value: Interruption;
}
/**
 * The window was left or came back, or changed; `escape`: in the lab, the question whether to stop.
 */
export interface Interruption {
  reason: "blur" | "focus" | "hidden" | "visible" | "resize" | "escape";
}
export interface DoneEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "done";
  step: number;
  screen: null;
  value: Done;
}
/**
 * A step is done; `dropped_frames` came late while its sentences were read, null where that is not known.
 */
export interface Done {
  dropped_frames: number | null;
}
export interface OverEvent {
  seq: number;
  visit: number;
  t: number;
  kind: "end";
  step: null;
  screen: null;
  value: Over;
}
/**
 * The session is over.
 */
export interface Over {}
