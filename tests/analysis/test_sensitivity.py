"""The grid of choices: each cell is the fit one would make by hand, and one of them is the declared one."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_rating_scores, compute_region_times, fit
from gardenpath.analysis.modelling import grammaticality
from gardenpath.analysis.modelling.grammaticality import phenomenon_models
from gardenpath.analysis.modelling.sensitivity import sensitivity_grid
from gardenpath.study.executors import LocalExecutor

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def grid(tables: Tables) -> pd.DataFrame:
    scores = compute_rating_scores(tables["responses"], tables["items"])
    return sensitivity_grid(scores, tables["readings"], tables["items"], flagged={"acceptability": {"P04", "P05"}})


def test_two_processes_fit_the_same_grid(tables: Tables, grid: pd.DataFrame) -> None:
    scores = compute_rating_scores(tables["responses"], tables["items"])
    flagged = {"acceptability": {"P04", "P05"}}
    beside = sensitivity_grid(scores, tables["readings"], tables["items"], flagged=flagged, workers=LocalExecutor(2))
    assert beside.to_csv() == grid.to_csv()


def test_what_the_models_of_phenomena_fitted_is_not_fitted_again(
    tables: Tables, grid: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = compute_rating_scores(tables["responses"], tables["items"])
    times = compute_region_times(tables["readings"], tables["items"])
    known: dict[tuple[object, ...], pd.DataFrame] = {}
    phenomenon_models(scores, times, tables["items"], known=known)
    fitted: list[str] = []
    fit_stepwise = grammaticality.fit_stepwise
    monkeypatch.setattr(
        grammaticality, "fit_stepwise", lambda *given, **more: fitted.append(given[1]) or fit_stepwise(*given, **more)
    )
    flagged = {"acceptability": {"P04", "P05"}}
    again = sensitivity_grid(scores, tables["readings"], tables["items"], flagged=flagged, known=known)
    assert again.to_csv() == grid.to_csv()
    repeated = grid["declared"] | ((grid["scale"] == "rating") & (grid["people"] == "all"))
    assert 0 < len(fitted) <= (~repeated).sum()


def row(grid: pd.DataFrame, cutoff: str = "100 to 3000 ms", scale: str = "log", people: str = "all") -> pd.Series:
    rows = grid.set_index(["phenomenon", "measure", "cutoff", "scale", "people"])
    return rows.loc[("agreement", "log_rt", cutoff, scale, people)]


def test_the_declared_choice_is_the_declared_model(tables: Tables, grid: pd.DataFrame) -> None:
    scores, times = (
        compute_rating_scores(tables["responses"], tables["items"]),
        compute_region_times(tables["readings"], tables["items"]),
    )
    models = phenomenon_models(scores, times, tables["items"]).query("term == 'grammaticality' and random == 'intercepts'")
    ours = grid[grid["declared"]].set_index(["phenomenon", "region"])[["estimate", "se", "p", "n"]].sort_index()
    theirs = models[models["region"].isin(["sentence", "critical"])].set_index(["phenomenon", "region"])
    pd.testing.assert_frame_equal(ours, theirs[["estimate", "se", "p", "n"]].sort_index())
    np.testing.assert_allclose(row(grid)["ms"], theirs.loc[("agreement", "critical"), "ms"])


def test_every_cutoff_meets_every_scale(grid: pd.DataFrame) -> None:
    times = grid[(grid["measure"] == "log_rt") & (grid["people"] == "all") & (grid["phenomenon"] == "islands")]
    assert len(times) == 5 * 4
    assert times["cutoff"].nunique() == 5
    assert times["scale"].nunique() == 4
    assert grid.groupby(["phenomenon", "measure"])["declared"].sum().eq(1).all()


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
    nobody = sensitivity_grid(compute_rating_scores(tables["responses"], tables["items"]), tables["readings"], tables["items"])
    assert set(nobody["people"]) == {"all"}


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
    scores = compute_rating_scores(tables["responses"], tables["items"])
    table = sensitivity_grid(scores, tables["readings"], tables["items"], min_rt=200, max_rt=800)
    times = table[table["measure"] == "log_rt"]
    assert times["cutoff"].nunique() == 6
    assert set(times.loc[times["declared"], "cutoff"]) == {"200 to 800 ms"}
