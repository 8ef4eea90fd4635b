"""Pages that say after a trial whether its answer was right, for any task that has right answers."""

from collections.abc import Iterator
from typing import Literal

from gardenpath.study.screens import After, Button, Outcome, Text

from .trial_context import TrialContext

FeedbackRule = Literal["practice", "always", "never"]


def has_feedback(when: FeedbackRule, trial_context: TrialContext) -> bool:
    """Whether this trial is one after which a page says so."""
    return when == "always" or (when == "practice" and trial_context.trial.role == "practice")


def build_feedback_screens(trial_context: TrialContext, right_label: str, deadline: float | None = None) -> Iterator[Text]:
    """Yield a page for each way in which the task's screen can have ended; `right_label` is the label of the right answer."""
    texts = {**trial_context.texts["session"], **trial_context.texts["deadline"]}
    button = (Button(texts["continue"], "continued"),)
    text_by_outcome: dict[Outcome, str] = {"right": texts["right"], "wrong": texts["wrong"]}
    if deadline is not None:
        text_by_outcome["timeout"] = texts["late"]
    for outcome, outcome_text in text_by_outcome.items():
        after = After(trial_context.screens_before, (outcome,))
        yield Text(name="feedback", when=after, paragraphs=(outcome_text.replace("{answer}", right_label),), buttons=button)
