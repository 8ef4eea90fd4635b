"""The tables of a plan that was fitted: planned models, every fit, effects, random effects, contrasts and means of cells."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.config import COVARIATES
from gardenpath.study.plans import DECLARED, INTERCEPTS, SLOPES, Plan, PlannedModel
from gardenpath.study.responses import RESPONSES

from ..engines.formulas import parse_formula
from ..grammatical_status import GRAMMATICALITY_CODES
from ..intervals import adjust_by_family, benjamini_hochberg, holm
from ..measuring.cell_means import compute_cell_means
from ..model_results import COEFFICIENT, SIMPLE_EFFECT
from ..modelling.coding import Coded, hypotheses
from ..modelling.equivalence import compute_minimum_detectable_effects, equivalence
from ..modelling.marginal_means import simple_effects
from ..modelling.probabilities import probabilities
from ..plan.resolution import BENJAMINI_HOCHBERG, HOLM_OVER_REGIONS
from ..plan.trials import StudyTrials
from ..row_dicts import list_rows
from .autocorrelation import compute_autocorrelations
from .planned_fits import KnownFits, PlannedFit, fit_planned, key_fit, refit

NOT_TRIED = "not fitted: nothing could be tried"  # in the column decision
TESTS = ("estimate", "se", "df", "t", "p", "ci_low", "ci_high")
OVER_PHENOMENA = "Benjamini-Hochberg over the {units} of one response, region, prompt and form of random effects"
UNITS = {"phenomenon": "phenomena", "paradigm": "paradigms"}


def fit_plan(
    plan: Plan, trials: StudyTrials, *, covariates: Sequence[str] = COVARIATES, known: KnownFits | None = None
) -> dict[str, pd.DataFrame]:
    """Return planned_models, models, effects, random_effects, contrast_codes, contrast_matrices and factorial_means, by name.

    Every model of the plan is fitted to the trials that are there. `p_adjusted` of minimal pairs is adjusted over the phenomena, or
    the paradigms, of one response, region, prompt and form of random effects (Benjamini & Hochberg, doi
    10.1111/j.2517-6161.1995.tb02031.x), of the study's own factors over the regions in which the same coefficient of the same model
    is tested (Holm). `mde` is the smallest effect that this standard error would find at .05 in 80 % of repetitions,
    `p_equivalence` that of two one-sided tests against the smallest effects of interest, of effects that vary over participants or
    items in the model (doi 10.1007/BF01068419).

    A model that the data do not allow keeps a row of effects without numbers; its note in `models` says why. Models of pairs that
    are fitted are put into `known`. `covariates` are those of the settings.

    >>> from ..plan import StudyTrials, resolve_plan
    >>> from gardenpath.study import AnalysisSection
    >>> rows = [(f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, (p + i) % 2 + (p * i) % 3 / 9) for p in range(6) for i in range(6)]
    >>> scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "z"])
    >>> scores = scores.assign(role="target", paradigm="ever", prompt="rating")
    >>> levels = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]
    >>> conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    >>> times, answers = (pd.DataFrame(columns=TABLES[name].column_names) for name in ("region_times", "binary_responses"))
    >>> trials = StudyTrials(scores, times, answers, scores[["paradigm", "item", "condition"]], conditions)
    >>> tables = fit_plan(resolve_plan(AnalysisSection(), trials), trials)
    >>> tables["effects"][["random", "term", "contrast"]].to_numpy().tolist()[1]
    ['intercepts', 'npi_ever_any', 'npi: ever minus any']
    """
    fits = []
    for model in plan.models:
        fit = fit_planned(model, trials, plan.engine)
        fits.append(fit)
        if known is not None and _is_varied(model) and fit.is_fitted:
            known[key_fit(model.formula, fit.trials, plan.engine)] = fit.coefficients
    effects = _build_effects(fits, plan.engine, known)
    codes = pd.concat([pd.DataFrame(columns=TABLES["contrast_codes"].column_names), *_list_codes(fits)], ignore_index=True)
    return {
        "planned_models": build_planned_models(plan),
        "models": _build_models(fits, compute_autocorrelations(trials, covariates)),
        "effects": effects,
        "random_effects": _build_random_effects(fits),
        "contrast_codes": check(codes.drop_duplicates(), "contrast_codes"),
        "contrast_matrices": _build_matrices(fits),
        "factorial_means": _build_means(fits, effects, trials),
    }


def _is_varied(model: PlannedModel) -> bool:
    """Whether it is the model of pairs with intercepts alone, whose effect is shown on other scales and under other choices."""
    return (model.unit, model.random, model.family) == ("phenomenon", INTERCEPTS, "gaussian")


def _identify(model: PlannedModel) -> dict[str, str | None]:
    return {
        "model_id": model.model_id,
        "unit": model.unit,
        "model": model.name,
        "response": model.response,
        "family": model.family,
        "region": model.region,
        "prompt": model.prompt,
        "random": model.random,
        "policy": model.policy,
    }


def _build_table(name: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return check(pd.DataFrame(rows, columns=TABLES[name].column_names), name)


def build_planned_models(plan: Plan) -> pd.DataFrame:
    """Return the table planned_models."""
    sha256 = plan.sha256
    return _build_table(
        "planned_models",
        [
            {
                **_identify(model),
                "link": model.link,
                "paradigms": ", ".join(model.paradigms),
                "formula": model.formula,
                "first_fit": model.first_fit,
                "is_headline": model.is_headline,
                "tested": "; ".join(effect.contrast for effect in model.effects if effect.is_tested) or None,
                "correction": model.correction or None,
                "note": model.note or None,
                "plan_sha256": sha256,
            }
            for model in plan.models
        ],
    )


# ------------------------------------------------------------------------------------------------ fits


def _build_models(fits: Sequence[PlannedFit], autocorrelations: Mapping[tuple[object, ...], float]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for fit in fits:
        model, first = fit.model, list_rows(fit.coefficients.head(1))[0]
        facts = {"model_id": model.model_id, "n": first["n"], "n_participants": first["participants"], "n_items": first["n_items"]}
        steps = fit.steps.rows or [_describe_untried(first)]
        place = (model.response, model.region, model.prompt)
        for number, step in enumerate(steps):
            kept = bool(step["kept"]) if fit.is_fitted else number == len(steps) - 1
            row = {**step, **facts, "kept": kept, "reduced": step["formula"] != steps[0]["formula"]}
            if kept:
                row |= {"note": first["note"] or None, "thresholds": _count_thresholds(fit)}
                row |= {"autocorrelation": autocorrelations.get(place) if _is_corrected_phenomenon(model) else None}
            rows.append(row)
    return _build_table("models", rows)


def _is_corrected_phenomenon(model: PlannedModel) -> bool:
    return model.unit == "phenomenon" and model.correction == BENJAMINI_HOCHBERG


def _describe_untried(first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a model of which no fit was tried."""
    row = {"step": 0, "engine": first["engine"], "formula": first["formula"], "converged": False, "singular": False}
    return {**row, "kept": True, "decision": NOT_TRIED}


def _count_thresholds(fit: PlannedFit) -> int | None:
    if fit.model.family != "cumulative" or not fit.is_fitted:
        return None
    return len({*fit.trials[fit.model.response]}) - 1


def _build_random_effects(fits: Sequence[PlannedFit]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for fit in fits:
        if (estimated := fit.estimated) is None:
            continue
        model = {"model_id": fit.model.model_id}
        rows += [{**model, "grouping": one.group, "term": _name(one.term), "sd": one.sd} for one in estimated.variances]
        rows += [
            {**model, "grouping": one.group, "term": _name(one.term), "correlated_with": _name(one.other_term)}
            | {"correlation": one.correlation}
            for one in estimated.correlations
        ]
        rows += [{**model, "grouping": "residual", "sd": estimated.residual}] * (estimated.family == "gaussian")
    return _build_table("random_effects", rows)


def _name(term: str) -> str:
    return "intercept" if term == "1" else term


# ------------------------------------------------------------------------------------------------ effects


def _build_effects(fits: Sequence[PlannedFit], engine: str, known: KnownFits | None) -> pd.DataFrame:
    headlines = find_headlines(fits)
    rows: list[dict[str, Any]] = []
    for number, fit in enumerate(fits):
        model = {**_identify(fit.model), "headline": number in headlines}
        rows += [{**model, **row} for row in _list_coefficients(fit, engine, known)]
        if fit.estimated is not None and fit.design is not None and fit.model.family != "cumulative":
            rows += [{**model, **row} for row in _list_simple_effects(fit)]
    helpers = ["sesoi", "hypothesis"]
    effects = pd.DataFrame(rows, columns=[*dict.fromkeys([*TABLES["effects"].column_names, *helpers])])
    is_tested = (effects["kind"] == COEFFICIENT) & (effects["term"] != "intercept") & (effects["family"] != "cumulative")
    tested = effects[is_tested]
    by_id = {fit.model.model_id: fit for fit in fits}
    varying = tested[pd.Series([_varies(row, by_id) for row in list_rows(tested)], index=tested.index, dtype="bool")]
    effects = effects.assign(mde=compute_minimum_detectable_effects(tested), **equivalence(varying, varying["sesoi"]))
    effects = _adjust(effects, {name: fit.model for name, fit in by_id.items()})
    return check(effects.drop(columns=helpers), "effects")


def find_headlines(fits: Sequence[PlannedFit]) -> set[int]:
    """Return the numbers of the fits that are reported first.

    Of several models of the same trials it is the planned headline, the one with slopes: without slopes, an effect that varies over
    participants or items is found too easily (Barr et al. 2013, doi 10.1016/j.jml.2012.11.001). A singular or reduced model
    with slopes stays the headline. Where it has no estimate, no test, or did not converge, it is the one with intercepts.
    """
    intercepts = {_place(fit.model): number for number, fit in enumerate(fits) if fit.model.random == INTERCEPTS}
    found = set()
    for number, fit in enumerate(fits):
        if fit.model.is_headline:
            other = intercepts.get(_place(fit.model))
            found.add(number if other is None or _is_tested(fit) else other)
    return found


def _place(model: PlannedModel) -> tuple[object, ...]:
    return model.unit, model.name, model.response, model.region, model.prompt


def _is_tested(fit: PlannedFit) -> bool:
    return fit.estimated is not None and fit.estimated.converged and bool(fit.coefficients["p"].notna().any())


def _list_coefficients(fit: PlannedFit, engine: str, known: KnownFits | None) -> Iterator[dict[str, Any]]:
    model = fit.model
    planned = {frozenset(effect.term.split(":")): effect for effect in model.effects}
    hypothesis = str((model.formula, model.contrasts, model.paradigms, model.prompt))  # one, in several regions
    in_ms = _compute_ms(fit)
    raw = _compute_raw(fit, engine, known)
    for row in list_rows(fit.coefficients):
        effect = planned.get(frozenset(str(row["term"]).split(":")))
        cells = {"kind": COEFFICIENT, "term": row["term"], **{name: row[name] for name in TESTS}}
        if effect is not None and fit.is_fitted:
            cells |= {"factors": effect.factors or None, "contrast": effect.contrast or None, "hypothesis": hypothesis}
        if effect is not None:
            cells["sesoi"] = effect.sesoi
        yield {**cells, **in_ms.get(str(row["term"]), {}), **raw.get(str(row["term"]), {})}


def _list_simple_effects(fit: PlannedFit) -> Iterator[dict[str, Any]]:
    assert fit.estimated is not None
    assert fit.design is not None
    for row in list_rows(simple_effects(fit.estimated, fit.design)):
        yield {
            "kind": SIMPLE_EFFECT,
            "factors": row["factor"],
            "p_adjusted": row["p_holm"],
            **{name: row[name] for name in ("within", "contrast", "adjustment", *TESTS, "ms", "ms_low", "ms_high")},
        }


def _compute_ms(fit: PlannedFit) -> dict[str, dict[str, float]]:
    """Return, of a model of log reading time, contrasts that are differences of two levels, -1/2 and +1/2, in ms."""
    if fit.model.response != "log_rt" or fit.estimated is None or fit.design is None:
        return {}
    terms = fit.estimated.coefficients["term"].to_list()
    found = {}
    for column, (_, by) in fit.design.codes.items():
        if column in terms and "intercept" in terms and sorted(by.values()) == [-0.5, 0.5]:
            upper, lower = ({"intercept": 1.0, column: code} for code in (0.5, -0.5))
            ends = fit.estimated.compute_exp_difference(upper, lower)
            found[column] = dict(zip(("ms", "ms_low", "ms_high"), ends, strict=True))
    return found


def _compute_raw(fit: PlannedFit, engine: str, known: KnownFits | None) -> dict[str, dict[str, float]]:
    """Return the effect of a model of pairs with intercepts alone on the scale as measured."""
    raw = RESPONSES[fit.model.response].raw
    if not _is_varied(fit.model) or not raw or not fit.is_fitted:
        return {}
    table = refit(fit.model, fit.trials, raw, engine, known)
    names = {"estimate": "raw", "ci_low": "raw_low", "ci_high": "raw_high"}
    [term] = fit.model.coding
    return {term: {new: table.loc[table["term"] == term, old].item() for old, new in names.items()}}


def _varies(row: Mapping[str, Any], fits: Mapping[str, PlannedFit]) -> bool:
    """Whether a coefficient, no covariate's, is of a model with slopes; of a declared one, whether this effect has some."""
    if row["term"] in COVARIATES:
        return False
    if row["random"] != DECLARED:
        return bool(row["random"] == SLOPES)
    random = parse_formula(fits[row["model_id"]].coefficients["formula"].iloc[0]).random
    return any(row["term"] in one.terms for one in random)


def _adjust(effects: pd.DataFrame, models: Mapping[str, PlannedModel]) -> pd.DataFrame:
    """Return effects with p adjusted as their models plan it."""
    correction = effects["model_id"].map({name: model.correction for name, model in models.items()})
    coefficients = effects["kind"] == COEFFICIENT
    is_grammaticality = coefficients & effects["term"].isin([name for model in models.values() for name in model.coding])
    pairs = effects[(correction == BENJAMINI_HOCHBERG) & is_grammaticality]
    family = ["unit", "response", "random"]
    within = adjust_by_family(pairs, [*family, "region", "prompt"], benjamini_hochberg)
    over_all = adjust_by_family(pairs, family, benjamini_hochberg)
    tests = effects[(correction == HOLM_OVER_REGIONS) & coefficients & (effects["term"] != "intercept")]
    tests = tests[~tests["term"].isin(COVARIATES) & tests["p"].notna()]
    regions = tests.groupby(["hypothesis", "term"])["region"].transform("nunique")
    repeated = tests[regions > 1]
    over_regions = adjust_by_family(repeated, ["hypothesis", "term"], holm)
    adjusted = effects["p_adjusted"].astype("float64").copy()
    adjustment = effects["adjustment"].astype("object").copy()
    for part, values, text in (
        (pairs, within, lambda row: OVER_PHENOMENA.format(units=UNITS[row["unit"]])),
        (repeated, over_regions, lambda row: HOLM_OVER_REGIONS),
    ):
        adjusted.loc[part.index] = values
        adjustment.loc[part.index] = [text(row) for row in list_rows(part)]
    return effects.assign(p_adjusted=adjusted, adjustment=adjustment, p_adjusted_all=over_all.reindex(effects.index))


# ------------------------------------------------------------------------------------------------ contrasts and cells


def _list_codes(fits: Sequence[PlannedFit]) -> Iterator[pd.DataFrame]:
    """Yield the columns of each model's contrasts in every condition that enters it."""
    for fit in fits:
        model = {"unit": fit.model.unit, "model": fit.model.name, "response": fit.model.response}
        if not fit.is_fitted or fit.design is None:
            continue
        if fit.model.is_of_pairs:
            [column] = fit.model.coding
            cells = [(p, c, code) for p in fit.model.paradigms for c, code in GRAMMATICALITY_CODES.items()]
            yield pd.DataFrame(cells, columns=["paradigm", "condition", "code"]).assign(column=column, **model)
        else:
            yield _code_conditions(fit.design).assign(**model)


def _code_conditions(design: Coded) -> pd.DataFrame:
    place = ["paradigm", "condition"]
    cells = design.frame[[*place, *design.codes]].drop_duplicates(place).sort_values(place)
    if not design.codes:
        return cells.assign(column=None, code=math.nan)
    return cells.melt(place, var_name="column", value_name="code")


def _build_matrices(fits: Sequence[PlannedFit]) -> pd.DataFrame:
    matrices = {
        fit.model.name: hypotheses(fit.design)
        for fit in fits
        if fit.is_fitted and fit.design is not None and fit.design.codes and not fit.model.is_of_pairs
        if fit.model.family != "cumulative"
    }
    parts = [contrasts.assign(model=name) for name, contrasts in matrices.items() if len(contrasts)]
    columns = TABLES["contrast_matrices"].column_names
    return check(pd.concat([pd.DataFrame(columns=columns), *parts], ignore_index=True)[columns], "contrast_matrices")


def _build_means(fits: Sequence[PlannedFit], effects: pd.DataFrame, trials: StudyTrials) -> pd.DataFrame:
    """Return factorial_means: of linear models the means of cells, of binomial ones the probabilities by the headline."""
    import numpy as np

    headlines = {*effects.loc[effects["headline"], "model_id"]}
    linear, binomial = [], []
    for fit in fits:
        model, rows = fit.model, fit.trials
        if model.is_of_pairs or model.family == "cumulative" or rows.empty:
            continue
        place = {"model": model.name, "response": model.response, "region": model.region, "prompt": model.prompt}
        if model.family == "binomial":
            if model.model_id in headlines:
                orders = {factor: coding.levels for factor, coding in model.coding.items()}
                cells = probabilities(rows, model.response, orders, fit.estimated, fit.design if fit.is_fitted else None)
                binomial.append(cells.assign(**place, random=model.random))
        elif model.random != SLOPES and model.coding:
            orders = {factor: trials.list_levels(model, factor) for factor in model.coding}
            means = compute_cell_means(rows, model.response, orders)
            means[["ms", "ms_low", "ms_high"]] = (
                np.exp(means[["mean_value", "ci_low", "ci_high"]]) if model.response == "log_rt" else np.nan
            )
            linear.append(means.assign(**place, random=None))
    columns = TABLES["factorial_means"].column_names
    parts = [part for part in (*linear, *binomial) if len(part)]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    return check(table.reindex(columns=columns), "factorial_means")
