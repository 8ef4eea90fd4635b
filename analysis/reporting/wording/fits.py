"""Sentences about models beside the declared ones: chosen by a policy, ordinal, additive, contrasts, and power."""

import pandas as pd

from ...chosen import steps_named
from ...contrasts import TERM
from ...prompts import told
from ...rows import records
from .effects import ALPHA, Row, apa, asked, label, p_value, percent
from .surprisal import named

CHECKED = "Cross-checked with"
ENOUGH = 0.8


def chosen(models: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    """Return what the policy did, what of it was singular or cross-checked, and each effect under the chosen model."""
    tested = models[models["term"] == TERM]
    if tested.empty:
        return []
    fitted = tested.dropna(subset="estimate")
    fits = int(steps["model"].isin(steps_named(tested)).sum())
    several = len(told(tested)) > 1
    text = f"Random effects by the policy {tested['policy'].iloc[0]}: {len(fitted)} of {len(tested)} models were fitted"
    text += f" in {fits} steps" if fits else ""
    singular = int(fitted["singular"].sum())
    text += f"; {singular} remained singular" if singular else "; none is singular"
    checked = int(fitted["note"].str.contains(CHECKED).fillna(False).sum())
    text += f"; {checked} agree with the other engine to a thousandth of a standard error" if checked else ""
    return [f"{text}.", *(_effect(row, several) for row in records(tested))]


def _effect(row: Row, several: bool) -> str:
    where = asked(row["prompt"] if several else None) if row["region"] == "sentence" else f" ({row['region']})"
    name = f"{label(row['phenomenon'])}{where}"
    if pd.isna(row["estimate"]):
        return f"{name}: {row['note']}"
    random = row["formula"].partition(" + (")[2]
    return f"{name}: {apa(row)}, with ({random}."


def ordinal(models: pd.DataFrame) -> list[str]:
    """Return the effects of cumulative-link models, on their latent scale; of paradigms' own models the table tells."""
    sentences = []
    of_paradigms = models["paradigm"].notna() if "paradigm" in models else pd.Series(False, index=models.index)
    several = "prompt" in models and len(told(models)) > 1
    for row in records(models[~of_paradigms].dropna(subset="estimate")):
        where = asked(row["prompt"] if several else None)
        name = "" if pd.isna(row.get("phenomenon")) else f"{label(row['phenomenon'])}{where}: "
        said = "differ" if row["p"] < ALPHA else "are not shown to differ"
        sentences.append(
            f"{name}as ordered categories ({row['link']}), ratings {said} by {label(row['term'])} (b = {row['estimate']:.2f}, "
            f"95% CI [{row['ci_low']:.2f}, {row['ci_high']:.2f}], z = {row['z']:.2f}, p {p_value(row['p'])}).".replace(
                "-", "−"
            )
        )
    return sentences


def curves(terms: pd.DataFrame) -> list[str]:
    """Return each smooth term of additive models: how bent it is, and its test."""
    return [
        f"{_whose(row)}{row['term']}: {'about a straight line' if row['edf'] < 1.5 else 'bent'} (edf = {row['edf']:.1f}, "
        f"F = {row['statistic']:.2f}, p {p_value(row['p'])}; {row['n']} readings, "
        f"residuals of successive ones correlate by {row['autocorrelation']:.2f}).".replace("-", "−")
        for row in records(terms[terms["smooth"].astype(bool)])
    ]


def _whose(row: Row) -> str:
    """Return the language model of a row, if it has one."""
    return "" if pd.isna(row.get("model")) else f"{named(row)}, "


def contrasts(table: pd.DataFrame) -> list[str]:
    """Return each difference between levels of a factor."""
    return [
        f"{label(row['factor'])}, {label(row['contrast']).replace(' - ', ' − ')}"
        f"{'' if row['at'] == 'all' else ' at ' + str(row['at'])}: {apa(row)} (p adjusted: {row['adjustment']})."
        for row in records(table)
    ]


def planned(power: pd.DataFrame) -> list[str]:
    """Return, for each number of items, how many participants find the smallest effect in four of five studies."""
    sentences = []
    for (effect, items), rows in power.groupby(["effect", "items"], sort=True):
        reached = rows[rows["power"] >= ENOUGH]
        row = records(reached.nsmallest(1, "participants") if len(reached) else rows.nlargest(1, "participants"))[0]
        sentences.append(
            f"An effect of {effect:g} is found by {row['participants']} participants with {items} items in "
            f"{percent(row['power'])} of {row['runs']} simulated studies (95% Wilson interval {percent(row['power_low'])} to "
            f"{percent(row['power_high'])}){'' if len(reached) else '; more than these would be needed for 80%'}."
        )
    return sentences
