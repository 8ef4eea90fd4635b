"""Sign flips, bootstraps and Holm's correction, all seeded, over the units that were sampled: clusters, paradigms, items."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

FEW = 10  # under so many units no p and no interval: 1 in 2**9 is the smallest p, and a bootstrap covers far too little
EXACT = 16  # up to so many units every pattern of signs is enumerated
DRAWS = 10_000
AT_ONCE = 500  # draws held in memory together

Array = Any  # numpy is imported inside functions


@dataclass(frozen=True)
class Flipped:
    """A sign-flip test: its p, the smallest p that so many units can give, and how flips were taken."""

    p: float
    smallest: float
    method: str


def sign_flip(values: Array, *, one_sided: bool, seed: int, draws: int = DRAWS) -> Flipped:
    """Return how often the sum of `values` with random signs reaches the one observed; none under 10 values.

    Every pattern of signs up to 16 values (exact), else `draws` seeded ones and (hits + 1) / (draws + 1)
    (doi 10.2202/1544-6115.1585). One-sided: for a positive sum.

    >>> sign_flip([1.0] * 10, one_sided=True, seed=1).p == 2**-10
    True
    """
    import numpy as np

    values = np.asarray(values, dtype="float64")
    count = len(values)
    if count < FEW:
        return Flipped(float("nan"), float("nan"), "withheld")
    exact = count <= EXACT
    smallest = (1 if one_sided else 2) / 2**count if exact else 1 / (draws + 1)
    observed = values.sum() if one_sided else abs(values.sum())
    edge = observed - 1e-12 * np.abs(values).sum()  # equal sums may differ in their last bits
    hits, rng = 0, np.random.default_rng(seed)
    total = 2**count if exact else draws
    for start in range(0, total, AT_ONCE):
        size = min(AT_ONCE, total - start)
        signs = _patterns(start, size, count) if exact else rng.integers(0, 2, (size, count), dtype=np.int8) * 2 - 1
        sums = signs @ values
        hits += int(((sums if one_sided else np.abs(sums)) >= edge).sum())
    p = hits / total if exact else (hits + 1) / (draws + 1)
    return Flipped(p, smallest, "exact" if exact else f"{draws} draws")


def _patterns(start: int, size: int, count: int) -> Array:
    import numpy as np

    numbers = np.arange(start, start + size)[:, None]
    return ((numbers >> np.arange(count)) & 1) * 2 - 1


def ratio_interval(sums: Array, sizes: Array, *, seed: int, draws: int = DRAWS) -> tuple[float, float]:
    """Return the 95 % percentile interval of sum(sums) / sum(sizes), units drawn with replacement; none under 10 units."""
    import numpy as np

    sums, sizes = np.asarray(sums, dtype="float64"), np.asarray(sizes, dtype="float64")
    if len(sums) < FEW:
        return float("nan"), float("nan")
    rng, found = np.random.default_rng(seed), []
    for start in range(0, draws, AT_ONCE):
        times = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=min(AT_ONCE, draws - start))
        found.append((times @ sums) / (times @ sizes))
    return _ends(np.concatenate(found))


def interval(units: int, statistic: Callable[[Array], float], *, seed: int, draws: int) -> tuple[float, float]:
    """Return the 95 % percentile interval of `statistic` of drawn unit numbers; none under 10 units.

    Draws for which it is not defined (a constant) are left out; none is left where it seldom is.
    """
    import numpy as np

    if units < FEW:
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    found = np.array([statistic(rng.integers(0, units, units)) for _ in range(draws)])
    defined = found[np.isfinite(found)]
    return _ends(defined) if len(defined) > draws / 2 else (float("nan"), float("nan"))


def _ends(found: Array) -> tuple[float, float]:
    import numpy as np

    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def holm(p: "pd.Series[float]") -> "pd.Series[float]":
    """Return p-values adjusted after Holm (https://www.jstor.org/stable/4615733); empty ones are no tests.

    >>> holm(pd.Series([0.01, 0.04, float("nan"), 0.03])).to_list()
    [0.03, 0.06, nan, 0.06]
    """
    tested = p.dropna().sort_values(kind="stable")
    adjusted = (tested * pd.RangeIndex(len(tested), 0, -1).to_numpy()).cummax().clip(upper=1)
    return adjusted.reindex(p.index)
