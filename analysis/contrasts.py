"""The effect of grammaticality, phenomenon by phenomenon, and its correction over phenomena."""

import pandas as pd

from gardenpath.study import DataError, check

from .mixed import COEFFICIENTS, failed, fit

# Sum coding: the coefficient is grammatical minus ungrammatical, the intercept their mean.
CODES = {"grammatical": 0.5, "ungrammatical": -0.5}
TERM = "grammaticality"


def phenomenon_models(
    scores: pd.DataFrame, times: pd.DataFrame, items: pd.DataFrame, *, engine: str = "glmm"
) -> pd.DataFrame:
    """Return the models `z` and `log_rt ~ grammaticality + (1|participant) + (1|item)` of each phenomenon.

    Grammaticality is +0.5 grammatical, -0.5 ungrammatical. `p_bh` is adjusted over the phenomena of one measure after
    Benjamini & Hochberg (doi 10.1111/j.2517-6161.1995.tb02031.x). Target trials of paradigms whose two conditions are
    grammatical and ungrammatical enter; a phenomenon that cannot be fitted keeps a row that says why.
    """
    pairs = minimal_pairs(items)
    measured = {"z": scores[scores["role"] == "target"].dropna(subset="z"), "log_rt": times}
    fits = []
    for measure, frame in measured.items():
        entering = frame[frame["paradigm"].isin(pairs)]
        entering = entering.assign(**{TERM: entering["condition"].map(CODES).astype("float64")})
        for phenomenon, rows in entering.groupby("phenomenon", sort=True):
            coefficients = _fit(rows, f"{measure} ~ {TERM} + (1|participant) + (1|item)", engine)
            fits.append(coefficients.assign(phenomenon=phenomenon, measure=measure))
    if not fits:
        fits = [pd.DataFrame(columns=["phenomenon", "measure", *COEFFICIENTS])]
    return check(adjusted(pd.concat(fits, ignore_index=True)), "phenomenon_models")


def _fit(rows: pd.DataFrame, formula: str, engine: str) -> pd.DataFrame:
    try:
        return fit(rows, formula, engine=engine)
    except DataError as error:
        return failed(formula, TERM, str(error).replace("\n", "; "), rows, engine=engine)


def minimal_pairs(items: pd.DataFrame) -> list[str]:
    """Return the paradigms whose conditions are `grammatical` and `ungrammatical`, and no others."""
    # Not .agg(set): with text stored by pyarrow, that gives text again, not sets.
    return [str(paradigm) for paradigm, rows in items.groupby("paradigm") if set(rows["condition"]) == set(CODES)]


def adjusted(models: pd.DataFrame) -> pd.DataFrame:
    """Return `models` with `p_bh`: p of the grammaticality term, adjusted over the phenomena of each measure."""
    from scipy.stats import false_discovery_control

    family = models[(models["term"] == TERM) & models["p"].notna()]
    p_bh = pd.Series(float("nan"), index=models.index)
    for _, p in family.groupby("measure")["p"]:
        p_bh[p.index] = false_discovery_control(p.to_numpy(dtype="float64"), method="bh")
    return models.assign(p_bh=p_bh)
