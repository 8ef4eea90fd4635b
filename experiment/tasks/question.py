"""The comprehension question of an item, with its answers to choose from; the right one is that of the condition shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Answers, Screen

from ..texts.standard_texts import Texts
from .answer_options import build_answers
from .deadline import check_deadline, write_speed_paragraph
from .feedback import FeedbackRule, build_feedback_screens, has_feedback
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, draw_answer
from .trial_rows import build_response_rows

KINDS = ("question",)
IS_PRESENTATION = False
REQUIRED_COLUMNS = ("question",)
RESPONSES = ("correct",)
build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """`build_feedback_screens` says after which trials a page tells whether the answer was right: practice, always or never."""

    kind: Literal["question"]
    feedback: FeedbackRule = "practice"
    deadline: float | None = None

    def __post_init__(self) -> None:
        check_deadline(self.deadline)


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains questions."""
    return str(texts["question"]["instructions"]) + write_speed_paragraph(settings.deadline, texts)


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Screen]:
    """Yield the question and, where there is feedback, a page for each way in which it can end."""
    question = trial_context.trial.item.question
    assert question is not None, "a question is asked of items that have one"
    right = trial_context.trial.get_answer()
    gives_feedback = right is not None and has_feedback(settings.feedback, trial_context)
    yield Answers(
        name=trial_context.name,
        task="question",
        prompt=question.text,
        above=trial_context.above,
        deadline=settings.deadline,
        right=() if right is None else (right,),
        is_judged_by_player=trial_context.is_judged_by_player or gives_feedback,
        answers=build_answers(question.choices, question.choices, trial_context.direction),
    )
    if gives_feedback and right is not None:
        yield from build_feedback_screens(trial_context, right, settings.deadline)


def simulate_response(screen: Answers, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Answer, with the probability `knows` rightly."""
    others = [one.value for one in screen.answers if one.value not in screen.right]
    answer = draw_answer(screen.right, others, simulated_reader.p_correct, simulated_reader.random)
    return SimulatedResponse((700 + 800 * simulated_reader.random.random(),), answer)
