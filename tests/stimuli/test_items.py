"""Words and regions are character spans of the sentence."""

from pathlib import Path

import pytest

from gardenpath.stimuli import (
    Materials,
    Paradigm,
    Region,
    Sentence,
    build_conditions_table,
    build_items_table,
    build_words_table,
    read,
)


def test_a_word_belongs_to_the_innermost_region() -> None:
    sentence = Sentence("The key to the box is here.", (Region("subject", 0, 18), Region("cue", 4, 7)))
    assert [w.region for w in sentence.list_words()] == ["subject", "cue", "subject", "subject", "subject", None, None]


def test_the_same_word_twice_is_told_apart_by_its_place() -> None:
    sentence = Sentence("that man said that", (Region("critical", 14, 18),))
    assert [w.index for w in sentence.list_region_words("critical")] == [3]


def test_spans_count_code_points_not_bytes_or_utf_16_units() -> None:
    word = Sentence("😀 né 猫").list_words()
    assert [(w.text, w.start, w.end) for w in word] == [("😀", 0, 1), ("né", 2, 4), ("猫", 5, 6)]


def test_the_authors_segmentation_takes_the_place_of_whitespace() -> None:
    assert [w.text for w in Sentence("我们看书", segmentation=((0, 2), (2, 3), (3, 4))).list_words()] == ["我们", "看", "书"]


@pytest.mark.parametrize(
    ("text", "regions", "message"),
    [("Short.", (Region("critical", 2, 9),), "outside the sentence of 6 characters"), (" ", (), "the sentence is empty")],
)
def test_an_impossible_sentence_is_refused(text: str, regions: tuple[Region, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sentence(text, regions)


def test_conditions_are_all_combinations_of_levels() -> None:
    paradigm = Paradigm("p", "f", {"number": ("sg", "pl"), "match": ("yes", "no")})
    assert list(paradigm.list_conditions()) == ["sg.yes", "sg.no", "pl.yes", "pl.no"]
    assert paradigm.list_conditions()["pl.yes"] == {"number": "pl", "match": "yes"}


def test_tables_of_the_example_hold_every_sentence_word_and_level(example_materials: Materials) -> None:
    items, words, conditions = (make(example_materials) for make in (build_items_table, build_words_table, build_conditions_table))
    assert (len(items), len(conditions)) == (240, 24)
    assert len(words) == sum(len(s.split()) for s in items["sentence"])
    assert words["zipf"].between(0, 8).all()


def test_length_counts_letters_and_digits_only(example_materials: Materials) -> None:
    words = build_words_table(example_materials).set_index("text")["length"]
    assert set(words.loc[["readings."]]) == {8}
    assert set(words.loc[["patient's"]]) == {8}


@pytest.fixture(scope="module")
def example_materials() -> Materials:
    return read(Path(__file__).parents[2] / "examples" / "minimal-pairs" / "items.csv")


@pytest.mark.parametrize(
    ("segmentation", "fault"),
    [
        (((0, 4), (2, 6)), r"word 1 of the segmentation, \[2, 6\], overlaps the word before it, \[0, 4\]"),
        (((3, 6), (0, 3)), "overlaps the word before it"),
        (((0, 3), (3, 99)), "outside the sentence of 8 characters"),
        (((0, 3), (3, 3)), r"\[3, 3\], is empty"),
        (((0, 3), (3, 4)), "holds blanks only"),
        ((), "the segmentation holds no words"),
    ],
)
def test_words_of_a_segmentation_follow_each_other(segmentation: tuple[tuple[int, int], ...], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Sentence("The dogs", segmentation=segmentation)
