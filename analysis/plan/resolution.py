"""From settings and trials to planned models, in the order of the tables of results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath.study import AnalysisSection, DataError, HypothesisSection
from gardenpath.study.config import COVARIATES, find_sesoi, parse_region_name
from gardenpath.study.plans import DECLARED, INTERCEPTS, SLOPES, FactorCoding, Plan, PlannedEffect, PlannedModel
from gardenpath.study.responses import PRIMARY_RESPONSES, RESPONSES, is_standardised
from gardenpath.study.table_files import take_tables

from ..cleaning.exclusions import includes_models
from ..engines.formulas import Formula, parse_formula
from ..exclusion_log import ALL_CONDITIONS
from ..grammatical_status import GRAMMATICALITY, GRAMMATICALITY_CODES
from ..measuring.binary_responses import BINARY_MEASURES, CHOICE_MEASURE, YES_MEASURE
from ..measuring.participant_measures import find_participant_factors
from ..measuring.region_spans import SENTENCE_REGION
from ..measuring.trial_measures import measure_trials
from ..modelling.coding import Coded
from ..modelling.mixed_models import columns_of, engine_named
from ..modelling.policies import widest
from .hypotheses import resolve_hypotheses, state_sesoi
from .multiverse import resolve_multiverse
from .trials import POPULATION, POPULATIONS, Levels, PairMeasure, StudyTrials, code_trials, describe_pairs, order_levels

BENJAMINI_HOCHBERG, HOLM_OVER_REGIONS = "Benjamini-Hochberg", "Holm, over the regions"
LINKS = {"gaussian": "identity", "binomial": "logit", "cumulative": "probit"}

# BLiMP-NL's random effects, and beside them the effect's own variance over participants and sentences, without which
# it is found too easily. A z score has no participant means, so no intercepts; an engine that cannot leave them out keeps them.
PLAIN = "(1|participant) + (1|item)"
CORRELATED = f"(1 + {GRAMMATICALITY}|participant) + (1 + {GRAMMATICALITY}|item)"
WITHOUT_MEANS = f"(0 + {GRAMMATICALITY}|participant) + (1|item) + (0 + {GRAMMATICALITY}|item)"
PAIR_RANDOM_EFFECTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    name: {INTERCEPTS: (PLAIN,), SLOPES: (*([WITHOUT_MEANS] if is_standardised(name) else []), CORRELATED, PLAIN)}
    for name in PRIMARY_RESPONSES
}
# Of a single paradigm reading times have little to tell slopes by.
PAIR_FORMS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "phenomenon": dict.fromkeys(PRIMARY_RESPONSES, (INTERCEPTS, SLOPES)),
    "paradigm": {name: (INTERCEPTS,) if RESPONSES[name].has_regions else (INTERCEPTS, SLOPES) for name in PRIMARY_RESPONSES},
}


def resolve_designed_plan(
    tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, hypotheses: Sequence[HypothesisSection] = ()
) -> Plan:
    """Return the plan of a study from the tables that its design prescribes, whose answers are placeholders.

    >>> from gardenpath.study import TABLES
    >>> names = ("readings", "responses", "items", "conditions")
    >>> tables = {name: pd.DataFrame(columns=TABLES[name].column_names) for name in names}
    >>> resolve_designed_plan(tables, AnalysisSection())
    Plan(engine='glmm', resolved_from='design', models=(), hypotheses=(), exclusion_rules=(), multiverse=(), alpha=0.05, schema=2)
    """
    readings, responses, items, conditions = take_tables(tables, "readings", "responses", "items", "conditions")
    # Placeholders are no reading times that could be too short or too long.
    kept = replace(settings, min_rt=100.0, max_rt=3000.0)
    regions = tuple(list_declared_regions(settings))
    measures = measure_trials(tables, readings, responses, conditions, kept, other_regions=regions)
    scores, answers = measures.scores, measures.binary_responses
    if includes_models(settings.exclude):
        # Language models take part too: every other session stands for one.
        scores, answers = (_add_alternating_population(frame) for frame in (scores, answers))
    trials = StudyTrials(scores, measures.times, answers, items, conditions, "design")
    return resolve_plan(settings, trials, hypotheses)


def _add_alternating_population(frame: pd.DataFrame) -> pd.DataFrame:
    labels = [POPULATIONS[number % len(POPULATIONS)] for number in pd.factorize(frame["session"])[0]]
    return frame.assign(**{POPULATION: pd.array(labels, dtype="string")})


def resolve_plan(settings: AnalysisSection, trials: StudyTrials, hypotheses: Sequence[HypothesisSection] = ()) -> Plan:
    """Return the models that are fitted to these trials by these settings.

    Minimal pairs: z (of ratings or their like) under each prompt and log reading time in each region by grammaticality, for each
    phenomenon and each paradigm; reading times with log trial number, and the position of the region where members of a pair
    differ in it, as far as they are among the `covariates`. With `(1|participant) + (1|item)`, the published form (doi
    10.1162/COLI.a.00559), and with slopes.

    The study's own factors: the models that are declared, else for each paradigm all factors and their interactions, with
    intercepts, and with the slopes that the design allows, of which correlations and slopes without variance are left out until
    the fit is not singular (Barr et al. 2013, doi 10.1016/j.jml.2012.11.001). Answers that are one of two have binomial models,
    the minimal pairs of a phenomenon together; there is a model for each prompt unless `prompt`
    is a predictor. A factor's contrasts are `repeated` unless declared (Schad et al. 2020, doi 10.1016/j.jml.2019.104038).

    Ratings as ordered categories, where `ordinal` says so, or engine lme4 fits the other models, have cumulative models with a
    probit link.

    Raises `DataError` for declared models that the study or the engine does not allow, and for hypotheses about effects that no
    model tests.

    >>> from gardenpath.study import TABLES
    >>> rows = [(f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, float(p + i)) for p in range(4) for i in range(4)]
    >>> scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "z"])
    >>> scores = scores.assign(role="target", paradigm="ever", prompt="ease", task="rating")
    >>> levels = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]
    >>> conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    >>> times, answers = (pd.DataFrame(columns=TABLES[name].column_names) for name in ("region_times", "binary_responses"))
    >>> trials = StudyTrials(scores, times, answers, scores[["paradigm", "item", "condition"]], conditions)
    >>> [model.formula for model in resolve_plan(AnalysisSection(), trials).models]
    ['z ~ npi + (1|participant) + (1|item)', 'z ~ npi + (1 + npi|participant) + (1 + npi|item)']
    """
    models = [_complete(one, trials, settings) for one in draft_models(trials, settings)]
    planned = resolve_hypotheses(hypotheses, models)
    models = [*state_sesoi(models, planned)]
    rules, multiverse = resolve_multiverse(models, planned, trials, settings)
    return Plan(settings.engine, trials.resolved_from, tuple(models), planned, rules, multiverse)


def draft_models(trials: StudyTrials, settings: AnalysisSection) -> list[PlannedModel]:
    """Return the models of a plan before it is known what is fitted first; raises `DataError` as `resolve_plan` does."""
    drafts = [*_draft_pairs(trials, settings), *draft_factorial_models(trials, settings), *_draft_categories(trials, settings)]
    _require_supported(drafts, settings.engine)
    return drafts


def list_declared_regions(settings: AnalysisSection) -> list[str]:
    """Return the regions beside the critical one, and those after it, that declared models are about, or a multiverse."""
    regions = [model.region for model in settings.models if _has_regions(parse_formula(model.formula).response)]
    named = dict.fromkeys(parse_region_name(region)[0] for region in (*regions, *settings.multiverse.regions))
    return [name for name in named if name != "critical"]


def _has_regions(response: str) -> bool:
    return response in RESPONSES and RESPONSES[response].has_regions


def _complete(model: PlannedModel, trials: StudyTrials, settings: AnalysisSection) -> PlannedModel:
    """Return a drafted model with the formula that is fitted first, its effects, and why it cannot be fitted where it cannot."""
    formula, response = parse_formula(model.formula), RESPONSES[model.response]
    if model.is_of_pairs and model.policy == "declared" and model.family == "gaussian":
        return replace(model, first_fit=model.formula, effects=_list_effects(formula, describe_pairs(formula), model, settings))
    rows = trials.select(model)
    first, design, note = formula, None, ""
    if rows.empty:
        note = response.absence
    else:
        try:
            design = code_trials(model, rows)
            first = choose_first_formula(model, design, settings.engine)
        except DataError as error:
            note = str(error).replace("\n", "; ")
    effects = _list_effects(first, design, model, settings)
    if model.response == CHOICE_MEASURE and len(rows):
        # The intercept of a model of choices says which member of a pair is preferred.
        preference = f"preference: {rows['event'].iloc[0]}"
        effects = tuple(replace(one, contrast=preference) if one.term == "intercept" else one for one in effects)
    return replace(model, first_fit=str(first), effects=effects, note=note)


def choose_first_formula(model: PlannedModel, design: Coded, engine: str) -> Formula:
    """Return the formula that is fitted first: as it is declared, or with all slopes of contrasts that the design allows.

    Of R's models of answers several slopes are uncorrelated from the start: their correlations take minutes to fit.
    """
    if model.policy == "declared" and (model.family != "cumulative" or model.random == DECLARED):
        return design.formula
    # What the design allows follows from the predictors: before there are data, the answers of a design are all alike.
    frame = design.frame.assign(**{design.formula.response: range(len(design.frame))})
    start = widest(design.formula, columns_of(frame, design.formula), list(design.codes) or None)
    if model.family == "gaussian" or (model.family == "binomial" and engine != "lme4"):
        return start
    return start.replace_random(replace(random, correlated=len(random.slopes) < 2) for random in start.random)


def _list_effects(
    formula: Formula, design: Coded | None, model: PlannedModel, settings: AnalysisSection
) -> tuple[PlannedEffect, ...]:
    """Return the coefficients of a model, in the order of its fixed effects."""
    effects = []
    for term in formula.fixed:
        factors = design.factors(term) if design else None
        contrast = (design.named(term) if design else None) or ""
        is_tested = term != "1" and term not in COVARIATES
        sesoi = find_sesoi(settings.sesoi, model.response, factors or term) if is_tested else None
        if is_tested and not contrast:
            contrast, factors = term, term  # the slope of a numeric predictor
        effects.append(PlannedEffect("intercept" if term == "1" else term, contrast, factors or "", sesoi))
    return tuple(effects)


def _require_supported(drafts: Sequence[PlannedModel], engine: str) -> None:
    """Raise `DataError` for the declared models whose random effects the engine does not support."""
    declared = {one.name: one for one in drafts if one.random == DECLARED and one.family != "cumulative"}
    lacking = {name: engine_named(engine).describe_unsupported(parse_formula(one.formula)) for name, one in declared.items()}
    faults = [
        f"analysis.models, {name!r}: engine {engine!r} does not support {lack}"
        + ("; engine 'lme4' does" if engine != "lme4" else "")
        for name, lack in lacking.items()
        if lack
    ]
    if faults:
        raise DataError(faults)


# ------------------------------------------------------------------------------------------------ minimal pairs


def _draft_pairs(trials: StudyTrials, settings: AnalysisSection) -> Iterator[PlannedModel]:
    """Yield the models of grammaticality: of phenomena, of paradigms, and of phenomena by the policy of the settings."""
    for unit in PAIR_FORMS:
        for measure, name, rows in _list_pair_units(trials, unit):
            for random in PAIR_FORMS[unit][measure[0]]:
                is_chosen = (unit, random, settings.policy) == ("phenomenon", SLOPES, "declared")
                draft = _draft_pair_model(name, unit, measure, random, rows, settings)
                is_headline = random == PAIR_FORMS[unit][measure[0]][-1]
                yield replace(draft, is_headline=is_headline, crosscheck=settings.crosscheck and is_chosen)
    if settings.policy != "declared":
        for measure, name, rows in _list_pair_units(trials, "phenomenon"):
            draft = _draft_pair_model(name, "phenomenon", measure, SLOPES, rows, settings)
            yield replace(draft, policy=settings.policy, is_headline=False, correction="", crosscheck=settings.crosscheck)


def _list_pair_units(trials: StudyTrials, unit: str) -> Iterator[tuple[PairMeasure, str, pd.DataFrame]]:
    """Yield the trials of each phenomenon or paradigm of minimal pairs, measure by measure."""
    needed = dict.fromkeys([unit, "paradigm", "item", *COVARIATES])
    for measure, frame in trials.pair_measures.items():
        for name, rows in frame[[*needed]].groupby(unit, sort=True):
            yield measure, str(name), rows


def _draft_pair_model(
    name: str, unit: Any, measure: PairMeasure, random: str, rows: pd.DataFrame, settings: AnalysisSection
) -> PlannedModel:
    response, region, prompt = measure
    others = find_covariates(rows, settings.covariates) if RESPONSES[response].has_regions else []
    fixed = " + ".join([f"{response} ~ {GRAMMATICALITY}", *others])
    formulas = [f"{fixed} + {form}" for form in PAIR_RANDOM_EFFECTS[response][random]]
    lacks = engine_named(settings.engine).describe_unsupported
    return PlannedModel(
        name=name,
        unit=unit,
        response=response,
        region=region,
        prompt=prompt,
        paradigms=_list_paradigms(rows),
        family=RESPONSES[response].family,
        link=LINKS[RESPONSES[response].family],
        formula=next(text for text in formulas if not lacks(parse_formula(text))),
        first_fit="",
        random=random,
        coding=_code_pairs(),
        correction=BENJAMINI_HOCHBERG,
    )


def find_covariates(rows: pd.DataFrame, names: Sequence[str] = COVARIATES) -> list[str]:
    """Return the covariates of a reading-time model: trial, and position where the members of some pair differ in it."""
    varying = [name for name in names if rows[name].max() > rows[name].min()]
    if "position" in varying:
        places = {(item, place) for item, place in zip(rows["item"], rows["position"], strict=True) if place == place}
        if len(places) == len({item for item, _ in places}):
            varying.remove("position")
    return varying


def _code_pairs() -> dict[str, FactorCoding]:
    return {GRAMMATICALITY: FactorCoding("repeated", tuple(reversed(GRAMMATICALITY_CODES)))}


def _list_paradigms(rows: pd.DataFrame) -> tuple[str, ...]:
    return tuple(sorted(map(str, rows["paradigm"].unique())))


# ------------------------------------------------------------------------------------------------ the study's own factors


def draft_factorial_models(trials: StudyTrials, settings: AnalysisSection) -> list[PlannedModel]:
    """Return the models that are declared, else those that the design suggests, one for each prompt."""
    drafts = _draft_declared(trials, settings) if settings.models else _draft_suggested(trials, settings)
    return [each for draft in drafts for each in _split_by_prompt(draft, trials)]


def _draft(
    name: str,
    formula: Formula,
    region: str,
    paradigms: Sequence[str],
    contrasts: Mapping[str, tuple[str, Sequence[str]]],
    settings: AnalysisSection,
) -> PlannedModel:
    response = RESPONSES[formula.response]
    return PlannedModel(
        name=name,
        unit="model",
        response=response.name,
        region=region,
        prompt=None,
        paradigms=tuple(paradigms),
        family=response.family,
        link=LINKS[response.family],
        formula=str(formula),
        first_fit="",
        random=DECLARED,
        policy=settings.policy,
        coding={factor: FactorCoding(coding, tuple(map(str, levels))) for factor, (coding, levels) in contrasts.items()},
        correction=HOLM_OVER_REGIONS if response.has_regions else "",
        crosscheck=settings.crosscheck,
    )


def _draft_declared(trials: StudyTrials, settings: AnalysisSection) -> list[PlannedModel]:
    faults = []
    drafts = []
    for model in settings.models:
        formula = parse_formula(model.formula)
        if formula.response not in RESPONSES:
            faults.append(f"analysis.models, {model.name!r}: the response is {formula.response!r}; expected {', '.join(RESPONSES)}")
        levels = trials.get_levels(formula.response)
        if unknown := [name for name in model.paradigms if name not in trials.levels]:
            there = ", ".join(trials.levels)
            faults.append(f"analysis.models, {model.name!r}: no paradigm {unknown[0]!r}; there are {there}")
            continue
        if formula.response not in RESPONSES:
            continue
        factors = dict.fromkeys(str(name) for by in levels.values() for name in by if name in formula.column_names)
        having = [p for p in (model.paradigms or levels) if p in levels and {*factors} <= {*levels[p]}]
        rows = trials.select_response(formula.response)
        of_people = find_participant_factors(rows, formula.column_names)
        of_people |= {POPULATION: POPULATIONS} if POPULATION in formula.column_names and POPULATION in rows else {}
        if stated := sorted({*model.contrasts, *model.reference_levels} - {*factors, *of_people}):
            there = ", ".join(sorted(factors)) or "none"
            faults.append(
                f"analysis.models, {model.name!r}: contrasts of {stated[0]!r}, no factor of its formula; there are {there}"
            )
            continue
        contrasts = {name: _code_factor(name, model.contrasts, having, levels) for name in factors}
        contrasts |= {name: (model.contrasts.get(name, "repeated"), order) for name, order in of_people.items()}
        for name, reference in model.reference_levels.items():
            coding, order = contrasts[name]
            if reference in order:
                contrasts[name] = (coding, [reference, *(level for level in order if level != reference)])
            else:
                faults.append(
                    f"analysis.models, {model.name!r}: reference.{name} is {reference!r}; expected one of {', '.join(order)}"
                )
        region = model.region if _has_regions(formula.response) else SENTENCE_REGION
        drafts.append(_draft(model.name, formula, region, having, contrasts, settings))
    if faults:
        raise DataError(faults)
    return drafts


def _draft_suggested(trials: StudyTrials, settings: AnalysisSection) -> Iterator[PlannedModel]:
    having = {name: {*trials.select_response(name)["paradigm"]} for name in PRIMARY_RESPONSES}
    regions = sorted(trials.times["region"].unique())
    covariates = [name for name in ("log_trial",) if name in settings.covariates]
    for paradigm, by in trials.levels.items():
        if {*by.index} != {*GRAMMATICALITY_CODES} and len(by) > 1:
            measured = [
                (name, str(region))
                for name in PRIMARY_RESPONSES
                if paradigm in having[name]
                for region in (regions if _has_regions(name) else [SENTENCE_REGION])
            ]
            for response, region in measured:
                others = covariates if _has_regions(response) else []
                yield from _draft_forms(paradigm, response, region, {paradigm: by}, settings, others)
    for response in BINARY_MEASURES:
        for place, rows in trials.select_response(response).groupby("region", sort=True):
            for name, levels in _list_binary_units(rows, trials.get_levels(response), response):
                yield from _draft_forms(name, response, str(place), levels, settings)


def _list_binary_units(rows: pd.DataFrame, levels: Levels, response: str) -> Iterator[tuple[str, Levels]]:
    """Yield the name and the levels of what has a model of its own: a paradigm, or all minimal pairs of a phenomenon."""
    pairs: dict[str, dict[str, pd.DataFrame]] = {}
    for paradigm, part in rows.groupby("paradigm", sort=True):
        by = levels.get(str(paradigm))
        if by is None or not {*part["condition"]} <= {*by.index}:
            continue  # answers about both members of a pair
        if {*by.index} == {*GRAMMATICALITY_CODES}:
            # Grammatical minus ungrammatical, as in the other models of grammaticality.
            pairs.setdefault(str(part["phenomenon"].iloc[0]), {})[str(paradigm)] = by.loc[[*reversed(GRAMMATICALITY_CODES)]]
        elif len(by) > 1 or response == CHOICE_MEASURE:
            yield str(paradigm), {str(paradigm): by}
    for phenomenon, having in pairs.items():
        taken = phenomenon in levels and phenomenon not in having
        yield f"{phenomenon} (minimal pairs)" if taken else phenomenon, having


def _draft_forms(
    name: str, response: str, region: str, having: Levels, settings: AnalysisSection, others: Sequence[str] = ()
) -> Iterator[PlannedModel]:
    """Yield a model of all factors that vary and their interactions: with intercepts, and with slopes."""
    first = next(iter(having.values()))
    factors = [str(factor) for factor in first if len({*first[factor]}) > 1]
    crossed = "*".join(factors) or "1"
    contrasts = {factor: _code_factor(factor, {}, list(having), having) for factor in factors}
    fixed = " + ".join([f"{response} ~ {crossed}", *others])
    forms = [(INTERCEPTS, "declared", "1"), (SLOPES, "maximal", f"1 + {crossed}")]
    for random, policy, group in forms if factors else forms[:1]:
        formula = parse_formula(f"{fixed} + ({group}|participant) + ({group}|item)")
        draft = _draft(name, formula, region, list(having), contrasts, settings)
        yield replace(draft, random=random, policy=policy, is_headline=random == SLOPES or not factors)


def _split_by_prompt(model: PlannedModel, trials: StudyTrials) -> list[PlannedModel]:
    """Return a model of answers once for each prompt, or once for all where the prompt is among its predictors.

    Of ratings on a scale of two points nobody is suggested a model of z.
    """
    if model.region != SENTENCE_REGION:
        return [model]
    if "prompt" in parse_formula(model.formula).column_names:
        return [replace(model, prompt=ALL_CONDITIONS)]
    rows = trials.select_response(model.response)
    prompts = {*rows.loc[rows["paradigm"].isin(model.paradigms), "prompt"]}
    if model.random != DECLARED and is_standardised(model.response):
        prompts -= {*trials.select_response(YES_MEASURE)["prompt"]}
    elif not prompts:
        return [model]
    return [replace(model, prompt=str(prompt)) for prompt in sorted(prompts)]


def _code_factor(factor: str, contrasts: Mapping[str, str], paradigms: Sequence[str], levels: Levels) -> tuple[str, Sequence[str]]:
    """Return the contrasts of a factor, and its levels in the order in which the materials state them."""
    return contrasts.get(factor, "repeated"), order_levels(factor, paradigms, levels)


# ------------------------------------------------------------------------------------------------ ratings as ordered categories


def _draft_categories(trials: StudyTrials, settings: AnalysisSection) -> Iterator[PlannedModel]:
    """Yield the models of ratings as ordered categories: of pairs, then of the study's own factors."""
    # Ordinal models are R's: where it fits the models anyway, they are there unless the study says no.
    if not (settings.engine == "lme4" if settings.ordinal is None else settings.ordinal):
        return
    units: tuple[Any, ...] = ("phenomenon", "paradigm")
    for (response, region, prompt), rated in trials.pair_measures.items():
        if not (categories := RESPONSES[response].categories):
            continue
        formula = parse_formula(f"{categories} ~ {GRAMMATICALITY} + {CORRELATED}")
        for unit in units:
            for name, rows in rated.groupby(unit, sort=True):
                is_all_of_phenomenon = (rated["phenomenon"] == rows["phenomenon"].iloc[0]).sum() == len(rows)
                if unit == "phenomenon" or not is_all_of_phenomenon:
                    draft = _draft(str(name), formula, region, _list_paradigms(rows), {}, settings)
                    yield _as_categories(replace(draft, unit=unit, prompt=prompt, random=SLOPES, coding=_code_pairs()))
    for draft in draft_factorial_models(trials, settings):
        categories = RESPONSES[draft.response].categories
        if draft.response == categories if settings.models else categories and draft.random == INTERCEPTS:
            formula = replace(parse_formula(draft.formula), response=categories, text="")
            random = DECLARED if settings.models else SLOPES
            draft = replace(draft, response=categories, formula=formula.format_expanded(), random=random, policy=settings.policy)
            if len(trials.select(draft)):
                yield _as_categories(draft)


def _as_categories(draft: PlannedModel) -> PlannedModel:
    return replace(draft, family="cumulative", link=LINKS["cumulative"], is_headline=False, correction="", crosscheck=False)
