"""Draws a balanced part of the pairs of a condition: what is rare of subject, verb, distance and attractors is drawn first.

The weights are those of MultiBLiMP (Jumelet et al. 2025, arXiv 2504.02768); the draw without replacement is that of Efraimidis and
Spirakis (2006, doi 10.1016/j.ipl.2005.11.003) with keys from a hash, so that it depends on no library's generator.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Hashable, Sequence


def compute_weights(rows: Sequence[Sequence[Hashable]]) -> list[float]:
    """Return for each row the inverse of the product of its values' relative frequencies, each in its column.

    >>> rows = [("he", "is", 1), ("he", "is", 1), ("he", "runs", 1), ("dogs", "runs", 3)]
    >>> [round(weight, 3) for weight in compute_weights(rows)]
    [3.556, 3.556, 3.556, 32.0]
    """
    counts = [Counter(column) for column in zip(*rows, strict=True)]
    return [math.prod(len(rows) / of_column[value] for of_column, value in zip(counts, row, strict=True)) for row in rows]


def draw_names(names: Sequence[str], weights: Sequence[float], count: int, seed: int) -> list[int]:
    """Return the positions of `count` names drawn without replacement, in order; 0 draws all.

    The first is drawn with a probability proportional to its weight, the next in the same way of what is left, and so on. The same
    names, weights and seed give the same draw everywhere; a name has to be unique.

    >>> draw_names(["a", "b", "c"], [1.0, 1.0, 1000.0], 2, seed=1)
    [1, 2]
    """
    if not 0 < count < len(names):
        return list(range(len(names)))
    return sorted(rank_names(names, weights, seed)[:count])


def rank_names(names: Sequence[str], weights: Sequence[float], seed: int) -> list[int]:
    """Return all positions in the order in which `draw_names` takes them.

    >>> rank_names(["a", "b", "c"], [1.0, 1.0, 1000.0], seed=1)
    [2, 1, 0]
    """
    keys = [-math.log(_hash_to_uniform(f"{seed} {name}")) / weight for name, weight in zip(names, weights, strict=True)]
    return sorted(range(len(names)), key=keys.__getitem__)


def _hash_to_uniform(text: str) -> float:
    """Return a number between 0 and 1, neither of them, that is drawn from the text alone."""
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) + 0.5) / 2**48
