"""Sentences about models beside people and beside each other, all from the declared tables."""

import pandas as pd

from .wording import records

VERDICTS = {
    "passed": "passed the alignment self-test",
    "warned": "passed the alignment self-test with a warning",
    "failed": "FAILED the alignment self-test",
    "untested": "could not be put to the alignment self-test",
}


def named(row: "dict[str, object]", end: str = "") -> str:
    """Return a language model with its protocol.

    >>> named({"model": "gpt2", "protocol": "causal"})
    'gpt2 (causal)'
    """
    return f"{row['model' + end]} ({row['protocol' + end]})"


def alignment(tested: pd.DataFrame, profile: pd.DataFrame) -> list[str]:
    """Return the verdict on each language model, and the lag at which the slope is largest."""
    sentences = []
    for row in records(tested):
        slopes = profile[(profile["model"] == row["model"]) & (profile["protocol"] == row["protocol"])].dropna(
            subset="estimate"
        )
        said = f"{named(row)} {VERDICTS[row['verdict']]}. {row['note']}"
        if len(slopes):
            largest = slopes.loc[slopes["estimate"].idxmax()]
            said += f" Of lags -2 to 3 in one model, the largest slope is at lag {largest['lag']}."
        sentences.append(said)
    return sentences


def costs(effects: pd.DataFrame) -> list[str]:
    """Return, for each language model, ms per bit of the word read."""
    return [
        f"{named(row)}: {row['ms_per_bit']:.2g} ms per bit at a reading time of {row['mean_rt']:.0f} ms "
        f"(95% CI [{row['ms_low']:.2g}, {row['ms_high']:.2g}])."
        for row in records(effects[(effects["lag"] == 0) & effects["estimate"].notna()])
    ]
