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
    assert again.find_source_line("i1", "ungrammatical").line == 4


def test_rows_that_stand_in_one_cell_are_told_so(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="each row stands in one cell"):
        stimuli.read(written(tmp_path, f'"{HEAD}"', *(f'"{row}"' for row in ROWS)), format="source")


def test_a_table_of_another_format_with_semicolons_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "Group;Item;Sentence", "a;1;No dog barks.")
    with pytest.raises(study.DataError, match="a table of the format pcibex with semicolons between its columns"):
        stimuli.read(path)


def workbook(path: Path, *sheets: list[list[object]], decimals: str = "General") -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra import is not installed")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for n, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet{n}")
        for row in rows:
            sheet.append(row)
        for cell in sheet["F"] if rows else ():
            cell.number_format = decimals
    book.save(path)
    return path


def cells(*norms: object) -> list[list[object]]:
    rows: list[list[object]] = [[*HEAD.split(","), "norm"]]
    return rows + [[*row.split(","), norm] for row, norm in zip(ROWS, norms, strict=True)]


def test_a_workbook_is_read_as_its_table(tmp_path: Path) -> None:
    table = cells(3, 4)
    table[1][4] = "No dog, and no cat, has [ever] barked."
    table.insert(2, [None] * 6)
    read = stimuli.read(workbook(tmp_path / "items.xlsx", table, []))
    (item,) = read.items
    assert item.sentences["grammatical"].text == "No dog, and no cat, has ever barked."
    assert item.extra == {"norm (grammatical)": "3", "norm (ungrammatical)": "4"}
    assert read.find_source_line("i1", "ungrammatical").line == 4, "the row of the sheet"


def test_numbers_of_a_workbook_are_read_as_they_are_shown(tmp_path: Path) -> None:
    (item,) = stimuli.read(workbook(tmp_path / "items.xlsx", cells(3.1, 3.1), decimals="0.00")).items
    assert item.extra == {"norm": "3.10"}


def test_of_several_filled_sheets_none_is_guessed(tmp_path: Path) -> None:
    path = workbook(tmp_path / "items.xlsx", cells(1, 1), [["notes"]])
    with pytest.raises(study.DataError, match="the sheets Sheet1, Sheet2 all hold cells; expected one"):
        stimuli.read(path)


def test_a_broken_workbook_is_named(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl", reason="the extra import is not installed")
    path = tmp_path / "items.xlsx"
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(study.DataError, match="not a whole Excel workbook"):
        stimuli.read(path)


@pytest.mark.parametrize("condition", ["plain", ""])
def test_fillers_are_one_sentence_a_row_and_state_no_factors(tmp_path: Path, condition: str) -> None:
    fillers = [f"filler,filler,f{n},{condition},The cat sleeps {n}." for n in range(3)]
    read = stimuli.read(written(tmp_path, HEAD, *ROWS, *fillers))
    assert read.find_paradigm("filler").factors == {"condition": (condition or "only",)}
    assert [list(item.sentences) for item in read.items if item.paradigm == "filler"] == [[condition or "only"]] * 3
    assert stimuli.write(read, tmp_path / "again.csv") == []
    assert stimuli.read(tmp_path / "again.csv") == read


def test_a_condition_that_is_nearly_one_of_a_pair_is_no_filler(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match="condition 'gramatical' is not known in paradigm p; expected grammatical or"):
        stimuli.read(written(tmp_path, HEAD, ROWS[0].replace("grammatical", "gramatical")))


def test_factors_are_stated_once_on_any_row(tmp_path: Path) -> None:
    rows = [f"rc,f,i{n},{c},Der Mann {c} {n}.,{'kind: a, b, c' if (n, c) == (2, 'b') else ''}" for n in (1, 2) for c in "abc"]
    rows = [row.replace("kind: a, b, c", '"kind: a, b, c"') for row in rows]
    assert stimuli.read(written(tmp_path, f"{HEAD},factors", *rows)).find_paradigm("rc").factors == {"kind": ("a", "b", "c")}
