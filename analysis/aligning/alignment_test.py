"""Whether reading times stand beside the right words: the word not yet seen must add nothing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gardenpath.study import DataError, check

from ..modelling.mixed_models import COEFFICIENTS, failed, fit
from .predictors import AT, MODEL, at, by_model, by_term, formula, intercepts, terms_of

ALPHA = 0.01
SHARE = 0.5  # of the largest slope of the words seen, from which the next word's is no chance finding
SEEN = (0, 1, 2)
[NEXT] = at("surprisal", [-1])
ENTROPY = "entropy_next"
PASSED, WARNED, FAILED, UNTESTED = "passed", "warned", "failed", "untested"


def alignment_test(aligned: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return, for each language model, whether the surprisal of the word not yet seen adds to the reading time.

    Self-paced reading has no preview, so it must not. Failed: its slope is positive, p < .01 beside surprisal at lags
    0 to 2 and with the token intercept, and at least half the largest of these. Warned: significant only; readers may
    respond to what they expect next, so the p with the next word's entropy in the model is given too. The reading times
    of a failure seem to be stored one word early, as in a well-known corpus for years. A shift the other way cannot be
    told from spillover: see `lag_profile`.

    Slopes are in log ms per bit. A language model whose readings do not suffice is "untested", and its note says why.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> cells = [(f"P{p}", f"i{i}", w) for p in range(6) for i in range(4) for w in range(3)]
    >>> rows = pd.DataFrame(cells, columns=["participant", "item", "position"]).assign(model="m", protocol="p")
    >>> rows["token"] = rows["item"] + ":" + rows["position"].astype(str)
    >>> rows[["log_rt", "log_trial"]] = random.normal(6, 0.1, (72, 2))
    >>> words = [*at("surprisal", [-1, *SEEN]), *at("length", [-1, *SEEN]), *at("zipf", [-1, *SEEN])]
    >>> rows[words] = random.random((72, len(words)))
    >>> alignment_test(rows)[["verdict", "n"]].to_numpy().tolist()
    [['passed', 72]]
    """
    tested = [
        _tested(rows, engine) | {"model": model, "protocol": protocol} for model, protocol, rows in by_model(aligned)
    ]
    return check(pd.DataFrame(tested, columns=[*MODEL, *COLUMNS]), "alignment_test")


COLUMNS = ["verdict", "estimate", "se", "df", "t", "p", "largest", "ratio", "p_entropy", "n", "note"]


def _tested(aligned: pd.DataFrame, engine: str) -> dict[str, object]:
    lags = [-1, *SEEN]
    rows = aligned.dropna(subset=terms_of(aligned, lags))
    slopes, reason = _slopes(rows, formula(terms_of(rows, lags), intercepts(rows)), engine)
    next_word = slopes.get(NEXT, {"p": None})
    if reason or pd.isna(next_word["p"]):
        note = f"Not tested: {reason or 'the slope of the next word could not be estimated'}."
        return {"verdict": UNTESTED, "n": len(rows), "note": note}
    slope = next_word["estimate"]
    largest = max(slopes[name]["estimate"] for name in at("surprisal", SEEN) if not pd.isna(slopes[name]["estimate"]))
    statistics = {name: next_word[name] for name in ("estimate", "se", "df", "t", "p")}
    statistics |= {"largest": largest, "ratio": slope / largest if largest else float("nan"), "n": len(rows)}
    if next_word["p"] >= ALPHA:
        return statistics | {
            "verdict": PASSED,
            "note": "The next word's surprisal adds nothing (p >= .01), as it must be.",
        }
    if slope > 0 and slope >= SHARE * largest:
        return statistics | {"verdict": FAILED, "note": _failure(slope, largest)}
    return statistics | {"verdict": WARNED} | _with_entropy(rows, lags, engine)


def _slopes(rows: pd.DataFrame, wanted: str, engine: str) -> tuple[Mapping[str, Mapping[str, Any]], str]:
    """Return the fit by term, or why there is none."""
    try:
        return by_term(fit(rows, wanted, engine=engine)), ""
    except DataError as error:
        return {}, str(error).replace("\n", "; ")


def _failure(slope: float, largest: float) -> str:
    return (
        f"The next word's surprisal, which no reader has seen yet, has a slope of {slope:.4g} log ms per bit; the largest "
        f"of lags 0 to 2 is {largest:.4g}. Reading times seem to be stored one word early: check which press ends which "
        "word, and blank or missing words."
    )


def _with_entropy(rows: pd.DataFrame, lags: list[int], engine: str) -> dict[str, object]:
    finding = (
        "The next word's surprisal is significant (p < .01), but under half the largest of lags 0 to 2, or negative"
    )
    wanted = formula(terms_of(rows, lags, extra=[ENTROPY]), intercepts(rows))
    refitted, reason = _slopes(rows.dropna(subset=ENTROPY), wanted, engine)
    p = refitted.get(NEXT, {"p": None})["p"]
    if reason or pd.isna(p):
        return {"note": f"{finding}; with its entropy it could not be refitted."}
    kept = "gone: readers may respond to what they expect next" if p >= ALPHA else "still there"
    return {"p_entropy": p, "note": f"{finding}; with the next word's entropy in the model the effect is {kept}."}


def stopped(tested: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the language models that failed, each with the sentence that says so."""
    rows = tested[tested["verdict"] == FAILED]
    return {
        (row["model"], row["protocol"]): f"the alignment self-test failed. {row['note']}"
        for row in rows.to_dict("records")
    }


def lag_profile(aligned: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return the slopes of surprisal two words ahead to three words back, of one model that holds them all.

    Only words that have all these around them enter. The largest slope need not be at lag 0: a late shift looks like
    spillover, and with spillover lag 0 still fits well under an early shift.
    """
    lags = sorted(AT)
    parts = []
    for model, protocol, rows in by_model(aligned):
        whole = rows.dropna(subset=terms_of(rows, lags))
        wanted = formula(terms_of(rows, lags), intercepts(rows))
        slopes, reason = _slopes(whole, wanted, engine)
        for lag, name in zip(lags, at("surprisal", lags), strict=True):
            lacking = failed(wanted, name, reason, whole, engine=engine)
            part = pd.DataFrame([slopes[name]]) if name in slopes else lacking
            parts.append(part.assign(model=model, protocol=protocol, lag=lag))
    if not parts:
        parts = [pd.DataFrame(columns=[*MODEL, "lag", *COEFFICIENTS])]
    return check(pd.concat(parts, ignore_index=True), "lag_profile")
