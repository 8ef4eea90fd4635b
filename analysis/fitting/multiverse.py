"""The same effects under other defensible choices: a planned model is fitted under every specification of its multiverse."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, AnalysisSection, DataError, check
from gardenpath.study.config import FLAGGED_KEY, MAX_SD_KEY, vary_exclusions
from gardenpath.study.executors import Executor, map_in_parallel
from gardenpath.study.plans import ExclusionRules, Plan, PlannedModel, PlannedMultiverse, Specification
from gardenpath.study.responses import RESPONSES, TIMES_TABLE

from ..engines.formulas import parse_formula
from ..measured_studies import find_flagged_participants, measure_study
from ..modelling.mixed_models import failed
from ..plan.multiverse import LOG, LOG_PER_WORD, MS, RECIPROCAL, describe_transformed, transform_response, vary_model
from ..plan.resolution import choose_first_formula
from ..plan.trials import StudyTrials, code_trials
from .planned_fits import fit_design

NOT_FITTED = "Not fitted"  # how the note of a specification without a fit begins
NO_COVARIATES = "none"
TESTS = ("estimate", "se", "df", "t", "p", "ci_low", "ci_high")
Record = dict[str, Any]  # what is kept of a fit: JSON


@dataclass(frozen=True)
class WantedFit:
    """A model as a specification has it, with its trials; `key` is the same where all that the estimates follow from is.

    `mean_words` is the mean number of words of a region; `response` and `transformation` say what the response is made of.
    """

    key: str
    model: PlannedModel
    rows: pd.DataFrame = field(repr=False)
    engine: str
    response: str
    transformation: str
    mean_words: float

    @property
    def kind(self) -> tuple[str, str, str]:
        """What fits of about the same cost have in common."""
        return self.model.response, self.model.policy, self.model.family


@dataclass(frozen=True)
class VariedEffect:
    """A specification of a model with the fit that it needs, or with why there is none."""

    planned: PlannedMultiverse
    choice: Specification
    wanted: WantedFit | None
    reason: str = ""


@dataclass(frozen=True)
class PreparedMultiverse:
    """Every specification of a plan with its trials, before anything is fitted; those that come to the same share a fit."""

    plan: Plan
    effects: tuple[VariedEffect, ...]

    @property
    def fits(self) -> dict[str, WantedFit]:
        """The fits that are needed, by key."""
        return {one.wanted.key: one.wanted for one in self.effects if one.wanted is not None}


def prepare_multiverse(tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, plan: Plan) -> PreparedMultiverse:
    """Return every specification of the plan's multiverse with the trials that it leaves in.

    `tables` and `settings` are those of `analyse`. Under each rule of exclusion all that `analyse` does before models is done anew.
    """
    models = {one.model_id: one for one in plan.models}
    prepared: dict[tuple[str, int], VariedEffect] = {}
    for rules in plan.exclusion_rules:
        having = [one for one in plan.multiverse if rules.name in one.exclusions]
        trials, flagged, reason = _measure(tables, settings, rules)
        for planned in having:
            choices = [one for one in planned.list_specifications() if one.exclusions == rules.name]
            for effect in _prepare_model(models[planned.model_id], planned, choices, trials, flagged, plan.engine, reason):
                prepared[planned.model_id, effect.choice.number] = effect
    order = [(one.model_id, choice.number) for one in plan.multiverse for choice in one.list_specifications()]
    return PreparedMultiverse(plan, tuple(prepared[place] for place in order))


def _measure(
    tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, rules: ExclusionRules
) -> tuple[StudyTrials | None, Mapping[str, set[str]], str]:
    """Return the trials that rules of exclusion leave in, and who is flagged and left out; where nobody is left, why."""
    varied = vary_exclusions(settings, rules.settings) if rules.settings else settings
    try:
        measured = measure_study(tables, varied, max_sd=rules.settings.get(MAX_SD_KEY))
    except DataError as error:
        return None, {}, str(error).replace("\n", "; ")
    flagged = find_flagged_participants(measured.prompts) if rules.settings.get(FLAGGED_KEY) else {}
    return measured.trials, flagged, ""


def _prepare_model(
    model: PlannedModel,
    planned: PlannedMultiverse,
    choices: Sequence[Specification],
    trials: StudyTrials | None,
    flagged: Mapping[str, set[str]],
    engine: str,
    reason: str,
) -> Iterator[VariedEffect]:
    """Yield the specifications of one model under one rule of exclusion."""
    selected: dict[tuple[object, ...], pd.DataFrame] = {}
    if trials is not None and (left_out := _find_left_out(model, flagged)):
        trials = _leave_out(trials, left_out)
    for choice in choices:
        if trials is None:
            yield VariedEffect(planned, choice, None, reason)
            continue
        place = choice.region, choice.covariates
        if place not in selected:
            selected[place] = trials.select(vary_model(model, replace(choice, transformation=planned.transformations[0])))
        rows = selected[place]
        if rows.empty:
            yield VariedEffect(planned, choice, None, RESPONSES[model.response].absence)
            continue
        varied = vary_model(model, choice)
        response = parse_formula(varied.formula).response
        rows = rows.assign(**{response: transform_response(rows, model.response, choice.transformation)})
        names = list(dict.fromkeys(parse_formula(varied.formula).column_names))
        words = float(rows["n_words"].mean()) if "n_words" in rows else math.nan
        kept = rows[names]
        wanted = WantedFit(_digest(varied, kept, engine), varied, kept, engine, model.response, choice.transformation, words)
        yield VariedEffect(planned, choice, wanted)


def _find_left_out(model: PlannedModel, flagged: Mapping[str, set[str]]) -> set[str]:
    """Return who is left out for flagged ratings: those to a model's own prompt; of other responses, those to every prompt."""
    if RESPONSES[model.response].is_standardised:
        return flagged.get(str(model.prompt), set())
    return set.intersection(*flagged.values()) if flagged else set()


def _leave_out(trials: StudyTrials, participants: set[str]) -> StudyTrials:
    """Return the trials without those of some participants."""
    scores, times, answers = (
        frame[~frame["participant"].isin(participants)] for frame in (trials.scores, trials.times, trials.answers)
    )
    return StudyTrials(scores, times, answers, trials.items, trials.conditions, trials.resolved_from)


def _digest(model: PlannedModel, rows: pd.DataFrame, engine: str) -> str:
    """Return a hash of all that estimates follow from."""
    stated = (model.formula, model.first_fit, model.policy, model.family, model.link, model.crosscheck, engine)
    coding = {factor: asdict(one) for factor, one in model.coding.items()}
    digest = hashlib.blake2b(json.dumps([stated, coding], sort_keys=True).encode(), digest_size=16)
    for _, column in rows.items():
        numbers = pd.api.types.is_numeric_dtype(column)
        digest.update(column.to_numpy(dtype="float64").tobytes() if numbers else "\0".join(map(str, column)).encode())
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------ fits


def fit_wanted(wanted: WantedFit) -> Record:
    """Return what is kept of a fit: each coefficient, and what is known of the model; JSON. It fails only with its reason."""
    model, rows = wanted.model, wanted.rows
    differences: set[str] = set()
    try:
        design = code_trials(model, rows)
        if not model.first_fit:
            model = replace(model, first_fit=str(choose_first_formula(model, design, wanted.engine)))
        coefficients = fit_design(model, design, wanted.engine).coefficients
        differences = {name for name, (_, by) in design.codes.items() if sorted(by.values()) == [-0.5, 0.5]}
    except DataError as error:
        term = next((name for name in parse_formula(model.formula).fixed if name != "1"), "intercept")
        coefficients = failed(model.formula, term, str(error).replace("\n", "; "), rows, engine=wanted.engine)
    first = coefficients.iloc[0]
    tests = {
        str(term): {name: float(cells[name]) for name in TESTS}
        for term, cells in zip(coefficients["term"], coefficients[[*TESTS]].to_dict("records"), strict=True)
    }
    return {
        "key": wanted.key,
        "tests": tests,
        "differences": sorted(differences),
        "formula": str(first["formula"]),
        "n": int(first["n"]),
        "n_participants": int(first["participants"]),
        "n_items": int(first["n_items"]),
        "converged": bool(first["converged"]),
        "singular": bool(first["singular"]),
        "note": str(first["note"]),
        "sd": float(rows[parse_formula(model.formula).response].astype("float64").std()),
    }


def fit_multiverse(
    prepared: PreparedMultiverse,
    *,
    known: Mapping[str, Record] | None = None,
    executor: Executor | None = None,
    keep: Callable[[Record], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return the table multiverse: every effect under every specification.

    `known` has fits that were made before, by key. `keep` is given each new one as it is finished, `progress` how many of how many
    are. With an `executor` models are fitted by several processes, and the table is the same.
    """
    fits = prepared.fits
    records = {key: record for key, record in (known or {}).items() if key in fits}
    wanted = [one for key, one in fits.items() if key not in records]
    for outcome in map_in_parallel(fit_wanted, wanted, executor):
        record = outcome.get_value()
        records[record["key"]] = record
        if keep:
            keep(record)
        if progress:
            progress(len(records), len(fits))
    return build_multiverse_table(prepared, records)


def compute_multiverse(
    tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, plan: Plan, *, executor: Executor | None = None
) -> pd.DataFrame:
    """Return the table multiverse of a study: each effect of the models that are reported first, and of those that hypotheses are
    about, under every specification that the plan has of it.

    `tables` and `settings` are those of `analyse`; `executor`, such as `study.executors.LocalExecutor(2)`, has several processes.
    Specification 0 is the planned one, whose row has the numbers of `effects`. The table describes what the effect depends on
    (Simonsohn et al. 2020, doi 10.1038/s41562-020-0912-z; Steegen et al. 2016, doi 10.1177/1745691616658637); there is no test over
    specifications, which are not a sample of any. A fit that fails keeps its row, with its note.

    >>> from gardenpath.study import TABLES
    >>> compute_multiverse({}, AnalysisSection(), Plan("glmm", "design")).empty
    True
    """
    return fit_multiverse(prepare_multiverse(tables, settings, plan), executor=executor)


# ------------------------------------------------------------------------------------------------ the table


def build_multiverse_table(prepared: PreparedMultiverse, records: Mapping[str, Record]) -> pd.DataFrame:
    """Return the table of these specifications from what is kept of their fits."""
    plan = prepared.plan
    models = {one.model_id: one for one in plan.models}
    hypotheses = {(one.model_id, one.term): one.name for one in plan.hypotheses}
    sha256, rows = plan.sha256, []
    first: dict[tuple[str, str], int] = {}  # the specification that a fit was first needed for
    for effect in prepared.effects:
        model, choice = models[effect.planned.model_id], effect.choice
        record = None if effect.wanted is None else records[effect.wanted.key]
        same = None
        if effect.wanted is not None:
            number = first.setdefault((model.model_id, effect.wanted.key), choice.number)
            same = None if number == choice.number else number
        contrasts = {one.term: one.contrast for one in model.effects}
        for term in effect.planned.terms:
            rows.append(
                {
                    "model_id": model.model_id,
                    "model": model.name,
                    "response": model.response,
                    "prompt": model.prompt,
                    "term": term,
                    "contrast": contrasts[term],
                    "hypothesis": hypotheses.get((model.model_id, term)),
                    "specification": choice.number,
                    "declared": choice.number == 0,
                    **_list_choices(choice),
                    "unit": describe_transformed(model.response, choice.transformation).unit,
                    **_list_numbers(term, effect, record),
                    "same_as": same,
                    "plan_sha256": sha256,
                }
            )
    return check(pd.DataFrame(rows, columns=TABLES["multiverse"].column_names), "multiverse")


def _list_choices(choice: Specification) -> dict[str, str]:
    return {
        "exclusions": choice.exclusions,
        "transformation": choice.transformation,
        "random_effects": choice.random_effects,
        "covariates": ", ".join(choice.covariates) or NO_COVARIATES,
        "region": choice.region,
    }


def _list_numbers(term: str, effect: VariedEffect, record: Record | None) -> dict[str, Any]:
    """Return what a fit says of an effect, on its scale, in standard deviations of the response, and of times in ms."""
    if record is None or effect.wanted is None:
        empty = dict.fromkeys(("n", "n_participants", "n_items"), 0) | {"converged": False, "singular": False}
        return {**empty, "note": f"{NOT_FITTED}: {effect.reason}"}
    facts = {name: record[name] for name in ("n", "n_participants", "n_items", "converged", "singular", "formula")}
    facts["note"] = record["note"] or None
    tests: dict[str, dict[str, float]] = record["tests"]
    name = next((one for one in tests if sorted(one.split(":")) == sorted(term.split(":"))), None)
    if name is None or math.isnan(tests[name]["estimate"]):
        return facts
    cells = tests[name]
    ends = ("estimate", "ci_low", "ci_high")
    numbers: dict[str, Any] = {**facts, **cells}
    if effect.wanted.model.family == "gaussian":
        numbers |= {f"standardised{end}": cells[one] / record["sd"] for one, end in zip(ends, ("", "_low", "_high"), strict=True)}
    is_timed = RESPONSES[effect.wanted.response].table == TIMES_TABLE
    if is_timed and name in record["differences"] and "intercept" in tests:
        mean = tests["intercept"]["estimate"]
        in_ms = [_convert_to_ms(mean, cells[one], effect.wanted) for one in ends]
        numbers |= dict(zip(("ms", "ms_low", "ms_high"), in_ms, strict=True))
    return numbers


def _convert_to_ms(mean: float, effect: float, wanted: WantedFit) -> float:
    """Return a difference of two levels as a difference of predictions in ms, at the model's mean."""
    back: Mapping[str, Callable[[float], float]] = {
        LOG: math.exp,
        MS: lambda y: y,
        LOG_PER_WORD: lambda y: math.exp(y) * wanted.mean_words,
        RECIPROCAL: lambda y: -1000 / y if y < 0 else math.nan,
    }
    convert = back[wanted.transformation]
    return convert(mean + effect / 2) - convert(mean - effect / 2)
