"""A logistic curve from chance to an upper end, by least squares: accuracy over training tokens, or over language frequency."""

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CHANCE = 0.5
MIN_POINTS = 4  # different x from which a curve of three parameters leaves residuals


def evaluate_curve(x: "Array", upper: float, slope: float, midpoint: float) -> "Array":
    """Return .5 + (upper - .5) / (1 + exp(-slope (x - midpoint)))."""
    import numpy as np
    from scipy.special import expit

    return np.asarray(CHANCE + (upper - CHANCE) * expit(slope * (x - midpoint)))


def fit_curve(x: "Array", y: "Array") -> tuple[float, float, float] | None:
    """Return upper, slope and midpoint of the least sum of squares, from several starts; None where none of them arrives.

    `upper` is at most 1; there is no curve of fewer than four different x, or where x or y is the same everywhere.

    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> [round(number, 3) for number in fit_curve(x, evaluate_curve(x, 0.9, 1.5, 4.0))]
    [0.9, 1.5, 4.0]
    """
    import numpy as np
    from scipy.optimize import least_squares

    if len(np.unique(x)) < MIN_POINTS or np.ptp(y) == 0:
        return None
    bounds = ([CHANCE, 0.0, x.min() - 5], [1.0, 100.0, x.max() + 5])
    starts = itertools.product((0.75, max(0.55, min(0.99, y.max()))), (0.5, 2.0), np.quantile(x, [0.1, 0.5, 0.9]))

    def compute_residuals(parameters: "Array") -> "Array":
        return evaluate_curve(x, *parameters) - y

    fits = [least_squares(compute_residuals, start, bounds=bounds, xtol=1e-12, ftol=1e-12, gtol=1e-12) for start in starts]
    arrived = [one for one in fits if one.success]
    if not arrived:
        return None
    upper, slope, midpoint = map(float, min(arrived, key=lambda one: one.cost).x)
    return upper, slope, midpoint
