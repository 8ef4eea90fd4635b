"""How far two reviewers agree: raw agreement, Cohen's kappa and Gwet's AC1, each with its interval."""

import math
from collections.abc import Sequence
from typing import NamedTuple

Z_95 = 1.959963984540054  # 95 %


class Agreement(NamedTuple):
    """The share of items on which two agree, kappa and AC1 with 95 % intervals; NaN where there is no chance to disagree."""

    n_decided: int
    agreement: float
    kappa: float
    kappa_ci_low: float
    kappa_ci_high: float
    ac1: float
    ac1_ci_low: float
    ac1_ci_high: float


def compute_agreement(one: Sequence[bool], other: Sequence[bool]) -> Agreement:
    """Return how far two agree on yes or no about the same items.

    Cohen's kappa (1960, doi 10.1177/001316446002000104) falls to 0 where nearly all answers are yes, however well two agree; Gwet's
    AC1 (2008, doi 10.1348/000711006X126600) does not. Intervals are from the linearised variances of that paper, for items drawn
    at random. Kappa is NaN where both give one answer throughout.

    >>> good, bad = [True] * 118 + [False] * 0, []
    >>> result = compute_agreement([True] * 123 + [False] * 2, [True] * 118 + [False] * 5 + [True] * 2)
    >>> round(result.agreement, 3), round(result.kappa, 4), round(result.ac1, 4)
    (0.944, -0.0234, 0.9408)
    """
    n = len(one)
    if n != len(other):
        raise ValueError(f"{n} and {len(other)} answers; expected one of each for each item")
    if not n:
        return Agreement(0, *[math.nan] * 7)
    same = [a == b for a, b in zip(one, other, strict=True)]
    raw = sum(same) / n
    a, b = sum(one) / n, sum(other) / n
    kappa_chance = a * b + (1 - a) * (1 - b)
    # What an item adds to the chance agreement of kappa: each answer times the other's share of it.
    kappa_parts = [((b if x else 1 - b) + (a if y else 1 - a)) / 2 for x, y in zip(one, other, strict=True)]
    yes = (a + b) / 2
    ac1_chance = 2 * yes * (1 - yes)
    ac1_parts = [((1 - yes if x else yes) + (1 - yes if y else yes)) / 2 for x, y in zip(one, other, strict=True)]
    return Agreement(
        n, raw, *_compute_interval(same, raw, kappa_chance, kappa_parts), *_compute_interval(same, raw, ac1_chance, ac1_parts)
    )


def _compute_interval(same: Sequence[bool], raw: float, chance: float, parts: Sequence[float]) -> tuple[float, float, float]:
    """Return the coefficient (raw - chance) / (1 - chance) with its 95 % interval, by the linearised variance."""
    n = len(same)
    if chance >= 1 - 1e-12:
        return math.nan, math.nan, math.nan
    value = (raw - chance) / (1 - chance)
    if n < 2:
        return value, math.nan, math.nan
    linear = [
        (one - chance) / (1 - chance) - 2 * (1 - value) * (part - chance) / (1 - chance)
        for one, part in zip(same, parts, strict=True)
    ]
    spread = Z_95 * math.sqrt(sum((each - value) ** 2 for each in linear) / (n * (n - 1)))
    return value, max(-1.0, value - spread), min(1.0, value + spread)
