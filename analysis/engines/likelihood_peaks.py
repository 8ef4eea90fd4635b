"""The likelihood of linear mixed models with random intercepts from cross products alone: its lowest point near a start, and
searches for other peaks, at a fraction of the time of fits.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
LEAST_DEVIATION = 1e-9  # whose logarithm stands for that of zero
# A search ends where -2 log likelihood changes by less than this part of itself, or is as flat as this.
SEARCH_TOLERANCE, GRADIENT_TOLERANCE = 1e-10, 1e-3
COLLINEAR = 1e-10  # the part of a predictor's variance that no other explains, under which it counts as made of them


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
    """Return -2 log likelihood (restricted, if `reml`) as a function of the log deviations of random intercepts."""
    import glmm
    import numpy as np

    codes = [encode_groups(columns, random.group) for random in formula.random]
    design, _ = glmm.model_matrix(dict(columns), replace(formula, random=()).format_expanded())
    response = np.asarray(columns[formula.response], dtype="float64")
    products = compute_cross_products(codes, np.asarray(design), response)
    return None if products is None else partial(products.compute_criterion, reml=reml)


@dataclass(frozen=True)
class CrossProducts:
    """What the likelihood of a model with random intercepts follows from, whatever their deviations.

    It is that of Bates et al. (2015, doi 10.18637/jss.v067.i01). The group with the most levels is integrated out level by level
    (tokens), then a group in which it is nested (their items): between two of its levels nothing is left. The other groups'
    levels, the predictors and the response have a Cholesky factor. Rows of the largest group's levels are added up over those that
    have as many readings and the same outer level.
    """

    groups: tuple[int, int | None, tuple[int, ...]]  # places of the largest group, the one around it, and the others
    levels: Sequence[int]  # of each group
    within: Array  # cross products of the others' levels, the predictors and the response
    parts: Array  # by number of readings of the largest group's levels: what integrating these out takes away
    part_counts: Array  # readings of a level, of each of `parts`
    part_levels: Array  # levels, of each of `parts`
    sums: Array  # sums over the levels of the largest group that have as many readings and share an outer level
    sum_counts: Array  # readings of a level, of each of `sums`
    sum_levels: Array  # levels, of each of `sums`
    sum_starts: Array  # where in `sums` each outer level begins
    n: int
    predictors: int

    def compute_criterion(self, log: Array, *, reml: bool) -> float:
        """Return -2 log likelihood, restricted if `reml`, at the logs of deviations over the residual's."""
        import numpy as np

        root, volume = self._factor(np.exp(log))
        freedom = self.n - reml * self.predictors
        logs = np.log(np.diag(root))
        volume += 2 * logs[: -1 if reml else len(logs) - self.predictors - 1].sum()
        return float(volume + freedom * (1 + np.log(2 * np.pi / freedom) + 2 * logs[-1]))

    def estimate(self, deviations: Array) -> tuple[Array, float]:
        """Return the coefficients and the residual variance of maximum likelihood at deviations over the residual's.

        Raises `LinAlgError` where a predictor is made of others.
        """
        import numpy as np
        from scipy.linalg import solve_triangular

        root, _ = self._factor(deviations)
        k = self.predictors + 1
        left = (root[-k:-1] ** 2).sum(axis=1)
        if (np.diag(root)[-k:-1] ** 2 < COLLINEAR * left).any():
            raise np.linalg.LinAlgError("a predictor is made of others")
        return solve_triangular(root[-k:-1, -k:-1], root[-1, -k:-1], lower=True, trans=1), float(root[-1, -1] ** 2 / self.n)

    def find_nearby_peak(self, start: Sequence[float]) -> tuple[Array, bool]:
        """Return the deviations of the highest likelihood near a start, over the residual's, and whether the search converged."""
        import numpy as np
        from scipy.optimize import minimize

        scale = np.maximum(start, MIN_DEVIATION)  # not zero, where the gradient is zero

        def compute_scaled_criterion(scaled: Array) -> float:
            return self.compute_criterion(np.log(np.maximum(scaled * scale, LEAST_DEVIATION)), reml=False)

        found = minimize(
            compute_scaled_criterion,
            np.ones(len(scale)),
            method="L-BFGS-B",
            jac="3-point",
            bounds=[(0, None)] * len(scale),
            options={"ftol": SEARCH_TOLERANCE, "gtol": GRADIENT_TOLERANCE},
        )
        return found.x * scale, bool(found.success)

    def _factor(self, deviations: Array) -> tuple[Array, float]:
        """Return the Cholesky factor of what is left when levels are integrated out, and the volume of these."""
        import numpy as np

        large, outer, others = self.groups
        variances = deviations**2
        ridged = 1 + self.part_counts * variances[large]
        left = self.within - np.tensordot(variances[large] / ridged, self.parts, 1)
        volume = self.part_levels @ np.log(ridged)
        if outer is not None:
            shares = 1 / (1 + self.sum_counts * variances[large])
            totals = np.add.reduceat(self.sums * shares[:, None], self.sum_starts, axis=0)
            ridge = 1 + variances[outer] * np.add.reduceat(self.sum_levels * self.sum_counts * shares, self.sum_starts)
            left = left - (totals.T * (variances[outer] / ridge)) @ totals
            volume += np.log(ridge).sum()
        size = self.predictors + 1
        scale = np.concatenate([np.repeat(deviations[[*others]], [self.levels[k] for k in others]), np.ones(size)])
        ridged_diagonal = np.repeat([1.0, 0.0], [len(scale) - size, size])
        return np.linalg.cholesky(left * scale[:, None] * scale + np.diag(ridged_diagonal)), float(volume)


def compute_cross_products(codes: Sequence[Array], design: Array, response: Array) -> CrossProducts | None:
    """Return the cross products of groups, whose levels are numbered from 0, of predictors and response; None where they would
    take too much memory.
    """
    import numpy as np

    levels = [int(code.max()) + 1 for code in codes]
    large = levels.index(max(levels))
    outers = [k for k in range(len(codes)) if k != large and _is_nested(codes[large], codes[k])]
    outer = max(outers, key=lambda k: levels[k], default=None)
    others = tuple(k for k in range(len(codes)) if k not in (large, outer))
    numbers = np.column_stack([design, response])
    size = sum(levels[k] for k in others) + numbers.shape[1]
    readings = np.bincount(codes[large], minlength=levels[large])
    counts, of = np.unique(readings, return_inverse=True)
    if max(levels[large], len(counts) * size) * size > MAX_CELLS:
        return None

    def count_joint_levels(a: int, b: int) -> Array:
        together = np.bincount(codes[a] * levels[b] + codes[b], minlength=levels[a] * levels[b])
        return together.reshape(levels[a], levels[b]).astype("float64")

    def sum_by_level(a: int) -> Array:
        return np.column_stack([np.bincount(codes[a], weights=column, minlength=levels[a]) for column in numbers.T])

    rows = [[*(count_joint_levels(a, b) for b in others), sum_by_level(a)] for a in others]
    within = np.block([*rows, [*(sum_by_level(b).T for b in others), numbers.T @ numbers]])
    across = np.hstack([*(count_joint_levels(large, b) for b in others), sum_by_level(large)])
    parts = np.empty((len(counts), size, size))
    for k in range(len(counts)):
        rows_of_count = across[of == k]
        parts[k] = rows_of_count.T @ rows_of_count
    sums, sum_counts, sum_levels, starts = across[:0], counts[:0], counts[:0], counts[:0]
    if outer is not None:
        parent = np.zeros(levels[large], dtype="int64")
        parent[codes[large]] = codes[outer]
        place = parent * len(counts) + of
        order = np.argsort(place, kind="stable")
        found, first, sum_levels = np.unique(place[order], return_index=True, return_counts=True)
        sums, sum_counts = np.add.reduceat(across[order], first, axis=0), counts[found % len(counts)]
        starts = np.unique(found // len(counts), return_index=True)[1]
    return CrossProducts(
        (large, outer, others),
        levels,
        within,
        parts,
        counts,
        np.bincount(of),
        sums,
        sum_counts,
        sum_levels,
        starts,
        len(numbers),
        design.shape[1],
    )


def _is_nested(inner: Array, outer: Array) -> bool:
    """Whether each level of the inner group stands in one of the outer."""
    import numpy as np

    parent = np.zeros(int(inner.max()) + 1, dtype=outer.dtype)
    parent[inner] = outer
    return bool((parent[inner] == outer).all())


def encode_groups(columns: Columns, group: str) -> Array:
    """Return the number of each row's level of a group, from 0 in order of appearance; of a:b, of the pairs."""
    code, *inner = (pd.factorize(pd.Series(columns[name], dtype=object))[0] for name in group.split(":"))
    for other in inner:
        code = pd.factorize(code * (int(other.max()) + 1) + other)[0]
    return code
