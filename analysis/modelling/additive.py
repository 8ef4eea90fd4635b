"""Curves in place of lines: generalised additive mixed models by R's mgcv::bam."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..aligning.predictors import format_formula, is_word_means, list_lagged_columns, list_model_terms, split_by_model
from ..engines import r_session
from ..engines.estimates import Cells
from ..engines.r_session import get_single_value
from .mixed_models import plain_cells

NORMAL = 1.959964  # standard errors to each end of a 95 % interval, as mgcv draws them
START = "starts_series"
SERIES = ("session", "trial")  # a sentence's words, in the order read
RANDOM = " + ".join(f"s({group}, bs='re')" for group in ("participant", "item", "token"))
OF_TEXTS = "s(item, bs='re')", ("item", "condition")  # of word means, whose series are texts


def smooths(frame: pd.DataFrame, formula: str, *, series: Sequence[str] = (), rho: float | None = None) -> pd.DataFrame:
    """Return the table gam_terms: parametric and smooth terms of `mgcv::bam(discrete = TRUE)`, fitted by fREML
    (Wood 2017, doi 10.1201/9781315370279).

    With `series`, the columns that name one, such as session and trial, residuals of successive rows of a series follow
    an AR(1) process with coefficient `rho`; without `rho`, it is the lag-1 autocorrelation of a fit without. Smooths with
    `bs="re"` are random effects; they are in the model, untested, and not in the table. Estimates are in units of
    the response. A column that the formula names and the table lacks is a `DataError`. Needs R with mgcv, else `MissingExtra`
    says what to install.

    >>> aligned = pd.DataFrame({"log_rt": [5.9, 6.1], "surprisal": [4.0, 9.5], "participant": ["P1", "P2"]})
    >>> smooths(aligned, "log_rt ~ s(surprisal) + length + s(participant, bs='re')")
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: formula "log_rt ~ s(surprisal) + length + s(participant, bs='re')": no column length; ...
    """
    return _fitted(frame, formula, series, rho)[0]


def curves(
    aligned: pd.DataFrame, *, lags: int = 2, withheld: Mapping[tuple[str, str], str] | None = None
) -> dict[str, pd.DataFrame]:
    """Return gam_terms and smooths, by name: log reading time by a curve of surprisal at each lag, of each language model.

    The other predictors are lines, participant, item and token random intercepts; residuals of successive words of a
    sentence are correlated. Where the curves are straight, a slope in `alignment_models` says all. Models in `withheld`
    are left out.
    """
    of_surprisal = [f"s({name})" for name in list_lagged_columns("surprisal", range(lags + 1))]
    random, series = OF_TEXTS if is_word_means(aligned) else (RANDOM, SERIES)
    wanted = format_formula([*of_surprisal, *list_model_terms(aligned, range(lags + 1), surprisal=False)], random)
    tables: dict[str, list[pd.DataFrame]] = {"gam_terms": [], "smooths": []}
    for model, protocol, rows in split_by_model(aligned):
        if (model, protocol) not in (withheld or {}):
            read = rows.sort_values([*series, "word"], kind="stable")
            for collected, table in zip(tables.values(), _fitted(read, wanted, series, None), strict=True):
                collected.append(table.assign(model=model, protocol=protocol))
    return {
        name: check(pd.concat([pd.DataFrame(columns=TABLES[name].column_names), *collected])[TABLES[name].column_names], name)
        for name, collected in tables.items()
    }


def _fitted(frame: pd.DataFrame, formula: str, series: Sequence[str], rho: float | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table gam_terms, and the points of its curves."""
    if rho is not None and not (series and -1 < rho < 1):
        raise ValueError(f"rho is {rho:g} and series {list(series)}; expected -1 < rho < 1, and the columns of a series")
    columns, numbers = _columns(frame, formula), len(frame)
    if series:
        missing = [name for name in series if name not in frame]
        if missing:
            raise DataError(f"series: no column {', '.join(missing)}; there are {', '.join(frame.columns)}")
        same = (frame[list(series)] == frame[list(series)].shift()).fillna(False).all(axis=1)
        columns[START] = (~same).astype("float64").to_list()
    details = {"needs": ("mgcv",), "start": START if series else ""}
    value = r_session.ask_r("additive", columns, formula, rho=rho or 0.0, **details)["value"]
    if series and rho is None:
        rho = round(get_single_value(value["autocorrelation"]), 3)
        value = r_session.ask_r("additive", columns, formula, rho=rho, **details)["value"]
    names = ("term", "smooth", "estimate", "se", "edf", "statistic", "p")
    table = pd.DataFrame({name: value[name] for name in names}).assign(
        formula=formula,
        n=numbers,
        deviance=get_single_value(value["deviance"]),
        rho=float(rho or 0.0),
        autocorrelation=get_single_value(value["autocorrelation"]),
    )
    table["term"] = table["term"].replace("(Intercept)", "intercept")
    points = pd.DataFrame(value["curves"], columns=["predictor", "value", "estimate", "se"])
    width = NORMAL * points["se"]
    points = points.assign(ci_low=points["estimate"] - width, ci_high=points["estimate"] + width)
    return check(table.assign(model=None, protocol=None)[TABLES["gam_terms"].column_names], "gam_terms"), points


def _columns(frame: pd.DataFrame, formula: str) -> dict[str, Cells]:
    """Return the columns that the formula names: words in it that are no function, argument or quoted text."""
    if formula.count("~") != 1 or formula.count("(") != formula.count(")"):
        raise ValueError(f"formula {formula!r}: expected  response ~ s(predictor) + s(participant, bs='re')")
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", formula)
    names = dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*(?:\(|=))", bare))
    names = dict.fromkeys(name for name in names if name not in ("TRUE", "FALSE", "T", "F", "NULL", "Inf"))
    missing = [name for name in names if name not in frame]
    if missing:
        raise DataError(f"formula {formula!r}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}")
    if frame.empty:
        raise DataError(f"no rows are left to fit {formula!r}; see the exclusions")
    columns: dict[str, Cells] = {}
    faults: list[str] = []
    for name in names:
        columns[name], fault = plain_cells(frame[name])
        faults += fault
    if faults:
        raise DataError(faults)
    return columns
