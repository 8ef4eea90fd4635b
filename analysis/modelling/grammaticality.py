"""The effect of grammaticality on ratings and reading times, phenomenon by phenomenon and paradigm by paradigm."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check
from gardenpath.study.config import COVARIATES, Sesoi
from gardenpath.study.responses import RESPONSES

from ..engines.estimates import ModelEstimate
from ..engines.formulas import parse_formula
from ..grammatical_status import GRAMMATICALITY_CODES, find_minimal_pair_paradigms
from ..intervals import adjust_by_family, benjamini_hochberg
from ..measuring.ratings_and_times import SENTENCE_REGION
from ..prompts import filter_prompt
from .equivalence import equivalence
from .mixed_models import engine_named, failed, fit_stepwise

TERM = "grammaticality"
INTERCEPTS, SLOPES = "intercepts", "slopes"  # in the column random

# BLiMP-NL's random effects, and beside them the effect's own variance over participants and sentences, without which
# it is found too easily. z has no participant means, so no intercepts; an engine that cannot leave them out keeps them.
PLAIN = "(1|participant) + (1|item)"
CORRELATED = f"(1 + {TERM}|participant) + (1 + {TERM}|item)"
WITHOUT_MEANS = f"(0 + {TERM}|participant) + (1|item) + (0 + {TERM}|item)"
RANDOM: Mapping[str, Mapping[str, Sequence[str]]] = {
    "z": {INTERCEPTS: (PLAIN,), SLOPES: (WITHOUT_MEANS, CORRELATED)},
    "log_rt": {INTERCEPTS: (PLAIN,), SLOPES: (CORRELATED,)},
}
ALPHA = 0.05
POWER = 0.80  # of the minimum detectable effect
Measured = tuple[str, str, str | None]  # measure, region, and of ratings the prompt
Known = dict[tuple[object, ...], pd.DataFrame]  # fixed effects, by all that they follow from


def phenomenon_models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    items: pd.DataFrame,
    *,
    engine: str = "glmm",
    smallest: Sesoi | None = None,
    covariates: Sequence[str] = COVARIATES,
    known: Known | None = None,
) -> pd.DataFrame:
    """Return the models of grammaticality in each phenomenon: of z under each prompt, and of log reading time in each region.

    `z ~ grammaticality` and `log_rt ~ grammaticality + log_trial` (natural log of the presented position counted from 1,
    centred; and `position`, that of the region in the sentence, centred, where members of a pair differ in it), each with
    the random effects `(1|participant) + (1|item)` and, beside it, with slopes. Without `covariates` and slopes they are the
    published ones (doi 10.1162/COLI.a.00559).
    Grammaticality is +0.5 grammatical, -0.5 ungrammatical. Target trials of paradigms whose two conditions are
    grammatical and ungrammatical enter; a phenomenon that cannot be fitted keeps a row that says why.

    `p_bh` is adjusted over the phenomena of one measure, region, prompt and form of random effects, `p_bh_all` over all regions
    and all prompts too (Benjamini & Hochberg, doi 10.1111/j.2517-6161.1995.tb02031.x). `mde`: the smallest effect that this
    standard error would find at .05 in 80 % of repetitions. `p_equivalence`: two one-sided tests of the models with slopes
    against `smallest`, the smallest effects of interest by response or term (doi 10.1007/BF01068419).

    What is fitted is put into `known`, a dictionary with which `sensitivity_grid` does not fit it again.
    """
    forms = dict.fromkeys(RANDOM, (INTERCEPTS, SLOPES))
    entered = entering(scores, times, items, covariates)
    return _models(entered, ["phenomenon"], "phenomenon_models", engine, forms, smallest, known)


def paradigm_models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    items: pd.DataFrame,
    *,
    engine: str = "glmm",
    smallest: Sesoi | None = None,
    covariates: Sequence[str] = COVARIATES,
) -> pd.DataFrame:
    """Return the models of each paradigm, families of their own: of ratings with intercepts and with slopes, of reading times,
    where one paradigm has little to tell slopes by, with intercepts; without the raw scale and ms of `phenomenon_models`.
    """
    forms = {"z": (INTERCEPTS, SLOPES), "log_rt": (INTERCEPTS,)}
    entered = entering(scores, times, items, covariates)
    return _models(entered, ["phenomenon", "paradigm"], "paradigm_models", engine, forms, smallest)


def entering(
    scores: pd.DataFrame, times: pd.DataFrame, items: pd.DataFrame, covariates: Sequence[str] = COVARIATES
) -> dict[Measured, pd.DataFrame]:
    """Return the trials that enter the models of each (measure, region, prompt), with grammaticality and the covariates."""
    import numpy as np

    pairs = find_minimal_pair_paradigms(items)
    targets = scores[scores["role"] == "target"].dropna(subset="z")
    measured: dict[Measured, pd.DataFrame] = {
        ("z", SENTENCE_REGION, str(prompt)): rows for prompt, rows in targets.groupby("prompt", sort=True)
    }
    measured |= {("log_rt", str(region), None): rows for region, rows in times.groupby("region", sort=True)}
    trials = {}
    for key, frame in measured.items():
        rows = frame[frame["paradigm"].isin(pairs)]
        rows = rows.astype({"participant": object, "item": object})  # hundreds of fits count their levels: twice as fast
        known = {
            "log_trial": np.log1p(rows["trial"].to_numpy(dtype="float64")),
            "position": rows["word"].astype("float64") if "word" in rows else 0.0,
        }
        rows = rows.drop(columns=[*known], errors="ignore")
        trials[key] = rows.assign(
            **{TERM: rows["condition"].map(GRAMMATICALITY_CODES).astype("float64")}, **{name: known[name] for name in covariates}
        )
    return {key: rows for key, rows in trials.items() if len(rows)}


def narrow(entered: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Return trials with `more` columns and those of each model's fixed and random effects: parts of few columns are cut faster."""
    return entered[[name for name in entered if name in (*more, TERM, "participant", "item", *COVARIATES)]]


def _models(
    measured: Mapping[Measured, pd.DataFrame],
    unit: list[str],
    table: str,
    engine: str,
    forms: Mapping[str, Sequence[str]],
    smallest: Sesoi | None,
    known: Known | None = None,
) -> pd.DataFrame:
    fits, places = [], []
    for (measure, region, prompt), frame in measured.items():
        for names, rows in narrow(frame, *unit, measure, RESPONSES[measure].raw).groupby(unit, sort=True):
            place: dict[str, Any] = dict(zip(unit, map(str, names), strict=True))
            place |= {"measure": measure, "region": region, "prompt": prompt}
            for form in forms[measure]:
                model, estimated = _effect(*build_model_trials(rows, measure, RANDOM[measure][form], engine), engine, known)
                if estimated and "raw" in TABLES[table].column_names:
                    model = _described(model, estimated, rows, measure, form, engine, known)
                fits.append(model)
                places += [{**place, "random": form}] * len(model)
    columns = TABLES[table].column_names
    if not fits:
        return check(pd.DataFrame(columns=columns), table)
    models = adjusted(pd.concat(fits, ignore_index=True).join(pd.DataFrame(places)))
    tested = models[models["term"] == TERM]
    varying = tested[tested["random"] == SLOPES]
    models = models.assign(mde=detectable(tested), **equivalence(varying, smallest or {}, varying["term"]))
    return check(models.reindex(columns=columns), table)


def effect(
    rows: pd.DataFrame, response: str, random: Sequence[str] = (PLAIN,), engine: str = "glmm", known: Known | None = None
) -> pd.DataFrame:
    """Return the fixed effects of `response ~ grammaticality + covariates`, with the first random effects the engine takes.

    A model that the data do not allow is a row without numbers whose note says why. What is `known` is not fitted again.
    """
    trials, formula = build_model_trials(rows, response, random, engine)
    before = known.get(_asked(trials, formula, engine)) if known else None
    return _effect(trials, formula, engine, known)[0] if before is None else before.assign(formula=formula)


def build_model_trials(rows: pd.DataFrame, response: str, random: Sequence[str], engine: str) -> tuple[pd.DataFrame, str]:
    """Return the columns of a model, covariates centred, and its formula."""
    others = covariates(rows) if response not in ("z", "rating") else []
    used = {name: rows[name] for name in (response, TERM, "participant", "item")}
    centred = pd.DataFrame(used | {name: rows[name] - rows[name].mean() for name in others})
    fixed = " + ".join([TERM, *others])
    formulas = [f"{response} ~ {fixed} + {form}" for form in random]
    lacks = engine_named(engine).describe_unsupported
    # The formula in the table says which random effects were fitted.
    return centred, next((each for each in formulas if not lacks(parse_formula(each))), formulas[-1])


def _effect(trials: pd.DataFrame, formula: str, engine: str, known: Known | None) -> tuple[pd.DataFrame, ModelEstimate | None]:
    """Return the fixed effects and, where the model could be fitted, the fit, which is then `known`."""
    try:
        model, steps = fit_stepwise(trials, formula, engine=engine)
    except DataError as error:
        return failed(formula, TERM, str(error).replace("\n", "; "), trials, engine=engine), None
    if known is not None:
        known[_asked(trials, formula, engine)] = model
    return model, steps.kept


def _asked(trials: pd.DataFrame, formula: str, engine: str) -> tuple[object, ...]:
    """Return all that a model's fixed effects follow from; the name of a response says nothing, unless it is z."""
    response, _, predictors = formula.partition(" ~ ")
    cells = hashlib.blake2b()
    for name in trials:
        column = trials[name]
        numbers = pd.api.types.is_numeric_dtype(column)
        cells.update(column.to_numpy(dtype="float64").tobytes() if numbers else "\0".join(map(str, column)).encode())
    return predictors, engine, response == "z", len(trials), cells.digest()


def covariates(rows: pd.DataFrame) -> list[str]:
    """Return the covariates of a reading-time model: trial, and position where the members of some pair differ in it."""
    varying = [name for name in COVARIATES if name in rows and rows[name].max() > rows[name].min()]
    if "position" in varying:
        places = {(item, place) for item, place in zip(rows["item"], rows["position"], strict=True) if place == place}
        if len(places) == len({item for item, _ in places}):
            varying.remove("position")
    return varying


def _described(
    model: pd.DataFrame, estimated: ModelEstimate, rows: pd.DataFrame, measure: str, form: str, engine: str, known: Known | None
) -> pd.DataFrame:
    """Add to a model's grammaticality what it comes to: in ms, and of the declared form on the raw scale."""
    columns: dict[str, float] = {}
    if form == INTERCEPTS:
        raw = effect(rows, RESPONSES[measure].raw, (PLAIN,), engine, known)
        for ours, theirs in (("raw", "estimate"), ("raw_low", "ci_low"), ("raw_high", "ci_high")):
            columns[ours] = raw.loc[raw["term"] == TERM, theirs].item()
    if measure == "log_rt":
        ends = estimated.compute_exp_difference({"intercept": 1.0, TERM: 0.5}, {"intercept": 1.0, TERM: -0.5})
        columns |= dict(zip(("ms", "ms_low", "ms_high"), ends, strict=True))
    term = model["term"] == TERM
    return model.assign(**{name: term.map({True: value, False: float("nan")}) for name, value in columns.items()})


def adjusted(models: pd.DataFrame) -> pd.DataFrame:
    """Return `models` with p of the grammaticality term adjusted: `p_bh` within each region and prompt, `p_bh_all` over them."""
    tests = models[models["term"] == TERM]
    within = adjust_by_family(tests, ["measure", "region", "prompt", "random"], benjamini_hochberg)
    return models.assign(p_bh=within, p_bh_all=adjust_by_family(tests, ["measure", "random"], benjamini_hochberg))


def detectable(tested: pd.DataFrame) -> pd.Series:
    """Return the minimum detectable effect of each coefficient: (t.975 + t.80) times its standard error."""
    from scipy.special import stdtrit

    df = tested["df"].fillna(float("inf")).to_numpy(dtype="float64")  # without degrees of freedom, z
    smallest = (stdtrit(df, 1 - ALPHA / 2) + stdtrit(df, POWER)) * tested["se"].to_numpy(dtype="float64")
    return pd.Series(smallest, index=tested.index)


def families(models: Mapping[str, pd.DataFrame], measured: Mapping[Measured, pd.DataFrame]) -> pd.DataFrame:
    """Return each family of tests: how many, how many below .05 after correction, and the residuals' autocorrelation.

    `models` holds the tables of models by level (phenomenon, paradigm).
    """
    lagged = {key: autocorrelation(rows, key[0]) for key, rows in measured.items()}
    summaries = []
    for level, table in models.items():
        tests = table[table["term"] == TERM]
        for measure, region, prompt in measured:
            in_family = (tests["measure"] == measure) & (tests["region"] == region)
            for random, rows in filter_prompt(tests[in_family], prompt).groupby("random", sort=False):
                summaries.append(
                    {
                        "level": level,
                        "measure": measure,
                        "region": region,
                        "prompt": prompt,
                        "random": random,
                        "models": len(rows),
                        "fitted": int(rows["p"].notna().sum()),
                        "singular": int(rows["singular"].sum()),
                        "uncorrected": int((rows["p"] < ALPHA).sum()),
                        "found": int((rows["p_bh"] < ALPHA).sum()),
                        "found_all": int((rows["p_bh_all"] < ALPHA).sum()),
                        "autocorrelation": lagged[measure, region, prompt],
                    }
                )
    return check(pd.DataFrame(summaries, columns=TABLES["families"].column_names), "families")


def autocorrelation(rows: pd.DataFrame, response: str) -> float:
    """Return the correlation of a trial's residual with that of the same session's trial before it, in `rows`.

    Residuals are those of least squares on participants, items, conditions within phenomena, and log trial number where it
    is a covariate: over all phenomena together, since a session is one sequence of them.
    """
    import numpy as np

    ordered = rows.sort_values(["session", "trial"])
    cells = ordered["phenomenon"].astype("string") + "/" + ordered["condition"].astype("string")
    factors = [pd.factorize(column)[0] for column in (ordered["participant"], ordered["item"], cells)]
    y = ordered[response].to_numpy(dtype="float64")
    x = ordered.get("log_trial", pd.Series(0.0, index=ordered.index)).to_numpy(dtype="float64")
    y, x = _swept(y, factors), _swept(x, factors)
    spread = float(x @ x)
    residual = y - x * (float(x @ y) / spread) if spread > 1e-9 * len(x) else y
    session = ordered["session"].to_numpy()
    same = session[1:] == session[:-1]
    before, after = residual[:-1][same], residual[1:][same]
    if len(before) < 3 or np.ptp(before) < 1e-9 or np.ptp(after) < 1e-9:
        return float("nan")
    return float(np.corrcoef(before, after)[0, 1])


def _swept(values: Any, factors: Sequence[Any], rounds: int = 200) -> Any:
    """Return what is left of `values` when the levels of all factors are fitted by least squares."""
    import numpy as np

    left = values - values.mean()
    for _ in range(rounds):
        before = left
        for codes in factors:
            sizes = np.bincount(codes)
            left = left - (np.bincount(codes, weights=left) / np.maximum(sizes, 1))[codes]
        if np.abs(left - before).max() < 1e-10:
            break
    return left
