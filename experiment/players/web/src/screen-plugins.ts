// The plugin of each kind of screen.

import { Answers } from "./answers";
import { Entry } from "./entry";
import { Form } from "./form";
import type { Plugin } from "./plugin";
import type { Screen } from "./screens";
import { Slider } from "./slider";
import { Text } from "./text";
import { Whole } from "./whole";
import { WordPairs } from "./word-pairs";
import { Words } from "./words";

export const plugins: Record<Screen["kind"], Plugin> = {
  text: Text,
  words: Words,
  whole: Whole,
  answers: Answers,
  slider: Slider,
  entry: Entry,
  form: Form,
  word_pairs: WordPairs,
};
