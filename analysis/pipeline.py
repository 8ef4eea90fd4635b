"""From what participants did to the tables of results: exclusions, scores, times, agreement, models and their robustness."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from gardenpath.study import AnalysisSection, DataError, ModelSection
from gardenpath.study.executors import Executor
from gardenpath.study.table_files import take_tables
from gardenpath.study.table_sets import TableSet

from .cleaning.exclusions import apply_study_exclusions, includes_models
from .exclusion_log import ExclusionLog, select_complete_sessions
from .grammatical_status import build_pair_conditions, find_minimal_pair_paradigms
from .measuring.ratings_and_times import compute_condition_means, compute_reading_curves
from .measuring.reliability import compute_choice_agreement, compute_noise_ceilings, compute_rating_counts, compute_reliability
from .measuring.trial_measures import measure_trials
from .measuring.unimodality import compute_unimodality
from .modelling.factorial import POPULATION, POPULATIONS, factorial_models, regions_named
from .modelling.grammaticality import Known, Measured, entering, families, paradigm_models, phenomenon_models
from .modelling.ordinal import ordinal_factorial_models, ordinal_models
from .modelling.random_effects import chosen_models
from .modelling.sensitivity import sensitivity_grid

log = logging.getLogger("gardenpath")


def analyse(
    tables: Mapping[str, pd.DataFrame], settings: AnalysisSection | None = None, *, seed: int = 1, executor: Executor | None = None
) -> dict[str, pd.DataFrame]:
    """Return every table of results by name: the exclusions first, then what was measured, agreement and models.

    `tables` are those of `collect`: readings, responses, sessions and items; demographics, conditions and words where they are
    there. `settings` are what study.toml states under [analysis], or its defaults; `seed` draws the split halves and bootstraps
    of agreement. `executor`, such as `study.executors.LocalExecutor(2)`, fit the models of the table sensitivity.

    Ratings are standardised within participant and prompt over all target and filler trials of complete sessions, before anybody
    or anything is left out, and each prompt is analysed by itself. A trial's critical region is dropped when one of its words was
    read in less than `min_rt` or more than `max_rt` ms; `exclude` has the other rules.

    With another `policy` than declared, or with `crosscheck`, chosen_models and model_steps are there too: models whose
    random effects the policy chose, refitted in the other engine.

    ordinal_models, ratings as ordered categories in R, is there with `ordinal`, or where that is not stated with the engine lme4;
    of the study's own factors, too, and of declared models whose response is `rating`.

    With conditions, factorial_models is there for a study with factors of its own, or with declared `models`; regions that
    they name beside the critical one are measured too, by the spans of words. Answers that are one of two (questions with a right
    answer, ratings on a scale of two points, forced choices) are in binary_responses, and have their binomial models too,
    also those to minimal pairs.

    A table that is missing, no complete session, or rules that exclude everybody are a `DataError`.

    >>> analyse({"readings": pd.DataFrame(), "responses": pd.DataFrame(), "sessions": pd.DataFrame()})
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: table items is missing; gardenpath collect writes it
    """
    settings = settings or AnalysisSection()
    readings, responses, sessions, items = take_tables(tables, "readings", "responses", "sessions", "items")
    conditions, engine = tables.get("conditions"), settings.engine
    min_rt, max_rt = settings.rt_cutoffs
    _require_conditions(settings.models, conditions)
    if conditions is None:
        _warn_without_conditions(items, [readings, responses])
        conditions = build_pair_conditions(items)
    exclusion_log = ExclusionLog()
    _, everything = select_complete_sessions(
        sessions, ExclusionLog(), include_models=includes_models(settings.exclude), readings=readings, responses=responses
    )
    readings, responses, participants, prompts = apply_study_exclusions(tables, settings, exclusion_log)
    trials = measure_trials(
        tables,
        readings,
        responses,
        conditions,
        settings,
        other_regions=tuple(regions_named(settings.models)),
        everything=everything,
        exclusion_log=exclusion_log,
    )
    scores, times, measured, binary_responses = trials.scores, trials.critical_times, trials.times, trials.binary_responses
    if includes_models(settings.exclude):
        scores, binary_responses = (_add_population(frame, sessions) for frame in (scores, binary_responses))
    entered = entering(scores, times, items, settings.covariates)
    known: Known = {}
    return TableSet(
        {
            "exclusions": exclusion_log.build_table(),
            "participants": participants,
            "participant_prompts": prompts,
            "rating_scores": scores,
            "region_times": measured,
            **({"binary_responses": binary_responses} if len(binary_responses) else {}),
            "condition_means": compute_condition_means(scores, measured),
            "rating_counts": (counts := compute_rating_counts(scores)),
            "unimodality": compute_unimodality(counts, seed=seed),
            "reading_curves": compute_reading_curves(readings, items, min_rt=min_rt, max_rt=max_rt),
            "reliability": compute_reliability(scores, seed=seed),
            "noise_ceilings": compute_noise_ceilings(scores, seed=seed),
            "choice_agreement": compute_choice_agreement(responses, items),
            **_fit_grammaticality_models(scores, times, items, entered, settings, known),
            **_fit_requested_models(settings, entered, scores, measured, binary_responses, conditions),
            "sensitivity": sensitivity_grid(
                scores,
                readings,
                items,
                flagged=_find_flagged_participants(prompts),
                min_rt=min_rt,
                max_rt=max_rt,
                engine=engine,
                covariates=settings.covariates,
                workers=executor,
                known=known,
            ),
        }
    )


def _add_population(frame: pd.DataFrame, sessions: pd.DataFrame) -> pd.DataFrame:
    """Return trials with who answered, people or a language model."""
    if POPULATION in frame:
        raise DataError(
            f"factor {POPULATION!r} has the name of the column that tells people from language models; give it another one"
        )
    models = set(sessions.loc[sessions["source"] == "model", "session"])
    human_label, model = POPULATIONS
    labels = [model if session in models else human_label for session in frame["session"]]
    return frame.assign(**{POPULATION: pd.array(labels, dtype="string")})


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


def _fit_grammaticality_models(
    scores: pd.DataFrame,
    times: pd.DataFrame,
    items: pd.DataFrame,
    entered: Mapping[Measured, pd.DataFrame],
    settings: AnalysisSection,
    known: Known,
) -> dict[str, pd.DataFrame]:
    """Return the models of grammaticality in each phenomenon and paradigm, and their families of tests."""
    stated: Any = {"engine": settings.engine, "smallest": settings.sesoi, "covariates": settings.covariates}
    phenomena = phenomenon_models(scores, times, items, **stated, known=known)
    paradigms = paradigm_models(scores, times, items, **stated)
    return {
        "phenomenon_models": phenomena,
        "paradigm_models": paradigms,
        "families": families({"phenomenon": phenomena, "paradigm": paradigms}, entered),
    }


def _find_flagged_participants(prompts: pd.DataFrame) -> dict[str, set[str]]:
    """Return, by prompt, the participants whose ratings under it are flagged."""
    rows = prompts[prompts["flagged"].fillna(False).astype(bool)]
    return {str(prompt): set(part["participant"]) for prompt, part in rows.groupby("prompt", sort=True)}


def _fit_requested_models(
    settings: AnalysisSection,
    entered: Mapping[Measured, pd.DataFrame],
    scores: pd.DataFrame,
    measured: pd.DataFrame,
    binary_responses: pd.DataFrame,
    conditions: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    """Return the tables of models that the settings ask for, or conditions and answers suggest."""
    engine, policy, crosscheck = settings.engine, settings.policy, settings.crosscheck
    requested: dict[str, pd.DataFrame] = {}
    if policy != "declared" or crosscheck:
        requested |= chosen_models(entered, engine=engine, policy=policy, crosscheck=crosscheck)
    # Ordinal models are R's: where it fits the models anyway, they are there unless the study says no.
    if engine == "lme4" if settings.ordinal is None else settings.ordinal:
        requested = _combine_tables(requested, _fit_ordinal_models(settings, entered, scores, conditions))
    factorial = factorial_models(
        scores,
        measured,
        conditions,
        answers=binary_responses,
        models=settings.models,
        engine=engine,
        policy=policy,
        crosscheck=crosscheck,
        smallest=settings.sesoi,
        covariates=settings.covariates,
    )
    return _combine_tables(requested, factorial) if len(factorial["factorial_models"]) else requested


def _fit_ordinal_models(
    settings: AnalysisSection, entered: Mapping[Measured, pd.DataFrame], scores: pd.DataFrame, conditions: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the ordinal models of grammaticality, and of the study's own factors."""
    rated = [rows for (measure, _, _), rows in entered.items() if measure == "z"]
    policy = settings.policy
    pairs = ordinal_models(pd.concat(rated, ignore_index=True), policy=policy) if rated else {}
    return _combine_tables(pairs, ordinal_factorial_models(scores, conditions, models=settings.models, policy=policy))


def _combine_tables(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables of both that have rows; of a table that both have, the rows of both."""
    parts = {name: [of[name] for of in (first, second) if name in of and len(of[name])] for name in {**first, **second}}
    return {name: pd.concat(rows, ignore_index=True).drop_duplicates() for name, rows in parts.items() if rows}
