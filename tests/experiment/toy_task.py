"""A task of one file, as a reader of CONTRIBUTING.md writes it: which of two words was in the sentence?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.experiment.tasks.answer_options import build_answers
from gardenpath.experiment.tasks.feedback import FeedbackRule, build_feedback_screens, has_feedback
from gardenpath.experiment.tasks.trial_context import SimulatedReader, SimulatedResponse, TrialContext, draw_answer
from gardenpath.experiment.tasks.trial_rows import build_response_rows as build_rows
from gardenpath.study.screens import Answers, Screen

KINDS = ("toy_recall",)
IS_PRESENTATION = False
REQUIRED_COLUMNS = ("absent",)
RESPONSES: tuple[str, ...] = ()

__all__ = [
    "IS_PRESENTATION",
    "KINDS",
    "REQUIRED_COLUMNS",
    "RESPONSES",
    "Settings",
    "build_rows",
    "build_screens",
    "simulate_response",
    "write_instructions",
]


@dataclass(frozen=True)
class Settings:
    """`prompt` stands above the two words."""

    kind: Literal["toy_recall"]
    prompt: str = "Which word was in the sentence?"
    feedback: FeedbackRule = "never"


def write_instructions(settings: Settings, language: str) -> str:
    """Return the page that explains it."""
    return "After each sentence, choose the word that was in it."


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Screen]:
    """Yield the last word of the sentence beside a word that was not in it."""
    present = trial_context.trial.shown_sentences[0][1].list_words()[-1].text.strip(".")
    words = [present, str(trial_context.trial.get_value("absent"))]
    yield Answers(
        name=trial_context.name,
        task="toy_recall",
        prompt=settings.prompt,
        above=trial_context.above,
        right=(present,),
        is_judged_by_player=has_feedback(settings.feedback, trial_context),
        answers=build_answers(words, words, trial_context.direction),
    )
    if has_feedback(settings.feedback, trial_context):
        yield from build_feedback_screens(trial_context, present)


def simulate_response(screen: Answers, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Choose, with the probability `knows` rightly."""
    others = [one.value for one in screen.answers if one.value not in screen.right]
    answer = draw_answer(screen.right, others, simulated_reader.p_correct, simulated_reader.random)
    return SimulatedResponse((500 + 500 * simulated_reader.random.random(),), answer)
