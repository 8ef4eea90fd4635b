"""How far the items of short lists have the judgments that they were planned to have, in a sentence."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMED_ITEMS = 5  # items that are short


def describe_judgment_counts(judgment_counts: "pd.DataFrame") -> str:
    """Return how many judgments of the table `judgment_counts` are there, and which items are short of what was planned.

    >>> import pandas as pd
    >>> describe_judgment_counts(pd.DataFrame({"experiment": ["E1"], "item": ["i1"], "n_planned": [20], "n_judgments": [19]}))
    '19 of 20 planned judgments are there, of 1 item; short of what was planned: i1'
    """
    items = judgment_counts.groupby(["experiment", "item"])[["n_planned", "n_judgments"]].sum()
    short = [str(item) for _, item in items.index[items["n_judgments"] < items["n_planned"]]]
    there = int(items.min(axis=1).sum())
    more = int(items["n_judgments"].sum()) - there
    summary = f"{there} of {int(items['n_planned'].sum())} planned judgments are there{f', and {more} more' if more else ''}"
    short_items = ", ".join(short[:MAX_NAMED_ITEMS]) + (
        f" and {len(short) - MAX_NAMED_ITEMS} others" if len(short) > MAX_NAMED_ITEMS else ""
    )
    item_count = f"of {len(items)} item{'s' * (len(items) != 1)}"
    return f"{summary}, {item_count}; {f'short of what was planned: {short_items}' if short else 'none is short'}"
