"""Reviews: the log, each reviewer's order with known-bad pairs, what stands, how far two agree, and what is kept."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from gardenpath import study
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence
from gardenpath.stimuli.drafting.agreement import compute_agreement
from gardenpath.stimuli.drafting.agreement_tables import (
    build_drafting_table,
    build_reviews_table,
    compute_review_agreement,
    count_detected_known_bad,
)
from gardenpath.stimuli.drafting.draft_findings import split_differences
from gardenpath.stimuli.drafting.regions import transfer_regions
from gardenpath.stimuli.drafting.reviews import (
    TICK_MEANINGS,
    Decision,
    append_decision,
    apply_decisions,
    build_queue,
    find_disagreements,
    find_standing_decisions,
    read_log,
)

ALL = dict.fromkeys(TICK_MEANINGS, True)


def item(n: int, paradigm: str = "number") -> Item:
    texts = (f"The {n} judges wait here now.", f"The {n} judges waits here now.")
    sentences = (Sentence(text, (Region("critical", text.index("wait"), text.index(" here")),)) for text in texts)
    return Item(f"i{n}", paradigm, dict(zip(("grammatical", "ungrammatical"), sentences, strict=True)), extra={"model": "m"})


MATERIALS = Materials(
    (Paradigm("number", "agreement"), Paradigm("person", "agreement")), (*map(item, range(30)), item(30, "person"))
)


def said(who: str, name: str, action: str = "accept", **more) -> Decision:
    ticks = ALL if action == "accept" else {**ALL, "good": False}
    return Decision(f"2026-01-01T00:00:{len(name):02d}", who, name, action, **{"ticks": ticks, **more})


def test_what_is_logged_is_read_again_and_a_line_cut_off_is_left_out_alone(tmp_path: Path) -> None:
    log = tmp_path / "reviews.jsonl"
    decisions = [said("Ann", "i1"), said("Ann", "i2", "drop", reason="zu ähnlich"), said("Ann", "i2", "undo")]
    for one in decisions:
        append_decision(log, one)
    assert read_log(log) == (decisions, [])
    whole = log.read_bytes()
    log.write_bytes(whole[:-20])  # as a crash leaves it
    append_decision(log, said("Ann", "i3"))
    read, broken = read_log(log)
    assert [one.item for one in read] == ["i1", "i2", "i3"]
    assert broken == [f"{log}, line 3: cut off in the middle, as by a crash; left out"]
    log.write_text('{"time": "t", "reviewer": "A", "item": "i1", "action": "like"}\n')
    with pytest.raises(study.DataError, match="line 1: no decision of a review"):
        read_log(log)


def test_each_reviewer_has_an_order_of_their_own_with_known_bad_pairs_in_it() -> None:
    ann, bob = build_queue(MATERIALS, "Ann"), build_queue(MATERIALS, "Bob")
    assert [one.item.id for one in ann] == [one.item.id for one in build_queue(MATERIALS, "Ann")]
    assert [one.item.id for one in ann] != [one.item.id for one in bob]
    for shown in (ann, bob):
        assert sorted(one.item.id for one in shown if not one.known_bad) == sorted(one.id for one in MATERIALS.items)
        assert sum(bool(one.known_bad) for one in shown) == round(0.07 * 31)
    kinds = {one.known_bad: one.item for one in build_queue(MATERIALS, "Ann", known_bad_share=0.3) if one.known_bad}
    assert {*kinds} == {"exchanged", "same", "misspelt", "other paradigm"}
    assert "waits" in kinds["exchanged"].sentences["grammatical"].text
    assert len({sentence.text for sentence in kinds["same"].sentences.values()}) == 1
    assert kinds["misspelt"].sentences["grammatical"].text not in {
        s.text for one in MATERIALS.items for s in one.sentences.values()
    }
    assert not any(one.known_bad for one in build_queue(MATERIALS, "Ann", blind=True))


def test_the_last_decision_that_was_not_taken_back_stands() -> None:
    log = [
        said("Ann", "i1", "drop", reason="x"),
        said("Ann", "i1"),
        said("Ann", "i1", "undo"),
        said("Ann", "i2"),
        said("Ann", "i2", "undo"),
    ]
    held = find_standing_decisions(log)
    assert {key[1]: one.action for key, one in held.items()} == {"i1": "drop"}


def test_what_is_kept_is_corrected_dropped_settled_or_left_open() -> None:
    log = [
        said("Ann", "i1"), said("Bob", "i1"),
        said("Ann", "i2", "correct", after={"grammatical": "The 2 old judges wait here now."}),
        said("Ann", "i3", "drop", reason="odd"), said("Bob", "i3", "drop", reason="odd"),
        said("Ann", "i4"), said("Bob", "i4", "drop", reason="odd"),
        said("Ann", "i5"), said("Bob", "i5", "drop", reason="odd"), said("Cem", "i5", is_adjudication=True),
        said("Ann", "i6", "correct", after={"grammatical": "Nothing is left."}),
    ]  # fmt: skip
    assert find_disagreements(log) == ["i4"]
    result = apply_decisions(MATERIALS, log)
    assert [one.id for one in result.materials.items] == ["i1", "i2", "i5", "i6"]
    assert (result.drop_reasons, result.disputed_items, result.items_without_region) == ({"i3": "odd"}, ["i4"], ["i6"])
    assert len(result.undecided_items) == 31 - 6
    one, two, five, _ = result.materials.items
    assert (one.extra["reviewers"], five.extra["reviewers"]) == ("Ann, Bob", "Ann, Bob, Cem")
    assert json.loads(two.extra["before"]) == {"grammatical": "The 2 judges wait here now."}
    assert [word.text for word in two.sentences["grammatical"].list_region_words("critical")] == ["wait"]
    counts = build_drafting_table(MATERIALS, result).set_index(["step", "reason"])["n_pairs"]
    assert counts["accepted", "none"] == counts["corrected", "none"] == 2
    assert counts["dropped", "odd"] == 1
    again = build_drafting_table(MATERIALS, result, build_drafting_table(MATERIALS, result))
    assert again["n_pairs"].sum() == 5


def test_a_correction_that_took_a_region_gets_it_where_all_other_pairs_have_it() -> None:
    drafted = MATERIALS.items[0]
    bare = {name: replace(sentence, regions=()) for name, sentence in drafted.sentences.items()}
    materials = replace(MATERIALS, items=(replace(drafted, sentences=bare), *MATERIALS.items[1:4]))
    name = drafted.id
    after = {condition: sentence.text.replace("here", "there") for condition, sentence in drafted.sentences.items()}
    log = [said("Ann", one.id) for one in materials.items[1:]]
    accepted = apply_decisions(materials, [said("Ann", name), *log])
    assert accepted.items_without_region == [name], "what nobody corrected is left as it was drafted"
    corrected = apply_decisions(materials, [said("Ann", name, "correct", after=after), *log])
    assert corrected.items_without_region == []
    words = [one.list_region_words("critical")[0].text for one in corrected.materials.items[0].sentences.values()]
    assert words == [one.list_region_words("critical")[0].text for one in drafted.sentences.values()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A very big dog barks now.", ["barks"]),
        ("A dog barked now.", ["barked"]),
        ("A dog barks.", ["barks."]),
        ("Now it is late.", []),
    ],
)
def test_a_region_goes_with_its_words(text: str, words: list[str]) -> None:
    dog = Sentence("A dog barks now.", (Region("critical", 6, 11),))
    assert [word.text for word in transfer_regions(dog, text).list_region_words("critical")] == words


def test_pieces_show_where_members_differ() -> None:
    assert split_differences("No dog ever barks.", "The dog ever barks.")[0] == [("No ", True), ("dog ever barks.", False)]
    assert split_differences("a b", "a x b") == ([("a ", False), ("b", False)], [("a ", False), ("x ", True), ("b", False)])


def by_hand(table: list[list[int]]) -> tuple[list[bool], list[bool]]:
    """Two reviewers' answers of which so many are yes-yes, yes-no, no-yes, no-no."""
    (yy, yn), (ny, nn) = table
    return [True] * (yy + yn) + [False] * (ny + nn), [True] * yy + [False] * yn + [True] * ny + [False] * nn


def test_agreement_is_that_of_the_published_tables() -> None:
    """Cohen's formula by hand, and the example with which Gwet (2008) shows the paradox of kappa."""
    result = compute_agreement(*by_hand([[20, 5], [10, 15]]))
    assert (result.agreement, round(result.kappa, 6)) == (0.7, 0.4)  # (.7 - .5) / (1 - .5)
    assert round(result.ac1, 6) == round((0.7 - 2 * 0.55 * 0.45) / (1 - 2 * 0.55 * 0.45), 6)
    paradox = compute_agreement(*by_hand([[118, 5], [2, 0]]))
    assert (round(paradox.kappa, 4), round(paradox.ac1, 4)) == (-0.0234, 0.9408)
    same = compute_agreement([True] * 9, [True] * 9)
    assert same.kappa != same.kappa
    assert (same.agreement, same.ac1) == (1.0, 1.0)
    assert compute_agreement([], []).n_decided == 0


def test_intervals_of_agreement_are_those_of_drawing_items_anew() -> None:
    one, other = by_hand([[60, 12], [9, 39]])
    rng, n = random.Random(1), len(one)
    draws = [[rng.randrange(n) for _ in range(n)] for _ in range(2000)]
    made = [compute_agreement([one[k] for k in draw], [other[k] for k in draw]) for draw in draws]
    result = compute_agreement(one, other)
    for name in ("kappa", "ac1"):
        values = sorted(getattr(each, name) for each in made)
        assert getattr(result, f"{name}_ci_low") == pytest.approx(values[50], abs=0.02)
        assert getattr(result, f"{name}_ci_high") == pytest.approx(values[1949], abs=0.02)


def test_two_reviewers_are_compared_on_first_decisions_without_the_known_bad() -> None:
    log = [
        *(said("Ann", f"i{n}") for n in range(10)), *(said("Bob", f"i{n}") for n in range(8)),
        said("Bob", "i8", "drop", reason="odd"), said("Bob", "i9", "correct", after={"grammatical": "X y."}),
        said("Bob", "i8", "undo"), said("Bob", "i8"),  # a change of mind counts for nothing
        said("Ann", "injected-1", injected_error="same"), said("Bob", "injected-1", "drop", reason="odd", injected_error="same"),
        said("Ann", "i0", "acceptable", condition="grammatical", ticks={}), said("Bob", "i0", "unacceptable", condition="grammatical", ticks={}),
    ]  # fmt: skip
    table = compute_review_agreement(log).set_index("measure")
    assert table.loc["keep", ["n_decided", "agreement"]].tolist() == [10, 0.9]
    assert table.loc["good", "agreement"] == 0.8
    assert table.loc["acceptable", ["n_decided", "agreement"]].tolist() == [1, 0.0]
    assert count_detected_known_bad(log) == {"Ann": (0, 1), "Bob": (1, 1)}
    assert len(build_reviews_table(log)) == len(log)
