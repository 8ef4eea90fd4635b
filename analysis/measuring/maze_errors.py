"""Errors in Maze: who chooses at random, which first choices were wrong, and which words come after one."""

from typing import Literal

import pandas as pd

from ..exclusion_log import ExclusionLog
from .region_spans import TRIAL_KEY

WORD_KEY = [*TRIAL_KEY, "word"]
REST_OF_SENTENCE: Literal["sentence"] = "sentence"  # in analysis.exclude.after_error
WRONG_RULE = "the first choice in Maze was wrong"


def compute_first_choice_accuracy(readings: pd.DataFrame) -> "pd.Series[float]":
    """Return each participant's share of right first choices, practice and the first words of sentences left aside.

    Empty where nothing was chosen: of other presentations the table does not say what was right.
    """
    choices = readings[readings["correct"].notna() & (readings["role"] != "practice") & (readings["word"] > 0)]
    return choices["correct"].astype("float64").groupby(choices["participant"]).mean()


def build_first_choice_rule(readings: pd.DataFrame, participants: pd.Series, min_share: float) -> dict[str, "pd.Series[bool]"]:
    """Return the rule about right first choices, with those who keep it; who chose nothing keeps it."""
    shares = compute_first_choice_accuracy(readings)
    if not min_share or shares.empty:
        return {}
    return {f"less than {100 * min_share:g}% of first choices right": ~(participants.map(shares).astype("float64") < min_share)}


def is_wrong(readings: pd.DataFrame) -> "pd.Series[bool]":
    """Return which words had a wrong first choice; none of what was read otherwise than in Maze."""
    return readings["correct"].eq(False).fillna(False).astype(bool)


def is_after_error(readings: pd.DataFrame, after_error: int | str) -> "pd.Series[bool]":
    """Return which words follow a wrong first choice in their sentence: one of so many words after it, or any that is later.

    `after_error` is the setting analysis.exclude.after_error: a number of words, or `sentence`. The word of the first error in
    a sentence is not among them.
    """
    wrong = readings.loc[is_wrong(readings), WORD_KEY]
    if after_error == REST_OF_SENTENCE:
        first = wrong.groupby(TRIAL_KEY)["word"].min().rename("error").reset_index()
        joined = readings[WORD_KEY].merge(first, on=TRIAL_KEY, how="left", validate="m:1")
        return pd.Series((joined["word"] > joined["error"]).to_numpy(dtype=bool), readings.index)
    later = [wrong.assign(word=wrong["word"] + n) for n in range(1, int(after_error) + 1)]
    if not later or wrong.empty:
        return pd.Series(False, readings.index)
    return pd.Series(pd.MultiIndex.from_frame(readings[WORD_KEY]).isin(pd.MultiIndex.from_frame(pd.concat(later))), readings.index)


def describe_after_error(after_error: int | str) -> str:
    """Return the rule about words after a wrong choice, as exclusions name it.

    >>> describe_after_error("sentence"), describe_after_error(1)
    ('an earlier first choice of the sentence was wrong', 'the first choice of the word before was wrong')
    """
    if after_error == 0:
        return "the sentence ended at an earlier wrong first choice"
    if after_error == REST_OF_SENTENCE:
        return "an earlier first choice of the sentence was wrong"
    before = "the word before" if after_error == 1 else f"one of the {after_error} words before"
    return f"the first choice of {before} was wrong"


def drop_errors(readings: pd.DataFrame, after_error: int | str, exclusion_log: ExclusionLog | None = None) -> pd.DataFrame:
    """Return the words whose reading times count: in Maze neither wrong first choices nor those that follow them.

    The time of a word in Maze is that of its first choice. Where that was wrong, what is measured is the wrong choice, and with
    redo the pause and a second press beside it. What was read otherwise comes back as it is.
    """
    log = exclusion_log or ExclusionLog()
    if readings["correct"].isna().all():
        return readings
    wrong, after = is_wrong(readings), is_after_error(readings, after_error)
    [readings] = log.apply_rule(WRONG_RULE, readings=(readings, ~wrong))
    if after_error == 0:
        return readings
    return log.apply_rule(describe_after_error(after_error), readings=(readings, ~after.loc[readings.index]))[0]
