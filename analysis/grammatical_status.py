"""The two conditions of a minimal pair, and which paradigms have them and no others."""

import pandas as pd

from gardenpath.study import TABLES, check

# Sum coding: the coefficient is grammatical minus ungrammatical, the intercept their mean.
CODES = {"grammatical": 0.5, "ungrammatical": -0.5}


def conditions_in_order(conditions: "pd.Series[str]") -> list[str]:
    """Return the conditions that there are: grammatical and ungrammatical first, the others by name.

    >>> conditions_in_order(pd.Series(["b", "ungrammatical", "a", "grammatical"]))
    ['grammatical', 'ungrammatical', 'a', 'b']
    """
    known = set(conditions)
    return [*(name for name in CODES if name in known), *sorted(known - set(CODES))]


def minimal_pairs(items: pd.DataFrame) -> list[str]:
    """Return the paradigms whose conditions are `grammatical` and `ungrammatical`, and no others."""
    # Not .agg(set): with text stored by pyarrow, that gives text again, not sets.
    return [str(paradigm) for paradigm, rows in items.groupby("paradigm") if set(rows["condition"]) == set(CODES)]


def pair_conditions(items: pd.DataFrame) -> pd.DataFrame:
    """Return the table conditions as far as it follows from the items: that of minimal pairs.

    >>> items = pd.DataFrame({"paradigm": ["p", "p"], "condition": ["grammatical", "ungrammatical"]})
    >>> pair_conditions(items)[["condition", "factor"]].to_numpy().tolist()
    [['grammatical', 'grammaticality'], ['ungrammatical', 'grammaticality']]
    """
    rows = [(paradigm, status, "grammaticality", status) for paradigm in minimal_pairs(items) for status in CODES]
    return check(pd.DataFrame(rows, columns=TABLES["conditions"].names), "conditions")
