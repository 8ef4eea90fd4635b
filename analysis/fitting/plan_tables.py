"""The tables of a plan that was fitted: planned models, every fit, effects, random effects, contrasts and means of cells."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check
from gardenpath.study.config import COVARIATES
from gardenpath.study.plans import DECLARED, INTERCEPTS, SLOPES, Plan, PlannedModel
from gardenpath.study.responses import RESPONSES

from ..engines.estimates import ModelEstimate
from ..engines.formulas import parse_formula
from ..grammatical_status import GRAMMATICALITY_CODES
from ..intervals import adjust_by_family, benjamini_hochberg, holm
from ..measuring.cell_means import compute_cell_means
from ..measuring.participant_measures import find_participant_factors
from ..model_results import COEFFICIENT, SIMPLE_EFFECT
from ..modelling.coding import Coded, hypotheses
from ..modelling.equivalence import compute_minimum_detectable_effects, equivalence
from ..modelling.marginal_means import simple_effects
from ..modelling.mixed_models import fit_coded
from ..modelling.policies import ESTIMATED, NOT_ESTIMATED, ZERO
from ..modelling.probabilities import probabilities
from ..modelling.separation import binary
from ..plan.resolution import BENJAMINI_HOCHBERG, HOLM_OVER_REGIONS
from ..plan.trials import POPULATION, StudyTrials
from ..row_dicts import list_rows
from .aggregate_tests import compute_aggregate_tests
from .autocorrelation import compute_autocorrelations
from .hypothesis_tests import compute_hypotheses
from .planned_fits import PlannedFit, fit_planned, refit

NOT_TRIED = "not fitted: nothing could be tried"  # in the column decision
TESTS = ("estimate", "se", "df", "t", "p", "ci_low", "ci_high")
OVER_PHENOMENA = "Benjamini-Hochberg over the {units} of one response, region, prompt and form of random effects"
UNITS = {"phenomenon": "phenomena", "paradigm": "paradigms"}


def fit_plan(plan: Plan, trials: StudyTrials, *, covariates: Sequence[str] = COVARIATES) -> dict[str, pd.DataFrame]:
    """Return planned_models, models, effects, hypotheses, aggregate_tests, random_effects, contrast_codes, contrast_matrices and
    factorial_means, by name.

    Every model of the plan is fitted to the trials that are there. `p_adjusted` of minimal pairs is adjusted over the phenomena, or
    the paradigms, of one response, region, prompt and form of random effects (Benjamini & Hochberg, doi
    10.1111/j.2517-6161.1995.tb02031.x), of the study's own factors over the regions in which the same coefficient of the same model
    is tested (Holm). `mde` is the smallest effect that this standard error would find at .05 in 80 % of repetitions,
    `p_equivalence` that of two one-sided tests against the smallest effects of interest, of effects that vary over participants or
    items in the model (doi 10.1007/BF01068419). Where the design allows a slope of an effect, and its variance could not be
    estimated, p is `optimistic`, and aggregate_tests has tests of the effect by participants and by items.

    A model that the data do not allow keeps a row of effects without numbers; its note in `models` says why. `covariates` are those
    of the settings.

    >>> from ..plan import StudyTrials, resolve_plan
    >>> from gardenpath.study import AnalysisSection
    >>> rows = [(f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, (p + i) % 2 + (p * i) % 3 / 9) for p in range(6) for i in range(6)]
    >>> scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "z"])
    >>> scores = scores.assign(role="target", paradigm="ever", task="rating", prompt="rating")
    >>> levels = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]
    >>> conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    >>> times, answers = (pd.DataFrame(columns=TABLES[name].column_names) for name in ("region_times", "binary_responses"))
    >>> trials = StudyTrials(scores, times, answers, scores[["paradigm", "item", "condition"]], conditions)
    >>> tables = fit_plan(resolve_plan(AnalysisSection(), trials), trials)
    >>> tables["effects"][["random", "term", "contrast"]].to_numpy().tolist()[1]
    ['intercepts', 'npi_ever_any', 'npi: ever minus any']
    """
    parts = []
    for model in plan.models:
        fit = fit_planned(model, trials, plan.engine)
        parts.append(_tabulate(fit, trials, plan.engine))
    effects = _build_effects(parts)
    optimistic = {*effects.loc[effects["optimistic"], "model_id"]}
    return {
        "planned_models": build_planned_models(plan),
        "models": _build_models(parts, compute_autocorrelations(trials, covariates)),
        "effects": effects,
        "hypotheses": compute_hypotheses(plan, effects),
        "aggregate_tests": _build_table("aggregate_tests", list(_list_aggregate_tests(parts, optimistic))),
        "random_effects": _build_table("random_effects", [row for part in parts for row in part.random_effects]),
        "contrast_codes": _build_codes(parts),
        "contrast_matrices": _build_matrices(parts),
        "factorial_means": _build_means(parts, effects),
    }


@dataclass(frozen=True)
class ModelRows:
    """The rows of each table that one model makes; its trials and its fit, which are large, are not kept.

    `formula` is the model as it was fitted, and `is_tested` whether it converged and has a test. `not_estimated` are the fixed
    effects of which a slope could not be estimated; where it is not tested, all that had one.
    """

    model: PlannedModel
    formula: str
    is_tested: bool
    steps: list[dict[str, Any]]
    effects: list[dict[str, Any]]
    not_estimated: frozenset[str]
    aggregate_tests: list[dict[str, Any]]
    random_effects: list[dict[str, Any]]
    codes: list[dict[str, Any]]
    matrix: pd.DataFrame
    cells: pd.DataFrame


def _tabulate(fit: PlannedFit, trials: StudyTrials, engine: str) -> ModelRows:
    coefficients: dict[str, list[Any]] = {str(name): column.to_list() for name, column in fit.coefficients.items()}
    not_estimated = _find_not_estimated(fit)
    return ModelRows(
        fit.model,
        coefficients["formula"][0],
        _is_tested(fit),
        list(_list_steps(fit, coefficients)),
        [*_list_coefficients(fit, coefficients, engine), *_list_simple_effects(fit)],
        not_estimated,
        list(_list_unit_tests(fit, not_estimated)),
        list(_list_random_effects(fit)),
        list(_list_codes(fit)),
        _compute_matrix(fit),
        _compute_cells(fit, trials),
    )


def _find_not_estimated(fit: PlannedFit) -> frozenset[str]:
    """Return the fixed effects of which a slope could not be estimated, where slopes were planned."""
    if fit.model.random == INTERCEPTS or not fit.steps.rows:
        return frozenset()
    if _is_tested(fit):
        return frozenset(one.term for one in fit.steps.left_out if one.reason == NOT_ESTIMATED)
    start = parse_formula(fit.model.first_fit)
    return frozenset(_name(term) for random in start.random for term in random.terms if term in start.fixed) - {"intercept"}


def _list_unit_tests(fit: PlannedFit, terms: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield the tests by participants and by items of effects of contrasts whose slopes could not be estimated."""
    if fit.design is None or not terms:
        return
    frame = fit.design.frame
    if fit.model.family == "binomial":
        frame = frame.assign(**binary(frame, fit.model.response))
    design = replace(fit.design, frame=frame)
    contrasts = {effect.term: effect.contrast for effect in fit.model.effects if effect.is_tested}
    for term in (one for one in contrasts if one in terms and {*one.split(":")} <= {*design.codes}):
        for row in compute_aggregate_tests(design, term, fit.model.response, is_binary=fit.model.family == "binomial"):
            yield {"term": term, "contrast": contrasts[term], **row}


def _list_aggregate_tests(parts: Sequence[ModelRows], models: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of aggregate_tests of the models that have an optimistic p."""
    with_slopes = {_key_trials(part.model): part for part in parts if part.model.is_headline}
    for part in parts:
        if part.model.model_id in models:
            tests = part.aggregate_tests or with_slopes[_key_trials(part.model)].aggregate_tests
            yield from ({"model_id": part.model.model_id, **row} for row in tests)


def _has_raw_scale(model: PlannedModel) -> bool:
    """Whether it is the model of pairs with intercepts alone, whose effect is shown on the scale as measured too."""
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
                "resolved_from": plan.resolved_from,
                "plan_sha256": sha256,
            }
            for model in plan.models
        ],
    )


# ------------------------------------------------------------------------------------------------ fits


def _build_models(parts: Sequence[ModelRows], autocorrelations: Mapping[tuple[object, ...], float]) -> pd.DataFrame:
    rows = []
    for part in parts:
        lagged = None
        if _is_corrected_phenomenon(part.model):
            lagged = autocorrelations.get((part.model.response, part.model.region, part.model.prompt))
        rows += [{**step, "autocorrelation": lagged if step["kept"] else None} for step in part.steps]
    return _build_table("models", rows)


def _list_steps(fit: PlannedFit, coefficients: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of models of one model: every fit on the way."""
    first = {name: cells[0] for name, cells in coefficients.items()}
    facts = {"model_id": fit.model.model_id, "n": first["n"], "n_participants": first["participants"], "n_items": first["n_items"]}
    steps = fit.steps.rows or [_describe_untried(first)]
    for number, step in enumerate(steps):
        kept = bool(step["kept"]) if fit.is_fitted else number == len(steps) - 1
        row = {**step, **facts, "kept": kept, "reduced": step["formula"] != steps[0]["formula"]}
        yield {**row, "note": first["note"] or None, "thresholds": _count_thresholds(fit)} if kept else row


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


def _list_random_effects(fit: PlannedFit) -> Iterator[dict[str, Any]]:
    if (estimated := fit.estimated) is None:
        return
    model = {"model_id": fit.model.model_id}
    zero = {(one.group, one.term) for one in estimated.zero_variances}
    for deviation in estimated.variances:
        status = ZERO if (deviation.group, deviation.term) in zero else ESTIMATED
        row = {**model, "grouping": deviation.group, "term": _name(deviation.term), "status": status, "sd": deviation.sd}
        yield {**row, "opposite": _compute_opposite_share(estimated, deviation.term, deviation.sd) if status == ESTIMATED else None}
    for slope in fit.steps.left_out:
        yield {**model, "grouping": slope.group, "term": _name(slope.term), "status": slope.reason}
    for pair in estimated.correlations:
        terms = {"term": _name(pair.term), "correlated_with": _name(pair.other_term)}
        yield {**model, "grouping": pair.group, **terms, "correlation": pair.correlation}
    if estimated.family == "gaussian":
        yield {**model, "grouping": "residual", "status": ESTIMATED, "sd": estimated.residual}


def _compute_opposite_share(estimated: ModelEstimate, term: str, sd: float) -> float | None:
    """Return the share of normal slopes around a fixed effect whose sign is not its; None of the intercept, or without effect."""
    from scipy import special

    rows = estimated.coefficients
    same = rows["term"].map(lambda other: {*str(other).split(":")} == {*term.split(":")})
    if term == "1" or not same.any():
        return None
    return float(special.ndtr(-abs(float(rows.loc[same, "estimate"].iloc[0])) / sd))


def _name(term: str) -> str:
    return "intercept" if term == "1" else term


# ------------------------------------------------------------------------------------------------ effects


def _build_effects(parts: Sequence[ModelRows]) -> pd.DataFrame:
    headlines = find_headlines(parts)
    with_slopes = {_key_trials(part.model): part for part in parts if part.model.is_headline}
    rows = []
    for number, part in enumerate(parts):
        # A model with intercepts that stands in for one with slopes has none of those that this one could not have.
        stands_in = number in headlines and not part.model.is_headline
        lacking = with_slopes[_key_trials(part.model)].not_estimated if stands_in else part.not_estimated
        named = {*itertools.chain.from_iterable(_list_factors(part.model, term) for term in lacking)}
        for row in part.effects:
            is_lacking = row["term"] in lacking if row["kind"] == COEFFICIENT else row["factors"] in named
            optimistic = is_lacking and not pd.isna(row.get("p"))
            rows.append({**_identify(part.model), "headline": number in headlines, "optimistic": optimistic, **row})
    helpers = ["sesoi", "hypothesis"]
    effects = pd.DataFrame(rows, columns=[*dict.fromkeys([*TABLES["effects"].column_names, *helpers])])
    is_tested = (effects["kind"] == COEFFICIENT) & (effects["term"] != "intercept") & (effects["family"] != "cumulative")
    tested = effects[is_tested]
    by_id = {part.model.model_id: part for part in parts}
    varies = [_varies(term, by_id[name]) for name, term in zip(tested["model_id"], tested["term"], strict=True)]
    varying = tested[pd.Series(varies, index=tested.index, dtype="bool")]
    effects = effects.assign(mde=compute_minimum_detectable_effects(tested), **equivalence(varying, varying["sesoi"]))
    effects = _adjust(effects, {name: part.model for name, part in by_id.items()})
    return check(effects.drop(columns=helpers), "effects")


def _list_factors(model: PlannedModel, term: str) -> list[str]:
    """Return the factors whose effect a coefficient is, one by one."""
    return next((one.factors.split(":") for one in model.effects if one.term == term), [])


def find_headlines(parts: Sequence[ModelRows]) -> set[int]:
    """Return the numbers of the models that are reported first.

    Of several models of the same trials it is the planned headline, the one with slopes: without slopes, an effect that varies over
    participants or items is found too easily (Barr et al. 2013, doi 10.1016/j.jml.2012.11.001). A singular or reduced model
    with slopes stays the headline. Where it has no estimate, no test, or did not converge, it is the one with intercepts.
    """
    intercepts = {_key_trials(part.model): number for number, part in enumerate(parts) if part.model.random == INTERCEPTS}
    found = set()
    for number, part in enumerate(parts):
        if part.model.is_headline:
            other = intercepts.get(_key_trials(part.model))
            found.add(number if other is None or part.is_tested else other)
    return found


def _key_trials(model: PlannedModel) -> tuple[object, ...]:
    return model.unit, model.name, model.response, model.region, model.prompt


def _is_tested(fit: PlannedFit) -> bool:
    return fit.estimated is not None and fit.estimated.converged and bool(fit.coefficients["p"].notna().any())


def _list_coefficients(fit: PlannedFit, coefficients: Mapping[str, list[Any]], engine: str) -> Iterator[dict[str, Any]]:
    model = fit.model
    planned = {frozenset(effect.term.split(":")): effect for effect in model.effects}
    hypothesis = str((model.formula, model.contrasts, model.paradigms, model.prompt))  # one, in several regions
    in_ms = _compute_ms(fit)
    raw = _compute_raw(fit, engine)
    for number, term in enumerate(coefficients["term"]):
        effect = planned.get(frozenset(term.split(":")))
        cells = {"kind": COEFFICIENT, "term": term, **{name: coefficients[name][number] for name in TESTS}}
        if effect is not None and fit.is_fitted:
            cells |= {"factors": effect.factors or None, "contrast": effect.contrast or None, "hypothesis": hypothesis}
        if effect is not None:
            cells["sesoi"] = effect.sesoi
        yield {**cells, **in_ms.get(term, {}), **raw.get(term, {})}


def _list_simple_effects(fit: PlannedFit) -> Iterator[dict[str, Any]]:
    has_interaction = any(":" in effect.term for effect in fit.model.effects)
    if fit.estimated is None or fit.design is None or fit.model.family == "cumulative" or not has_interaction:
        return
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


def _compute_raw(fit: PlannedFit, engine: str) -> dict[str, dict[str, float]]:
    """Return the effect of a model of pairs with intercepts alone on the scale as measured, and the interactions of a headline of
    log reading times in ms: these may hold on one scale and not on the other (Loftus 1978, doi 10.3758/BF03197461).
    """
    raw = RESPONSES[fit.model.response].raw
    if _has_scale_to_compare(fit) and fit.design is not None:
        return _refit_interactions(fit, fit.design, raw, engine)
    if not _has_raw_scale(fit.model) or not raw or not fit.is_fitted:
        return {}
    table = refit(fit.model, fit.trials, raw, engine)
    names = {"estimate": "raw", "ci_low": "raw_low", "ci_high": "raw_high"}
    [term] = fit.model.coding
    return {term: {new: table.loc[table["term"] == term, old].item() for old, new in names.items()}}


def _has_scale_to_compare(fit: PlannedFit) -> bool:
    model = fit.model
    has_interaction = any(effect.is_tested and ":" in effect.term for effect in model.effects)
    return model.unit == "model" and model.is_headline and model.response == "log_rt" and has_interaction and fit.is_fitted


def _refit_interactions(fit: PlannedFit, design: Coded, raw: str, engine: str) -> dict[str, dict[str, float]]:
    """Return the interactions of a model, as it was kept, of the response as measured."""
    formula = replace(parse_formula(fit.coefficients["formula"].iloc[0]), response=raw, text="")
    varied = replace(design, formula=replace(design.formula, response=raw, text=""))
    try:
        found = fit_coded(
            varied, formula, declared_formula=formula, family="gaussian", engine=engine, policy="declared"
        ).coefficients
    except DataError:
        return {}
    names = {"estimate": "raw", "ci_low": "raw_low", "ci_high": "raw_high", "p": "raw_p"}
    usable = found[found["converged"].astype(bool) & found["term"].str.contains(":")]
    return {row["term"]: {new: row[old] for old, new in names.items()} for row in list_rows(usable)}


def _varies(term: str, part: ModelRows) -> bool:
    """Whether a coefficient, no covariate's, is of a model with slopes; of a declared one, whether this effect has some."""
    if term in COVARIATES:
        return False
    if part.model.random != DECLARED:
        return part.model.random == SLOPES
    return any(term in one.terms for one in parse_formula(part.formula).random)


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
    adjusted.loc[pairs.index] = within.astype("float64")
    adjusted.loc[repeated.index] = over_regions.astype("float64")
    adjustment = effects["adjustment"].astype("object").copy()
    adjustment.loc[pairs.index] = [OVER_PHENOMENA.format(units=UNITS[str(unit)]) for unit in pairs["unit"]]
    adjustment.loc[repeated.index] = HOLM_OVER_REGIONS
    return effects.assign(p_adjusted=adjusted, adjustment=adjustment, p_adjusted_all=over_all.reindex(effects.index))


# ------------------------------------------------------------------------------------------------ contrasts and cells


def _list_codes(fit: PlannedFit) -> Iterator[dict[str, Any]]:
    """Yield the columns of a model's contrasts in every condition that enters it."""
    if not fit.is_fitted or fit.design is None:
        return
    model = {"unit": fit.model.unit, "model": fit.model.name, "response": fit.model.response}
    if fit.model.is_of_pairs:
        for paradigm, column, (condition, code) in itertools.product(
            fit.model.paradigms, fit.model.coding, GRAMMATICALITY_CODES.items()
        ):
            yield {**model, "paradigm": paradigm, "condition": condition, "column": column, "code": code}
        return
    frame, codes = fit.design.frame, fit.design.codes
    of_people = {*find_participant_factors(frame, fit.model.coding), POPULATION}
    within = [column for column, (factor, _) in codes.items() if factor not in of_people]
    place = ["paradigm", "condition"]
    conditions = list_rows(frame[[*place, *within]].drop_duplicates(place).sort_values(place))
    for column in within or [""]:
        for row in conditions:
            cell = {name: row[name] for name in place}
            yield {**model, **cell, "column": column or None, "code": row[column] if column else math.nan}
    for column, (factor, by) in codes.items():
        if factor in of_people:
            for level, code in by.items():
                yield {**model, "factor": factor, "level": level, "column": column, "code": code}


def _build_codes(parts: Sequence[ModelRows]) -> pd.DataFrame:
    """Return contrast_codes: models of the same trials have the same codes, which stand there once."""
    codes = {
        tuple(row.get(name) for name in TABLES["contrast_codes"].key): row
        for part in reversed(parts)
        for row in reversed(part.codes)
    }
    return _build_table("contrast_codes", [*reversed(codes.values())])


def _compute_matrix(fit: PlannedFit) -> pd.DataFrame:
    is_linear = fit.is_fitted and fit.design is not None and fit.model.family != "cumulative" and not fit.model.is_of_pairs
    return hypotheses(fit.design) if is_linear and fit.design is not None else pd.DataFrame()


def _build_matrices(parts: Sequence[ModelRows]) -> pd.DataFrame:
    matrices = {part.model.name: part.matrix for part in parts if len(part.matrix)}
    columns = TABLES["contrast_matrices"].column_names
    named = [matrix.assign(model=name) for name, matrix in matrices.items()]
    return check(pd.concat([pd.DataFrame(columns=columns), *named], ignore_index=True)[columns], "contrast_matrices")


def _compute_cells(fit: PlannedFit, trials: StudyTrials) -> pd.DataFrame:
    """Return the cells of a model of the study's factors: of a linear one their means, of a binomial one the probabilities."""
    import numpy as np

    model, rows = fit.model, fit.trials
    if model.is_of_pairs or model.family == "cumulative" or rows.empty:
        return pd.DataFrame()
    place = {"model": model.name, "response": model.response, "region": model.region, "prompt": model.prompt}
    if model.family == "binomial":
        orders: dict[str, Sequence[str]] = {factor: coding.levels for factor, coding in model.coding.items()}
        cells = probabilities(rows, model.response, orders, fit.estimated, fit.design if fit.is_fitted else None)
        return cells.assign(**place, random=model.random)
    if model.random == SLOPES or not model.coding:
        return pd.DataFrame()
    means = compute_cell_means(rows, model.response, {factor: trials.list_levels(model, factor) for factor in model.coding})
    limits = ["mean_value", "ci_low", "ci_high"]
    means[["ms", "ms_low", "ms_high"]] = np.exp(means[limits]) if model.response == "log_rt" else np.nan
    return means.assign(**place, random=None)


def _build_means(parts: Sequence[ModelRows], effects: pd.DataFrame) -> pd.DataFrame:
    """Return factorial_means: of linear models the means of cells, then of binomial ones the probabilities by the headline."""
    headlines = {*effects.loc[effects["headline"], "model_id"]}
    linear = [part.cells for part in parts if part.model.family == "gaussian"]
    binomial = [part.cells for part in parts if part.model.family == "binomial" and part.model.model_id in headlines]
    cells = [frame for frame in (*linear, *binomial) if len(frame)]
    table = pd.concat(cells, ignore_index=True) if cells else pd.DataFrame()
    return check(table.reindex(columns=TABLES["factorial_means"].column_names), "factorial_means")
