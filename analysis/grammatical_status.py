"""The two conditions of a minimal pair, and which paradigms have them and no others."""

import pandas as pd

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
