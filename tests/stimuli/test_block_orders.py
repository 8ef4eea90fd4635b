"""Blocks in counterbalanced orders, and orders that are stated."""

import itertools
from collections import Counter

import pytest

from gardenpath.stimuli import Design, Item, Materials, Ordering, Paradigm, Sentence, TrialList
from gardenpath.stimuli.block_orders import SEQUENCE_BUILDERS, build_latin_square, build_williams_square, list_permutations


@pytest.mark.parametrize("number", range(1, 8))
def test_each_block_stands_in_each_place_equally_often(number: int) -> None:
    for how in SEQUENCE_BUILDERS.values():
        orders = how(number)
        assert all(sorted(one) == list(range(number)) for one in orders)
        places = Counter((place, block) for one in orders for place, block in enumerate(one))
        assert len(places) == number**2
        assert {*places.values()} == {len(orders) // number}
    assert len(build_latin_square(number)) == number
    assert len(list_permutations(number)) == len({*list_permutations(number)})


@pytest.mark.parametrize("number", range(2, 9))
def test_williams_orders_are_balanced_for_what_comes_before(number: int) -> None:
    """Each follows each other one equally often, in the fewest orders there can be."""
    orders = build_williams_square(number)
    follows = Counter(pair for one in orders for pair in itertools.pairwise(one))
    assert set(follows) == set(itertools.permutations(range(number), 2))
    assert set(follows.values()) == {1 + number % 2}
    assert len(orders) == number * (1 + number % 2)


def trial_list(ordering: Ordering) -> TrialList:
    """Three paradigms of two items, those of different paradigms in turn in the file."""
    paradigms = tuple(Paradigm(p, p, {"x": ("a", "b")}) for p in "pqr")
    items = tuple(Item(f"{p}{n}", p, {c: Sentence(f"{c} {p} {n}") for c in "ab"}) for n in range(2) for p in "pqr")
    (first, _) = Design(lists=2).build_trial_lists(Materials(paradigms, items), ordering=ordering, seed=1)
    return first


@pytest.mark.parametrize("how", SEQUENCE_BUILDERS)
def test_trials_of_a_level_stand_together_in_orders_that_sessions_have_in_turn(how: str) -> None:
    """Each order of blocks has as many sessions, and in it each order within blocks is equally likely."""
    dealt = trial_list(Ordering(block_by="paradigm", block_order=how))
    expected = SEQUENCE_BUILDERS[how](3)
    blocks, orders = [], Counter[tuple[int, ...]]()
    for slot in range(400 * len(expected)):
        order = dealt.order_trials(slot)
        stand = [k for k, _ in itertools.groupby(dealt.trials[i].item.paradigm for i in order)]
        blocks.append(tuple("pqr".index(p) for p in stand))
        orders[tuple(order)] += 1
    assert blocks == expected * 400
    assert len(orders) == dealt.orders.count() == len(expected) * 2**3
    chi_square = sum((n - 50) ** 2 / 50 for n in orders.values())
    assert chi_square < {24: 49.7, 48: 82.7}[len(orders)]  # .999 quantiles


def test_rules_hold_in_each_block_and_one_that_cannot_is_named_with_it() -> None:
    dealt = trial_list(Ordering(block_by="paradigm", start_with={"target": 1}, no_adjacent="item"))
    assert dealt.draw_order(0).method in ("exact", "rejection")
    with pytest.raises(ValueError, match="block paradigm p: no order obeys"):
        trial_list(Ordering(block_by="paradigm", no_adjacent="paradigm")).order_trials(0)
    with pytest.raises(ValueError, match="'colour' is not a factor of any trial"):
        trial_list(Ordering(block_by="colour")).order_trials(0)


def test_a_fixed_order_is_that_of_the_file_and_half_of_the_sessions_have_it_backwards() -> None:
    fixed, turned = trial_list(Ordering(order="fixed")), trial_list(Ordering(order="reversed"))
    names = ["p0", "q0", "r0", "p1", "q1", "r1"]
    assert [[fixed.trials[i].item.id for i in fixed.order_trials(slot)] for slot in (0, 1)] == [names, names]
    assert [[turned.trials[i].item.id for i in turned.order_trials(slot)] for slot in (0, 1)] == [names, names[::-1]]


def test_blocks_begin_where_all_sessions_have_them() -> None:
    assert trial_list(Ordering(block_by="paradigm")).list_block_starts() == [0, 2, 4]
    with pytest.raises(ValueError, match="expected no other key of ordering"):
        Ordering(order="fixed", no_adjacent="item")
    with pytest.raises(ValueError, match="block_order is 'latin'"):
        Ordering(block_by="paradigm", block_order="latin")
    with pytest.raises(ValueError, match="expected block_by alone"):
        Ordering(block_by="paradigm", blocks=2)


def test_lists_do_not_all_begin_with_the_same_order_of_blocks() -> None:
    def item(n: int, paradigm: str) -> Item:
        texts = {c: Sentence(f"{paradigm} {c} {n}.") for c in ("grammatical", "ungrammatical")}
        return Item(f"{paradigm}{n}", paradigm, texts)

    paradigms = tuple(Paradigm(p, "agreement") for p in "abc")
    materials = Materials(paradigms, tuple(item(n, p) for p in "abc" for n in range(4)))
    design = Design({"grammatical": 1, "ungrammatical": 1}, lists=2)
    trial_lists = design.build_trial_lists(materials, ordering=Ordering(block_by="paradigm"), seed=1)
    firsts = [
        [trial_list.trials[trial_list.order_trials(slot)[0]].item.paradigm for slot in range(3)] for trial_list in trial_lists
    ]
    assert firsts[0] != firsts[1]
    assert {*firsts[0]} == {*firsts[1]} == {*"abc"}
