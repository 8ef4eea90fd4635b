"""magpie's CSV: lists joined by |, NA for what a screen has not."""

from pathlib import Path

import pytest

from gardenpath import experiment, study

FIXTURE = Path(__file__).parent / "fixtures" / "magpie" / "results.csv"
MATERIALS = FIXTURE.parents[1] / "qualtrics" / "items.csv"


def test_reading_times_and_ratings_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tables = experiment.collect(FIXTURE, platform="magpie", key=tmp_path / "key")
    readings, responses = tables["readings"], tables["responses"]
    assert readings["rt"].tolist() == [301, 302, 303, 304, 305, 306, 401, 402, 403, 404]
    assert readings["text"].tolist()[:4] == ["Nobody", "has", "ever", "come,"]
    assert responses[["trial", "condition", "task", "response"]].values.tolist() == [
        [0, "grammatical", "rating", "6"],
        [1, "ungrammatical", "rating", "2"],
        [0, "grammatical", "rating", "7"],
    ]
    assert responses["rt"].fillna(-1).tolist() == [-1, -1, 2100]  # a screen's time is no answer's after reading
    assert tables["sessions"]["started"].tolist()[0] == "2025-10-09T08:53:20.000+00:00"
    assert "line 2: a screen names no item; left out" in caplog.text


def test_regions_come_from_the_materials(tmp_path: Path) -> None:
    readings = experiment.collect(FIXTURE, platform="magpie", materials=MATERIALS, key=tmp_path / "key")["readings"]
    assert readings.loc[readings["region"] == "critical", "rt"].tolist() == [303, 403]


def test_chunks_that_are_not_the_items_words_are_left_out_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = FIXTURE.read_text().replace("Somebody|has|ever|come.", "Somebody has|ever|come.").replace("|404", "")
    (tmp_path / "results.csv").write_text(text.replace("Nobody|has|ever", "Nobody|had|ever"))
    tables = experiment.collect(tmp_path / "results.csv", platform="magpie", materials=MATERIALS)
    assert len(tables["readings"]) == 0
    assert len(tables["responses"]) == 1
    assert "the file has 3 words (Somebody has ever come.), expected 4: Somebody has ever come." in caplog.text
    assert "word 1 is 'had', expected 'has': Nobody has ever come, you know." in caplog.text


def test_damaged_times_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(FIXTURE.read_text().replace("301|302", "301;302"))
    with pytest.raises(study.DataError, match=r"line 3: reading times are '301;302\|.*expected numbers joined by \|"):
        experiment.collect(tmp_path / "results.csv", platform="magpie")


def test_another_platforms_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=r"does not look like data of jspsych; it looks like magpie \(--platform magpie\)"):
        experiment.collect(FIXTURE, platform="jspsych", key=tmp_path / "key")
