"""Figures of reading times beside surprisal show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import AlignmentOptions, align, gain_figure, surprisal_figure, svg
from gardenpath.analysis.reporting.figures.surprisal_figures import cost_figure, lag_profile_figure
from gardenpath.study import DataError

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def found(tables: Tables) -> Tables:
    given = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    return align(given, AlignmentOptions(slopes=False, folds=2))


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


def test_nothing_to_draw_is_a_sentence(found: Tables) -> None:
    for draw, name in ((lag_profile_figure, "lag_profile"), (gain_figure, "delta_log_likelihood")):
        with pytest.raises(DataError, match=f"table {name}: no rows to draw"):
            draw(found[name].head(0))


def test_what_was_simulated_is_drawn_beside_both_estimates(found: Tables) -> None:
    rows = found["surprisal_effects"].sort_values("lag")
    [(model, protocol)] = rows[["model", "protocol"]].drop_duplicates().itertuples(index=False, name=None)
    axes = cost_figure(rows, {(model, protocol): (3.0,)}).axes[0]
    [bars] = [drawn for drawn in axes.collections if drawn.get_label() == "simulated"]
    assert [bar[:, 1].tolist() for bar in bars.get_segments()] == [[3.0, 3.0], [0.0, 0.0], [0.0, 0.0]]
    for drawn, name in zip(axes.containers, ("ms_per_bit", "raw"), strict=True):
        np.testing.assert_allclose(drawn[0].get_ydata().astype(float), rows[name].astype(float))


def test_the_simulated_line_goes_through_the_words_mean(found: Tables) -> None:
    words = found["aligned"].groupby("token").agg(x=("surprisal", "first"), y=("log_rt", "mean"))
    axes = surprisal_figure(found["aligned"], 3.0).axes[0]
    [line] = [line for line in axes.lines if line.get_label() == "simulated: 3 ms per bit"]
    x, times = line.get_xdata(), np.exp(line.get_ydata())
    np.testing.assert_allclose(np.diff(times) / np.diff(x), 3)
    assert np.interp(words["x"].mean(), x, times) == pytest.approx(np.exp(words["y"]).mean())


def test_costs_are_ms_per_bit_with_their_intervals(found: Tables) -> None:
    rows = found["surprisal_effects"].sort_values("lag")
    drawn = cost_figure(found["surprisal_effects"]).axes[0].containers[0]
    np.testing.assert_allclose(drawn[0].get_ydata().astype(float), rows["ms_per_bit"].astype(float))
    np.testing.assert_allclose([s[:, 1] for s in drawn[2][0].get_segments()], rows[["ms_low", "ms_high"]].to_numpy(float))
