"""Words beside the words of a sentence (Maze): one each, carried by our formats, and checked."""

from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

HEADER = "paradigm,phenomenon,item,condition,sentence,alternatives\n"
GOOD = "p,f,i1,grammatical,The dog has [barked].,x-x-x sue nor thirds.\n"
ROWS = GOOD + GOOD.replace("i1,g", "i1,ung").replace("has", "have")


def read(tmp_path: Path, text: str) -> Materials:
    path = tmp_path / "items.csv"
    path.write_text(text)
    return stimuli.read(path)


@pytest.mark.parametrize("name", ["again.csv", "again.jsonl"])
def test_alternatives_come_back_from_our_formats(tmp_path: Path, name: str) -> None:
    materials = read(tmp_path, HEADER + ROWS)
    assert materials.items[0].sentences["grammatical"].alternatives == ("x-x-x", "sue", "nor", "thirds.")
    assert stimuli.write(materials, tmp_path / name) == []
    assert stimuli.read(tmp_path / name) == materials


@pytest.mark.parametrize("name", ["blimp", "pcibex", "pairs", "turktools", "syntaxgym"])
def test_other_formats_say_that_they_lose_them(tmp_path: Path, name: str) -> None:
    lost = stimuli.write(read(tmp_path, HEADER + ROWS), tmp_path / "other", format=name)
    assert "alternatives of 2 sentences" in lost


def test_an_alternative_with_a_space_in_it_is_lost_in_csv(tmp_path: Path) -> None:
    sentence = Sentence("猫 が 寝 た", alternatives=("x-x-x", "を 食べ", "本", "山"))
    item = Item("i1", "p", {"grammatical": sentence, "ungrammatical": Sentence("猫 を 寝 た")}, "ja")
    lost = stimuli.write(Materials((Paradigm("p", "f"),), (item,)), tmp_path / "a.csv")
    assert lost == ["alternatives of item i1 (grammatical): there are spaces within words"]


FAULTS = {
    "one too few": ("x-x-x sue nor", "3 alternatives, expected 4, one for each word of the sentence"),
    "the word itself": ("x-x-x sue has thirds.", "the alternative of word 2 is 'has', the word itself"),
}


@pytest.mark.parametrize(("cell", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_alternatives_that_do_not_fit_are_refused_with_file_and_line(tmp_path: Path, cell: str, message: str) -> None:
    with pytest.raises(study.DataError, match=f"line 2: i1 \\(grammatical\\): {message}"):
        read(tmp_path, HEADER + ROWS.replace("x-x-x sue nor thirds.", cell, 1))


def test_an_empty_alternative_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the alternative of word 1 \('dog'\) is empty"):
        Sentence("The dog barked.", alternatives=("x-x-x", " ", "sues."))


FOUND = {
    "a capital": ("x-x-x Sue nor thirds.", {("alternative-unlike", "warning")}),
    "no final mark": ("x-x-x sue nor thirds", {("alternative-unlike", "warning")}),
    "one word twice": ("x-x-x sue nor sue.", {("alternative-repeated", "warning")}),
    "the word with another mark": ("x-x-x sue nor Barked", {("alternative-same", "error"), ("alternative-unlike", "warning")}),
    "the first word's, which nobody sees": ("SUE. sue nor thirds.", set()),
    "nothing": ("x-x-x sue nor thirds.", set()),
}


@pytest.mark.parametrize(("cell", "expected"), FOUND.values(), ids=FOUND.keys())
def test_an_alternative_that_gives_the_word_away_is_found(tmp_path: Path, cell: str, expected: set[tuple[str, str]]) -> None:
    findings = stimuli.check(read(tmp_path, HEADER + ROWS.replace("x-x-x sue nor thirds.", cell, 1)))
    assert {(f.rule, f.severity) for f in findings if f.rule.startswith("alternative")} == expected
    assert all(f.line == 2 for f in findings if f.rule.startswith("alternative"))
