"""Lexical decision (Meyer & Schvaneveldt 1971, doi 10.1037/h0031564): is a string of letters a word?

The string is the item's sentence, which stands above the answers (`show = "with_task"`). Which answer is right is said by the
item's free column `lexicality`, or by the level of a factor of that name: word or nonword.
"""

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

KINDS = ("lexical_decision",)
IS_PRESENTATION = False
REQUIRED_COLUMNS = ("lexicality",)
RESPONSES: tuple[str, ...] = ()
LEXICALITY_VALUES = ("word", "nonword")

build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """What is left out of `prompt` and of the answers' labels `word` and `nonword` comes in the study's language."""

    kind: Literal["lexical_decision"]
    prompt: str = ""
    word: str = ""
    nonword: str = ""
    feedback: FeedbackRule = "practice"
    deadline: float | None = None

    def __post_init__(self) -> None:
        check_deadline(self.deadline)


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains the decision."""
    return str(texts["lexical_decision"]["instructions"]) + write_speed_paragraph(settings.deadline, texts)


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Screen]:
    """Yield the string with its answers and, where there is feedback, a page for each way in which that can end."""
    task_texts = trial_context.texts["lexical_decision"]
    right = trial_context.trial.get_value("lexicality")
    if right not in LEXICALITY_VALUES:
        raise ValueError(f"its lexicality is {right!r}; expected word or nonword")
    labels = {"word": settings.word or task_texts["word"], "nonword": settings.nonword or task_texts["nonword"]}
    gives_feedback = has_feedback(settings.feedback, trial_context)
    yield Answers(
        name=trial_context.name,
        task="lexical_decision",
        prompt=settings.prompt or task_texts["prompt"],
        above=trial_context.above,
        deadline=settings.deadline,
        right=(right,),
        is_judged_by_player=trial_context.is_judged_by_player or gives_feedback,
        answers=build_answers([labels[value] for value in LEXICALITY_VALUES], LEXICALITY_VALUES, trial_context.direction),
    )
    if gives_feedback:
        yield from build_feedback_screens(trial_context, labels[right], settings.deadline)


def simulate_response(screen: Answers, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Decide, with the probability `knows` rightly; nonwords take longer."""
    others = [one.value for one in screen.answers if one.value not in screen.right]
    answer = draw_answer(screen.right, others, simulated_reader.p_correct, simulated_reader.random)
    return SimulatedResponse((450 + 80 * ("nonword" in screen.right) + 300 * simulated_reader.random.random(),), answer)
