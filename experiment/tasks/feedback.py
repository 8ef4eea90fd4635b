"""Pages that say after a trial whether its answer was right, for any task that has right answers."""

from collections.abc import Iterator
from typing import Literal

from gardenpath.study.screens import After, Button, Outcome, Text

from .moment import Moment

Feedback = Literal["practice", "always", "never"]


def tells(when: Feedback, moment: Moment) -> bool:
    """Whether this trial is one after which a page says so."""
    return when == "always" or (when == "practice" and moment.trial.role == "practice")


def feedback(moment: Moment, right: str, deadline: float | None = None) -> Iterator[Text]:
    """Yield a page for each way in which the task's screen can have ended; `right` is the label of the right answer."""
    texts = {**moment.texts["session"], **moment.texts["deadline"]}
    button = (Button(texts["continue"], "continued"),)
    ends: dict[Outcome, str] = {"right": texts["right"], "wrong": texts["wrong"]}
    if deadline is not None:
        ends["timeout"] = texts["late"]
    for outcome, said in ends.items():
        after = After(moment.before, (outcome,))
        yield Text(name="feedback", when=after, paragraphs=(said.replace("{answer}", right),), buttons=button)
