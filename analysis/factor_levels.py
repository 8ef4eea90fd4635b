"""The levels of a study's factors, condition by condition."""

import pandas as pd


def tabulate_levels(conditions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return for each paradigm the level of every factor by condition, in the order in which they are stated.

    >>> rows = [("p", "b", "npi", "ever"), ("p", "a", "npi", "any")]
    >>> tabulate_levels(pd.DataFrame(rows, columns=["paradigm", "condition", "factor", "level"]))["p"]["npi"].to_dict()
    {'b': 'ever', 'a': 'any'}
    """
    stated = {}
    for paradigm, rows in conditions.groupby("paradigm", sort=True):
        order = [*rows["condition"].unique()]
        by = rows.pivot_table(index="condition", columns="factor", values="level", aggfunc="first", sort=False)
        stated[str(paradigm)] = by.loc[order]
    return stated
