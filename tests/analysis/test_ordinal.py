"""Ratings as ordered categories beside the models of z: asked for by study.toml, fitted by R's ordinal."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import StudyTrials, analyse
from gardenpath.analysis.measuring.ratings_and_times import compute_rating_scores
from gardenpath.analysis.model_results import select_categories
from gardenpath.analysis.reporting.rscript import script
from gardenpath.analysis.reporting.wording.effects import ordinal
from gardenpath.study import AnalysisSection, ModelSection, write

from .conftest import build_trials, fit_trials
from .test_factorial import conditions, measured

Tables = dict[str, pd.DataFrame]
pytestmark = [pytest.mark.r("ordinal"), pytest.mark.usefixtures("pymer4")]
READERS = 10


def scores_of(tables: Tables) -> pd.DataFrame:
    """Return the ratings of ten readers of the phenomenon islands, on a scale of four points."""
    scores = compute_rating_scores(tables["responses"], tables["items"]).query("phenomenon == 'islands'")
    scores = scores[scores["participant"].isin(sorted(scores["participant"].unique())[:READERS])]
    return scores.assign(rating=(scores["rating"] + 1) // 2)  # fewer thresholds, of which each costs time


@pytest.fixture(scope="module")
def of_pairs(tables: Tables) -> Tables:
    """Their models, of which that of categories takes seconds."""
    return fit_trials(build_trials(scores=scores_of(tables), items=tables["items"]), ordinal=True)


def select_fits(found: Tables) -> pd.DataFrame:
    """Return the fits on the way to models of categories."""
    return found["models"][found["models"]["engine"] == "ordinal"]


def test_a_phenomenon_has_the_model_of_clmm_with_slopes_by_participant_and_item(
    tables: Tables, of_pairs: Tables, rscript: Callable[..., pd.DataFrame]
) -> None:
    rows, ours = scores_of(tables).query("role == 'target'"), select_categories(of_pairs["results"])
    code = """
    rows$rating <- ordered(rows$rating)
    rows$grammaticality <- ifelse(rows$condition == "grammatical", .5, -.5)
    model <- ordinal::clmm(rating ~ grammaticality + (1 + grammaticality|participant) + (1 + grammaticality|item), data = rows, link = "probit")
    result <- as.data.frame(coef(summary(model))["grammaticality", , drop = FALSE])
    """
    reference = rscript(code, rows=rows.assign(rating=rows["rating"].astype(int)))
    np.testing.assert_allclose(ours[["estimate", "se", "t"]].astype(float), reference.iloc[:, :3], rtol=2e-3)
    assert ours["df"].isna().all()
    assert select_fits(of_pairs)["thresholds"].to_list() == [3]
    assert [sentence.partition(":")[0] for sentence in ordinal(ours)] == ["islands"]
    assert ours["note"].str.startswith("Singular fit").fillna(False).eq(ours["singular"]).all()


def test_a_policy_leaves_out_what_the_data_do_not_show(tables: Tables) -> None:
    found = fit_trials(build_trials(scores=scores_of(tables), items=tables["items"]), ordinal=True, policy="maximal")
    steps, [row] = select_fits(found), select_categories(found["results"]).to_dict("records")
    assert steps["formula"].iloc[0] == "rating ~ grammaticality + (1 + grammaticality|participant) + (1 + grammaticality|item)"
    assert steps.loc[steps["kept"], "formula"].to_list() == [row["formula"]]
    assert not row["singular"]
    assert row["reduced"]


def rated() -> StudyTrials:
    """Return the ratings of a small 2 x 2."""
    scores, _ = measured(noise=0.6, people=10, items=8)
    scores = scores.assign(rating=(4 + 1.2 * scores["z"]).round().clip(2, 6))
    return build_trials(scores=scores, conditions=conditions())


def test_a_factorial_design_has_uncorrelated_slopes_of_all_its_effects(rscript: Callable[..., pd.DataFrame]) -> None:
    trials = rated()
    found = fit_trials(trials, ordinal=True)
    table = select_categories(found["results"])
    assert table["contrast"].to_list() == [
        "extraction: object minus subject",
        "noun: name minus description",
        "extraction: object minus subject x noun: name minus description",
    ]
    code = """
    rows$A <- ifelse(rows$extraction == "object", .5, -.5); rows$B <- ifelse(rows$noun == "name", .5, -.5)
    rows$AB <- rows$A * rows$B
    rows$rating <- ordered(rows$rating)
    rows$participant <- factor(rows$participant); rows$item <- factor(rows$item)
    model <- ordinal::clmm(rating ~ A + B + AB + (1|participant) + (0 + A|participant) + (0 + B|participant) + (0 + AB|participant) +
      (1|item) + (0 + A|item) + (0 + B|item) + (0 + AB|item), data = rows, link = "probit")
    result <- as.data.frame(coef(summary(model)))[c("A", "B", "AB"), ]
    result$criterion <- -2 * as.numeric(logLik(model))
    """
    reference = rscript(code, rows=trials.scores[["participant", "item", "extraction", "noun", "rating"]])
    np.testing.assert_allclose(table["estimate"].astype(float), reference.iloc[:, 0], rtol=5e-3)
    np.testing.assert_allclose(table["se"].astype(float), reference.iloc[:, 1], rtol=5e-3)
    assert select_fits(found)["criterion"].item() == pytest.approx(reference["criterion"].iloc[0], abs=1e-3)
    assert "rating" in set(found["contrast_codes"]["response"])
    [sentence, *_] = ordinal(table)
    assert sentence.startswith("relatives: as ordered categories (probit), ratings ")
    assert " by extraction (object − subject) (b = " in sentence


def test_declared_models_of_rating_have_an_ordinal_form_with_their_own_random_effects() -> None:
    own = (
        ModelSection("points", "rating ~ extraction + (1|participant) + (1|item)", contrasts={"extraction": "treatment"}),
        ModelSection("standardised", "z ~ extraction + (1|participant) + (1|item)"),
    )
    found = fit_trials(rated(), models=own, ordinal=True)
    [row] = select_categories(found["results"]).to_dict("records")
    assert (row["model"], row["random"], row["headline"]) == ("points", "declared", False)
    assert row["formula"] == "rating ~ extraction_object + (1|participant) + (1|item)"
    assert row["contrast"] == "extraction: object minus subject"
    assert select_fits(found)["sd"].item().count(";") == 1


@pytest.mark.slow
def test_the_r_code_of_a_report_fits_them_again(
    tables: Tables, of_pairs: Tables, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    trials, pairs = rated(), scores_of(tables)
    own = (ModelSection("points", "rating ~ extraction*noun + (1 + extraction||participant) + (1|item)"),)
    factorial = fit_trials(trials, models=own, engine="lme4")
    names = ("planned_models", "models", "effects", "random_effects", "contrast_codes")
    found = {name: pd.concat([of_pairs[name], factorial[name]], ignore_index=True) for name in names}
    categories = set(select_categories(found["effects"])["model_id"])
    found = {name: table[table["model_id"].isin(categories)] if "model_id" in table else table for name, table in found.items()}
    found |= {"rating_scores": pd.concat([pairs, trials.scores], ignore_index=True), "items": tables["items"]}
    for name, table in found.items():
        write(table, name, tmp_path, command="test")
    kept = 'write.csv(refits, "found.csv", row.names = FALSE)'
    (tmp_path / "report.R").write_text(f"{script(found)}\n{kept}\n", encoding="utf-8")
    run_r(tmp_path / "report.R")
    refits = pd.read_csv(tmp_path / "found.csv")
    assert refits["n"].to_list() == [(pairs["role"] == "target").sum(), len(trials.scores)]
    assert refits["apart"].max() < 5e-3


def test_a_slider_has_no_points_and_its_rows_say_so_of_the_phenomenon_and_each_paradigm(tables: Tables) -> None:
    scores = scores_of(tables)
    half = np.where(scores["item"].isin(sorted(scores["item"].unique())[::2]), "one", "other")
    slid = scores.assign(rating=np.arange(len(scores)) % 60, paradigm=half)
    table = select_categories(fit_trials(build_trials(scores=slid), ordinal=True)["results"])
    assert table["model"].to_list() == ["islands", "one", "other"]
    assert table["estimate"].isna().all()
    [row, *_] = table.to_dict("records")
    assert row["note"] == "Not fitted: 60 different ratings; expected 3 to 11 points of a scale"


def test_analyse_has_them_where_they_are_asked_for(tables: Tables) -> None:
    items = tables["items"].query("phenomenon == 'islands'")
    people = sorted(tables["sessions"]["participant"])[:READERS]
    given = {
        name: tables[name][tables[name]["item"].isin(items["item"]) & tables[name]["participant"].isin(people)]
        for name in ("readings", "responses")
    }
    given |= {"sessions": tables["sessions"], "items": items}
    asked = analyse(given, AnalysisSection(ordinal=True))
    assert select_categories(asked["effects"])["term"].to_list() == ["grammaticality"]
