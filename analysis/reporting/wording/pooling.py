"""Effects of several experiments: what they come to together, how far they differ, and what that rests on."""

from collections.abc import Sequence

import pandas as pd

from ...fitting.pooled_effects import DIFFERENCE, DIFFERENCES, EXPERIMENT, JOINT, MINUS, POOLED
from ...intervals import ALPHA
from ...measuring.region_spans import SENTENCE_REGION
from ...row_dicts import list_rows
from .labels import asked, label, listed, region_name, response
from .numbers import Row, apa, decimals, interval, p_value, percent, signed
from .sources import read_off
from .terms import term

TABLE = "pooled_effects"
EFFECT = ("unit", "model", "response", "family", "region", "prompt", "term")
METHOD = (
    "Effects of the experiments were pooled by random-effects meta-analysis (REML; Viechtbauer, 2005) with intervals after Hartung "
    "and Knapp (2001; IntHout et al., 2014), whose standard error was not taken below that of the estimates' own errors (Röver et "
    "al., 2015), and an interval of the standard deviation between experiments (τ) by the Q profile (Viechtbauer, 2007)."
)
ASSUMED = (
    "The meta-analysis takes the experiments' estimates to be independent, also where they share items: it says nothing of other "
    "items than these. Participants of different experiments count as different people."
)
JOINED = (
    "Experiments were compared in one model of all trials, in which the effects interact with the experiment and items of one name "
    "are one item; it has no random slopes of these interactions, so that differences hold for these items."
)


def methods(pooled: pd.DataFrame) -> list[str]:
    """Return how effects were pooled and compared, and what is assumed; nothing where there are no such rows."""
    has_joint = ((pooled["kind"] == JOINT) & pooled["estimate"].notna()).any()
    sentences = [METHOD, ASSUMED, *([JOINED] if has_joint else [])] if (pooled["kind"] == POOLED).any() else []
    return [read_off(sentence, TABLE, pooled) for sentence in sentences]


def pooled_effects(pooled: pd.DataFrame) -> list[str]:
    """Return for each effect what it is over all experiments, how far it varies between them, and what differs."""
    groups = [rows for _, rows in pooled.groupby([*EFFECT], sort=False, dropna=False)]
    return [sentence for rows in groups for sentence in _describe(list_rows(rows))]


def _describe(rows: Sequence[Row]) -> list[str]:
    by_kind = {row["kind"]: row for row in rows}
    if POOLED not in by_kind:
        return [not_pooled(rows)]
    own = [row for row in rows if row["kind"] == EXPERIMENT]
    sentences = [pool(by_kind[POOLED]), *left_out(own)]
    return [*sentences, *directions(own), *compare([row for row in rows if row["kind"] in (DIFFERENCE, DIFFERENCES, JOINT)])]


def _head(row: Row) -> str:
    where = "" if row["region"] == SENTENCE_REGION else f", {region_name(row['region'])}"
    kind = " as ordered categories" if row["family"] == "cumulative" else ""
    prompt: str | None = None if pd.isna(row["prompt"]) else row["prompt"]
    name = label(row["model"])
    return f"{name[0].upper()}{name[1:]}, {response(row['response'])}{kind}{where}{asked(prompt)}: {term(row)}"


def pool(row: Row) -> str:
    """Return the pooled effect of a row, with how much experiments differ in it.

    >>> row = {"model": "npi", "response": "log_rt", "family": "gaussian", "region": "critical", "prompt": None, "term": "a"}
    >>> row |= {"contrast": "a: y minus x", "n_experiments": 2, "estimate": 0.05, "se": 0.01, "df": 1.0, "t": 5.0, "p": 0.126}
    >>> row |= {"ci_low": -0.077, "ci_high": 0.177, "tau": 0.0, "tau_low": 0.0, "tau_high": 0.3, "q": 0.5, "q_df": 1, "q_p": 0.48}
    >>> pool(row | {"i_squared": 0.0, "prediction_low": None, "prediction_high": None}).split("; ")[1]
    'between experiments τ = 0.000, 95% CI [0.000, 0.300], I² = 0.0%, Q(1) = 0.50, p = .480.'
    """
    places = decimals(row["se"])
    spread = f"τ = {row['tau']:.{places}f}, {interval(row['tau_low'], row['tau_high'], f'.{places}f')}"
    test = f"Q({row['q_df']:.0f}) = {row['q']:.2f}, p {p_value(row['q_p'])}"
    text = f"{_head(row)}, pooled over {row['n_experiments']} experiments, {apa(row)}; between experiments {spread}, "
    text += f"I² = {percent(row['i_squared'])}, {test}"
    if not pd.isna(row["prediction_low"]):
        ends = f"{signed(row['prediction_low'], places)}, {signed(row['prediction_high'], places)}"
        text += f"; the effect of a further experiment is expected in [{ends}] (95%)"
    return read_off(f"{text}.", TABLE, row)


def not_pooled(rows: Sequence[Row]) -> str:
    """Return why an effect is not pooled: fewer than two experiments have an estimate of it."""
    reasons = [f"{row['experiment']}: {row['note']}" for row in rows if not pd.isna(row["note"])]
    text = f"{_head(rows[0])} is not pooled, since fewer than two experiments have an estimate of it ({'; '.join(reasons)})."
    return read_off(text, TABLE, rows)


def left_out(rows: Sequence[Row]) -> list[str]:
    """Return a sentence on each experiment that the pooled effect lacks."""
    return [
        read_off(
            f"Experiment {row['experiment']} is not in it ({str(row['note']).removeprefix('left out: ').rstrip('.')}).", TABLE, row
        )
        for row in rows
        if not pd.isna(row["note"])
    ]


def directions(rows: Sequence[Row]) -> list[str]:
    """Return a sentence that names the experiments whose effects have opposite signs, where there are both."""
    used = [row for row in rows if not pd.isna(row["weight"])]
    sides = [[str(row["experiment"]) for row in used if (row["estimate"] > 0) == is_positive] for is_positive in (True, False)]
    if not all(sides):
        return []
    nouns = ["experiment" if len(names) == 1 else "experiments" for names in sides]
    text = f"The estimate is above zero in {nouns[0]} {listed(sides[0])} and below it in {nouns[1]} {listed(sides[1])}."
    return [read_off(text, TABLE, used)]


def compare(rows: Sequence[Row]) -> list[str]:
    """Return the differences between experiments in one model of all trials, or why there is none."""
    if lacking := [row for row in rows if row["kind"] == JOINT and pd.isna(row["estimate"])]:
        return [read_off(f"Experiments were not compared in one model ({lacking[0]['note']}).", TABLE, lacking)]
    differences = [row for row in rows if row["kind"] == DIFFERENCE]
    if not differences:
        return []
    total = [row for row in rows if row["kind"] == DIFFERENCES and not pd.isna(row["q_p"])]
    tested = [row["q_p"] for row in total] or [row["p"] for row in differences]
    seen = "differs between experiments" if min(tested) < ALPHA else "is not shown to differ between experiments"
    overall = [f"all together χ²({row['q_df']:.0f}) = {row['q']:.2f}, p {p_value(row['q_p'])}" for row in total]
    each = [f"{str(row['experiment']).replace(MINUS, ' − ')}, {apa(row)}" for row in differences]
    return [
        read_off(f"In one model of all trials the effect {seen}: {'; '.join([*overall, *each])}.", TABLE, [*total, *differences])
    ]
