"""Random-effects meta-analysis: the effect of several experiments, how far they differ, and what a further one may find."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gardenpath.study import DataError

if TYPE_CHECKING:
    import numpy as np

LEVEL = 0.95  # of intervals
MIN_PREDICTED = 3  # experiments from which a prediction interval has degrees of freedom
MAX_STEPS = 500  # of the search for a zero


@dataclass(frozen=True)
class MetaAnalysis:
    """The mean effect of experiments with its test, their standard deviation `tau` with its interval, and the weight of each.

    `q`, `q_df` and `q_p` are Cochran's test that all have the same effect; `i_squared` is the share of the variance between
    estimates that their standard errors do not explain. The prediction interval is where a further experiment's own effect is
    expected; not a number of two experiments. Weights sum to 1.
    """

    estimate: float
    se: float
    df: float
    t: float
    p: float
    ci_low: float
    ci_high: float
    tau: float
    tau_low: float
    tau_high: float
    q: float
    q_df: int
    q_p: float
    i_squared: float
    prediction_low: float
    prediction_high: float
    weights: tuple[float, ...]


def pool_estimates(estimates: Sequence[float], errors: Sequence[float]) -> MetaAnalysis:
    """Return the random-effects meta-analysis of independent estimates with these standard errors, all in one unit.

    The variance between experiments is estimated by restricted maximum likelihood (Viechtbauer 2005, doi
    10.3102/10769986030003261), with an interval by the Q profile (Viechtbauer 2007, doi 10.1002/sim.2514); test and interval of the
    mean are Hartung and Knapp's, of t with k - 1 degrees of freedom (doi 10.1002/sim.1009; IntHout et al. 2014, doi
    10.1186/1471-2288-14-25). Where the estimates lie closer together than their standard errors allow, that error is not taken to
    be smaller than theirs: two experiments that agree by chance would prove anything (Röver et al. 2015, doi
    10.1186/s12874-015-0091-1). The prediction interval is that of t with k - 2 degrees of freedom (Higgins et al. 2009, doi
    10.1111/j.1467-985X.2008.00552.x).

    Raises `DataError` for fewer than two estimates, or one without a finite positive standard error.

    >>> result = pool_estimates([0.10, 0.02, 0.06], [0.02, 0.02, 0.02])
    >>> round(result.estimate, 3), round(result.tau, 4), result.df
    (0.06, 0.0346, 2.0)
    """
    import numpy as np
    from scipy import special, stats

    values, variances = np.asarray(estimates, dtype="float64"), np.asarray(errors, dtype="float64") ** 2
    usable = np.isfinite(values) & np.isfinite(variances) & (variances > 0)
    count = len(values)
    if count < 2 or not usable.all():
        raise DataError(
            f"{count} estimates, {int(usable.sum())} of them with a finite standard error above 0; expected two or more of such"
        )
    tau2 = _estimate_tau2(values, variances)
    weights = 1 / (variances + tau2)
    mean = float(weights @ values / weights.sum())
    spread = float(weights @ (values - mean) ** 2) / (count - 1)
    se = math.sqrt(max(1.0, spread) / weights.sum())
    df = count - 1
    half = float(special.stdtrit(df, (1 + LEVEL) / 2)) * se
    q = _compute_q(0.0, values, variances)
    low, high = (math.sqrt(_profile(float(stats.chi2.ppf(share, df)), values, variances)) for share in (0.975, 0.025))
    fixed = 1 / variances
    typical = df * fixed.sum() / (fixed.sum() ** 2 - (fixed**2).sum())
    reach = math.nan
    if count >= MIN_PREDICTED:
        reach = float(special.stdtrit(count - 2, (1 + LEVEL) / 2)) * math.sqrt(tau2 + se**2)
    return MetaAnalysis(
        estimate=mean,
        se=se,
        df=float(df),
        t=mean / se,
        p=2 * float(special.stdtr(df, -abs(mean / se))),
        ci_low=mean - half,
        ci_high=mean + half,
        tau=math.sqrt(tau2),
        tau_low=low,
        tau_high=high,
        q=q,
        q_df=df,
        q_p=float(stats.chi2.sf(q, df)),
        i_squared=float(tau2 / (tau2 + typical)),
        prediction_low=mean - reach,
        prediction_high=mean + reach,
        weights=tuple(map(float, weights / weights.sum())),
    )


def _estimate_tau2(values: "np.ndarray", variances: "np.ndarray") -> float:
    """Return the variance between experiments that has the largest restricted likelihood, 0 or more."""
    import numpy as np
    from scipy import optimize

    def deviance(tau2: float) -> float:
        weights = 1 / (variances + tau2)
        mean = weights @ values / weights.sum()
        return float(np.log(variances + tau2).sum() + np.log(weights.sum()) + weights @ (values - mean) ** 2)

    def slope(tau2: float) -> float:
        weights = 1 / (variances + tau2)
        mean = weights @ values / weights.sum()
        return float(weights.sum() - (weights**2).sum() / weights.sum() - weights**2 @ (values - mean) ** 2)

    # The likelihood of few experiments may have several peaks: each is looked for between the points of a grid.
    top = 4 * float(np.ptp(values)) ** 2 + 1e-12 * float(variances.max())
    grid = np.concatenate([[0.0], np.geomspace(1e-8 * float(variances.min()), top, 200)])
    slopes = [slope(point) for point in grid]
    peaks = [0.0] + [
        float(optimize.brentq(slope, grid[k], grid[k + 1], xtol=1e-14 * top, rtol=1e-14, maxiter=MAX_STEPS))
        for k in range(len(grid) - 1)
        if slopes[k] < 0 <= slopes[k + 1]
    ]
    return min(peaks, key=deviance)


def _compute_q(tau2: float, values: "np.ndarray", variances: "np.ndarray") -> float:
    weights = 1 / (variances + tau2)
    return float(weights @ (values - weights @ values / weights.sum()) ** 2)


def _profile(quantile: float, values: "np.ndarray", variances: "np.ndarray") -> float:
    """Return the variance between experiments at which Q is this quantile, 0 where it is below it everywhere."""
    from scipy import optimize

    if _compute_q(0.0, values, variances) <= quantile:
        return 0.0
    high = float(variances.max()) + float(values.max() - values.min()) ** 2
    while _compute_q(high, values, variances) > quantile:
        high *= 2
    return float(
        optimize.brentq(lambda tau2: _compute_q(tau2, values, variances) - quantile, 0.0, high, xtol=1e-14 * high, rtol=1e-14)
    )
