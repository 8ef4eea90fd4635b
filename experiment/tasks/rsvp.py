"""Rapid serial visual presentation (Forster 1970, doi 10.3758/BF03210208): each word stands for the same time, in the
middle of the screen, and no key takes the reader on.

Times are shown in whole frames. A stream that was interrupted is not shown again: the rest of its trial is left out, and its words
have the flag `interrupted`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import SKIP, Exit, Pace, Words

from ..standard_texts import Texts
from .moment import Act, Moment, Reader, words_of
from .recording import readings as rows

KINDS = ("rsvp",)
SHOWS = True
NEEDS: tuple[str, ...] = ()
GIVES = None
LEAST, MOST = 10, 60_000  # ms

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


@dataclass(frozen=True)
class Settings:
    """Each word stands for `word` ms, and nothing for `pause` ms after it."""

    kind: Literal["rsvp"]
    word: float = 250.0
    pause: float = 0.0

    def __post_init__(self) -> None:
        if not LEAST <= self.word <= MOST:
            raise ValueError(f"word is {self.word:g}; expected ms, {LEAST} to {MOST}")
        if not 0 <= self.pause <= MOST:
            raise ValueError(f"pause is {self.pause:g}; expected ms, 0 to {MOST}")


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to read."""
    return str(texts["rsvp"]["instructions"])


def screens(settings: Settings, moment: Moment) -> Iterator[Words]:
    """Yield a screen for each sentence."""
    hint = moment.texts["rsvp"]["start_hint"]
    for n, (_, sentence) in enumerate(moment.trial.shown):
        words, gaps = words_of(sentence)
        yield Words(
            name=moment.name,
            task="rsvp",
            words=words,
            gaps=gaps,
            hint=hint,
            pace=Pace(settings.word, settings.pause),
            sentence=n,
            exits=(Exit("interrupted", SKIP),),
        )


def act(screen: Words, reader: Reader) -> Act:
    """Press at the fixation mark, and see each word for its time."""
    assert screen.pace is not None
    return Act((300 + 400 * reader.random.random(), *([screen.pace.word + screen.pace.pause] * len(screen.words))))
