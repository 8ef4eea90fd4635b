"""Orders of the blocks of a session, counterbalanced over sessions: Latin squares, Williams squares, all permutations."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from .orderings import DrawnOrder, ValidOrders

Sequences = list[tuple[int, ...]]


def build_latin_square(number: int) -> Sequences:
    """Return orders in which each block stands in each place once.

    >>> build_latin_square(3)
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    return [tuple((start + n) % number for n in range(number)) for start in range(number)]


def build_williams_square(number: int) -> Sequences:
    """Return orders in which each block stands in each place, and after each other one, equally often.

    There are `number` of an even number, twice as many of an odd one (Williams 1949, doi 10.1071/CH9490149).

    >>> build_williams_square(4)
    [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]
    """
    first = [-(-n // 2) if n % 2 else (number - n // 2) % number for n in range(number)]
    square = [tuple((start + n) % number for n in first) for start in range(number)]
    return square if number % 2 == 0 else square + [one[::-1] for one in square]


def list_permutations(number: int) -> Sequences:
    """Return all orders.

    >>> len(list_permutations(4))
    24
    """
    return list(itertools.permutations(range(number)))


SEQUENCE_BUILDERS = {"latin_square": build_latin_square, "williams": build_williams_square, "all": list_permutations}
METHODS_BY_CERTAINTY = ("fixed", "exact", "rejection", "approximate")  # the ways in which an order is drawn, the surest first


@dataclass(frozen=True)
class BlockedOrders:
    """Orders in which the trials of a level stand together: those of a level drawn by the rules, the levels in turn.

    The slot-th session has the slot-th of the orders of the levels, and the first again after the last; rules hold in a block.

    >>> from gardenpath import stimuli
    >>> whole = stimuli.Ordering(block_by="paradigm").build_orders([{"paradigm": p} for p in "abab"])
    >>> orders = BlockedOrders(whole, "paradigm", "latin_square")
    >>> [sorted(orders.sample(seed=1, slot=slot).order[:2]) for slot in (0, 1, 2)], orders.count()
    ([[0, 2], [1, 3], [0, 2]], 8)
    """

    base_orders: ValidOrders
    factor: str
    sequence_type: str
    shift: int = 0  # of the first session's order, so that lists with few readers do not all begin with the same

    @cached_property
    def blocks(self) -> dict[str, list[int]]:
        """The trials of each level, levels in alphabetical order."""
        blocks: dict[str, list[int]] = {}
        for number, labels in enumerate(self.base_orders.trials):
            blocks.setdefault(labels[self.factor], []).append(number)
        return dict(sorted(blocks.items()))

    @cached_property
    def sequences(self) -> list[tuple[str, ...]]:
        """The orders of the levels that sessions have in turn."""
        levels = list(self.blocks)
        return [tuple(levels[n] for n in one) for one in SEQUENCE_BUILDERS[self.sequence_type](len(levels))]

    @cached_property
    def orders_by_level(self) -> dict[str, ValidOrders]:
        """The valid orders of each block by itself."""
        trials = self.base_orders.trials
        return {
            level: replace(self.base_orders, trials=tuple(trials[i] for i in some), starts=frozenset())
            for level, some in self.blocks.items()
        }

    def count(self) -> int | None:
        """Return the exact number of orders that sessions may have, or None where it is undecided."""
        counts = [orders.count() for orders in self.orders_by_level.values()]
        return len(self.sequences) * prod(n for n in counts if n is not None) if None not in counts else None

    def sample(self, seed: object, slot: int) -> DrawnOrder:
        """Return the order of the slot-th session; raises `ValueError` naming the block whose rules cannot hold."""
        blocks, sequences, drawn = self.blocks, self.sequences, {}
        for level, orders in self.orders_by_level.items():
            try:
                drawn[level] = orders.sample(f"{seed}-{level}", slot)
            except ValueError as error:
                raise ValueError(f"block {self.factor} {level}: {error}") from None
        order = [blocks[level][i] for level in sequences[(slot + self.shift) % len(sequences)] for i in drawn[level].order]
        method = max((one.method for one in drawn.values()), key=METHODS_BY_CERTAINTY.index)
        return DrawnOrder(tuple(order), method, min(one.acceptance for one in drawn.values()))

    def check(self, order: Sequence[int]) -> list[str]:
        """Return what an order breaks, in words with the position from 0."""
        levels = [self.base_orders.trials[i][self.factor] for i in order]
        if tuple(level for level, _ in itertools.groupby(levels)) not in self.sequences:
            return [f"blocks of {self.factor}: the levels do not stand together in one of their orders"]
        parts = [list(part) for _, part in itertools.groupby(order, key=lambda i: self.base_orders.trials[i][self.factor])]
        blocks = self.blocks
        return [
            f"block {level}: {fault}"
            for part, level in zip(parts, dict.fromkeys(levels), strict=True)
            for fault in self.orders_by_level[level].check([blocks[level].index(i) for i in part])
        ]


@dataclass(frozen=True)
class FixedOrder:
    """The trials as they are given, backwards in every second session where `reverse_alternate_sessions`.

    >>> FixedOrder(3, reverse_alternate_sessions=True).sample(seed=1, slot=1).order
    (2, 1, 0)
    """

    length: int
    reverse_alternate_sessions: bool = False

    def count(self) -> int:
        """Return the number of orders."""
        return 1 + self.reverse_alternate_sessions

    def sample(self, seed: object, slot: int) -> DrawnOrder:
        """Return the order of the slot-th session, whatever the seed."""
        order = tuple(range(self.length))
        return DrawnOrder(order[::-1] if self.reverse_alternate_sessions and slot % 2 else order, "fixed", 1.0)
