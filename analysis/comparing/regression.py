"""Ordinary least squares, with rows independent or in clusters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Regression:
    """Coefficients with standard errors, 95 % intervals and two-sided p, which without degrees of freedom are nan."""

    estimates: "Array"
    se: "Array"
    df: int
    ci_low: "Array"
    ci_high: "Array"
    t: "Array"
    p: "Array"


def least_squares(design: "Array", y: "Array", clusters: Any = None) -> Regression:
    """Return the regression of y on the columns of `design`, which are to be independent of each other.

    With `clusters`, a name for each row, standard errors take the rows of a cluster together (CR1: Liang & Zeger 1986, doi
    10.1093/biomet/73.1.13, times g / (g - 1) (n - 1) / (n - k)), with g - 1 degrees of freedom.

    >>> import numpy as np
    >>> found = least_squares(np.column_stack([np.ones(4), range(4)]), np.array([1.0, 3.0, 5.0, 7.1]))
    >>> found.estimates.round(2).tolist(), found.df
    ([0.98, 2.03], 2)
    """
    import numpy as np
    from scipy import special

    n, k = design.shape
    inverse = np.linalg.inv(design.T @ design)
    estimates = inverse @ design.T @ y
    residuals = y - design @ estimates
    if clusters is None:
        df = n - k
        variance = inverse * (residuals @ residuals) / max(df, 1)
    else:
        names = np.asarray(clusters)
        scores = np.vstack([(design * residuals[:, None])[names == name].sum(axis=0) for name in np.unique(names)])
        df = len(scores) - 1
        variance = inverse @ scores.T @ scores @ inverse * len(scores) / max(df, 1) * (n - 1) / max(n - k, 1)
    se = np.sqrt(np.diag(variance)) if min(df, n - k) > 0 else np.full(k, np.nan)
    half = special.stdtrit(max(df, 1), 0.975) * se
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimates / se
    return Regression(estimates, se, df, estimates - half, estimates + half, t, 2 * special.stdtr(max(df, 1), -abs(t)))
