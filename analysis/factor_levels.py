"""The levels of a study's factors, condition by condition."""

import pandas as pd


def tabulate_levels(conditions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return for each paradigm the level of every factor by condition, in the order in which they are stated.

    >>> rows = [("p", "b", "npi", "ever"), ("p", "a", "npi", "any")]
    >>> tabulate_levels(pd.DataFrame(rows, columns=["paradigm", "condition", "factor", "level"]))["p"]["npi"].to_dict()
    {'b': 'ever', 'a': 'any'}
    """
    # A pivot of each paradigm would take a tenth of an analysis of a hundred paradigms.
    cells: dict[str, dict[str, dict[str, str]]] = {}
    for paradigm, condition, factor, level in conditions[["paradigm", "condition", "factor", "level"]].itertuples(index=False):
        cells.setdefault(str(paradigm), {}).setdefault(condition, {}).setdefault(factor, level)
    return {
        paradigm: pd.DataFrame.from_dict(cells[paradigm], orient="index").rename_axis("condition").rename_axis("factor", axis=1)
        for paradigm in sorted(cells)
    }
