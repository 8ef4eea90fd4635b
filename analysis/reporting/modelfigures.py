"""Figures of models beside people: the lag profile, gains on held-out readings, scores against ratings."""

from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import DataError

from ..correlation import BAD, GOOD, levels, mean_ratings
from ..predictors import by_model
from ..rows import records
from .figures import BLUE, GREY, MARKERS, ORANGE, PALETTE, STYLE, WIDTH
from .modelwording import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAGS = {-2: "two\nahead", -1: "next", 0: "read", 1: "before", 2: "two\nbefore", 3: "three\nbefore"}


def lag_profile_figure(lag_profile: pd.DataFrame) -> "Figure":
    """Return the slopes of surprisal at lags -2 to 3 with 95 % intervals, a series for each language model.

    Words not yet seen lie on grey ground: there, nothing may stand out.
    """
    rows = lag_profile.dropna(subset="estimate")
    figure, [axes] = _canvas(rows, "lag_profile", 1)
    axes.axvspan(-2.5, -0.5, color="#f3f4f6", zorder=0)
    axes.axhline(0, color=GREY, linewidth=1)
    series = list(by_model(rows))
    for k, (model, protocol, part) in enumerate(series):
        part = part.sort_values("lag")
        at = part["lag"] + (k - (len(series) - 1) / 2) * 0.14
        ends = [part["estimate"] - part["ci_low"], part["ci_high"] - part["estimate"]]
        axes.errorbar(
            at, part["estimate"], yerr=ends, fmt=MARKERS[k % len(MARKERS)], color=PALETTE[k % len(PALETTE)], markersize=6,
            elinewidth=1.6, label=f"{model} ({protocol})",
        )  # fmt: skip
    axes.set_xticks(list(LAGS), list(LAGS.values()))
    axes.set_xlim(-2.5, 3.5)
    axes.set_xlabel("word whose surprisal it is")
    axes.set_ylabel("slope (log ms per bit)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def gain_figure(delta_log_likelihood: pd.DataFrame) -> "Figure":
    """Return each language model's gain in log likelihood per held-out reading (nats), with its 95 % interval."""
    rows = records(delta_log_likelihood.dropna(subset="delta").sort_values("delta", kind="stable"))
    figure, [axes] = _canvas(pd.DataFrame(rows), "delta_log_likelihood", 1, height=1.3 + 0.4 * len(rows))
    axes.axvline(0, color=GREY, linewidth=1)
    for place, row in enumerate(rows):
        if not pd.isna(row["ci_low"]):
            axes.plot([row["ci_low"], row["ci_high"]], [place, place], color=BLUE, linewidth=1.6)
        axes.plot(row["delta"], place, "o", color=BLUE, markersize=6)
    axes.set_yticks(range(len(rows)), [named(row) for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel("gain per reading (nats)")
    return figure


def score_figure(sentence_scores: pd.DataFrame, rating_scores: pd.DataFrame, measure: str = "slor") -> "Figure":
    """Return mean ratings against scores: of sentences, and differences within pairs, for one model and protocol.

    The line is least squares through all points of a panel, with its pointwise 95 % band.
    """
    given = sentence_scores[["item", "condition", measure]].rename(columns={measure: "score"}).dropna(subset="score")
    both = mean_ratings(rating_scores).merge(given, on=["item", "condition"], validate="1:1")
    figure, panels = _canvas(both, f"sentence_scores and rating_scores ({measure})", 2, height=3.4)
    points = {level: part for level, part, _ in levels(both)}
    left, right = panels
    for condition, colour, marker in ((GOOD, BLUE, "o"), (BAD, ORANGE, "D")):
        part = points[condition]
        left.plot(part["score"], part["rating"], marker, color=colour, alpha=0.5, markersize=4, label=condition)
    right.plot(
        points["pairs"]["score"], points["pairs"]["rating"], "o", color=GREY, alpha=0.6, markersize=4, label="a pair"
    )
    for axes, level, what in ((left, "sentences", ""), (right, "pairs", " difference")):
        _regression(axes, points[level])
        axes.set_xlabel(f"{measure}{what}")
        axes.set_ylabel(f"mean z{what}")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _regression(axes: "Axes", points: pd.DataFrame) -> None:
    import numpy as np
    from scipy import stats

    x, y = (points[name].to_numpy(dtype="float64") for name in ("score", "rating"))
    x, y = x[np.isfinite(x)], y[np.isfinite(x)]
    if len(x) < 3 or np.ptp(x) == 0:
        return
    found = stats.linregress(x, y)
    grid = np.linspace(x.min(), x.max(), 60)
    left = y - found.intercept - found.slope * x
    spread = np.sqrt(left @ left / (len(x) - 2) * (1 / len(x) + (grid - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()))
    half = stats.t.ppf(0.975, len(x) - 2) * spread
    line = found.intercept + found.slope * grid
    axes.fill_between(grid, line - half, line + half, color=GREY, alpha=0.2, linewidth=0)
    axes.plot(grid, line, color="#1f2937", linewidth=1.6)


def _canvas(rows: pd.DataFrame, what: str, panels: int, height: float = 3.5) -> tuple["Figure", list["Axes"]]:
    import matplotlib
    from matplotlib.figure import Figure

    if rows.empty:
        raise DataError(f"table {what}: no rows to draw")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * (1.3 if panels > 1 else 1), height), layout="constrained")
        return figure, list(figure.subplots(1, panels, squeeze=False).flat)
