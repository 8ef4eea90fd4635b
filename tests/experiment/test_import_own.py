"""What our own page ran on another platform comes back as from our server, by the same command."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.sessions.pseudonyms import hash_participant, load_participant_key
from gardenpath.experiment.sessions.session_folders import read_recorded_sessions


@pytest.fixture
def home(example: study.Study, tmp_path: Path) -> Path:
    """A folder of nine simulated sessions, one of each list, and the lists beside it."""
    files = experiment.build_list_files(example)
    experiment.simulate(files, tmp_path / "home", participants=9, seed=1)
    for file in files:
        file.write(tmp_path / "lists")
    return tmp_path


def test_sessions_of_another_release_are_refused_in_one_message(home: Path) -> None:
    (home / "home" / "lists").rename(home / "home" / "versions")
    with pytest.raises(study.DataError, match=r"versions/ is now lists/.* ran with another release of gardenpath"):
        list(read_recorded_sessions(home / "home"))


def rows(home: Path) -> Iterator[dict[str, Any]]:
    """The sessions as jsPsych has them, a few events a row."""
    for record in read_recorded_sessions(home / "home"):
        for index, at in enumerate(range(0, len(record.events), 7)):
            events = [asdict(event) for event in record.events[at : at + 7]]
            own = {"gardenpath_session": asdict(record.session), "gardenpath_events": events}
            yield {"trial_type": "html", "trial_index": index, "time_elapsed": at, "rt": 1.5, **own}


def in_json(home: Path) -> tuple[str, Path]:
    (home / "data.json").write_text(json.dumps(list(rows(home))))
    return "jspsych", home / "data.json"


def in_csv(home: Path) -> tuple[str, Path]:
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, list(next(rows(home))), quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in row.items()} for row in rows(home))
    (home / "data.csv").write_text(made.getvalue(), newline="")
    return "jspsych", home / "data.csv"


def in_jatos(home: Path) -> tuple[str, Path]:
    with zipfile.ZipFile(home / "data.jrzip", "w") as archive:
        for n, row in enumerate(rows(home)):
            # Every row in its own component result: a page that was loaded again.
            archive.writestr(f"study_result_1/comp_result_{n}/data.txt", json.dumps(row))
    return "jatos", home / "data.jrzip"


@pytest.mark.parametrize("form", [in_json, in_csv, in_jatos])
def test_the_tables_are_those_of_a_native_run_with_hashed_ids(form: Any, home: Path) -> None:
    platform, path = form(home)
    tables = experiment.collect(path, platform=platform, materials=home / "lists")
    native = experiment.collect(home / "home")
    key = load_participant_key(home / "participant.key")
    assert tables.keys() == native.keys()
    for name, table in native.items():
        if "participant" in table:
            table = table.assign(participant=table["participant"].map(lambda id: hash_participant(id, key)))
        pd.testing.assert_frame_equal(tables[name], table, check_dtype=False)


def test_without_the_lists_the_error_says_what_to_name(home: Path) -> None:
    platform, path = in_json(home)
    with pytest.raises(study.DataError, match="a study that gardenpath exported; name its lists"):
        experiment.collect(path, platform=platform)


def test_lists_of_another_state_of_the_study_are_refused_by_hash(home: Path) -> None:
    platform, path = in_json(home)
    text = (home / "lists" / "E1-L1.json").read_text()
    (home / "lists" / "E1-L1.json").write_text(text.replace('"title": "', '"title": "Changed '))
    with pytest.raises(study.DataError, match=r"ran E1-L1 \([0-9a-f]{12}\.\.\.\), whose file is missing; give the lists"):
        experiment.collect(path, platform=platform, materials=home / "lists")
