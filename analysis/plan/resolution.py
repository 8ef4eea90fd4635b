"""From settings, conditions and trials to planned models, in the order of the tables of results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from gardenpath.study import AnalysisSection, DataError
from gardenpath.study.config import COVARIATES, find_sesoi, parse_region_name
from gardenpath.study.plans import FactorCoding, Plan, PlannedEffect, PlannedModel
from gardenpath.study.responses import RESPONSES
from gardenpath.study.table_files import take_tables

from ..engines import ordinal_engine
from ..engines.formulas import Formula, parse_formula
from ..grammatical_status import GRAMMATICALITY_CODES
from ..measuring.binary_responses import CHOICE_MEASURE
from ..measuring.ratings_and_times import SENTENCE_REGION
from ..measuring.trial_measures import measure_trials
from ..modelling import factorial, grammaticality, ordinal, random_effects
from ..modelling.coding import Coded, coded
from ..modelling.mixed_models import columns_of
from ..modelling.policies import widest

# Of pairs: which random effects the models of each unit have, by response.
PAIR_FORMS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "phenomenon": dict.fromkeys(grammaticality.RANDOM, (grammaticality.INTERCEPTS, grammaticality.SLOPES)),
    "paradigm": {"z": (grammaticality.INTERCEPTS, grammaticality.SLOPES), "log_rt": (grammaticality.INTERCEPTS,)},
}
BENJAMINI_HOCHBERG, HOLM_OVER_REGIONS = "Benjamini-Hochberg", "Holm, over the regions"


@dataclass(frozen=True)
class PlannedTrials:
    """Who sees which item in which condition, and what is measured of it: the tables rating_scores, region_times and
    binary_responses of the trials that a design prescribes, whose values say nothing, or of those that there are.
    """

    scores: pd.DataFrame
    times: pd.DataFrame
    answers: pd.DataFrame
    items: pd.DataFrame
    resolved_from: Literal["design", "data"]


def resolve_designed(tables: Mapping[str, pd.DataFrame], settings: AnalysisSection) -> Plan:
    """Return the plan of a study from the tables that its design prescribes, whose answers are placeholders."""
    readings, responses, items, conditions = take_tables(tables, "readings", "responses", "items", "conditions")
    regions = tuple(factorial.regions_named(settings.models))
    # Placeholders are no reading times that could be too short or too long.
    kept = replace(settings, min_rt=100.0, max_rt=3000.0)
    measures = measure_trials(tables, readings, responses, conditions, kept, other_regions=regions)
    trials = PlannedTrials(measures.scores, measures.times, measures.binary_responses, items, "design")
    return resolve(settings, conditions, trials)


def resolve(settings: AnalysisSection, conditions: pd.DataFrame, trials: PlannedTrials) -> Plan:
    """Return the models that `analyse` fits to these trials by these settings.

    Raises `DataError` for declared models that the study does not allow, as `analyse` does.
    """
    is_critical = trials.times["region"].map(lambda region: parse_region_name(region)[0] == "critical").astype(bool)
    entered = grammaticality.entering(trials.scores, trials.times[is_critical], trials.items, settings.covariates)
    models = [
        *_plan_pairs(entered, "phenomenon", settings),
        *_plan_pairs(entered, "paradigm", settings),
        *_plan_chosen_pairs(entered, settings),
        *_plan_factorial(trials, conditions, settings),
        *_plan_categories(entered, trials, conditions, settings),
    ]
    return Plan(settings.engine, trials.resolved_from, tuple(models))


def _plan_pairs(
    entered: Mapping[grammaticality.Measured, pd.DataFrame], unit: Any, settings: AnalysisSection
) -> Iterator[PlannedModel]:
    """Yield the models of grammaticality of minimal pairs, for each phenomenon or paradigm."""
    for (response, region, prompt), rows in entered.items():
        for name, part in rows.groupby(unit, sort=True):
            for random in PAIR_FORMS[unit][response]:
                _, formula = grammaticality.build_model_trials(
                    part, response, grammaticality.RANDOM[response][random], settings.engine
                )
                yield PlannedModel(
                    name=str(name),
                    unit=unit,
                    response=response,
                    region=region,
                    prompt=prompt,
                    paradigms=tuple(sorted(map(str, part["paradigm"].unique()))),
                    family=RESPONSES[response].family,
                    link="identity",
                    formula=formula,
                    first_fit=formula,
                    random=random,
                    policy="declared",
                    is_headline=random == PAIR_FORMS[unit][response][-1],
                    effects=_list_pair_effects(formula, response, settings),
                    coding=_code_grammaticality(),
                    correction=BENJAMINI_HOCHBERG,
                )


def _plan_chosen_pairs(
    entered: Mapping[grammaticality.Measured, pd.DataFrame], settings: AnalysisSection
) -> Iterator[PlannedModel]:
    """Yield the models of each phenomenon whose random effects a policy chooses."""
    if settings.policy == "declared" and not settings.crosscheck:
        return
    for (response, region, prompt), rows in entered.items():
        for name, part in rows.groupby("phenomenon", sort=True):
            names = grammaticality.covariates(part) if response == "log_rt" else []
            formula = random_effects.build_formula(response, names, settings.engine)
            first = parse_formula(formula)
            if settings.policy != "declared":
                centred = part.assign(**{other: part[other] - part[other].mean() for other in names})
                first = widest(first, columns_of(centred, first), [grammaticality.TERM])
            yield PlannedModel(
                name=str(name),
                unit="phenomenon",
                response=response,
                region=region,
                prompt=prompt,
                paradigms=tuple(sorted(map(str, part["paradigm"].unique()))),
                family=RESPONSES[response].family,
                link="identity",
                formula=formula,
                first_fit=str(first),
                random=grammaticality.SLOPES,
                policy=settings.policy,
                is_headline=False,
                effects=_list_pair_effects(formula, response, settings),
                coding=_code_grammaticality(),
            )


def _plan_factorial(trials: PlannedTrials, conditions: pd.DataFrame, settings: AnalysisSection) -> Iterator[PlannedModel]:
    """Yield the declared models of the study's own factors, else those that its design suggests."""
    study = factorial.MeasuredStudy.of(trials.scores, trials.times, conditions, trials.answers)
    planned = factorial.draft_models(study, settings.models, settings.policy, settings.covariates)
    factorial.require_supported(planned, settings.engine)
    with_slopes = {
        (one.name, one.formula.response, one.region, one.prompt) for one in planned if one.random == grammaticality.SLOPES
    }
    for one in planned:
        place = (one.name, one.formula.response, one.region, one.prompt)
        response = RESPONSES[one.formula.response]
        rows = factorial.build_model_rows(one, study)
        first, design, note = _begin(one, rows)
        yield PlannedModel(
            name=one.name,
            unit="model",
            response=response.name,
            region=one.region,
            prompt=one.prompt,
            paradigms=one.paradigms,
            family=response.family,
            link="logit" if response.family == "binomial" else "identity",
            formula=str(one.formula),
            first_fit=str(first),
            random=one.random,
            policy=one.policy,
            is_headline=one.random != grammaticality.INTERCEPTS or place not in with_slopes,
            effects=_name_preference(_list_effects(first, design, response.name, settings), response.name, rows),
            coding=_list_codings(one.contrasts),
            correction=HOLM_OVER_REGIONS if response.has_regions else "",
            note=note,
        )


def _name_preference(effects: tuple[PlannedEffect, ...], response: str, rows: pd.DataFrame) -> tuple[PlannedEffect, ...]:
    """Return the effects of a model; the intercept of a model of choices says which member of a pair is preferred."""
    if response != CHOICE_MEASURE or rows.empty:
        return effects
    preference = f"preference: {rows['event'].iloc[0]}"
    return tuple(replace(one, contrast=preference) if one.term == "intercept" else one for one in effects)


def _begin(planned: factorial.ModelDraft, rows: pd.DataFrame) -> tuple[Formula, Coded | None, str]:
    """Return the formula that is fitted first, its factors as columns, and why there are none where there cannot be."""
    if rows.empty:
        return planned.formula, None, RESPONSES[planned.formula.response].absence
    try:
        design = coded(rows, planned.formula, planned.contrasts)
        if planned.policy == "declared":
            return design.formula, design, ""
        crossed = RESPONSES[planned.formula.response].family == "gaussian"
        columns = columns_of(design.frame, design.formula)
        return widest(design.formula, columns, list(design.codes) or None, crossed=crossed), design, ""
    except DataError as error:
        return planned.formula, None, str(error).replace("\n", "; ")


def _plan_categories(
    entered: Mapping[grammaticality.Measured, pd.DataFrame],
    trials: PlannedTrials,
    conditions: pd.DataFrame,
    settings: AnalysisSection,
) -> Iterator[PlannedModel]:
    """Yield the models of ratings as ordered categories, where the settings ask for them or R fits the others too."""
    if not (settings.engine == "lme4" if settings.ordinal is None else settings.ordinal):
        return
    formula = parse_formula(ordinal.FORMULA)
    for (response, _, prompt), rated in entered.items():
        for unit in ("phenomenon", "paradigm") if response == "z" else ():
            for name, part in rated.groupby(unit, sort=True):
                if unit == "paradigm" and (rated["phenomenon"] == part["phenomenon"].iloc[0]).sum() == len(part):
                    continue
                design = coded(part, formula, {})
                first = ordinal.find_widest_start(design, columns_of(design.frame, design.formula))
                yield _build_category_model(str(name), unit, prompt, part, formula, first, design, {}, settings)
    for model in factorial.rating_models(trials.scores, conditions, settings.models):
        design = coded(model.rows, model.formula, model.contrasts)
        is_kept = settings.policy == "declared" and bool(settings.models)
        first = design.formula if is_kept else ordinal.find_widest_start(design, columns_of(design.frame, design.formula))
        yield _build_category_model(
            model.name, "model", model.prompt, model.rows, model.formula, first, design, model.contrasts, settings
        )


def _build_category_model(
    name: str,
    unit: Any,
    prompt: str | None,
    rows: pd.DataFrame,
    formula: Formula,
    first: Formula,
    design: Coded,
    contrasts: Mapping[str, Any],
    settings: AnalysisSection,
) -> PlannedModel:
    is_pair = unit != "model"
    return PlannedModel(
        name=name,
        unit=unit,
        response="rating",
        region=SENTENCE_REGION,
        prompt=prompt,
        paradigms=tuple(sorted(map(str, rows["paradigm"].unique()))),
        family="cumulative",
        link=ordinal.LINKS[0],
        formula=formula.format_expanded(),
        first_fit=ordinal_engine.split_uncorrelated_effects(first).format_expanded(),
        random=factorial.DECLARED if settings.models and not is_pair else grammaticality.SLOPES,
        policy=settings.policy,
        is_headline=False,
        effects=_list_pair_effects(str(formula), "rating", settings)
        if is_pair
        else _list_effects(first, design, "rating", settings),
        coding=_code_grammaticality() if is_pair else _list_codings(contrasts),
    )


def _code_grammaticality() -> dict[str, FactorCoding]:
    return {grammaticality.TERM: FactorCoding("repeated", tuple(reversed(GRAMMATICALITY_CODES)))}


def _list_codings(contrasts: Mapping[str, tuple[str, Sequence[str]]]) -> dict[str, FactorCoding]:
    return {factor: FactorCoding(name, tuple(map(str, levels))) for factor, (name, levels) in contrasts.items()}


def _list_pair_effects(formula: str, response: str, settings: AnalysisSection) -> tuple[PlannedEffect, ...]:
    """Return grammaticality and the covariates of a model of pairs."""
    first, second = GRAMMATICALITY_CODES
    contrast = f"{grammaticality.TERM}: {first} minus {second}"
    sesoi = find_sesoi(settings.sesoi, response, grammaticality.TERM)
    return tuple(
        PlannedEffect(term, contrast, grammaticality.TERM, sesoi)
        if term == grammaticality.TERM
        else PlannedEffect(_name_term(term))
        for term in parse_formula(formula).fixed
    )


def _list_effects(formula: Formula, design: Coded | None, response: str, settings: AnalysisSection) -> tuple[PlannedEffect, ...]:
    """Return the coefficients of a model of the study's factors, in the order of its fixed effects."""
    effects = []
    for term in formula.fixed:
        factors = design.factors(term) if design else None
        contrast = (design.named(term) if design else None) or ""
        sesoi = find_sesoi(settings.sesoi, response, factors or term) if contrast and term not in COVARIATES else None
        effects.append(PlannedEffect(_name_term(term), contrast, factors or "", sesoi))
    return tuple(effects)


def _name_term(term: str) -> str:
    return "intercept" if term == "1" else term
