"""How far people agree with one another: intraclass correlations, noise ceilings, forced choices."""

import pandas as pd

from ...ledger import ALL
from ...measuring.reliability import POOR
from ...prompts import prompts_of, rows_of_prompt
from ...row_dicts import records
from .labels import asked, label
from .numbers import correlation, percent, signed

ACCEPTED = "the majority agrees on at least four of five pairs"  # of a paradigm
CEILING = "what a perfect model would correlate with these people's mean ratings"


def agreement(reliability: pd.DataFrame, ceilings: pd.DataFrame, choices: pd.DataFrame) -> list[str]:
    """Return how far people agree, prompt by prompt: ICC by paradigm and version, ceilings, and forced choices."""
    sentences = []
    for prompt in prompts_of(reliability):
        sentences += _intraclass(rows_of_prompt(reliability, prompt), prompt)
    for prompt in prompts_of(ceilings):
        known = rows_of_prompt(ceilings, prompt).dropna(subset="ceiling")
        reached = [f"{correlation(row['ceiling'])} over {row['level']}" for row in records(known)]
        if reached:
            sentences.append(
                f"A perfect model would correlate with these ratings{asked(prompt)} by {', '.join(reached)}."
            )
    for prompt in prompts_of(choices):
        sentences += _majorities(rows_of_prompt(choices, prompt), prompt)
    return sentences


def _intraclass(reliability: pd.DataFrame, prompt: str | None) -> list[str]:
    whole = reliability[(reliability["condition"] == ALL)].dropna(subset="icc")
    if whole.empty:
        return []
    poor = whole[whole["icc"] < POOR]
    text = (
        f"ICC(2,k){asked(prompt)} over all sentences of a paradigm in a version: median {whole['icc'].median():.2f}, from "
        f"{signed(whole['icc'].min(), 2)} to {whole['icc'].max():.2f}"
    )
    within = reliability[reliability["condition"] != ALL].dropna(subset="icc")
    if len(within):
        text += f"; within a condition the median is {signed(within['icc'].median(), 2)}"
    names = ", ".join(
        f"{label(row['paradigm'])} ({row['experiment']}-{row['version']})" for row in records(poor.head(8))
    )
    more = f" and {len(poor) - 8} more" if len(poor) > 8 else ""
    below = f" It is below {POOR:g} in {len(poor)} of {len(whole)}: {names}{more}." if len(poor) else ""
    return [f"{text}.{below}"]


def _majorities(choices: pd.DataFrame, prompt: str | None) -> list[str]:
    paradigms = choices[choices["paradigm"] != ALL]
    over = choices[choices["paradigm"] == ALL] if len(choices) > 1 else choices
    return [
        f"In forced choice{asked(prompt)}, {percent(row['individual'])} of {row['choices']} single choices are of the "
        f"grammatical member, and the majority chose it in {percent(row['majority'])} of {row['pairs']} pairs; {ACCEPTED} in "
        f"{int(paradigms['kept'].sum())} of {len(paradigms)} paradigms."
        for row in records(over)
    ]
