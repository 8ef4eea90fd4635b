"""gardenpath analyse, align and report, from files to files."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from gardenpath.analysis import compute_accuracy
from gardenpath.analysis.engines import r_session
from gardenpath.cli.main import cli
from gardenpath.study import DataError, MissingExtra, read, write

STUDY = """
name = "garden"
title = "Three phenomena"
language = "en"
seed = 11
[materials]
files = ["items.csv"]
[design]
ratio = { grammatical = 1, ungrammatical = 1 }
lists = 2
[procedure.target]
ask = ["acceptability"]
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good?"
low = "bad"
high = "good"
[online]
completion_code = "X"
[analysis]
min_rt = 200.0
"""


@pytest.fixture
def study(islands: dict[str, pd.DataFrame], tmp_path: Path) -> Path:
    return stated(islands, tmp_path)


@pytest.fixture(scope="module")
def analysed_study(islands: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study after `analyse`, to be copied."""
    folder = stated(islands, tmp_path_factory.mktemp("study"))
    told = run("analyse", folder / "tables", "-o", folder / "results", "--figures")
    assert told.exit_code == 0, told.output
    return folder


@pytest.fixture
def analysed(analysed_study: Path, tmp_path: Path) -> Path:
    """A study after `analyse`."""
    return Path(shutil.copytree(analysed_study, tmp_path / "study"))


def stated(tables: dict[str, pd.DataFrame], folder: Path) -> Path:
    """Return the folder with the tables of a study, its scores, and its study.toml."""
    for name in ("items", "words", "readings", "responses", "sessions"):
        write(tables[name], name, folder / "tables", command="gardenpath collect", seed=11)
    write(tables["surprisal"], "surprisal", folder / "scores", command="gardenpath score")
    write(tables["pairs"], "pairs", folder / "results", command="gardenpath evaluate")
    write(compute_accuracy(tables["pairs"]), "accuracy", folder / "results", command="gardenpath evaluate")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_a_study_of_three_phenomena_goes_from_tables_to_a_report(tables: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    study = stated(tables, tmp_path)
    told = run("analyse", study / "tables", "--study", study / "study.toml", "-o", study / "results")
    assert told.exit_code == 0, told.output
    assert "Ratings differ between grammatical and ungrammatical sentences in" in told.stdout
    told = run("align", study / "tables", study / "scores", "-o", study / "results")
    assert told.exit_code == 0, told.output
    assert "for each bit of its surprisal" in told.stdout
    told = run("report", study / "study.toml", "-o", study / "report.html")
    assert told.exit_code == 0, told.output
    page = (study / "report.html").read_text("utf-8")
    assert "Methods, ready to paste" in page
    assert "<h1>Three phenomena</h1>" in page
    assert 'href="results/effects.csv"' in page
    assert "scores/sentence_scores.csv, which comes from" in told.stderr
    assert "results/planned_models.csv" in (study / "report.R").read_text("utf-8")
    pictures = {path.name for path in (study / "report-figures").iterdir()}
    assert {"lag-profile.svg", "lag-profile.png", "gains.svg", "effects-z.png"} <= pictures
    assert (study / "report.html.meta.json").exists()


def test_settings_come_from_the_study_unless_given(study: Path) -> None:
    for number, given in enumerate([[], ["--min-rt", "150"]]):
        out = study / str(number)
        words = ["analyse", study / "tables", "--study", study / "study.toml", *given, "-o", out]
        assert run(*words).exit_code == 0
        rules = read(out, "exclusions")["rule"]
        assert rules.str.contains(f"less than {(200, 150)[number]} or more than 3000 ms").any()


def test_sidecars_name_the_inputs_and_the_settings(analysed: Path) -> None:
    meta = json.loads((analysed / "results" / "condition_means.csv.meta.json").read_text("utf-8"))
    assert sorted(meta["inputs"]) == ["items.csv", "readings.csv", "responses.csv", "sessions.csv", "words.csv"]
    assert (meta["min_rt"], meta["max_rt"], meta["engine"]) == (100.0, 3000.0, "glmm")


def test_nothing_is_overwritten_without_force(analysed: Path) -> None:
    again = run("analyse", analysed / "tables", "-o", analysed / "results", "--parquet")
    assert isinstance(again.exception, FileExistsError)
    assert run("analyse", analysed / "tables", "-o", analysed / "results", "--force").exit_code == 0
    words = ["report", analysed / "study.toml", "-o", analysed / "r.html", "--no-figures"]
    assert run(*words).exit_code == 0
    assert isinstance(run(*words).exception, FileExistsError)


def test_parquet_gives_the_same_tables(analysed: Path) -> None:
    pytest.importorskip("pyarrow")
    run("analyse", analysed / "tables", "-o", analysed / "p", "--parquet")
    one, other = (read(analysed / name, "condition_means") for name in ("results", "p"))
    pd.testing.assert_frame_equal(one, other)


def test_the_same_study_gives_the_same_report(analysed: Path) -> None:
    for name in ("a", "b"):
        run("report", analysed / "study.toml", "-o", analysed / f"{name}.html")
    assert (analysed / "a.html").read_bytes() == (analysed / "b.html").read_bytes()


def test_a_command_that_was_not_run_is_absent_in_one_line(study: Path) -> None:
    told = run("report", study / "study.toml", "-o", study / "r.html", "--no-figures")
    assert told.exit_code == 0, told.output
    absent = [line for line in told.stderr.splitlines() if line.startswith("absent: ")]
    assert [line.rpartition("  ")[2] for line in absent if "they come from" in line] == ["gardenpath analyse", "gardenpath align"]
    assert not (study / "r-figures").exists()
    assert not (study / "r.R").exists(), "there are no models"


def test_a_missing_table_is_named(study: Path) -> None:
    (study / "tables" / "responses.csv").unlink()
    told = run("analyse", study / "tables", "-o", study / "r")
    assert isinstance(told.exception, FileNotFoundError)
    assert "responses.csv: there is no such file" in str(told.exception)


def test_an_engine_that_is_absent_names_its_extra(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(r_session, "_sessions", {})
    monkeypatch.setenv("PATH", "")
    assert isinstance(run("analyse", study / "tables", "--engine", "lme4", "-o", study / "r").exception, MissingExtra)
    assert not (study / "r").exists()


def test_a_word_without_a_score_stops_the_alignment(study: Path) -> None:
    scores = read(study / "scores", "surprisal")
    write(scores[scores["item"] != "islands-1"], "surprisal", study / "other", command="c")
    told = run("align", study / "tables", study / "other", "-o", study / "r")
    assert isinstance(told.exception, DataError)
    assert "item islands-1" in str(told.exception)


def test_another_predictor_is_named_by_its_column(study: Path) -> None:
    line = ["align", study / "tables", study / "scores", "-o", study / "r", "--no-slopes", "--lags", "0", "--folds", "2"]
    told = run(*line, "--predictor", "renyi_2")
    assert isinstance(told.exception, ValueError)
    assert "predictor 'renyi_2'; expected columns with numbers of the table surprisal: surprisal" in str(told.exception)
    scores = read(study / "scores", "surprisal")
    write(scores.assign(renyi_2=scores["surprisal"] / 2), "surprisal", study / "scores", command="c")
    told = run(*line, "--predictor", "renyi_2")
    assert told.exit_code == 0, told.output
    assert set(read(study / "r", "delta_log_likelihood")["model"]) == {"little-lm (toy), renyi_2"}


def test_a_study_without_any_table_cannot_be_reported(study: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    bare = tmp_path / "empty" / "study.toml"
    bare.write_text(STUDY, encoding="utf-8")
    told = run("report", bare, "-o", tmp_path / "r.html")
    assert isinstance(told.exception, FileNotFoundError)
    assert "run  gardenpath collect  first" in str(told.exception)


def test_figures_and_text_to_paste_lie_beside_the_tables(analysed: Path) -> None:
    names = {path.name for path in (analysed / "results" / "figures").iterdir()}
    assert {"ratings.svg", "ratings.png", "reading_curves.svg"} <= names
    text = (analysed / "results" / "results.md").read_text("utf-8")
    assert text.startswith("**Simulated data**: no findings about people.[^1]\n\n## What was tested")
    assert "## Reading times" in text
    assert run("analyse", analysed / "tables", "-o", analysed / "s").exit_code == 0
    assert not (analysed / "s" / "figures").exists()
    assert (analysed / "s" / "results.md").read_text("utf-8") == text


def test_rules_of_exclusion_come_from_the_study_and_answers_from_its_table(study: Path) -> None:
    rows = [(f"P{n:02d}", f"s{n:02d}", "native_language", "English" if n else "Dutch") for n in range(24)]
    frame = pd.DataFrame(rows, columns=["participant", "session", "question", "response"])
    write(frame, "demographics", study / "tables", command="c")
    toml = study / "study.toml"
    toml.write_text(
        STUDY + '[analysis.exclude]\nmax_outside_cutoffs = 1.0\ndemographics = { native_language = ["english"] }\n',
        encoding="utf-8",
    )
    told = run("analyse", study / "tables", "--study", toml, "-o", study / "r")
    assert told.exit_code == 0, told.output
    assert "We excluded 1 of 23 participants: native_language is not english (n = 1); 22 remained.\n" in told.stdout
    people = read(study / "r", "participants").set_index("participant")["exclusion_rule"].dropna()
    assert people.to_dict() == {"P00": "native_language is not english"}
    meta = json.loads((study / "r" / "participants.csv.meta.json").read_text("utf-8"))
    assert "demographics.csv" in meta["inputs"]
    assert meta["seed"] == 11


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("min_accuracy = 2", "accuracy is 2; expected a share from 0 to 1"),
        ("min_minutes = 9\nmax_minutes = 3", "min_minutes is 9 and max_minutes 3"),
        ("demographics = { age = [] }", "demographics accepts no answer to age"),
        ("acuracy = 0.9", "did you mean 'min_accuracy'?"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(study: Path, line: str, fault: str) -> None:
    (study / "study.toml").write_text(f"{STUDY}[analysis.exclude]\n{line}\n", encoding="utf-8")
    told = run("analyse", study / "tables", "--study", study / "study.toml", "-o", study / "r")
    assert isinstance(told.exception, DataError)
    assert fault in str(told.exception)


def test_results_have_no_table_without_rows_and_none_of_a_run_before(analysed: Path) -> None:
    results = analysed / "results"
    assert all(len(read(path, path.stem)) for path in results.glob("*.csv"))
    assert not (results / "choice_agreement.csv").exists()
    assert read(results, "choice_agreement").empty, "what is not there beside others of its command is empty"
    with pytest.raises(FileNotFoundError, match=r"judgments\.csv: there is no such file"):
        read(results, "judgments")
    (results / "choice_agreement.csv").write_text("left,over\n1,2\n")
    (results / "choice_agreement.csv.meta.json").write_text("{}")
    assert run("analyse", analysed / "tables", "-o", results, "--force").exit_code == 0
    assert not [*results.glob("choice_agreement*")]
    told = run("report", analysed / "study.toml", "-o", analysed / "r.html", "--no-figures").stderr
    assert "choice_agreement" not in told
