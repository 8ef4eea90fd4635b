"""Rules among targets alone: what stands between two targets does not part them, and may stand anywhere the rest allows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb, factorial
from random import Random

from .orderings import Drawn, Labels, Ordering, Orders

TARGET = "target"


@dataclass(frozen=True)
class TargetOrders:
    """Orders whose rules hold for targets as they follow each other, with the other trials anywhere between, before and after.

    Targets are drawn by the rules, their places uniformly from those that leave `between` other trials between two of them, and
    `first` and `last` others at the ends; the others are shuffled. The three have nothing to do with each other, so the whole is as
    uniform as the order of the targets.

    >>> from gardenpath import stimuli
    >>> trials = [{"role": role, "paradigm": p} for role, p in zip(["target"] * 4 + ["filler"] * 2, "aabbxx")]
    >>> targets = stimuli.Ordering(no_adjacent="paradigm").over(trials[:4])
    >>> orders = TargetOrders(targets, (0, 1, 2, 3), (4, 5))
    >>> orders.count(), orders.sample(seed=1, slot=0).method
    (240, 'exact')
    """

    targets: Orders
    of_targets: tuple[int, ...]
    of_others: tuple[int, ...]
    between: int = 0
    first: int = 0
    last: int = 0

    @cached_property
    def _free(self) -> int:
        """How many others may stand anywhere, once those stand that have to."""
        kept = self.first + self.last + self.between * max(len(self.of_targets) - 1, 0)
        if len(self.of_others) < kept:
            raise ValueError(
                f"no order obeys these rules together: {kept} trials that are no targets are needed at the ends and between "
                f"targets; there are {len(self.of_others)}; loosen a rule, or add fillers"
            )
        return len(self.of_others) - kept

    def count(self) -> int | None:
        """Return the exact number of orders, or None where that of the targets is undecided."""
        targets = self.targets.count()
        places = comb(self._free + len(self.of_targets), len(self.of_targets))
        return None if targets is None else targets * places * factorial(len(self.of_others))

    def sample(self, seed: object, slot: int) -> Drawn:
        """Return the order of the slot-th session; raises `ValueError` naming the rules that cannot hold."""
        random = Random(f"{seed}-{slot}")
        drawn = self.targets.draw(random)
        others = list(self.of_others)
        random.shuffle(others)
        # So many free others stand before each target: stars and bars, each way once.
        bars = sorted(random.sample(range(self._free + len(drawn.order)), len(drawn.order)))
        order: list[int] = []
        for n, (bar, target) in enumerate(zip(bars, drawn.order, strict=True)):
            wanted = self.first + (bar - n) + self.between * n
            while len(order) - n < wanted:
                order.append(others[len(order) - n])
            order.append(self.of_targets[target])
        order += others[len(order) - len(drawn.order) :]
        made = Drawn(tuple(order), drawn.method, drawn.acceptance)
        assert self.check(made.order) == []
        return made

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0."""
        index = {trial: n for n, trial in enumerate(self.of_targets)}
        places = [place for place, trial in enumerate(order) if trial in index]
        faults = [f"among targets: {fault}" for fault in self.targets.check([index[order[place]] for place in places])]
        for before, place in pairwise(places):
            if place - before - 1 < self.between:
                faults.append(
                    f"position {place}: {place - before - 1} trials after the last target; expected {self.between}"
                )
        if places and (places[0] < self.first or len(order) - 1 - places[-1] < self.last):
            faults.append("a target stands where the first or the last trials are to be others")
        return faults


def among_targets(ordering: Ordering, trials: Sequence[Labels]) -> TargetOrders:
    """Return the orders of trials whose rules are stated among targets; raises `ValueError` where their ends are of other roles."""
    targets = tuple(n for n, labels in enumerate(trials) if labels.get("role") == TARGET)
    others = tuple(n for n, labels in enumerate(trials) if labels.get("role") != TARGET)
    ends = []
    for where, stated in (("first", ordering.first), ("last", ordering.last)):
        roles = {trials[n].get("role") for n in others}
        if strange := [role for role in stated if {role} != roles]:
            raise ValueError(
                f"ordering.{where} has {strange[0]} beside among = 'targets', where the other trials are "
                f"{', '.join(sorted(map(str, roles))) or 'none'}; expected one role that all of them have"
            )
        ends.append(sum(stated.values()))
    rules = replace(ordering, fillers_between=0, first={}, last={}, among="all")
    return TargetOrders(rules.over([trials[n] for n in targets]), targets, others, ordering.fillers_between, *ends)
