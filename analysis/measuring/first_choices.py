"""Accuracy in Maze: whether the first choices of a region were right, and what errors leave of it, condition by condition."""

from collections.abc import Sequence

import pandas as pd

from gardenpath.study import check

from .maze_errors import is_after_error, is_wrong
from .region_spans import SENTENCE_REGION, TRIAL_KEY, RegionSpan

FIRST_CHOICE_MEASURE = "first_choice"
MAZE = "maze"
TRIAL_COLUMNS = ["participant", "session", "experiment", "list", "trial", "role", "paradigm", "item", "condition"]
RIGHT, WRONG, LOST = "right", "wrong", "lost"  # what became of a region in a trial


def mark_choices(words: pd.DataFrame, after_error: int | str) -> pd.DataFrame:
    """Return the words of target trials that were read in Maze, with the columns `wrong` and `lost`: an error came before.

    >>> rows = [(0, True), (1, True), (2, False), (3, True)]
    >>> words = pd.DataFrame(rows, columns=["word", "correct"]).assign(session="S1", trial=0, condition="a", role="target")
    >>> mark_choices(words, "sentence")[["wrong", "lost"]].to_numpy().tolist()
    [[False, False], [False, False], [True, False], [False, True]]
    """
    chosen = words[(words["role"] == "target") & words["correct"].notna()]
    return chosen.assign(wrong=is_wrong(chosen), lost=is_after_error(chosen, after_error))


def judge_regions(choices: pd.DataFrame, spans: Sequence[RegionSpan]) -> pd.DataFrame:
    """Return what became of each region in each trial of Maze: right, where every first choice was; wrong, where one was not; lost,
    where it comes after an error. A region that the sentence does not have has no row.

    `choices` are as `mark_choices` returns them, `spans` as `list_region_spans` does, of all target trials.
    """
    parts = [pd.DataFrame(columns=[*TRIAL_COLUMNS, "region", "became", "n_words", "n_words_lost"])]
    in_maze = pd.MultiIndex.from_frame(choices[TRIAL_KEY].drop_duplicates())
    for span in spans:
        trials = span.trials[span.present.to_numpy()]
        trials = trials[pd.MultiIndex.from_frame(trials[TRIAL_KEY]).isin(in_maze)]
        read = choices.merge(trials[[*TRIAL_KEY, "first", "last"]], on=TRIAL_KEY, validate="m:1")
        read = read[read["word"].between(read["first"], read["last"])]
        read = read.assign(
            error=read["wrong"] & ~read["lost"], counts=~read["wrong"] & ~read["lost"], spoilt=read["lost"] & ~read["wrong"]
        )
        sums = read.groupby(TRIAL_KEY).agg(
            n_words=("word", "size"), errors=("error", "sum"), right=("counts", "sum"), n_words_lost=("spoilt", "sum")
        )
        trials = trials[[*TRIAL_COLUMNS, "first", "last"]].merge(sums.reset_index(), on=TRIAL_KEY, how="left", validate="1:1")
        filled = trials.fillna({"n_words": 0, "errors": 0, "right": 0, "n_words_lost": 0})
        became = pd.Series(LOST, filled.index).mask(filled["right"] == filled["last"] - filled["first"] + 1, RIGHT)
        parts.append(filled.assign(region=span.name, became=became.mask(filled["errors"] > 0, WRONG))[parts[0].columns])
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def list_first_choices(judged: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of binary_responses of first choices: 1 where those of the region were right, 0 where one was wrong."""
    scored = judged[judged["became"] != LOST]
    return scored[[*TRIAL_COLUMNS, "region"]].assign(
        measure=FIRST_CHOICE_MEASURE, prompt=MAZE, event=RIGHT, response=(scored["became"] == RIGHT).astype("int64")
    )


def count_first_choices(judged: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """Return the table first_choices: trials right, wrong and lost, and words lost, by region and condition."""
    whole = choices.groupby(TRIAL_KEY, as_index=False).agg(
        paradigm=("paradigm", "first"), wrong=("wrong", "any"), n_words=("word", "size"), n_words_lost=("lost", "sum")
    )
    # Of words lost those count whose first choice was right: a wrong one has no reading time anyway.
    right_but_lost = (choices["lost"] & ~choices["wrong"]).groupby([choices[name] for name in TRIAL_KEY]).sum()
    whole = whole.assign(
        region=SENTENCE_REGION,
        became=whole["wrong"].map({True: WRONG, False: RIGHT}),
        n_words_lost=right_but_lost.to_numpy() if len(whole) else [],
    )
    cell = ["paradigm", "condition", "region"]
    columns = [*cell, "became", "n_words", "n_words_lost"]
    rows = pd.concat([whole[columns], judged[columns]], ignore_index=True)
    rows = rows.assign(**{name: rows["became"].eq(name).astype("int64") for name in (RIGHT, WRONG, LOST)})
    table = rows.groupby(cell, as_index=False, sort=True).agg(
        n_trials=("became", "size"), n_right=(RIGHT, "sum"), n_wrong=(WRONG, "sum"), n_lost=(LOST, "sum"),
        n_words=("n_words", "sum"), n_words_lost=("n_words_lost", "sum"),
    )  # fmt: skip
    scored = table["n_right"] + table["n_wrong"]
    return check(table.assign(accuracy=(table["n_right"] / scored).where(scored > 0)), "first_choices")
