// A screen of each kind.

import type { Screen } from "../src/screens";

const shared = { name: "n", task: "t", when: null, exits: [] };
const asked = { prompt: "?", above: { kind: "nothing" as const }, deadline: null, right: [], is_judged_by_player: false };
const answer = (value: number) => ({ label: String(value), value, keys: [String(value)], side: null });
const sided = (value: string, side: "left" | "right", key: string) => ({ label: `The ${value} one.`, value, keys: [key], side });

const words = { kind: "words" as const, ...shared, words: ["One", "two", "three."], gaps: [" ", " "], sentence: 0 };
const plain = { arrangement: "centred" as const, fixation: "+", hint: "", reminder: "", pace: null, breaks: [] };
const page = { kind: "text" as const, ...shared, paragraphs: ["One."], heading: "", aside: null, space: true, lab: null };
const answers = { kind: "answers" as const, ...shared, ...asked, low: "", high: "" };

export const screens = {
  text: { ...page, buttons: [{ label: "Go", outcome: "accepted" }] },
  bare: { ...page, buttons: [], aside: { label: "No", outcome: "unsuitable" } },
  words: { ...words, ...plain },
  timed: { ...words, ...plain, words: ["One", "two."], gaps: [" "], pace: { word: 200, pause: 100 } },
  whole: { kind: "whole", ...shared, text: "One two three.", hint: "", sentence: 0 },
  points: { ...answers, answers: [1, 2, 3, 4, 5].map(answer), arrangement: "points", low: "bad", high: "good" },
  pair: { ...answers, answers: [sided("good", "right", "KeyJ"), sided("bad", "left", "KeyF")], arrangement: "pair" },
  told: { ...answers, answers: [1, 2].map(answer), arrangement: "row", right: [1], is_judged_by_player: true, deadline: 200 },
  slider: { kind: "slider", ...shared, ...asked, low: "bad", high: "good", least: 0, most: 100, hint: "", lab_hint: "", button: "Go" },
  entry: { kind: "entry", ...shared, ...asked, button: "Go", missing: "Type.", not_positive: "", longest: 4 },
  form: {
    ...{ kind: "form", ...shared, heading: "You", note: "", button: "Go", missing: "!", no_number: "{low} to {high}", accepted: {} },
    fields: [{ name: "hand", label: "Hand", kind: "choice", choices: ["left", "right"], min: null, max: null, required: true }],
  },
  maze: {
    ...{ kind: "word_pairs", ...shared, hint: "", redo: false, delay: 0, error: "", again: "", sentence: 0 },
    pairs: [
      { word: "The", alternative: "x-x-x", side: "left" },
      { word: "dog", alternative: "of", side: "right" },
    ],
  },
} satisfies Record<string, Screen>;
