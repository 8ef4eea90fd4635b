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
from gardenpath.study.screens import SKIP, After, Button, Exit, Pair, Text, WordPairs

from ..standard_texts import Texts
from .moment import Act, Moment, Reader, words_of
from .recording import readings as rows

KINDS = ("maze",)
SHOWS = True
NEEDS = ("alternatives",)
GIVES = "log_rt"
NO_WORD = "x-x-x"
CHOOSING = 450  # ms that a robot takes longer for a choice than for reading

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


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


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains the maze."""
    said = texts["maze"]
    return f"{said['instructions']}\n\n{said['redo' if settings.redo else 'once']}"


def screens(settings: Settings, moment: Moment) -> Iterator[WordPairs | Text]:
    """Yield a screen for each sentence; where an error ends the trial, also the page that says so."""
    said = moment.texts["maze"]
    random = Random(f"{moment.seed}-sides")
    before = moment.before
    for n, (condition, sentence) in enumerate(moment.trial.shown):
        if sentence.alternatives is None:
            raise ValueError(f"its sentence ({condition}) has no alternatives; {moment.name} needs one for each word")
        yield WordPairs(
            name=moment.name,
            task="maze",
            pairs=_pairs(sentence, random),
            hint=said["start_hint"],
            redo=settings.redo,
            delay=settings.delay,
            error=said["error"] if settings.redo else "",
            again=said["again"] if settings.redo else "",
            sentence=n,
        )
        if settings.redo:
            before += 1
            continue
        yield Text(
            name="feedback",
            when=After(before, ("wrong",)),
            exits=(Exit("continued", SKIP),),
            paragraphs=(said["ended"],),
            buttons=(Button(moment.texts["session"]["continue"], "continued"),),
        )
        before += 2


def _pairs(sentence: Sentence, random: Random) -> tuple[Pair, ...]:
    """Return the words with their alternatives, as many on the left as on the right but for an odd one."""
    words, _ = words_of(sentence)
    sides: list[Literal["left", "right"]] = ["left", "right"]
    random.shuffle(sides)
    drawn = [sides[n % 2] for n in range(len(words))]
    random.shuffle(drawn)
    beside = (NO_WORD, *(sentence.alternatives or ())[1:])
    return tuple(Pair(word, other, side) for word, other, side in zip(words, beside, drawn, strict=True))


def act(screen: WordPairs, reader: Reader) -> Act:
    """Choose word by word, now and then the wrong one first."""
    times = [ms + CHOOSING for ms in reader.reading_times(screen.sentence)]
    slips = frozenset(n for n in range(1, len(times)) if reader.random.random() < reader.slips)
    return Act((300 + 400 * reader.random.random(), *times), wrong=slips)
