"""How far the items of small lists have the judgments that they were planned to have, in a sentence."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

NAMED = 5  # items that are short


def covered(coverage: "pd.DataFrame") -> str:
    """Return how many judgments of the table `coverage` are there, and which items are short of what was planned.

    >>> import pandas as pd
    >>> covered(pd.DataFrame({"experiment": ["E1"], "item": ["i1"], "planned": [20], "judgments": [19]}))
    '19 of 20 planned judgments are there, of 1 item; short of what was planned: i1'
    """
    items = coverage.groupby(["experiment", "item"])[["planned", "judgments"]].sum()
    short = [str(item) for _, item in items.index[items["judgments"] < items["planned"]]]
    there = int(items.min(axis=1).sum())
    more = int(items["judgments"].sum()) - there
    told = f"{there} of {int(items['planned'].sum())} planned judgments are there{f', and {more} more' if more else ''}"
    named = ", ".join(short[:NAMED]) + (f" and {len(short) - NAMED} others" if len(short) > NAMED else "")
    of = f"of {len(items)} item{'s' * (len(items) != 1)}"
    return f"{told}, {of}; {f'short of what was planned: {named}' if short else 'none is short'}"
