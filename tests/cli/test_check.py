"""gardenpath check prints findings, then a summary, as lines or as JSON."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from gardenpath.cli.main import cli

from ..conftest import ROOT

HEADER = "paradigm,phenomenon,item,condition,sentence,waive\n"


def check(*words: str) -> Result:
    return CliRunner().invoke(cli, ["check", *words], catch_exceptions=False)


def items(folder: Path, *, n: int = 6, waive: str = "") -> str:
    rows = [
        f"p,f,i{i},grammatical,{{No}} man had [ever] come to us {i} times.,{waive}\n"
        f"p,f,i{i},ungrammatical,{{The}} man has [ever] come to us {i} times.,\n"
        for i in range(n)
    ]
    path = folder / "items.csv"
    path.write_text(HEADER + "".join(rows))
    return str(path)


def test_findings_stand_in_columns_above_a_summary(tmp_path: Path) -> None:
    path = items(tmp_path, n=2)
    done = check(path, "--rules", "blimp-nl")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert [line.split()[:4] for line in lines[:3]] == [
        ["severity", "rule", "location", "item"],
        ["error", "word-before", f"{path}:2", "i0"],
        ["error", "word-before", f"{path}:4", "i1"],
    ]
    assert len({line.index("the word before") for line in lines[1:3]}) == 1
    assert [line.split() for line in lines[-3:]] == [
        ["paradigm", "items", "errors", "warnings", "notes", "waived"],
        ["p", "2", "2", "0", "0", "0"],
        ["total", "2", "2", "0", "0", "0"],
    ]
    assert done.stderr == "1 paradigms, 2 items, 4 sentences: 2 errors, 0 warnings, 0 notes, 0 waived\n"


def test_many_findings_of_a_rule_are_shortened_unless_all_are_wanted(tmp_path: Path) -> None:
    short, long = check(items(tmp_path)), check(items(tmp_path), "--all")
    assert (short.exit_code, long.exit_code) == (0, 0)
    assert short.stdout.count("the word before the critical region differs") == 3
    assert "... and 3 more (--all shows them)" in short.stdout
    assert long.stdout.count("the word before the critical region differs") == 6
    assert short.stdout.splitlines()[-1] == long.stdout.splitlines()[-1]


def test_a_waived_error_is_shown_with_its_reason_and_does_not_fail(tmp_path: Path) -> None:
    done = check(items(tmp_path, n=1, waive="word-before: tense is varied"), "--rules", "blimp-nl")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1].startswith("waived ")
    assert "(waived: tense is varied)" in done.stdout


def test_json_holds_findings_summary_and_balance(tmp_path: Path) -> None:
    done = check(items(tmp_path), "--json")
    parts = json.loads(done.stdout)
    assert list(parts) == ["findings", "summary", "balance"]
    assert len([f for f in parts["findings"] if f["rule"] == "word-before"]) == 6
    assert parts["summary"][0]["items"] == 6
    before = [r for r in parts["balance"] if (r["region"], r["measure"]) == ("cue", "letters")]
    assert (before[0]["mean_a"], before[0]["mean_b"], before[0]["cohens_d"]) == (2, 3, None)


def test_what_cannot_be_read_is_summed_up_too(tmp_path: Path) -> None:
    path = Path(items(tmp_path, n=1))
    path.write_text(path.read_text() + "p,f,i9,grammatical,too,many,cells,here\n")
    done = check(str(path))
    assert done.exit_code == 1
    assert "(not read)" in click.unstyle(done.stdout)


def test_a_study_is_checked_in_its_own_language() -> None:
    folder = Path(__file__).parents[2] / "examples" / "agreement-attraction"
    by_study, by_option = check(str(folder / "study.toml")), check(str(folder / "items.csv"), "--language", "de")
    assert by_study.stdout == by_option.stdout
    assert "frequency list" not in by_study.stdout
    assert "frequency list of the language 'en'" in check(str(folder / "items.csv")).stdout


STUDY = """name = "s"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
lists = 4
ratio = {{ grammatical = 1, ungrammatical = 1 }}
[procedure.target]
ask = {asked}
"""


@pytest.mark.parametrize(
    ("n", "asked", "fault"),
    [
        (4, '["rating"]', "procedure.target.ask names 'rating' and [procedure.tasks.rating] is not there: key 'prompt' is"),
        (4, '["rated"]', "procedure.target.ask names 'rated'; expected a task of [procedure.tasks.NAME] or one of"),
        (21, "[]", "design: 21 items of paradigm p cannot be split 1:1 over 4 lists: 21 / "),
    ],
)
def test_what_design_refuses_check_says_too_once_and_in_the_same_words(tmp_path: Path, n: int, asked: str, fault: str) -> None:
    items(tmp_path, n=n)
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(asked=asked))
    checked = check(str(path))
    refused = str(CliRunner().invoke(cli, ["design", str(path)]).exception)
    assert refused.startswith(f"{path}: {fault}")
    assert len(refused.splitlines()) == 1
    assert checked.exit_code == 1
    assert checked.stderr.splitlines()[1:] == [refused]
    as_json = json.loads(check(str(path), "--json").stdout)
    assert as_json["design_faults"] == [refused]


def test_a_study_that_design_deals_has_no_faults_of_design() -> None:
    study = str(ROOT / "examples" / "minimal-pairs" / "study.toml")
    assert json.loads(check(study, "--json").stdout)["design_faults"] == []
