"""Where a linear mixed model's likelihood may have another peak, found at a third of the time of fits from there."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from .estimates import Columns
from .formulas import Formula

Array = Any
Criterion = Callable[[Array], float]  # of the logs of standard deviations of random intercepts over the residual's
MIN_DEVIATION = 0.02  # such a deviation counts as none
SAME_PEAK_DISTANCE = 0.25  # of the log deviations, within which a search has come back to the same peak
MIN_STEP = 0.05  # the step of the log deviations at which a search ends
MAX_CELLS = 10_000_000  # numbers that may be held: 80 MB


def find_other_peaks(
    columns: Columns, formula: Formula, fitted_deviations: Sequence[float], starts: Iterable[Sequence[float]], *, reml: bool
) -> list[list[float]] | None:
    """Return where searches from `starts` end that do not end beside `fitted_deviations`; all are deviations in the formula's
    order.

    For models with random intercepts only. None where it would take too much memory, or a predictor is made of others.
    """
    import numpy as np

    criterion = build_criterion(columns, formula, reml=reml)
    if criterion is None:
        return None
    try:
        ends = [_descend(criterion, np.log(start)) for start in starts]
    except np.linalg.LinAlgError:
        return None
    peak = np.log(np.maximum(fitted_deviations, MIN_DEVIATION))
    return [np.exp(end).tolist() for end in ends if (np.abs(end - peak) > SAME_PEAK_DISTANCE).any()]


def _descend(criterion: Criterion, point: Array) -> Array:
    """Return the lowest point near, by steps along one axis at a time that are halved where none leads down."""
    import numpy as np

    lowest, step = criterion(point), 0.5
    moves = [sign * axis for axis in np.eye(len(point)) for sign in (-1, 1)]
    while step > MIN_STEP:
        for k, move in enumerate(moves):
            there = np.maximum(point + step * move, np.log(MIN_DEVIATION))
            value = criterion(there)
            if value < lowest:
                point, lowest = there, value
                moves.insert(0, moves.pop(k))  # the same way once more
                break
        else:
            step /= 2
    return point


def build_criterion(columns: Columns, formula: Formula, *, reml: bool) -> Criterion | None:
    """Return -2 log likelihood (restricted, if `reml`) as a function of the log deviations of random intercepts.

    It is that of Bates et al. (2015, doi 10.18637/jss.v067.i01), from cross products alone: the group with the most levels is
    integrated out level by level, the others by a Cholesky factor.
    """
    import glmm
    import numpy as np

    codes = [_encode_groups(columns, random.group) for random in formula.random]
    levels = [int(code.max()) + 1 for code in codes]
    large = levels.index(max(levels))
    others = [k for k in range(len(codes)) if k != large]
    design, _ = glmm.model_matrix(dict(columns), replace(formula, random=()).format_expanded())
    numbers = np.column_stack([design, np.asarray(columns[formula.response], dtype="float64")])
    m, size = sum(levels[k] for k in others), sum(levels[k] for k in others) + numbers.shape[1]
    counts, of = np.unique(np.bincount(codes[large]), return_inverse=True)
    if max(levels[large], len(counts) * size) * size > MAX_CELLS:
        return None

    def count_joint_levels(a: int, b: int) -> Array:
        together = np.bincount(codes[a] * levels[b] + codes[b], minlength=levels[a] * levels[b])
        return together.reshape(levels[a], levels[b]).astype("float64")

    def sum_by_level(a: int) -> Array:
        return np.column_stack([np.bincount(codes[a], weights=column) for column in numbers.T])

    # Cross products of the other groups' levels, the predictors and the response, and those within levels of the largest group,
    # added up over the levels that have as many rows.
    rows = [[*(count_joint_levels(a, b) for b in others), sum_by_level(a)] for a in others]
    within = np.block([*rows, [*(sum_by_level(b).T for b in others), numbers.T @ numbers]])
    across = np.hstack([*(count_joint_levels(large, b) for b in others), sum_by_level(large)])
    parts = np.stack([across[of == k].T @ across[of == k] for k in range(len(counts))])
    as_many = np.bincount(of)
    ridge = np.diag(np.repeat([1.0, 0.0], [m, size - m]))
    freedom = len(numbers) - reml * design.shape[1]

    def compute_criterion(log: Array) -> float:
        variances = np.exp(2 * log)
        ridged = 1 + counts * variances[large]
        left = within - np.tensordot(variances[large] / ridged, parts, 1)
        scale = np.concatenate([np.repeat(np.exp(log[others]), [levels[k] for k in others]), np.ones(size - m)])
        root = np.log(np.diag(np.linalg.cholesky(left * scale[:, None] * scale + ridge)))
        volume = as_many @ np.log(ridged) + 2 * root[: -1 if reml else m].sum()
        return float(volume + freedom * (1 + np.log(2 * np.pi / freedom) + 2 * root[-1]))

    return compute_criterion


def _encode_groups(columns: Columns, group: str) -> Array:
    code, *inner = (pd.factorize(pd.Series(columns[name], dtype=object))[0] for name in group.split(":"))
    for other in inner:
        code = pd.factorize(code * (int(other.max()) + 1) + other)[0]
    return code
