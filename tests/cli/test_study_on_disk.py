"""Commands of a study: what they print and write, beside the sequence of README, which tests/contract/test_docs.py runs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gardenpath import study
from gardenpath.cli.main import cli


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_seed_not_given_is_printed(study_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study_folder)
    done = CliRunner().invoke(cli, ["simulate", "study.toml", "--participants", "3", "-o", "data"])
    assert done.exit_code == 0
    assert "--seed " in done.stderr


def test_findings_come_as_json_too(study_folder: Path) -> None:
    path = study_folder / "items.csv"
    path.write_text(path.read_text().replace("{The} student in the seminar has", "{The} student in the seminar had"))
    done = CliRunner().invoke(cli, ["check", str(path), "--rules", "blimp-nl", "--json"])
    assert done.exit_code == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["severity"], finding["line"], finding["item"]) == ("word-before", "error", 2, "npi-01")


def test_reading_times_of_another_lab_are_collected_by_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "rt.csv").write_text("s,i,c,w,ms\n1,1,a,1,300\n1,1,a,2,310\n")
    columns = 'participant = "s"\nitem = "i"\ncondition = "c"\nword = "w"\nrt = "ms"\n'
    (tmp_path / "map.toml").write_text("[columns]\n" + columns)
    run(
        "collect",
        str(tmp_path / "rt.csv"),
        "--platform",
        "table",
        "--mapping",
        str(tmp_path / "map.toml"),
        "-o",
        str(tmp_path / "t"),
    )
    assert study.read(tmp_path / "t", "readings")["rt"].tolist() == [300, 310]
