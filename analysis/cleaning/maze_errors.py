"""What Maze asks of the analysis: people who choose at random, and words after a wrong choice."""

import pandas as pd

WORD_KEY = ["session", "trial", "condition", "word"]


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


def is_before_error(readings: pd.DataFrame, words_after: int) -> "pd.Series[bool]":
    """Return which words are neither a wrong first choice nor one of the `words_after` words that follow it in its sentence."""
    wrong = readings.loc[readings["correct"].eq(False).fillna(False).astype(bool), WORD_KEY]
    spoilt = pd.concat([wrong.assign(word=wrong["word"] + n) for n in range(words_after + 1)])
    return ~pd.Series(pd.MultiIndex.from_frame(readings[WORD_KEY]).isin(pd.MultiIndex.from_frame(spoilt)), readings.index)
