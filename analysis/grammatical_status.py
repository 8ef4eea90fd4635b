"""The two conditions of a minimal pair, and which paradigms have them and no others."""

import pandas as pd

from gardenpath.study import TABLES, check

GRAMMATICALITY = "grammaticality"  # the factor of minimal pairs, and the column of its codes
# Sum coding: the coefficient is grammatical minus ungrammatical, the intercept their mean.
GRAMMATICALITY_CODES = {"grammatical": 0.5, "ungrammatical": -0.5}


def sort_conditions(conditions: "pd.Series[str]") -> list[str]:
    """Return the conditions that there are: grammatical and ungrammatical first, the others by name.

    >>> sort_conditions(pd.Series(["b", "ungrammatical", "a", "grammatical"]))
    ['grammatical', 'ungrammatical', 'a', 'b']
    """
    known = set(conditions)
    return [*(name for name in GRAMMATICALITY_CODES if name in known), *sorted(known - set(GRAMMATICALITY_CODES))]


def find_minimal_pair_paradigms(items: pd.DataFrame) -> list[str]:
    """Return the paradigms whose conditions are `grammatical` and `ungrammatical`, and no others."""
    # Not .agg(set): with text stored by pyarrow, that gives text again, not sets.
    return [str(paradigm) for paradigm, rows in items.groupby("paradigm") if set(rows["condition"]) == set(GRAMMATICALITY_CODES)]


def build_pair_conditions(items: pd.DataFrame) -> pd.DataFrame:
    """Return the table conditions as far as it follows from the items: that of minimal pairs.

    >>> items = pd.DataFrame({"paradigm": ["p", "p"], "condition": ["grammatical", "ungrammatical"]})
    >>> build_pair_conditions(items)[["condition", "factor"]].to_numpy().tolist()
    [['grammatical', 'grammaticality'], ['ungrammatical', 'grammaticality']]
    """
    rows = [
        (paradigm, status, "grammaticality", status)
        for paradigm in find_minimal_pair_paradigms(items)
        for status in GRAMMATICALITY_CODES
    ]
    return check(pd.DataFrame(rows, columns=TABLES["conditions"].column_names), "conditions")
