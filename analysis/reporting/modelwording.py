"""Sentences about models beside people and beside each other, all from the declared tables."""

from typing import Any

import pandas as pd

from ..rows import records
from .wording import p_value

VERDICTS = {
    "passed": "passed the alignment self-test",
    "warned": "passed the alignment self-test with a warning",
    "failed": "FAILED the alignment self-test",
    "untested": "could not be put to the alignment self-test",
}


def named(row: dict[str, Any], end: str = "") -> str:
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


def gains(table: pd.DataFrame) -> list[str]:
    """Return, for each language model, what its surprisal adds to held-out readings, and what that p could be at least."""
    return [
        f"{named(row)}: surprisal changes the log likelihood of {row['n']} held-out readings by {row['total']:+.1f} nats, "
        f"{row['delta']:+.5f} a reading{_tested(row, 'one-sided')}"
        for row in records(table[table["delta"].notna()])
    ]


def rivals(table: pd.DataFrame) -> list[str]:
    """Return, for every two language models, how much better one predicts held-out readings than the other."""
    return [
        f"{named(row, '_a')} against {named(row, '_b')}: {row['total']:+.1f} nats, {row['delta']:+.5f} a reading"
        f"{_tested(row, 'two-sided', 'p_holm')}"
        for row in records(table[table["delta"].notna()])
    ]


def _tested(row: dict[str, Any], sides: str, name: str = "p") -> str:
    held = f"{row['clusters']} clusters by {row['folds_by']}" if "folds_by" in row else f"{row['clusters']} clusters"
    if pd.isna(row["p"]):
        return f" ({held}: too few for a p or an interval)."
    return (
        f" (95% CI [{row['ci_low']:.5f}, {row['ci_high']:.5f}]; {sides} sign flips over {held}, "
        f"{'p_Holm' if name == 'p_holm' else 'p'} {p_value(row[name])}, smallest possible {row['smallest_p']:.2g})."
    )


def duels(table: pd.DataFrame) -> list[str]:
    """Return, for every two models, who wins more pairs, with paradigms as fixed and then as drawn."""
    sentences = []
    for row in records(table):
        who = f"{named(row, '_a')} against {named(row, '_b')}, {row['measure']}"
        if not row["n"]:
            sentences.append(f"{who}: {row['note']}")
            continue
        fixed = (
            f"{100 * row['accuracy_a']:.1f}% and {100 * row['accuracy_b']:.1f}% of {row['n']} pairs ({row['ties']} tied); only "
            f"the first wins {row['a_only']}, only the second {row['b_only']} (McNemar, these paradigms only: p_Holm "
            f"{p_value(row['mcnemar_holm'])})"
        )
        if pd.isna(row["flip_p"]):
            sentences.append(f"{who}: {fixed}. {row['note']}")
        else:
            ends = f"95% CI [{100 * row['paradigm_low']:.1f}, {100 * row['paradigm_high']:.1f}]"
            sentences.append(
                f"{who}: {fixed}. Over {row['paradigms']} paradigms as drawn from more: {100 * row['paradigm_difference']:+.1f} "
                f"points, {ends}, p_Holm {p_value(row['flip_holm'])}, smallest possible {row['smallest_p']:.2g}."
            )
    return sentences


def likenesses(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, Pearson's correlation with ratings of all sentences and within pairs."""
    sentences = []
    for (model, protocol, measure), rows in table[table["method"] == "pearson"].groupby(
        ["model", "protocol", "measure"], sort=False
    ):
        found = {row["level"]: row for row in records(rows)}
        told = [
            f"{level} r = {found[level]['r']:.2f}{_held(found[level])}"
            for level in ("sentences", "grammatical", "ungrammatical", "pairs", "phenomena")
            if level in found and not pd.isna(found[level]["r"])
        ]
        if told:
            sentences.append(f"{model} ({protocol}), {measure} and mean ratings: {'; '.join(told)}.")
    return sentences


def _held(row: dict[str, Any]) -> str:
    said = "" if pd.isna(row["low"]) else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return said + ("" if pd.isna(row["ceiling"]) else f", ceiling {row['ceiling']:.2f}")
