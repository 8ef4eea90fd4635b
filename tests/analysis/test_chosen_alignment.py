"""`align` by the study's policy and cross-check, and curves in place of lines."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gardenpath.analysis import AlignmentOptions, align, fit, smooths
from gardenpath.analysis.aligning.alignment import compute_alignment_models
from gardenpath.analysis.aligning.predictors import format_formula, list_reading_terms
from gardenpath.analysis.modelling.additive import RANDOM, curves
from gardenpath.analysis.reporting.figures.figure_style import svg
from gardenpath.analysis.reporting.figures.surprisal_figures import smooth_figure
from gardenpath.cli.main import cli
from gardenpath.study import read, write


@pytest.fixture(scope="module")
def steep(simulate: Callable[..., dict[str, pd.DataFrame]]) -> pd.DataFrame:
    """Aligned readings of readers who differ in what a bit costs them."""
    tables = simulate()
    given = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    aligned = align(given, AlignmentOptions(slopes=False, folds=2))["aligned"]
    rng = np.random.default_rng(3)
    bit = dict(zip(sorted(aligned["participant"].unique()), rng.normal(0, 0.03, 1000), strict=False))
    return aligned.assign(log_rt=aligned["log_rt"] + aligned["participant"].map(bit).astype(float) * aligned["surprisal"])


def test_maximal_keeps_the_slopes_that_vary_and_notes_each_fit(steep: pd.DataFrame) -> None:
    models, table = compute_alignment_models(steep, policy="maximal").values()
    assert table["model"].unique().tolist() == ["little-lm (toy) (causal)"]
    assert "surprisal|participant" in table["formula"].iloc[0]
    assert "surprisal|item" in table["formula"].iloc[0]
    assert "token" in table["formula"].iloc[0]
    assert table["kept"].sum() == 1
    assert "surprisal|participant" in models["formula"].iloc[0]
    assert models["note"].str.contains("Random effects by the policy maximal").all()
    same = fit(steep, models["formula"].iloc[0])
    np.testing.assert_allclose(models["estimate"].astype(float), same["estimate"], atol=1e-6)


def test_without_slopes_a_policy_has_none_to_choose(steep: pd.DataFrame) -> None:
    models = compute_alignment_models(steep, policy="maximal", slopes=False)["alignment_models"]
    assert models["formula"].iloc[0] == format_formula(list_reading_terms(range(3)))


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
def test_a_cross_check_compares_the_model_that_is_given(steep: pd.DataFrame) -> None:
    for policy in ("declared", "maximal"):
        models = compute_alignment_models(steep, policy=policy, crosscheck=True)["alignment_models"]
        assert models["note"].str.contains("Cross-checked with lme4").all(), policy


@pytest.mark.r("mgcv")
@pytest.mark.usefixtures("pymer4")
def test_curves_are_those_of_mgcv(steep: pd.DataFrame, rscript: Callable[..., pd.DataFrame]) -> None:
    found = curves(steep, lags=1)
    assert set(found["smooths"]["predictor"]) == {"surprisal", "surprisal_previous"}
    wanted = format_formula(["s(surprisal)", "s(surprisal_previous)", *list_reading_terms([0, 1], surprisal=False)], RANDOM)
    rows = steep.sort_values(["session", "trial", "word"], kind="stable")
    alone = smooths(rows, wanted, series=["session", "trial"])
    pd.testing.assert_frame_equal(found["gam_terms"].drop(columns=["model", "protocol"]), alone.drop(columns=["model", "protocol"]))
    # R: predict(bam(...), type = "terms")
    theirs = rscript(
        f"""
        for (name in c("participant", "item", "token")) rows[[name]] <- factor(rows[[name]])
        key <- paste(rows$session, rows$trial)
        start <- c(TRUE, key[-1] != key[-nrow(rows)])
        model <- mgcv::bam({wanted}, data = rows, discrete = TRUE, method = "fREML",
                           rho = {alone["rho"].iloc[0]}, AR.start = start)
        at <- rows[rep(1, 3), ]
        at$surprisal <- quantile(rows$surprisal, c(.01, .5, .99))
        there <- predict(model, at, type = "terms", se.fit = TRUE, discrete = FALSE)
        result <- data.frame(value = at$surprisal, estimate = there$fit[, "s(surprisal)"], se = there$se.fit[, "s(surprisal)"])
        """,
        rows=rows,
    )
    ours = found["smooths"][found["smooths"]["predictor"] == "surprisal"].sort_values("value")
    for name in ("estimate", "se"):
        between = np.interp(theirs["value"], ours["value"].astype(float), ours[name].astype(float))
        np.testing.assert_allclose(between, theirs[name], atol=2e-3)
    drawn = svg(smooth_figure(found["smooths"]), "smooths")
    assert "the one before" in drawn
    assert "surprisal (bits)" in drawn


@pytest.mark.r("mgcv")
@pytest.mark.usefixtures("pymer4")
def test_a_study_states_policy_and_curves_of_align(tables: dict[str, pd.DataFrame], tmp_path: Path, study_folder: Path) -> None:
    for name in ("words", "readings", "sessions", "surprisal"):
        write(tables[name], name, tmp_path / "in", command="test")
    stated = study_folder / "study.toml"
    text = stated.read_text("utf-8")
    stated.write_text(text.replace("[analysis]\n", '[analysis]\npolicy = "maximal"\ngam = true\n'), encoding="utf-8")
    arguments = ["align", tmp_path / "in", tmp_path / "in", "--study", stated, "-o", tmp_path / "out", "--folds", 2]
    told = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert told.exit_code == 0, told.output
    assert read(tmp_path / "out", "alignment_steps")["kept"].sum() == 1
    assert len(read(tmp_path / "out", "gam_terms"))
    assert len(read(tmp_path / "out", "smooths")) == 150
    assert (tmp_path / "out" / "figures" / "smooths.svg").exists()
