"""Where a region, and each word after it, stands in the trials of a sentence."""

from typing import NamedTuple

import pandas as pd

from gardenpath.study.config import CUMULATIVE_REGIONS, format_region_after

TRIAL_KEY = ["session", "trial", "condition"]
SENTENCE_KEY = ["item", "condition"]
SPILLOVER = 2  # words after a region that are measured too
SENTENCE_REGION = "sentence"  # in the column region: what is said of a whole sentence, a rating


class RegionSpan(NamedTuple):
    """A region with the `first` and the `last` word in each trial, in which trials it is `present`, and by what rule."""

    name: str
    trials: pd.DataFrame
    present: "pd.Series[bool]"
    rule: str


def list_region_spans(words: pd.DataFrame, *, region: str, spillover: int, regions: str) -> list[RegionSpan]:
    """Return the words that a region, and each of the `spillover` words after it, has in each trial of `words`.

    Where words stand, and where sentences end, is read off all trials of a sentence, so also where one of them ended early.
    """
    inside = words[(words["region"] == region).fillna(False).astype(bool)]
    bounds = inside.groupby(SENTENCE_KEY)["word"].agg(first="min", last="max")
    bounds["end"] = words.groupby(SENTENCE_KEY)["word"].max()
    trials = words.drop_duplicates(TRIAL_KEY).drop(columns=["rt", "word", "region", "line"])
    trials = trials.drop(columns=["text", "quality_flags"], errors="ignore")
    trials = trials.merge(bounds.reset_index(), on=SENTENCE_KEY, how="left", validate="m:1")
    spans = []
    for after in range(spillover + 1):
        last = trials["last"] + after
        first = trials["first"] if not after or regions == CUMULATIVE_REGIONS else last
        name = format_region_after(region, after, regions)
        rule = f"{name} is not there or ends the sentence" if after else f"the sentence has no {region} region"
        present = last < trials["end"] if after else trials["first"].notna()
        spans.append(RegionSpan(name, trials.assign(first=first, last=last), present, rule))
    return spans
