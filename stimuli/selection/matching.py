"""How alike the cells of a choice, or lists, are in each covariate, before and after: the table `matching`."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gardenpath import study

from .pool import Pool
from .settings import Matching

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.90  # of the interval whose ends are two one-sided tests at .05


@dataclass(frozen=True)
class Group:
    """A cell: its name, the positions of its sentences (item and condition), and its level, or list, and condition."""

    name: str
    members: Sequence[tuple[int, int]]
    level: str = ""
    condition: str = ""

    def to_be_alike(self, other: "Group", across: str) -> bool:
        """Whether the two are compared where these cells are to be alike."""
        if across == "levels":
            return self.condition == other.condition
        return across == "cells" or self.level == other.level


def matching_table(pool: Pool, settings: Matching, stages: Sequence[tuple[str, Sequence[Group]]]) -> "pd.DataFrame":
    """Return table `matching`: every two groups in every covariate, at every stage.

    The difference is in s.d. of the pool, with its 90 % interval (paired where the two have the same items, else Welch's), whose outer
    end is the equivalence bound: the least difference that two one-sided tests at .05 exclude (Schuirmann 1987,
    doi 10.1007/BF01068419).
    """
    import numpy as np
    import pandas as pd

    rows = []
    sds = {name: float(pool.values[:, :, k].std()) for k, name in enumerate(pool.names)}
    for stage, groups in stages:
        for k, name in enumerate(pool.names):
            values = {group.name: {n: float(pool.values[n, c, k]) for n, c in group.members} for group in groups}
            for one, other in itertools.combinations(groups, 2):
                of_one, of_other = values[one.name], values[other.name]
                if not of_one or not of_other:
                    continue
                a, b = np.array([*of_one.values()]), np.array([*of_other.values()])
                difference, half = _compared(of_one, of_other)
                alike = one.to_be_alike(other, settings.across_of(name))
                sd = sds[name]
                d = (
                    difference / sd
                    if sd > 1e-12
                    else 0.0
                    if abs(difference) < 1e-12
                    else math.copysign(math.inf, difference)
                )
                reach = None if half is None or sd <= 1e-12 else half / sd
                low, high = (None, None) if reach is None else (d - reach, d + reach)
                bound = None if low is None or high is None else max(abs(low), abs(high))
                finite = d if math.isfinite(d) else None
                spread = [float(x.std(ddof=1)) if len(x) > 1 else None for x in (a, b)]
                names = (stage, name, one.name, other.name, alike)
                rows.append((*names, len(a), len(b), a.mean(), b.mean(), *spread, finite, low, high, bound))
    return study.check(pd.DataFrame(rows, columns=study.TABLES["matching"].names), "matching")


def _compared(a: Mapping[int, float], b: Mapping[int, float]) -> tuple[float, float | None]:
    """Return the difference of means and half the width of its interval; None where there are too few items."""
    import numpy as np
    from scipy import stats

    x, y = np.array([*a.values()]), np.array([*b.values()])
    difference = float(x.mean() - y.mean())
    if min(len(x), len(y)) < 2:
        return difference, None
    if a.keys() == b.keys():
        of = np.array([a[n] - b[n] for n in a])
        error, df = float(of.std(ddof=1)) / math.sqrt(len(of)), float(len(of) - 1)
    else:
        one, other = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
        error = math.sqrt(one + other)
        df = (one + other) ** 2 / (one**2 / (len(x) - 1) + other**2 / (len(y) - 1)) if error > 0 else 1.0
    return difference, float(stats.t.ppf((1 + LEVEL) / 2, df)) * error
