"""simulate --power: from the smallest effect that a study declares to a table, a figure and a sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from gardenpath.analysis import Spread
from gardenpath.cli.main import cli
from gardenpath.study import read

NUMBERS = ("--participants", "8", "--participants", "24", "--items", "6")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def declared(study_folder: Path) -> Path:
    stated = study_folder / "study.toml"
    text = stated.read_text("utf-8").replace("[analysis]\n", "[analysis]\nsmallest = { log_rt = 0.15 }\n")
    stated.write_text(text, encoding="utf-8")
    return stated


def test_power_is_near_that_of_the_non_central_t(declared: Path, tmp_path: Path) -> None:
    """Two sentences in three are grammatical: SE = sd / sqrt(n p (1 - p)); slopes add their own variance."""
    told = run("simulate", declared, "--power", *NUMBERS, "--runs", 150, "-o", tmp_path / "out")
    assert told.exit_code == 0, told.output
    table = read(tmp_path / "out", "power")
    assert table[["participants", "n_items", "runs"]].to_numpy().tolist() == [[8, 6, 150], [24, 6, 150]]
    spread = Spread()
    for row in table.itertuples():
        n = row.participants * row.n_items
        own = np.sqrt(spread.residual**2 / (n * 2 / 9))
        real = np.sqrt(own**2 + spread.participant_slope**2 / row.participants + spread.item_slope**2 / row.n_items)
        # found when |estimate| > t * own: normal around the effect with the real standard error
        exact = stats.norm.sf((stats.t.ppf(0.975, n - row.participants - row.n_items) * own - 0.15) / real)
        low, high = stats.binom.ppf([0.0005, 0.9995], 150, exact) / 150
        assert low - 0.02 <= row.power <= high + 0.02  # the model's own standard error varies from study to study
    assert (tmp_path / "out" / "figures" / "power.svg").exists()
    assert "24 participants with 6 items" in told.stdout or "8 participants with 6 items" in told.stdout
    beside = json.loads((tmp_path / "out" / "power.csv.meta.json").read_text("utf-8"))
    assert beside["simulated"] is True
    assert beside["ratio"] == [2, 1]


def test_a_second_call_keeps_what_the_first_has_simulated(declared: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        run("simulate", declared, "--power", "--participants", 8, "--items", 6, "--runs", 10, "-o", out).exit_code == 0
    )
    first = (out / "power.csv").read_bytes()
    assert run("simulate", declared, "--power", *NUMBERS, "--runs", 10, "-o", out).exit_code == 0
    assert (out / "power.csv").read_bytes().startswith(first)
    assert len(read(out, "power")) == 2
    other = run("simulate", declared, "--power", *NUMBERS, "--runs", 10, "--seed", 99, "-o", out)
    assert isinstance(other.exception, FileExistsError)
    assert (
        run("simulate", declared, "--power", *NUMBERS, "--runs", 10, "--seed", 99, "-o", out, "--force").exit_code == 0
    )


def test_without_a_declared_effect_there_is_no_power(study_folder: Path, tmp_path: Path) -> None:
    told = run("simulate", study_folder / "study.toml", "--power", "-o", tmp_path / "out")
    assert "analysis.smallest has no log_rt" in str(told.exception)


def test_sessions_are_simulated_for_one_number_of_participants(study_folder: Path, tmp_path: Path) -> None:
    told = run("simulate", study_folder / "study.toml", *NUMBERS, "-o", tmp_path / "out")
    assert told.exit_code == 2
    assert "name --participants once" in told.output
