"""Balanced draws: weights against a count by hand, and inclusion against the enumeration of all sequences of draws."""

import hashlib
import itertools
from collections import Counter

import pytest

from gardenpath.stimuli.treebanks.balanced_sampling import compute_weights, draw_names

ROWS = [("he", "is", 1), ("he", "is", 1), ("he", "runs", 1), ("dogs", "runs", 3)]


def test_the_worked_example() -> None:
    """'he' is 3 of 4, each verb 2 of 4, the distance of one 3 of 4: 1 / (3/4 * 2/4 * 3/4) = 3.556; 1 / (1/4 * 2/4 * 1/4) = 32."""
    found = compute_weights(ROWS)
    assert found == pytest.approx([32 / 9, 32 / 9, 32 / 9, 32])
    assert [weight / sum(found) for weight in found] == pytest.approx([1 / 12, 1 / 12, 1 / 12, 3 / 4])


def test_who_is_drawn_how_often_is_as_enumerated() -> None:
    shares = [1.0, 2.0, 3.0, 6.0]
    expected: Counter[int] = Counter()
    for first, second in itertools.permutations(range(4), 2):
        chance = shares[first] / 12 * shares[second] / (12 - shares[first])
        expected[first] += chance
        expected[second] += chance
    times = 4000
    drawn = Counter(one for seed in range(times) for one in draw_names(list("abcd"), shares, 2, seed))
    for position, chance in expected.items():
        assert abs(drawn[position] / times - chance) < 4 * (chance * (1 - chance) / times) ** 0.5


def test_a_draw_is_the_same_wherever_it_is_made() -> None:
    names = [f"item {n}" for n in range(1000)]
    shares = [1.0 + n % 7 for n in range(1000)]
    numbers = [(int(hashlib.sha256(f"1 {name}".encode()).hexdigest()[:12], 16) + 0.5) / 16**12 for name in names]
    best = sorted(range(1000), key=lambda n: numbers[n] ** (1 / shares[n]))[-5:]
    assert draw_names(names, shares, 5, seed=1) == sorted(best) == [145, 272, 699, 885, 999]
    assert draw_names(names, [1.0] * 1000, 0, seed=1) == draw_names(names, [1.0] * 1000, 1000, seed=1) == list(range(1000))


def test_what_is_left_out_does_not_change_the_keys_of_the_rest() -> None:
    names = list("abcdefgh")
    ranked = draw_names(names, [1.0] * 8, 3, seed=5)
    kept = sorted({*range(8)} - {next(n for n in range(8) if n not in ranked)})
    assert [kept[n] for n in draw_names([names[n] for n in kept], [1.0] * 7, 3, seed=5)] == ranked
