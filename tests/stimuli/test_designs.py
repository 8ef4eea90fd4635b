"""Lists are balanced: counts, exposure of each sentence, and orders of their own."""

import itertools
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Design, Item, Materials, Ordering, Paradigm, Sentence, TrialList
from gardenpath.stimuli.items import MINIMAL_PAIR


def materials(paradigms: int, items: int) -> Materials:
    return Materials(
        tuple(Paradigm(f"p{p}", f"f{p % 22}", MINIMAL_PAIR) for p in range(paradigms)),
        tuple(Item(f"p{p}-{i}", f"p{p}", pair(f"p{p}-{i}")) for p in range(paradigms) for i in range(items)),
    )


def pair(name: str) -> dict[str, Sentence]:
    return {"grammatical": Sentence(f"x {name}"), "ungrammatical": Sentence(f"y {name}")}


RATIO = {"grammatical": 2, "ungrammatical": 1}


def conditions(trial_list: TrialList) -> Counter[str]:
    return Counter(trial.shown_sentences[0][0] for trial in trial_list.trials if trial.role == "target")


def test_blimp_nl_is_dealt_as_published() -> None:
    """84 paradigms, 7 experiments of 3 lists, 108 sentences each, 36 of them ungrammatical."""
    trial_lists = Design(RATIO, lists=3, items=9, experiments=7).build_trial_lists(materials(84, 10), seed=1)
    assert len(trial_lists) == 21
    assert all(conditions(v) == {"grammatical": 72, "ungrammatical": 36} for v in trial_lists)
    for trial_list in trial_lists:
        per_paradigm = Counter((t.item.paradigm, t.shown_sentences[0][0]) for t in trial_list.trials)
        assert set(per_paradigm.values()) == {3, 6}
        assert len({t.item.paradigm for t in trial_list.trials}) == 12
    dealt = Counter(t.item.paradigm for v in trial_lists for t in v.trials)
    assert set(dealt.values()) == {27}


@pytest.mark.parametrize("experiments", [2, 3, 4, 6])
def test_a_phenomenon_is_spread_over_the_experiments(experiments: int) -> None:
    """Equally many paradigms in each, and of every phenomenon as many as can be, one more or less."""
    some = materials(48, 3)
    paradigms = tuple(replace(p, phenomenon=f"f{min(k * k // 90, 9)}") for k, p in enumerate(some.paradigms))
    trial_lists = Design(RATIO, lists=3, experiments=experiments).build_trial_lists(replace(some, paradigms=paradigms), seed=2)
    seen: dict[str, Counter[str]] = {}
    for trial_list in trial_lists[::3]:
        seen[trial_list.experiment] = Counter({t.item.paradigm: t.factors["phenomenon"] for t in trial_list.trials}.values())
    assert {counts.total() for counts in seen.values()} == {48 // experiments}
    for phenomenon in {p.phenomenon for p in paradigms}:
        counts = [count[phenomenon] for count in seen.values()]
        assert max(counts) - min(counts) <= 1


def sharing(paradigms: int, pairs: list[tuple[int, int]]) -> Materials:
    """Materials in which the first items of paradigms have their grammatical sentence in common."""
    some = materials(paradigms, 3)
    same = {f"p{other}-0": f"p{one}-0" for one, other in pairs}
    items = [replace(i, sentences={**i.sentences, **pair(same.get(i.id, i.id))}) for i in some.items]
    return replace(some, items=tuple(items))


@pytest.mark.parametrize("seed", range(20))
def test_paradigms_that_share_a_sentence_are_in_different_experiments(seed: int) -> None:
    some = sharing(12, [(0, 1), (0, 2), (3, 4)])
    trial_lists = Design(RATIO, lists=3, experiments=3).build_trial_lists(some, seed=seed)
    for trial_list in trial_lists:
        texts = [sentence.text for trial in trial_list.trials for _, sentence in trial.shown_sentences]
        assert len(set(texts)) == len(texts)


def test_paradigms_that_cannot_be_kept_apart_are_refused_with_their_sentences() -> None:
    some = sharing(4, [(0, 1), (0, 2)])
    with pytest.raises(ValueError, match=r"p\d-0 and p\d-0 show '. p0-0' to the same participants .list E1-L\d."):
        Design(RATIO, lists=3).build_trial_lists(some, seed=1)
    with pytest.raises(ValueError, match=r"show '. p0-0' to the same participants"):
        Design(RATIO, lists=3, experiments=2).build_trial_lists(sharing(4, [(0, 1), (0, 2), (0, 3)]), seed=1)
    # Of the two members of one item nobody sees both, whoever else has one of them.
    assert Design(RATIO, lists=3, experiments=4).build_trial_lists(some, seed=1)


def test_the_retest_of_blimp_nl_is_dealt_as_published() -> None:
    """8 paradigms, 72 sentences each, 24 of them ungrammatical."""
    trial_lists = Design(RATIO, lists=3, items=9).build_trial_lists(materials(8, 10), seed=1)
    assert [conditions(v) for v in trial_lists] == [{"grammatical": 48, "ungrammatical": 24}] * 3


def test_each_sentence_is_in_as_many_lists_as_its_share() -> None:
    trial_lists = Design(RATIO, lists=3, items=9).build_trial_lists(materials(4, 10), seed=1)
    exposure = Counter((t.item.id, t.shown_sentences[0][0]) for v in trial_lists for t in v.trials)
    assert {condition: n for (_, condition), n in exposure.items()} == {"grammatical": 2, "ungrammatical": 1}
    assert len(exposure) == 2 * 4 * 9


def test_no_list_holds_both_members_of_a_pair(example: study.Study) -> None:
    for trial_list in stimuli.design(example):
        assert max(Counter(t.item.id for t in trial_list.trials).values()) == 1


def test_every_slot_has_a_valid_order_of_its_own(example: study.Study) -> None:
    trial_list = stimuli.design(example)[0]
    orders = [trial_list.order_trials(slot) for slot in range(40)]
    assert len({tuple(order) for order in orders}) == 40
    for order in orders:
        assert sorted(order) == list(range(len(trial_list.trials)))
        assert [trial_list.trials[i].role for i in order[:3]] == ["practice"] * 3
        paradigms = [trial_list.trials[i].item.paradigm for i in order[3:]]
        assert all(a != b for a, b in itertools.pairwise(paradigms))


def test_the_same_seed_gives_the_same_order_on_every_machine() -> None:
    """Pinned: drawn once and written down."""
    (trial_list, *_) = Design(RATIO, 3, 9).build_trial_lists(materials(4, 10), ordering=Ordering("paradigm"), seed=1)
    assert trial_list.order_trials(0)[:12] == PINNED


PINNED = [2, 13, 31, 11, 28, 6, 33, 26, 32, 0, 21, 10]

REFUSED = {
    "a ratio that does not divide": (
        Design(RATIO, 3, 10),
        "10 items of paradigm p0 cannot be split 2:1 over 3 lists: 10 / 3 is not whole; use items = 9",
    ),
    "too few items": (Design(RATIO, 3, 12), "paradigm p0 has 10 items, fewer than the 12 asked for"),
    "lists that cannot rotate": (Design(RATIO, 2, 9), "2 lists cannot rotate; take 3 lists"),
    "an unknown condition": (
        Design({"gramatical": 2, "ungrammatical": 1}, 3, 9),
        "'gramatical', which paradigm p0 does not have; it has grammatical, ungrammatical",
    ),
    "experiments that do not divide": (
        Design(RATIO, 3, 9, experiments=3),
        "4 paradigms cannot be assigned equally to 3 experiments",
    ),
}


@pytest.mark.parametrize(("design", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_an_impossible_design_is_refused_with_the_arithmetic(design: Design, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        design.build_trial_lists(materials(4, 10), seed=1)
    assert message in str(caught.value)


def test_one_paradigm_alone_cannot_be_kept_apart() -> None:
    (trial_list, *_) = Design(RATIO, 3, 9).build_trial_lists(materials(1, 9), ordering=Ordering("paradigm"), seed=1)
    with pytest.raises(ValueError, match="9 trials of one value, 2 positions apart, need 17 positions"):
        trial_list.order_trials(0)


@pytest.mark.data
def test_nine_pairs_of_four_blimp_paradigms_are_dealt(real_data: Path) -> None:
    names = ("adjunct_island", "npi_present_1", "passive_1", "wh_island")
    read = stimuli.read(*(real_data / "blimp" / f"{name}.jsonl" for name in names))
    trial_lists = Design(RATIO, 3, 9).build_trial_lists(read, ordering=Ordering("paradigm"), seed=1)
    assert [conditions(v) for v in trial_lists] == [{"grammatical": 24, "ungrammatical": 12}] * 3


def factorial() -> Materials:
    """A 2 x 2 of eight items, and five fillers of one condition."""
    conditions = ("subject.name", "subject.noun", "object.name", "object.noun")
    crossed = Paradigm("rc", "relative_clauses", {"extraction": ("subject", "object"), "phrase": ("name", "noun")})
    plain = Paradigm("fill", "filler", {"condition": ("filler",)})
    return Materials(
        (crossed, plain),
        (
            *(Item(f"rc-{i}", "rc", {c: Sentence(f"{c} {i}") for c in conditions}) for i in range(8)),
            *(Item(f"fill-{i}", "fill", {"filler": Sentence(f"filler {i}")}) for i in range(5)),
        ),
    )


EQUAL = dict.fromkeys(("subject.name", "subject.noun", "object.name", "object.noun"), 1)


def test_a_two_by_two_is_a_latin_square_with_all_fillers_in_every_list() -> None:
    trial_lists = Design(EQUAL, lists=4, fillers=["fill"]).build_trial_lists(factorial(), seed=1)
    table = stimuli.compute_design_balance(trial_lists)
    targets = table[table["role"] == "target"]
    assert len(targets) == 4 * 4
    assert set(targets["n_trials"]) == {2}
    assert table[table["role"] == "filler"]["n_trials"].tolist() == [5] * 4
    exposures = stimuli.compute_exposures(trial_lists, participants=10)
    assert set(exposures[exposures["paradigm"] == "rc"]["n_lists"]) == {1}
    assert set(exposures[exposures["paradigm"] == "fill"]["n_participants"]) == {10}
    assert sorted(set(exposures[exposures["paradigm"] == "rc"]["n_participants"])) == [2, 3], "10 participants over 4 lists"
    per_item = exposures[exposures["paradigm"] == "rc"].groupby("item")["n_participants"].sum()
    assert set(per_item) == {10}


def test_readers_of_blimp_nl_are_twenty_and_ten() -> None:
    trial_lists = Design(RATIO, lists=3, items=9, experiments=7).build_trial_lists(materials(84, 10), seed=1)
    exposures = stimuli.compute_exposures(trial_lists, participants=210).groupby("condition")["n_participants"].agg(["min", "max"])
    assert exposures.loc["grammatical"].tolist() == [20, 20]
    assert exposures.loc["ungrammatical"].tolist() == [10, 10]


def test_fillers_stand_between_targets_where_the_rules_say_so() -> None:
    few = Design(EQUAL, lists=4, fillers=["fill"], items=4)
    for trial_list in few.build_trial_lists(
        factorial(), ordering=Ordering(min_fillers_between=1, start_with={"filler": 1}), seed=1
    ):
        roles = [trial_list.trials[i].role for i in trial_list.order_trials(0)]
        assert roles[0] == "filler"
        assert all((a, b) != ("target", "target") for a, b in itertools.pairwise(roles))


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (Design(EQUAL, 4, fillers=["filler"]), "fillers names filler, which the materials do not have; they have rc, fill"),
        (
            Design(EQUAL, 4, fillers=["fill"], filler_ratio={"x": 1}),
            "filler_ratio names the condition 'x', which paradigm fill does not have",
        ),
        (Design({"subject.name": 1, "object.name": 1}, 2, fillers=["fill"]), "ratio gives no share to subject.noun, object.noun"),
        (Design(EQUAL, 4, fillers=["fill"], catch=["sure"]), "catch names sure, which the materials do not have"),
        (
            Design(EQUAL, 4, fillers=["fill"], between_participants=["number"]),
            "between_participants names the factor 'number', which paradigm rc does not have; it has extraction, phrase",
        ),
        (
            Design(EQUAL, 4, fillers=["fill"], between_items=["frequency"]),
            "item rc-0 has no 'frequency', which between_items names; expected a level in a column of that name",
        ),
        (
            Design(EQUAL, 4, fillers=["fill"], trial="pair"),
            "paradigm rc has 4 conditions; expected two, since a trial shows a pair",
        ),
        (Design(EQUAL, 4, fillers=["fill"], practice=[["One.", "Two."]]), "practice 1 has 2 sentences; expected one"),
        (Design(EQUAL, 3, fillers=["fill"]), "a ratio of 1:1:1:1 repeats every 4 items, which 3 lists cannot rotate"),
    ],
)
def test_impossible_fillers_and_shares_are_refused(design: Design, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        design.build_trial_lists(factorial(), seed=1)
    assert message in str(caught.value)


def levelled(high: int, low: int) -> Materials:
    """Minimal pairs whose verbs are frequent or rare, one after another as far as they go."""
    sentences = {"grammatical": Sentence("x"), "ungrammatical": Sentence("y")}
    levels = ["high", "low"] * min(high, low) + ["high"] * (high - low) + ["low"] * (low - high)
    items = (Item(f"i{n}", "p", sentences, extra={"frequency": level}) for n, level in enumerate(levels))
    return Materials((Paradigm("p", "f"),), tuple(items))


def test_every_level_between_items_is_balanced_in_itself() -> None:
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2, items=12, between_items=["frequency"])
    trial_lists = plan.build_trial_lists(levelled(6, 8), seed=1)
    table = stimuli.compute_design_balance(trial_lists)
    assert set(table["levels"]) == {"frequency=high", "frequency=low"}
    assert table["n_trials"].tolist() == [3] * 8
    labels = trial_lists[0].trials[0].build_labels()
    assert labels["frequency"] == "high"
    assert labels["grammaticality"] in RATIO
    assert labels["phenomenon"] == "f"
    exposure = Counter((t.item.id, t.condition) for v in trial_lists for t in v.trials)
    assert set(exposure.values()) == {1}
    assert len(exposure) == 24


def test_a_level_whose_items_do_not_divide_is_refused_with_the_arithmetic() -> None:
    with pytest.raises(ValueError, match="5 items of paradigm p at level high cannot be split 1:1 over 2 lists"):
        Design({"grammatical": 1, "ungrammatical": 1}, 2, between_items=["frequency"]).build_trial_lists(levelled(5, 6), seed=1)
    with pytest.raises(ValueError, match="7 items of paradigm p cannot be taken equally from 2 levels"):
        Design({"grammatical": 1, "ungrammatical": 1}, 2, 7, between_items=["frequency"]).build_trial_lists(levelled(6, 6), seed=1)


def test_each_participant_sees_one_level_of_a_factor_between_participants() -> None:
    plan = Design(EQUAL, lists=2, fillers=["fill"], between_participants=["phrase"])
    trial_lists = plan.build_trial_lists(factorial(), seed=1)
    assert [(v.id, dict(v.levels)) for v in trial_lists] == [
        ("L1", {"phrase": "name"}),
        ("L2", {"phrase": "name"}),
        ("L3", {"phrase": "noun"}),
        ("L4", {"phrase": "noun"}),
    ]
    for trial_list in trial_lists:
        shown = conditions(trial_list)
        assert {name.split(".")[1] for name in shown} == {trial_list.levels["phrase"]}
        assert set(shown.values()) == {4}, "eight items over two conditions"
    exposure = Counter((t.item.id, t.condition) for v in trial_lists for t in v.trials if t.role == "target")
    assert set(exposure.values()) == {1}
    assert len(exposure) == 8 * 4


def test_a_pair_is_one_trial_with_its_sides_balanced_in_every_list_and_over_lists() -> None:
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2, trial="pair", practice=[["Good.", "Bad."]])
    trial_lists = plan.build_trial_lists(materials(3, 10), ordering=Ordering(max_run={"condition": 3}), seed=1)
    for trial_list in trial_lists:
        targets = [t for t in trial_list.trials if t.role == "target"]
        assert all({name for name, _ in t.shown_sentences} == set(RATIO) for t in targets)
        firsts = Counter((t.item.paradigm, t.shown_sentences[0][0]) for t in targets)
        assert set(firsts.values()) == {5}
        shown = [trial_list.trials[i] for i in trial_list.order_trials(0)]
        assert shown[0].role == "practice"
        runs = [len(list(run)) for _, run in itertools.groupby(shown[1:], key=lambda t: t.shown_sentences[0][0])]
        assert max(runs) <= 3
    sides = Counter((t.item.id, t.shown_sentences[0][0]) for v in trial_lists for t in v.trials if t.role == "target")
    assert set(sides.values()) == {1}, "each member of each pair is first in one of the two lists"
    table = stimuli.compute_design_balance(trial_lists)
    assert set(table[table["role"] == "target"]["n_trials"]) == {5}
    assert set(table["side"]) == {1, 2}


ASKS: dict[str, Any] = {
    "tasks_by_role": {"target": ("comprehension", "acceptability"), "practice": ("comprehension", "acceptability")},
    "required_columns": {"comprehension": ("question",)},
}


def asking(yes: int, no: int) -> Materials:
    """Pairs with a question each; so many of the right answers are yes."""
    sentences = {"grammatical": Sentence("x"), "ungrammatical": Sentence("y")}
    answers = ["yes"] * yes + ["no"] * no
    questions = [stimuli.Question("Is it?", dict.fromkeys(sentences, answer)) for answer in answers]
    items = (Item(f"i{n}", "p", sentences, question=question) for n, question in enumerate(questions))
    return Materials((Paradigm("p", "f"),), tuple(items))


def test_questions_are_asked_on_the_stated_share_with_the_right_answers_in_balance() -> None:
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2, task_shares={"comprehension": 0.4})
    trial_lists = plan.build_trial_lists(asking(14, 6), seed=1, **ASKS)
    for trial_list in trial_lists:
        asked = [t for t in trial_list.trials if "comprehension" in t.prompts]
        assert len(asked) == 8
        assert Counter(t.get_answer() for t in asked) == {"yes": 4, "no": 4}
        assert Counter((t.condition, t.get_answer()) for t in asked) == {
            (condition, answer): 2 for condition in RATIO for answer in ("yes", "no")
        }
        assert all(t.prompts == ("comprehension", "acceptability") for t in asked)
    assert stimuli.compute_design_questions(trial_lists, ["comprehension"])["n_questions"].tolist() == [2] * 8
    assert plan.build_trial_lists(asking(14, 6), seed=1, **ASKS) == trial_lists
    assert plan.build_trial_lists(asking(14, 6), seed=2, **ASKS) != trial_lists


def test_what_is_asked_of_a_share_and_needs_no_question_is_spread_over_conditions() -> None:
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2, task_shares={"acceptability": 0.5})
    for trial_list in plan.build_trial_lists(materials(1, 20), seed=1, **ASKS):
        asked = Counter(t.condition for t in trial_list.trials if t.prompts == ("acceptability",))
        assert asked == {"grammatical": 5, "ungrammatical": 5}
        assert sum(t.prompts == () for t in trial_list.trials) == 10


@pytest.mark.parametrize(
    ("share", "yes", "no", "message"),
    [
        (
            1.0,
            14,
            6,
            "task_shares.comprehension = 1 of 20 trials asks 20 times, 10 of them with the right answer 'no'; 6 trials have "
            "that; use task_shares.comprehension = 0.6 or less, or write more",
        ),
        (0.5, 0, 0, "task_shares.comprehension = 0.5 of 20 trials asks 10 times; 0 trials can be asked"),
    ],
)
def test_more_questions_than_balance_allows_are_refused(share: float, yes: int, no: int, message: str) -> None:
    read = asking(yes, no) if yes else materials(1, 20)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Design({"grammatical": 1, "ungrammatical": 1}, 2, task_shares={"comprehension": share}).build_trial_lists(
            read, seed=1, **ASKS
        )
    assert message in str(caught.value)


def test_catch_sentences_and_attention_items_are_in_every_list_among_the_rest() -> None:
    attention = [
        study.AttentionSection("instruction", "Please press 2 here.", {"acceptability": ["2"]}),
        study.AttentionSection("nonsense", "I swim to the moon every day.", {"acceptability": ["1", "2", "3"]}),
    ]
    plan = Design(EQUAL, lists=4, catch=["fill"], attention=attention)
    for trial_list in plan.build_trial_lists(factorial(), ordering=Ordering("paradigm"), seed=1):
        roles = Counter(t.role for t in trial_list.trials)
        assert roles == {"target": 8, "catch": 5, "attention": 2}
        told = [t for t in trial_list.trials if t.role == "attention"]
        assert [(t.condition, t.expected_responses) for t in told] == [
            ("instruction", {"acceptability": ("2",)}),
            ("nonsense", {"acceptability": ("1", "2", "3")}),
        ]
        assert sorted(trial_list.order_trials(0)) == list(range(15))


def test_another_kind_of_attention_check_is_refused_with_the_kinds_that_platforms_allow() -> None:
    with pytest.raises(ValueError, match=r"kind is 'memory'; expected instruction .* or nonsense"):
        study.AttentionSection("memory", "What was the second sentence about?", {"x": ["dog"]})


def test_breaks_fall_between_equal_parts_after_the_practice() -> None:
    plan = Design(RATIO, lists=3, items=9, practice=["One.", "Two."])
    (trial_list, *_) = plan.build_trial_lists(
        materials(4, 10), ordering=Ordering("paradigm", breaks=2, adjacent_across_breaks=False), seed=1
    )
    assert trial_list.list_break_positions() == {2 + 12, 2 + 24}
    paradigms = [trial_list.trials[i].item.paradigm for i in trial_list.order_trials(0)]
    alike = [n for n in range(3, 38) if paradigms[n] == paradigms[n - 1]]
    assert set(alike) <= trial_list.list_break_positions()


ASKED = """\
["She slept.", { sentence = "The boy she saw slept.", question = "Who slept?", answer = "the boy", choices = ["she", "the boy"] }]"""


def _practising(folder: Path, practice: str) -> study.Study:
    path = folder / "study.toml"
    text = path.read_text()
    path.write_text(re.sub(r"practice = \[.*?^\]", f"practice = {practice}", text, count=1, flags=re.DOTALL | re.MULTILINE))
    return study.load(path)


def test_a_practice_sentence_may_have_its_question(study_folder: Path) -> None:
    for trial_list in stimuli.design(_practising(study_folder, ASKED), **ASKS):
        plain, asked = (trial_list.trials[i] for i in trial_list.order_trials(0)[:2])
        assert (plain.prompts, plain.item.question) == (("acceptability",), None)
        assert (asked.role, asked.prompts, asked.get_answer()) == ("practice", ("comprehension", "acceptability"), "the boy")
        assert asked.item.question is not None
        assert (asked.item.question.text, asked.item.question.choices) == ("Who slept?", ("she", "the boy"))


@pytest.mark.parametrize(
    ("practice", "fault"),
    [
        (
            '[{ sentence = "She slept.", question = "Who?", answr = "she" }]',
            "key 'design.practice.0.answr' is not known; did you mean 'answer'?",
        ),
        (
            '[{ sentence = "She slept.", question = "Did she?", answer = "maybe" }]',
            "design.practice.0: answer is 'maybe' and choices ['yes', 'no']; expected two or more choices, the answer among",
        ),
        ("[3]", "key 'design.practice.0' is 3: input should be a valid string"),
        ('[["One.", 2]]', "key 'design.practice.0.1' is 2: input should be a valid string"),
    ],
)
def test_what_is_wrong_with_a_practice_sentence_is_said_of_its_own_kind(study_folder: Path, practice: str, fault: str) -> None:
    with pytest.raises(study.DataError) as caught:
        _practising(study_folder, practice)
    assert any(fault in told for told in caught.value.faults)
    assert len(caught.value.faults) <= 2


WRITTEN = """\
[{ sentence = "我昨天看了书。", segmentation = "我 昨天 看 了 书。", context = "昨天下雨。", alternatives = "a b c d e" }]"""


def test_a_practice_sentence_has_words_and_context_like_any_item(study_folder: Path) -> None:
    trial_list, *_ = stimuli.design(_practising(study_folder, WRITTEN), **ASKS)
    trial = trial_list.trials[trial_list.order_trials(0)[0]]
    assert [word.text for word in trial.shown_sentences[0][1].list_words()] == ["我", "昨天", "看", "了", "书。"]
    assert (trial.item.context, trial.shown_sentences[0][1].alternatives) == ("昨天下雨。", ("a", "b", "c", "d", "e"))


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ("看 了 书。", "practice 1: segmentation has '看' where the sentence goes on '我昨天看了书。'"),
        ("我昨天 看了 书。", "practice 1: "),
    ],
)
def test_words_of_a_practice_sentence_that_do_not_fit_are_named(study_folder: Path, changed: str, fault: str) -> None:
    with pytest.raises(study.DataError, match=fault):
        stimuli.design(_practising(study_folder, WRITTEN.replace("我 昨天 看 了 书。", changed)), **ASKS)


def test_a_question_in_practice_asks_about_one_sentence() -> None:
    asked = study.PracticeSection("She slept.", "Did she sleep?", "yes")
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2, trial="pair", practice=[asked])
    with pytest.raises(ValueError, match="practice 1 has 1 sentence; expected two, since a trial shows a pair"):
        plan.build_trial_lists(materials(3, 10), seed=1)


def two_experiments(agreement: int = 8, garden_path: int = 6) -> Materials:
    """A 2 x 2 and a pair, with conditions of their own, and fillers of two conditions."""
    square = Paradigm("agr", "agreement", {"subject": ("sg", "pl"), "attractor": ("sg", "pl")})
    pairs = Paradigm("gp", "garden path", {"comma": ("without", "with")})
    fillers = Paradigm("fill", "none", MINIMAL_PAIR)
    return Materials(
        (square, pairs, fillers),
        tuple(
            Item(f"{p.id}-{i}", p.id, {c: Sentence(f"{c} {p.id} {i}") for c in p.list_conditions()})
            for p, count in ((square, agreement), (pairs, garden_path), (fillers, 4))
            for i in range(count)
        ),
    )


@pytest.mark.parametrize(("gp", "lists"), [({}, 4), ({"without": 2, "with": 1}, 12), ({"with": 1, "without": 1}, 2)])
def test_experiments_with_conditions_of_their_own_share_a_session(gp: dict[str, int], lists: int) -> None:
    """Each has lists of its own: in every list its shares, and over the lists each item in each condition by share."""
    plan = Design(lists=lists, fillers=["fill"], paradigm_ratios={"gp": gp} if gp else {})
    dealt = plan.build_trial_lists(two_experiments(), seed=1)
    shares = {
        "agr": dict.fromkeys(two_experiments().find_paradigm("agr").list_conditions(), 1),
        "gp": gp or {"without": 1, "with": 1},
    }
    for trial_list in dealt:
        for name, items in (("agr", 8), ("gp", 6)):
            counts = Counter(t.condition for t in trial_list.trials if t.item.paradigm == name)
            assert counts == {c: n * items // sum(shares[name].values()) for c, n in shares[name].items()}
    exposed = Counter((t.item.paradigm, t.item.id, t.condition) for v in dealt for t in v.trials if t.role == "target")
    for (name, _, condition), times in exposed.items():
        if lists % sum(shares[name].values()) == 0:
            assert times == lists * shares[name][condition] / sum(shares[name].values())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lists": 4, "paradigm_ratios": {"gp": {"with": 2, "without": 1}}}, "12 lists rotate the conditions of all paradigms"),
        ({"lists": 4, "paradigm_ratios": {"gq": {"with": 1}}}, "paradigm_ratios names gq, which the materials do not have"),
        ({"lists": 4, "paradigm_ratios": {"fill": {"grammatical": 1}}}, "paradigm_ratios names fill, which is no target"),
        ({"lists": 4, "paradigm_ratios": {"gp": {"wiht": 1}}}, "paradigm_ratios.gp names the condition 'wiht'"),
        ({"lists": 4, "ratio": {"with": 1, "without": 1}}, "names the condition 'with', which paradigm agr does not have"),
    ],
)
def test_shares_that_paradigms_cannot_have_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Design(fillers=["fill"], **settings).build_trial_lists(two_experiments(), seed=1)
