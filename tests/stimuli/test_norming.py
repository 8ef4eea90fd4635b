"""Which items are normed, where they are cut, how many readers they need, and which are kept and replaced."""

import dataclasses
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence, norming
from gardenpath.stimuli.norming import (
    KeepRule,
    NormingSettings,
    build_fragments_table,
    compute_norm_decisions,
    count_participants_needed,
    draw_replacement_items,
    select_items_to_norm,
)

from ..conftest import ROOT


def sentence(text: str) -> Sentence:
    """A sentence whose critical region stands between square brackets."""
    start, end = text.index("["), text.index("]") - 1
    return Sentence(text.replace("[", "").replace("]", ""), (Region("critical", start, end),))


def materials(*items: dict[str, str], language: str = "en", **extra: str) -> Materials:
    """Items of one paradigm in these conditions."""
    paradigm = Paradigm("p", "f", {"context": tuple(items[0])})
    made = tuple(
        Item(f"i{n}", "p", {name: sentence(text) for name, text in one.items()}, language, extra=extra)
        for n, one in enumerate(items, 1)
    )
    return Materials((paradigm,), made)


NARROW = {"narrow": "She cut the fresh [bread] well.", "wide": "There was fresh [bread] left."}


def test_fragments_end_before_the_region_s_first_word_without_its_marks() -> None:
    table = build_fragments_table(materials({"a": 'He said: "[Well], no."', "b": "She saw [the dog] run."}))
    assert table[["fragment", "target", "target_attached"]].values.tolist() == [
        ['He said: "', "Well", True],
        ["She saw", "the", False],
    ]
    japanese = build_fragments_table(materials({"a": "彼女は[パン]を切った。"}, language="ja"))
    assert japanese[["fragment", "target", "has_word_spaces"]].values.tolist() == [["彼女は", "パン", False]]


UNCUT = {
    "at the beginning": ({"a": "[She] ran."}, "nothing before its region 'critical'"),
    "within a word": ({"a": "She walk[ed] home."}, "begins within a word"),
}


@pytest.mark.parametrize(("item", "message"), UNCUT.values(), ids=UNCUT.keys())
def test_what_cannot_be_cut_is_named(item: dict[str, str], message: str) -> None:
    with pytest.raises(study.DataError, match=rf"item i1 \(a\).*{message}"):
        build_fragments_table(materials(item))
    with pytest.raises(study.DataError, match="has no region 'verb'"):
        build_fragments_table(materials(item), "verb")


def test_items_of_two_languages_are_no_norming() -> None:
    english, german = materials(NARROW), materials(NARROW, language="de")
    renamed = tuple(dataclasses.replace(item, id=f"{item.id}-de") for item in german.items)
    with pytest.raises(study.DataError, match=r"items are in en, de; expected one language: --language TAG"):
        select_items_to_norm(Materials(english.paradigms, english.items + renamed), NormingSettings("plausibility"))


def test_a_column_may_say_where_fragments_end() -> None:
    made, _ = select_items_to_norm(
        materials(NARROW, **{"upto (narrow)": "She cut", "upto (wide)": "There was"}), NormingSettings("cloze", fragment_end="upto")
    )
    assert build_fragments_table(made, "upto")[["fragment", "target"]].values.tolist() == [
        ["She cut", "the"],
        ["There was", "fresh"],
    ]
    with pytest.raises(study.DataError, match=r"item i1 \(narrow\): its column upto is no beginning"):
        select_items_to_norm(materials(NARROW, upto="There was"), NormingSettings("cloze", fragment_end="upto"))


def test_conditions_with_one_fragment_share_their_readers() -> None:
    same = {"is": "The key of the chests [is] old.", "are": "The key of the chests [are] old."}
    assert count_participants_needed(materials(NARROW), NormingSettings("cloze", 20)) == 40
    assert count_participants_needed(materials(same), NormingSettings("cloze", 20)) == 20
    assert count_participants_needed(materials(same, NARROW | {"is": "a [b]", "are": "c [d]"}), NormingSettings("cloze", 20)) == 80
    assert count_participants_needed(materials(same), NormingSettings("plausibility", 20)) == 40
    three = {"x": "a [b]", "y": "a [c]", "z": "d [e]"}  # of 60 readers 40 see `a`, and 20 `d`
    assert count_participants_needed(materials(three), NormingSettings("cloze", 20)) == 60


def test_nobody_is_asked_about_an_item_twice_and_every_sentence_is_asked_about_as_often() -> None:
    made, stated = select_items_to_norm(
        materials(*[{name: f"{n} {text}" for name, text in NARROW.items()} for n in range(7)]), NormingSettings("plausibility", 3)
    )
    lists = study.ShortListsSection(items_per_list=6, ratings_per_item=count_participants_needed(made, stated), one_per="item")
    [trial_list] = stimuli.Design(short_lists=lists).build_trial_lists(made, seed=1)
    assert len(trial_list.short_lists) == 7
    assert all(len({trial.item.id for trial in part}) == 6 for part in trial_list.list_participant_trials())
    shown = Counter((trial.item.id, trial.condition) for part in trial_list.list_participant_trials() for trial in part)
    assert set(shown.values()) == {3}
    assert len(shown) == 14
    with pytest.raises(ValueError, match="lists of 8 items need 8 items; there are 7"):
        stimuli.Design(short_lists=study.ShortListsSection(8, 8, one_per="item")).build_trial_lists(made, seed=1)
    with pytest.raises(ValueError, match="one_per is 'list'"):
        study.ShortListsSection(8, 8, one_per="list")


def test_a_sample_is_drawn_by_the_seed_and_stated() -> None:
    pool = materials(*[NARROW] * 30)
    made, stated = select_items_to_norm(pool, NormingSettings("plausibility"), sample=10, seed=4)
    again, _ = select_items_to_norm(pool, NormingSettings("plausibility"), sample=10, seed=4)
    other, _ = select_items_to_norm(pool, NormingSettings("plausibility"), sample=10, seed=5)
    assert (stated.random_sample and stated.random_sample.pool_size, len(made.items)) == (30, 10)
    assert [i.id for i in made.items] == [i.id for i in again.items] != [i.id for i in other.items]
    assert {item.extra[norming.HASH_COLUMN] for item in made.items} == {stated.sha256} != {NormingSettings("plausibility").sha256}
    with pytest.raises(study.DataError, match="30 items are asked for, of 30"):
        select_items_to_norm(pool, NormingSettings("plausibility"), sample=30)


def test_fillers_are_left_out_and_other_conditions_are_for_another_study() -> None:
    made = materials(NARROW)
    filler = Item("f1", "fillers", {"": Sentence("Nothing happened.")})
    both = Materials((*made.paradigms, Paradigm("fillers", "fillers", {})), (*made.items, filler))
    assert [item.id for item in select_items_to_norm(both, NormingSettings("acceptability"))[0].items] == ["i1"]
    assert [item.id for item in select_items_to_norm(both, NormingSettings("acceptability"), paradigms=["fillers"])[0].items] == [
        "f1"
    ]
    pairs = Materials((*made.paradigms, Paradigm("q", "f")), made.items)
    with pytest.raises(study.DataError, match=r"differ in their conditions \(narrow, wide; grammatical, ungrammatical\)"):
        select_items_to_norm(pairs, NormingSettings("acceptability"))
    with pytest.raises(study.DataError, match="no paradigm 'x'; expected one of p"):
        select_items_to_norm(made, NormingSettings("acceptability"), paradigms=["x"])


NORMS = pd.DataFrame(
    [
        ("i1", "p", "narrow", 0.9, 0.7, 0.97, 0.8, 0.5),
        ("i1", "p", "wide", 0.1, 0.03, 0.3, 0.12, 2.0),
        ("i2", "p", "narrow", 0.5, 0.3, 0.7, 0.5, 1.0),
        ("i2", "p", "wide", None, None, None, None, None),
    ],
    columns=["item", "paradigm", "condition", "value", "ci_low", "ci_high", "shrunken", "entropy"],
)
RULES = {
    "an estimate in one condition": ("cloze >= 0.5 in narrow", [True, True]),
    "a limit": ("cloze.ci_low > 0.5 in narrow", [True, False]),
    "shrunken": ("cloze.shrunken >= 0.85 in narrow", [False, False]),
    "no answer fulfils nothing": ("cloze <= 0.95", [True, False]),
    "entropy": ("entropy < 1 in narrow", [True, False]),
}


@pytest.mark.parametrize(("rule", "kept"), RULES.values(), ids=RULES.keys())
def test_items_are_kept_by_the_rule(rule: str, kept: list[bool]) -> None:
    table = compute_norm_decisions(NORMS, NormingSettings("cloze", keep=(rule,)))
    assert table["kept"].tolist() == kept
    assert table["reason"].isna().tolist() == kept


def test_a_rule_says_what_broke_it_and_all_have_to_hold() -> None:
    stated = NormingSettings("cloze", keep=("cloze.ci_high <= 0.2 in wide", "cloze >= 0.95 in narrow"))
    [reason, _] = compute_norm_decisions(NORMS, stated)["reason"]
    assert reason == "cloze.ci_high <= 0.2 in wide: 0.3 in wide; cloze >= 0.95 in narrow: 0.9 in narrow"
    model = NORMS.assign(model_value=[0.99, 0.1, 0.99, 0.1])
    assert compute_norm_decisions(model, stated, value="model_value")["kept"].tolist() == [True, True]
    with pytest.raises(study.DataError, match="no sentence is in 'far'; expected one of narrow, wide"):
        compute_norm_decisions(NORMS, NormingSettings("cloze", keep=("cloze <= 1 in far",)))


@pytest.mark.parametrize("rule", ["cloze", "cloze <= much", "cloze.mean <= 1", "plausibility >= 4", "entropy.ci_low <= 1"])
def test_what_is_no_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"keep is .*; expected"):
        NormingSettings("cloze", keep=(rule,))


def test_a_rule_reads_as_it_was_written() -> None:
    for text in ("cloze <= 0.2", "cloze.ci_high < 0.4 in neutral context", "plausibility.shrunken >= -1"):
        assert str(KeepRule.parse(text)) == text


def test_kept_items_carry_what_was_found_for_select() -> None:
    norms = NORMS.assign(task="cloze", n_valid_responses=[20, 20, 20, 0])
    made = norming.add_norms(materials(NARROW, NARROW), norms, ["i1"])
    assert [item.id for item in made.items] == ["i1"]
    assert {"cloze (wide)", "cloze_n (narrow)"} <= {*made.items[0].extra}
    table = stimuli.compute_covariates(made, ["cloze", "cloze_shrunken"]).set_index(["covariate", "condition"])["value"]
    assert (table["cloze", "wide"], table["cloze_shrunken", "wide"]) == (0.1, 0.12)


def test_new_items_are_as_many_as_dropped_share_no_sentence_and_say_where_they_are_from() -> None:
    grammar = stimuli.read_grammar(ROOT / "examples" / "grammar" / "agreement.toml")
    normed = stimuli.generate(grammar, 100, seed=1, paradigms=["reflexive_number"]).materials
    dropped = [("reflexive_number-0003", "reflexive_number"), ("reflexive_number-0007", "reflexive_number")]
    made = draw_replacement_items(grammar, normed.items, dropped, seed=2)
    old = {s.text for item in normed.items for s in item.sentences.values()}
    assert len(made.items) == 2
    assert old.isdisjoint(s.text for item in made.items for s in item.sentences.values())
    assert {item.id for item in normed.items}.isdisjoint(item.id for item in made.items)
    assert [item.extra["replaces"] for item in made.items] == [item for item, _ in dropped]
    assert {item.extra["origin"] for item in made.items} == {"grammar"}
    assert draw_replacement_items(grammar, normed.items, dropped, seed=2) == made
    with pytest.raises(study.DataError, match="144"):
        draw_replacement_items(grammar, normed.items, dropped * 30, seed=2)
    with pytest.raises(study.DataError, match="the new items have no paradigm p; expected those of the items dropped, among "):
        draw_replacement_items(grammar, normed.items, [("i1", "p")], seed=2)


def test_new_items_may_come_from_reviewed_drafts_and_never_come_twice() -> None:
    texts = [{"narrow": f"She cut the fresh [bread{n}] well.", "wide": f"There was fresh [bread{n}] left."} for n in range(6)]
    drafts = materials(*texts, origin="draft", model="some/model")
    seen = drafts.items[:3]
    made = draw_replacement_items(drafts, seen, [("old-1", "p"), ("old-2", "p")], seed=1)
    assert {item.sentences["wide"].text for item in made.items} <= {
        text["wide"].replace("[", "").replace("]", "") for text in texts[3:]
    }
    assert [(i.extra["origin"], i.extra["model"], i.extra["replaces"]) for i in made.items] == [
        ("draft", "some/model", "old-1"),
        ("draft", "some/model", "old-2"),
    ]
    with pytest.raises(study.DataError, match="1 new items of p are asked for, and of 6 there are 0 that share no sentence"):
        draw_replacement_items(drafts, [*seen, *drafts.items[3:]], [("old-1", "p")], seed=1)


def test_norm_toml_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "norm.toml"
    path.write_text('task = "cloze"\nresponses_per_sentense = 3\n')
    with pytest.raises(
        study.DataError, match=r"key 'responses_per_sentense' is not known; did you mean 'responses_per_sentence'\?"
    ):
        norming.read_norming_settings(path)
    path.write_text('task = "cloze"\nkeep = ["cloze < 1"]\n')
    assert norming.read_norming_settings(path) == NormingSettings("cloze", keep=("cloze < 1",))
