"""Exchanges of items between bins until their forms are alike: what finds a choice where branching would be long.

Tabu search (Glover 1989, doi 10.1287/ijoc.1.3.190) over exchanges of two items, as in exchange methods for anticlustering
(Papenberg & Klau 2021, doi 10.1037/met0000301): what it finds is checked, and what it does not find is not thereby impossible.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Array = Any  # numpy is imported inside functions
MAX_MOVES = 4000  # exchanges that are compared in a step
VIOLATION_PENALTY = 1.0  # energy of a broken link, or of an item too many of a kind


@dataclass(frozen=True)
class MatchCriterion:
    """What is alike in every cell: a mean over items of values (item x condition), within a tolerance; the same unit for both.

    `across` says between which cells: all, the bins of each condition ("levels"), or the conditions of each bin ("conditions").
    """

    name: str
    values: Array
    tolerance: float
    across: str = "cells"


@dataclass(frozen=True)
class CategoryQuota:
    """What is spread evenly: the kind of each item as a number, and how many of each there may be in a class of bins."""

    codes: Array
    low: Array
    high: Array


@dataclass
class Bins:
    """Items in bins, of which the first ones are alike, in the mean over their items; the items of others are not chosen.

    `exchangeable_bins` are pairs of bins between which items may be exchanged. Bins of one class are one to links and kinds: all
    bins of chosen items, or each list for itself.
    """

    start: Array  # bin of each item
    n_compared: int  # the first bins, whose means are compared
    exchangeable_bins: Sequence[tuple[int, int]]
    classes: Sequence[int]  # of the compared bins
    criteria: Sequence[MatchCriterion]
    quotas: Sequence[CategoryQuota] = ()
    separated_pairs: Sequence[tuple[int, int]] = ()
    joint_pairs: Sequence[tuple[int, int]] = ()

    def exchange_items(self, steps: int, seed: int, is_met: Callable[[Array], bool] = lambda bins: True) -> tuple[Array, float]:
        """Return the bins of least energy that so many steps came to, and that energy; it stops where that is 0 and `is_met`."""
        return _Search(self, seed).search(steps, is_met)


class _Search:
    def __init__(self, bins: Bins, seed: int) -> None:
        import numpy as np

        self.bins, self.rng = bins, np.random.default_rng(seed)
        self.n, self.n_compared = len(bins.start), bins.n_compared
        columns, tolerance, firsts, cross, at = [], [], [], [], 0
        for criterion in bins.criteria:
            values = np.asarray(criterion.values, dtype=float)
            each = [[c] for c in range(values.shape[1])] if criterion.across == "levels" else [[*range(values.shape[1])]]
            for channels in each:
                if criterion.across == "conditions" and len(channels) == 1:
                    continue
                columns.append(values[:, channels])
                tolerance.append(criterion.tolerance)
                firsts.append(at)
                cross.append(criterion.across != "conditions")
                at += len(channels)
        self.values = np.concatenate(columns, axis=1) if columns else np.zeros((self.n, 0))
        self.group_starts, self.tolerance = np.array(firsts, dtype=int), np.array(tolerance)
        self.compares_bins = np.array(cross, dtype=bool)
        self.has_single_values = len(firsts) == self.values.shape[1]
        self.has_fast_energy = (
            self.has_single_values and bool(self.compares_bins.all()) and bool(len(firsts)) and self.n_compared > 1
        )
        self.rows = np.ascontiguousarray(self.values.T)
        self.size = np.bincount(bins.start, minlength=self.n_compared)[: self.n_compared].astype(float)
        self.link_weights: Array = None
        if bins.separated_pairs or bins.joint_pairs:
            self.link_weights = np.zeros((self.n, self.n))
        self.link_offsets = np.zeros(self.n)
        for i, j in bins.separated_pairs:
            self.link_weights[i, j] = self.link_weights[j, i] = 1.0
        for i, j in bins.joint_pairs:
            self.link_weights[i, j] = self.link_weights[j, i] = -2.0
            self.link_offsets[[i, j]] += 1.0

    def _find_extremes(self, sums: Array) -> tuple[Array, Array]:
        """Return the highest and the lowest mean of each group of cells within a bin."""
        import numpy as np

        if self.has_single_values or not len(self.group_starts):
            return sums, sums
        return np.maximum.reduceat(sums, self.group_starts, axis=-1), np.minimum.reduceat(sums, self.group_starts, axis=-1)

    def _compute_excess_energy(self, high: Array, low: Array, which: Array) -> Array:
        import numpy as np

        over: Array = np.maximum(high[..., which] - low[..., which] - self.tolerance[which], 0.0)
        return (over * over).sum(-1)

    def _compute_swap_energy(self, sums: Array, a: int, out: Array, into: Array) -> Array:
        """Return the energy of the forms where an item of bin a and one that is in no compared bin change places.

        One value an item and form: the range is then that of the other bins, or from their farther end to the new mean. Forms
        come first, so that each energy is summed in one order on every machine.
        """
        import numpy as np

        others = np.delete(sums, a, axis=0)
        high, low = others.max(0), others.min(0)
        middle, half = (high + low) / 2, (high - low) / 2
        leaves = (sums[a] - middle)[:, None] - self.rows[:, out] / self.size[a]
        over = leaves[:, :, None] + (self.rows[:, into] / self.size[a])[:, None, :]
        np.abs(over, out=over)
        over += (half - self.tolerance)[:, None, None]
        np.maximum(over, np.maximum(2 * half - self.tolerance, 0.0)[:, None, None], out=over)
        over *= over
        energy: Array = over.sum(0)
        return energy

    def _compute_criteria_energy(self, sums: Array) -> float:
        """Return the energy of the forms, from the means of all compared bins."""
        high, low = self._find_extremes(sums)
        whole = self._compute_excess_energy(high.max(0), low.min(0), self.compares_bins) if self.compares_bins.any() else 0.0
        return float(whole + self._compute_excess_energy(high, low, ~self.compares_bins).sum())

    def _compute_link_energy(self, where: Array) -> float:
        """Return the energy of links and kinds."""
        import numpy as np

        classes = np.full(self.n, -1)
        compared = where < self.n_compared
        classes[compared] = np.asarray(self.bins.classes)[where[compared]]
        energy = 0.0
        if self.link_weights is not None:
            for one in set(self.bins.classes):
                inside = classes == one
                energy += self.link_weights[np.ix_(inside, inside)].sum() / 2 + self.link_offsets[inside].sum()
        for kind in self.bins.quotas:
            for one in set(self.bins.classes):
                count = np.bincount(kind.codes[classes == one], minlength=len(kind.low))
                energy += self._count_excess(kind, count).sum()
        return VIOLATION_PENALTY * float(energy)

    @staticmethod
    def _count_excess(kind: CategoryQuota, count: Array) -> Array:
        import numpy as np

        return np.maximum(count - kind.high, 0) + np.maximum(kind.low - count, 0)

    def _compute_link_energy_change(self, where: Array, a: int, b: int, out: Array, into: Array) -> Array:
        """Return how the energy of links and kinds changes where items `out` of bin a and `into` of bin b change places."""
        import numpy as np

        change = np.zeros((len(out), len(into)))
        of = self.bins.classes
        class_a, class_b = of[a], of[b] if b < self.n_compared else -1
        if class_a == class_b:
            return change
        compared = np.append(np.asarray(of), [-1] * (int(where.max()) + 1))[where]
        compared[where >= self.n_compared] = -1
        for one, leaves, comes in ((class_a, out, into), (class_b, into, out)):
            if one < 0:
                continue
            inside = compared == one
            part = np.zeros((len(leaves), len(comes)))
            if self.link_weights is not None:
                gone = -(self.link_weights[np.ix_(leaves, inside)].sum(1) + self.link_offsets[leaves])
                come = self.link_weights[np.ix_(comes, inside)].sum(1) + self.link_offsets[comes]
                part += gone[:, None] + come[None] - self.link_weights[np.ix_(leaves, comes)]
            for kind in self.bins.quotas:
                count = np.bincount(kind.codes[inside], minlength=len(kind.low))
                now = self._count_excess(kind, count)
                fewer, more = self._count_excess(kind, count - 1) - now, self._count_excess(kind, count + 1) - now
                same = kind.codes[leaves][:, None] == kind.codes[comes][None]
                part += np.where(same, 0, fewer[kind.codes[leaves]][:, None] + more[kind.codes[comes]][None])
            change += part if leaves is out else part.T
        return VIOLATION_PENALTY * change

    def _compute_exchange_energy(self, sums: Array, a: int, b: int, out: Array, into: Array) -> Array:
        """Return the energy of the forms where an item of bin a and one of bin b change places, for each two."""
        import numpy as np

        step_values = self.values[into][None] - self.values[out][:, None]
        high, low = self._find_extremes(sums[a] + step_values / self.size[a])
        others = [c for c in range(self.n_compared) if c not in (a, b)]
        own = self._compute_excess_energy(high, low, ~self.compares_bins)
        if b < self.n_compared:
            high_b, low_b = self._find_extremes(sums[b] - step_values / self.size[b])
            own = own + self._compute_excess_energy(high_b, low_b, ~self.compares_bins)
            high, low = np.maximum(high, high_b), np.minimum(low, low_b)
        if others:
            high_o, low_o = self._find_extremes(sums[others])
            high, low = np.maximum(high, high_o.max(0)), np.minimum(low, low_o.min(0))
            own = own + self._compute_excess_energy(high_o, low_o, ~self.compares_bins).sum()
        energy: Array = own + self._compute_excess_energy(high, low, self.compares_bins)
        return energy

    def search(self, steps: int, is_met: Callable[[Array], bool]) -> tuple[Array, float]:
        import numpy as np

        where = np.array(self.bins.start)
        linked = bool(self.bins.quotas) or self.link_weights is not None
        sums = np.stack([self.values[where == b].sum(0) for b in range(self.n_compared)]) / self.size[:, None]
        rest = self._compute_link_energy(where)
        best, best_energy = where.copy(), self._compute_criteria_energy(sums) + rest
        if best_energy <= 1e-12 and is_met(best):
            return best, 0.0
        tabu_until = np.zeros(self.n, dtype=int)
        partners = self.bins.exchangeable_bins
        for step in range(1, steps + 1):
            a, b = partners[int(self.rng.integers(len(partners)))]
            out, into = np.flatnonzero(where == a), np.flatnonzero(where == b)
            if not len(out) or not len(into):
                continue
            if len(out) * len(into) > MAX_MOVES:
                keep = max(1, MAX_MOVES // len(into))
                out = self.rng.choice(out, min(keep, len(out)), replace=False)
                into = self.rng.choice(into, min(MAX_MOVES // len(out), len(into)), replace=False)
            if self.has_fast_energy and b >= self.n_compared:
                energy = self._compute_swap_energy(sums, a, out, into) + rest
            else:
                energy = self._compute_exchange_energy(sums, a, b, out, into) + rest
            if linked:
                energy = energy + self._compute_link_energy_change(where, a, b, out, into)
            tabu = (tabu_until[out] > step)[:, None] | (tabu_until[into] > step)[None]
            energy = np.where(tabu & (energy >= best_energy - 1e-12), np.inf, energy)
            i, j = np.unravel_index(int(energy.argmin()), energy.shape)
            if not np.isfinite(energy[i, j]):
                continue
            gone, come = out[i], into[j]
            where[gone], where[come] = b, a
            long = int(self.rng.integers(5, 15))
            tabu_until[gone], tabu_until[come] = step + long, step + long // 2
            for one in (a, b):
                if one < self.n_compared:
                    sums[one] = self.values[where == one].sum(0) / self.size[one]
            if linked:
                rest = self._compute_link_energy(where)
            if energy[i, j] < best_energy - 1e-12:
                best, best_energy = where.copy(), float(energy[i, j])
                if best_energy <= 1e-12:
                    if is_met(best):
                        return best, 0.0
                    best_energy = 1e-9
        return best, best_energy


def list_pairs(groups: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return every two members of each group.

    >>> list_pairs([[1, 2, 3]])
    [(1, 2), (1, 3), (2, 3)]
    """
    return [pair for group in groups for pair in itertools.combinations(group, 2)]


def build_category_quota(values: Sequence[str], chosen: int) -> CategoryQuota:
    """Return kinds of which so many chosen items hold as many as can be of each: all numbers within one."""
    import numpy as np

    names, of = np.unique(np.asarray(values), return_inverse=True)
    low, more = divmod(chosen, len(names))
    return CategoryQuota(of, np.full(len(names), low), np.full(len(names), low + (more > 0)))


__all__ = ["Bins", "CategoryQuota", "Mapping", "MatchCriterion", "build_category_quota", "list_pairs"]
