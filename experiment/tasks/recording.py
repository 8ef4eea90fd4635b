"""What rows of tables have in common, whichever task they come from."""

from collections.abc import Iterator
from typing import Any

from gardenpath.stimuli import Trial
from gardenpath.study.screens import Record

from .moment import Row


def readings(screen: Any, record: Record, trial: Trial) -> Iterator[Row]:
    """Yield the rows of the words that a record holds."""
    condition, sentence = trial.shown[screen.sentence]
    words = sentence.words()
    for read in record.words:
        word = words[read.word]
        yield (
            "readings",
            {
                "condition": condition,
                "word": word.index,
                "text": word.text,
                "region": word.region,
                "rt": read.rt,
                "rt_first": read.rt_first,
                "rt_onset": read.rt_onset,
                "correct": read.correct,
                "line": read.line,
                "duration": read.duration,
                "flags": " ".join(sorted(read.flags)),
            },
        )


def response(screen: Any, record: Record, trial: Trial) -> Iterator[Row]:
    """Yield the row of an answer; one that was not given in time is empty, and a screen that was left has none."""
    if record.outcome is None:
        return
    correct = record.outcome == "right" if record.outcome in ("right", "wrong") else None
    yield (
        "responses",
        {
            "condition": trial.condition,
            "task": screen.task,
            "prompt": screen.name,
            "side": record.side,
            "response": None if record.answer is None else str(record.answer),
            "outcome": record.outcome,
            "correct": correct,
            "rt": record.rt,
            "rt_first": record.rt_first,
        },
    )
