"""A sentence that is read at once, and ended by a key."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Record, Whole

from ..standard_texts import Texts
from .moment import Act, Moment, Reader, Row, joined
from .recording import ShownTrial

KINDS = ("whole",)
SHOWS = True
NEEDS: tuple[str, ...] = ()
GIVES = None


@dataclass(frozen=True)
class Settings:
    """There is nothing to set."""

    kind: Literal["whole"]


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to read."""
    return str(texts["whole"]["instructions"])


def screens(settings: Settings, moment: Moment) -> Iterator[Whole]:
    """Yield a screen for each sentence."""
    hint = moment.texts["whole"]["done_hint"]
    for n, (_, sentence) in enumerate(moment.trial.shown):
        yield Whole(name=moment.name, task="whole", text=joined(sentence), hint=hint, sentence=n)


def act(screen: Whole, reader: Reader) -> Act:
    """Read it."""
    return Act((reader.at_once(screen.text),))


def rows(record: Record, shown: ShownTrial) -> Iterator[Row]:
    """Yield the time of the text as a response of the task `reading`."""
    if record.outcome is None:
        return
    nth = record.sentence
    pair = nth is not None and len(shown.sentences) > 1
    prompt = "context" if nth is None else f"sentence {nth + 1}" if pair else "sentence"
    yield (
        "responses",
        {
            "condition": shown.sentences[nth][0] if pair and nth is not None else shown.condition,
            "task": "reading",
            "prompt": prompt,
            "side": None,
            "response": "read",
            "outcome": record.outcome,
            "correct": None,
            "rt": record.rt,
            "rt_first": None,
        },
    )
