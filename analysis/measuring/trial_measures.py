"""What is measured of each trial before it is modelled: rating scores, times of regions, answers that are one of two."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd

from gardenpath.study import AnalysisSection
from gardenpath.study.responses import BINARY_TABLE, RATINGS_TABLE, TIMES_TABLE

from ..exclusion_log import ExclusionLog
from .binary_responses import compute_binary_responses
from .first_choices import count_first_choices, judge_regions, list_first_choices, mark_choices
from .participant_measures import add_participant_measures
from .ratings_and_times import compute_rating_scores, compute_region_times, mark_region_words
from .region_spans import SPILLOVER, list_region_spans


@dataclass(frozen=True)
class TrialMeasures:
    """The tables rating_scores, region_times, binary_responses and first_choices; `critical_times` are the times of the critical
    region and of the words after it, without those of other regions that declared models name.
    """

    scores: pd.DataFrame
    times: pd.DataFrame
    binary_responses: pd.DataFrame
    first_choices: pd.DataFrame
    critical_times: pd.DataFrame


def measure_trials(
    tables: Mapping[str, pd.DataFrame],
    readings: pd.DataFrame,
    responses: pd.DataFrame,
    conditions: pd.DataFrame,
    settings: AnalysisSection,
    *,
    other_regions: tuple[str, ...] = (),
    everything: pd.DataFrame | None = None,
    exclusion_log: ExclusionLog | None = None,
) -> TrialMeasures:
    """Return what is measured of the trials of these readings and responses.

    `tables` has items, where regions beside the critical one are measured, words, and for measures of participants, which stand
    beside the trials, sessions, demographics and participant_measures. Ratings are standardised over `everything`,
    the responses before anything was left out.
    """
    log = exclusion_log or ExclusionLog()
    items, (min_rt, max_rt) = tables["items"], settings.rt_cutoffs
    scores = compute_rating_scores(responses, items, conditions=conditions, exclusion_log=log, all_responses=everything)
    timed = partial(
        compute_region_times,
        items=items,
        responses=responses,
        conditions=conditions,
        min_rt=min_rt,
        max_rt=max_rt,
        regions=settings.spillover_regions,
        after_error=settings.exclude.after_error,
        exclusion_log=log,
    )
    times = timed(readings)
    targets = readings[readings["role"] == "target"]
    marked = {name: mark_region_words(targets, items, tables.get("words"), name) for name in other_regions}
    others = [timed(words, region=name) for name, words in marked.items()]
    choices = mark_choices(targets, settings.exclude.after_error)
    spans = [
        span
        for name, words in ({"critical": targets} | marked).items()
        for span in list_region_spans(words, region=name, spillover=SPILLOVER, regions=settings.spillover_regions)
    ]
    judged = judge_regions(choices, spans if len(choices) else [])
    measured = add_participant_measures(
        {
            RATINGS_TABLE: scores,
            TIMES_TABLE: pd.concat([times, *others], ignore_index=True),
            BINARY_TABLE: compute_binary_responses(responses, scores, items, conditions, list_first_choices(judged)),
        },
        tables,
        settings,
        log,
    )
    all_times = measured[TIMES_TABLE]
    return TrialMeasures(
        measured[RATINGS_TABLE], all_times, measured[BINARY_TABLE], count_first_choices(judged, choices), all_times.head(len(times))
    )
