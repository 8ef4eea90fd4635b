"""Whether a binomial model has finite estimates: its response, conditions in which it is always the same, and its variances."""

from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath.study import DataError

from ..engines.estimates import Columns, ModelEstimate
from ..engines.formulas import Formula

LEVELS = 10  # up to so many values a predictor counts as a factor, whose levels can be named
BEYOND = 10.0  # log odds: who lies an s.d. from the others is right, or wrong, in all but one of 20,000 answers
CLEAR = 1e-7  # of a linear program's objective: what is less is rounding


def binary(frame: pd.DataFrame, response: str) -> dict[str, "pd.Series[float]"]:
    """Return the response as 0 and 1 by its name, nothing where there is no such column; other values are a `DataError`.

    >>> binary(pd.DataFrame({"correct": [True, False]}), "correct")["correct"].to_list()
    [1.0, 0.0]
    """
    if response not in frame or frame.empty:
        return {}
    values = pd.to_numeric(frame[response], errors="coerce").astype("float64")
    wrong = frame.loc[~values.isin([0.0, 1.0]), response]
    if len(wrong):
        raise DataError(
            f"column {response!r}: {len(wrong)} of {len(frame)} values are neither 0 nor 1, such as {wrong.iloc[0]!r}; "
            "expected 0 and 1, or False and True"
        )
    if (values == values.iloc[0]).all():
        raise DataError(f"{_share(response, values)}, so that log odds have no finite estimate")
    return {response: values}


def require_overlap(frame: pd.DataFrame, declared: Formula, formula: Formula, columns: Columns) -> None:
    """Raise `DataError` where the fixed effects can tell 0 from 1 without error, and name the cells that have one of them only.

    `declared` is the formula in terms of the factors in `frame`, `formula` in terms of `columns`.
    """
    if not separated(columns, formula):
        return
    cells = _constant_cells(frame, declared)
    where = "; ".join(cells) or f"{declared.response} is told without error by a combination of the predictors"
    raise DataError(f"{where}: the log odds have no finite estimate (separation)")


def separated(columns: Columns, formula: Formula) -> bool:
    """Whether 0 and 1 are separated, completely or in part, so that the likelihood has no maximum (Albert & Anderson 1984, doi
    10.1093/biomet/71.1.1): whether any combination of the fixed effects is never on the wrong side of zero.

    >>> from ..engines.formulas import parse_formula
    >>> columns = {"y": [0.0, 1.0, 1.0, 1.0], "x": [-0.5, -0.5, 0.5, 0.5]}
    >>> separated(columns, parse_formula("y ~ x")), separated(columns, parse_formula("y ~ 1"))
    (True, False)
    """
    import numpy as np
    from scipy.optimize import linprog

    response = np.asarray(columns[formula.response], dtype="float64")
    design = _design(columns, formula)
    sides = np.unique((2 * response - 1)[:, None] * design / np.abs(design).max(axis=0), axis=0)
    best = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1, 1), method="highs")
    return bool(best.fun is not None and -best.fun > CLEAR * len(sides))


def settled(estimated: ModelEstimate) -> ModelEstimate:
    """Return a binomial fit, as not converged where the variance of some random effect has run away and took the estimates along.

    Random effects can tell 0 from 1 without error where fixed effects alone cannot: of few answers, nearly all of one kind. The
    likelihood then grows with the variance and has no maximum, which optimizers take for one.
    """
    widest = max(estimated.variances, key=lambda one: one.sd, default=None)
    if estimated.family != "binomial" or widest is None or widest.sd <= BEYOND:
        return estimated
    what = "intercepts" if widest.term == "1" else f"slopes of {widest.term}"
    note = (
        f"The variance of the {what} by {widest.group} has run away (s.d. {widest.sd:.3g} log odds): these answers are too few, or "
        "too nearly all of one kind, for these random effects; the estimates mean nothing."
    )
    return replace(estimated, converged=False, notes=(*estimated.notes, note))


def require_answers(columns: Columns, formula: Formula) -> None:
    """Raise `DataError` where slopes have more variances and correlations than the rarer of 0 and 1 has rows.

    So few cannot tell them: the search is long, and where it ends nothing follows from it. Intercepts are always tried.

    >>> from ..engines.formulas import parse_formula
    >>> columns = {"y": [0.0, 0.0, 1.0, 1.0, 1.0]}
    >>> require_answers(columns, parse_formula("y ~ x + (1|participant)"))
    >>> require_answers(columns, parse_formula("y ~ x + (1 + x|participant)"))
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: y is 0 in 2 of 5 rows, too few for 3 variances and correlations of random effects
    """
    counts = [sum(value == one for value in columns[formula.response]) for one in (0.0, 1.0)]
    wanted = sum(len(one.terms) * (len(one.terms) + 1) // 2 if one.correlated else len(one.terms) for one in formula.random)
    if wanted > min(counts) and any(one.slopes for one in formula.random):
        raise DataError(
            f"{formula.response} is {counts.index(min(counts))} in {min(counts)} of {sum(counts)} rows, too few for {wanted} "
            "variances and correlations of random effects"
        )


def _design(columns: Columns, formula: Formula) -> Any:
    """Return the predictors of the fixed effects, a factor of text by all of its levels."""
    import numpy as np

    count = len(columns[formula.response])
    terms = []
    for term in formula.fixed:
        product = np.ones((count, 1))
        for name in (name for name in term.split(":") if name != "1"):
            cells = np.asarray(columns[name])
            part = (cells[:, None] == np.unique(cells)).astype("float64") if isinstance(columns[name][0], str) else cells[:, None]
            product = (product[:, :, None] * part[:, None, :]).reshape(count, -1)
        terms.append(product)
    design = np.hstack(terms)
    return design[:, np.abs(design).max(axis=0) > 0]


def _constant_cells(frame: pd.DataFrame, formula: Formula) -> list[str]:
    """Return the cells with one kind of response alone, of the fewest factors that show any."""
    factors = {name for term in formula.fixed for name in term.split(":") if name != "1"}
    factors = {name for name in factors if frame[name].nunique() <= LEVELS}
    for term in sorted(formula.fixed, key=lambda term: term.count(":")):
        names = [name for name in term.split(":") if name in factors]
        if not names or len(names) < len(term.split(":")):
            continue
        constant = [
            _share(formula.response, cell[formula.response])
            + f" where {' and '.join(f'{name} is {level}' for name, level in zip(names, levels, strict=True))}"
            for levels, cell in frame.groupby(names, sort=True)
            if (cell[formula.response] == cell[formula.response].iloc[0]).all()
        ]
        if constant:
            return constant
    return []


def _share(response: str, values: "pd.Series[float]") -> str:
    return f"{response} is {values.iloc[0]:.0%} ({int(values.sum())} of {len(values)})".replace("%", " %")
