"""An effect tested by participants and by items: what stands beside a mixed model that could not have its slopes."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..modelling.coding import Coded
from ..modelling.simulated_trials import GROUPS, cross_columns

if TYPE_CHECKING:
    import numpy as np

MIN_F = "both: min F'"
MEAN, EMPIRICAL_LOG_ODDS = "mean", "empirical log odds"


def compute_aggregate_tests(design: Coded, term: str, response: str, *, is_binary: bool) -> list[dict[str, Any]]:
    """Return the tests of a coefficient by participants and by items, and min F', as rows of the table aggregate_tests.

    Each unit's responses are averaged in each condition (answers as empirical log odds; Barr 2008, doi
    10.1016/j.jml.2007.09.002), its coefficient is that of least squares over its conditions, and a t test says whether the mean of
    these is zero, or, of a factor between units, whether they differ (F1 and F2; Clark 1973, doi 10.1016/S0022-5371(73)80014-3).
    A unit without a trial in one of its conditions is left out. min F' = F1 F2 / (F1 + F2).

    >>> from ..engines.formulas import parse_formula
    >>> rows = [(f"P{p}", f"i{i}", (p + i) % 2 - 0.5, float((p + i) % 2 + p % 3 * (i % 2))) for p in range(6) for i in range(4)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "a", "y"])
    >>> formula = parse_formula("y ~ a + (1|participant) + (1|item)")
    >>> design = Coded(frame, formula, {"a": ("a", {"x": -0.5, "z": 0.5})}, {"a": "z minus x"})
    >>> tests = compute_aggregate_tests(design, "a", "y", is_binary=False)
    >>> [(one["grouping"], one.get("n_units")) for one in tests]
    [('participant', 6), ('item', 4), ("both: min F'", None)]
    """
    columns = {name: of for name, of in design.codes.items() if name in design.frame}
    frame = design.frame[[*columns, *GROUPS]].assign(y=pd.to_numeric(design.frame[response]).astype("float64"))
    parts = [] if term == "intercept" else term.split(":")
    first, second = (_test_group(frame, columns, parts, group, is_binary) for group in GROUPS)
    return [first, second, _compute_min_f(first, second)]


def _test_group(
    frame: pd.DataFrame, columns: Mapping[str, tuple[str, Any]], parts: Sequence[str], group: str, is_binary: bool
) -> dict[str, Any]:
    """Return the test over participants, or over items; without a statistic where there are too few of them."""
    import numpy as np
    from scipy import special

    varies = frame.groupby(group)[[*columns]].nunique().gt(1).any() if columns else pd.Series(dtype="bool")
    within = {name: of for name, of in columns.items() if varies[name]}
    between = {name: of for name, of in columns.items() if name not in within}
    cells = frame.groupby([group, *columns], sort=True)["y"].agg(["sum", "size", "mean"]).reset_index()
    odds = np.log((cells["sum"] + 0.5) / (cells["size"] - cells["sum"] + 0.5)) if is_binary else cells["mean"]
    inside, across = cross_columns(within), cross_columns(between)
    wanted, asked = tuple(part for part in parts if part in within), tuple(part for part in parts if part in between)
    n_conditions = len(cells[[*within]].drop_duplicates()) if within else 1
    scores, codes = [], []
    for _, unit in cells.assign(value=odds).groupby(group, sort=True):
        if len(unit) == n_conditions:
            found = _solve(_multiply(unit, inside), unit["value"].to_numpy(dtype="float64"))
            scores.append(float(found[1 + inside.index(wanted)] if wanted else found[0]))
            codes.append(unit[[*between]].head(1))
    row = {"grouping": group, "scale": EMPIRICAL_LOG_ODDS if is_binary else MEAN, "n_units": len(scores)}
    row |= {"n_excluded_units": frame[group].nunique() - len(scores)}
    matrix = _multiply(pd.concat(codes) if codes else frame.head(0), across)
    df = len(scores) - matrix.shape[1]
    if df < 1 or np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return row
    values = np.array(scores)
    estimate = _solve(matrix, values)
    residual = values - matrix @ estimate
    at = 1 + across.index(asked) if asked else 0
    se = math.sqrt(residual @ residual / df * np.linalg.inv(matrix.T @ matrix)[at, at])
    if se <= 1e-12 * max(1.0, float(np.abs(values).max())):  # rounding
        return row | {"estimate": float(estimate[at])}
    statistic = float(estimate[at]) / se
    p = 2 * float(special.stdtr(df, -abs(statistic)))
    return row | {"estimate": float(estimate[at]), "statistic": statistic, "df": float(df), "p": p}


def _solve(matrix: "np.ndarray", values: "np.ndarray") -> "np.ndarray":
    import numpy as np

    found: np.ndarray = np.linalg.lstsq(matrix, values, rcond=None)[0]
    return found


def _multiply(rows: pd.DataFrame, terms: Sequence[tuple[str, ...]]) -> "np.ndarray":
    """Return a column of ones, and the product of each term's columns."""
    import numpy as np

    columns = [np.ones(len(rows)), *(rows[[*term]].prod(axis=1).to_numpy(dtype="float64") for term in terms)]
    return np.column_stack(columns)


def _compute_min_f(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return min F' of tests by participants and by items, on 1 and `df` degrees of freedom."""
    from scipy import special

    row: dict[str, Any] = {"grouping": MIN_F, "scale": first["scale"]}
    f1, f2 = (one.get("statistic", 0.0) ** 2 for one in (first, second))
    if not f1 * f2:
        return row
    statistic = f1 * f2 / (f1 + f2)
    df = (f1 + f2) ** 2 / (f1**2 / second["df"] + f2**2 / first["df"])
    return row | {"statistic": statistic, "df": df, "p": float(special.fdtrc(1, df, statistic))}
