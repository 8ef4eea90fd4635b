"""The balance of conditions: means over items and standardised differences, region by region."""

import math
import statistics
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
from gardenpath.stimuli.formats import marked_csv
from gardenpath.stimuli.item_tables import measure_word_length, zipf

SHORT = ["cat", "horse", "rabbit", "dog", "bird"]
LONG = ["elephant", "crocodile", "butterfly", "kangaroo", "caterpillar"]


def materials(good: list[str], bad: list[str], frame: str = "{{Our}} old [{}] has come to us.", language: str = "en") -> Materials:
    items = [
        Item(
            f"i{n}",
            "p",
            {
                c: Sentence(*marked_csv.parse_marked_sentence(frame.format(w)))
                for c, w in zip(("grammatical", "ungrammatical"), words, strict=True)
            },
            language,
        )
        for n, words in enumerate(zip(good, bad, strict=True))
    ]
    return Materials((Paradigm("p", "f"),), tuple(items))


def row(table: pd.DataFrame, region: str, measure: str) -> pd.Series:
    return table.set_index(["region", "measure"]).loc[(region, measure)]


def notes(of: Materials) -> list[str]:
    return [finding.message for finding in stimuli.check(of) if finding.rule == "balance"]


def test_the_difference_is_standardised_by_the_pooled_spread_of_items() -> None:
    letters = row(stimuli.compute_balance(materials(SHORT, LONG)), "critical", "letters")
    a, b = ([measure_word_length(word) for word in words] for words in (SHORT, LONG))
    pooled = math.sqrt((statistics.variance(a) + statistics.variance(b)) / 2)
    assert (letters["mean_a"], letters["mean_b"]) == (statistics.mean(a), statistics.mean(b))
    assert letters["cohens_d"] == pytest.approx((statistics.mean(a) - statistics.mean(b)) / pooled)


def test_each_part_of_the_sentence_is_compared() -> None:
    table = stimuli.compute_balance(materials(SHORT, LONG))
    assert list(dict.fromkeys(table["region"])) == ["before", "critical", "after", "cue", "rest", "sentence"]
    assert row(table, "before", "letters")["mean_a"] == 3
    assert row(table, "sentence", "letters")["mean_a"] - row(table, "rest", "letters")["mean_a"] == 3
    assert row(table, "critical", "zipf")["mean_a"] == pytest.approx(statistics.mean(zipf(w, "en") or 0 for w in SHORT))


def test_a_large_difference_is_noted_and_a_small_one_is_not() -> None:
    assert notes(materials(SHORT, LONG))[0].startswith(
        "mean letters of the critical region: 4.20 (grammatical), 9.00 (ungrammatical); standardised difference -3."
    )
    assert notes(materials(SHORT, SHORT)) == []
    assert notes(materials(SHORT[:4], LONG[:4])) == [], "four items say nothing of a condition"


def test_a_difference_that_all_items_share_has_no_measure_and_is_noted() -> None:
    of = materials(["ever"] * 5, ["never"] * 5)
    assert pd.isna(row(stimuli.compute_balance(of), "critical", "letters")["cohens_d"])
    assert "4.00 (grammatical), 5.00 (ungrammatical); the same in all items" in notes(of)[0]


def test_the_cue_itself_is_no_imbalance() -> None:
    of = materials(SHORT, LONG, "{{{}}} man has [ever] come to us.")
    assert abs(row(stimuli.compute_balance(of), "cue", "letters")["cohens_d"]) > 3
    assert notes(of) == []


def test_without_a_frequency_list_lengths_are_compared_all_the_same() -> None:
    assert set(stimuli.compute_balance(materials(SHORT, LONG, language="eu"))["measure"]) == {"letters"}


def test_every_two_of_four_conditions_are_compared() -> None:
    paradigm = Paradigm("p", "f", {"a": ("x", "y"), "b": ("u", "v")})
    item = Item("i", "p", {name: Sentence(f"A {name} came.") for name in paradigm.list_conditions()})
    table = stimuli.compute_balance(Materials((paradigm,), (item,)))
    assert len(table[table["measure"] == "letters"]) == 6


def test_materials_without_items_have_an_empty_balance(study_folder: Path) -> None:
    assert stimuli.compute_balance(Materials((), ())).empty
    assert stimuli.check(Materials((Paradigm("p", "f"),), ())) == []
