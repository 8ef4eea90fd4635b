"""Items before others: an order drawn by the rules, with the members of each chain put into their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import factorial, prod
from random import Random

from .orderings import DrawnOrder, ValidOrders

MAX_DRAWS = 20_000  # draws in which the chains that rules tell apart have to come out in order by themselves


@dataclass(frozen=True)
class PrecedenceOrders:
    """Orders that obey the rules and in which of each chain, given as trials, one comes before the next.

    Where the rules cannot tell a chain's members apart, these are put into order at the places that were drawn for them: every
    order comes from as many draws, so that it stays as uniform as the draw. Of other chains, draws are repeated until they hold.

    >>> from gardenpath import stimuli
    >>> whole = stimuli.Ordering(no_adjacent="paradigm").build_orders([{"paradigm": p} for p in "abab"])
    >>> orders = PrecedenceOrders(whole, ((2, 0),))
    >>> {orders.sample(seed=1, slot=slot).order.index(2) < orders.sample(seed=1, slot=slot).order.index(0) for slot in range(9)}
    {True}
    >>> orders.count()
    4
    """

    base_orders: ValidOrders
    chains: tuple[tuple[int, ...], ...]

    @cached_property
    def _indistinct_chains(self) -> tuple[tuple[int, ...], ...]:
        """The chains whose members the rules cannot tell apart, and that share no member with another chain."""
        looked_at = {rule.factor for rule in self.base_orders.rules if rule.factor is not None}
        times: dict[int, int] = {}
        for trial in (trial for chain in self.chains for trial in chain):
            times[trial] = times.get(trial, 0) + 1
        return tuple(
            chain
            for chain in self.chains
            if max(times[trial] for trial in chain) == 1
            and len({tuple(self.base_orders.trials[trial][factor] for factor in sorted(looked_at)) for trial in chain}) == 1
        )

    def count(self) -> int | None:
        """Return the exact number of orders, or None where it is undecided."""
        whole = self.base_orders.count()
        if whole is None or len(self._indistinct_chains) < len(self.chains):
            return None
        return whole // prod(factorial(len(chain)) for chain in self.chains)

    def sample(self, seed: object, slot: int) -> DrawnOrder:
        """Return the order of the slot-th session; raises `ValueError` where the chains do not come out in order."""
        random = Random(f"{seed}-{slot}")
        rest = [chain for chain in self.chains if chain not in self._indistinct_chains]
        for tries in range(1, (MAX_DRAWS if rest else 1) + 1):
            drawn = self.base_orders.draw(random)
            positions = {trial: position for position, trial in enumerate(drawn.order)}
            if all(_is_in_order(chain, positions) for chain in rest):
                order = list(drawn.order)
                for chain in self._indistinct_chains:
                    for position, trial in zip(sorted(positions[trial] for trial in chain), chain, strict=True):
                        order[position] = trial
                method = "rejection" if tries > 1 and drawn.method == "exact" else drawn.method
                made = DrawnOrder(tuple(order), method, drawn.acceptance / tries)
                assert self.check(made.order) == []
                return made
        longest = max(map(len, rest))
        raise ValueError(
            f"no order was found in {MAX_DRAWS} draws in which items stand as ordering.precedence states: rules look at what the "
            f"items differ in, and of such a chain of {longest} about one order in {factorial(longest)} is right; state "
            "shorter chains, or loosen a rule"
        )

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0."""
        positions = {trial: position for position, trial in enumerate(order)}
        faults = self.base_orders.check(order)
        return faults or [
            f"position {positions[after]}: {self._get_item_name(before)} does not stand before {self._get_item_name(after)}"
            for chain in self.chains
            for before, after in pairwise(chain)
            if positions[before] > positions[after]
        ]

    def _get_item_name(self, trial: int) -> str:
        return self.base_orders.trials[trial].get("item", f"trial {trial}")


def build_chains(item_chains: Sequence[Sequence[str]], trials: Sequence[Mapping[str, str]]) -> tuple[tuple[int, ...], ...]:
    """Return the chains of items as trials: of items that are not shown, the others stay in order.

    >>> build_chains([["a", "b", "c"], ["b", "d"]], [{"item": "c"}, {"item": "a"}, {"item": "d"}])
    ((1, 0),)
    """
    positions = {labels.get("item"): number for number, labels in enumerate(trials)}
    chains = (tuple(positions[item] for item in chain if item in positions) for chain in item_chains)
    return tuple(chain for chain in chains if len(chain) > 1)


def _is_in_order(chain: Sequence[int], positions: Mapping[int, int]) -> bool:
    return all(positions[a] < positions[b] for a, b in pairwise(chain))
