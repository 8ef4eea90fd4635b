"""Magnitude estimation (Bard, Robertson & Sorace 1996, doi 10.2307/416793): a positive number is typed for each sentence.

Numbers are proportional: of a sentence that is twice as good, the number is twice as high. They are relative to the number of a
reference sentence (the modulus), or to the participant's own first number where there is none.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.responses import parse_rating
from gardenpath.study.screens import Entry

from ..texts.standard_texts import Texts
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext
from .trial_rows import build_response_rows

KINDS = ("magnitude_estimation",)
IS_PRESENTATION = False
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES = ("magnitude",)
MAX_LENGTH = 12  # characters of a number
ROBOT_MODULUS = 100  # the number that robots give a sentence at 0 of the latent scale

build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """`reference` is the sentence whose number is `modulus`; with neither, participants choose their first number."""

    kind: Literal["magnitude_estimation"]
    prompt: str
    reference: str = ""
    modulus: float | None = None

    def __post_init__(self) -> None:
        if bool(self.reference) != (self.modulus is not None):
            raise ValueError(f"reference is {self.reference!r} and modulus {self.modulus}; expected both, or neither")
        if self.modulus is not None and not (math.isfinite(self.modulus) and self.modulus > 0):
            raise ValueError(f"modulus is {self.modulus:g}; expected a number above 0")


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains which numbers to type."""
    task_texts = texts["magnitude_estimation"]
    if settings.modulus is None:
        return str(task_texts["instructions_without_reference"])
    return _fill_in(task_texts["instructions"], settings)


def _fill_in(text: str, settings: Settings) -> str:
    return text.replace("{sentence}", settings.reference).replace("{modulus}", f"{settings.modulus:g}")


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Entry]:
    """Yield the one screen on which a number is typed, with the reference before its prompt."""
    task_texts = trial_context.texts["magnitude_estimation"]
    right = trial_context.list_expected_responses()
    if wrong := [one for one in right if parse_rating("magnitude_estimation", one) is None]:
        raise ValueError(f"an expected number is {wrong[0]!r}; expected one above 0")
    reference = "" if settings.modulus is None else f"{_fill_in(task_texts['reference'], settings)} "
    yield Entry(
        name=trial_context.name,
        task="magnitude_estimation",
        prompt=reference + settings.prompt,
        above=trial_context.above,
        right=right,
        button=trial_context.texts["session"]["go_on"],
        missing=task_texts["missing"],
        not_positive=task_texts["not_positive"],
        longest=MAX_LENGTH,
    )


def simulate_response(screen: Entry, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Type a number whose natural logarithm lies by the sentence's latent rating above or below that of the modulus."""
    latent = simulated_reader.draw_latent_rating(simulated_reader.trial.shown_sentences[0][0])
    answer = f"{ROBOT_MODULUS * math.exp(latent):.9f}"[:MAX_LENGTH]
    if screen.right and simulated_reader.random.random() < simulated_reader.p_attentive:
        answer = str(simulated_reader.random.choice(screen.right))
    first = 800 + 1500 * simulated_reader.random.random()
    return SimulatedResponse((first + 150 * len(answer) + 300,), answer, first_key_ms=first)
