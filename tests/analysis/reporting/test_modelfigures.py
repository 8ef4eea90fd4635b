"""Figures of models beside people show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import align, gain_figure, lag_profile_figure, rating_scores, score_figure, svg
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
