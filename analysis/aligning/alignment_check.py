"""Whether reading times stand beside the right words: the word not yet seen must add nothing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gardenpath.study import DataError, check

from ..modelling.mixed_models import COEFFICIENTS, failed, fit
from .predictors import (
    LAG_SUFFIXES,
    MODEL_KEY,
    format_formula,
    get_random_intercepts,
    index_by_term,
    list_lagged_columns,
    list_model_terms,
    split_by_model,
)

ALPHA = 0.01
MIN_SLOPE_SHARE = 0.5  # of the largest slope of the words seen, from which the next word's is no chance finding
SEEN_LAGS = (0, 1, 2)
[NEXT_SURPRISAL] = list_lagged_columns("surprisal", [-1])
NEXT_ENTROPY = "entropy_next"
PASSED_VERDICT, WARNED_VERDICT, FAILED_VERDICT, UNTESTED_VERDICT = "passed", "warned", "failed", "untested"


def compute_alignment_check(aligned: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return, for each language model, whether the surprisal of the word not yet seen adds to the reading time.

    Self-paced reading has no preview, so it must not. Failed: its slope is positive, p < .01 beside surprisal at lags
    0 to 2 and with the token intercept, and at least half the largest of these. Warned: significant only; readers may
    respond to what they expect next, so the p with the next word's entropy in the model is given too. The reading times
    of a failure seem to be stored one word early, as in a well-known corpus for years. A shift the other way cannot be
    told from spillover: see `compute_lag_profile`.

    Slopes are in log ms per bit. A language model whose readings do not suffice is "untested", and its note says why.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> cells = [(f"P{p}", f"i{i}", w) for p in range(6) for i in range(4) for w in range(3)]
    >>> rows = pd.DataFrame(cells, columns=["participant", "item", "position"]).assign(model="m", protocol="p")
    >>> rows["token"] = rows["item"] + ":" + rows["position"].astype(str)
    >>> rows[["log_rt", "log_trial"]] = random.normal(6, 0.1, (72, 2))
    >>> lags = [-1, *SEEN_LAGS]
    >>> words = [column for name in ("surprisal", "length", "zipf") for column in list_lagged_columns(name, lags)]
    >>> rows[words] = random.random((72, len(words)))
    >>> compute_alignment_check(rows)[["verdict", "n_readings"]].to_numpy().tolist()
    [['passed', 72]]
    """
    tested = [
        _check_model(rows, engine) | {"model": model, "protocol": protocol} for model, protocol, rows in split_by_model(aligned)
    ]
    return check(pd.DataFrame(tested, columns=[*MODEL_KEY, *CHECK_COLUMNS]), "alignment_check")


CHECK_COLUMNS = ["verdict", "estimate", "se", "df", "t", "p", "largest_slope", "ratio", "p_entropy", "n_readings", "note"]


def _check_model(aligned: pd.DataFrame, engine: str) -> dict[str, object]:
    lags = [-1, *SEEN_LAGS]
    rows = aligned.dropna(subset=list_model_terms(aligned, lags))
    slopes, reason = _fit_slopes(rows, format_formula(list_model_terms(rows, lags), get_random_intercepts(rows)), engine)
    next_word = slopes.get(NEXT_SURPRISAL, {"p": None})
    if reason or pd.isna(next_word["p"]):
        note = f"Not tested: {reason or 'the slope of the next word could not be estimated'}."
        return {"verdict": UNTESTED_VERDICT, "n_readings": len(rows), "note": note}
    slope = next_word["estimate"]
    largest = max(
        slopes[name]["estimate"] for name in list_lagged_columns("surprisal", SEEN_LAGS) if not pd.isna(slopes[name]["estimate"])
    )
    statistics = {name: next_word[name] for name in ("estimate", "se", "df", "t", "p")}
    statistics |= {"largest_slope": largest, "ratio": slope / largest if largest else float("nan"), "n_readings": len(rows)}
    if next_word["p"] >= ALPHA:
        return statistics | {"verdict": PASSED_VERDICT, "note": "The next word's surprisal adds nothing (p >= .01), as it must be."}
    if slope > 0 and slope >= MIN_SLOPE_SHARE * largest:
        return statistics | {"verdict": FAILED_VERDICT, "note": _describe_failure(slope, largest)}
    return statistics | {"verdict": WARNED_VERDICT} | _refit_with_entropy(rows, lags, engine)


def _fit_slopes(rows: pd.DataFrame, wanted: str, engine: str) -> tuple[Mapping[str, Mapping[str, Any]], str]:
    """Return the fit by term, or why there is none."""
    try:
        return index_by_term(fit(rows, wanted, engine=engine)), ""
    except DataError as error:
        return {}, str(error).replace("\n", "; ")


def _describe_failure(slope: float, largest: float) -> str:
    return (
        f"The next word's surprisal, which no reader has seen yet, has a slope of {slope:.4g} log ms per bit; the largest "
        f"of lags 0 to 2 is {largest:.4g}. Reading times seem to be stored one word early: check which press ends which "
        "word, and blank or missing words."
    )


def _refit_with_entropy(rows: pd.DataFrame, lags: list[int], engine: str) -> dict[str, object]:
    finding = "The next word's surprisal is significant (p < .01), but under half the largest of lags 0 to 2, or negative"
    wanted = format_formula(list_model_terms(rows, lags, extra=[NEXT_ENTROPY]), get_random_intercepts(rows))
    refitted, reason = _fit_slopes(rows.dropna(subset=NEXT_ENTROPY), wanted, engine)
    p = refitted.get(NEXT_SURPRISAL, {"p": None})["p"]
    if reason or pd.isna(p):
        return {"note": f"{finding}; with its entropy it could not be refitted."}
    kept = "gone: readers may respond to what they expect next" if p >= ALPHA else "still there"
    return {"p_entropy": p, "note": f"{finding}; with the next word's entropy in the model the effect is {kept}."}


def find_failed_models(tested: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the language models that failed, each with the sentence that says so."""
    rows = tested[tested["verdict"] == FAILED_VERDICT]
    return {(row["model"], row["protocol"]): f"the alignment self-test failed. {row['note']}" for row in rows.to_dict("records")}


def compute_lag_profile(aligned: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return the slopes of surprisal two words ahead to three words back, of one model that holds them all.

    Only words that have all these around them enter. The largest slope need not be at lag 0: a late shift looks like
    spillover, and with spillover lag 0 still fits well under an early shift.
    """
    lags = sorted(LAG_SUFFIXES)
    parts = []
    for model, protocol, rows in split_by_model(aligned):
        whole = rows.dropna(subset=list_model_terms(rows, lags))
        wanted = format_formula(list_model_terms(rows, lags), get_random_intercepts(rows))
        slopes, reason = _fit_slopes(whole, wanted, engine)
        for lag, name in zip(lags, list_lagged_columns("surprisal", lags), strict=True):
            missing_slope = failed(wanted, name, reason, whole, engine=engine)
            part = pd.DataFrame([slopes[name]]) if name in slopes else missing_slope
            parts.append(part.assign(model=model, protocol=protocol, lag=lag))
    if not parts:
        parts = [pd.DataFrame(columns=[*MODEL_KEY, "lag", *COEFFICIENTS])]
    return check(pd.concat(parts, ignore_index=True), "lag_profile")
