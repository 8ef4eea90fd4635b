"""Contrasts named as in papers, made numeric columns: what `||` and engines without R need of a factor."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import CODINGS

from ..engines.formulas import Formula, Random

if TYPE_CHECKING:
    import numpy as np

# A name, or a name and the order of the levels; without an order, levels stand in that of their characters.
Coding = str | tuple[str, Sequence[str]]


def matrix(coding: str, levels: int) -> "np.ndarray":
    """Return the contrasts, one row a level (Schad et al. 2020, doi 10.1016/j.jml.2019.104038).

    What a coefficient is, in R's terms and in means of the levels:
    sum (contr.sum): the level minus the mean of all; treatment (contr.treatment): the level minus the first;
    helmert (contr.helmert): the k-th level minus the mean of those before, divided by k;
    repeated (MASS::contr.sdif): the level minus the one before.

    >>> matrix("repeated", 2).tolist()
    [[-0.5], [0.5]]
    """
    import numpy as np

    rows, columns = np.indices((levels, levels - 1))
    codes: dict[str, np.ndarray] = {
        "sum": (rows == columns) - 1.0 * (rows == levels - 1),
        "treatment": 1.0 * (rows == columns + 1),
        "helmert": (columns + 1.0) * (rows == columns + 1) - 1.0 * (rows <= columns),
        "repeated": (columns + 1) / levels - 1.0 * (rows <= columns),
    }
    if coding in codes:
        return codes[coding]
    raise ValueError(f"contrasts {coding!r} are not known; expected one of {', '.join(CODINGS)}")


@dataclass(frozen=True)
class Coded:
    """A table and its formula with numeric columns for factors; `codes` has each column's factor and codes by level."""

    frame: pd.DataFrame
    formula: Formula
    codes: Mapping[str, tuple[str, Mapping[str, float]]]


def coded(frame: pd.DataFrame, formula: Formula, contrasts: Mapping[str, Coding]) -> Coded:
    """Return the table with each factor's contrasts as columns, and the formula in terms of them.

    A factor with one level, a level that is not in the data, or a combination of levels that an interaction needs and
    no row has, is a `DataError`.
    """
    if not contrasts:
        return Coded(frame, formula, {})
    codes: dict[str, tuple[str, Mapping[str, float]]] = {}
    columns: dict[str, list[str]] = {}
    faults: list[str] = []
    for factor, coding in contrasts.items():
        if factor not in formula.names:
            raise ValueError(f"contrasts of {factor!r}: not in formula {str(formula)!r}")
        if factor in frame:
            name, levels = (coding, None) if isinstance(coding, str) else coding
            levels, fault = _levels(frame[factor], levels)
            faults += fault
            if not fault:
                by_column = {column: (factor, by) for column, by in _columns(factor, name, levels).items()}
                columns[factor] = list(by_column)
                codes |= by_column
    faults = faults or _empty_cells(frame, formula, contrasts)
    if faults:
        raise DataError(faults)
    numeric = {
        column: frame[factor].astype("string").map(by).astype("float64") for column, (factor, by) in codes.items()
    }
    return Coded(frame.assign(**numeric), _replaced(formula, columns), codes)


def _levels(cells: pd.Series, order: Sequence[str] | None) -> tuple[list[str], list[str]]:
    present = sorted(cells.dropna().astype("string").unique())
    empty = int(cells.isna().sum())
    faults = [f"factor {cells.name!r}: {empty} of {len(cells)} values are empty; exclude them"] if empty else []
    if len(present) == 1:
        faults.append(
            f"factor {cells.name!r} has the one level {present[0]!r} in {len(cells)} rows; expected two or more"
        )
    if order is not None and sorted(order) != present:
        faults.append(
            f"factor {cells.name!r} has the levels {', '.join(present)}; contrasts were given for {', '.join(order)}"
        )
    return list(order) if order is not None else present, faults


def _columns(factor: str, coding: str, levels: Sequence[str]) -> dict[str, dict[str, float]]:
    values = matrix(coding, len(levels))
    words = [re.sub(r"\W+", "_", level) for level in levels]
    match coding:
        case "sum":
            names = words[:-1]
        case "repeated":
            names = [f"{after}_{before}" for before, after in itertools.pairwise(words)]
        case _:
            names = words[1:]
    names = names if len({*names}) == len(names) else [str(k) for k in range(len(names))]
    return {
        f"{factor}_{name}": {level: float(values[row, column]) for row, level in enumerate(levels)}
        for column, name in enumerate(names)
    }


def _empty_cells(frame: pd.DataFrame, formula: Formula, contrasts: Mapping[str, Coding]) -> list[str]:
    crossed = {tuple(name for name in term.split(":") if name in contrasts) for term in formula.fixed}
    faults = []
    for factors in sorted(cell for cell in crossed if len(cell) > 1):
        present = set(frame[list(factors)].astype("string").itertuples(index=False, name=None))
        levels = [sorted(frame[name].astype("string").unique()) for name in factors]
        for cell in itertools.product(*levels):
            if cell not in present:
                what = " and ".join(f"{name} {level!r}" for name, level in zip(factors, cell, strict=True))
                faults.append(f"no row has {what}, so the interaction {':'.join(factors)} cannot be estimated")
    return faults


def _replaced(formula: Formula, columns: Mapping[str, Sequence[str]]) -> Formula:
    def terms(effects: Sequence[str]) -> tuple[str, ...]:
        parts = [itertools.product(*(columns.get(name, [name]) for name in term.split(":"))) for term in effects]
        return tuple(":".join(product) for products in parts for product in products)

    random = tuple(Random(terms(r.terms), r.group, r.correlated) for r in formula.random)
    return replace(formula, fixed=terms(formula.fixed), random=random, text="")
