"""JATOS' result archives: objects without separators, several components, runs that were broken off."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, stimuli, study

ROWS = json.loads((Path(__file__).parent / "fixtures" / "jspsych" / "plugin.json").read_text())
for row in ROWS:
    del row["subject_id"]
START = 1_760_000_000_000  # 2025-10-09T08:53:20Z


def metadata(*results: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "1.1.1", "data": [{"studyId": 3, "studyTitle": "t", "studyResults": results}]})


def result(id: int, state: str = "FINISHED") -> dict[str, Any]:
    return {"id": id, "studyState": state, "workerId": 100 + id, "startDate": START, "endDate": START + 60_000}


def archive(folder: Path, files: dict[str, str], name: str = "results.jrzip") -> Path:
    with zipfile.ZipFile(folder / name, "w") as made:
        for path, text in files.items():
            made.writestr(path, text)
    return folder / name


def appended(rows: list[dict[str, Any]]) -> str:
    """What appendResultData leaves: objects with nothing between them."""
    return "".join(json.dumps(row) for row in rows)


def test_objects_without_separators_over_several_components_are_one_session(tmp_path: Path) -> None:
    files = {
        "study_result_9/comp_result_20/data.txt": appended(ROWS[:3]),
        "study_result_9/comp_result_100/data.txt": appended(ROWS[3:]),
        "study_result_10/comp_result_101/data.txt": json.dumps(ROWS),
        "metadata.json": metadata(result(9), result(10)),
    }
    tables = experiment.collect(archive(tmp_path, files), platform="jatos")
    sessions = tables["sessions"]
    assert sessions["participant"].nunique() == 2
    assert sessions["n_trials"].tolist() == [2, 2]
    assert sessions["started"].tolist() == ["2025-10-09T08:53:20.000+00:00"] * 2
    assert sessions["finished"].tolist() == ["2025-10-09T08:54:20.000+00:00"] * 2
    assert sessions["complete"].all()
    assert tables["readings"]["rt"].tolist() == [83, 254, 85, 82, 301, 302, 303, 304] * 2
    assert tables["responses"]["response"].tolist() == ["5", "2"] * 2


def test_rows_that_were_sent_again_at_the_end_count_once(tmp_path: Path) -> None:
    files = {"study_result_1/comp_result_1/data.txt": appended(ROWS) + json.dumps(ROWS)}
    tables = experiment.collect(archive(tmp_path, files), platform="jatos")
    assert len(tables["readings"]) == 8
    assert len(tables["responses"]) == 2
    assert len(tables["sessions"]) == 1


def test_a_run_that_was_broken_off_is_kept_as_not_complete(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {
        "study_result_1/comp_result_1/data.txt": appended(ROWS)[:-90],
        "study_result_2/comp_result_2/data.txt": "",
        "study_result_3/comp_result_3/data.txt": appended(ROWS),
        "metadata.json": metadata(result(1, "DATA_RETRIEVED"), result(2, "FAIL"), result(3)),
    }
    sessions = experiment.collect(archive(tmp_path, files), platform="jatos")["sessions"]
    assert sessions["complete"].tolist() == [False, True]
    assert "study result 1 is DATA_RETRIEVED; it counts as incomplete" in caplog.text
    assert "comp_result_2/data.txt: the component sent nothing; left out" in caplog.text
    assert "cut short after 4 rows" in caplog.text
    assert "study result 2 (FAIL) has no data; left out" in caplog.text


def test_a_prolific_id_in_the_rows_names_the_person_before_the_worker_does(tmp_path: Path) -> None:
    from gardenpath.experiment.sessions.pseudonyms import hash_participant, load_participant_key

    rows = [{**row, "PROLIFIC_PID": "5f3c"} for row in ROWS]
    files = {"study_result_1/comp_result_1/data.txt": appended(rows), "metadata.json": metadata(result(1))}
    sessions = experiment.collect(archive(tmp_path, files), platform="jatos")["sessions"]
    key = load_participant_key(tmp_path / "participant.key")
    assert sessions["participant"].tolist() == [hash_participant("5f3c", key)]


FAULTS = {
    "no archive": (b'[{"trial_type": "x", "time_elapsed": 1}]', "does not look like data of jatos; it looks like jspsych"),
    "an empty file": (b"", "the file is empty"),
    "an archive cut short": (b"PK\x03\x04 and then nothing", "a zip file that is cut short"),
}


@pytest.mark.parametrize(("data", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_no_whole_archive_is_an_error_that_says_what_it_is(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "results.zip").write_bytes(data)
    with pytest.raises(study.DataError, match=message):
        experiment.collect(tmp_path / "results.zip", platform="jatos")


def test_an_archive_without_data_is_an_error(tmp_path: Path) -> None:
    path = archive(tmp_path, {"study_result_1/comp_result_1/data.txt": " ", "metadata.json": metadata(result(1))})
    with pytest.raises(study.DataError, match="no run of the study sent anything"):
        experiment.collect(path, platform="jatos")


def swollen(path: Path, name: str) -> Path:
    """Return a small zip file whose member says that it unpacks to 4 GB."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "x")
    data = bytearray(path.read_bytes())
    listed = data.index(b"PK\x01\x02")
    data[listed + 24 : listed + 28] = (4 * 10**9).to_bytes(4, "little")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("platform", "name"), [("jatos", "study_result_1/comp-result_1/data.txt"), ("qualtrics", "xl/workbook.xml")]
)
def test_a_zip_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(platform: str, name: str, tmp_path: Path) -> None:
    path = swollen(tmp_path / "results.zip", name)
    with pytest.raises(study.DataError, match=r"results.zip: a zip file of 0.0 MB that unpacks to 4.0 GB; expected 1 GB at most"):
        experiment.collect(path, platform=platform)


def test_a_workbook_of_materials_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=r"items.xlsx: a zip file .* expected 1 GB at most"):
        stimuli.read(swollen(tmp_path / "items.xlsx", "xl/workbook.xml"))
