"""Sign flips, bootstraps and Holm's correction, all seeded, over the units that were sampled: clusters, paradigms, items."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

ALPHA = 0.05  # level of two-sided tests
MIN_UNITS = 10  # under so many units no p and no interval: 1 in 2**9 is the smallest p, and a bootstrap covers far too little
MAX_EXACT_UNITS = 16  # up to so many units every pattern of signs is enumerated
RESAMPLES = 10_000
BATCH_SIZE = 500  # draws held in memory together
MAX_CACHED_COUNTS = 10_000_000  # counts of drawn units that are kept for the next interval over as many

Array = Any  # numpy is imported inside functions


@dataclass(frozen=True)
class SignFlipTest:
    """A sign-flip test: its p, the smallest p that so many units can give, and how flips were taken."""

    p: float
    min_possible_p: float
    method: str


def sign_flip_test(values: Array, *, one_sided: bool, seed: int, draws: int = RESAMPLES) -> SignFlipTest:
    """Return how often the sum of `values` with random signs reaches the one observed; none under 10 values.

    Every pattern of signs up to 16 values (exact), else `draws` seeded ones and (hits + 1) / (draws + 1)
    (doi 10.2202/1544-6115.1585). One-sided: for a positive sum.

    >>> sign_flip_test([1.0] * 10, one_sided=True, seed=1).p == 2**-10
    True
    """
    import numpy as np

    values = np.asarray(values, dtype="float64")
    count = len(values)
    if count < MIN_UNITS:
        return SignFlipTest(float("nan"), float("nan"), "withheld")
    exact = count <= MAX_EXACT_UNITS
    min_possible_p = (1 if one_sided else 2) / 2**count if exact else 1 / (draws + 1)
    observed = values.sum() if one_sided else abs(values.sum())
    edge = observed - 1e-12 * np.abs(values).sum()  # equal sums may differ in their last bits
    hits, rng = 0, np.random.default_rng(seed)
    total = 2**count if exact else draws
    for start in range(0, total, BATCH_SIZE):
        size = min(BATCH_SIZE, total - start)
        signs = _enumerate_signs(start, size, count) if exact else rng.integers(0, 2, (size, count), dtype=np.int8) * 2 - 1
        sums = signs @ values
        hits += int(((sums if one_sided else np.abs(sums)) >= edge).sum())
    p = hits / total if exact else (hits + 1) / (draws + 1)
    return SignFlipTest(p, min_possible_p, "exact" if exact else f"{draws} draws")


def _enumerate_signs(start: int, size: int, count: int) -> Array:
    import numpy as np

    numbers = np.arange(start, start + size)[:, None]
    return ((numbers >> np.arange(count)) & 1) * 2 - 1


def ratio_interval(sums: Array, sizes: Array, *, seed: int, draws: int = RESAMPLES) -> tuple[float, float]:
    """Return the 95 % percentile interval of sum(sums) / sum(sizes), units drawn with replacement; none under 10 units."""
    import numpy as np

    sums, sizes = np.asarray(sums, dtype="float64"), np.asarray(sizes, dtype="float64")
    if len(sums) < MIN_UNITS:
        return float("nan"), float("nan")
    ratios = [(times @ sums) / (times @ sizes) for times in draw_counts(len(sums), seed=seed, draws=draws)]
    return percentile_interval(np.concatenate(ratios))


def draw_counts(units: int, *, seed: int, draws: int) -> Iterator[Array]:
    """Yield how often each of so many units is there when as many are drawn with replacement: arrays of draws x units.

    They are the same for all intervals over as many units, and most of their cost: those of the last numbers are kept.
    """
    import numpy as np

    for times in (
        _draw_cached_batches(units, seed, draws) if units * draws <= MAX_CACHED_COUNTS else _draw_batches(units, seed, draws)
    ):
        yield times.astype(np.float64)


@functools.lru_cache(maxsize=4)
def _draw_cached_batches(units: int, seed: int, draws: int) -> list[Array]:
    return [times.astype("uint16") for times in _draw_batches(units, seed, draws)]


def _draw_batches(units: int, seed: int, draws: int) -> Iterator[Array]:
    import numpy as np

    rng, shares = np.random.default_rng(seed), np.full(units, 1 / units)
    for start in range(0, draws, BATCH_SIZE):
        yield rng.multinomial(units, shares, size=min(BATCH_SIZE, draws - start))


def correlation(x: Array, y: Array, *, ranks: bool) -> tuple[float, float]:
    """Return Pearson's correlation, or with `ranks` Spearman's, and its two-sided p by the t distribution.

    >>> [round(number, 6) for number in correlation([1.0, 2, 3, 4], [1.0, 3, 2, 9], ranks=True)]
    [0.8, 0.2]
    """
    import numpy as np
    from scipy import special

    x, y = ((pd.Series(side).rank() if ranks else pd.Series(side)).to_numpy(dtype="float64") for side in (x, y))
    r = min(1.0, max(-1.0, float(np.corrcoef(x, y)[1, 0])))
    with np.errstate(divide="ignore"):
        t = r * np.sqrt((len(x) - 2) / np.float64((r + 1) * (1 - r)))
    return r, 2 * float(special.stdtr(len(x) - 2, -abs(t)))


def correlation_interval(x: Array, y: Array, units: Array, *, ranks: bool, seed: int, draws: int = 2000) -> tuple[float, float]:
    """Return the 95 % percentile interval of a correlation, whole units drawn with replacement; none under 10 units.

    Pearson's, or with `ranks` Spearman's, ranked anew in every draw. Draws in which a side is constant are left out.
    """
    import numpy as np

    _, unit = np.unique(np.asarray(units, dtype=str), return_inverse=True)
    count = int(unit.max()) + 1 if len(unit) else 0
    if count < MIN_UNITS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    correlations = np.concatenate(
        [weighted_correlation(x, y, times[:, unit], ranks=ranks) for times in draw_counts(count, seed=seed, draws=draws)]
    )
    return percentile_interval(correlations[np.isfinite(correlations)])


def weighted_correlation(x: Array, y: Array, times: Array, *, ranks: bool) -> Array:
    """Return the correlation for each line of `times`, which says how often each row of x and y is there."""
    import numpy as np

    a, b = (_rank_weighted(side, times) if ranks else np.asarray(side, dtype="float64") for side in (x, y))
    size = times.sum(axis=1, keepdims=True)
    a = a - (times * a).sum(axis=1, keepdims=True) / size
    b = b - (times * b).sum(axis=1, keepdims=True) / size
    with np.errstate(invalid="ignore", divide="ignore"):
        return (times * a * b).sum(axis=1) / np.sqrt((times * a**2).sum(axis=1) * (times * b**2).sum(axis=1))


def _rank_weighted(side: Array, times: Array) -> Array:
    """Return mid-ranks of each row in each line: rows below, and half of those that are equal."""
    import numpy as np

    values, value_index = np.unique(side, return_inverse=True)
    counts = np.zeros((len(times), len(values)))
    np.add.at(counts.T, value_index, times.T)
    return (np.cumsum(counts, axis=1) - counts / 2 + 0.5)[:, value_index]


def mean_interval(values: Array, *, seed: int, draws: int = RESAMPLES) -> tuple[float, float]:
    """Return the 95 % percentile interval of a mean, values drawn with replacement; none under 10 values."""
    return (
        (float("nan"), float("nan"))
        if len(values) < MIN_UNITS
        else percentile_interval(resample_means(values, seed=seed, draws=draws))
    )


def resample_means(values: Array, *, seed: int, draws: int = RESAMPLES) -> Array:
    """Return means of `values` drawn with replacement.

    Few distinct values (a pair is won, tied or lost) are drawn by how often each occurs, which is the same thing: equal values
    are exchangeable, so how often each is drawn is one multinomial.
    """
    import numpy as np

    distinct, counts = np.unique(np.asarray(values, dtype="float64"), return_counts=True)
    times = np.random.default_rng(seed).multinomial(counts.sum(), counts / counts.sum(), size=draws)
    return times @ distinct / counts.sum()


def percentile_interval(values: Array) -> tuple[float, float]:
    """Return the 2.5 and 97.5 % quantiles."""
    import numpy as np

    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def mcnemar(a_only: Array, b_only: Array) -> Array:
    """Return McNemar's exact two-sided p (binomial, doi 10.1007/BF02295996) of pairs that one of two models wins alone.

    >>> mcnemar([9, 0], [1, 0]).round(4).tolist()
    [0.0215, 1.0]
    """
    import numpy as np
    from scipy import stats

    fewer, both = np.minimum(a_only, b_only), np.add(a_only, b_only)
    return np.minimum(1.0, 2 * stats.binom.cdf(fewer, both, 0.5))


def holm(p: "pd.Series[float]") -> "pd.Series[float]":
    """Return p-values adjusted after Holm (https://www.jstor.org/stable/4615733); empty ones are no tests.

    >>> holm(pd.Series([0.01, 0.04, float("nan"), 0.03])).to_list()
    [0.03, 0.06, nan, 0.06]
    """
    tested = p.dropna().sort_values(kind="stable")
    adjusted = (tested * pd.RangeIndex(len(tested), 0, -1).to_numpy()).cummax().clip(upper=1)
    return adjusted.reindex(p.index)


def benjamini_hochberg(p: "pd.Series[float]") -> "pd.Series[float]":
    """Return p-values adjusted after Benjamini and Hochberg (doi 10.1111/j.2517-6161.1995.tb02031.x); empty ones are no tests.

    >>> benjamini_hochberg(pd.Series([0.01, float("nan"), 0.04])).to_list()
    [0.02, nan, 0.04]
    """
    tested = p.dropna().sort_values(ascending=False, kind="stable")
    ranks = pd.RangeIndex(len(tested), 0, -1).to_numpy()
    return (tested * (len(tested) / ranks)).cummin().clip(upper=1).reindex(p.index)


def adjust_by_family(
    tests: pd.DataFrame, by: list[str], method: Callable[["pd.Series[float]"], "pd.Series[float]"]
) -> "pd.Series[float]":
    """Return the column p of tests, adjusted by a method within each family, that is among those with the same values of `by`."""
    families = [method(p) for _, p in tests.groupby(by, dropna=False, sort=False)["p"]]
    return pd.concat(families).reindex(tests.index) if families else tests["p"]


def wilson_interval(successes: pd.Series, n: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return both ends of the 95 % Wilson score interval; `successes` may hold halves.

    >>> low, high = wilson_interval(pd.Series([8]), pd.Series([10]))
    >>> low.round(3).item(), high.round(3).item()
    (0.49, 0.943)
    """
    z = 1.959963984540054  # the normal quantile at .975
    centre = (successes + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * (successes * (n - successes) / n + z**2 / 4) ** 0.5
    return (centre - half).clip(lower=0), (centre + half).clip(upper=1)
