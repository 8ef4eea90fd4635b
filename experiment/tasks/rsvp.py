"""Rapid serial visual presentation (Forster 1970, doi 10.3758/BF03210208): each word stands for the same time, in the
middle of the screen, and no key takes the reader on.

Times are shown in whole frames. A stream that was interrupted is not shown again: the rest of its trial is left out, and its words
have the flag `interrupted`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import SKIP_STEP, Exit, Pace, Words

from ..texts.standard_texts import Texts
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, split_words
from .trial_rows import build_reading_rows

KINDS = ("rsvp",)
IS_PRESENTATION = True
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES: tuple[str, ...] = ()
MIN_DURATION_MS, MAX_DURATION_MS = 10, 60_000  # ms

build_rows = build_reading_rows


@dataclass(frozen=True)
class Settings:
    """Each word stands for `word_duration` ms, and nothing for `pause_duration` ms after it."""

    kind: Literal["rsvp"]
    word_duration: float = 250.0
    pause_duration: float = 0.0

    def __post_init__(self) -> None:
        if not MIN_DURATION_MS <= self.word_duration <= MAX_DURATION_MS:
            raise ValueError(f"word_duration is {self.word_duration:g}; expected ms, {MIN_DURATION_MS} to {MAX_DURATION_MS}")
        if not 0 <= self.pause_duration <= MAX_DURATION_MS:
            raise ValueError(f"pause_duration is {self.pause_duration:g}; expected ms, 0 to {MAX_DURATION_MS}")


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to read."""
    return str(texts["rsvp"]["instructions"])


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Words]:
    """Yield a screen for each sentence."""
    hint = trial_context.texts["rsvp"]["start_hint"]
    for n, (_, sentence) in enumerate(trial_context.trial.shown_sentences):
        words, gaps = split_words(sentence)
        yield Words(
            name=trial_context.name,
            task="rsvp",
            words=words,
            gaps=gaps,
            hint=hint,
            pace=Pace(settings.word_duration, settings.pause_duration),
            sentence=n,
            exits=(Exit("interrupted", SKIP_STEP),),
        )


def simulate_response(screen: Words, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Press at the fixation mark, and see each word for its time."""
    assert screen.pace is not None
    return SimulatedResponse(
        (300 + 400 * simulated_reader.random.random(), *([screen.pace.word + screen.pace.pause] * len(screen.words)))
    )
