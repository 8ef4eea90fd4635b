"""Items before others: uniform over the valid orders by enumeration, kept in what a study deals, refused where it cannot hold."""

import itertools
from collections import Counter

import pytest
from scipy.stats import chisquare

from gardenpath import stimuli, study
from gardenpath.stimuli.precedence import PrecedenceOrders, build_chains

TRIALS = [{"item": f"i{n}", "paradigm": paradigm} for n, paradigm in enumerate("aabbc")]


def valid(chains: list[tuple[int, ...]], no_adjacent: bool) -> set[tuple[int, ...]]:
    """All orders, one by one."""
    return {
        order
        for order in itertools.permutations(range(5))
        if all(order.index(a) < order.index(b) for chain in chains for a, b in itertools.pairwise(chain))
        and not (no_adjacent and any(TRIALS[a]["paradigm"] == TRIALS[b]["paradigm"] for a, b in itertools.pairwise(order)))
    }


@pytest.mark.parametrize(
    ("chains", "rule"),
    [
        ([(0, 1)], "paradigm"),  # which the rule cannot tell apart: put into order
        ([(1, 0), (3, 2)], "paradigm"),
        ([(0, 2)], "paradigm"),  # which it can: drawn again
        ([(0, 2, 4)], None),
        ([(0, 1), (1, 2)], "paradigm"),  # which share a member
    ],
)
def test_orders_are_drawn_uniformly_from_those_of_an_enumeration(chains: list[tuple[int, ...]], rule: str | None) -> None:
    whole = stimuli.Ordering(no_adjacent=rule).build_orders(TRIALS)
    orders = PrecedenceOrders(whole, tuple(chains))
    expected = valid(chains, rule is not None)
    drawn = Counter(orders.sample(seed=3, slot=slot).order for slot in range(60 * len(expected)))
    assert {*drawn} == expected
    assert chisquare(list(drawn.values())).pvalue > 0.001
    assert orders.count() in (None, len(expected))
    wrong = next(order for order in itertools.permutations(range(5)) if order not in expected and not whole.check(order))
    assert "does not stand before" in orders.check(wrong)[0]


def test_items_that_are_not_shown_are_no_constraint() -> None:
    assert build_chains([["i0", "absent", "i3"], ["absent", "i1"]], TRIALS) == ((0, 3),)


def test_chains_that_the_rules_rule_out_are_refused() -> None:
    trials = [{"item": "a", "role": "filler"}, {"item": "b", "role": "target"}]
    whole = stimuli.Ordering(start_with={"filler": 1}).build_orders(trials)
    with pytest.raises(ValueError, match=r"ordering\.precedence"):
        PrecedenceOrders(whole, ((1, 0),)).sample(1, 0)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ([["a"]], "two items or more"),
        ([["a", "a"]], "each once"),
        ([["a", "b"], ["b", "c"], ["c", "a"]], "in a circle: a, b, c, a"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_items(before: list[list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stimuli.Ordering(precedence=before)


def test_it_is_not_stated_beside_blocks_or_fixed_orders() -> None:
    with pytest.raises(ValueError, match="beside order or block_by"):
        study.OrderingSection(precedence=[["a", "b"]], order="fixed")


def test_every_session_of_a_study_keeps_it_and_an_unknown_item_is_named() -> None:
    def item(n: int) -> stimuli.Item:
        return stimuli.Item(f"i{n}", "p", {c: stimuli.Sentence(f"{c} {n}.") for c in ("grammatical", "ungrammatical")})

    materials = stimuli.Materials((stimuli.Paradigm("p", "agreement"),), tuple(map(item, range(8))))
    design = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, lists=2)
    ordering = stimuli.Ordering(max_run={"condition": 2}, precedence=[["i5", "i0", "i3"]])
    for trial_list in design.build_trial_lists(materials, ordering=ordering, seed=1):
        for slot in range(20):
            items = [trial_list.trials[i].item.id for i in trial_list.order_trials(slot)]
            assert items.index("i5") < items.index("i0") < items.index("i3")
    with pytest.raises(ValueError, match=r"ordering\.precedence names 'i9', which no item is called"):
        design.build_trial_lists(materials, ordering=stimuli.Ordering(precedence=[["i1", "i9"]]), seed=1)
