"""What a study's tables come to before anything is modelled: who and what is left in, and what is measured of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from gardenpath.study import AnalysisSection, DataError
from gardenpath.study.table_files import take_tables

from .cleaning.exclusions import apply_study_exclusions, drop_far_times, includes_models
from .exclusion_log import ExclusionLog, select_complete_sessions
from .grammatical_status import build_pair_conditions
from .measuring.trial_measures import TrialMeasures, measure_trials
from .plan.resolution import list_declared_regions
from .plan.trials import POPULATION, POPULATIONS, StudyTrials


@dataclass(frozen=True)
class MeasuredStudy:
    """The readings and responses that rules of exclusion leave in, the tables participants and participant_prompts, what is
    measured of each trial, and the trials as models take them.
    """

    readings: pd.DataFrame
    responses: pd.DataFrame
    participants: pd.DataFrame
    prompts: pd.DataFrame
    measures: TrialMeasures
    trials: StudyTrials


def measure_study(
    tables: Mapping[str, pd.DataFrame],
    settings: AnalysisSection,
    exclusion_log: ExclusionLog | None = None,
    *,
    max_sd: float | None = None,
) -> MeasuredStudy:
    """Return what is measured of a study by these settings, the way it is analysed; see `analyse`.

    With `max_sd`, words whose log reading time is further from the participant's mean than so many standard deviations have none.
    """
    log = exclusion_log or ExclusionLog()
    readings, responses, sessions, items = take_tables(tables, "readings", "responses", "sessions", "items")
    stated = tables.get("conditions")
    conditions = build_pair_conditions(items) if stated is None else stated
    includes = includes_models(settings.exclude)
    _, everything = select_complete_sessions(
        sessions, ExclusionLog(), include_models=includes, readings=readings, responses=responses
    )
    readings, responses, participants, prompts = apply_study_exclusions(tables, settings, log)
    timed = readings if max_sd is None else drop_far_times(readings, max_sd, settings.exclude.after_error)
    measures = measure_trials(
        tables,
        timed,
        responses,
        conditions,
        settings,
        other_regions=tuple(list_declared_regions(settings)),
        everything=everything,
        exclusion_log=log,
    )
    scores, answers = measures.scores, measures.binary_responses
    if includes:
        scores, answers = (_add_population(frame, sessions) for frame in (scores, answers))
    trials = StudyTrials(scores, measures.times, answers, items, conditions)
    return MeasuredStudy(readings, responses, participants, prompts, measures, trials)


def find_flagged_participants(prompts: pd.DataFrame) -> dict[str, set[str]]:
    """Return, by prompt under which grammatical and ungrammatical sentences are rated, the participants who are flagged."""
    tested = prompts[prompts["flagged"].notna()]
    flagged = tested["flagged"].astype(bool)
    return {str(prompt): {*part.loc[flagged[part.index], "participant"]} for prompt, part in tested.groupby("prompt", sort=True)}


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
