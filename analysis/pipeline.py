"""From what participants did to the tables of results: exclusions, scores, times, agreement and models."""

import logging
from collections.abc import Mapping, Sequence

import pandas as pd

from gardenpath.study import TABLES, AnalysisSection, DataError, HypothesisSection, ModelSection
from gardenpath.study.plans import Plan, PlannedModel
from gardenpath.study.table_files import take_tables
from gardenpath.study.table_sets import TableSet

from .exclusion_log import ExclusionLog
from .fitting.plan_tables import fit_plan
from .fitting.pooled_effects import pool_parallel
from .grammatical_status import find_minimal_pair_paradigms
from .measured_studies import measure_study
from .measuring.confounds import compute_confounds
from .measuring.ratings_and_times import compute_condition_means, compute_reading_curves
from .measuring.reliability import compute_choice_agreement, compute_noise_ceilings, compute_rating_counts, compute_reliability
from .measuring.task_counts import count_tasks
from .measuring.unimodality import compute_unimodality
from .plan.resolution import draft_models, resolve_plan

log = logging.getLogger("gardenpath")


def analyse(
    tables: Mapping[str, pd.DataFrame],
    settings: AnalysisSection | None = None,
    *,
    plan: Plan | None = None,
    hypotheses: Sequence[HypothesisSection] = (),
    seed: int = 1,
) -> dict[str, pd.DataFrame]:
    """Return every table of results by name: the exclusions first, then what was measured, agreement and models.

    `tables` are those of `collect`: readings, responses, sessions and items; demographics, conditions and words where they are
    there. `settings` are what study.toml states under [analysis], or its defaults; `seed` draws the split halves and bootstraps
    of agreement.

    Ratings are standardised within participant and prompt over all target and filler trials of complete sessions, before anybody
    or anything is left out, and each prompt is analysed by itself. A trial's critical region is dropped when one of its words was
    read in less than `min_rt` or more than `max_rt` ms; `exclude` has the other rules.

    The models are those of `plan`, such as `resolve_designed_plan` gives from the design of a study; without one, it is resolved
    from these trials and the `hypotheses`, as study.toml states them. planned_models, models, effects, hypotheses and
    random_effects have what `fit_plan` says of them; `compute_multiverse` has the effects under other choices. Regions beside the
    critical one that declared models name are measured by the spans of words.
    Answers that are one of two (questions with a right answer, ratings on a scale of two points, forced choices) are in
    binary_responses. Experiments that show the same paradigms, such as several collections, are compared in pooled_effects.

    A table that is missing, no complete session, or rules that exclude everybody are a `DataError`.

    >>> analyse({"readings": pd.DataFrame(), "responses": pd.DataFrame(), "sessions": pd.DataFrame()})
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: table items is missing; gardenpath collect writes it
    """
    settings = settings or AnalysisSection()
    readings, responses, _, items = take_tables(tables, "readings", "responses", "sessions", "items")
    min_rt, max_rt = settings.rt_cutoffs
    _require_conditions(settings.models, tables.get("conditions"))
    if tables.get("conditions") is None:
        _warn_without_conditions(items, [readings, responses])
    exclusion_log = ExclusionLog()
    measured = measure_study(tables, settings, exclusion_log)
    readings, responses, measures, trials = measured.readings, measured.responses, measured.measures, measured.trials
    scores, times, binary_responses = trials.scores, trials.times, trials.answers
    if plan is None:
        plan = resolve_plan(settings, trials, hypotheses)
    else:
        _warn_unplanned(plan, draft_models(trials, settings))
    return TableSet(
        {
            "exclusions": exclusion_log.build_table(),
            "participants": measured.participants,
            "participant_prompts": measured.prompts,
            **({"task_counts": task_counts} if len(task_counts := count_tasks(readings, responses)) else {}),
            "rating_scores": scores,
            "region_times": times,
            **({"binary_responses": binary_responses} if len(binary_responses) else {}),
            **({"first_choices": measures.first_choices} if len(measures.first_choices) else {}),
            **_find_confounds(tables.get("words"), items, trials.conditions),
            "condition_means": compute_condition_means(scores, times),
            "rating_counts": (counts := compute_rating_counts(scores)),
            "unimodality": compute_unimodality(counts, seed=seed),
            "reading_curves": compute_reading_curves(
                readings, items, min_rt=min_rt, max_rt=max_rt, after_error=settings.exclude.after_error
            ),
            "reliability": compute_reliability(scores, seed=seed),
            "noise_ceilings": compute_noise_ceilings(scores, seed=seed),
            "choice_agreement": compute_choice_agreement(responses, items),
            **_drop_unneeded_tables(fit_plan(plan, trials, covariates=settings.covariates)),
            **_drop_unneeded_tables({"pooled_effects": pool_parallel(plan, trials)}),
        }
    )


def _find_confounds(words: pd.DataFrame | None, items: pd.DataFrame, conditions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the table confounds, where words are known and there are any."""
    table = None if words is None or words.empty else compute_confounds(words, items, conditions)
    return {} if table is None or table.empty else {"confounds": table}


def _drop_unneeded_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables that are always there, and of the others those that have rows."""
    return {name: table for name, table in tables.items() if len(table) or TABLES[name].is_always_written}


def _require_conditions(models: Sequence[ModelSection], conditions: pd.DataFrame | None) -> None:
    if models and conditions is None:
        raise DataError(
            f"table conditions is missing; the declared model {models[0].name!r} needs it to know the factors' levels: give it "
            "beside the other tables, as  gardenpath collect  writes it"
        )


def _warn_without_conditions(items: pd.DataFrame, parts: Sequence[pd.DataFrame]) -> None:
    """Name the paradigms of which there are no models, since nothing says of which factors their conditions are levels."""
    targets = {name for part in parts for name in part.loc[part["role"] == "target", "paradigm"].unique()}
    several = {paradigm for paradigm, rows in items.groupby("paradigm") if len(set(rows["condition"])) > 1}
    unmodelled = sorted(targets & several - set(find_minimal_pair_paradigms(items)))
    if unmodelled:
        log.warning(
            "there are no models of %s: their conditions are not grammatical and ungrammatical, and without the table conditions,"
            " which  gardenpath collect  writes, nothing says of which factors they are levels",
            ", ".join(unmodelled),
        )


def _warn_unplanned(plan: Plan, drafts: Sequence[PlannedModel]) -> None:
    """Name the models that these trials would have, and that are not in the plan: what they are about is measured, not modelled."""
    planned = {model.model_id for model in plan.models}
    if unplanned := [model.model_id for model in drafts if model.model_id not in planned]:
        more = f" and {len(unplanned) - 3} more" if len(unplanned) > 3 else ""
        log.warning(
            "%d models that these data allow are not in the plan of the study, and are not fitted: %s%s",
            len(unplanned),
            "; ".join(unplanned[:3]),
            more,
        )
