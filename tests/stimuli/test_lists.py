"""Short lists: as many readers for each item, sides in balance for each, no paradigm twice; and what cannot be."""

import itertools
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Design, Item, Materials, Ordering, Paradigm, Sentence, Trial, TrialList
from gardenpath.stimuli.items import MINIMAL_PAIR
from gardenpath.study import AttentionSection, ShortListsSection

EQUAL = {"grammatical": 1, "ungrammatical": 1}


def materials(*items: int) -> Materials:
    """Paradigms with so many pairs each."""
    return Materials(
        tuple(Paradigm(f"p{p}", f"f{p % 12}", MINIMAL_PAIR) for p in range(len(items))),
        tuple(Item(f"p{p}-{i}", f"p{p}", pair(f"p{p}-{i}")) for p, n in enumerate(items) for i in range(n)),
    )


def pair(name: str) -> dict[str, Sentence]:
    return {"grammatical": Sentence(f"x {name}"), "ungrammatical": Sentence(f"y {name}")}


def pairs_in_lists(items: int, readers: int, **more: object) -> Design:
    shorter = bool(more.pop("shorter", False))
    return Design(EQUAL, trial="pair", short_lists=ShortListsSection(items, readers, shorter), **more)  # type: ignore[arg-type]


def targets(trial_list: TrialList) -> list[list[Trial]]:
    return [[trial for trial in part if trial.role == "target"] for part in trial_list.list_participant_trials()]


def sides(trial_list: TrialList) -> dict[str, Counter[str]]:
    """How often each item has each condition first."""
    counts: dict[str, Counter[str]] = {}
    for trial in itertools.chain(*targets(trial_list)):
        counts.setdefault(trial.item.id, Counter())[trial.shown_sentences[0][0]] += 1
    return counts


def test_blimp_is_dealt_as_published() -> None:
    """67 paradigms of five pairs, 20 readers each: 6,700 judgments in 1,675 lists of four and an attention pair."""
    kinds = [AttentionSection("nonsense", [f"A dog {n}.", f"Dog a {n}."], {"choice": ["first"]}) for n in range(5)]
    design = pairs_in_lists(4, 20, attention=kinds)
    [trial_list] = design.build_trial_lists(materials(*[5] * 67), seed=1)
    assert len(trial_list.short_lists) == 1675 == 67 * 5 * 20 // 4
    assert {len(some) for some in targets(trial_list)} == {4}
    assert all(len({trial.item.paradigm for trial in some}) == 4 for some in targets(trial_list))
    assert len(sides(trial_list)) == 335
    assert all(count == {"grammatical": 10, "ungrammatical": 10} for count in sides(trial_list).values())
    attention = [[trial.item.id for trial in part if trial.role == "attention"] for part in trial_list.list_participant_trials()]
    assert Counter(itertools.chain(*attention)) == {f"attention-{n}": 335 for n in range(1, 6)}
    assert {len(some) for some in attention} == {1}
    places = Counter(
        position
        for slot in range(500)
        for position, n in enumerate(trial_list.order_trials(slot))
        if trial_list.trials[n].role == "attention"
    )
    assert sorted(places) == [0, 1, 2, 3, 4]
    assert min(places.values()) > 60, "100 are expected at each place"
    assert [trial_list] == design.build_trial_lists(materials(*[5] * 67), seed=1)
    assert [trial_list] != design.build_trial_lists(materials(*[5] * 67), seed=2)


def test_at_any_time_the_items_have_been_dealt_as_evenly_as_can_be() -> None:
    """Who stops early has about as many judgments of each paradigm, of each item of it, and on each side."""
    [trial_list] = pairs_in_lists(3, 6).build_trial_lists(materials(*[4] * 10), seed=3)
    paradigms, shown = Counter[str](), Counter[str]()
    first: dict[str, Counter[str]] = {}
    for some in targets(trial_list):
        for trial in some:
            paradigms[trial.item.paradigm] += 1
            shown[trial.item.id] += 1
            first.setdefault(trial.item.id, Counter())[trial.shown_sentences[0][0]] += 1
            assert abs(first[trial.item.id]["grammatical"] - first[trial.item.id]["ungrammatical"]) <= 1
        assert max(paradigms.values()) - min(paradigms[f"p{p}"] for p in range(10)) <= 1
        of_first = [shown[f"p0-{i}"] for i in range(4)]
        assert max(of_first) - min(of_first) <= 1


def test_with_an_odd_number_of_readers_sides_differ_by_one() -> None:
    [trial_list] = pairs_in_lists(5, 7).build_trial_lists(materials(*[5] * 8), seed=1)
    assert {tuple(sorted(count.values())) for count in sides(trial_list).values()} == {(3, 4)}


def test_unequal_paradigms_are_dealt_and_one_list_may_be_shorter() -> None:
    [trial_list] = pairs_in_lists(3, 5, shorter=True).build_trial_lists(materials(3, 2, 2, 1, 1, 2), seed=1)
    assert Counter(map(len, targets(trial_list))) == {3: 18, 1: 1}
    assert {count.total() for count in sides(trial_list).values()} == {5}
    assert all(len({trial.item.paradigm for trial in some}) == len(some) for some in targets(trial_list))


def test_sentences_one_by_one_are_dealt_by_the_ratio_of_their_conditions() -> None:
    design = Design({"grammatical": 2, "ungrammatical": 1}, short_lists=ShortListsSection(2, 6))
    [trial_list] = design.build_trial_lists(materials(3, 3, 3, 3), seed=1)
    assert all(count == {"grammatical": 4, "ungrammatical": 2} for count in sides(trial_list).values())


def test_a_clear_case_comes_in_each_list_as_often_as_the_others() -> None:
    [trial_list] = pairs_in_lists(2, 3, catch=["p3"]).build_trial_lists(materials(4, 4, 4, 4), seed=1)
    clear = [trial for part in trial_list.list_participant_trials() for trial in part if trial.role == "catch"]
    assert len(clear) == len(trial_list.short_lists) == 18
    assert sorted(Counter(trial.item.id for trial in clear).values()) == [4, 4, 5, 5]


def test_orders_of_lists_obey_the_rules_of_order() -> None:
    rules = Ordering(no_adjacent="role", start_with={"catch": 0}, max_run={"role": {"target": 2}})
    design = pairs_in_lists(2, 4, catch=["p4"])
    [trial_list] = design.build_trial_lists(materials(*[2] * 5), ordering=Ordering(start_with={"catch": 1}), seed=1)
    assert all(trial_list.trials[trial_list.order_trials(slot)[0]].role == "catch" for slot in range(30))
    [trial_list] = design.build_trial_lists(materials(*[2] * 5), ordering=replace(rules, max_run={}), seed=1)
    assert all(trial_list.trials[trial_list.order_trials(slot)[1]].role == "catch" for slot in range(30))


@cache
def possible(left: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Whether lists of these sizes can be filled from paradigms with so many items left, by trying all ways."""
    if not sizes:
        return not any(left)
    having = [p for p, n in enumerate(left) if n]
    return any(
        possible(tuple(sorted(n - (p in some) for p, n in enumerate(left))), sizes[1:])
        for some in itertools.combinations(having, sizes[0])
    )


def test_what_is_refused_is_impossible_and_everything_else_is_dealt() -> None:
    refused = dealt = 0
    for counts in itertools.chain(*(itertools.combinations_with_replacement((1, 2, 3), n) for n in (1, 2, 3, 4))):
        for size, readers, shorter in itertools.product((1, 2, 3), (1, 2, 3), (False, True)):
            places = sum(counts) * readers
            rest = [places % size] if places % size else []
            sizes = (*[size] * (places // size), *rest)
            can = (shorter or not rest) and possible(tuple(sorted(n * readers for n in counts)), sizes)
            try:
                [trial_list] = pairs_in_lists(size, readers, shorter=shorter).build_trial_lists(materials(*counts), seed=1)
            except ValueError:
                refused += 1
                assert not can, (counts, size, readers, shorter)
            else:
                dealt += 1
                assert can
                assert sorted(map(len, trial_list.short_lists)) == sorted(sizes)
    assert refused > 50
    assert dealt > 100


@pytest.mark.parametrize(
    ("items", "design", "message"),
    [
        ([5] * 67, pairs_in_lists(4, 19), r"335 items for 19 participants each are 6365 trials, and lists of 4 leave 1 over"),
        ([5] * 67, pairs_in_lists(4, 19), r"expected ratings_per_item = 16 or 20, or allow_short_last_list = true$"),
        ([5] * 67, pairs_in_lists(4, 3), r"expected ratings_per_item = 4, or"),
        ([9, 9, 9], pairs_in_lists(4, 4), r"lists of 4 items of different paradigms need 4 paradigms; there are 3"),
        ([9, 1, 2], pairs_in_lists(2, 4), r"9 items of paradigm p0 for 4 participants each need 36 lists, .* there are 24 lists"),
        ([5] * 4, pairs_in_lists(4, 4, experiments=2), r"experiment E1: lists of 4 .* there are 2$"),
        ([5] * 4, pairs_in_lists(2, 4, fillers=["p3"]), r"lists have no fillers; expected it left out"),
        ([5] * 67, pairs_in_lists(4, 20, experiments=17), r"67 paradigms cannot be assigned equally to 17 experiments; expected "),
        ([5] * 67, pairs_in_lists(4, 20, experiments=17), r"allow_unequal_experiments = true, for 16 of 4 and 1 of 3"),
        ([5] * 3, pairs_in_lists(4, 20, experiments=4), r"3 paradigms cannot be assigned equally to 4 experiments$"),
    ],
)
def test_what_cannot_be_is_refused_with_the_numbers(items: list[int], design: Design, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        design.build_trial_lists(materials(*items), seed=1)


def test_experiments_may_be_unequal_where_that_is_declared() -> None:
    trial_lists = Design(EQUAL, 2, 4, 17, allow_unequal_experiments=True).build_trial_lists(materials(*[4] * 67), seed=1)
    shown = {trial_list.experiment: {trial.item.paradigm for trial in trial_list.trials} for trial_list in trial_lists}
    assert Counter(map(len, shown.values())) == {4: 16, 3: 1}
    assert set().union(*shown.values()) == {f"p{p}" for p in range(67)}
    in_lists = pairs_in_lists(3, 6, experiments=17, allow_unequal_experiments=True).build_trial_lists(materials(*[5] * 67), seed=1)
    assert Counter(len(trial_list.short_lists) for trial_list in in_lists) == {5 * 4 * 6 // 3: 16, 5 * 3 * 6 // 3: 1}


def test_nobody_reads_a_sentence_twice_in_a_list_or_in_two() -> None:
    """Items of other paradigms that share a sentence count as the same one."""
    some = materials(*[3] * 5)
    same = {"p1-0": "p0-0", "p2-0": "p0-0", "p4-1": "p3-1"}
    items = [replace(item, sentences=pair(same.get(item.id, item.id))) for item in some.items]
    [trial_list] = pairs_in_lists(3, 6).build_trial_lists(replace(some, items=tuple(items)), seed=1)
    for part in targets(trial_list):
        texts = [sentence.text for trial in part for _, sentence in trial.shown_sentences]
        assert len(set(texts)) == 6
    list_of_first = next(n for n, part in enumerate(targets(trial_list)) if any(t.item.id == "p0-0" for t in part))
    had = trial_list.collect_contents(trial_list.short_lists[list_of_first])
    open_ones = [n for n, shown in enumerate(trial_list.short_list_contents) if shown.isdisjoint(had)]
    assert not {"p0-0", "p1-0", "p2-0"} & {t.item.id for n in open_ones for t in targets(trial_list)[n]}
    assert trial_list.find_open_slot([], [], had) == min(open_ones)
    alike = [replace(item, sentences=pair(item.id[-1])) for item in some.items[:6]]
    with pytest.raises(ValueError, match=r"no lists of 2 items were found .* \(2 items share sentences"):
        pairs_in_lists(2, 2).build_trial_lists(replace(some, paradigms=some.paradigms[:2], items=(alike[0], alike[3])), seed=1)


def test_a_list_that_opens_again_has_a_place_of_its_own() -> None:
    [trial_list] = pairs_in_lists(2, 2).build_trial_lists(materials(2, 2), seed=1)
    assert len(trial_list.short_lists) == 4
    assert trial_list.find_open_slot(held_slots=[0, 2], used_slots=[0, 1, 2]) == 5, "the second list, for the second time"
    assert sorted(trial_list.order_trials(5)) == sorted(trial_list.order_trials(1))
    assert trial_list.find_open_slot(held_slots=[0, 1, 2, 3], used_slots=[0, 1, 2, 3]) is None
    assert trial_list.find_open_slot(held_slots=[], used_slots=[], first_slot=6) == 6


def test_the_tables_of_a_design_count_what_lists_show() -> None:
    trial_lists = pairs_in_lists(2, 4).build_trial_lists(materials(2, 2, 2), seed=1)
    lists = stimuli.build_short_lists_table(trial_lists)
    assert lists.groupby("item").size().unique().tolist() == [4]
    assert stimuli.compute_exposures(trial_lists, len(trial_lists[0].short_lists))["n_participants"].unique().tolist() == [4]
    balance = stimuli.compute_design_balance(trial_lists).groupby(["paradigm", "condition", "side"])["n_trials"].sum()
    assert balance.unique().tolist() == [4]


def test_lists_and_short_lists_are_not_both_stated() -> None:
    for stated, message in (
        ({"lists": 2, "short_lists": ShortListsSection(4, 20)}, "lists is 2 beside short_lists; expected the one or the other"),
        ({}, "lists is missing; expected at least 1, or short_lists in their place"),
    ):
        with pytest.raises(ValueError, match=message):
            study.DesignSection(EQUAL, **stated)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ratings_per_item is 0; expected at least 1 an item"):
        ShortListsSection(4, 0)
