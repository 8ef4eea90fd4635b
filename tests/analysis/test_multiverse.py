"""The multiverse: each cell is the fit one would make by hand, and one of them is the declared one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_region_times, fit, fit_plan, resolve_plan
from gardenpath.analysis.fitting import planned_fits
from gardenpath.analysis.fitting.multiverse import compute_multiverse
from gardenpath.analysis.model_results import select_pairs
from gardenpath.study import AnalysisSection
from gardenpath.study.executors import LocalExecutor

from .conftest import fit_trials, measure_pairs

FLAGGED = {"acceptability": {"P04", "P05"}}
Tables = dict[str, pd.DataFrame]


def vary(tables: Tables, **options: Any) -> pd.DataFrame:
    """Return the multiverse of the plan that these tables have."""
    trials = measure_pairs(tables)
    return compute_multiverse(resolve_plan(AnalysisSection(), trials), trials, tables["readings"], **options)


@pytest.fixture(scope="module")
def grid(tables: Tables) -> pd.DataFrame:
    return vary(tables, flagged=FLAGGED)


def test_two_processes_fit_the_same_multiverse(tables: Tables, grid: pd.DataFrame) -> None:
    assert vary(tables, flagged=FLAGGED, workers=LocalExecutor(2)).to_csv() == grid.to_csv()


def test_what_is_fitted_of_the_plan_is_not_fitted_again(
    tables: Tables, grid: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = measure_pairs(tables)
    known: dict[tuple[object, ...], pd.DataFrame] = {}
    fit_plan(resolve_plan(AnalysisSection(), trials), trials, known=known)
    fitted: list[str] = []
    fit_coded = planned_fits.fit_coded
    monkeypatch.setattr(planned_fits, "fit_coded", lambda *given, **more: fitted.append(str(given[1])) or fit_coded(*given, **more))
    assert vary(tables, flagged=FLAGGED, known=known).to_csv() == grid.to_csv()
    repeated = grid["declared"] | ((grid["scale"] == "rating") & (grid["people"] == "all"))
    assert 0 < len(fitted) <= (~repeated).sum()


def row(grid: pd.DataFrame, cutoff: str = "100 to 3000 ms", scale: str = "log", people: str = "all") -> pd.Series:
    rows = grid.set_index(["model", "response", "cutoff", "scale", "people"])
    return rows.loc[("agreement", "log_rt", cutoff, scale, people)]


def test_the_declared_choice_is_the_declared_model(tables: Tables, grid: pd.DataFrame) -> None:
    models = select_pairs(fit_trials(measure_pairs(tables))["results"]).query("random == 'intercepts' and region != 'critical+1'")
    columns = ["estimate", "se", "p", "n", "n_participants"]
    ours, theirs = (table.set_index("model_id")[columns].sort_index() for table in (grid[grid["declared"]], models))
    pd.testing.assert_frame_equal(ours, theirs)
    np.testing.assert_allclose(row(grid)["ms"], models.set_index(["model", "region"]).loc[("agreement", "critical"), "ms"])


def test_every_cutoff_meets_every_scale(grid: pd.DataFrame) -> None:
    times = grid[(grid["response"] == "log_rt") & (grid["people"] == "all") & (grid["model"] == "islands")]
    assert len(times) == 5 * 4
    assert times["cutoff"].nunique() == 5
    assert times["scale"].nunique() == 4
    assert grid.groupby("model_id")["declared"].sum().eq(1).all()


@pytest.mark.parametrize(
    ("cutoff", "kept"),
    [
        ("none", lambda rt, z: rt > 0),
        ("50 to 2500 ms", lambda rt, z: (rt >= 50) & (rt <= 2500)),
        ("100 to 5000 ms", lambda rt, z: (rt >= 100) & (rt <= 5000)),
        ("3 s.d. of log time", lambda rt, z: np.abs(z) <= 3),
    ],
)
def test_a_cutoff_is_a_fit_to_the_words_that_it_leaves(tables: Tables, grid: pd.DataFrame, cutoff: str, kept) -> None:
    words = tables["readings"][tables["readings"]["role"] == "target"].copy()
    log = np.log(words["rt"])
    z = (log - log.groupby(words["participant"]).transform("mean")) / log.groupby(words["participant"]).transform("std")
    words["ok"] = kept(words["rt"], z)
    words = words[(words["region"] == "critical").fillna(False) & (words["paradigm"] == "agreement 1")]
    trials = words.groupby(["participant", "item", "condition", "trial"]).agg(rt=("rt", "sum"), ok=("ok", "all")).reset_index()
    trials = trials[trials["ok"]]
    trials = trials.assign(
        y=np.log(trials["rt"]), g=trials["condition"].map({"grammatical": 0.5, "ungrammatical": -0.5}).astype(float),
        lt=np.log1p(trials["trial"].astype(float)),
    )  # fmt: skip
    by_hand = fit(trials, "y ~ g + lt + (1|participant) + (1|item)").set_index("term").loc["g"]
    ours = row(grid, cutoff)
    assert ours["n"] == len(trials)
    np.testing.assert_allclose([ours["estimate"], ours["se"]], [by_hand["estimate"], by_hand["se"]], rtol=1e-6)


def test_the_slowest_trial_is_out_under_some_cutoffs_only(grid: pd.DataFrame) -> None:
    """P01 read one region in 9 s a word."""
    rows = grid[(grid["people"] == "all") & (grid["scale"] == "log")].groupby("cutoff")["n"].sum()
    assert rows["none"] == rows["100 to 3000 ms"] + 1


def test_without_the_flagged_their_trials_are_gone(tables: Tables, grid: pd.DataFrame) -> None:
    times = compute_region_times(tables["readings"], tables["items"]).query("region == 'critical' and phenomenon == 'agreement'")
    assert row(grid, people="not flagged")["n"] == (~times["participant"].isin(["P04", "P05"])).sum()
    assert set(vary(tables)["people"]) == {"all"}


def test_effects_are_in_ms_whatever_the_scale(grid: pd.DataFrame) -> None:
    ms = [row(grid, scale=name)["ms"] for name in ("log", "ms", "log per word", "-1000/ms")]
    assert row(grid, scale="ms")["ms"] == pytest.approx(row(grid, scale="ms")["estimate"])
    np.testing.assert_allclose(ms, ms[1], rtol=0.35)
    assert (np.sign(ms) == -1).all()
    ends = row(grid)[["ms_low", "ms", "ms_high"]].astype(float)
    assert ends.is_monotonic_increasing
    # log: exp(b0 + b/2) - exp(b0 - b/2) = 2 exp(b0) sinh(b/2), so the ratio of effect and upper end is one of sinhs
    b, high = row(grid)["estimate"], row(grid)["ci_high"]
    assert ends["ms"] / ends["ms_high"] == pytest.approx(np.sinh(b / 2) / np.sinh(high / 2))


def test_a_declared_band_of_ones_own_is_among_the_cutoffs(tables: Tables) -> None:
    times = vary(tables, rt_cutoffs=(200, 800)).query("response == 'log_rt'")
    assert times["cutoff"].nunique() == 6
    assert set(times.loc[times["declared"], "cutoff"]) == {"200 to 800 ms"}
