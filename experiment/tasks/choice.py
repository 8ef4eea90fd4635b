"""The forced choice between the two sentences of a pair, side by side or one above the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.stimuli import GRAMMATICAL
from gardenpath.study.screens import Answers, ResponseValue

from ..texts.standard_texts import Texts
from .answer_options import build_answers
from .deadline import check_deadline, write_speed_paragraph
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, format_sentence, is_minimal_pair
from .trial_rows import build_response_rows

KINDS = ("choice",)
IS_PRESENTATION = False
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES = ("chosen",)

build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """Without a prompt of its own it has the standard one; `deadline` in ms."""

    kind: Literal["choice"]
    prompt: str = ""
    arrangement: Literal["side_by_side", "stacked"] = "side_by_side"
    deadline: float | None = None

    def __post_init__(self) -> None:
        check_deadline(self.deadline)


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains the choice."""
    return str(texts["choice"]["instructions"]) + write_speed_paragraph(settings.deadline, texts)


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Answers]:
    """Yield the two sentences to choose from."""
    trial, is_stacked = trial_context.trial, settings.arrangement == "stacked"
    if len(trial.shown_sentences) != 2:
        raise ValueError(f"the choice {trial_context.name!r} is asked of one sentence; expected design.trial = 'pair'")
    conditions = [condition for condition, _ in trial.shown_sentences]
    expected = trial_context.list_expected_responses()
    if unknown := sorted({*expected} - {*conditions}):
        raise ValueError(f"an expected choice is {unknown[0]!r}; expected {' or '.join(conditions)}")
    right: tuple[ResponseValue, ...] = expected or ((GRAMMATICAL,) if is_minimal_pair(trial) else ())
    yield Answers(
        name=trial_context.name,
        task="choice",
        prompt=settings.prompt or trial_context.texts["choice"]["prompt"],
        deadline=settings.deadline,
        right=right,
        answers=build_answers(
            [format_sentence(one) for _, one in trial.shown_sentences], conditions, trial_context.direction, stacked=is_stacked
        ),
        arrangement="stacked_pair" if is_stacked else "pair",
    )


def simulate_response(screen: Answers, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Choose one of two sentences by their distance on the latent scale, or what an attention item expects."""
    conditions = [str(one.value) for one in screen.answers]
    ms = 700 + 800 * simulated_reader.random.random()
    if (
        simulated_reader.trial.expected_responses
        and screen.right
        and simulated_reader.random.random() < simulated_reader.p_attentive
    ):
        return SimulatedResponse((ms,), simulated_reader.random.choice(screen.right))
    first, second = conditions
    prefers_first = simulated_reader.random.random() < simulated_reader.compute_preference(first, second)
    return SimulatedResponse((ms,), first if prefers_first else second)
