"""Self-paced reading (Just, Carpenter & Woolley 1982, doi 10.1037/0096-3445.111.2.228): a word a key press, in the middle of the
screen or in its place in the sentence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Words

from ..texts.standard_texts import Texts
from .line_breaks import find_line_breaks
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, split_words
from .trial_rows import build_reading_rows

KINDS = ("centred", "moving_window", "cumulative")
IS_PRESENTATION = True
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES = ("log_rt", "rt")

build_rows = build_reading_rows


@dataclass(frozen=True)
class Settings:
    """`kind` is centred, moving_window (a word is covered again when the next one comes) or cumulative."""

    kind: Literal["centred", "moving_window", "cumulative"]


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to read."""
    return str(texts["self_paced"][settings.kind])


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Words]:
    """Yield a screen for each sentence."""
    task_texts = trial_context.texts["self_paced"]
    for n, (_, sentence) in enumerate(trial_context.trial.shown_sentences):
        words, gaps = split_words(sentence)
        yield Words(
            name=trial_context.name,
            task=settings.kind,
            words=words,
            gaps=gaps,
            arrangement=settings.kind,
            hint=task_texts["start_hint"],
            reminder=task_texts["other_key"] if trial_context.trial.role == "practice" else "",
            breaks=()
            if settings.kind == "centred"
            else find_line_breaks(trial_context.trial.item.sentences.values(), trial_context.line_width),
            sentence=n,
        )


def simulate_response(screen: Words, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Press at the fixation mark, then once a word."""
    return SimulatedResponse((300 + 400 * simulated_reader.random.random(), *simulated_reader.draw_reading_times(screen.sentence)))
