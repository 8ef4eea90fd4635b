"""A rating of the sentence: 1 to `build_scale_points` by key or button, a slider from 0 to 100, or yes (1) and no (0)."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Answers, ResponseValue, Slider

from ..texts.standard_texts import LAB_SECTION, Texts
from .answer_options import build_answers, build_scale_points
from .deadline import check_deadline, write_speed_paragraph
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext
from .trial_rows import build_response_rows

KINDS = ("rating",)
IS_PRESENTATION = False
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES = ("z", "rating", "yes")
SLIDER_RANGE = range(101)

build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """`low` and `high` say what the two ends mean; with `deadline` (ms) only what comes before it counts (speeded judgment)."""

    kind: Literal["rating"]
    prompt: str
    low: str = ""
    high: str = ""
    points: int = 7
    scale: Literal["keys", "slider", "yes_no"] = "keys"
    deadline: float | None = None

    def __post_init__(self) -> None:
        if not 2 <= self.points <= 9:
            raise ValueError(f"points is {self.points}; expected 2 to 9, one number key for each")
        if self.scale != "yes_no" and not (self.low and self.high):
            raise ValueError(f"low is {self.low!r} and high {self.high!r}; expected what the two ends mean")
        check_deadline(self.deadline)
        if self.deadline is not None and self.scale == "slider":
            raise ValueError("deadline is given with scale = 'slider'; expected 'keys' or 'yes_no', which one press answers")

    @property
    def rating_range(self) -> range:
        """The numbers with which one can answer."""
        return {"keys": range(1, self.points + 1), "slider": SLIDER_RANGE, "yes_no": range(2)}[self.scale]


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to rate."""
    instruction_text = str(texts["rating"][settings.scale]).replace("{points}", str(settings.points))
    return instruction_text + write_speed_paragraph(settings.deadline, texts)


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Answers | Slider]:
    """Yield the one screen of a rating."""
    task_texts = trial_context.texts["rating"]
    right = parse_expected_ratings(settings.rating_range, trial_context.list_expected_responses())
    if settings.scale == "slider":
        yield Slider(
            name=trial_context.name,
            task="rating",
            prompt=settings.prompt,
            above=trial_context.above,
            right=right,
            low=settings.low,
            high=settings.high,
            hint=task_texts["slider_hint"],
            lab_hint=task_texts[LAB_SECTION]["slider_hint"],
            button=trial_context.texts["session"]["go_on"],
        )
        return
    if settings.scale == "yes_no":
        labels = [settings.high or task_texts["yes"], settings.low or task_texts["no"]]
        answer_options, end_labels = build_answers(labels, [1, 0], trial_context.direction), ("", "")
    else:
        answer_options, end_labels = build_scale_points(settings.points), (settings.low, settings.high)
    yield Answers(
        name=trial_context.name,
        task="rating",
        prompt=settings.prompt,
        above=trial_context.above,
        deadline=settings.deadline,
        right=right,
        answers=answer_options,
        arrangement="row" if settings.scale == "yes_no" else "points",
        low=end_labels[0],
        high=end_labels[1],
    )


def parse_expected_ratings(scale: range, statements: Sequence[str]) -> tuple[ResponseValue, ...]:
    """Return the numbers that show attention; a statement is a number, a range such as 0-10, yes or no.

    >>> parse_expected_ratings(range(101), ["0-2", "100"])
    (0, 1, 2, 100)
    """
    numbers: list[int] = []
    for one in statements:
        limits = re.fullmatch(r"(\d+)(?:-(\d+))?", {"yes": "1", "no": "0"}.get(one, one))
        span = range(int(limits[1]), int(limits[2] or limits[1]) + 1) if limits else range(0)
        if not span or span[0] not in scale or span[-1] not in scale:
            raise ValueError(
                f"an expected rating is {one!r}; expected a number from {scale[0]} to {scale[-1]}, or a range of these"
            )
        numbers += span
    return tuple(dict.fromkeys(numbers))


def simulate_response(screen: Answers | Slider, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Rate the sentence by where it lies on the latent scale, whose points are equal steps over -2 to 2; yes is above 0."""
    latent = simulated_reader.draw_latent_rating(simulated_reader.trial.shown_sentences[0][0])
    if isinstance(screen, Slider):
        rating = min(screen.most, max(screen.least, round((latent + 2) / 4 * (screen.most - screen.least))))
    elif screen.arrangement == "row":
        rating = int(latent > 0)
    else:
        point_count = len(screen.answers)
        rating = min(point_count, max(1, math.ceil((latent + 2) / 4 * point_count)))
    ms = 700 + 800 * simulated_reader.random.random()
    if screen.right and simulated_reader.random.random() < simulated_reader.p_attentive:
        return SimulatedResponse((ms,), simulated_reader.random.choice(screen.right))
    return SimulatedResponse((ms,), rating)
