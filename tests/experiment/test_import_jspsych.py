"""jsPsych's data become the tables, with words from the sentence and never from the plugin's labels."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study

FIXTURES = Path(__file__).parent / "fixtures" / "jspsych"


def collected(name: str, tmp_path: Path, **given: object) -> dict[str, pd.DataFrame]:
    return experiment.collect(FIXTURES / name, platform="jspsych", key=tmp_path / "key", **given)  # type: ignore[arg-type]


def test_the_time_of_the_mask_is_no_words(tmp_path: Path) -> None:
    readings = collected("plugin.json", tmp_path)["readings"]
    first = readings[readings["item"] == "x1"]
    assert first["text"].tolist() == ["De", "man", "zei,", '"ja".']
    assert first["rt"].tolist() == [83, 254, 85, 82]


def test_shifted_labels_of_a_sentence_with_a_line_break_are_not_trusted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    readings = collected("plugin.json", tmp_path)["readings"]
    assert readings.loc[readings["item"] == "x2", "text"].tolist() == ["The", "old", "man", "slept"]
    assert readings.loc[readings["item"] == "x2", "rt"].tolist() == [301, 302, 303, 304]
    assert "row 4: the plugin's labels differ from its sentence" in caplog.text


def test_a_rating_by_key_belongs_to_the_sentence_before_it(tmp_path: Path) -> None:
    responses = collected("plugin.json", tmp_path)["responses"]
    assert responses[["trial", "item", "task", "response", "rt"]].values.tolist() == [
        [0, "x1", "rating", "5", 233],
        [1, "x2", "rating", "2", 410],
    ]


def test_the_csv_holds_what_the_json_holds(tmp_path: Path) -> None:
    from_json, from_csv = (collected(name, tmp_path) for name in ("plugin.json", "plugin.csv"))
    for table in ("readings", "responses"):
        whole = from_csv[table]
        own = whole[whole["participant"] == from_json["sessions"]["participant"][0]].reset_index(drop=True)
        pd.testing.assert_frame_equal(from_json[table], own)
    assert from_csv["sessions"]["participant"].nunique() == 2


def test_segments_and_likert_scales_of_several_participants_are_read_line_by_line(tmp_path: Path) -> None:
    tables = collected("lines.json", tmp_path)
    assert tables["readings"]["text"].tolist() == ["Nobody", "ever", "came."] * 2
    assert tables["readings"]["rt"].tolist() == [250, 251, 252, 251, 252, 253]
    assert tables["responses"]["response"].tolist() == ["6", "6"]  # the sixth point; the plugin counts from 0


def test_ids_are_hashed_and_nowhere_to_be_found(tmp_path: Path) -> None:
    tables = collected("lines.json", tmp_path)
    again = collected("lines.json", tmp_path)
    for name, table in tables.items():
        assert "60aa" not in table.to_csv()
        pd.testing.assert_frame_equal(table, again[name])
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    kept = collected("lines.json", tmp_path, keep_ids=True)
    assert set(kept["sessions"]["participant"]) == {"5f3c", "60aa"}


def test_what_the_files_do_not_hold_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "gardenpath"):
        tables = collected("plugin.json", tmp_path)
    assert caplog.text.count("readings.rt_onset") == 1
    assert "no materials are given" in caplog.text
    assert tables["readings"]["rt_onset"].isna().all()
    assert tables["readings"]["region"].isna().all()
    assert "words" not in tables


def test_a_page_that_was_loaded_again_is_a_second_session(tmp_path: Path) -> None:
    rows = json.loads((FIXTURES / "plugin.json").read_text())
    (tmp_path / "twice.json").write_text(json.dumps([*rows[:3], *[{**row, "time_elapsed": 1} for row in rows]]))
    sessions = experiment.collect(tmp_path / "twice.json", platform="jspsych")["sessions"]
    assert sessions["session"].nunique() == 2
    assert len(set(sessions["participant"])) == 1
    assert sessions["n_trials"].tolist() == [1, 2]


def ten_runs(tmp_path: Path, **columns: list[str]) -> Path:
    """A combined CSV of ten runs of the page; a column has a cell for each run."""
    header, *rows = csv.reader((FIXTURES / "plugin.csv").open(newline=""))
    first = header.index("subject_id")
    rows = [[*row[:first], *row[first + 1 :]] for row in rows[: len(rows) // 2]]
    with (tmp_path / "all.csv").open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow([*header[:first], *header[first + 1 :], *columns])
        write.writerows([*row, *(of[n] for of in columns.values())] for n in range(10) for row in rows)
    return tmp_path / "all.csv"


CODES = [f"c{n}" for n in range(10)]


def test_runs_of_whom_a_file_does_not_say_are_asked_about(tmp_path: Path) -> None:
    path = ten_runs(tmp_path, code=CODES, browser=["Firefox"] * 10)
    with pytest.raises(
        study.DataError,
        match=r"all\.csv: holds 10 runs of the page, and no column .*: \[columns\] participant \(columns .* run: code\)",
    ):
        experiment.collect(path, platform="jspsych")
    (tmp_path / "map.toml").write_text('[columns]\nparticipant = "code"\n')
    sessions = experiment.collect(path, platform="jspsych", mapping=tmp_path / "map.toml")["sessions"]
    assert sessions["participant"].nunique() == sessions["session"].nunique() == 10


@pytest.mark.parametrize("column", ["Participant", "subjectID", "run_id"])
def test_a_column_that_usually_names_people_does_so_in_any_case(column: str, tmp_path: Path) -> None:
    sessions = experiment.collect(ten_runs(tmp_path, **{column: CODES}), platform="jspsych")["sessions"]
    assert sessions["participant"].nunique() == 10


def test_columns_that_tell_people_apart_differently_are_asked_about(tmp_path: Path) -> None:
    path = ten_runs(tmp_path, PROLIFIC_PID=["p"] * 10, subject=CODES)
    with pytest.raises(study.DataError, match=r"PROLIFIC_PID and subject tell people apart differently \(1 and 10"):
        experiment.collect(path, platform="jspsych")


def test_a_name_that_one_row_of_a_run_holds_is_that_of_the_run(tmp_path: Path) -> None:
    rows = json.loads((FIXTURES / "plugin.json").read_text())
    for n, row in enumerate(rows):
        row["subject_id"] = "p1" if n == 0 else None
    (tmp_path / "one.json").write_text(json.dumps(rows))
    sessions = experiment.collect(tmp_path / "one.json", platform="jspsych", keep_ids=True)["sessions"]
    assert sessions["participant"].tolist() == ["p1"]


@pytest.mark.parametrize("name", ["plugin.json", "plugin.csv"])
def test_of_a_file_cut_short_the_whole_rows_are_read(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = (FIXTURES / name).read_text()
    (tmp_path / name).write_text(text[: text.rindex("How natural?")])
    tables = experiment.collect(tmp_path / name, platform="jspsych")
    assert len(tables["readings"]) == (8 if name == "plugin.json" else 16)
    assert len(tables["responses"]) == (1 if name == "plugin.json" else 3)
    assert not tables["sessions"]["complete"].any()
    assert "cut short" in caplog.text


def test_rows_without_items_are_an_error_that_names_their_columns(tmp_path: Path) -> None:
    rows = json.loads((FIXTURES / "plugin.json").read_text())
    for row in rows:
        row["stim"] = row.pop("item", None)
    (tmp_path / "odd.json").write_text(json.dumps(rows))
    with pytest.raises(study.DataError, match=r"no row names the item .* the rows have rt, trial_type.*stim"):
        experiment.collect(tmp_path / "odd.json", platform="jspsych")
    (tmp_path / "map.toml").write_text('[columns]\nitem = "stim"\n')
    tables = experiment.collect(tmp_path / "odd.json", platform="jspsych", mapping=tmp_path / "map.toml")
    assert tables["readings"]["item"].unique().tolist() == ["x1", "x2"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_that_another_program_wrote_again_is_read(separator: str, tmp_path: Path) -> None:
    """R, pandas and spreadsheets quote only where they must, and some part columns by semicolons."""
    rows = list(csv.reader((FIXTURES / "plugin.csv").open(newline="")))
    with (tmp_path / "again.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    tables = experiment.collect(tmp_path / "again.csv", platform="jspsych")
    assert tables["readings"]["rt"].tolist() == [83, 254, 85, 82, 301, 302, 303, 304] * 2
    assert tables["responses"]["response"].tolist() == ["5", "2"] * 2


def test_a_time_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text((FIXTURES / "plugin.json").read_text().replace('"rt": 410', '"rt": "soon"'))
    with pytest.raises(study.DataError, match=r"odd\.json, row 5: a time is 'soon', expected a number"):
        experiment.collect(tmp_path / "odd.json", platform="jspsych")
