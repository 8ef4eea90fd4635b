"""simulate --power: from the smallest effects that a study declares to a table, a figure and sentences."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from gardenpath.analysis import Assumptions
from gardenpath.cli.main import cli
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.study import DataError, load, read

from ..conftest import ROOT

NUMBERS = ("--participants", "8", "--participants", "24", "--items", "6")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def declared(study_folder: Path) -> Path:
    stated = study_folder / "study.toml"
    text = stated.read_text("utf-8").replace("[analysis]\n", "[analysis]\nsesoi = { log_rt = 0.3 }\n")
    stated.write_text(text, encoding="utf-8")
    return stated


@pytest.fixture
def factorial(tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(ROOT / "examples" / "relative-clauses", tmp_path / "study"))
    more = """
[analysis.sesoi]
log_rt = 0.2
z = 0.5
correct = 1.0

[analysis.sesoi."noun_phrase:extraction"]
log_rt = 0.3
"""
    (folder / "study.toml").write_text((folder / "study.toml").read_text("utf-8") + more, encoding="utf-8")
    return folder / "study.toml"


def test_processes_beside_each_other_make_the_same_table(factorial: Path, tmp_path: Path) -> None:
    asked = ("--participants", 6, "--participants", 8, "--items", 8, "--simulations", 25, "--seed", 3, "--response", "log_rt")
    for folder, more in (("one", ()), ("two", ("--workers", 2))):
        told = run("simulate", factorial, "--power", *asked, *more, "-o", tmp_path / folder)
        assert told.exit_code == 0, told.output
    assert (tmp_path / "one" / "power.csv").read_bytes() == (tmp_path / "two" / "power.csv").read_bytes()
    wrong = run("simulate", factorial, "--power", "--address", "auto", "-o", tmp_path / "x")
    assert wrong.exit_code == 2
    assert "--address belongs to --ray" in wrong.output


def test_the_standard_error_is_that_of_the_planned_model(declared: Path, tmp_path: Path) -> None:
    """Two sentences in three are grammatical: SE = sd / sqrt(n p (1 - p)); slopes, which the plan has, add their own variance."""
    told = run("simulate", declared, "--power", *NUMBERS, "--simulations", 60, "-o", tmp_path / "out")
    assert told.exit_code == 0, told.output
    table = read(tmp_path / "out", "power")
    assert table[["n_participants", "n_items", "n_simulations"]].to_numpy().tolist() == [[8, 6, 60], [24, 6, 60]]
    spread = Assumptions()
    for row in table.iloc[1:].itertuples():  # with fewer people variances are often nothing, and never less than nothing
        own = np.sqrt(spread.residual**2 / (row.n_participants * row.n_items * 2 / 9))
        real = np.sqrt(own**2 + spread.participant_slope**2 / row.n_participants + spread.item_slope**2 / row.n_items)
        assert row.se == pytest.approx(real, rel=0.2)
        assert row.false_positives < stats.binom.ppf(0.9995, 60, 0.05) / 60
    assert set(table["formula"]) == {
        "log_rt ~ grammaticality + log_trial + (1 + grammaticality|participant) + (1 + grammaticality|item)"
    }
    assert (tmp_path / "out" / "figures" / "power.svg").exists()
    assert "24 participants with 6 items" in told.stdout or "8 participants with 6 items" in told.stdout
    assert "Sorensen, Hohenstein & Vasishth 2016" in told.stderr
    beside = json.loads((tmp_path / "out" / "power.csv.meta.json").read_text("utf-8"))
    assert beside["simulated"] is True
    assert beside["ratio"] == {"grammatical": 2, "ungrammatical": 1}
    assert beside["assumed"]["log_rt, default"]["residual"] == 0.52


def test_a_second_call_keeps_what_the_first_has_simulated(declared: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ("--simulations", 10, "-o", out)
    assert run("simulate", declared, "--power", "--participants", 8, "--items", 6, *given).exit_code == 0
    first = (out / "power.csv").read_bytes()
    assert run("simulate", declared, "--power", *NUMBERS, *given).exit_code == 0
    assert (out / "power.csv").read_bytes().startswith(first)
    assert len(read(out, "power")) == 2
    whole = (out / "power.csv").read_bytes()
    assert run("simulate", declared, "--power", "--participants", 24, "--items", 6, *given).exit_code == 0
    assert (out / "power.csv").read_bytes() == whole  # what is not asked for again stays
    other = run("simulate", declared, "--power", *NUMBERS, "--seed", 99, *given)
    assert isinstance(other.exception, FileExistsError)
    assert run("simulate", declared, "--power", *NUMBERS, "--seed", 99, *given, "--force").exit_code == 0


def test_a_factorial_study_has_the_power_of_each_coefficient_of_its_model(factorial: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = run("simulate", factorial, "--power", "--participants", 10, "--simulations", 5, "-o", out)
    assert told.exit_code == 0, told.output
    table = read(out, "power").set_index("term")
    assert table["effect"].to_dict() == {"extraction": 0.2, "extraction:noun_phrase": 0.3, "noun_phrase": 0.2}
    assert (table["n_items"] == 16).all()  # what a participant sees
    planned = resolve_design_plan(load(factorial)).models
    [headline] = [one for one in planned if (one.response, one.region, one.is_headline) == ("log_rt", "critical", True)]
    assert set(table["formula"]) == {headline.formula}
    assert "An effect of extraction × noun phrase of 0.3 log ms is found by" in told.stdout
    more = run("simulate", factorial, "--power", "--term", "extraction@name", "--participants", 10, "--simulations", 5, "-o", out)
    assert more.exit_code == 0, more.output
    assert read(out, "power")["term"].tolist() == ["extraction", "extraction:noun_phrase", "extraction@name", "noun_phrase"]
    assert "extraction at name" in more.stdout


def test_answers_have_binomial_models_whose_cost_is_said_before(factorial: Path, tmp_path: Path) -> None:
    formula = "correct ~ extraction + (1|participant) + (1|item)"
    with factorial.open("a", encoding="utf-8") as file:
        file.write(f'\n[[analysis.models]]\nname = "understood"\nformula = "{formula}"\n')
    given = ("--power", "--response", "correct", "--term", "extraction", "--participants", 10, "--simulations", 2)
    told = run("simulate", factorial, *given, "-o", tmp_path / "out")
    assert told.exit_code == 0, told.output
    [row] = read(tmp_path / "out", "power").to_dict("records")
    assert (row["family"], row["n_items"], row["effect"]) == ("binomial", 12, 1.0)  # three in four are asked about
    assert row["formula"] == formula
    assert "1 size of 2 studies, about" in told.stderr
    assert "log odds of a right answer" in told.stdout


def test_ratings_are_latent_and_z_is_put_on_that_scale(factorial: Path, tmp_path: Path) -> None:
    text = factorial.read_text("utf-8").replace("[analysis.sesoi]", "[analysis]\nordinal = false\n\n[analysis.sesoi]", 1)
    factorial.write_text(text, encoding="utf-8")
    given = ("--power", "--response", "rating", "--term", "extraction", "--participants", 10, "--simulations", 2)
    told = run("simulate", factorial, *given, "-o", tmp_path / "out")
    assert told.exit_code == 0, told.output
    [row] = read(tmp_path / "out", "power").to_dict("records")
    assert row["family"] == "linear"
    assert row["effect"] == pytest.approx(0.5 * np.hypot(1, 0.3), abs=1e-6)


def test_without_r_ordinal_models_are_left_out_in_a_line(factorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gardenpath.analysis.engines import r_session
    from gardenpath.study import MissingExtra

    def absent() -> None:
        raise MissingExtra("engine 'lme4' needs R, not found here")

    monkeypatch.setattr(r_session, "get_session", absent)
    text = factorial.read_text("utf-8").replace("[analysis.sesoi]", "[analysis]\nordinal = true\n\n[analysis.sesoi]", 1)
    factorial.write_text(text, encoding="utf-8")
    given = ("--power", "--response", "rating", "--term", "extraction", "--participants", 10, "--simulations", 2)
    told = run("simulate", factorial, *given, "-o", tmp_path / "out")
    assert told.exit_code == 0, told.output
    assert "rating, ordinal model, extraction, default: left out, since engine 'lme4' needs R" in told.stderr
    assert read(tmp_path / "out", "power")["family"].tolist() == ["linear"]


def test_effects_of_a_file_are_all_true_and_those_named_are_tested(factorial: Path, tmp_path: Path) -> None:
    stated = tmp_path / "effects.toml"
    stated.write_text(
        "[simulate.extraction]\nlog_rt = { critical = 0.1, 'critical+1' = 0.05 }\n"
        "[simulate.'extraction:noun_phrase']\nlog_rt = { critical = 0.08 }\n"
    )
    given = ("--power", "--effects", stated, "--participants", 10, "--simulations", 2, "-o", tmp_path / "out")
    assert run("simulate", factorial, *given, "--term", "extraction@name").exit_code == 0
    assert run("simulate", factorial, *given, "--region", "critical+1").exit_code == 0
    table = read(tmp_path / "out", "power").set_index("term")
    assert table["effect"].to_dict() == {"extraction@name": pytest.approx(0.1 + 0.08 / 2), "extraction": 0.05}


def test_spreads_of_a_pilot_and_their_limits_are_rows(factorial: Path, tmp_path: Path) -> None:
    folder = factorial.parent
    for line in (
        ("simulate", factorial, "--participants", 8, "--seed", 1, "-o", folder / "data"),
        ("collect", folder / "data", "-o", folder / "tables"),
    ):
        assert run(*line).exit_code == 0
    given = ("--power", "--term", "extraction", "--participants", 10, "--simulations", 2, "-o", tmp_path / "out")
    told = run("simulate", factorial, *given, "--pilot", folder / "tables")
    assert told.exit_code == 0, told.output
    table = read(tmp_path / "out", "power").set_index("assumptions")
    assert table.index.tolist() == ["pilot", "pilot (80 % limits)"]
    assert table["se"]["pilot (80 % limits)"] > table["se"]["pilot"]
    assert "spreads of log_rt: from" in told.stderr
    assert "with the upper 80% limits of the pilot's spreads, is found" in told.stdout
    beside = json.loads((tmp_path / "out" / "power.csv.meta.json").read_text("utf-8"))["assumed"]
    robots = beside["log_rt, pilot"]
    assert robots["residual"] == pytest.approx(0.22, abs=0.06)  # of simulated participants
    assert robots["participant"] < beside["log_rt, pilot (80 % limits)"]["participant"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--response", "chosen"), "targets have no such response; expected one of log_rt, rating, correct"),
        (("--term", "number"), "term 'number' is not in the model; expected one of extraction, noun_phrase"),
        (("--paradigm", "npi"), "there is no such paradigm; there are relative_clauses"),
    ],
)
def test_what_a_study_does_not_have_is_answered_with_what_it_has(
    factorial: Path, tmp_path: Path, given: tuple[str, ...], told: str
) -> None:
    answer = run("simulate", factorial, "--power", *given, "-o", tmp_path / "out")
    assert isinstance(answer.exception, DataError)
    assert told in str(answer.exception)


def test_without_a_declared_effect_there_is_no_power(study_folder: Path, tmp_path: Path) -> None:
    stated = study_folder / "study.toml"
    stated.write_text(stated.read_text("utf-8").partition("[simulate.")[0], encoding="utf-8")
    told = run("simulate", stated, "--power", "-o", tmp_path / "out")
    assert "analysis.sesoi has no log_rt, and [simulate] no effect of log_rt" in str(told.exception)


def test_sessions_are_simulated_for_one_number_of_participants(study_folder: Path, tmp_path: Path) -> None:
    told = run("simulate", study_folder / "study.toml", *NUMBERS, "-o", tmp_path / "out")
    assert told.exit_code == 2
    assert "name --participants once" in told.output


def test_the_order_of_calls_leaves_the_same_table(factorial: Path, tmp_path: Path) -> None:
    given = ("--power", "--participants", 10, "--simulations", 2)
    for term in ("noun_phrase", "extraction"):
        assert run("simulate", factorial, *given, "--term", term, "-o", tmp_path / "one").exit_code == 0
    terms = ("--term", "extraction", "--term", "noun_phrase")
    assert run("simulate", factorial, *given, *terms, "-o", tmp_path / "two").exit_code == 0
    pd.testing.assert_frame_equal(read(tmp_path / "one", "power"), read(tmp_path / "two", "power"))
