"""Figures of models beside people show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import align, gain_figure, lag_profile_figure, rating_scores, score_figure, svg
from gardenpath.analysis.reporting.figures.surprisal_figures import cost_figure, phenomenon_score_figure
from gardenpath.analysis.reporting.wording.surprisal import shown
from gardenpath.study import DataError

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def found(tables: Tables) -> Tables:
    return align(*(tables[name] for name in ("readings", "sessions", "surprisal", "words")), slopes=False, folds=2)


def test_the_profile_has_a_point_for_each_lag(found: Tables) -> None:
    figure = lag_profile_figure(found["lag_profile"])
    axes = figure.axes[0]
    points = next(line for line in axes.lines if line.get_marker() == "o")
    assert list(points.get_xdata()) == [-2, -1, 0, 1, 2, 3]
    assert list(points.get_ydata()) == found["lag_profile"]["estimate"].to_list()
    assert svg(figure, "p") == svg(lag_profile_figure(found["lag_profile"]), "p")


def test_gains_stand_with_their_intervals(found: Tables) -> None:
    row = found["delta_log_likelihood"].iloc[0]
    lines = gain_figure(found["delta_log_likelihood"]).axes[0].lines
    assert list(lines[1].get_xdata()) == [row["ci_low"], row["ci_high"]]
    assert list(lines[2].get_xdata()) == [row["delta"]]


def test_scores_and_ratings_have_every_sentence_and_every_pair(tables: Tables) -> None:
    items = tables["items"]
    ratings = rating_scores(tables["responses"], items)
    scores = items[["item", "condition"]].assign(slor=np.random.default_rng(1).normal(0, 1, len(items)))
    left, right = score_figure(scores, ratings).axes
    assert sum(len(line.get_xdata()) for line in left.lines if line.get_marker() in "oD") == len(items)
    assert len(right.lines[0].get_xdata()) == items["item"].nunique()
    means = ratings[ratings["role"] == "target"].groupby(["item", "condition"])["z"].mean()
    x = scores.set_index(["item", "condition"])["slor"].loc[means.index]
    slope, intercept = np.polyfit(x, means, 1)
    line = left.lines[-1]
    assert line.get_ydata() == pytest.approx(intercept + slope * line.get_xdata())


def test_nothing_to_draw_is_a_sentence(found: Tables) -> None:
    for draw, name in ((lag_profile_figure, "lag_profile"), (gain_figure, "delta_log_likelihood")):
        with pytest.raises(DataError, match=f"table {name}: no rows to draw"):
            draw(found[name].head(0))


def test_costs_are_ms_per_bit_with_their_intervals(found: Tables) -> None:
    rows = found["surprisal_effects"].sort_values("lag")
    drawn = cost_figure(found["surprisal_effects"]).axes[0].containers[0]
    np.testing.assert_allclose(drawn[0].get_ydata().astype(float), rows["ms_per_bit"].astype(float))
    np.testing.assert_allclose(
        [s[:, 1] for s in drawn[2][0].get_segments()], rows[["ms_low", "ms_high"]].to_numpy(float)
    )


def test_each_phenomenon_has_a_panel_with_its_own_correlation(tables: Tables) -> None:
    items = tables["items"]
    ratings = rating_scores(tables["responses"], items)
    scores = items[["item", "condition"]].assign(slor=np.random.default_rng(2).normal(0, 1, len(items)))
    panels = phenomenon_score_figure(scores, ratings).axes[:3]
    means = (
        ratings[ratings["role"] == "target"].groupby(["phenomenon", "item", "condition"], as_index=False)["z"].mean()
    )
    both = means.merge(scores, on=["item", "condition"])
    for panel, (name, rows) in zip(panels, both.groupby("phenomenon"), strict=True):
        r = float(np.corrcoef(rows["z"], rows["slor"])[0, 1])
        assert panel.get_title("left") == f"{name}\nr = {shown(r)}"
        assert sum(len(line.get_xdata()) for line in panel.lines if line.get_marker() in "oD") == len(rows)


def test_r_and_its_ceiling_stand_above_the_panels_of_their_level(tables: Tables) -> None:
    items = tables["items"]
    ratings = rating_scores(tables["responses"], items)
    scores = items[["item", "condition"]].assign(
        model="m", protocol="p", lp=np.random.default_rng(3).normal(0, 1, len(items))
    )
    row = {
        "model": "m",
        "protocol": "p",
        "measure": "lp",
        "method": "pearson",
        "level": "pairs",
        "r": -0.123,
        "ceiling": 0.77,
    }
    other = row | {"model": "n", "r": 0.99}
    figure = score_figure(scores, ratings, "lp", pd.DataFrame([row, other]))
    assert [axes.get_title("left") for axes in figure.axes] == [
        "sentences",
        "differences within pairs\nr = −.12, at most .77",
    ]
