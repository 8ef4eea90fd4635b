"""Ratings as ordered categories beside the models of z: asked for by study.toml, fitted by R's ordinal."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.analysis.measuring.ratings_and_times import rating_scores
from gardenpath.analysis.modelling.grammaticality import entering
from gardenpath.analysis.modelling.ordinal import ordinal_models
from gardenpath.analysis.reporting.wording.effects import ordinal
from gardenpath.study import TABLES, AnalysisSection

Tables = dict[str, pd.DataFrame]
pytestmark = [pytest.mark.r("ordinal"), pytest.mark.usefixtures("pymer4")]


def rows_of(tables: Tables) -> pd.DataFrame:
    """Return the ratings of twelve readers of the phenomenon islands."""
    scores = rating_scores(tables["responses"], tables["items"]).query("phenomenon == 'islands'")
    scores = scores[scores["participant"].isin(sorted(scores["participant"].unique())[:12])]
    times = pd.DataFrame(columns=TABLES["region_times"].names)
    return entering(scores, times, tables["items"])["z", "sentence", "acceptability"]


def test_each_phenomenon_and_each_paradigm_has_the_model_of_clmm(
    tables: Tables, rscript: Callable[..., pd.DataFrame]
) -> None:
    rows = rows_of(tables)
    half = np.where(rows["item"].isin(sorted(rows["item"].unique())[::2]), "one", "other")
    found = ordinal_models(rows.assign(paradigm=half))
    assert found["paradigm"].fillna("").to_list() == ["", "one", "other"]
    code = """
    rows$rating <- ordered(rows$rating)
    model <- ordinal::clmm(rating ~ grammaticality + (1 + grammaticality|participant) + (1|item), data = rows, link = "probit")
    result <- as.data.frame(coef(summary(model))["grammaticality", , drop = FALSE])
    """
    reference = rscript(code, rows=rows.assign(rating=rows["rating"].astype(int)))
    ours = found[found["paradigm"].isna()]
    np.testing.assert_allclose(ours[["estimate", "se", "z"]].astype(float), reference.iloc[:, :3], rtol=2e-3)
    assert [sentence.partition(":")[0] for sentence in ordinal(found)] == ["islands"]


def test_a_slider_has_no_points_and_its_row_says_so(tables: Tables) -> None:
    rows = rows_of(tables)
    [row] = ordinal_models(rows.assign(rating=np.arange(len(rows)) % 60)).to_dict("records")
    assert pd.isna(row["estimate"])
    assert row["note"] == "Not fitted: 60 different ratings; expected 3 to 11 points of a scale"


def test_analyse_has_them_where_they_are_asked_for(tables: Tables) -> None:
    items = tables["items"].query("phenomenon == 'islands'")
    given = {name: tables[name][tables[name]["item"].isin(items["item"])] for name in ("readings", "responses")}
    given |= {"sessions": tables["sessions"], "items": items}
    asked = analyse(given, AnalysisSection(ordinal=True))
    assert asked["ordinal_models"]["term"].to_list() == ["grammaticality"]
