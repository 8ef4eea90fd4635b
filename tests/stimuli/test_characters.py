"""Characters as readers see them, in counts and checks."""

import pytest

from gardenpath import stimuli
from gardenpath.experiment.players.lab.displays import Blank, Key
from gardenpath.experiment.players.lab.form_answers import fill_blank
from gardenpath.experiment.tasks.line_breaks import count_columns
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
from gardenpath.stimuli.formats.marked_csv import parse_marked_sentence
from gardenpath.study.graphemes import count_letters, split_graphemes

FAMILY, DUTCH, THUMB, SCOTLAND = "👨‍👩‍👧", "🇳🇱", "👍🏽", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"


def messages(marked: str, language: str = "en") -> dict[str, str]:
    item = Item("i", "p", {"a": Sentence(*parse_marked_sentence(marked))}, language)
    found = stimuli.check(Materials((Paradigm("p", "p", {"f": ("a",)}),), (item,)))
    return {finding.rule: finding.message for finding in found}


@pytest.mark.parametrize("one", [FAMILY, DUTCH, THUMB, SCOTLAND, "❤️", "e\u0301", "한", "ที่", "क्षि"])
def test_what_readers_take_for_one_is_one(one: str) -> None:
    assert split_graphemes(f"a{one}b") == ["a", one, "b"]
    assert count_letters(one) == 1
    assert count_letters(f"({one})x9") == 3
    assert "".join(split_graphemes(fill_blank(Blank("", "", "", f"a{one}", ""), Key("Backspace", 0.0, 0.0)).text)) == "a"


def test_emoji_take_the_room_of_two_letters_and_a_mark_none() -> None:
    assert [count_columns(text) for text in (FAMILY, DUTCH, THUMB, "e\u0301", "ที่", "猫")] == [2, 2, 2, 1, 1, 2]


def test_parts_of_emoji_are_no_invisible_characters() -> None:
    assert "invisible-character" not in messages(f"We {FAMILY} saw {SCOTLAND} [again] ❤️.")
    assert "U+200D" in messages("We s\u200daw it [again].")["invisible-character"]


def test_letters_apart_from_their_marks_are_named() -> None:
    said = messages("Le cafe\u0301 [est] ferme\u0301.", "fr")["decomposed"]
    assert "'cafe\u0301' and 1 more is not in composed form (NFC), 5 characters instead of 4" in said
    assert "decomposed" not in messages("Le café [est] fermé.", "fr")


def test_a_clitic_at_a_regions_edge_is_named_with_what_to_do() -> None:
    said = messages("J'aime l'[homme] d'ici.", "fr")["region-partial"]
    assert said == (
        "region 'critical' cuts the word \"l'homme\"; expected whole words, or a column segmentation that makes words of its parts"
    )


def test_what_frequencies_need_is_said_in_one_line() -> None:
    assert "a list of your own is a norm called zipf" in messages("ฉัน[เห็น]แมว", "th")["frequency-list"]
    said = messages("我[看]书。", "zh").get("frequency-list")
    assert said is None or said.endswith("pip install 'gardenpath[cjk]'")
