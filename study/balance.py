"""How far two sets of sentences differ in a measure, and when that is said: by `check` before a study, beside an effect after it.

The standardised difference of a and b is (mean a - mean b) / sqrt((sd a ** 2 + sd b ** 2) / 2) over items, the measure of
balance of Austin (2009, doi 10.1002/sim.3697), which is Cohen's d for equal numbers.
"""

import math
from collections.abc import Sequence

LARGE_DIFFERENCE = 0.5  # a medium effect (Cohen 1988): a difference that a reader's data may show
MIN_ITEMS = 5  # items; with fewer, a single one decides
PART_LABELS = {
    "before": "the word before the critical region",
    "critical": "the critical region",
    "after": "the word after the critical region",
    "rest": "the sentence without its cue",
    "sentence": "the sentence",
}


def compute_mean_and_variance(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and variance (n - 1).

    >>> compute_mean_and_variance([1, 2, 3])
    (2.0, 1.0)
    """
    mean = sum(values) / len(values)
    return mean, sum([(value - mean) ** 2 for value in values]) / max(len(values) - 1, 1)


def compute_standardised_difference(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the standardised difference of two (mean, variance); infinite where means differ and items do not.

    >>> compute_standardised_difference((3.0, 1.0), (2.0, 1.0)), compute_standardised_difference((3.0, 0.0), (2.0, 0.0))
    (1.0, inf)
    """
    difference, sd = a[0] - b[0], math.sqrt((a[1] + b[1]) / 2)
    if abs(difference) < 1e-9:
        return 0.0
    return difference / sd if sd > 1e-9 else math.copysign(math.inf, difference)


def is_large(cohens_d: float | None, n_items: int) -> bool:
    """Return whether a standardised difference over so many items is worth saying.

    >>> is_large(-0.6, 12), is_large(float("inf"), 4), is_large(0.2, 12), is_large(None, 1)
    (True, False, False, False)
    """
    return cohens_d is not None and abs(cohens_d) > LARGE_DIFFERENCE and n_items >= MIN_ITEMS
