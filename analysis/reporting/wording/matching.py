"""Sentences about how items were chosen, and how alike groups of them are."""

from collections.abc import Sequence

import pandas as pd

NAMED = {"lists": "lists", "conditions": "conditions within a list", "fillers and targets": "fillers and targets"}


def matched(matching: pd.DataFrame, chosen: int, pool: int) -> list[str]:
    r"""Return the sentence for a paper: what was chosen, and how alike it is before and after.

    >>> names = "stage covariate group_a group_b should_match standardised_difference equivalence_bound".split()
    >>> rows = [("before", "cloze", "a", "b", True, 0.9, 1.6), ("after", "cloze", "a", "b", True, 0.01, 0.4)]
    >>> print(*matched(pd.DataFrame(rows, columns=names), 8, 18)[0].split(": "), sep="\n")
    8 of 18 items were chosen so that 2 cells are alike in cloze
    the widest standardised difference of means is 0.01 s.d. of the pool (0.90 before), within an equivalence bound of 0.40.
    """
    matching = matching[matching["should_match"]]
    widest = {stage: part["standardised_difference"].abs().max() for stage, part in matching.groupby("stage")}
    after = matching[matching["stage"] == "after"]
    if after.empty:
        return []
    cells = len({*after["group_a"], *after["group_b"]})
    return [
        f"{chosen} of {pool} items were chosen so that {cells} cells are alike in "
        f"{listed(list(dict.fromkeys(after['covariate'])))}: "
        f"the widest standardised difference of means is {widest['after']:.2f} s.d. of the pool ({widest['before']:.2f} before)"
        + _within(after)
    ]


def describe_list_assignment(matching: pd.DataFrame, lists: int, items: int, pool: int) -> list[str]:
    """Return the sentence for a paper about items that were dealt to lists."""
    after = matching[(matching["stage"] == "after") & matching["should_match"]]
    if after.empty:
        return []
    return [
        f"{pool} items were dealt to {lists} lists of {items}, alike in "
        f"{listed(list(dict.fromkeys(after['covariate'])))}: the widest "
        f"standardised difference between two lists is {after['standardised_difference'].abs().max():.2f} s.d. of the pool"
        + _within(after)
    ]


def designed(matching: pd.DataFrame) -> list[str]:
    """Return, for each kind of groups in a design, how far any two of them are apart at the most."""
    sentences = []
    for what in ("lists", "conditions", "fillers and targets"):
        part = matching[matching["stage"] == what].dropna(subset="standardised_difference")
        if part.empty:
            continue
        row = max(part.to_dict("records"), key=lambda one: abs(one["standardised_difference"]))
        sentences.append(
            f"{NAMED[what]}: the widest difference is {abs(row['standardised_difference']):.2f} s.d., in {row['covariate']} "
            f"({row['group_a']} {row['mean_a']:.2f}, "
            f"{row['group_b']} {row['mean_b']:.2f})"
        )
    return sentences


def _within(after: pd.DataFrame) -> str:
    bound = after["equivalence_bound"].max()
    return f", within an equivalence bound of {bound:.2f}." if bound == bound else "."


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
