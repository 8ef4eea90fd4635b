"""Items before others: an order drawn by the rules, with the members of each chain put into their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import factorial, prod
from random import Random

from .orderings import Drawn, Orders

TRIES = 20_000  # draws in which the chains that rules tell apart have to come out in order by themselves


@dataclass(frozen=True)
class PrecedingOrders:
    """Orders that obey the rules and in which of each chain, given as trials, one comes before the next.

    Where the rules cannot tell a chain's members apart, these are put into order at the places that were drawn for them: every
    order comes from as many draws, so that it stays as uniform as the draw. Of other chains, draws are repeated until they hold.

    >>> from gardenpath import stimuli
    >>> whole = stimuli.Ordering(no_adjacent="paradigm").over([{"paradigm": p} for p in "abab"])
    >>> orders = PrecedingOrders(whole, ((2, 0),))
    >>> {orders.sample(seed=1, slot=slot).order.index(2) < orders.sample(seed=1, slot=slot).order.index(0) for slot in range(9)}
    {True}
    >>> orders.count()
    4
    """

    whole: Orders
    chains: tuple[tuple[int, ...], ...]

    @cached_property
    def _alike(self) -> tuple[tuple[int, ...], ...]:
        """The chains whose members the rules cannot tell apart, and that share no member with another chain."""
        looked_at = {rule.factor for rule in self.whole.rules if rule.factor is not None}
        times: dict[int, int] = {}
        for trial in (trial for chain in self.chains for trial in chain):
            times[trial] = times.get(trial, 0) + 1
        return tuple(
            chain
            for chain in self.chains
            if max(times[trial] for trial in chain) == 1
            and len({tuple(self.whole.trials[trial][factor] for factor in sorted(looked_at)) for trial in chain}) == 1
        )

    def count(self) -> int | None:
        """Return the exact number of orders, or None where it is undecided."""
        whole = self.whole.count()
        if whole is None or len(self._alike) < len(self.chains):
            return None
        return whole // prod(factorial(len(chain)) for chain in self.chains)

    def sample(self, seed: object, slot: int) -> Drawn:
        """Return the order of the slot-th session; raises `ValueError` where the chains do not come out in order."""
        random = Random(f"{seed}-{slot}")
        rest = [chain for chain in self.chains if chain not in self._alike]
        for tries in range(1, (TRIES if rest else 1) + 1):
            drawn = self.whole.draw(random)
            places = {trial: place for place, trial in enumerate(drawn.order)}
            if all(_in_order(chain, places) for chain in rest):
                order = list(drawn.order)
                for chain in self._alike:
                    for place, trial in zip(sorted(places[trial] for trial in chain), chain, strict=True):
                        order[place] = trial
                method = "rejection" if tries > 1 and drawn.method == "exact" else drawn.method
                made = Drawn(tuple(order), method, drawn.acceptance / tries)
                assert self.check(made.order) == []
                return made
        longest = max(map(len, rest))
        raise ValueError(
            f"no order was found in {TRIES} draws in which items stand as ordering.before states: rules look at what the items "
            f"differ in, and of such a chain of {longest} about one order in {factorial(longest)} is right; state "
            "shorter chains, or loosen a rule"
        )

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0."""
        places = {trial: place for place, trial in enumerate(order)}
        faults = self.whole.check(order)
        return faults or [
            f"position {places[after]}: {self._named(before)} does not stand before {self._named(after)}"
            for chain in self.chains
            for before, after in pairwise(chain)
            if places[before] > places[after]
        ]

    def _named(self, trial: int) -> str:
        return self.whole.trials[trial].get("item", f"trial {trial}")


def chains_of(before: Sequence[Sequence[str]], trials: Sequence[Mapping[str, str]]) -> tuple[tuple[int, ...], ...]:
    """Return the chains of items as trials: of items that are not shown, the others stay in order.

    >>> chains_of([["a", "b", "c"], ["b", "d"]], [{"item": "c"}, {"item": "a"}, {"item": "d"}])
    ((1, 0),)
    """
    places = {labels.get("item"): number for number, labels in enumerate(trials)}
    chains = (tuple(places[item] for item in chain if item in places) for chain in before)
    return tuple(chain for chain in chains if len(chain) > 1)


def _in_order(chain: Sequence[int], places: Mapping[int, int]) -> bool:
    return all(places[a] < places[b] for a, b in pairwise(chain))
