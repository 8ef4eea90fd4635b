"""Orders drawn exactly, beside shuffle-and-repair and rejection: python benchmarks/orders.py"""

import time
from collections.abc import Callable
from itertools import pairwise
from random import Random

from gardenpath.stimuli.adjacency import Arrangements

Labels = tuple[str, ...]


def valid(labels: Labels, order: list[int]) -> bool:
    return all(labels[a] != labels[b] for a, b in pairwise(order))


def rejection(labels: Labels, random: Random, most: int = 20_000) -> list[int] | None:
    """Shuffle until valid: unbiased, and hopeless in tight designs."""
    order = list(range(len(labels)))
    for _ in range(most):
        random.shuffle(order)
        if valid(labels, order):
            return order
    return None


def shuffle_and_repair(labels: Labels, random: Random, most: int = 100) -> list[int] | None:
    """Shuffle, then exchange each trial that equals its neighbour with a random one, in so many passes: biased."""
    order = list(range(len(labels)))
    random.shuffle(order)
    for _ in range(most):
        for i in range(1, len(order)):
            if labels[order[i]] == labels[order[i - 1]]:
                j = random.randrange(len(order))
                order[i], order[j] = order[j], order[i]
        if valid(labels, order):
            return order
    return None


def exact(labels: Labels) -> Callable[[Labels, Random], list[int] | None]:
    arrangements = Arrangements(labels)
    start = time.process_time()
    arrangements.count()
    print(f"  table {1000 * (time.process_time() - start):8.1f} ms, once")
    return lambda _, random: arrangements.sample(random)


def measure(name: str, labels: Labels, draw: Callable[[Labels, Random], list[int] | None], times: int) -> None:
    random = Random(1)
    start = time.process_time()
    drawn = [draw(labels, random) for _ in range(times)]
    spent = (time.process_time() - start) / times
    good = sum(order is not None and valid(labels, order) for order in drawn)
    print(f"  {name:20} {1000 * spent:9.2f} ms an order   {good} of {times} valid")


DESIGNS: dict[str, Labels] = {
    "12 paradigms x 9 items": tuple(f"p{p}" for p in range(12) for _ in range(9)),
    "20 classes x 20": tuple(f"p{p}" for p in range(20) for _ in range(20)),
    "40 trials, one class of 20": tuple(["a"] * 20 + [f"f{i}" for i in range(20)]),
}


def main() -> None:
    for name, labels in DESIGNS.items():
        print(name)
        measure("exact", labels, exact(labels), 100)
        measure("shuffle and repair", labels, shuffle_and_repair, 20)
        measure("rejection", labels, rejection, 5)


if __name__ == "__main__":
    main()
