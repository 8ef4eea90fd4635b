"""Linear mixed models: a table and a formula in, a table of fixed effects out. An engine is one function in ENGINES."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, MissingExtra

Cells = list[float] | list[str]

# Columns of a fit, in the order in which study declares them for the tables of models.
COEFFICIENTS = [name for name in TABLES["alignment_models"].names if name not in ("model", "protocol")]
PLANNED = ("lme4", "pymer4")


def fit(frame: pd.DataFrame, formula: str, *, engine: str = "glmm") -> pd.DataFrame:
    """Return one row a fixed effect of a linear mixed model: estimate, standard error, df, t, p and 95 % interval.

    Fitted by REML; degrees of freedom after Satterthwaite, as lmerTest computes them
    (doi 10.18637/jss.v082.i13). A singular fit is kept as declared and explained in `note`; data from which the
    model cannot be estimated raise `DataError` in a sentence.

    >>> pairs = [(p, i) for p in range(6) for i in range(4)]
    >>> rows = [(f"P{p}", f"i{i}", (p + i) % 2 - 0.5, 6 + p % 3 + i + 0.1 * (p * i % 5)) for p, i in pairs]
    >>> table = fit(pd.DataFrame(rows, columns=["participant", "item", "x", "y"]), "y ~ x + (1|participant) + (1|item)")
    >>> table["term"].to_list(), int(table["n"].iloc[0])
    (['intercept', 'x'], 24)
    """
    estimate = _engine(engine)
    columns = _columns(frame, formula)
    coefficients = estimate(columns, formula)
    return coefficients.assign(
        engine=engine,
        formula=formula,
        n=len(frame),
        participants=_levels(frame, "participant"),
        items=_levels(frame, "item"),
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


def _engine(name: str) -> Callable[[Mapping[str, Cells], str], pd.DataFrame]:
    if name in ENGINES:
        return ENGINES[name]
    if name in PLANNED:
        raise MissingExtra(
            f"engine {name!r} is not built yet; it will come with the extra 'r' (pip install 'gardenpath[r]'); "
            "until then use engine 'glmm'"
        )
    raise ValueError(f"engine {name!r} is not known; expected one of {', '.join(ENGINES)}")


def _columns(frame: pd.DataFrame, formula: str) -> dict[str, Cells]:
    """Return the formula's columns as plain numbers and strings; all that is wrong in them is one `DataError`."""
    response, _, predictors = (part.strip() for part in formula.partition("~"))
    if not response or not predictors:
        raise ValueError(f"formula {formula!r}: expected  response ~ predictors + (1|participant) + (1|item)")
    names = list(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", formula)))
    missing = [name for name in names if name not in frame]
    if missing:
        raise DataError(f"formula {formula!r}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}")
    if frame.empty:
        raise DataError(f"no rows are left to fit {formula!r}; see the exclusions")
    groups = re.findall(r"\|\s*(\w+)", formula)
    columns: dict[str, Cells] = {}
    faults: list[str] = []
    for name in names:
        columns[name], fault = _plain(frame[name], group=name in groups)
        faults += fault
    if faults:
        raise DataError(faults)
    return columns


def _plain(cells: pd.Series, *, group: bool) -> tuple[Cells, list[str]]:
    # The engine knows numbers and strings only: pandas' own string and integer types would not pass.
    if group or not pd.api.types.is_numeric_dtype(cells):
        return cells.astype("string").fillna("").to_list(), _group_faults(cells) if group else _text_faults(cells)
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


def _group_faults(cells: pd.Series) -> list[str]:
    levels = cells.nunique()
    if levels == 1:
        return [
            f"there is only one {cells.name} ({cells.iloc[0]}), so no variance between {cells.name}s; expected more"
        ]
    if levels == len(cells):
        # lme4 refuses this too: the intercepts would be the residuals.
        return [
            f"each of {levels} rows has a {cells.name} of its own: its variance is the residual's; expected repetitions"
        ]
    return _text_faults(cells)


def _glmm(columns: Mapping[str, Cells], formula: str) -> pd.DataFrame:
    import glmm
    import numpy as np

    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            found = glmm.fit(dict(columns), formula)
        except ValueError as error:
            raise ValueError(f"formula {formula!r}: {error}") from None
        interval = found.confint()
    aliased = np.asarray(found.diagnostics["aliased"], dtype=bool)
    if not np.isfinite(np.asarray(found.beta)[~aliased]).all():
        raise DataError(f"{formula!r} has no estimate: {' '.join(w['message'] for w in found.warnings)}")
    terms = ["intercept" if name == "(Intercept)" else name for name in found.names]
    return pd.DataFrame(
        {
            "term": terms,
            "estimate": found.beta,
            "se": found.se,
            "df": found.coef_df,
            "t": np.asarray(found.beta) / np.asarray(found.se),
            "p": found.coef_p,
            "ci_low": interval[:, 0],
            "ci_high": interval[:, 1],
            "converged": bool(found.converged),
            "singular": bool(found.singular),
            "note": _note(found, [t for t, out in zip(terms, aliased, strict=True) if out], raised, formula),
        }
    )


def _note(found: Any, aliased: Sequence[str], raised: Sequence[warnings.WarningMessage], formula: str) -> str:
    notes = [_singular(found, formula)] if found.singular else []
    if aliased:
        notes.append(f"Not estimated, being a combination of other predictors: {', '.join(aliased)}.")
    own = {w["kind"]: f"{w['title']}: {w['message']}" for w in found.warnings}
    notes += [text for kind, text in own.items() if kind not in ("singular", "aliased")]
    # The engine's structured warnings are raised a second time as Python's; what is left is from elsewhere.
    told = [w["message"] for w in found.warnings]
    notes += [str(w.message) for w in raised if not any(message in str(w.message) for message in told)]
    return " ".join(notes)


def _singular(found: Any, formula: str) -> str:
    """Say in a sentence which variance is zero, and why that need not worry."""
    pinned = [
        (group, term)
        for (group, terms), flags in zip(found.re_groups, found.diagnostics["pinned"], strict=True)
        for term, flag in zip(terms, flags, strict=True)
        if flag
    ]
    named = ["intercepts" if term == "(Intercept)" else f"slopes of {term}" for _, term in pinned]
    whose = " and ".join(f"the {what} by {group}" for what, (group, _) in zip(named, pinned, strict=True))
    if not whose:
        return (
            "Singular fit: a correlation between random effects is estimated as -1 or 1; the model is kept as declared."
        )
    subject, verb = ("variances", "are") if len(pinned) > 1 else ("variance", "is")
    if formula.partition("~")[0].strip() == "z" and ("participant", "(Intercept)") in pinned:
        why = "z-scoring takes out the participants' means, so none is left by construction"
    else:
        why = "these data show no more difference there than noise alone would"
    zero = f"the {subject} of {whose} {verb} estimated as zero"
    return f"Singular fit: {zero}, because {why}; the model is kept as declared."


ENGINES: Mapping[str, Callable[[Mapping[str, Cells], str], pd.DataFrame]] = {"glmm": _glmm}
