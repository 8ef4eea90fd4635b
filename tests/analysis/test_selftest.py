"""The alignment self-test: shifts are caught, correct data pass, and both against lmerTest and a seeded simulation."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from gardenpath.analysis import AlignmentOptions, align, compute_alignment_check
from gardenpath.analysis.aligning.alignment_check import compute_lag_profile, find_failed_models
from gardenpath.analysis.aligning.predictors import list_lagged_columns
from gardenpath.cli.main import cli
from gardenpath.study import DataError, read, write

ROOT = Path(__file__).parents[2]
Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    """The benchmark's own simulation."""
    spec = importlib.util.spec_from_file_location("selftest_benchmark", ROOT / "benchmarks" / "selftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shifts_of_one_word_are_caught_and_correct_data_pass(simulation: ModuleType) -> None:
    """A short run of benchmarks/selftest.py; there the limits are 99 % and 5 %."""
    caught, counted = simulation.count_failures(range(25), 1, 0.012, 0.006)
    assert counted >= 15
    assert caught == counted
    wrong, of = simulation.count_failures(range(40), 0, 0.0, 0.0)
    assert (wrong <= 2, of) == (True, 40)


R_TEST = """
suppressMessages(library(lmerTest))
fitted <- lmer(log_rt ~ surprisal_next + surprisal + surprisal_previous + surprisal_previous2 +
  length_next + length + length_previous + length_previous2 + zipf_next + zipf + zipf_previous + zipf_previous2 +
  position + log_trial + (1 | participant) + (1 | item) + (1 | token), aligned)
result <- data.frame(term = rownames(summary(fitted)$coefficients), summary(fitted)$coefficients)
"""


@pytest.mark.r
@pytest.mark.parametrize("early", [0, 1])
def test_the_verdict_follows_from_lmertests_numbers(
    simulation: ModuleType, rscript: Callable[..., pd.DataFrame], early: int
) -> None:
    rows = simulation.simulate_aligned_readings(3, early=early)
    ours = compute_alignment_check(rows).iloc[0]
    theirs = rscript(R_TEST, aligned=rows).set_index("term")
    slope, p = theirs.loc["surprisal_next", ["Estimate", "Pr...t.."]]
    largest = theirs.loc[list_lagged_columns("surprisal", [0, 1, 2]), "Estimate"].max()
    assert (ours["estimate"], ours["largest_slope"]) == (pytest.approx(slope, abs=1e-6), pytest.approx(largest, abs=1e-6))
    assert ours["p"] == pytest.approx(p, rel=1e-2, abs=1e-12)
    assert (ours["verdict"] == "failed") == (slope > 0 and p < 0.01 and slope >= largest / 2) == bool(early)


def test_the_profile_peaks_where_the_data_were_shifted_to(simulation: ModuleType) -> None:
    for early, peak in ((0, 0), (1, -1), (2, -2)):
        profile = compute_lag_profile(simulation.simulate_aligned_readings(4, early=early))
        assert profile["lag"].to_list() == [-2, -1, 0, 1, 2, 3]
        assert profile.loc[profile["estimate"].idxmax(), "lag"] == peak
        assert (profile["term"] == list_lagged_columns("surprisal", [-2, -1, 0, 1, 2, 3])).all()


def test_readers_who_respond_to_what_comes_next_are_a_warning_that_entropy_explains(simulation: ModuleType) -> None:
    rows = simulation.simulate_aligned_readings(5, bit=0.03)
    tokens = rows["token"].unique()
    noise = dict(zip(tokens, np.random.default_rng(1).normal(0, 1, len(tokens)), strict=True))
    entropy = rows["surprisal_next"] + rows["token"].map(noise)
    rows = rows.assign(entropy_next=entropy, log_rt=rows["log_rt"] + 0.01 * entropy)
    row = compute_alignment_check(rows).iloc[0]
    assert row["verdict"] == "warned"
    assert (row["p"] < 0.01, row["p_entropy"] >= 0.01) == (True, True)
    assert row["note"].endswith("is gone: readers may respond to what they expect next.")
    blind = compute_alignment_check(rows.assign(entropy_next=np.nan)).iloc[0]
    assert blind["verdict"] == "warned"
    assert blind["note"].endswith("with its entropy it could not be refitted.")


def test_a_negative_slope_is_a_warning_and_no_failure(simulation: ModuleType) -> None:
    rows = simulation.simulate_aligned_readings(6)
    row = compute_alignment_check(rows.assign(log_rt=rows["log_rt"] - 0.03 * rows["surprisal_next"])).iloc[0]
    assert (row["verdict"], row["ratio"] < 0) == ("warned", True)


@pytest.mark.parametrize(
    ("kept", "why"),
    [("participant == 'P0'", "only one participant"), ("item == 'i0'", "only one item"), ("position > 99", "no rows")],
)
def test_what_cannot_be_tested_says_why(simulation: ModuleType, kept: str, why: str) -> None:
    rows = pd.concat(
        [simulation.simulate_aligned_readings(7), simulation.simulate_aligned_readings(7).query(kept).assign(model="little")]
    )
    tested = compute_alignment_check(rows).set_index("model")
    if "little" in tested.index:
        assert tested.loc["little", "verdict"] == "untested"
        assert why in tested.loc["little", "note"]
        profile = compute_lag_profile(rows).query("model == 'little'")
        assert profile["note"].str.contains(why).all()
    assert tested.loc["simulated", "verdict"] == "passed"


def early(tables: Tables) -> Tables:
    """The study with every reading time stored with the word before."""
    readings = tables["readings"]
    moved = readings.groupby(["session", "trial"])["rt"].shift(-1)
    return tables | {"readings": readings.assign(rt=moved)}


def test_models_of_shifted_data_are_withheld_unless_wanted(tables: Tables) -> None:
    given = {name: early(tables)[name] for name in ("readings", "sessions", "surprisal", "words")}
    found = align(given)
    [reason] = find_failed_models(found["alignment_check"]).values()
    assert found["alignment_models"]["estimate"].isna().all()
    assert reason in found["alignment_models"]["note"].item()
    assert found["surprisal_effects"].empty or found["surprisal_effects"]["ms_per_bit"].isna().all()
    assert align(given, AlignmentOptions(ignore_alignment_failure=True))["alignment_models"]["estimate"].notna().any()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_command_says_so_and_fails(tables: Tables, tmp_path: Path) -> None:
    for name, table in early(tables).items():
        write(table, name, tmp_path, command="test")
    told = run("align", tmp_path, tmp_path, "-o", tmp_path / "out")
    assert isinstance(told.exception, DataError)
    assert "FAILED the alignment self-test" in told.stdout
    assert "the largest slope is at lag −1" in told.stdout
    assert "for each bit" not in told.stdout
    assert read(tmp_path / "out", "alignment_check")["verdict"].item() == "failed"
    despite = run("align", tmp_path, tmp_path, "-o", tmp_path / "more", "--ignore-alignment-failure")
    assert despite.exit_code == 0
    assert "for each bit" in despite.stdout
