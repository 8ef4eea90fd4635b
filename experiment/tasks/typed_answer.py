"""A question to which the answer is typed, as what a passive's agent was (Ferreira 2003, doi 10.1016/S0010-0285(03)00005-7).

Which answers are right the item's free column `right_answers` says, with bars between; capitals, and spaces and marks around an
answer, make no difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Entry

from ..texts.standard_texts import Texts
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, draw_answer
from .trial_rows import build_response_rows

KINDS = ("typed_answer",)
IS_PRESENTATION = False
REQUIRED_COLUMNS = ("right_answers",)
RESPONSES = ("correct",)

build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """The question stands in `prompt`; an answer has `max_length` characters at most."""

    kind: Literal["typed_answer"]
    prompt: str
    max_length: int = 100

    def __post_init__(self) -> None:
        if not 1 <= self.max_length <= 500:
            raise ValueError(f"max_length is {self.max_length}; expected 1 to 500 characters")


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains what to type."""
    return str(texts["typed_answer"]["instructions"])


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Entry]:
    """Yield the one screen on which the answer is typed."""
    answers = [part.strip() for part in (trial_context.trial.get_value("right_answers") or "").split("|")]
    if not all(answers):
        raise ValueError(f"its right_answers are {' | '.join(answers)!r}; expected answers with bars between, none of them empty")
    yield Entry(
        name=trial_context.name,
        task="typed_answer",
        prompt=settings.prompt,
        above=trial_context.above,
        right=tuple(answers),
        button=trial_context.texts["session"]["go_on"],
        missing=trial_context.texts["typed_answer"]["missing"],
        longest=settings.max_length,
    )


def simulate_response(screen: Entry, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Type a right answer, with the probability `p_correct`, otherwise another word of the sentence."""
    words = [word.text.strip(".,?!") for word in simulated_reader.trial.shown_sentences[0][1].list_words()]
    others = [word for word in words if not screen.is_right(word)]
    answer = str(draw_answer(screen.right, others, simulated_reader.p_correct, simulated_reader.random))
    first = 800 + 1500 * simulated_reader.random.random()
    return SimulatedResponse((first + 150 * len(answer) + 300,), answer[: screen.longest], first_key_ms=first)
