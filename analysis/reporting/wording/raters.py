"""How far people agree with one another: intraclass correlations, noise ceilings, forced choices."""

import pandas as pd

from ...exclusion_log import ALL_CONDITIONS
from ...measuring.reliability import POOR_ICC
from ...prompts import filter_prompt, list_prompts
from ...row_dicts import list_rows
from .labels import asked, label, listed
from .numbers import Row, correlation, counted, percent
from .sources import Sentence, read_off

ACCEPTED = "a strict majority agrees on at least four of five pairs"  # of a paradigm
SHOWN = 8  # lists of poor agreement that are named
CEILING = "what a perfect model would correlate with these people's mean ratings"


def agreement(reliability: pd.DataFrame, ceilings: pd.DataFrame, choices: pd.DataFrame) -> list[str]:
    """Return how far people agree, prompt by prompt: ICC by paradigm and list, ceilings, and forced choices."""
    sentences = []
    for prompt in list_prompts(reliability):
        sentences += _intraclass(filter_prompt(reliability, prompt), prompt)
    for prompt in list_prompts(ceilings):
        known = filter_prompt(ceilings, prompt).dropna(subset="ceiling")
        reached = [f"{correlation(row['ceiling'])} over {row['level']}" for row in list_rows(known)]
        if reached:
            text = (
                f"A perfect model would correlate with people's mean ratings{asked(prompt)} by {listed(reached)} (noise ceilings)."
            )
            sentences.append(read_off(text, "noise_ceilings", known))
    for prompt in list_prompts(choices):
        sentences += _majorities(filter_prompt(choices, prompt), prompt)
    return sentences


def _intraclass(reliability: pd.DataFrame, prompt: str | None) -> list[str]:
    whole = reliability[(reliability["condition"] == ALL_CONDITIONS)].dropna(subset="icc")
    if whole.empty:
        return []
    poor = whole[whole["icc"] < POOR_ICC]
    text = (
        f"Intraclass correlations of ratings{asked(prompt)}, ICC(2,k), over all sentences of a paradigm in a list had a median "
        f"of {correlation(whole['icc'].median())} (from {correlation(whole['icc'].min())} to {correlation(whole['icc'].max())})"
    )
    within = reliability[reliability["condition"] != ALL_CONDITIONS].dropna(subset="icc")
    if len(within):
        text += f"; within a condition the median was {correlation(within['icc'].median())}"
    names = ", ".join(f"{label(row['paradigm'])} ({row['experiment']}-{row['list']})" for row in list_rows(poor.head(SHOWN)))
    among = "among them " if len(poor) > SHOWN else ""
    below = f" It was below {POOR_ICC:g} in {len(poor)} of {len(whole)}: {among}{names}." if len(poor) else ""
    sentence = read_off(
        f"{text}.{below}", "reliability", whole, "median icc", "min icc", "max icc", "count", f"count icc < {POOR_ICC:g}"
    )
    return [read_off(sentence, "reliability", within, "median icc")]


def _majorities(choices: pd.DataFrame, prompt: str | None) -> list[str]:
    paradigms = choices[choices["paradigm"] != ALL_CONDITIONS]
    over = choices[choices["paradigm"] == ALL_CONDITIONS] if len(choices) > 1 else choices
    met = int(paradigms["meets_majority_rule"].sum())
    accepted = f"{ACCEPTED} in {met} of {counted(len(paradigms), 'paradigm')}"
    return [
        read_off(_majority(row, prompt, accepted), "choice_agreement", paradigms, "count meets_majority_rule", "count")
        for row in list_rows(over)
    ]


def _majority(row: Row, prompt: str | None, accepted: str) -> Sentence:
    text = (
        f"In forced choice{asked(prompt)}, {percent(row['individual'])} of {counted(row['n_choices'], 'single choice')} were of "
        f"the grammatical member, and a strict majority chose it in {percent(row['majority_strict'])} of "
        f"{counted(row['n_pairs'], 'pair')}{_with_ties(row)}; {accepted}."
    )
    return read_off(text, "choice_agreement", row)


def _with_ties(row: Row) -> str:
    return f" ({percent(row['majority'])} with {counted(row['n_ties'], 'tie')} as half)" if row["n_ties"] else ""
