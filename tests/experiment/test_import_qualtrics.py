"""Ratings in Qualtrics' wide form: headings of two and three lines, sentences in headings, lists that leave half a matrix empty."""

import csv
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study

FIXTURES = Path(__file__).parent / "fixtures" / "qualtrics"
TURBLIMP = r"""
[survey]
columns = 'Q(?P<list>[23])\.(?P<item>\d+)_1'
headings = '(?P<paradigm>.+)_(?P<condition>good|bad)'
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "qualtrics"))


def collected(path: Path, **given: object) -> dict[str, pd.DataFrame]:
    return experiment.collect(path, platform="qualtrics", **given)  # type: ignore[arg-type]


def test_sentences_in_headings_are_found_in_the_materials(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "map.toml").write_text('[demographics]\nage = "Q1"\n')
    with caplog.at_level("INFO", "gardenpath"):
        tables = collected(folder / "three-lines.csv", materials=folder / "items.csv", mapping=folder / "map.toml")
    responses = tables["responses"]
    assert responses[["item", "condition", "response"]].values.tolist() == [
        ["1", "grammatical", "7"],
        ["1", "ungrammatical", "2"],
        ["1", "grammatical", "6"],
    ]
    assert "left out 1 rows that are previews" in caplog.text
    assert tables["demographics"][["question", "response"]].values.tolist() == [["age", "31"], ["age", "27"]]


def test_times_are_utc_and_who_did_not_finish_is_not_complete(folder: Path) -> None:
    sessions = collected(folder / "three-lines.csv", materials=folder / "items.csv")["sessions"]
    assert sessions["started"].tolist() == ["2026-01-15T17:00:00.000+00:00", "2026-07-15T16:00:00.000+00:00"]
    assert sessions["complete"].tolist() == [True, False]
    assert sessions["finished"].fillna("").tolist() == ["2026-01-15T17:05:00.000+00:00", ""]


def test_no_id_and_no_address_of_a_person_is_written(folder: Path) -> None:
    tables = collected(folder / "three-lines.csv", materials=folder / "items.csv")
    written = "".join(table.to_csv() for table in tables.values())
    assert not any(said in written for said in ("5f3c", "60aa", "R_1abc", "192.0.2", "nice, thanks"))


def test_a_workbook_holds_what_the_csv_holds(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra import is not installed")
    book = openpyxl.Workbook()
    for row in csv.reader((folder / "three-lines.csv").open(newline="")):
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    book.save(folder / "three-lines.xlsx")
    from_csv, from_excel = (
        collected(folder / name, materials=folder / "items.csv") for name in ("three-lines.csv", "three-lines.xlsx")
    )
    for name, table in from_csv.items():
        pd.testing.assert_frame_equal(from_excel[name], table)


def test_a_line_of_condition_labels_is_a_line_of_headings(folder: Path) -> None:
    (folder / "matrix.csv").write_text("Q2.2_1,Q2.3_1,Q3.2_1,Q3.3_1\nnpi_good,npi_bad,npi_bad,npi_good\n7,1,,\n,,2,6\n")
    (folder / "map.toml").write_text(TURBLIMP)
    responses = collected(folder / "matrix.csv", mapping=folder / "map.toml")["responses"]
    assert responses[["list", "trial", "paradigm", "item", "condition", "response"]].values.tolist() == [
        ["L2", 0, "npi", "2", "good", "7"],
        ["L2", 1, "npi", "3", "bad", "1"],
        ["L3", 0, "npi", "2", "bad", "2"],
        ["L3", 1, "npi", "3", "good", "6"],
    ]


FAULTS = {
    "ratings as texts": (lambda t: t.replace(",7,2,", ",Very natural,2,"), "a rating is 'Very natural', expected a number"),
    "cut short": (lambda t: t[:-30], r"line 6: \d+ cells, expected 14 as in the first line; the file is cut short"),
    "a doubled column": (lambda t: t.replace("Q2_2", "Q2_1", 1), "column 'Q2_1' occurs twice"),
    "no answers": (lambda t: "\n".join(t.splitlines()[:3]), "no column holds ratings"),
    "an id rounded by Excel": (lambda t: t.replace("5f3c", "5.3E+23"), r"line 5: 5\.3E\+23: a long number rounded"),
    "letters broken by Excel": (lambda t: t.replace("nice", "tré\u00c3\u00a9"), "opened as Windows-1252"),
}


@pytest.mark.parametrize(("damage", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named(folder: Path, damage, message: str) -> None:  # type: ignore[no-untyped-def]
    path = folder / "three-lines.csv"
    path.write_text(damage(path.read_text()))
    with pytest.raises(study.DataError, match=message):
        collected(path, materials=folder / "items.csv")


def test_sentences_without_materials_are_an_error(folder: Path) -> None:
    with pytest.raises(study.DataError, match="names sentences and no items; give the materials"):
        collected(folder / "three-lines.csv")


def test_a_workbook_that_is_none_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl", reason="the extra import is not installed")
    with zipfile.ZipFile(tmp_path / "broken.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")
    with pytest.raises(study.DataError, match=r"broken\.xlsx: not a whole workbook .*; download it again"):
        collected(tmp_path / "broken.xlsx")


@pytest.mark.data
@pytest.mark.parametrize(("name", "columns", "pairs"), [("base", 192, 16), ("experimental", 240, 20)])
def test_the_ratings_of_turblimp_are_read_with_their_sentences(
    name: str, columns: int, pairs: int, real_data: Path, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra import is not installed")
    source = real_data / "turblimp" / "data" / "human_judgments"
    head, labels, *people = openpyxl.load_workbook(source / f"{name}_judgments.xlsx").active.iter_rows(values_only=True)
    people = [row for row in people if any(cell is not None for cell in row)]
    counted = Counter((label, rating) for row in people for label, rating in zip(labels, row, strict=True) if rating)

    # The n-th row of the survey is the item that columns call n + 2; the second list has its counterpart.
    survey = openpyxl.load_workbook(source / "survey_material.xlsx", read_only=True)
    lists = [list(sheet.iter_rows(values_only=True))[1:] for sheet in survey.worksheets]
    records: list[dict[str, object]] = [
        {"record": "paradigm", "id": p, "phenomenon": p, "factors": {"acceptability": ["good", "bad"]}}
        for p in dict.fromkeys(paradigm for _, paradigm, _ in lists[0])
    ]
    for n, rows in enumerate(zip(*lists, strict=True), start=2):
        sentences = {condition: {"text": " ".join(text.split())} for text, _, condition in rows}
        records.append({"record": "item", "id": str(n), "paradigm": rows[0][1], "language": "tr", "sentences": sentences})
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))

    (tmp_path / "map.toml").write_text(TURBLIMP)
    given = {"mapping": tmp_path / "map.toml", "materials": tmp_path / "items.jsonl", "key": tmp_path / "key"}
    tables = collected(source / f"{name}_judgments.xlsx", **given)
    responses = tables["responses"]
    assert len(head) == columns
    assert len(responses) == counted.total() == 30 * columns / 2
    assert len(tables["sessions"]) == responses["participant"].nunique() == 30
    assert responses["item"].nunique() == columns / 2
    assert responses["condition"].value_counts().to_dict() == {"good": len(responses) / 2, "bad": len(responses) / 2}
    assert responses["paradigm"].nunique() == pairs
    found = Counter(zip(responses["paradigm"] + "_" + responses["condition"], responses["response"].astype(int), strict=True))
    assert found == counted
    assert len(tables["items"]) == 432
    sides = responses.groupby("session")["list"].unique()
    assert {len(lists) for lists in sides} == {1}
