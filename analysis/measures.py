"""What is measured of a participant: standardised ratings and times on a region; and their means by condition."""

from collections.abc import Iterable

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from .ledger import Ledger, in_band

RATED = ("target", "filler")
SHOWN = 10  # faults of one kind that are spelt out; the rest is counted


def rating_scores(responses: pd.DataFrame, items: pd.DataFrame, *, ledger: Ledger | None = None) -> pd.DataFrame:
    """Return the ratings of target and filler trials with z, standardised within participant (sample s.d., ddof 1).

    Other roles and tasks are excluded and counted in `ledger`. Someone who gives one and the same rating throughout
    has no z; those rows stay, with z empty, and are counted too.
    """
    ledger = ledger or Ledger()
    [rated] = ledger.step("role is neither target nor filler", responses=(responses, responses["role"].isin(RATED)))
    [rated] = ledger.step("not a rating", responses=(rated, rated["task"] == "rating"))
    scores = with_phenomenon(rated, items).assign(rating=_numbers(rated))
    scores["z"] = scores.groupby("participant")["rating"].transform(standardised)
    ledger.step("no z: the participant gave the same rating throughout", rating_scores=(scores, scores["z"].notna()))
    return declared(scores, "rating_scores")


def standardised(values: pd.Series) -> pd.Series:
    """Return (value - mean) / s.d. with the sample s.d. (ddof 1); all empty where the values do not vary.

    >>> standardised(pd.Series([1.0, 2.0, 3.0])).to_list()
    [-1.0, 0.0, 1.0]
    """
    if values.nunique() < 2:  # not s.d. == 0: equal decimals can leave a rounding error in it
        return pd.Series(float("nan"), index=values.index)
    return (values - values.mean()) / values.std(ddof=1)


def _numbers(rated: pd.DataFrame) -> pd.Series:
    numbers = pd.to_numeric(rated["response"], errors="coerce").astype("float64")
    wrong = rated[numbers.isna().to_numpy()]
    if len(wrong):
        raise DataError(
            capped(
                f"table responses: session {r.session}, trial {r.trial}: rating {r.response!r}; expected a number"
                for r in wrong.itertuples()
            )
        )
    return numbers.reset_index(drop=True)


def region_times(
    readings: pd.DataFrame,
    items: pd.DataFrame,
    *,
    min_rt: float = 100,
    max_rt: float = 3000,
    region: str = "critical",
    ledger: Ledger | None = None,
) -> pd.DataFrame:
    """Return the time each target trial spent on `region`: the sum over its words in ms, and its natural logarithm.

    A region is dropped, and counted in `ledger`, when a word of it has no reading time or one outside
    [min_rt, max_rt] ms.
    """
    ledger = ledger or Ledger()
    [words] = ledger.step("role is not target", readings=(readings, readings["role"] == "target"))
    inside = (words["region"] == region).fillna(False).astype(bool)
    marked = inside.groupby([words["session"], words["trial"]]).transform("any").astype(bool)
    first = ~words.duplicated(["session", "trial"])
    ledger.step(f"the sentence has no {region} region", region_times=(words[first], marked[first]))
    [words] = ledger.step(f"outside the {region} region", readings=(words, inside))
    words = _whole(words, ledger)
    within = in_band(words["rt"], min_rt, max_rt)
    keep = within.groupby([words["session"], words["trial"]]).transform("all").astype(bool)
    first = ~words.duplicated(["session", "trial"])
    rule = f"a word of the {region} region was read in less than {min_rt:g} or more than {max_rt:g} ms"
    words, _ = ledger.step(rule, readings=(words, keep), region_times=(words[first], keep[first]))
    times = words.groupby(["session", "trial"], sort=False).agg(words=("word", "size"), sum=("rt", "sum")).reset_index()
    trials = words.drop_duplicates(["session", "trial"]).drop(columns="rt")
    summed = with_phenomenon(trials.merge(times, on=["session", "trial"], validate="1:1"), items)
    return declared(summed.assign(region=region, rt=summed["sum"], log_rt=_log(summed["sum"])), "region_times")


def _whole(words: pd.DataFrame, ledger: Ledger) -> pd.DataFrame:
    """Drop regions of which a word has no time, or of which fewer words were read than by others of that sentence."""
    count = words.assign(read=words["rt"].notna()).groupby(["session", "trial"])["read"].transform("sum")
    expected = words.assign(size=words.groupby(["session", "trial"])["word"].transform("size"))
    longest = expected.groupby(["item", "condition"])["size"].transform("max")
    return ledger.step("a word of the region has no reading time", readings=(words, count == longest))[0]


def _log(rt: pd.Series) -> pd.Series:
    import numpy as np

    return pd.Series(np.log(rt.to_numpy(dtype="float64")), index=rt.index)


def condition_means(scores: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """Return means by phenomenon and condition of rating, z and rt (ms): participants' means first, then their mean.

    The standard error is that over participants (s.d. of their means / sqrt of their number). Target trials only.
    """
    targets = scores[scores["role"] == "target"]
    parts = [_means(targets, "rating"), _means(targets.dropna(subset="z"), "z"), _means(times, "rt")]
    return check(pd.concat(parts, ignore_index=True), "condition_means")


def _means(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    cell = ["phenomenon", "condition"]
    by_participant = frame.groupby([*cell, "participant"])[measure].agg(["mean", "size"]).reset_index()
    grouped = by_participant.groupby(cell)
    table = grouped.agg(participants=("mean", "size"), n=("size", "sum"), se=("mean", "sem"), mean=("mean", "mean"))
    return table.reset_index().assign(measure=measure)


def with_phenomenon(frame: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` with each row's phenomenon; a sentence that `items` lacks is a `DataError`."""
    names = items[["item", "condition", "phenomenon"]]
    joined = frame.merge(names, on=["item", "condition"], how="left", validate="m:1")
    lacking = joined.loc[joined["phenomenon"].isna(), ["item", "condition"]].drop_duplicates()
    if len(lacking):
        raise DataError(
            capped(
                f"item {r.item}, condition {r.condition}: shown to participants but not in table items"
                for r in lacking.itertuples()
            )
        )
    return joined


def declared(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `frame` as the declared table `name`, without the columns that the table does not have."""
    return check(frame[TABLES[name].names], name)


def capped(faults: Iterable[str]) -> list[str]:
    """Return the first faults and, where there are more, a line that counts them.

    >>> capped(str(i) for i in range(12))[-1]
    '... and 2 more of this kind'
    """
    lines = list(faults)
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], f"... and {more} more of this kind"] if more > 0 else lines
