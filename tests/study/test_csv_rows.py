"""Broken quotes and endless cells are named, wherever a table is read."""

import io
from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.experiment.platforms.sources import Source, read_csv_cells
from gardenpath.study.csv_rows import read_csv_rows

HEADER = "paradigm,phenomenon,item,condition,sentence\n"
ROWS = "p,q,{0},grammatical,{1}The dog sleeps.\np,q,{0},ungrammatical,The dog sleep.{2}\n"
LONG = "a" * 140_000


def rows(text: str) -> list[tuple[int, list[str]]]:
    return list(read_csv_rows(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    "text",
    ['a,b\n1,"2\n3,4\n', 'a,b\n1,"2\n3,"4\n5,6\n', 'a,b,c\nx,y,"1\nx,z,2"\nx,y,3\n'],
    ids=["never closed", "closed inside a cell", "closed by another cell's quote"],
)
def test_a_quote_that_swallows_rows_is_named_where_it_opens(text: str) -> None:
    with pytest.raises(ValueError, match="line 2: a quote opens a cell"):
        rows(text)


def test_cells_of_several_lines_are_read() -> None:
    assert rows('a,b,c\n1,"two\nlines, or ""more""",3\n4,5,6\n')[1:] == [
        (2, ["1", 'two\nlines, or "more"', "3"]),
        (4, ["4", "5", "6"]),
    ]


def test_a_cell_over_the_limit_of_csv_is_named() -> None:
    with pytest.raises(ValueError, match="line 2: a cell is not closed, or is longer than 131,072 characters"):
        rows(f"a,b\n1,{LONG}\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (HEADER + ROWS.format("i1", "", "") + ROWS.format("i2", '"', ""), "line 4: a quote opens a cell that runs on"),
        (HEADER + ROWS.format("i1", '"', '"') + ROWS.format("i2", "", ""), "line 2: a quote opens a cell that runs on"),
        (HEADER + ROWS.format("i1", LONG, ""), "line 2: a cell is not closed"),
    ],
)
def test_materials_name_the_line(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "items.csv").write_text(text)
    with pytest.raises(study.DataError, match=f"items.csv, {fault}"):
        stimuli.read(tmp_path / "items.csv")


def test_tables_and_results_name_the_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('word,n\nthe,"1\na,2\n')
    with pytest.raises(study.DataError, match=r"t\.csv, line 2: a quote opens"):
        study.table_files.read_csv(tmp_path / "t.csv")
    with pytest.raises(study.DataError, match=r"r\.csv, line 2: a cell is not closed"):
        read_csv_cells(Source("r.csv", f"a,b\n1,{LONG}\n".encode()))
