"""What is measured of a participant: standardised ratings and times on a region; and their means by condition."""

from collections.abc import Iterable

import pandas as pd

from gardenpath.study import TABLES, DataError, check
from gardenpath.study.config import FOLLOWING_REGIONS, NO_RT_CUTOFFS
from gardenpath.study.formula_columns import add_formula_columns
from gardenpath.study.responses import RATING_TASKS, RESPONSES, STANDARDISED_RESPONSES
from gardenpath.study.schemas import COMPUTED_COLUMN_NAMES

from ..exclusion_log import ExclusionLog, is_within_cutoffs
from ..prompts import drop_missing_responses, filter_prompt, format_prompt_suffix, list_prompts
from .first_choices import LOST, WRONG, judge_regions, mark_choices
from .maze_errors import REST_OF_SENTENCE, describe_after_error, drop_errors
from .region_spans import SENTENCE_KEY, SENTENCE_REGION, SPILLOVER, TRIAL_KEY, RegionSpan, list_region_spans

RATED_ROLES = ("target", "filler")
MAX_LISTED_FAULTS = 10  # faults of one kind that are spelt out; the rest is counted


def compute_rating_scores(
    responses: pd.DataFrame,
    items: pd.DataFrame,
    *,
    conditions: pd.DataFrame | None = None,
    exclusion_log: ExclusionLog | None = None,
    all_responses: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the ratings of target and filler trials with z, standardised within participant and prompt (sample s.d., ddof 1).

    Of responses that are standardised as logarithms the rating is the natural logarithm of the number. Ratings that did not come,
    other roles and other tasks are excluded and counted in `exclusion_log`. Mean and s.d. are those of all ratings in
    `all_responses`, where some have been excluded since. Someone who gives one and the same rating throughout has no z; those rows
    stay, with z empty, and are counted too. With the table `conditions` the factors' levels stand beside them.

    A rating that is no number, or a sentence that `items` lacks, is a `DataError` that names the session and trial, or the item.

    >>> rows = [("P1", trial, f"i{trial}", rating) for trial, rating in enumerate(["2", "4", "6"])]
    >>> responses = pd.DataFrame(rows, columns=["participant", "trial", "item", "response"]).assign(
    ...     session="S1", experiment="E1", list="L1", role="target", paradigm="ever", condition="grammatical",
    ...     task="rating", prompt="rating", outcome="answered", correct=None,
    ... )
    >>> items = responses[["item", "condition"]].assign(phenomenon="npi")
    >>> compute_rating_scores(responses, items)[["item", "rating", "z"]].to_numpy().tolist()
    [['i0', 2.0, -1.0], ['i1', 4.0, 0.0], ['i2', 6.0, 1.0]]
    """
    exclusion_log = exclusion_log or ExclusionLog()
    responses = drop_missing_responses(responses, exclusion_log)
    [rated] = exclusion_log.apply_rule(
        "role is neither target nor filler", responses=(responses, responses["role"].isin(RATED_ROLES))
    )
    [rated] = exclusion_log.apply_rule("not a rating", responses=(rated, rated["task"].isin(RATING_TASKS)))
    scores = add_phenomenon(rated, items).assign(rating=_parse_ratings(rated))
    scores["z"] = _standardise_within_participant(scores, scores if all_responses is None else _select_ratings(all_responses))
    left = scores
    for prompt in list_prompts(scores):
        rule = f"no z: the participant gave the same rating throughout{format_prompt_suffix(prompt)}"
        flat = left["z"].isna() & left.index.isin(filter_prompt(left, prompt).index)
        [left] = exclusion_log.apply_rule(rule, rating_scores=(left, ~flat))
    return _build_declared_table(scores, "rating_scores", responses, conditions)


def _select_ratings(responses: pd.DataFrame) -> pd.DataFrame:
    rated = drop_missing_responses(responses[responses["role"].isin(RATED_ROLES) & responses["task"].isin(RATING_TASKS)])
    return rated.reset_index(drop=True).assign(rating=_parse_ratings(rated))


def _standardise_within_participant(scores: pd.DataFrame, all_ratings: pd.DataFrame) -> pd.Series:
    who = ["participant", "prompt"]
    by = all_ratings.groupby(who)["rating"]
    # Not s.d. == 0: equal decimals can leave a rounding error in it.
    known = pd.DataFrame({"mean": by.mean(), "spread": by.std(ddof=1).where(by.max() > by.min())}).reset_index()
    norms = scores[who].merge(known, on=who, how="left", validate="m:1")
    return (scores["rating"] - norms["mean"].astype("float64")) / norms["spread"].astype("float64")


def _parse_ratings(rated: pd.DataFrame) -> pd.Series:
    numbers = transform_ratings(rated)
    wrong = rated[(numbers.isna() | numbers.abs().eq(float("inf"))).to_numpy()]
    if len(wrong):
        raise DataError(
            cap_faults(
                f"table responses: session {r.session}, trial {r.trial}: rating {r.response!r}; expected a number"
                + (" above 0" if RATING_TASKS[str(r.task)] == "log" else "")
                for r in wrong.itertuples()
            )
        )
    return numbers.reset_index(drop=True)


def transform_ratings(rated: pd.DataFrame) -> "pd.Series[float]":
    """Return ratings as numbers, of responses that are logarithms the natural one; empty where there is none."""
    import numpy as np

    numbers = pd.to_numeric(rated["response"], errors="coerce").astype("float64")
    is_log = rated["task"].map(RATING_TASKS) == "log"
    logs = np.log(numbers.where(is_log & (numbers > 0)).to_numpy())
    return numbers.mask(is_log, pd.Series(logs, index=numbers.index))


def select_rating_response(scores: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows of rating_scores that hold a response, under its name, and its raw one under the name of that."""
    response = RESPONSES[name]
    rows = scores[scores["task"] == response.task]
    return rows.rename(columns={"z": name, "rating": response.raw}) if response.is_standardised else rows


def compute_region_times(
    readings: pd.DataFrame,
    items: pd.DataFrame,
    *,
    responses: pd.DataFrame | None = None,
    conditions: pd.DataFrame | None = None,
    min_rt: float = 100,
    max_rt: float = 3000,
    region: str = "critical",
    spillover: int = SPILLOVER,
    regions: str = FOLLOWING_REGIONS,
    after_error: int | str = REST_OF_SENTENCE,
    exclusion_log: ExclusionLog | None = None,
) -> pd.DataFrame:
    """Return the time each target trial spent on `region`, and on each of the `spillover` words after it.

    A region's time is the sum over its words in ms, and then its natural logarithm. A word after the region has its own row, region
    `critical+1`, `critical+2`; with `regions="cumulative"` the row is of the region up to that word, `critical..+1`,
    `critical..+2`. Both are there only where the sentence goes on after the word, since the last word has a time of its own kind. A
    region is dropped, and counted in `exclusion_log`, when a word of it has no reading time or one outside [min_rt, max_rt] ms. The
    time of a word in Maze is that of its first choice: a region is dropped too when one of its was wrong, or one before it, as far
    back as `after_error` says (analysis.exclude.after_error). With `responses` the participant's accuracy on questions stands
    beside the times, and with the table `conditions` the factors' levels.

    A negative or infinite reading time, or a sentence that `items` lacks, is a `DataError`.

    >>> rows = [(0, 300.0, None), (1, 320.0, "critical"), (2, 330.0, "critical"), (3, 310.0, None), (4, 350.0, None)]
    >>> readings = pd.DataFrame(rows, columns=["word", "rt", "region"]).assign(
    ...     participant="P1", session="S1", experiment="E1", list="L1", trial=0, role="target", paradigm="ever", item="i0",
    ...     condition="grammatical", text="word", task="moving_window", correct=None, quality_flags=None, line=0,
    ... )
    >>> items = pd.DataFrame({"item": ["i0"], "condition": ["grammatical"], "phenomenon": ["npi"]})
    >>> compute_region_times(readings, items)[["region", "n_words", "rt", "log_rt"]].round(2).to_numpy().tolist()
    [['critical', 2, 650.0, 6.48], ['critical+1', 1, 310.0, 5.74]]
    """
    exclusion_log = exclusion_log or ExclusionLog()
    _require_valid_times(readings)
    readings = readings[[name for name in readings if name in TIMED_COLUMNS]]  # each step copies what there is
    [words] = exclusion_log.apply_rule("role is not target", readings=(readings, readings["role"] == "target"))
    choices = mark_choices(words, after_error)
    times = [
        _sum_region_times(words, span, choices, after_error, (min_rt, max_rt), exclusion_log)
        for span in list_region_spans(words, region=region, spillover=spillover, regions=regions)
    ]
    summed = add_phenomenon(pd.concat(times, ignore_index=True), items)
    return _build_declared_table(summed.assign(log_rt=_take_log(summed["rt"])), "region_times", responses, conditions)


def mark_region_words(readings: pd.DataFrame, items: pd.DataFrame, words: pd.DataFrame | None, region: str) -> pd.DataFrame:
    """Return the readings with `region` on every word that overlaps it, also where a smaller region lies within.

    Without `words`, which has the words' spans, the readings' own column, the innermost region, has to do. A name that no
    sentence has is a `DataError`.
    """
    import json

    if words is None:
        return readings
    spans = [
        (row.item, row.condition, span[1], span[2])
        for row in items.itertuples()
        for span in json.loads(str(row.regions))
        if span[0] == region
    ]
    if not spans:
        names = sorted({span[0] for regions in items["regions"] for span in json.loads(regions)})
        raise DataError(f"region {region!r} is in no sentence; there are {', '.join(names) or 'none'}")
    bounds = pd.DataFrame(spans, columns=[*SENTENCE_KEY, "from", "to"])
    region_words = words.merge(bounds, on=SENTENCE_KEY, validate="m:1")
    region_words = region_words.loc[
        (region_words["start"] < region_words["to"]) & (region_words["from"] < region_words["end"]), [*SENTENCE_KEY, "word"]
    ]
    joined = readings.merge(region_words.assign(inside=True), on=[*SENTENCE_KEY, "word"], how="left", validate="m:1")
    return joined.assign(region=joined["region"].mask(joined["inside"].notna(), region)).drop(columns="inside")


def _require_valid_times(readings: pd.DataFrame) -> None:
    """Raise `DataError` for reading times that no clock gives."""
    wrong = readings[readings["rt"].abs().eq(float("inf")) | (readings["rt"] < 0)]
    if len(wrong):
        raise DataError(
            cap_faults(
                f"table readings: session {r.session}, trial {r.trial}, word {r.word}: reading time {r.rt:g}; expected a number of "
                "ms from 0, or an empty cell"
                for r in wrong.itertuples()
            )
        )


def _sum_region_times(
    words: pd.DataFrame,
    span: RegionSpan,
    choices: pd.DataFrame,
    after_error: int | str,
    rt_cutoffs: tuple[float, float],
    exclusion_log: ExclusionLog,
) -> pd.DataFrame:
    """Return the times of one region: the words from `first` to `last` of each trial."""
    name, table = span.name, f"region_times: {span.name}"
    [region_spans] = exclusion_log.apply_rule(span.rule, **{table: (span.trials, span.present)})
    if len(choices):
        became = judge_regions(choices, [span]).set_index(TRIAL_KEY)["became"]
        for outcome, rule in ((WRONG, f"a word of {name} had a wrong first choice"), (LOST, describe_after_error(after_error))):
            spoilt = pd.MultiIndex.from_frame(region_spans[TRIAL_KEY]).isin(became[became == outcome].index)
            [region_spans] = exclusion_log.apply_rule(rule, **{table: (region_spans, pd.Series(~spoilt, region_spans.index))})
    read = words[[*TRIAL_KEY, "word", "rt", "line"]].merge(
        region_spans[[*TRIAL_KEY, "first", "last"]], on=TRIAL_KEY, validate="m:1"
    )
    read = read[read["word"].between(read["first"], read["last"])]
    read = read.assign(out=~is_within_cutoffs(read["rt"], *rt_cutoffs))
    summed = (
        read.groupby(TRIAL_KEY).agg(timed=("rt", "count"), rt=("rt", "sum"), line=("line", "min"), out=("out", "any")).reset_index()
    )
    times = region_spans.merge(summed, on=TRIAL_KEY, how="left", validate="1:1")
    times = times.assign(n_words=times["last"] - times["first"] + 1, word=times["first"], region=name)
    timed = (times["timed"] == times["n_words"]) & (times["rt"] > 0)
    [times] = exclusion_log.apply_rule(f"a word of {name} has no reading time", **{table: (times, timed)})
    if rt_cutoffs == NO_RT_CUTOFFS:
        return times
    rule = f"a word of {name} was read in less than {rt_cutoffs[0]:g} or more than {rt_cutoffs[1]:g} ms"
    return exclusion_log.apply_rule(rule, **{table: (times, ~times["out"].astype(bool))})[0]


def _take_log(rt: pd.Series) -> pd.Series:
    import numpy as np

    return pd.Series(np.log(rt.to_numpy(dtype="float64")), index=rt.index)


def compute_condition_means(scores: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """Return means by phenomenon, condition and region of rating, z and rt (ms), and of other responses that are standardised and
    their raw ones: participants' means, then their mean.

    Ratings under several prompts are kept apart. The standard error is that over participants (s.d. of their means / sqrt of
    their number). Target trials only.

    `scores` and `times` are the tables that `compute_rating_scores` and `compute_region_times` return.

    >>> rows = [("P1", 2.0, -1.0), ("P1", 4.0, 0.0), ("P2", 6.0, 1.0)]
    >>> scores = pd.DataFrame(rows, columns=["participant", "rating", "z"]).assign(
    ...     role="target", phenomenon="npi", condition="grammatical", task="rating", prompt="rating"
    ... )
    >>> times = pd.DataFrame(columns=["participant", "phenomenon", "condition", "region", "rt"])
    >>> means = compute_condition_means(scores, times)
    >>> means[["measure", "n_participants", "n_observations", "mean_value", "se"]].to_numpy().tolist()
    [['rating', 2, 3, 4.5, 1.5], ['z', 2, 3, 0.25, 0.75]]
    """
    targets = scores[scores["role"] == "target"].assign(region=SENTENCE_REGION)
    cell = ["phenomenon", "condition", "region"]
    parts = []
    for name in STANDARDISED_RESPONSES:
        rows = select_rating_response(targets, name)
        parts.append(_average_over_participants(rows, RESPONSES[name].raw, [*cell, "prompt"]))
        parts.append(_average_over_participants(rows.dropna(subset=name), name, [*cell, "prompt"]))
    parts.append(_average_over_participants(times, "rt", cell))
    return check(pd.concat(parts, ignore_index=True), "condition_means")


# What of a word's reading the times of regions are made of.
TIMED_COLUMNS = frozenset({*TABLES["region_times"].column_names, "rt", "word", "region", "line", "correct", "task"})
CURVE_WINDOW = (-3, 4)  # words before and after the critical region that a curve shows


def compute_reading_curves(
    readings: pd.DataFrame,
    items: pd.DataFrame,
    *,
    min_rt: float = 100,
    max_rt: float = 3000,
    after_error: int | str = REST_OF_SENTENCE,
) -> pd.DataFrame:
    """Return mean reading times word by word around the critical region: participants' means first, then their mean.

    Place 0 is the critical region, of which the mean of its words counts, so that regions of any length compare; a word outside
    [min_rt, max_rt] ms is left out, and in Maze what `drop_errors` leaves out. Target trials; the last word of a sentence is left
    out, unless it is critical.
    """
    timed = drop_errors(readings, after_error)
    of_target = (timed["role"] == "target") & is_within_cutoffs(timed["rt"], min_rt, max_rt)
    words = timed.loc[of_target, [*TRIAL_KEY, "item", "participant", "word", "rt", "task"]]
    critical = readings.loc[(readings["region"] == "critical").fillna(False), [*SENTENCE_KEY, "word"]]
    bounds = critical.groupby(SENTENCE_KEY)["word"].agg(first="min", last="max")
    bounds["end"] = readings.groupby(SENTENCE_KEY)["word"].max()
    positioned_words = words.drop(columns="task").merge(bounds.reset_index(), on=SENTENCE_KEY, how="inner", validate="m:1")
    before, after = (
        (positioned_words["word"] - positioned_words["first"]).clip(upper=0),
        (positioned_words["word"] - positioned_words["last"]).clip(lower=0),
    )
    positioned_words["relative_position"] = before + after
    shown = positioned_words["relative_position"].between(*CURVE_WINDOW) & (
        (positioned_words["word"] < positioned_words["end"]) | (positioned_words["relative_position"] == 0)
    )
    trials = (
        positioned_words[shown]
        .groupby([*TRIAL_KEY, "item", "participant", "relative_position"], sort=False)["rt"]
        .mean()
        .reset_index()
    )
    curves = _average_over_participants(add_phenomenon(trials, items), "rt", ["phenomenon", "condition", "relative_position"])
    tasks = words["task"].unique()
    curves = curves.assign(task=tasks[0] if len(tasks) == 1 else None)
    return check(curves.drop(columns="measure").rename(columns={"n_observations": "n_trials"}), "reading_curves")


def _average_over_participants(frame: pd.DataFrame, measure: str, cell: list[str]) -> pd.DataFrame:
    by_participant = frame.groupby([*cell, "participant"])[measure].agg(["mean", "size"]).reset_index()
    grouped = by_participant.groupby(cell)
    table = grouped.agg(
        n_participants=("mean", "size"), n_observations=("size", "sum"), se=("mean", "sem"), mean_value=("mean", "mean")
    )
    return table.reset_index().assign(measure=measure)


def add_phenomenon(frame: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` with each row's phenomenon; a sentence that `items` lacks is a `DataError`."""
    names = items[["item", "condition", "phenomenon"]]
    joined = frame.merge(names, on=["item", "condition"], how="left", validate="m:1")
    missing_sentences = joined.loc[joined["phenomenon"].isna(), ["item", "condition"]].drop_duplicates()
    if len(missing_sentences):
        raise DataError(
            cap_faults(
                f"item {r.item}, condition {r.condition}: shown to participants but not in table items"
                for r in missing_sentences.itertuples()
            )
        )
    return joined


def select_declared_columns(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `frame` as the declared table `name`, without the columns that the table does not have."""
    return check(frame[TABLES[name].column_names], name)


def _build_declared_table(
    frame: pd.DataFrame, name: str, responses: pd.DataFrame | None, conditions: pd.DataFrame | None
) -> pd.DataFrame:
    """Return `frame` as the declared table `name` with what formulas need beside its measure."""
    measured = frame[[column for column in TABLES[name].column_names if column not in COMPUTED_COLUMN_NAMES]]
    return check(add_formula_columns(measured, responses, conditions), name)


def cap_faults(faults: Iterable[str]) -> list[str]:
    """Return the first faults and, where there are more, a line that counts them.

    >>> cap_faults(str(i) for i in range(12))[-1]
    '... and 2 more of this kind'
    """
    lines = list(faults)
    more = len(lines) - MAX_LISTED_FAULTS
    return [*lines[:MAX_LISTED_FAULTS], f"... and {more} more of this kind"] if more > 0 else lines
