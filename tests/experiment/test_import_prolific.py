"""Prolific's demographics are joined by hashed ids; who has revoked consent is in no table."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from gardenpath import experiment, study
from gardenpath.cli.main import cli
from gardenpath.experiment.platforms import prolific
from gardenpath.experiment.sessions.pseudonyms import hash_participant, load_participant_key

from ..conftest import run_here

FIXTURES = Path(__file__).parent / "fixtures"
EXPORT = FIXTURES / "prolific" / "export.csv"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four people's data as jsPsych has them, one of whom the export does not know."""
    row = json.loads((FIXTURES / "jspsych" / "lines.json").read_text().splitlines()[0])
    people = [[{**r, "PROLIFIC_PID": who} for r in row] for who in ("5f3c", "60aa", "61bb", "unknown")]
    (tmp_path / "data.json").write_text("\n".join(json.dumps(rows) for rows in people))
    return tmp_path / "data.json"


def test_answers_stand_with_the_session_and_revoked_consent_removes_a_person(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    tables = experiment.collect(data, platform="jspsych", prolific=EXPORT)
    key = load_participant_key(data.parent / "participant.key")
    name = {who: hash_participant(who, key) for who in ("5f3c", "60aa", "61bb", "unknown")}
    demographics = tables["demographics"]
    assert demographics[["participant", "question", "response"]].values.tolist() == [
        [name["5f3c"], "Age", "31"],
        [name["5f3c"], "Sex", "Female"],
        [name["5f3c"], "Nationality", "Netherlands"],
        [name["61bb"], "Age", "44"],
        [name["61bb"], "Nationality", "Belgium"],
    ]
    assert set(demographics["session"]) <= set(tables["sessions"]["session"])
    for table in ("readings", "responses", "sessions"):
        assert set(tables[table]["participant"]) == {name["5f3c"], name["61bb"], name["unknown"]}
    assert f"1 participants have revoked their consent; all their rows are removed: {name['60aa']}" in caplog.text
    assert f"1 submissions are RETURNED; 1 of them have data here, which stay: {name['61bb']}" in caplog.text
    assert "1 submissions are TIMED-OUT; 0 of them have data here" in caplog.text
    assert f"1 participants of the data are not in the export: {name['unknown']}" in caplog.text
    assert not any("5f3c" in table.to_csv() for table in tables.values())


SAVED = {
    "semicolons": lambda text: text.replace(",", ";"),
    "tabs and blanks": lambda text: text.replace(",", "\t "),
    "older headings": lambda text: text.replace("Participant id", "participant_id").replace("Submission id", "submission_id"),
    "other headings": lambda text: text.replace("Participant id", "Participant ID").replace("Submission id", "SUBMISSION_ID"),
}


@pytest.mark.parametrize("saved", SAVED.values(), ids=SAVED)
def test_the_export_is_read_however_it_was_saved(saved: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(saved(EXPORT.read_text()))
    assert prolific.read(tmp_path / "export.csv") == prolific.read(EXPORT)


def test_an_export_of_another_study_is_an_error(data: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(EXPORT.read_text().replace("5f3c", "x").replace("60aa", "y").replace("61bb", "z"))
    with pytest.raises(study.DataError, match="none of the 4 participants is among the export's 4"):
        experiment.collect(data, platform="jspsych", prolific=tmp_path / "other.csv")


def test_another_file_is_no_export(data: Path) -> None:
    with pytest.raises(study.DataError, match="does not look like Prolific's export of demographics"):
        experiment.collect(data, platform="jspsych", prolific=FIXTURES / "magpie" / "results.csv")


def test_data_of_our_own_server_are_joined_by_its_key(example: study.Study, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    experiment.simulate(experiment.build_list_files(example)[:1], folder, participants=1, seed=1)
    key = load_participant_key(folder / "participant.key")
    (record,) = folder.glob("*/session.json")
    session = json.loads(record.read_text())
    record.write_text(json.dumps({**session, "participant": hash_participant("5f3c", key)}))
    tables = experiment.collect(folder, prolific=EXPORT)
    ages = tables["demographics"].query("question == 'Age'")
    assert ages["response"].tolist() == ["31"]


def test_the_command_writes_what_the_function_returns(data: Path, tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        cli, ["collect", str(data), "--platform", "jspsych", "--prolific", str(EXPORT), "-o", str(tmp_path / "tables")]
    )
    assert ran.exit_code == 0, ran.output
    for name, table in experiment.collect(data, platform="jspsych", prolific=EXPORT).items():
        pd.testing.assert_frame_equal(study.read(tmp_path / "tables", name), table, check_dtype=False)
    sidecar = study.files.read_sidecar(tmp_path / "tables" / "demographics.csv")
    assert set(sidecar["inputs"]) == {"data.json", "export.csv"}  # type: ignore[call-overload]


def test_collections_of_another_platform_are_joined_with_an_export_each_or_one_for_all(data: Path, tmp_path: Path) -> None:
    later = shutil.copy(data, tmp_path / "later.json")
    older = tmp_path / "older.csv"
    older.write_text(EXPORT.read_text().replace(",31,", ",30,"))
    shared = f"gardenpath collect {data} {later} --platform jspsych"
    done = run_here(f"{shared} --prolific {EXPORT} --prolific {older} -o tables", tmp_path)
    assert done.code == 0, done.said
    alone = experiment.collect(data, platform="jspsych", prolific=EXPORT)
    both = study.read(tmp_path / "tables", "demographics").query("question == 'Age'")
    assert both["response"].tolist() == ["31", "44", "30", "44"]
    named = alone["demographics"].query("question == 'Age'")["participant"]
    assert both["participant"].tolist() == [f"{n}-{who}" for n in (1, 2) for who in named]
    assert len(study.read(tmp_path / "tables", "readings")) == 2 * len(alone["readings"])
    sidecar = study.files.read_sidecar(tmp_path / "tables" / "sessions.csv")
    assert len(set(sidecar["data_sha256"])) == 1  # type: ignore[arg-type]
    assert set(sidecar["inputs"]) == {"data.json", "later.json", "export.csv", "older.csv"}  # type: ignore[call-overload]
    done = run_here(f"{shared} --prolific {EXPORT} -o shared", tmp_path)
    assert study.read(tmp_path / "shared", "demographics").query("question == 'Age'")["response"].tolist() == ["31", "44"] * 2
    refused = run_here(f"{shared} {' '.join([f'--prolific {EXPORT}'] * 3)} -o more", tmp_path)
    assert refused.code != 0
    assert "3 exports of Prolific for 2 collections; expected one, or one for each" in refused.said


def test_nothing_of_the_export_is_left_beside_the_tables(data: Path, tmp_path: Path) -> None:
    shutil.copy(EXPORT, tmp_path / "export.csv")
    arguments = ["collect", str(data), "--platform", "jspsych", "--prolific", str(tmp_path / "export.csv")]
    assert CliRunner().invoke(cli, [*arguments, "-o", str(tmp_path / "tables")]).exit_code == 0
    written = "".join(path.read_text() for path in (tmp_path / "tables").iterdir())
    assert not re.search(r"\b(5f3c|60aa|61bb|62cc)\b", written)  # within a hash they may stand by chance


def test_tables_are_not_made_anew_with_another_key(data: Path, tmp_path: Path) -> None:
    call = ["collect", str(data), "--platform", "jspsych", "--force", "-o"]
    assert CliRunner().invoke(cli, [*call, str(tmp_path / "tables")]).exit_code == 0
    before = (tmp_path / "tables" / "sessions.csv").read_text()
    key = tmp_path / "participant.key"
    kept = key.read_text()
    key.unlink()
    with pytest.raises(FileNotFoundError, match=r"participant\.key: the key .* is missing.*restore this file"):
        CliRunner().invoke(cli, [*call, str(tmp_path / "tables")], catch_exceptions=False)
    assert not key.exists()
    key.write_text("damaged")
    with pytest.raises(study.DataError, match=r"participant\.key: not a key of participants' ids"):
        CliRunner().invoke(cli, [*call, str(tmp_path / "tables")], catch_exceptions=False)
    key.write_text(kept)
    assert CliRunner().invoke(cli, [*call, str(tmp_path / "tables")]).exit_code == 0
    assert (tmp_path / "tables" / "sessions.csv").read_text() == before
