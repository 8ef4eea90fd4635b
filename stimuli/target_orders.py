"""Rules among targets alone: what stands between two targets does not part them, and may stand anywhere the rest allows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb, factorial
from random import Random

from .orderings import DrawnOrder, Labels, Ordering, ValidOrders

TARGET = "target"


@dataclass(frozen=True)
class TargetOrders:
    """Orders whose rules hold for targets as they follow each other, with the other trials anywhere between, before and after.

    Targets are drawn by the rules, their places uniformly from those that leave `others_between` other trials between two of them,
    and `others_at_start` and `others_at_end` others at the ends; the others are shuffled. The three have nothing to do with each
    other, so the whole is as uniform as the order of the targets.

    >>> from gardenpath import stimuli
    >>> trials = [{"role": role, "paradigm": p} for role, p in zip(["target"] * 4 + ["filler"] * 2, "aabbxx")]
    >>> targets = stimuli.Ordering(no_adjacent="paradigm").build_orders(trials[:4])
    >>> orders = TargetOrders(targets, (0, 1, 2, 3), (4, 5))
    >>> orders.count(), orders.sample(seed=1, slot=0).method
    (240, 'exact')
    """

    target_orders: ValidOrders
    target_positions: tuple[int, ...]
    other_positions: tuple[int, ...]
    others_between: int = 0
    others_at_start: int = 0
    others_at_end: int = 0

    @cached_property
    def _n_free_others(self) -> int:
        """How many others may stand anywhere, once those stand that have to."""
        kept = self.others_at_start + self.others_at_end + self.others_between * max(len(self.target_positions) - 1, 0)
        if len(self.other_positions) < kept:
            raise ValueError(
                f"no order obeys these rules together: {kept} trials that are no targets are needed at the ends and between "
                f"targets; there are {len(self.other_positions)}; loosen a rule, or add fillers"
            )
        return len(self.other_positions) - kept

    def count(self) -> int | None:
        """Return the exact number of orders, or None where that of the targets is undecided."""
        targets = self.target_orders.count()
        placements = comb(self._n_free_others + len(self.target_positions), len(self.target_positions))
        return None if targets is None else targets * placements * factorial(len(self.other_positions))

    def sample(self, seed: object, slot: int) -> DrawnOrder:
        """Return the order of the slot-th session; raises `ValueError` naming the rules that cannot hold."""
        random = Random(f"{seed}-{slot}")
        drawn = self.target_orders.draw(random)
        others = list(self.other_positions)
        random.shuffle(others)
        # So many free others stand before each target: stars and bars, each way once.
        bars = sorted(random.sample(range(self._n_free_others + len(drawn.order)), len(drawn.order)))
        order: list[int] = []
        for n, (bar, target) in enumerate(zip(bars, drawn.order, strict=True)):
            wanted = self.others_at_start + (bar - n) + self.others_between * n
            while len(order) - n < wanted:
                order.append(others[len(order) - n])
            order.append(self.target_positions[target])
        order += others[len(order) - len(drawn.order) :]
        made = DrawnOrder(tuple(order), drawn.method, drawn.acceptance)
        assert self.check(made.order) == []
        return made

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0."""
        index = {trial: n for n, trial in enumerate(self.target_positions)}
        positions = [position for position, trial in enumerate(order) if trial in index]
        faults = [
            f"among targets: {fault}" for fault in self.target_orders.check([index[order[position]] for position in positions])
        ]
        for previous, position in pairwise(positions):
            if position - previous - 1 < self.others_between:
                faults.append(
                    f"position {position}: {position - previous - 1} trials after the last target; expected {self.others_between}"
                )
        if positions and (positions[0] < self.others_at_start or len(order) - 1 - positions[-1] < self.others_at_end):
            faults.append("a target stands where the first or the last trials are to be others")
        return faults


def build_target_orders(ordering: Ordering, trials: Sequence[Labels]) -> TargetOrders:
    """Return the orders of trials whose rules are stated among targets; raises `ValueError` where their ends are of other roles."""
    targets = tuple(n for n, labels in enumerate(trials) if labels.get("role") == TARGET)
    others = tuple(n for n, labels in enumerate(trials) if labels.get("role") != TARGET)
    ends = []
    for where, stated in (("start_with", ordering.start_with), ("end_with", ordering.end_with)):
        roles = {trials[n].get("role") for n in others}
        if strange := [role for role in stated if {role} != roles]:
            raise ValueError(
                f"ordering.{where} has {strange[0]} beside scope = 'targets', where the other trials are "
                f"{', '.join(sorted(map(str, roles))) or 'none'}; expected one role that all of them have"
            )
        ends.append(sum(stated.values()))
    rules = replace(ordering, min_fillers_between=0, start_with={}, end_with={}, scope="all")
    return TargetOrders(rules.build_orders([trials[n] for n in targets]), targets, others, ordering.min_fillers_between, *ends)
