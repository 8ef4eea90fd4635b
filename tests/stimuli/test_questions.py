"""Questions do not alias with the Latin square: who reads an item is asked about it, and answers are in balance in each condition."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gardenpath import stimuli
from gardenpath.stimuli import Design, Item, Materials, Paradigm, Question, Sentence, TrialList

LEVELS = {"head": ("singular", "plural"), "attractor": ("singular", "plural")}
CONDITIONS = tuple(Paradigm("attraction", "agreement", LEVELS).list_conditions())
EQUAL = dict.fromkeys(CONDITIONS, 1)
ASKS: dict[str, Any] = {
    "tasks_by_role": {"target": ["comprehension"], "filler": ["comprehension"]},
    "required_columns": {"comprehension": ("question",)},
}


def attraction(sets: int, fillers: int, answer: Callable[[int, str], str | None]) -> Materials:
    """Sets in four conditions and fillers in one, with a question where there is an answer to it."""

    def item(name: str, n: int, paradigm: str, conditions: Sequence[str]) -> Item:
        answers = {c: said for c in conditions if (said := answer(n, c)) is not None}
        question = Question("War der Schlüssel alt?", answers) if answers else None
        return Item(name, paradigm, {c: Sentence(f"{name} {c}.") for c in conditions}, question=question)

    paradigms = Paradigm("attraction", "agreement", LEVELS), Paradigm("filler", "filler", {"condition": ("filler",)})
    return Materials(
        paradigms if fillers else paradigms[:1],
        (
            *(item(f"s{n}", n, "attraction", CONDITIONS) for n in range(sets)),
            *(item(f"f{n}", n, "filler", ["filler"]) for n in range(fillers)),
        ),
    )


def asked(trial_list: TrialList) -> Counter[tuple[str, str, str]]:
    """Return how often each answer is right after the sentences of each role and condition."""
    return Counter((t.role, t.condition, str(t.get_answer())) for t in trial_list.trials if t.prompts)


def apart(trial_list: TrialList, answers: Sequence[str] = ("yes", "no")) -> int:
    """Return how far apart the numbers of the answers are in the condition where they are furthest apart."""
    counts = asked(trial_list)
    places = {(t.role, t.condition) for t in trial_list.trials}
    return max(
        max(counts[*place, answer] for answer in answers) - min(counts[*place, answer] for answer in answers) for place in places
    )


def test_answers_that_alternate_are_in_balance_in_every_condition_of_every_list() -> None:
    """The first answer is yes, the second no, and so on: a plain Latin square has only yes in one condition."""
    materials = attraction(24, 24, lambda n, _: ("yes", "no")[n % 2])
    trial_lists = Design(EQUAL, 4, fillers=["filler"], task_shares={"comprehension": 0.33}).build_trial_lists(
        materials, seed=7, **ASKS
    )
    for trial_list in trial_lists:
        counts = asked(trial_list)
        assert counts.total() == 16
        assert {key: n for key, n in counts.items() if key[0] == "target"} == {
            ("target", condition, answer): 1 for condition in CONDITIONS for answer in ("yes", "no")
        }
    everybody = {frozenset(t.item.id for t in trial_list.trials if t.prompts) for trial_list in trial_lists}
    assert len(everybody) == 1, "an item is asked about in every list or in none"


@pytest.mark.parametrize(
    ("ratio", "most"),
    [((1, 1, 1, 1), 100), ((2, 1, 1, 1), 65), ((3, 2, 2, 1), 65)],  # with unequal shares a few have to stay unasked
)
def test_numbers_of_answers_differ_by_at_most_one_whatever_the_share(ratio: tuple[int, ...], most: int) -> None:
    total = sum(ratio)
    shares = dict(zip(CONDITIONS, ratio, strict=True))
    for sets, fillers, percent in itertools.product((2 * total, 3 * total), (0, 7, 2 * total), range(10, most + 1, 15)):
        materials = attraction(sets, fillers, lambda n, _: ("yes", "no")[n % 2])
        plan = Design(shares, total, fillers=["filler"] if fillers else [], task_shares={"comprehension": percent / 100})
        for trial_list in plan.build_trial_lists(materials, seed=percent, **ASKS):
            assert asked(trial_list).total() == round(percent / 100 * (sets + fillers))
            assert apart(trial_list) <= 1, (ratio, sets, fillers, percent)
            shown = Counter(t.condition for t in trial_list.trials if t.role == "target")
            assert [shown[c] for c in CONDITIONS] == [n * sets // total for n in ratio]


def test_questions_after_every_sentence_are_dealt_in_balance_too() -> None:
    materials = attraction(24, 0, lambda n, _: ("yes", "no")[n % 2])
    trial_lists = Design(EQUAL, 4).build_trial_lists(materials, seed=1, **ASKS)
    assert [apart(trial_list) for trial_list in trial_lists] == [0, 0, 0, 0]
    exposure = Counter((t.item.id, t.condition) for trial_list in trial_lists for t in trial_list.trials)
    assert set(exposure.values()) == {1}
    assert len(exposure) == 24 * 4


def test_an_answer_may_depend_on_the_condition() -> None:
    """Half of the items have yes with a singular head, the others with a plural one."""
    materials = attraction(16, 16, lambda n, c: "yes" if c.startswith("plural") == (n < 8) else "no")
    trial_lists = Design(EQUAL, 4, fillers=["filler"], task_shares={"comprehension": 0.5}).build_trial_lists(
        materials, seed=1, **ASKS
    )
    for trial_list in trial_lists:
        counts = asked(trial_list)
        assert {counts["target", c, answer] for c in CONDITIONS for answer in ("yes", "no")} == {1}


def test_several_paradigms_have_their_answers_in_balance_together() -> None:
    pair = ("grammatical", "ungrammatical")
    items = [
        Item(
            f"{p}-{n}",
            f"p{p}",
            {condition: Sentence(f"{condition} {p}-{n}") for condition in pair},
            question=Question("Is it?", dict.fromkeys(pair, answer)),
        )
        for p in range(5)
        for n, answer in enumerate(("yes", "no") * 5)
    ]
    materials = Materials(tuple(Paradigm(f"p{p}", f"f{p}") for p in range(5)), tuple(items))
    trial_lists = Design(dict.fromkeys(pair, 1), 2, task_shares={"comprehension": 0.2}).build_trial_lists(materials, seed=1, **ASKS)
    for trial_list in trial_lists:
        assert apart(trial_list) <= 1
        per_paradigm: dict[str, int] = defaultdict(int)
        for trial in trial_list.trials:
            per_paradigm[trial.item.paradigm] += bool(trial.prompts)
        assert set(per_paradigm.values()) == {2}


def test_without_questions_items_stay_where_they_were() -> None:
    plain = attraction(8, 4, lambda n, _: None)
    plan = Design(EQUAL, 4, fillers=["filler"])
    assert plan.build_trial_lists(plain, seed=1, **ASKS) == plan.build_trial_lists(plain, seed=1)
    first = [t.condition for t in plan.build_trial_lists(plain, seed=1)[0].trials if t.role == "target"]
    assert first == [CONDITIONS[3 - n % 4] for n in range(8)]


def test_the_questions_of_the_design_can_be_looked_up() -> None:
    materials = attraction(8, 8, lambda n, _: ("yes", "no")[n % 2])
    trial_lists = Design(EQUAL, 4, fillers=["filler"], task_shares={"comprehension": 0.5}).build_trial_lists(
        materials, seed=1, **ASKS
    )
    table = stimuli.compute_design_questions(trial_lists, ["comprehension"])
    assert table.groupby("list")["n_questions"].sum().tolist() == [8] * 4
