"""Columns that make tables of trials ready for a formula: the factors, log trial number, the participant's accuracy."""

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .schemas import TABLES

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")
# What stands for something else in a formula, or in R.
FORMULA_WORDS = {
    *("intercept", "position", "TRUE", "FALSE", "NULL", "NA", "NaN", "Inf"),
    *("if", "else", "for", "while", "repeat", "function", "next", "break", "in"),
}
RESULT_COLUMN_NAMES = frozenset(
    name
    for table in ("readings", "responses", "rating_scores", "region_times", "binary_responses")
    for name in TABLES[table].column_names
)


def find_name_fault(factor: str, kind: str = "factor") -> str | None:
    """Return why no factor, or measure of participants, can have this name; None where one can.

    >>> find_name_fault("region")
    "factor 'region' has the name of a column of the tables of results; give it another one"
    >>> find_name_fault("noun phrase")
    "factor 'noun phrase' cannot be named in a formula; expected a letter, then letters, digits, '_' and '.', such as noun_phrase"
    """
    if factor in RESULT_COLUMN_NAMES:
        return f"{kind} {factor!r} has the name of a column of the tables of results; give it another one"
    if factor in FORMULA_WORDS:
        return f"{kind} {factor!r} means something else in a formula; give it another name"
    if not re.fullmatch(r"[^\W\d_][\w.]*", factor):
        usable = re.sub(r"^[\W\d_]+", "", re.sub(r"[^\w.]+", "_", factor)) or "kind"
        expected = f"expected a letter, then letters, digits, '_' and '.', such as {usable}"
        return f"{kind} {factor!r} cannot be named in a formula; {expected}"
    return None


def add_formula_columns(
    frame: "pd.DataFrame",
    responses: "pd.DataFrame | None" = None,
    conditions: "pd.DataFrame | None" = None,
    *,
    accuracy: "pd.Series | None" = None,
) -> "pd.DataFrame":
    """Return trials with log_trial, question_accuracy and a column for each factor, as tables of results have them.

    question_accuracy is that of each participant in `responses`, or as `accuracy` says; the factors' levels are those of the table
    `conditions`, of a pair where both sentences have the same. A factor that cannot be a column is left out and named on the log.

    >>> import pandas as pd
    >>> trials = pd.DataFrame({"participant": ["P1"], "trial": [0], "paradigm": ["key"], "condition": ["sg.pl"]})
    >>> levels = [("key", "sg.pl", "head", "sg"), ("key", "sg.pl", "attractor", "pl")]
    >>> conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    >>> add_formula_columns(trials, conditions=conditions).loc[0, ["head", "attractor"]].to_list()
    ['sg', 'pl']
    """
    import numpy as np

    if accuracy is None:
        accuracy = compute_question_accuracy([] if responses is None else [count_question_responses(responses)])
    computed = frame.assign(
        log_trial=np.log1p(frame["trial"].to_numpy(dtype="float64")),
        question_accuracy=frame["participant"].map(accuracy).astype("float64"),
    )
    return computed if conditions is None else _add_factor_columns(computed, conditions)


def count_question_responses(responses: "pd.DataFrame") -> "pd.DataFrame":
    """Return each participant's number (`size`) of comprehension questions answered, and how many of them right (`sum`)."""
    asked = responses[
        (responses["task"] == "question")
        & (responses["role"] != "practice")
        & responses["response"].notna()
        & responses["correct"].notna()
    ]
    return asked["correct"].astype("float64").groupby(asked["participant"]).agg(["sum", "size"])


def compute_question_accuracy(tallies: "Sequence[pd.DataFrame]") -> "pd.Series":
    """Return each participant's share of questions answered right, of tallies as `count_question_responses` returns them."""

    import pandas as pd

    if not tallies:
        return pd.Series(dtype="float64")
    tally = pd.concat(tallies)
    tally = tally.groupby(tally.index).sum()
    return tally["sum"] / tally["size"]


def select_usable_factors(conditions: "pd.DataFrame", *, log_faults: bool = True) -> "pd.DataFrame":
    """Return the levels of the factors that can be columns; with `log_faults` the others are named on the log."""
    # What a paradigm's one factor, condition, says stands in the column of that name.
    stated = conditions[(conditions["factor"] != "condition") | (conditions["level"] != conditions["condition"])]
    faults = {factor: find_name_fault(factor) for factor in map(str, stated["factor"].unique())}
    for fault in filter(None, faults.values()):
        if log_faults:
            log.warning("%s; its levels are in the table conditions alone", fault)
    return stated[stated["factor"].map(faults).isna()]


def _add_factor_columns(frame: "pd.DataFrame", conditions: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    stated = select_usable_factors(conditions)
    factors = [str(factor) for factor in stated["factor"].unique()]
    levels: dict[tuple[str, str], dict[str, str]] = {}
    for row in stated.itertuples():
        levels.setdefault((str(row.paradigm), str(row.condition)), {})[str(row.factor)] = str(row.level)
    cells = list(zip(frame["paradigm"], frame["condition"], strict=True))
    cell_levels = {cell: _find_condition_levels(*cell, levels) for cell in dict.fromkeys(cells)}
    return frame.assign(
        **{factor: pd.array([cell_levels[cell].get(factor) for cell in cells], dtype="string") for factor in factors}
    )


def _find_condition_levels(paradigm: str, condition: str, levels: dict[tuple[str, str], dict[str, str]]) -> dict[str, str]:
    """Return the levels of a condition; of the two of a pair, those that they share."""
    if (paradigm, condition) in levels:
        return levels[paradigm, condition]
    first, *others = (levels.get((paradigm, part), {}) for part in condition.split("+"))
    return {factor: level for factor, level in first.items() if all(other.get(factor) == level for other in others)}
