"""The choices under which a planned model is fitted beside the planned one (Steegen et al. 2016, doi 10.1177/1745691616658637)."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gardenpath.study import AnalysisSection, DataError
from gardenpath.study.config import (
    COVARIATES,
    FLAGGED_KEY,
    MAX_SD_KEY,
    PLANNED_CHOICE,
    RT_CUTOFF_KEYS,
    TRANSFORMATIONS,
    ExcludeSection,
    parse_region_name,
    vary_exclusions,
)
from gardenpath.study.plans import (
    DECLARED,
    INTERCEPTS,
    ExclusionRules,
    PlannedHypothesis,
    PlannedModel,
    PlannedMultiverse,
    Specification,
)
from gardenpath.study.responses import RESPONSES, TIMES_TABLE, Response, find_primary

from ..engines.formulas import Formula, RandomEffects, parse_formula
from ..measuring.binary_responses import CORRECT_MEASURE
from ..measuring.first_choices import FIRST_CHOICE_MEASURE
from .trials import StudyTrials

if TYPE_CHECKING:
    import pandas as pd

LOG, MS, RECIPROCAL, LOG_PER_WORD, Z, RAW = TRANSFORMATIONS
AS_MEASURED = "none"  # the transformation of a response that has one form alone
UNFLAGGED = "without flagged participants"
# Cut-offs of the field (docs/study.md names the sources), ms, and in standard deviations of a participant's log times.
FIELD_CUTOFFS = (50.0, 2500.0)
FIELD_MAX_SD = 3.0
AFTER_ERROR = ("sentence", 0, 2)  # of Maze: the rest of the sentence, nothing, and A-maze's two words
Kinds = dict[str, list[Any]]  # choices by the field of a specification, the planned one first


@dataclass(frozen=True)
class Transformed:
    """A response on another scale: the `name` of the column that it becomes, and its unit."""

    name: str
    unit: str


def describe_transformed(response: str, transformation: str) -> Transformed:
    """Return what a response becomes by a transformation.

    >>> describe_transformed("log_rt", "ms"), describe_transformed("z", "raw").name
    (Transformed(name='rt', unit='ms'), 'rating')
    """
    if transformation == AS_MEASURED:
        return Transformed(response, RESPONSES[response].unit)
    times = {
        LOG: Transformed("log_rt", "log ms"),
        MS: Transformed("rt", "ms"),
        RECIPROCAL: Transformed("reciprocal_rt", "-1000 / ms"),
        LOG_PER_WORD: Transformed("log_rt_per_word", "log ms a word"),
    }
    if transformation in times:
        return times[transformation]
    primary = find_primary(response)
    return Transformed(primary.name, primary.unit) if transformation == Z else Transformed(primary.raw, primary.raw_unit)


def transform_response(rows: "pd.DataFrame", response: str, transformation: str) -> "pd.Series[float]":
    """Return the response of trials on another scale."""
    import numpy as np

    if transformation == RECIPROCAL:
        return -1000 / rows["rt"]
    if transformation == LOG_PER_WORD:
        return rows["log_rt"] - np.log(rows["n_words"].astype("float64"))
    return rows[describe_transformed(response, transformation).name]


def resolve_multiverse(
    models: Sequence[PlannedModel], hypotheses: Sequence[PlannedHypothesis], trials: StudyTrials, settings: AnalysisSection
) -> tuple[tuple[ExclusionRules, ...], tuple[PlannedMultiverse, ...]]:
    """Return the rules of exclusion that are compared, and the choices of each model that is reported first, or that a hypothesis
    is about.

    Of models in which the same effect is tested word by word only those of the region itself are varied: another region is another
    effect, and a choice where `multiverse.regions` says so (Del Giudice & Gangestad 2021, doi 10.1177/2515245920954925). So are
    paradigms, parts of their phenomena.

    Raises `DataError` where more fits of a model are asked for than `multiverse.most_fits`, and for choices that the trials lack.
    """
    stated = settings.multiverse
    about: dict[str, list[str]] = {}
    for one in hypotheses:
        about.setdefault(one.model_id, []).append(one.term)
    rules: dict[str, Mapping[str, Any]] = {PLANNED_CHOICE: {}}
    planned: list[PlannedMultiverse] = []
    faults: list[str] = []
    for model in models:
        is_asked = model.model_id in about or (not stated.only_hypotheses and _is_varied(model))
        tested = [one.term for one in model.effects if one.is_tested]
        terms = about.get(model.model_id, []) if stated.only_hypotheses else tested
        if not is_asked or not terms or model.note:
            continue
        known = dict(_list_rules(model, trials, settings))
        try:
            kinds = _choose(model, known, trials, settings)
        except DataError as error:
            faults += error.faults
            continue
        rules |= {name: known[name] for name in kinds["exclusions"]}
        planned.append(PlannedMultiverse(model.model_id, tuple(terms), **{name: tuple(by) for name, by in kinds.items()}))
    if faults:
        raise DataError(dict.fromkeys(faults))
    return tuple(ExclusionRules(name, dict(by)) for name, by in rules.items()) if planned else (), tuple(planned)


def _is_varied(model: PlannedModel) -> bool:
    _, words, _ = parse_region_name(model.region)
    return model.is_headline and model.unit != "paradigm" and (not words or model.random == DECLARED)


def _choose(model: PlannedModel, rules: Mapping[str, Any], trials: StudyTrials, settings: AnalysisSection) -> Kinds:
    """Return the choices of a model: those that are stated, and of the others' defaults as many as there is room for."""
    stated, response = settings.multiverse, RESPONSES[model.response]
    kinds: Kinds = {
        "exclusions": [PLANNED_CHOICE],
        "transformations": [_find_transformation(response)],
        "random_effects": [PLANNED_CHOICE],
        "covariates": [_find_covariates(model)],
        "regions": [model.region],
    }
    offered: Kinds = {
        "exclusions": [name for name in rules if name != PLANNED_CHOICE],
        "transformations": _list_transformations(response, stated.transformations),
        "random_effects": _list_random_effects(model, stated.random_effects),
        "covariates": _list_covariates(model, response, stated.covariates),
        "regions": [*stated.regions] if response.has_regions else [],
    }
    defaults = [name for name in ("exclusions", "transformations", "random_effects", "covariates") if getattr(stated, name) is None]
    for name, choices in offered.items():
        choices = [choice for choice in choices if choice not in kinds[name]]
        offered[name] = choices
        if name not in defaults:
            kinds[name] += choices
    _require_known(model, kinds, trials)
    if (number := _count(kinds)) > stated.most_fits:
        sizes = " x ".join(f"{len(choices)} {name.replace('_', ' ')}" for name, choices in kinds.items() if len(choices) > 1)
        raise DataError(
            f"analysis.multiverse: {number} fits of {model.model_id!r} ({sizes}), and most_fits is {stated.most_fits}; expected "
            f"fewer choices, or most_fits = {number}"
        )
    for name, choice in _rank_defaults({name: offered[name] for name in defaults}):
        more = {**kinds, name: [*kinds[name], choice]}
        if _count(more) <= stated.most_fits:
            kinds = more
    return kinds


def _count(kinds: Kinds) -> int:
    return math.prod(map(len, kinds.values()))


def _rank_defaults(offered: Kinds) -> Iterator[tuple[str, Any]]:
    """Yield the default choices, those that matter most first: one of each kind, then a further one of each."""
    order = ("transformations", "random_effects", "exclusions", "exclusions", "covariates")
    left = {name: [*choices] for name, choices in offered.items()}
    for name in (*order, *(name for name, choices in offered.items() for _ in choices)):
        if left.get(name):
            yield name, left[name].pop(0)


def _require_known(model: PlannedModel, kinds: Kinds, trials: StudyTrials) -> None:
    """Raise `DataError` for regions that no trial has, and for covariates that are no columns."""
    regions = sorted({*trials.select_response(model.response)["region"]}) if RESPONSES[model.response].has_regions else []
    if absent := [name for name in kinds["regions"][1:] if name not in regions]:
        raise DataError(f"analysis.multiverse: region {absent[0]!r} is in no trial; there are {', '.join(regions) or 'none'}")
    for names in kinds["covariates"][1:]:
        trials.select(_change_formulas(model, partial(_with_covariates, names=names)))


# ------------------------------------------------------------------------------------------------ kinds of choices


def _list_rules(model: PlannedModel, trials: StudyTrials, settings: AnalysisSection) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rules of exclusion that may change a model's trials, by name; those of the analysis itself are none."""
    yield PLANNED_CHOICE, {}
    stated = settings.multiverse.exclusions
    offered = _suggest_rules(model, trials, settings) if stated is None else stated.items()
    response = RESPONSES[model.response]
    planned = vary_exclusions(settings, {})
    for name, rules in offered:
        changes = vary_exclusions(settings, rules) != planned or rules.get(FLAGGED_KEY) or MAX_SD_KEY in rules
        matters = [key for key in rules if _matters(key, response)]
        if changes and matters:
            yield name, rules


def _matters(key: str, response: Response) -> bool:
    """Whether a rule may change the trials of a response."""
    if key in (*RT_CUTOFF_KEYS, MAX_SD_KEY):
        return response.table == TIMES_TABLE
    return response.has_regions if key == "after_error" else True


def _suggest_rules(model: PlannedModel, trials: StudyTrials, settings: AnalysisSection) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rules that the study's tasks and its own rules suggest, the most telling first."""
    exclude, is_maze = settings.exclude, len(trials.select_response(FIRST_CHOICE_MEASURE)) > 0
    if is_maze:
        others = [choice for choice in AFTER_ERROR if choice != exclude.after_error]
        yield from ((describe_after_error_choice(choice), {"after_error": choice}) for choice in others)
    if settings.remove_outliers:
        yield "no cut-offs", {"remove_outliers": False}
    lenient = dict(_list_lenient_rules(exclude, is_maze, trials))
    if lenient:
        yield "no rules about participants", lenient
    if any(RESPONSES[response].is_standardised for response, _, _ in trials.pair_measures):
        yield UNFLAGGED, {FLAGGED_KEY: True}
    if settings.rt_cutoffs != FIELD_CUTOFFS:
        low, high = FIELD_CUTOFFS
        yield f"{low:g} to {high:g} ms", {"min_rt": low, "max_rt": high}
    yield f"{FIELD_MAX_SD:g} s.d. of log times", {"remove_outliers": False, MAX_SD_KEY: FIELD_MAX_SD}


def describe_after_error_choice(after_error: int | str) -> str:
    """Return how a rule about words after an error in Maze is called among the choices.

    >>> describe_after_error_choice("sentence"), describe_after_error_choice(0), describe_after_error_choice(2)
    ('after an error, no word of the sentence', 'after an error, all words', 'after an error, not the 2 words')
    """
    if after_error == 0:
        return "after an error, all words"
    words = "word" if after_error == 1 else f"{after_error} words"
    return "after an error, no word of the sentence" if after_error == "sentence" else f"after an error, not the {words}"


def _list_lenient_rules(exclude: ExcludeSection, is_maze: bool, trials: StudyTrials) -> Iterator[tuple[str, float]]:
    """Yield the rules about participants, those that could leave somebody out, with what leaves out nobody."""
    asked = len(trials.select_response(CORRECT_MEASURE)) > 0
    for name, nobody, applies in (
        ("min_accuracy", 0.0, asked),
        ("min_attention", 0.0, True),
        ("min_catch", 0.0, True),
        ("max_outside_cutoffs", 1.0, len(trials.times) > 0),
        ("min_maze_accuracy", 0.0, is_maze),
    ):
        if applies and getattr(exclude, name) != nobody:
            yield name, nobody


def _find_transformation(response: Response) -> str:
    """Return the transformation by which a response is what it is."""
    by_name = {"log_rt": LOG, "rt": MS}
    if response.name in by_name:
        return by_name[response.name]
    if response.is_standardised:
        return Z
    return RAW if response.table != TIMES_TABLE and _has_primary(response) else AS_MEASURED


def _has_primary(response: Response) -> bool:
    return any(one.raw == response.name for one in RESPONSES.values())


def _list_transformations(response: Response, stated: Sequence[str] | None) -> list[str]:
    if response.table == TIMES_TABLE:
        fitting, default = [LOG, MS, RECIPROCAL, LOG_PER_WORD], [LOG, MS, RECIPROCAL]
    else:
        fitting = default = [] if _find_transformation(response) == AS_MEASURED else [Z, RAW]
    return [one for one in (default if stated is None else stated) if one in fitting]


def _list_random_effects(model: PlannedModel, stated: Sequence[str] | None) -> list[str]:
    has_slopes = any(random.slopes for random in parse_formula(model.first_fit).random)
    fitting = ["intercepts"] if has_slopes else []
    fitting += [name for name in ("maximal", "parsimonious") if name != model.policy and model.coding]
    default = ["intercepts"] if has_slopes else ["maximal"]
    return [one for one in (default if stated is None else stated) if one in fitting]


def _find_covariates(model: PlannedModel) -> tuple[str, ...]:
    return tuple(term for term in parse_formula(model.formula).fixed if term in COVARIATES)


def _list_covariates(model: PlannedModel, response: Response, stated: Sequence[Sequence[str]] | None) -> list[tuple[str, ...]]:
    if stated is not None:
        fixed = {*parse_formula(model.formula).fixed} - {*COVARIATES}
        return [tuple(names) for names in stated if not {*names} & fixed]
    return [()] if _find_covariates(model) else [("log_trial",)]


# ------------------------------------------------------------------------------------------------ models as varied


def vary_model(model: PlannedModel, choice: Specification) -> PlannedModel:
    """Return a planned model as a specification has it: its formulas, and how its random effects are reduced.

    `first_fit` is empty where it follows from the trials: what the design allows, where more slopes are tried than were planned.
    The planned specification is the model itself.
    """
    varied = replace(model, region=choice.region)
    if choice.covariates != _find_covariates(model):
        varied = _change_formulas(varied, lambda formula: _with_covariates(formula, choice.covariates))
    if choice.random_effects == INTERCEPTS:
        varied = replace(_change_formulas(varied, _with_intercepts), policy="declared")
    elif choice.random_effects != PLANNED_CHOICE:
        varied = replace(varied, first_fit="", policy=choice.random_effects)
    response = describe_transformed(model.response, choice.transformation).name
    if response == model.response:
        return varied
    was_standardised = RESPONSES[model.response].is_standardised
    return _change_formulas(varied, lambda formula: _with_response(formula, response, was_standardised))


def _change_formulas(model: PlannedModel, change: Callable[[Formula], Formula]) -> PlannedModel:
    """Return a model with its formula changed, and the one that is fitted first in the same way, where there is one."""
    formula, first = (change(parse_formula(text)).format_expanded() if text else "" for text in (model.formula, model.first_fit))
    return replace(model, formula=formula, first_fit=first)


def _with_response(formula: Formula, response: str, was_standardised: bool) -> Formula:
    """Return a formula of another column; where the first was standardised, participants' intercepts come back."""
    random = _add_intercepts(formula) if was_standardised else formula.random
    return replace(formula, response=response, random=tuple(random), text="")


def _with_covariates(formula: Formula, names: Iterable[str]) -> Formula:
    """Return a formula with these covariates in place of those it has."""
    fixed = dict.fromkeys([*(term for term in formula.fixed if term not in COVARIATES), *names])
    return replace(formula, fixed=tuple(sorted(fixed, key=lambda term: term.count(":"))), text="")


def _with_intercepts(formula: Formula) -> Formula:
    return formula.replace_random(RandomEffects(("1",), group) for group in dict.fromkeys(one.group for one in formula.random))


def _add_intercepts(formula: Formula) -> list[RandomEffects]:
    """Return the random effects with an intercept in each group, one term a group where it has none yet."""
    by_group: dict[str, list[RandomEffects]] = {}
    for one in formula.random:
        by_group.setdefault(one.group, []).append(one)
    groups = []
    for group, parts in by_group.items():
        terms = dict.fromkeys(term for part in parts for term in part.terms)
        if all("1" in part.terms for part in parts):
            groups += parts
        else:
            groups.append(RandomEffects(("1", *(term for term in terms if term != "1")), group, all(p.correlated for p in parts)))
    return groups
