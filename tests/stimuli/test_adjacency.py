"""Orders without alike neighbours are counted exactly and drawn uniformly; enumeration is the independent source."""

import itertools
from collections import Counter
from random import Random

import pytest
from scipy.stats import chi2

from gardenpath.stimuli.adjacency import Arrangements

DESIGNS = {"322": (3, 2, 2), "2222": (2, 2, 2, 2), "4211": (4, 2, 1, 1)}


def labels(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(label for label, n in enumerate(sizes) for _ in range(n))


def patterns(sizes: tuple[int, ...]) -> set[tuple[int, ...]]:
    """All label sequences without alike neighbours, by enumeration."""
    return {p for p in itertools.permutations(labels(sizes)) if all(a != b for a, b in itertools.pairwise(p))}


@pytest.mark.parametrize("sizes", DESIGNS.values(), ids=DESIGNS.keys())
def test_the_count_equals_enumeration(sizes: tuple[int, ...]) -> None:
    things = range(sum(sizes))
    of = labels(sizes)
    valid = sum(all(of[a] != of[b] for a, b in itertools.pairwise(p)) for p in itertools.permutations(things))
    assert Arrangements(of).count() == valid


def test_draws_are_uniform_over_the_valid_patterns() -> None:
    """60,000 draws with a fixed seed lie within the sampling noise of uniform."""
    sizes = DESIGNS["4211"]
    arrangements, random, of = Arrangements(labels(sizes)), Random(1), labels(sizes)
    drawn = Counter(tuple(of[i] for i in arrangements.sample(random)) for _ in range(60_000))
    valid = patterns(sizes)
    assert set(drawn) == valid
    expected = 60_000 / len(valid)
    statistic = sum((drawn[p] - expected) ** 2 / expected for p in valid)
    assert 0.001 < chi2.sf(statistic, len(valid) - 1) < 0.999


def test_things_with_one_label_are_permuted_too() -> None:
    drawn = Counter(tuple(Arrangements(("a", "a", "b")).sample(Random(i))) for i in range(400))
    assert set(drawn) == {(0, 2, 1), (1, 2, 0)}
    assert min(drawn.values()) > 150


def test_twelve_paradigms_of_nine_have_the_known_number_of_patterns() -> None:
    """6.2343e103, by inclusion and exclusion elsewhere."""
    from math import factorial

    count = Arrangements(tuple(p for p in range(12) for _ in range(9))).count() / factorial(9) ** 12
    assert f"{count:.4e}" == "6.2343e+103"


def test_what_cannot_be_is_refused_with_the_arithmetic() -> None:
    with pytest.raises(ValueError, match="no order keeps the 4 trials of 'a' apart: 2 others separate at most 3"):
        Arrangements(("a", "a", "a", "a", "b", "c")).sample(Random(0))


def test_a_tight_design_always_works() -> None:
    of = tuple(["a"] * 20 + [f"f{i}" for i in range(20)])
    for seed in range(50):
        order = Arrangements(of).sample(Random(seed))
        assert sorted(order) == list(range(40))
        assert all(of[a] != of[b] for a, b in itertools.pairwise(order))
