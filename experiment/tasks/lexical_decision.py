"""Lexical decision (Meyer & Schvaneveldt 1971, doi 10.1037/h0031564): is a string of letters a word?

The string is the item's sentence, which stands above the answers (`show = "with_task"`). Which answer is right is said by the
item's free column `lexicality`, or by the level of a factor of that name: word or nonword.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Answers, Screen

from ..answers import answers
from ..standard_texts import Texts
from .deadline import check, quick
from .feedback import Feedback, feedback, tells
from .moment import Act, Moment, Reader, right_or_other
from .recording import response as rows

KINDS = ("lexical_decision",)
SHOWS = False
NEEDS = ("lexicality",)
GIVES = None
VALUES = ("word", "nonword")

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


@dataclass(frozen=True)
class Settings:
    """What is left out of `prompt` and of the answers' labels `word` and `nonword` comes in the study's language."""

    kind: Literal["lexical_decision"]
    prompt: str = ""
    word: str = ""
    nonword: str = ""
    feedback: Feedback = "practice"
    deadline: float | None = None

    def __post_init__(self) -> None:
        check(self.deadline)


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains the decision."""
    return str(texts["lexical_decision"]["instructions"]) + quick(settings.deadline, texts)


def screens(settings: Settings, moment: Moment) -> Iterator[Screen]:
    """Yield the string with its answers and, where there is feedback, a page for each way in which that can end."""
    said = moment.texts["lexical_decision"]
    right = moment.trial.given("lexicality")
    if right not in VALUES:
        raise ValueError(f"its lexicality is {right!r}; expected word or nonword")
    labels = {"word": settings.word or said["word"], "nonword": settings.nonword or said["nonword"]}
    gives_feedback = tells(settings.feedback, moment)
    yield Answers(
        name=moment.name,
        task="lexical_decision",
        prompt=settings.prompt or said["prompt"],
        above=moment.above,
        deadline=settings.deadline,
        right=(right,),
        tell=moment.tell or gives_feedback,
        answers=answers([labels[value] for value in VALUES], VALUES, moment.direction),
    )
    if gives_feedback:
        yield from feedback(moment, labels[right], settings.deadline)


def act(screen: Answers, reader: Reader) -> Act:
    """Decide, with the probability `knows` rightly; nonwords take longer."""
    others = [one.value for one in screen.answers if one.value not in screen.right]
    answer = right_or_other(screen.right, others, reader.knows, reader.random)
    return Act((450 + 80 * ("nonword" in screen.right) + 300 * reader.random.random(),), answer)
