"""A rating of the sentence: 1 to `points` by key or button, a slider from 0 to 100, or yes (1) and no (0)."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.screens import Answers, Slider, Value

from ..answers import answers, points
from ..standard_texts import LAB, Texts
from .deadline import check, quick
from .moment import Act, Moment, Reader
from .recording import response as rows

KINDS = ("rating",)
SHOWS = False
NEEDS: tuple[str, ...] = ()
GIVES = "rating"
SLIDER = range(101)

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


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
        check(self.deadline)
        if self.deadline is not None and self.scale == "slider":
            raise ValueError(
                "deadline is given with scale = 'slider'; expected 'keys' or 'yes_no', which one press answers"
            )

    @property
    def range(self) -> range:
        """The numbers with which one can answer."""
        return {"keys": range(1, self.points + 1), "slider": SLIDER, "yes_no": range(2)}[self.scale]


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to rate."""
    said = str(texts["rating"][settings.scale]).replace("{points}", str(settings.points))
    return said + quick(settings.deadline, texts)


def screens(settings: Settings, moment: Moment) -> Iterator[Answers | Slider]:
    """Yield the one screen of a rating."""
    said = moment.texts["rating"]
    right = expected(settings.range, moment.expected())
    if settings.scale == "slider":
        yield Slider(
            name=moment.name,
            task="rating",
            prompt=settings.prompt,
            above=moment.above,
            right=right,
            low=settings.low,
            high=settings.high,
            hint=said["slider_hint"],
            lab_hint=said[LAB]["slider_hint"],
            button=moment.texts["session"]["go_on"],
        )
        return
    if settings.scale == "yes_no":
        labels = [settings.high or said["yes"], settings.low or said["no"]]
        made, ends = answers(labels, [1, 0], moment.direction), ("", "")
    else:
        made, ends = points(settings.points), (settings.low, settings.high)
    yield Answers(
        name=moment.name,
        task="rating",
        prompt=settings.prompt,
        above=moment.above,
        deadline=settings.deadline,
        right=right,
        answers=made,
        arrangement="row" if settings.scale == "yes_no" else "points",
        low=ends[0],
        high=ends[1],
    )


def expected(scale: range, statements: Sequence[str]) -> tuple[Value, ...]:
    """Return the numbers that show attention; a statement is a number, a range such as 0-10, yes or no.

    >>> expected(range(101), ["0-2", "100"])
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


def act(screen: Answers | Slider, reader: Reader) -> Act:
    """Rate the sentence by where it lies on the latent scale, whose points are equal steps over -2 to 2; yes is above 0."""
    latent = reader.latent(reader.trial.shown[0][0])
    if isinstance(screen, Slider):
        drawn = min(screen.most, max(screen.least, round((latent + 2) / 4 * (screen.most - screen.least))))
    elif screen.arrangement == "row":
        drawn = int(latent > 0)
    else:
        most = len(screen.answers)
        drawn = min(most, max(1, math.ceil((latent + 2) / 4 * most)))
    ms = 700 + 800 * reader.random.random()
    if screen.right and reader.random.random() < reader.attends:
        return Act((ms,), reader.random.choice(screen.right))
    return Act((ms,), drawn)
