"""Norms of words: tables of a researcher's own, joined to sentences by word."""

from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli, study
from gardenpath.study.config import NormSection

from ..conftest import run_here


def norm(folder: Path, text: str, word: str = "Word", value: str = "AoA", **more: str) -> stimuli.Norm:
    (folder / "norm.csv").write_text(text, encoding="utf-8")
    return stimuli.read_norms({"aoa": NormSection("norm.csv", word, value, **more)}, folder)["aoa"]  # type: ignore[arg-type]


def test_words_are_found_as_written_in_small_letters_or_by_case_alone(tmp_path: Path) -> None:
    found = norm(tmp_path, "Word\tn\tAoA\nPolish\t1\t7,5\npolish\t1\t6,0\nBill\t2\t4\ncafe\u0301\t3\t9\nl’homme\t1\t2\nx\t1\tNA\n")
    words = ["Polish", "polish,", "POLISH", "bill", "«Café»", "l'homme", "x", "..."]
    assert [found.look_up(word) for word in words] == [7.5, 6.0, 6.0, 4.0, 9.0, 2.0, None, None]
    assert found.mean(["Polish", "bill", "unknown"]) == 5.75
    assert found.mean(["unknown"]) is None


def test_a_word_with_several_values_is_named_or_joined_as_stated(tmp_path: Path) -> None:
    text = "Word,AoA\nbank,2\nbank,4\ndog,3\n"
    with pytest.raises(study.DataError, match="line 3: 'bank' has 4 here and 2 in line 2; expected one value a word"):
        norm(tmp_path, text)
    assert norm(tmp_path, text, repeated="mean").look_up("bank") == 3
    assert norm(tmp_path, text, repeated="sum").look_up("bank") == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column 'Word', 'AoA' for norm aoa; found an empty file"),
        ("word,AoA\ndog,2\n", "no column 'Word' for norm aoa; found word, AoA"),
        ("Word,AoA\ndog,2;5\n", "line 2: AoA of 'dog' is '2;5', expected a number"),
        ("Word,AoA\ndog\n", "line 2: 1 cells, expected 2"),
        ("Word,AoA\ndog,NA\n", "no word has a value in column 'AoA'"),
        ('Word,AoA\n"dog,2\ncat,3\n', "line 2: a quote opens a cell"),
    ],
)
def test_what_cannot_be_a_norm_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(study.DataError, match=said):
        norm(tmp_path, text)


def test_norms_of_a_workbook_in_thai_words_by_the_author(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("คำ", "zipf"), ("แมว", 5.0), ("ที่", 7.25)):
        book.active.append(row)
    book.save(tmp_path / "thai.xlsx")
    norms = stimuli.read_norms({"zipf": NormSection("thai.xlsx", "คำ", "zipf")}, tmp_path)
    sentence = stimuli.Sentence("แมวที่", segmentation=((0, 3), (3, 6)))
    item = stimuli.Item("i", "p", {"a": sentence}, "th")
    materials = stimuli.Materials((stimuli.Paradigm("p", "p", {"f": ("a",)}),), (item,))
    table = stimuli.compute_covariates(materials, ["zipf:sentence"], norms=norms)
    assert table["value"].tolist() == [6.125]


ITEMS = pd.DataFrame(
    [
        (n, "p", "p", condition, "turn: one, two", f"The {noun} {n} [{verb}].", "low")
        for n in range(6)
        for condition, noun, verb in (("one", "dog", "barks"), ("two", "cat", "blorfs" if n == 5 else "sleeps"))
    ],
    columns=["item", "paradigm", "phenomenon", "condition", "factors", "sentence", "kind"],
)
NORM = "Word,AoA\ndog,2\ncat,3\nbarks,4\nsleeps,9.5\nthe,1\n"


def test_check_and_design_compare_conditions_in_norms(tmp_path: Path) -> None:
    ITEMS.to_csv(tmp_path / "items.csv", index=False)
    (tmp_path / "aoa.csv").write_text(NORM)
    ran = run_here("gardenpath check items.csv --norm aoa aoa.csv Word AoA", tmp_path)
    assert "mean aoa of the critical region: 4.00 (one), 9.50 (two); the same in all items" in ran.printed
    assert "aoa:sentence: aoa.csv has no value of 28.9% of the words" not in ran.said
    assert "of the words (7 different), which means leave out: 0 (2), 1 (2)" in ran.said
    (tmp_path / "study.toml").write_text(
        'name = "s"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n'
        '[materials.norms.aoa]\nfile = "aoa.csv"\nword = "Word"\nvalue = "AoA"\n'
        "[design]\nlists = 2\n[procedure.tasks.acceptability]\nkind = 'rating'\nprompt = 'Good?'\nlow = 'bad'\nhigh = 'good'\n"
    )
    ran = run_here("gardenpath design study.toml -o v", tmp_path)
    assert ran.code == 0, ran.said
    table = study.read(tmp_path / "v", "matching").query("covariate == 'aoa:critical' and stage == 'conditions'")
    assert table["mean_a"].tolist() == [4.0, 4.0]
    assert "blorfs" in ran.said


def test_select_takes_norms_of_the_command_line_and_of_its_file(tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    ITEMS.to_csv(tmp_path / "pool.csv", index=False)
    (tmp_path / "aoa.csv").write_text(NORM)
    asked = "--items 2 --covariate aoa:sentence=9"
    ran = run_here(f"gardenpath select pool.csv {asked} --norm aoa aoa.csv Word AoA -o chosen", tmp_path)
    assert ran.code == 0, ran.said
    table = study.read(tmp_path / "chosen", "words_not_found")
    assert table.query("word == 'blorfs'")[["n_occurrences"]].to_numpy().tolist() == [[1]]
    # The dog 0 barks: the mean of 1, 2 and 4; the number has no value.
    values = study.read(tmp_path / "chosen", "covariates").query("condition == 'one'")["value"]
    assert values.tolist() == [pytest.approx(7 / 3)] * 6
    ran = run_here("gardenpath select pool.csv --items 2 --covariate aoa:critical --norm aoa aoa.csv Word AoA -o c", tmp_path)
    assert ran.code == 1
    assert "item 5 (two, aoa:critical) has no value" in ran.said
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "selection.toml").write_text(
        'materials = ["../pool.csv"]\nitems = 2\n[covariates]\n"aoa:sentence" = { tolerance = 9.0 }\n'
        '[norms.aoa]\nfile = "../aoa.csv"\nword = "Word"\nvalue = "AoA"\n'
    )
    again = run_here("gardenpath select in/selection.toml -o again", tmp_path)
    assert again.code == 0, again.said
    assert (tmp_path / "again/items.jsonl").read_bytes() == (tmp_path / "chosen/items.jsonl").read_bytes()
