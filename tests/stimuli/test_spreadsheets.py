"""Materials as spreadsheets write them."""

from pathlib import Path

import pytest

from gardenpath import stimuli, study

ROWS = ["p,f,i1,grammatical,No dog has [ever] barked.", "p,f,i1,ungrammatical,The dog has [ever] barked."]
HEAD = "paradigm,phenomenon,item,condition,sentence"


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "items.csv"
    path.write_text("".join(line + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    "head",
    [
        "Paradigm,Phenomenon,Item,Condition,Sentence",
        "PARADIGM;PHENOMENON;ITEM;CONDITION;SENTENCE",
        "paradigm,phenomenon,item,conditon,sentense",
    ],
)
def test_a_header_that_is_nearly_right_is_told_what_was_meant(tmp_path: Path, head: str) -> None:
    with pytest.raises(study.DataError) as caught:
        stimuli.read(written(tmp_path, head, *ROWS))
    for wrong, right in zip(head.replace(";", ",").split(","), HEAD.split(","), strict=True):
        told = f"line 1: column {wrong!r} is not known; did you mean {right!r}?"
        assert (told in str(caught.value)) == (wrong != right)
    assert "is missing" not in str(caught.value)


def test_a_table_with_semicolons_is_read(tmp_path: Path) -> None:
    """German Excel: a free column's name has commas in it, and the first line may name the separator."""
    head = HEAD.replace(",", ";") + ";rated, by, whom, when, where, why"
    rows = [row.replace(",", ";") + ";x, y" for row in ROWS]
    read = stimuli.read(written(tmp_path, head, *rows))
    assert read.items[0].extra == {"rated, by, whom, when, where, why": "x, y"}
    again = stimuli.read(written(tmp_path, "sep=;", head, *rows))
    assert again == read
    assert again.place("i1", "ungrammatical").line == 4


def test_rows_that_stand_in_one_cell_are_told_so(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="each row stands in one cell"):
        stimuli.read(written(tmp_path, f'"{HEAD}"', *(f'"{row}"' for row in ROWS)), format="source")


def test_a_table_of_another_format_with_semicolons_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "Group;Item;Sentence", "a;1;No dog barks.")
    with pytest.raises(study.DataError, match="a table of the format pcibex with semicolons between its columns"):
        stimuli.read(path)
