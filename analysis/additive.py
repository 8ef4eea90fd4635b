"""Curves in place of lines: generalised additive mixed models by R's mgcv::bam."""

import re
from collections.abc import Sequence

import pandas as pd

from gardenpath.study import DataError, check

from . import rsession
from .estimates import Cells
from .mixed import plain_cells
from .rsession import first

START = "starts_series"


def smooths(frame: pd.DataFrame, formula: str, *, series: Sequence[str] = (), rho: float | None = None) -> pd.DataFrame:
    """Return the table gam_terms: parametric and smooth terms of `mgcv::bam(discrete = TRUE)`, fitted by fREML.

    With `series`, the columns that name one, such as session and trial, residuals of successive rows of a series follow
    an AR(1) process with coefficient `rho`; without `rho`, it is the lag-1 autocorrelation of a fit without. Smooths with
    `bs="re"` are random effects; they are in the model, untested, and not in the table. Needs R with mgcv.

    ```
    smooths(aligned, "log_rt ~ s(surprisal) + length + s(participant, bs='re') + s(token, bs='re')", series=["session", "trial"])
    ```
    """
    if rho is not None and not (series and -1 < rho < 1):
        raise ValueError(
            f"rho is {rho:g} and series {list(series)}; expected -1 < rho < 1, and the columns of a series"
        )
    columns, numbers = _columns(frame, formula), len(frame)
    if series:
        missing = [name for name in series if name not in frame]
        if missing:
            raise DataError(f"series: no column {', '.join(missing)}; there are {', '.join(frame.columns)}")
        same = (frame[list(series)] == frame[list(series)].shift()).all(axis=1)
        columns[START] = (~same).astype("float64").to_list()
    details = {"needs": ("mgcv",), "start": START if series else ""}
    value = rsession.ask("additive", columns, formula, rho=rho or 0.0, **details)["value"]
    if series and rho is None:
        rho = round(first(value["autocorrelation"]), 3)
        value = rsession.ask("additive", columns, formula, rho=rho, **details)["value"]
    names = ("term", "smooth", "estimate", "se", "edf", "statistic", "p")
    table = pd.DataFrame({name: value[name] for name in names}).assign(
        formula=formula,
        n=numbers,
        deviance=first(value["deviance"]),
        rho=float(rho or 0.0),
        autocorrelation=first(value["autocorrelation"]),
    )
    table["term"] = table["term"].replace("(Intercept)", "intercept")
    return check(table, "gam_terms")


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
