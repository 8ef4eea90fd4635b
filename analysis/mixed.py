"""Linear mixed models: a table and a formula in, a table of fixed effects out. An engine is a module in ENGINES."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from gardenpath.study import TABLES, DataError

from . import by_glmm, by_lme4
from .estimates import Cells, Columns, Estimated, singularity
from .formulas import Formula, parse

# Columns of a fit, in the order in which study declares them for the tables of models.
COEFFICIENTS = [name for name in TABLES["alignment_models"].names if name not in ("model", "protocol")]


@dataclass(frozen=True)
class Engine:
    """A program that fits mixed models; `lacks` says in words which part of a formula it has not."""

    estimate: Callable[[Columns, Formula, str], Estimated]
    lacks: Callable[[Formula], str]


ENGINES: Mapping[str, Engine] = {
    "glmm": Engine(by_glmm.estimate, by_glmm.lacks),
    "lme4": Engine(by_lme4.estimate, by_lme4.lacks),
}


def fit(frame: pd.DataFrame, formula: str, *, engine: str = "glmm") -> pd.DataFrame:
    """Return one row a fixed effect of a linear mixed model: estimate, standard error, df, t, p and 95 % interval.

    Fitted by REML; degrees of freedom after Satterthwaite, as lmerTest computes them
    (doi 10.18637/jss.v082.i13). A singular fit is kept as declared and explained in `note`; data from which the
    model cannot be estimated raise `DataError` in a sentence.

    `engine` is "glmm", which needs nothing else, or "lme4": R through pymer4, with every form of random effects.

    >>> pairs = [(p, i) for p in range(6) for i in range(4)]
    >>> rows = [(f"P{p}", f"i{i}", (p + i) % 2 - 0.5, 6 + p % 3 + i + 0.1 * (p * i % 5)) for p, i in pairs]
    >>> table = fit(pd.DataFrame(rows, columns=["participant", "item", "x", "y"]), "y ~ x + (1|participant) + (1|item)")
    >>> table["term"].to_list(), int(table["n"].iloc[0])
    (['intercept', 'x'], 24)
    """
    chosen = engine_named(engine)
    parsed = parse(formula)
    found = chosen.estimate(columns_of(frame, parsed), parsed, "")
    return tabled(found, parsed, frame, engine)


def tabled(found: Estimated, formula: Formula, frame: pd.DataFrame, engine: str) -> pd.DataFrame:
    """Return the fixed effects of a fit with what a reader of the table needs beside them."""
    notes = [singularity(found, formula)] if found.singular else []
    return found.coefficients.assign(
        engine=engine,
        formula=str(formula),
        n=len(frame),
        participants=_levels(frame, "participant"),
        items=_levels(frame, "item"),
        converged=found.converged,
        singular=found.singular,
        note=" ".join([*notes, *found.notes]),
    )[COEFFICIENTS]


def failed(formula: str, term: str, reason: str, frame: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return the row of a model that could not be fitted: no numbers, and the reason as its note."""
    row = dict.fromkeys(COEFFICIENTS, float("nan")) | {
        "engine": engine,
        "formula": formula,
        "term": term,
        "n": len(frame),
        "participants": _levels(frame, "participant"),
        "items": _levels(frame, "item"),
        "converged": False,
        "singular": False,
        "note": f"Not fitted: {reason}",
    }
    return pd.DataFrame([row])[COEFFICIENTS]


def _levels(frame: pd.DataFrame, column: str) -> int:
    return int(frame[column].nunique()) if column in frame else 0


def engine_named(name: str) -> Engine:
    """Return the engine of that name."""
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} is not known; expected one of {', '.join(ENGINES)}")
    return ENGINES[name]


def columns_of(frame: pd.DataFrame, formula: Formula) -> dict[str, Cells]:
    """Return the formula's columns as plain numbers and strings; all that is wrong in them is one `DataError`."""
    missing = [name for name in formula.names if name not in frame]
    if missing:
        raise DataError(
            f"formula {str(formula)!r}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}"
        )
    if frame.empty:
        raise DataError(f"no rows are left to fit {str(formula)!r}; see the exclusions")
    nested = {name for random in formula.random if ":" in random.group for name in random.group.split(":")}
    columns: dict[str, Cells] = {}
    faults: list[str] = []
    for name in formula.names:
        columns[name], fault = _plain(frame[name], group=name in formula.groups, nested=name in nested)
        faults += fault
    faults = faults or _response_faults(formula.response, columns)
    if faults:
        raise DataError(faults)
    return columns


def _response_faults(response: str, columns: Columns) -> list[str]:
    cells = columns[response]
    return [f"column {response!r} is text, such as {cells[0]!r}; expected numbers"] if isinstance(cells[0], str) else []


def _plain(cells: pd.Series, *, group: bool, nested: bool) -> tuple[Cells, list[str]]:
    # The engine knows numbers and strings only: pandas' own string and integer types would not pass.
    if group or not pd.api.types.is_numeric_dtype(cells):
        faults = _group_faults(cells, nested) if group else _text_faults(cells) or _constant_text(cells)
        return cells.astype("string").fillna("").to_list(), faults
    numbers = cells.astype("Float64").astype("float64")
    wrong = int(numbers.isna().sum() + numbers.abs().eq(float("inf")).sum())
    if wrong:
        return [], [f"column {cells.name!r}: {wrong} of {len(cells)} values are empty or not finite; exclude them"]
    if (numbers == numbers.iloc[0]).all():
        return [], [f"column {cells.name!r} is {numbers.iloc[0]:g} in each of {len(cells)} rows; expected it to vary"]
    return numbers.to_list(), []


def _text_faults(cells: pd.Series) -> list[str]:
    empty = int(cells.isna().sum())
    return [f"column {cells.name!r}: {empty} of {len(cells)} values are empty; exclude them"] if empty else []


def _constant_text(cells: pd.Series) -> list[str]:
    if (cells != cells.iloc[0]).any():
        return []
    return [f"factor {cells.name!r} has the one level {cells.iloc[0]!r} in {len(cells)} rows; expected two or more"]


def _group_faults(cells: pd.Series, nested: bool) -> list[str]:
    levels = cells.nunique()
    if levels == 1:
        return [
            f"there is only one {cells.name} ({cells.iloc[0]}), so no variance between {cells.name}s; expected more"
        ]
    if levels == len(cells) and not nested:
        # lme4 refuses this too: the intercepts would be the residuals.
        return [
            f"each of {levels} rows has a {cells.name} of its own: its variance is the residual's; expected repetitions"
        ]
    return _text_faults(cells)
