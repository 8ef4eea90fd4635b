"""What Maze asks of the analysis: people who choose at random, and words after a wrong choice."""

import pandas as pd

WORD = ["session", "trial", "condition", "word"]


def first_choices(readings: pd.DataFrame) -> "pd.Series[float]":
    """Return each participant's share of right first choices, practice and the first words of sentences left aside.

    Empty where nothing was chosen: of other presentations the table does not say what was right.
    """
    choices = readings[readings["correct"].notna() & (readings["role"] != "practice") & (readings["word"] > 0)]
    return choices["correct"].astype("float64").groupby(choices["participant"]).mean()


def chose_well(readings: pd.DataFrame, people: pd.Series, least: float) -> dict[str, "pd.Series[bool]"]:
    """Return the rule about right first choices, with those who keep it; who chose nothing keeps it."""
    shares = first_choices(readings)
    if not least or shares.empty:
        return {}
    return {f"less than {100 * least:g}% of first choices right": ~(people.map(shares).astype("float64") < least)}


def before_errors(readings: pd.DataFrame, after: int) -> "pd.Series[bool]":
    """Return which words are neither a wrong first choice nor one of the `after` words that follow it in its sentence."""
    wrong = readings.loc[readings["correct"].eq(False).fillna(False).astype(bool), WORD]
    spoilt = pd.concat([wrong.assign(word=wrong["word"] + n) for n in range(after + 1)])
    return ~pd.Series(pd.MultiIndex.from_frame(readings[WORD]).isin(pd.MultiIndex.from_frame(spoilt)), readings.index)
