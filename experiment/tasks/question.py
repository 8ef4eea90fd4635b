"""The comprehension question of an item, with its answers to choose from; the right one is that of the condition shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Answers, Screen

from ..answers import answers
from ..standard_texts import Texts
from .deadline import check, quick
from .feedback import Feedback, feedback, tells
from .moment import Act, Moment, Reader, right_or_other
from .recording import response

KINDS = ("question",)
SHOWS = False
NEEDS = ("question",)
GIVES = "correct"
rows = response


@dataclass(frozen=True)
class Settings:
    """`feedback` says after which trials a page tells whether the answer was right: practice, always or never."""

    kind: Literal["question"]
    feedback: Feedback = "practice"
    deadline: float | None = None

    def __post_init__(self) -> None:
        check(self.deadline)


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains questions."""
    return str(texts["question"]["instructions"]) + quick(settings.deadline, texts)


def screens(settings: Settings, moment: Moment) -> Iterator[Screen]:
    """Yield the question and, where there is feedback, a page for each way in which it can end."""
    question = moment.trial.item.question
    assert question is not None, "a question is asked of items that have one"
    right = moment.trial.answer()
    gives_feedback = right is not None and tells(settings.feedback, moment)
    yield Answers(
        name=moment.name,
        task="question",
        prompt=question.text,
        above=moment.above,
        deadline=settings.deadline,
        right=() if right is None else (right,),
        tell=moment.tell or gives_feedback,
        answers=answers(question.choices, question.choices, moment.direction),
    )
    if gives_feedback and right is not None:
        yield from feedback(moment, right, settings.deadline)


def act(screen: Answers, reader: Reader) -> Act:
    """Answer, with the probability `knows` rightly."""
    others = [one.value for one in screen.answers if one.value not in screen.right]
    answer = right_or_other(screen.right, others, reader.knows, reader.random)
    return Act((700 + 800 * reader.random.random(),), answer)
