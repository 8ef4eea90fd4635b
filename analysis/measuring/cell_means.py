"""Means of a factorial design's cells with intervals for differences within participants."""

import itertools
from collections.abc import Mapping, Sequence

import pandas as pd

CELL_SEPARATOR = " x "  # between the factors, or the levels, of a cell


def compute_cell_means(rows: pd.DataFrame, response: str, factors: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the mean of `response` in each cell of `factors`, in their order, with its Cousineau-Morey 95 % interval.

    Participants' means come first, then theirs. For the interval each participant's mean over the cells is set to the grand
    mean, which leaves what differs within participants, and the variance of each of the J cells is multiplied by J / (J - 1)
    (Morey 2008, doi 10.20982/tqmp.04.2.p061); t has as many degrees of freedom as there are participants, less one. A
    participant without a trial in one of the cells is left out and counted. Where nobody is left, means are empty. Of factors
    between participants each group is taken by itself: its cells are those that its participants can have.

    `rows` has a trial a row, with the columns participant and `response` and one for each factor.

    >>> values = [("P1", "a", 1.0), ("P1", "b", 2.0), ("P2", "a", 3.0), ("P2", "b", 6.0), ("P3", "a", 5.0)]
    >>> means = compute_cell_means(pd.DataFrame(values, columns=["participant", "noun", "z"]), "z", {"noun": ["b", "a"]})
    >>> means[["levels", "n_participants", "n_excluded_participants", "mean_value"]].to_numpy().tolist()
    [['b', 2, 1, 4.0], ['a', 2, 1, 2.0]]
    """
    kept = rows.dropna(subset=response)
    levels = kept.assign(**{name: kept[name].astype("string") for name in factors})
    by_person = levels.groupby("participant")[list(factors)].nunique()
    between = [name for name in factors if len(by_person) and by_person[name].eq(1).all() and len({*levels[name]}) > 1]
    if not between:
        return _compute_group_means(kept, response, factors)
    parts = []
    for combined in itertools.product(*(factors[name] for name in between)):
        group = dict(zip(between, combined, strict=True))
        inside = pd.Series(True, index=levels.index)
        for name, level in group.items():
            inside &= levels[name] == level
        if inside.any():
            of_group = {name: [group[name]] if name in group else order for name, order in factors.items()}
            parts.append(_compute_group_means(kept[inside], response, of_group))
    order = {CELL_SEPARATOR.join(cell): number for number, cell in enumerate(itertools.product(*factors.values()))}
    return pd.concat(parts).sort_values("levels", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def _compute_group_means(kept: pd.DataFrame, response: str, factors: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the means of the cells that every participant has."""
    import numpy as np
    from scipy import special

    cell = kept[list(factors)].astype("string").agg(CELL_SEPARATOR.join, axis=1)
    participant_means = kept.assign(cell=cell).pivot_table(index="participant", columns="cell", values=response)
    # Of an incomplete design, the cells that there are.
    cells = [name for name in map(CELL_SEPARATOR.join, itertools.product(*factors.values())) if name in participant_means]
    whole = participant_means[cells].dropna()
    values = whole.to_numpy(dtype="float64")
    participant_count, number = values.shape
    means, half = np.full((2, number), np.nan)
    if participant_count:
        means = values.mean(axis=0)
    if participant_count > 1 and number > 1:
        within = values - values.mean(axis=1, keepdims=True) + values.mean()
        variances = within.var(axis=0, ddof=1) * number / (number - 1)
        half = special.stdtrit(participant_count - 1, 0.975) * np.sqrt(variances / participant_count)
    counts = cell[kept["participant"].isin(whole.index)].value_counts()
    return pd.DataFrame(
        {
            "factors": CELL_SEPARATOR.join(factors),
            "levels": cells,
            "n_participants": participant_count,
            "n_excluded_participants": len(participant_means) - participant_count,
            "n_trials": counts.reindex(cells, fill_value=0).to_numpy(dtype="int64"),
            "mean_value": means,
            "ci_low": means - half,
            "ci_high": means + half,
        }
    )
