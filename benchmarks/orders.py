"""Orders drawn exactly, beside shuffle-and-repair and rejection: python benchmarks/orders.py"""

import time
from collections.abc import Callable
from itertools import pairwise
from random import Random

from gardenpath.stimuli.adjacency import Arrangements

Labels = tuple[str, ...]


def is_valid(labels: Labels, order: list[int]) -> bool:
    return all(labels[a] != labels[b] for a, b in pairwise(order))


def sample_by_rejection(labels: Labels, random: Random, max_tries: int = 20_000) -> list[int] | None:
    """Shuffle until valid: unbiased, and hopeless in tight designs."""
    order = list(range(len(labels)))
    for _ in range(max_tries):
        random.shuffle(order)
        if is_valid(labels, order):
            return order
    return None


def shuffle_and_repair(labels: Labels, random: Random, max_passes: int = 100) -> list[int] | None:
    """Shuffle, then exchange each trial that equals its neighbour with a random one, in so many passes: biased."""
    order = list(range(len(labels)))
    random.shuffle(order)
    for _ in range(max_passes):
        for i in range(1, len(order)):
            if labels[order[i]] == labels[order[i - 1]]:
                j = random.randrange(len(order))
                order[i], order[j] = order[j], order[i]
        if is_valid(labels, order):
            return order
    return None


def build_exact_sampler(labels: Labels) -> Callable[[Labels, Random], list[int] | None]:
    arrangements = Arrangements(labels)
    start = time.process_time()
    arrangements.count()
    print(f"  table {1000 * (time.process_time() - start):8.1f} ms, once")
    return lambda _, random: arrangements.sample(random)


def measure_sampler(name: str, labels: Labels, draw: Callable[[Labels, Random], list[int] | None], times: int) -> None:
    random = Random(1)
    start = time.process_time()
    orders = [draw(labels, random) for _ in range(times)]
    seconds = (time.process_time() - start) / times
    valid_count = sum(order is not None and is_valid(labels, order) for order in orders)
    print(f"  {name:20} {1000 * seconds:9.2f} ms an order   {valid_count} of {times} valid")


DESIGNS: dict[str, Labels] = {
    "12 paradigms x 9 items": tuple(f"p{p}" for p in range(12) for _ in range(9)),
    "20 classes x 20": tuple(f"p{p}" for p in range(20) for _ in range(20)),
    "40 trials, one class of 20": tuple(["a"] * 20 + [f"f{i}" for i in range(20)]),
}


def main() -> None:
    for name, labels in DESIGNS.items():
        print(name)
        measure_sampler("exact", labels, build_exact_sampler(labels), 100)
        measure_sampler("shuffle and repair", labels, shuffle_and_repair, 20)
        measure_sampler("rejection", labels, sample_by_rejection, 5)


if __name__ == "__main__":
    main()
