"""Figures of ratings against scores show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_rating_scores, score_figure
from gardenpath.analysis.reporting.figures.score_figures import phenomenon_score_figure
from gardenpath.analysis.reporting.wording.numbers import correlation

Tables = dict[str, pd.DataFrame]


def test_scores_and_ratings_have_every_sentence_and_every_pair(tables: Tables) -> None:
    items = tables["items"]
    ratings = compute_rating_scores(tables["responses"], items)
    scores = items[["item", "condition"]].assign(slor=np.random.default_rng(1).normal(0, 1, len(items)))
    left, right = score_figure(scores, ratings).axes
    assert sum(len(line.get_xdata()) for line in left.lines if line.get_marker() in "oD") == len(items)
    assert len(right.lines[0].get_xdata()) == items["item"].nunique()
    means = ratings[ratings["role"] == "target"].groupby(["item", "condition"])["z"].mean()
    x = scores.set_index(["item", "condition"])["slor"].loc[means.index]
    slope, intercept = np.polyfit(x, means, 1)
    line = left.lines[-1]
    assert line.get_ydata() == pytest.approx(intercept + slope * line.get_xdata())


def test_ratings_as_given_are_on_the_axis_where_they_were_correlated(tables: Tables) -> None:
    ratings = compute_rating_scores(tables["responses"], tables["items"])
    scores = tables["items"][["item", "condition"]].assign(model="m", protocol="p", lp=range(len(tables["items"])))
    figure = score_figure(scores, ratings, "lp", of="rating")
    shown = {round(y, 6) for line in figure.axes[0].lines if line.get_marker() in "oD" for y in line.get_ydata()}
    of_targets = ratings[ratings["role"] == "target"]
    assert shown == {round(mean, 6) for mean in of_targets.groupby(["item", "condition"])["rating"].mean()}
    assert figure.get_supylabel() == "mean rating"


def test_each_phenomenon_has_a_panel_with_its_own_correlation(tables: Tables) -> None:
    items = tables["items"]
    ratings = compute_rating_scores(tables["responses"], items)
    scores = items[["item", "condition"]].assign(slor=np.random.default_rng(2).normal(0, 1, len(items)))
    panels = phenomenon_score_figure(scores, ratings).axes[:3]
    means = ratings[ratings["role"] == "target"].groupby(["phenomenon", "item", "condition"], as_index=False)["z"].mean()
    both = means.merge(scores, on=["item", "condition"])
    for panel, (name, rows) in zip(panels, both.groupby("phenomenon"), strict=True):
        r = float(np.corrcoef(rows["z"], rows["slor"])[0, 1])
        assert panel.get_title("left") == f"{name}\nr = {correlation(r)}"
        assert sum(len(line.get_xdata()) for line in panel.lines if line.get_marker() in "oD") == len(rows)


def test_r_and_its_ceiling_stand_above_the_panels_of_their_level(tables: Tables) -> None:
    items = tables["items"]
    ratings = compute_rating_scores(tables["responses"], items)
    scores = items[["item", "condition"]].assign(model="m", protocol="p", lp=np.random.default_rng(3).normal(0, 1, len(items)))
    row = {"model": "m", "protocol": "p", "measure": "lp", "method": "pearson", "level": "pairs", "r": -0.123, "ceiling": 0.77}
    other = row | {"model": "n", "r": 0.99}
    figure = score_figure(scores, ratings, "lp", pd.DataFrame([row, other]))
    assert [axes.get_title("left") for axes in figure.axes] == ["sentences", "differences within pairs\nr = −.12, ceiling .77"]
