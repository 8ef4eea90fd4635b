"""Rules among targets alone: uniform over an enumeration, counted, and refused by number where they cannot hold."""

import itertools
from collections import Counter

import pytest
from scipy.stats import chisquare

from gardenpath import stimuli
from gardenpath.stimuli.target_orders import build_target_orders

TRIALS = [{"role": role, "paradigm": p} for role, p in zip(["target"] * 3 + ["filler"] * 2, "aabxx", strict=True)]


def valid(between: int, first: int) -> set[tuple[int, ...]]:
    """All orders, one by one: two targets of one paradigm never follow each other among targets."""
    found = set()
    for order in itertools.permutations(range(5)):
        places = [place for place, trial in enumerate(order) if trial < 3]
        paradigms = [TRIALS[order[place]]["paradigm"] for place in places]
        apart = all(b - a > between for a, b in itertools.pairwise(places))
        if apart and places[0] >= first and all(a != b for a, b in itertools.pairwise(paradigms)):
            found.add(order)
    return found


@pytest.mark.parametrize(("between", "first"), [(0, 0), (1, 0), (0, 1), (0, 2)])
def test_orders_are_uniform_over_those_of_an_enumeration(between: int, first: int) -> None:
    rules = stimuli.Ordering(no_adjacent="paradigm", min_fillers_between=between, start_with={"filler": first}, scope="targets")
    orders = build_target_orders(rules, TRIALS)
    expected = valid(between, first)
    drawn = Counter(orders.sample(seed=5, slot=slot).order for slot in range(80 * len(expected)))
    assert {*drawn} == expected
    assert chisquare(list(drawn.values())).pvalue > 0.001
    assert orders.count() == len(expected)
    wrong = next(order for order in itertools.permutations(range(5)) if order not in expected)
    assert orders.check(wrong)


def test_fillers_between_two_of_a_kind_do_not_part_them() -> None:
    targets = [{"role": "target", "condition": c} for c in "xxxxyyyy"]
    trials = targets + [{"role": "filler", "condition": "f"}] * 16
    rules = stimuli.Ordering(max_run={"condition": 1}, scope="targets")
    for slot in range(50):
        order = build_target_orders(rules, trials).sample(1, slot).order
        conditions = [trials[i]["condition"] for i in order if i < 8]
        assert all(a != b for a, b in itertools.pairwise(conditions))


def test_what_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"4 trials that are no targets are needed .* there are 2"):
        build_target_orders(stimuli.Ordering(min_fillers_between=2, scope="targets"), TRIALS).sample(1, 0)
    with pytest.raises(ValueError, match=r"ordering\.start_with has catch"):
        build_target_orders(stimuli.Ordering(start_with={"catch": 1}, scope="targets"), TRIALS)
    with pytest.raises(ValueError, match="no order obeys these rules together"):
        build_target_orders(stimuli.Ordering(max_run={"paradigm": {"a": 1}}, scope="targets"), TRIALS[:2]).sample(1, 0)
    with pytest.raises(ValueError, match="expected rules alone"):
        stimuli.Ordering(scope="targets", blocks=2)
    with pytest.raises(ValueError, match="expected 'all' or 'targets'"):
        stimuli.Ordering(scope="fillers")


def test_a_study_with_fillers_is_dealt_so() -> None:
    def item(name: str, paradigm: str, conditions: tuple[str, ...]) -> stimuli.Item:
        return stimuli.Item(name, paradigm, {c: stimuli.Sentence(f"{c} of {name}.") for c in conditions})

    pair, single = ("grammatical", "ungrammatical"), ("only",)
    targets = [item(f"t{n}", "p", pair) for n in range(8)]
    fillers = [item(f"f{n}", "fill", single) for n in range(10)]
    paradigms = (stimuli.Paradigm("p", "agreement"), stimuli.Paradigm("fill", "fillers", {"filler": single}))
    materials = stimuli.Materials(paradigms, (*targets, *fillers))
    design = stimuli.Design({"grammatical": 1, "ungrammatical": 1}, lists=2, fillers=("fill",))
    ordering = stimuli.Ordering(max_run={"condition": 1}, min_fillers_between=1, start_with={"filler": 2}, scope="targets")
    for trial_list in design.build_trial_lists(materials, ordering=ordering, seed=1):
        for slot in range(20):
            trials = [trial_list.trials[i] for i in trial_list.order_trials(slot)]
            assert [trial.role for trial in trials[:2]] == ["filler", "filler"]
            conditions = [trial.condition for trial in trials if trial.role == "target"]
            assert all(a != b for a, b in itertools.pairwise(conditions))
            assert trial_list.draw_order(slot).method != "approximate"
