"""What rows of tables have in common, whichever task they come from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gardenpath.stimuli import Trial
from gardenpath.stimuli.items import Word
from gardenpath.study.screens import Record

from .moment import Row


@dataclass(frozen=True)
class ShownTrial:
    """What a trial showed: its condition, and of each sentence the condition and the words, none where they are not known.

    The condition of a pair is that of both sentences, joined by a plus sign.
    """

    condition: str
    sentences: tuple[tuple[str, Sequence[Word]], ...]

    @classmethod
    def of(cls, trial: Trial) -> "ShownTrial":
        """Return what a trial of a version shows."""
        return cls(trial.condition, tuple((condition, sentence.words()) for condition, sentence in trial.shown))


def readings(record: Record, shown: ShownTrial) -> Iterator[Row]:
    """Yield the rows of the words that a record holds; what they are the trial says, or else the record."""
    condition, words = shown.sentences[record.sentence or 0]
    for read in record.words:
        word = words[read.word] if words else None
        yield (
            "readings",
            {
                "condition": condition,
                "word": read.word,
                "text": word.text if word else read.text,
                "region": (word.region if word else None) or read.region,
                "rt": read.rt,
                "rt_first": read.rt_first,
                "rt_onset": read.rt_onset,
                "correct": read.correct,
                "line": read.line,
                "duration": read.duration,
                "flag": " ".join(sorted(read.flags)),
            },
        )


def response(record: Record, shown: ShownTrial) -> Iterator[Row]:
    """Yield the row of an answer; one that was not given in time is empty, and a screen that was left has none."""
    if record.outcome is None and record.answer is None:
        return
    correct = record.outcome == "right" if record.outcome in ("right", "wrong") else None
    yield (
        "responses",
        {
            "condition": shown.condition,
            "task": record.task,
            "prompt": record.name,
            "side": record.side,
            "response": None if record.answer is None else str(record.answer),
            "outcome": record.outcome,
            "correct": correct,
            "rt": record.rt,
            "rt_first": record.rt_first,
        },
    )
