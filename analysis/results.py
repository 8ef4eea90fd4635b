"""From what participants did to the tables of results: exclusions, scores, times, means and models."""

import pandas as pd

from .contrasts import phenomenon_models
from .ledger import Ledger, complete
from .measures import condition_means, rating_scores, region_times


def analyse(
    readings: pd.DataFrame,
    responses: pd.DataFrame,
    sessions: pd.DataFrame,
    items: pd.DataFrame,
    *,
    min_rt: float = 100,
    max_rt: float = 3000,
    engine: str = "glmm",
) -> dict[str, pd.DataFrame]:
    """Return exclusions, rating_scores, region_times, condition_means and phenomenon_models, by name.

    Ratings are standardised within participant before anything is excluded for its reading time. A trial's critical
    region is dropped when one of its words was read in less than `min_rt` or more than `max_rt` ms.
    """
    ledger = Ledger()
    readings, responses = complete(sessions, ledger, readings=readings, responses=responses)
    scores = rating_scores(responses, items, ledger=ledger)
    times = region_times(readings, items, min_rt=min_rt, max_rt=max_rt, ledger=ledger)
    return {
        "exclusions": ledger.table(),
        "rating_scores": scores,
        "region_times": times,
        "condition_means": condition_means(scores, times),
        "phenomenon_models": phenomenon_models(scores, times, items, engine=engine),
    }
