"""Orders under any rules: counts equal enumeration, draws are uniform, what cannot be is refused with a reason.

The checker of these tests is written anew, from the words of each rule, and shares nothing with the code it checks.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from gardenpath.stimuli import Ordering
from gardenpath.stimuli.orderings import ValidOrders

Labels = dict[str, str]


def trials(*sizes: int) -> list[Labels]:
    """Trials of paradigms p0, p1 ...: every third one bad; p0 are fillers."""
    return [
        {"paradigm": f"p{p}", "condition": "good" if k % 3 else "bad", "role": "target" if p else "filler"}
        for p, n in enumerate(sizes)
        for k in range(n)
    ]


def obeys(rules: dict[str, Any], shown: Sequence[Labels]) -> bool:
    """Whether an order obeys the rules, by their words."""
    n = len(shown)
    blocks = rules.get("blocks", 1)
    starts = [n * b // blocks for b in range(blocks + 1)]
    cuts = {0, n}
    if not rules.get("adjacent_across_blocks", True):
        cuts.update(starts)
    if not rules.get("adjacent_across_breaks", True):
        parts_wanted = rules.get("breaks", 0) + 1
        cuts.update(n * b // parts_wanted for b in range(1, parts_wanted))
    parts = [shown[a:b] for a, b in itertools.pairwise(sorted(cuts))]
    for part in parts:
        alike = rules.get("no_adjacent") or ()
        for factor in [alike] if isinstance(alike, str) else alike:
            if any(a[factor] == b[factor] for a, b in itertools.pairwise(part)):
                return False
        for factor, distance in rules.get("min_gap", {}).items():
            for i, j in itertools.combinations(range(len(part)), 2):
                if part[i][factor] == part[j][factor] and j - i < distance:
                    return False
        for factor, longest in rules.get("max_run", {}).items():
            for value, run in itertools.groupby(part, key=lambda t: t[factor]):
                most = longest if isinstance(longest, int) else longest.get(value, n)
                if len(list(run)) > most:
                    return False
        targets = [i for i, t in enumerate(part) if t["role"] == "target"]
        if any(b - a <= rules.get("min_fillers_between", 0) for a, b in itertools.pairwise(targets)):
            return False
    for role, count in rules.get("start_with", {}).items():
        if n < count or any(t["role"] != role for t in shown[:count]):
            return False
    for role, count in rules.get("end_with", {}).items():
        if n < count or (count and any(t["role"] != role for t in shown[-count:])):
            return False
    if rules.get("balance_across_blocks"):
        spread = [Counter(t[rules["balance_across_blocks"]] for t in shown[a:b]) for a, b in itertools.pairwise(starts)]
        if any(part != spread[0] for part in spread):
            return False
    return True


def enumerated(rules: dict[str, Any], things: Sequence[Labels]) -> list[tuple[int, ...]]:
    return [p for p in itertools.permutations(range(len(things))) if obeys(rules, [things[i] for i in p])]


RULES: dict[str, dict[str, Any]] = {
    "neighbours": {"no_adjacent": "paradigm"},
    "neighbours in two factors": {"no_adjacent": ("paradigm", "condition")},
    "runs": {"no_adjacent": "paradigm", "max_run": {"condition": 2}},
    "runs of one value": {"no_adjacent": "paradigm", "max_run": {"condition": {"good": 2}}},
    "gap": {"min_gap": {"paradigm": 3}},
    "gap and run": {"min_gap": {"paradigm": 3}, "max_run": {"condition": {"good": 3}}},
    "edges": {"no_adjacent": "paradigm", "start_with": {"filler": 1}, "end_with": {"target": 2}},
    "fillers between": {"min_fillers_between": 1},
    "balanced blocks": {"blocks": 2, "balance_across_blocks": "condition", "no_adjacent": "paradigm"},
    "blocks that part neighbours": {"blocks": 2, "adjacent_across_blocks": False, "no_adjacent": "paradigm"},
    "breaks that part neighbours": {"breaks": 2, "adjacent_across_breaks": False, "no_adjacent": "paradigm"},
    "breaks that part runs": {"breaks": 1, "adjacent_across_breaks": False, "max_run": {"paradigm": 2, "condition": 2}},
    "breaks that count as nothing": {"breaks": 2, "no_adjacent": "paradigm"},
}
SIZES = [(3, 2, 2), (2, 2, 2), (3, 1, 1, 1), (4, 1)]


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_counts_and_feasibility_equal_enumeration(rules: dict[str, Any], sizes: tuple[int, ...]) -> None:
    things = trials(*sizes)
    orders = Ordering(**rules).build_orders(things)
    valid = enumerated(rules, things)
    assert orders.count() == len(valid)
    assert orders.is_feasible() == bool(valid)
    if valid:
        assert orders.sample(seed=1, slot=0).order in set(valid)
        assert orders.find_conflict() is None
    else:
        with pytest.raises(ValueError, match="no order obeys these rules together"):
            orders.sample(seed=1, slot=0)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["rejection", "states"])
def test_draws_are_uniform_over_the_valid_orders(way: str, full: bool) -> None:
    """60,000 draws (10,000 without --full) with a fixed seed, by a chi-square test; counting over states is as uniform as rejection."""
    rules = {"no_adjacent": "paradigm", "max_run": {"condition": 2}, "breaks": 1, "adjacent_across_breaks": False}
    things = trials(3, 2, 2)
    valid = set(enumerated(rules, things))
    orders, random = Ordering(**rules).build_orders(things), Random(7)
    assert orders.draw(random).method == "rejection"
    draw = (lambda: orders.draw(random).order) if way == "rejection" else (lambda: tuple(orders._state_counter.sample(random)))
    draws = 60_000 if full else 10_000
    drawn = Counter(draw() for _ in range(draws))
    assert set(drawn) <= valid
    expected = draws / len(valid)
    statistic = sum((drawn[order] - expected) ** 2 / expected for order in valid)
    assert 0.001 < chi2.sf(statistic, len(valid) - 1) < 0.999


def blimp_nl() -> list[Labels]:
    """Twelve paradigms of nine sentences, three of them ungrammatical."""
    return [
        {"paradigm": f"p{p:02}", "condition": "grammatical" if k % 3 else "ungrammatical", "role": "target"}
        for p in range(12)
        for k in range(9)
    ]


def test_the_design_of_blimp_nl_with_runs_is_drawn_by_rejection_and_says_so() -> None:
    rules = {"no_adjacent": "paradigm", "max_run": {"condition": {"ungrammatical": 3, "grammatical": 8}}}
    orders = Ordering(**rules).build_orders(blimp_nl())  # type: ignore[arg-type]
    drawn = orders.sample(seed=1, slot=0)
    assert drawn.method == "rejection"
    assert 0 < drawn.acceptance < 1
    assert obeys(rules, [orders.trials[i] for i in drawn.order])


@pytest.mark.slow
def test_where_no_exact_way_is_within_the_budget_the_order_is_valid_and_called_approximate() -> None:
    orders = Ordering(min_gap={"paradigm": 4}).build_orders(blimp_nl())
    drawn = orders.sample(seed=1, slot=0)
    assert drawn.method == "approximate"
    assert obeys({"min_gap": {"paradigm": 4}}, [orders.trials[i] for i in drawn.order])
    assert orders.sample(seed=1, slot=0) == drawn
    assert orders.sample(seed=1, slot=1) != drawn


def test_the_way_does_not_depend_on_what_was_drawn_before() -> None:
    rules = Ordering(no_adjacent="paradigm", max_run={"condition": {"ungrammatical": 3}})
    fresh = [rules.build_orders(blimp_nl()).sample(seed=5, slot=slot) for slot in range(3)]
    one = rules.build_orders(blimp_nl())
    assert [one.sample(seed=5, slot=slot) for slot in (2, 1, 0)] == fresh[::-1]


def test_the_smallest_set_of_rules_that_cannot_hold_together_is_named() -> None:
    orders = Ordering(no_adjacent="paradigm", max_run={"condition": {"bad": 1}}, start_with={"filler": 1}).build_orders(
        trials(4, 2, 1)
    )
    assert orders.find_conflict() == ["no two neighbours of the same paradigm", "at most 1 trials of condition bad in a row"]


@pytest.mark.parametrize(
    ("rules", "sizes", "message"),
    [
        ({"no_adjacent": "paradigm"}, (5, 2), "5 trials of one value, 2 positions apart, need 9 positions; there are 7"),
        ({"max_run": {"condition": {"good": 1}}}, (6,), "4 trials of one value in 4 runs of 1 need 3 others between; there are 2"),
        ({"start_with": {"filler": 3}}, (2, 2), "the first 3 of role filler asks for 3; there are 2"),
        ({"blocks": 2, "balance_across_blocks": "paradigm"}, (3, 3), "3 trials of p0 cannot be spread evenly over 2 blocks"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused_with_the_arithmetic(
    rules: dict[str, Any], sizes: tuple[int, ...], message: str
) -> None:
    orders = Ordering(**rules).build_orders(trials(*sizes))
    assert orders.is_feasible() is False
    with pytest.raises(ValueError, match="no order obeys") as caught:
        orders.sample(seed=1, slot=0)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"min_gap": {"paradigm": 0}}, r"min_gap.paradigm is 0; expected at least 1"),
        ({"blocks": 0}, "blocks is 0; expected at least 1"),
        ({"balance_across_blocks": "condition"}, "balance_across_blocks is given but blocks is 1"),
    ],
)
def test_a_rule_without_meaning_is_refused(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ordering(**rules)


def test_an_unknown_factor_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'colour' is not a factor of any trial; expected one of condition, paradigm, role"):
        Ordering(no_adjacent="colour").build_orders(trials(2, 2))


def test_a_rule_on_a_factor_leaves_the_trials_without_it_free() -> None:
    things = [{"role": "target", "voice": voice} for voice in ("active", "active", "passive")] + [{"role": "filler"}] * 2
    orders = Ordering(no_adjacent="voice").build_orders(things)
    valid = [
        p
        for p in itertools.permutations(range(5))
        if not any("voice" in things[a] and things[a] == things[b] for a, b in itertools.pairwise(p))
    ]
    assert orders.count() == len(valid)
    assert orders.sample(seed=1, slot=0).order in valid
    with pytest.raises(ValueError, match="'voice' is not a factor of every trial"):
        Ordering(blocks=2, balance_across_blocks="voice").build_orders(things)


def test_the_design_of_blimp_nl_with_breaks_that_part_neighbours_is_drawn_exactly() -> None:
    rules = {"no_adjacent": "paradigm", "breaks": 2, "adjacent_across_breaks": False}
    orders = Ordering(**rules).build_orders(blimp_nl())  # type: ignore[arg-type]
    drawn = [orders.sample(seed=1, slot=slot) for slot in range(60)]
    assert {d.method for d in drawn} == {"rejection"}
    shown = [[orders.trials[i] for i in d.order] for d in drawn]
    assert all(obeys(rules, order) for order in shown)
    parted = sum(order[place - 1]["paradigm"] == order[place]["paradigm"] for order in shown for place in (36, 72))
    assert 0 < parted < 30, "some breaks part alike sentences, and few do by chance: 8 of 107"


def test_rules_that_others_imply_and_factors_of_some_trials_stay_exact() -> None:
    targets = [{"role": "target", "structure": "AB"[i % 2], "item": f"t{i}"} for i in range(24)]
    things = targets + [{"role": "filler", "item": f"f{i}"} for i in range(48)]
    lone = Ordering(min_fillers_between=1).build_orders(things)
    for more in ({"max_run": {"structure": 1}}, {"no_adjacent": ("item", "structure"), "max_run": {"structure": 2}}):
        orders = Ordering(min_fillers_between=1, **more).build_orders(things)  # type: ignore[arg-type]
        assert orders.sample(seed=1, slot=0).method == "exact"
        assert orders.count() == lone.count() == math.comb(49, 24) * math.factorial(24) * math.factorial(48)
    small = targets[:3] + things[24:26]
    rules = {"min_gap": {"structure": 3}, "max_run": {"structure": 1}}
    orders = Ordering(**rules).build_orders(small)  # type: ignore[arg-type]
    apart = [
        p
        for p in itertools.permutations(range(5))
        if not any(
            small[a].get("structure", a) == small[b].get("structure", b) for k in (1, 2) for a, b in zip(p, p[k:], strict=False)
        )
    ]
    assert orders.count() == len(apart)
    assert {orders.sample(seed=1, slot=slot).order for slot in range(400)} == set(apart)


def test_where_only_a_wider_gap_is_counted_its_order_starts_the_exchanges() -> None:
    things = [{"paradigm": f"p{p}", "role": "target"} for p in range(12) for _ in range(9)]
    assert Ordering(min_gap={"paradigm": 12}).build_orders(things).sample(seed=1, slot=0).method == "exact"
    drawn = Ordering(min_gap={"paradigm": 10}).build_orders(things).sample(seed=1, slot=0)
    assert drawn.method == "approximate"
    assert obeys({"min_gap": {"paradigm": 10}}, [things[i] for i in drawn.order])


def test_an_imported_order_is_checked_in_words() -> None:
    orders = Ordering(no_adjacent="paradigm").build_orders(trials(2, 1))
    assert orders.check([0, 2, 1]) == []
    assert orders.check([0, 1, 2]) == ["no two neighbours of the same paradigm: trial 1 is of paradigm p0 again"]
    assert orders.check([0, 1]) == ["the order has 2 positions; expected each of 3 trials once"]


@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    rules=st.fixed_dictionaries(
        {},
        optional={
            "no_adjacent": st.sampled_from(["paradigm", "condition", ("paradigm", "condition")]),
            "max_run": st.dictionaries(st.sampled_from(["paradigm", "condition"]), st.integers(1, 3), max_size=2),
            "min_gap": st.dictionaries(st.sampled_from(["paradigm", "condition"]), st.integers(1, 4), max_size=2),
            "min_fillers_between": st.integers(0, 2),
            "start_with": st.dictionaries(st.sampled_from(["filler", "target"]), st.integers(0, 2), max_size=2),
            "end_with": st.dictionaries(st.sampled_from(["filler", "target"]), st.integers(0, 2), max_size=2),
            "blocks": st.integers(1, 3),
            "adjacent_across_blocks": st.booleans(),
            "breaks": st.integers(0, 3),
            "adjacent_across_breaks": st.booleans(),
        },
    ),
)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_any_rules_are_obeyed_or_refused_rightly(sizes: list[int], rules: dict[str, Any]) -> None:
    """Random designs and rules: never a hang, never an invalid order, and a refusal only where enumeration finds none."""
    things = trials(*sizes)
    orders: ValidOrders = Ordering(**rules).build_orders(things)
    valid = enumerated(rules, things) if len(things) <= 6 else None
    try:
        drawn = orders.sample(seed=0, slot=0)
    except ValueError:
        assert valid is None or not valid
        assert orders.is_feasible() is not True
        return
    assert obeys(rules, [things[i] for i in drawn.order])
    assert orders.is_feasible()
    if valid is not None:
        assert orders.count() == len(valid)
