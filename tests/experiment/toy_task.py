"""A task of one file, as a reader of CONTRIBUTING.md writes it: which of two words was in the sentence?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.experiment.answers import answers
from gardenpath.experiment.tasks.feedback import Feedback, feedback, tells
from gardenpath.experiment.tasks.moment import Act, Moment, Reader, right_or_other
from gardenpath.experiment.tasks.recording import response as rows
from gardenpath.study.screens import Answers, Screen

KINDS = ("toy_recall",)
SHOWS = False
NEEDS = ("absent",)
GIVES = None

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


@dataclass(frozen=True)
class Settings:
    """`prompt` stands above the two words."""

    kind: Literal["toy_recall"]
    prompt: str = "Which word was in the sentence?"
    feedback: Feedback = "never"


def instructions(settings: Settings, language: str) -> str:
    """Return the page that explains it."""
    return "After each sentence, choose the word that was in it."


def screens(settings: Settings, moment: Moment) -> Iterator[Screen]:
    """Yield the last word of the sentence beside a word that was not in it."""
    present = moment.trial.shown[0][1].words()[-1].text.strip(".")
    words = [present, str(moment.trial.given("absent"))]
    yield Answers(
        name=moment.name,
        task="toy_recall",
        prompt=settings.prompt,
        above=moment.above,
        right=(present,),
        tell=tells(settings.feedback, moment),
        answers=answers(words, words, moment.direction),
    )
    if tells(settings.feedback, moment):
        yield from feedback(moment, present)


def act(screen: Answers, reader: Reader) -> Act:
    """Choose, with the probability `knows` rightly."""
    others = [one.value for one in screen.answers if one.value not in screen.right]
    answer = right_or_other(screen.right, others, reader.knows, reader.random)
    return Act((500 + 500 * reader.random.random(),), answer)
