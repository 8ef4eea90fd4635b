"""Ratings as ordered categories beside the models of z: asked for by study.toml, fitted by R's ordinal."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.analysis.measuring.ratings_and_times import compute_rating_scores
from gardenpath.analysis.modelling.grammaticality import entering
from gardenpath.analysis.modelling.ordinal import FORMULA, ordinal_factorial_models, ordinal_models
from gardenpath.analysis.reporting.rscript import script
from gardenpath.analysis.reporting.wording.effects import ordinal
from gardenpath.study import TABLES, AnalysisSection, ModelSection, write

from .test_factorial import conditions, measured

Tables = dict[str, pd.DataFrame]
pytestmark = [pytest.mark.r("ordinal"), pytest.mark.usefixtures("pymer4")]
READERS = 10


def rows_of(tables: Tables) -> pd.DataFrame:
    """Return the ratings of ten readers of the phenomenon islands, on a scale of four points."""
    scores = compute_rating_scores(tables["responses"], tables["items"]).query("phenomenon == 'islands'")
    scores = scores[scores["participant"].isin(sorted(scores["participant"].unique())[:READERS])]
    scores = scores.assign(rating=(scores["rating"] + 1) // 2)  # fewer thresholds, of which each costs time
    times = pd.DataFrame(columns=TABLES["region_times"].column_names)
    return entering(scores, times, tables["items"])["z", "sentence", "acceptability"]


@pytest.fixture(scope="module")
def of_pairs(tables: Tables) -> pd.DataFrame:
    """Their model, which takes seconds."""
    return ordinal_models(rows_of(tables))["ordinal_models"]


def test_a_phenomenon_has_the_model_of_clmm_with_slopes_by_participant_and_item(
    tables: Tables, of_pairs: pd.DataFrame, rscript: Callable[..., pd.DataFrame]
) -> None:
    rows, ours = rows_of(tables), of_pairs
    code = """
    rows$rating <- ordered(rows$rating)
    model <- ordinal::clmm(rating ~ grammaticality + (1 + grammaticality|participant) + (1 + grammaticality|item), data = rows, link = "probit")
    result <- as.data.frame(coef(summary(model))["grammaticality", , drop = FALSE])
    """
    reference = rscript(code, rows=rows.assign(rating=rows["rating"].astype(int)))
    np.testing.assert_allclose(ours[["estimate", "se", "z"]].astype(float), reference.iloc[:, :3], rtol=2e-3)
    assert [sentence.partition(":")[0] for sentence in ordinal(ours)] == ["islands"]
    assert ours["note"].str.startswith("Singular fit").fillna(False).eq(ours["singular"]).all()


def test_a_policy_leaves_out_what_the_data_do_not_show(tables: Tables) -> None:
    found = ordinal_models(rows_of(tables), policy="maximal")
    steps, [row] = found["model_steps"], found["ordinal_models"].to_dict("records")
    assert steps["formula"].iloc[0] == FORMULA
    assert steps.loc[steps["kept"], "model"].to_list() == ["rating ordinal islands (acceptability)"]
    assert not row["singular"]
    assert row["reduced"]


def rated() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rating_scores and conditions of a small 2 x 2."""
    scores, _ = measured(noise=0.6, people=10, items=8)
    return scores.assign(rating=(4 + 1.2 * scores["z"]).round().clip(2, 6)), conditions()


def test_a_factorial_design_has_uncorrelated_slopes_of_all_its_effects(rscript: Callable[..., pd.DataFrame]) -> None:
    scores, levels = rated()
    found = ordinal_factorial_models(scores, levels)
    table = found["ordinal_models"]
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
    reference = rscript(code, rows=scores[["participant", "item", "extraction", "noun", "rating"]])
    np.testing.assert_allclose(table["estimate"].astype(float), reference.iloc[:, 0], rtol=5e-3)
    np.testing.assert_allclose(table["se"].astype(float), reference.iloc[:, 1], rtol=5e-3)
    assert table["criterion"].iloc[0] == pytest.approx(reference["criterion"].iloc[0], abs=1e-3)
    assert set(found["contrast_codes"]["measure"]) == {"rating"}
    [sentence, *_] = ordinal(table)
    assert sentence.startswith("relatives: as ordered categories (probit), ratings ")
    assert " by extraction (object − subject) (b = " in sentence


def test_declared_models_of_rating_have_an_ordinal_form_with_their_own_random_effects() -> None:
    scores, levels = rated()
    own = [
        ModelSection("points", "rating ~ extraction + (1|participant) + (1|item)", contrasts={"extraction": "treatment"}),
        ModelSection("standardised", "z ~ extraction + (1|participant) + (1|item)"),
    ]
    table = ordinal_factorial_models(scores, levels, models=own)["ordinal_models"]
    assert set(table["model"]) == {"points"}
    [row] = table.to_dict("records")
    assert row["formula"] == "rating ~ extraction_object + (1|participant) + (1|item)"
    assert row["contrast"] == "extraction: object minus subject"
    assert row["sd"].count(";") == 1


@pytest.mark.slow
def test_the_r_code_of_a_report_fits_them_again(
    tables: Tables, of_pairs: pd.DataFrame, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    pairs, (scores, levels) = rows_of(tables), rated()
    own = [ModelSection("points", "rating ~ extraction*noun + (1 + extraction||participant) + (1|item)")]
    factorial = ordinal_factorial_models(scores, levels, models=own)
    models = [of_pairs, factorial["ordinal_models"]]
    rated_pairs = pairs.drop(columns=["grammaticality", "position"]).assign(z=0.0)
    found = {
        "ordinal_models": pd.concat(models, ignore_index=True),
        "contrast_codes": factorial["contrast_codes"],
        "rating_scores": pd.concat([rated_pairs, scores], ignore_index=True),
        "items": tables["items"],
    }
    for name, table in found.items():
        write(table, name, tmp_path, command="test")
    kept = 'write.csv(refits, "found.csv", row.names = FALSE)'
    (tmp_path / "report.R").write_text(f"{script(found)}\n{kept}\n", encoding="utf-8")
    run_r(tmp_path / "report.R")
    refits = pd.read_csv(tmp_path / "found.csv")
    assert refits["n"].to_list() == [len(pairs), len(scores)]
    assert refits["apart"].max() < 5e-3


def test_a_slider_has_no_points_and_its_rows_say_so_of_the_phenomenon_and_each_paradigm(tables: Tables) -> None:
    rows = rows_of(tables)
    half = np.where(rows["item"].isin(sorted(rows["item"].unique())[::2]), "one", "other")
    slid = rows.assign(rating=np.arange(len(rows)) % 60, paradigm=half)
    table = ordinal_models(slid)["ordinal_models"]
    assert table["paradigm"].fillna("").to_list() == ["", "one", "other"]
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
    assert asked["ordinal_models"]["term"].to_list() == ["grammaticality"]
