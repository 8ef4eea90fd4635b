"""Maze (Forster, Guerrera & Elliot 2009, doi 10.3758/BRM.41.1.163; Boyce, Futrell & Levy 2020, doi 10.1016/j.jml.2019.104082): two
words stand side by side, one goes on with the sentence, and the time to the right choice is the measure.

The other word is the sentence's alternative; the first word stands beside x-x-x. On which side a word stands is drawn, half of a
sentence's words on each.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from gardenpath.stimuli import Sentence
from gardenpath.study.screens import SKIP_STEP, After, Button, Exit, Pair, Text, WordPairs

from ..texts.standard_texts import Texts
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, split_words
from .trial_rows import build_reading_rows

KINDS = ("maze",)
IS_PRESENTATION = True
REQUIRED_COLUMNS = ("alternatives",)
RESPONSES = ("log_rt", "rt", "first_choice")
FIRST_ALTERNATIVE = "x-x-x"
CHOICE_FACTOR = 2.4  # by which a robot takes longer for a choice than for reading: effects in log ms stay what they are

build_rows = build_reading_rows


@dataclass(frozen=True)
class Settings:
    """After a wrong choice the trial ends, or with `redo` the other word is to be chosen, after `delay` ms with dead keys."""

    kind: Literal["maze"]
    redo: bool = False
    delay: float = 0.0

    def __post_init__(self) -> None:
        if self.delay < 0:
            raise ValueError(f"delay is {self.delay:g}; expected ms, 0 or more")
        if self.delay and not self.redo:
            raise ValueError(f"delay is {self.delay:g} and redo false; expected redo = true, or the trial ends at once")


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains the maze."""
    task_texts = texts["maze"]
    return f"{task_texts['instructions']}\n\n{task_texts['redo' if settings.redo else 'once']}"


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[WordPairs | Text]:
    """Yield a screen for each sentence; where an error ends the trial, also the page that says so."""
    task_texts = trial_context.texts["maze"]
    random = Random(f"{trial_context.seed}-sides")
    screens_before = trial_context.screens_before
    for n, (condition, sentence) in enumerate(trial_context.trial.shown_sentences):
        if sentence.alternatives is None:
            raise ValueError(f"its sentence ({condition}) has no alternatives; {trial_context.name} needs one for each word")
        yield WordPairs(
            name=trial_context.name,
            task="maze",
            pairs=_build_pairs(sentence, random),
            hint=task_texts["start_hint"],
            redo=settings.redo,
            delay=settings.delay,
            error=task_texts["error"] if settings.redo else "",
            again=task_texts["again"] if settings.redo else "",
            sentence=n,
        )
        if settings.redo:
            screens_before += 1
            continue
        yield Text(
            name="feedback",
            when=After(screens_before, ("wrong",)),
            exits=(Exit("continued", SKIP_STEP),),
            paragraphs=(task_texts["ended"],),
            buttons=(Button(trial_context.texts["session"]["continue"], "continued"),),
        )
        screens_before += 2


def _build_pairs(sentence: Sentence, random: Random) -> tuple[Pair, ...]:
    """Return the words with their alternatives, as many on the left as on the right but for an odd one."""
    words, _ = split_words(sentence)
    sides: list[Literal["left", "right"]] = ["left", "right"]
    random.shuffle(sides)
    word_sides = [sides[n % 2] for n in range(len(words))]
    random.shuffle(word_sides)
    alternatives = (FIRST_ALTERNATIVE, *(sentence.alternatives or ())[1:])
    return tuple(Pair(word, other, side) for word, other, side in zip(words, alternatives, word_sides, strict=True))


def simulate_response(screen: WordPairs, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Choose word by word, now and then the wrong one first."""
    times = [ms * CHOICE_FACTOR for ms in simulated_reader.draw_reading_times(screen.sentence)]
    p_slip = simulated_reader.compute_slip_probabilities(screen.sentence)
    slips = frozenset(n for n in range(1, len(times)) if simulated_reader.random.random() < p_slip[n])
    return SimulatedResponse((300 + 400 * simulated_reader.random.random(), *times), wrong_pairs=slips)
