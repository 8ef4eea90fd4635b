"""Contrasts named as in papers, made numeric columns: what `||` and engines without R need of a factor."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import CONTRAST_CODINGS

from ..engines.formulas import Formula, RandomEffects

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
    raise ValueError(f"contrasts {coding!r} are not known; expected one of {', '.join(CONTRAST_CODINGS)}")


@dataclass(frozen=True)
class Coded:
    """A table and its formula with numeric columns for factors; `codes` has each column's factor and codes by level.

    `compared` says what a contrast compares, such as "object minus subject"; a column without is 1 at one level alone.
    """

    frame: pd.DataFrame
    formula: Formula
    codes: Mapping[str, tuple[str, Mapping[str, float]]]
    compared: Mapping[str, str]

    def named(self, term: str) -> str | None:
        """Return what a coefficient compares, such as "extraction: object minus subject"; None where no factor is in it.

        Parts of an interaction stand around " x "; of nested contrasts, "noun at extraction object: name minus description";
        so is an effect at the first level of another factor that it interacts with, whose contrasts are treatment's.
        """
        parts = term.split(":")
        if not any(part in self.codes for part in parts):
            return None
        levels = [*self._levels(parts), *self._references(parts)]
        within = f" at {' and '.join(levels)}" if levels else ""
        crossed = [part for part in parts if part in self.compared or part not in self.codes]
        if not crossed:
            return f"mean at {' and '.join(levels)}"
        texts = [f"{self.codes[part][0]}: {self.compared[part]}" if part in self.codes else part for part in crossed]
        first, colon, rest = texts[0].partition(":")
        return " x ".join([f"{first}{within}{colon}{rest}", *texts[1:]])

    def factors(self, term: str) -> str | None:
        """Return the factors whose effect a coefficient is: a:b of an interaction, a/b of b within a level of a; None for none.

        Numeric predictors of an interaction are named among them.
        """
        parts = term.split(":")
        if not any(part in self.compared for part in parts):
            return None
        nests = [self.codes[part][0] for part in parts if part in self.codes and part not in self.compared]
        crossed = [self.codes[part][0] if part in self.codes else part for part in parts]
        return "/".join([*nests, ":".join(name for name in crossed if name not in nests)])

    def cell(self, terms: Iterable[str], at: Mapping[str, str], *, averaged: bool = True) -> dict[str, float]:
        """Return the weight of each fixed effect in what the model predicts at these levels of factors.

        Other factors are averaged over their levels, or with `averaged` off, at the zero of their codes. Numeric predictors are
        at zero, their mean where they are centred.
        """

        def code(part: str) -> float:
            if part not in self.codes:
                return 0.0
            factor, by = self.codes[part]
            if factor in at:
                return by[at[factor]]
            return sum(by.values()) / len(by) if averaged else 0.0

        names = {term: [] if term == "intercept" else term.split(":") for term in terms}
        return {term: math.prod(map(code, parts)) for term, parts in names.items()}

    def _levels(self, parts: Sequence[str]) -> list[str]:
        """Return the levels within which a coefficient is, each after its factor."""
        return [
            f"{factor} {level}"
            for factor, by in (self.codes[part] for part in parts if part in self.codes and part not in self.compared)
            for level, code in by.items()
            if code
        ]

    def _references(self, parts: Sequence[str]) -> list[str]:
        """Return the levels of other factors at which an effect holds that interacts with them: where all their codes are 0."""

        def names(parts: Sequence[str]) -> set[str]:
            return {self.codes[part][0] if part in self.codes else part for part in parts}

        own, interactions = names(parts), [names(term.split(":")) for term in self.formula.fixed]
        interacting = {factor for factors in interactions if own < factors for factor in factors - own}
        columns: dict[str, list[Mapping[str, float]]] = {}
        for column, (factor, by) in self.codes.items():
            if factor in interacting and column in self.compared:
                columns.setdefault(factor, []).append(by)
        return [
            f"{factor} {level}"
            for factor, contrasts in columns.items()
            for level in contrasts[0]
            if not any(by[level] for by in contrasts)
        ]


def coded(frame: pd.DataFrame, formula: Formula, contrasts: Mapping[str, Coding]) -> Coded:
    """Return the table with each factor's contrasts as columns, and the formula in terms of them.

    As in R, a factor stands in a term by its contrasts where the term without it is in the formula, else by a column for each
    of its levels: of a/b, that is a + a:b, the coefficients are the contrasts of a and those of b within each level of a.
    Among random effects the intercept counts as there, so that (0 + a|item) is a slope of the contrast.

    A factor with one level, a level that is not in the data, or a combination of levels that an interaction needs and
    no row has, is a `DataError`.
    """
    coding: dict[str, _Columns] = {}
    faults: list[str] = []
    for factor, contrast in contrasts.items():
        if factor not in formula.column_names:
            raise ValueError(f"contrasts of {factor!r}: not in formula {str(formula)!r}")
        if factor in frame:
            name, order = (contrast, None) if isinstance(contrast, str) else contrast
            levels, fault = _levels(frame[factor], order)
            faults += fault
            if not fault:
                coding[factor] = _columns(factor, name, levels)
    faults = faults or _empty_cells(frame, formula, contrasts)
    if faults:
        raise DataError(faults)
    if not contrasts:
        return Coded(frame, formula, {}, {})
    numeric = _replaced(formula, coding)
    used = {*numeric.column_names}
    codes = {
        column: (factor, by)
        for factor, columns in coding.items()
        for column, by in {**columns.contrasts, **columns.indicators}.items()
        if column in used
    }
    compared = {column: text for columns in coding.values() for column, text in columns.compared.items()}
    cells = {column: frame[factor].astype("string").map(by).astype("float64") for column, (factor, by) in codes.items()}
    return Coded(frame.assign(**cells), numeric, codes, {name: compared[name] for name in codes if name in compared})


@dataclass(frozen=True)
class _Columns:
    """The columns of a factor, each with its codes by level: its contrasts, what they compare, and one for each level."""

    contrasts: Mapping[str, Mapping[str, float]]
    compared: Mapping[str, str]
    indicators: Mapping[str, Mapping[str, float]]


def hypotheses(design: Coded) -> pd.DataFrame:
    """Return the contrast matrix and the hypothesis matrix of a design, a row for each coefficient and cell.

    `code` is what stands for the cell in the model matrix, `weight` what its mean weighs in the coefficient: the generalised
    inverse of the model matrix over the cells (Schad et al. 2020, doi 10.1016/j.jml.2019.104038). Cells are all combinations of
    the factors' levels; numeric predictors are left out.
    """
    import numpy as np

    if not design.codes:
        return pd.DataFrame()
    levels = {factor: list(by) for factor, by in design.codes.values()}
    cells = [dict(zip(levels, combined, strict=True)) for combined in itertools.product(*levels.values())]
    terms = ["intercept" if t == "1" else t for t in design.formula.fixed if set(t.split(":")) <= {"1", *design.codes}]
    codes = np.array([[*design.cell(terms, cell).values()] for cell in cells])
    weights = np.linalg.pinv(codes).round(12) + 0.0  # no -0.0, and no 1e-17 for 0
    names = [", ".join(f"{factor} {level}" for factor, level in cell.items()) for cell in cells]
    return pd.DataFrame(
        [
            {"term": term, "contrast": design.named(term), "cell": name, "code": codes[c, k], "weight": weights[k, c]}
            for k, term in enumerate(terms)
            for c, name in enumerate(names)
        ]
    )


def _levels(cells: pd.Series, order: Sequence[str] | None) -> tuple[list[str], list[str]]:
    present = sorted(cells.dropna().astype("string").unique())
    empty = int(cells.isna().sum())
    faults = [f"factor {cells.name!r}: {empty} of {len(cells)} values are empty; exclude them"] if empty else []
    if len(present) == 1:
        faults.append(f"factor {cells.name!r} has the one level {present[0]!r} in {len(cells)} rows; expected two or more")
    if order is not None and sorted(order) != present:
        faults.append(f"factor {cells.name!r} has the levels {', '.join(present)}; contrasts were given for {', '.join(order)}")
    return list(order) if order is not None else present, faults


def _columns(factor: str, coding: str, levels: Sequence[str]) -> _Columns:
    values = matrix(coding, len(levels))
    words = [re.sub(r"\W+", "_", level) for level in levels]
    match coding:
        case "sum":
            names = words[:-1]
            compared = [f"{level} minus the mean of all" for level in levels[:-1]]
        case "repeated":
            names = [f"{after}_{before}" for before, after in itertools.pairwise(words)]
            compared = [f"{after} minus {before}" for before, after in itertools.pairwise(levels)]
        case "helmert":
            names = words[1:]
            compared = [
                f"{level} minus the mean of {' and '.join(levels[:k])}, divided by {k + 1}" for k, level in enumerate(levels) if k
            ]
        case _:
            names = words[1:]
            compared = [f"{level} minus {levels[0]}" for level in levels[1:]]
    names = [f"{factor}_{name}" for name in _different(names)]
    contrasts = {name: {level: float(values[row, column]) for row, level in enumerate(levels)} for column, name in enumerate(names)}
    indicators = {
        f"{factor}_at_{word}": {other: float(other == level) for other in levels}
        for word, level in zip(_different(words), levels, strict=True)
    }
    return _Columns(contrasts, dict(zip(names, compared, strict=True)), indicators)


def _different(names: Sequence[str]) -> Sequence[str]:
    """Return the names, or numbers in their place where two are alike."""
    return names if len({*names}) == len(names) else [str(k) for k in range(len(names))]


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


def _replaced(formula: Formula, coding: Mapping[str, _Columns]) -> Formula:
    """Return the formula with columns for factors, term by term as R's terms.formula says."""

    def columns(name: str, term: Sequence[str], present: set[frozenset[str]]) -> Sequence[str]:
        if name not in coding:
            return [name]
        return [*(coding[name].contrasts if frozenset(term) - {name} in present else coding[name].indicators)]

    def terms(effects: Sequence[str], intercept: bool) -> tuple[str, ...]:
        present = {frozenset(term.split(":")) - {"1"} for term in effects} | ({frozenset[str]()} if intercept else set())
        numeric = []
        for term in effects:
            names = term.split(":")
            numeric += [":".join(product) for product in itertools.product(*(columns(n, names, present) for n in names))]
            if term in coding:
                present.add(frozenset())  # without an intercept, the first factor has a column for each level, others none
        # The columns of an interaction in the order in which they appear, as R and the engines name it.
        order = [*dict.fromkeys(name for term in numeric for name in term.split(":"))]
        return tuple(":".join(sorted(term.split(":"), key=order.index)) for term in numeric)

    random = tuple(RandomEffects(terms(r.terms, True), r.group, r.correlated) for r in formula.random)
    return replace(formula, fixed=terms(formula.fixed, False), random=random, text="")
