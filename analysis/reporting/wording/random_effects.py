"""How much participants and items differ in an effect, and what a variance that was estimated as zero means for it."""

import math
from collections.abc import Sequence

import pandas as pd

from gardenpath.study.responses import RESPONSES

from ...row_dicts import list_rows
from .coefficients import ABSENT, Coefficients, once
from .factors import describe_model, with_names
from .labels import label, listed
from .numbers import Row, correlation, decimals, percent
from .sources import Sentence, read_off
from .terms import term as name_term
from .terms import terms

ESTIMATED, ZERO, NOT_NEEDED = "estimated", "zero", "not needed"  # in the column status
PERFECT = 0.999  # a correlation from which a fit is singular by it
CAPTION = (
    "Random effects of the models reported first: standard deviations in the unit of the response (slopes: of an effect), and "
    "correlations with the terms above. zero: estimated as zero; a dash: left out, or none."
)


def describe_random_effects(results: pd.DataFrame, random_effects: pd.DataFrame) -> list[Sentence]:
    """Return for each effect of a headline with slopes how much participants and items differ in it, and what was zero.

    `results` are effects as `join_results` returns them. Variances that could not be estimated are another sentence's.
    """
    first = with_names(results[results["headline"] & (results["kind"] == "coefficient") & results["estimate"].notna()])
    sentences: list[Sentence] = []
    spreads = _group_rows(random_effects)
    for model_id, rows in _group_rows(first).items():
        spread = spreads.get(model_id, [])
        tested = [(row, name) for row, name in zip(rows, terms(rows), strict=True) if not pd.isna(row["contrast"])]
        for row, name in tested:
            of_effect = [one for one in spread if _is_of(one, row["term"]) and pd.isna(one["correlated_with"])]
            sentences += [*describe_spread(row, name, of_effect), *describe_zero(row, name, of_effect)]
        if tested and bool(tested[0][0]["singular"]):
            sentences += describe_singular(tested[0][0], spread)
    return sentences


def _group_rows(table: pd.DataFrame) -> dict[object, list[Row]]:
    """Return the rows of a table by model, in the table's order."""
    groups: dict[object, list[Row]] = {}
    for row in list_rows(table):
        groups.setdefault(row["model_id"], []).append(row)
    return groups


def _is_of(row: Row, term: str) -> bool:
    return not pd.isna(row["term"]) and {*str(row["term"]).split(":")} == {*term.split(":")}


def describe_spread(effect: Row, name: str, rows: Sequence[Row]) -> list[Sentence]:
    """Return how much participants, or items, differ in an effect, whose s.d. are rows of random_effects; nothing without slopes.

    The share with the other sign stands there where the interval of the effect leaves out zero.

    >>> effect = {"response": "log_rt", "region": "critical", "named": None, "whose": "", "ci_low": 0.05, "ci_high": 0.15}
    >>> rows = [{"grouping": "participant", "status": "estimated", "sd": 0.05, "opposite": 0.025}]
    >>> describe_spread(effect, "extraction", rows)[0].partition(": ")[2]
    "participants' own effects of extraction vary with an s.d. of 0.050 (5.1%), so that 2.5% of participants are expected to have \
one of the other sign."
    """
    parts, values = [], []
    known = [row for row in rows if row["status"] == ESTIMATED]
    for row in known:
        size = f"{row['sd']:.{decimals(row['sd'])}f}"
        if RESPONSES[effect["response"]].transformation == "log" and not RESPONSES[effect["response"]].is_standardised:
            size += f" ({percent(math.expm1(row['sd']))})"
            values = ["expm1(sd)"]
        who = f"{row['grouping']}s"
        text = f"{who}' own effects of {name} vary with an s.d. of {size}"
        if not pd.isna(row["opposite"]) and effect["ci_low"] * effect["ci_high"] > 0:  # else its own sign is not known
            text += f", so that {percent(row['opposite'])} of {who} are expected to have one of the other sign"
        parts.append(text)
    return [read_off(f"{describe_model(effect)}: {'; '.join(parts)}.", "random_effects", known, *values)] if parts else []


def describe_zero(effect: Row, name: str, rows: Sequence[Row]) -> list[Sentence]:
    """Return by whom an effect's slopes have no variance, and what follows for its p; nothing where all have some.

    >>> effect = {"response": "z", "region": "sentence", "named": None, "whose": ""}
    >>> rows = [{"grouping": "item", "status": "zero", "sd": None}]
    >>> describe_zero(effect, "extraction", rows)[0].partition(": ")[2][:85]
    'the variance of the slopes of extraction by items was estimated as zero and left out:'
    """
    zero = [row for row in rows if row["status"] == ZERO]
    sentences = []
    if zero:
        groups = listed(f"{row['grouping']}s" for row in zero)
        out = " and left out" if all(pd.isna(row["sd"]) for row in zero) else ""
        plural = "variances" if len(zero) > 1 else "variance"
        verb = "were" if len(zero) > 1 else "was"
        text = f"{describe_model(effect)}: the {plural} of the slopes of {name} by {groups} {verb} estimated as zero{out}: "
        text += "they differ no more in it than noise would make them, and p takes the effect to be the same in all of them"
        sentences.append(read_off(f"{text}.", "random_effects", zero))
    if unneeded := [row for row in rows if row["status"] == NOT_NEEDED]:
        groups = listed(f"{row['grouping']}s" for row in unneeded)
        text = f"{describe_model(effect)}: a likelihood-ratio test left out the slopes of {name} by {groups}, so that its p takes "
        sentences.append(read_off(f"{text}the effect to be the same in all of them.", "random_effects", unneeded))
    return sentences


def describe_singular(effect: Row, rows: Sequence[Row]) -> list[Sentence]:
    """Return what makes the fit of a model singular, and that effects whose slopes are in it keep their p.

    >>> effect = {"response": "z", "region": "sentence", "named": None, "whose": ""}
    >>> rows = [{"grouping": "participant", "term": "intercept", "correlated_with": None, "sd": 0.0}]
    >>> describe_singular(effect, [rows[0] | {"status": "zero", "correlation": None}])[0].partition("zero (")[2][:62]
    'intercept by participants): p of an effect whose slopes have a'
    """
    zero = [row for row in rows if row["status"] == ZERO and not pd.isna(row["sd"])]
    bound = [row for row in rows if not pd.isna(row["correlation"]) and abs(row["correlation"]) > PERFECT]
    if not zero and not bound:
        return []
    if zero:
        what = f"the fit is singular by a variance of zero ({listed(_name(row) for row in zero)})"
        used = zero
    else:
        groups = listed(f"{name}s" for name in dict.fromkeys(str(row["grouping"]) for row in bound))
        what, used = f"the fit is singular by perfect correlations of random effects (by {groups})", bound
    text = f"{describe_model(effect)}: {what}: p of an effect whose slopes have a variance in the model rests on it all the same"
    return [read_off(f"{text}.", "random_effects", used)]


def _name(row: Row) -> str:
    return f"{label(row['term'])} by {row['grouping']}s"


def tabulate_random_effects(results: pd.DataFrame, random_effects: pd.DataFrame) -> Coefficients:
    """Return the s.d. and correlations of random effects of the headlines that have slopes, model by model; no rows without."""
    first = with_names(results[results["headline"] & (results["kind"] == "coefficient") & results["estimate"].notna()])
    columns = ("random effects of", "term", "s.d.", "correlation")
    rows: list[tuple[str, ...]] = []
    spreads = _group_rows(random_effects)
    for model_id, effects in _group_rows(first).items():
        spread = spreads.get(model_id, [])
        if not any(
            not pd.isna(row["correlated_with"]) or row["term"] not in ("intercept", None)
            for row in spread
            if not pd.isna(row["term"])
        ):
            continue
        names = {frozenset(str(row["term"]).split(":")): name_term(row) for row in effects}
        rows.append((describe_model(effects[0]), *[""] * (len(columns) - 1)))
        rows += once([_tell(row, spread, names) for row in spread if pd.isna(row["correlated_with"])])
    return Coefficients(columns, tuple(rows), 2)


def _tell(row: Row, spread: Sequence[Row], names: dict[frozenset[str], str]) -> tuple[str, ...]:
    """Return the cells of a standard deviation, with its correlations with the terms that stand above it."""
    if pd.isna(row["term"]):
        return ("residual", "", f"{row['sd']:.{decimals(row['sd'])}f}", ABSENT)

    def call(term: object) -> str:
        return names.get(frozenset(str(term).split(":")), label(str(term)))

    size = ABSENT if pd.isna(row["sd"]) else f"{row['sd']:.{decimals(row['sd'])}f}"
    size = f"{row['status']}" if row["status"] == ZERO else size
    pairs = [one for one in spread if one["grouping"] == row["grouping"] and one["correlated_with"] == row["term"]]
    told = [f"{call(one['term'])} {correlation(one['correlation'])}" for one in pairs if not pd.isna(one["correlation"])]
    return (f"{row['grouping']}s", call(row["term"]), size, ", ".join(told) or ABSENT)
