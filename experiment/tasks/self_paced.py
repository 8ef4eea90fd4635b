"""Self-paced reading (Just, Carpenter & Woolley 1982, doi 10.1037/0096-3445.111.2.228): a word a key press, in the middle of the
screen or in its place in the sentence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Words

from ..line_breaks import breaks
from ..standard_texts import Texts
from .moment import Act, Moment, Reader, words_of
from .recording import readings as rows

KINDS = ("centred", "moving_window", "cumulative")
SHOWS = True
NEEDS: tuple[str, ...] = ()
GIVES = "log_rt"

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


@dataclass(frozen=True)
class Settings:
    """`kind` is centred, moving_window (a word is covered again when the next one comes) or cumulative."""

    kind: Literal["centred", "moving_window", "cumulative"]


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to read."""
    return str(texts["self_paced"][settings.kind])


def screens(settings: Settings, moment: Moment) -> Iterator[Words]:
    """Yield a screen for each sentence."""
    said = moment.texts["self_paced"]
    for n, (_, sentence) in enumerate(moment.trial.shown):
        words, gaps = words_of(sentence)
        yield Words(
            name=moment.name,
            task=settings.kind,
            words=words,
            gaps=gaps,
            arrangement=settings.kind,
            hint=said["start_hint"],
            reminder=said["other_key"] if moment.trial.role == "practice" else "",
            breaks=() if settings.kind == "centred" else breaks(moment.trial.item.sentences.values(), moment.width),
            sentence=n,
        )


def act(screen: Words, reader: Reader) -> Act:
    """Press at the fixation mark, then once a word."""
    return Act((300 + 400 * reader.random.random(), *reader.reading_times(screen.sentence)))
