"""What rows of tables have in common, whichever task they come from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from gardenpath.stimuli import Trial
from gardenpath.stimuli.items import Word
from gardenpath.study.events import Record


class ReadingRow(TypedDict):
    """What a task says of a row of `readings`; times are in ms."""

    condition: str
    task: str
    word: int
    text: str | None
    region: str | None
    rt: float | None
    rt_first: float | None
    rt_onset: float | None
    correct: bool | None
    line: int | None
    duration: float | None
    quality_flags: str


class ResponseRow(TypedDict):
    """What a task says of a row of `responses`; times are in ms."""

    condition: str
    task: str
    prompt: str
    side: str | None
    response: str | None
    outcome: str | None
    correct: bool | None
    rt: float | None
    rt_first: float | None


TableRow = tuple[Literal["readings"], ReadingRow] | tuple[Literal["responses"], ResponseRow]  # with its table


@dataclass(frozen=True)
class ShownTrial:
    """What a trial showed: its condition, and of each sentence the condition and the words, none where they are not known.

    The condition of a pair is that of both sentences, joined by a plus sign.
    """

    condition: str
    sentences: tuple[tuple[str, Sequence[Word]], ...]

    @classmethod
    def from_trial(cls, trial: Trial) -> "ShownTrial":
        """Return what a trial of a list shows."""
        return cls(trial.condition, tuple((condition, sentence.list_words()) for condition, sentence in trial.shown_sentences))


def build_reading_rows(record: Record, shown_trial: ShownTrial) -> Iterator[TableRow]:
    """Yield the rows of the words that a record holds; what they are the trial says, or else the record."""
    condition, words = shown_trial.sentences[record.sentence or 0]
    for word_record in record.words:
        word = words[word_record.word] if words else None
        yield (
            "readings",
            ReadingRow(
                condition=condition,
                task=record.task,
                word=word_record.word,
                text=word.text if word else word_record.text,
                region=(word.region if word else None) or word_record.region,
                rt=word_record.rt,
                rt_first=word_record.rt_first,
                rt_onset=word_record.rt_onset,
                correct=word_record.correct,
                line=word_record.line,
                duration=word_record.duration,
                quality_flags=" ".join(sorted(word_record.flags)),
            ),
        )


_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def escape_controls(text: str) -> str:
    """Return a typed text with its control characters written out: a NUL cuts cells in R, a line break rows elsewhere.

    >>> escape_controls("a\\x00b")
    'a\\\\x00b'
    """
    return _CONTROL_CHARACTER.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def build_response_rows(record: Record, shown_trial: ShownTrial) -> Iterator[TableRow]:
    """Yield the row of an answer; one that was not given in time is empty, and a screen that was left has none."""
    if record.outcome is None and record.answer is None:
        return
    correct = record.outcome == "right" if record.outcome in ("right", "wrong") else None
    yield (
        "responses",
        ResponseRow(
            condition=shown_trial.condition,
            task=record.task,
            prompt=record.name,
            side=record.side,
            response=None if record.answer is None else escape_controls(str(record.answer)),
            outcome=record.outcome,
            correct=correct,
            rt=record.rt,
            rt_first=record.rt_first,
        ),
    )
