"""Figures of models beside people: the lag profile, what a bit costs, gains on held-out readings, scores against ratings."""

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...correlation import BAD, GOOD, levels, mean_ratings
from ...predictors import by_model
from ...prompts import of, one
from ...rows import records
from ..wording.effects import mean_z
from ..wording.surprisal import named, shown
from .figure_style import (
    BLUE,
    GREY,
    MARKERS,
    ORANGE,
    PALETTE,
    blank,
    figure_legend,
    filled,
    grid,
    least_squares,
    ordered,
    style,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAGS = {-2: "two\nahead", -1: "next", 0: "read", 1: "before", 2: "two\nbefore", 3: "three\nbefore"}
BINS = 10
DRAWN = 1000  # dots at most: every further one is bytes in the page; means and line use all words
PANELS = 24
SCORES = {
    "lp": "log probability (nats)",
    "mean_lp": "log probability a token (nats)",
    "pen_lp": "penalised log probability (nats)",
    "slor": "SLOR (nats a token)",
    "critical_lp": "log probability of the critical region (nats)",
}


def lag_profile_figure(lag_profile: pd.DataFrame) -> "Figure":
    """Return the slopes of surprisal at lags -2 to 3 with 95 % intervals, a series for each language model.

    Words not yet seen lie on grey ground: there, nothing may stand out.
    """
    rows = filled(lag_profile.dropna(subset="estimate"), "lag_profile")
    with style():
        figure, axes = blank(3.3)
        axes.axvspan(-2.5, -0.5, color="#eef0f3", zorder=0)
        axes.axhline(0, color=GREY, linewidth=1)
        _lagged(axes, rows, ("estimate", "ci_low", "ci_high"))
        axes.margins(y=0.16)  # room for the words
        axes.text(-1.5, 0.98, "not yet seen", transform=axes.get_xaxis_transform(), ha="center", va="top", color=GREY)
        axes.set_xticks(list(LAGS), list(LAGS.values()))
        axes.set_xlim(-2.5, 3.5)
        axes.set_xlabel("word whose surprisal it is")
        axes.set_ylabel("slope (log ms per bit)")
        _series_legend(figure, axes)
    return figure


def cost_figure(surprisal_effects: pd.DataFrame) -> "Figure":
    """Return ms per bit of surprisal at each lag that is in the model, with 95 % intervals, a series a language model."""
    rows = filled(surprisal_effects.dropna(subset="ms_per_bit"), "surprisal_effects")
    with style():
        figure, axes = blank(2.9)
        axes.axhline(0, color=GREY, linewidth=1)
        _lagged(axes, rows, ("ms_per_bit", "ms_low", "ms_high"))
        lags = sorted(rows["lag"].unique())
        axes.set_xticks(lags, [LAGS[lag] for lag in lags])
        axes.set_xlim(lags[0] - 0.5, lags[-1] + 0.5)
        axes.set_xlabel("word whose surprisal it is")
        axes.set_ylabel("cost (ms per bit)")
        _series_legend(figure, axes)
    return figure


def _lagged(axes: "Axes", rows: pd.DataFrame, names: tuple[str, str, str]) -> None:
    """Draw a series of intervals over lags for each language model, side by side."""
    middle, low, high = names
    series = list(by_model(rows))
    for k, (model, protocol, part) in enumerate(series):
        part = part.sort_values("lag")
        at = part["lag"] + (k - (len(series) - 1) / 2) * min(0.16, 0.7 / len(series))
        ends = [part[middle] - part[low], part[high] - part[middle]]
        axes.errorbar(
            at, part[middle], yerr=[end.fillna(0) for end in ends], fmt=MARKERS[k % len(MARKERS)],
            color=PALETTE[k % len(PALETTE)], markersize=6, elinewidth=1.6, markeredgecolor="white",
            label=f"{model} ({protocol})",
        )  # fmt: skip


def _series_legend(figure: "Figure", axes: "Axes") -> None:
    """Put the legend above the panel: names of models are long, so one below the other."""
    figure_legend(figure, axes, 1)


def gain_figure(delta_log_likelihood: pd.DataFrame) -> "Figure":
    """Return each language model's gain in log likelihood per held-out reading (nats), with its 95 % interval."""
    rows = records(
        filled(delta_log_likelihood.dropna(subset="delta"), "delta_log_likelihood").sort_values("delta", kind="stable")
    )
    with style():
        figure, axes = blank(1.0 + 0.42 * len(rows))
        axes.axvline(0, color=GREY, linewidth=1)
        for place, row in enumerate(rows):
            if not pd.isna(row["ci_low"]):
                axes.plot([row["ci_low"], row["ci_high"]], [place, place], color=BLUE, linewidth=1.6)
            axes.plot(row["delta"], place, "o", color=BLUE, markersize=6, markeredgecolor="white")
        axes.set_yticks(range(len(rows)), [wrapped(named(row), 26) for row in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.locator_params(axis="x", nbins=4)
        axes.set_xlabel("gain per held-out reading (nats)")
    return figure


def score_figure(
    sentence_scores: pd.DataFrame,
    rating_scores: pd.DataFrame,
    measure: str = "slor",
    correlations: pd.DataFrame | None = None,
    prompt: str | None = None,
) -> "Figure":
    """Return mean ratings against scores: of sentences, and differences within pairs, for one model and protocol.

    The line is least squares through all points of a panel, with its pointwise 95 % band. Of `correlations`, the table
    rating_correlations, each panel has Pearson's r and what a perfect model would reach. Of several prompts, `prompt` names one.
    """
    both = _rated(sentence_scores, rating_scores, measure, prompt)
    points = {level: part for level, part, _ in levels(both)}
    told = _told(sentence_scores, measure, correlations, prompt)
    with style():
        figure, (left, right) = grid(2, 2.7)
        _both_conditions(left, both)
        right.plot(
            points["pairs"]["score"], points["pairs"]["rating"], "s", color=GREY, alpha=0.6, markersize=4, label="a pair",
            markeredgewidth=0,
        )  # fmt: skip
        for axes, level, what in ((left, "sentences", "sentences"), (right, "pairs", "differences within pairs")):
            _regression(axes, points[level])
            axes.set_title("\n".join([what, told.get(level, "")]).strip(), fontsize=10, loc="left", color="#374151")
            axes.tick_params(labelsize=9, length=2)
        _score_axes(figure, left, measure, prompt)
    return figure


def phenomenon_score_figure(
    sentence_scores: pd.DataFrame, rating_scores: pd.DataFrame, measure: str = "slor", prompt: str | None = None
) -> "Figure":
    """Return mean ratings of sentences against scores, a panel with Pearson's r for each phenomenon (24 at most).

    Of several prompts, `prompt` names one.
    """
    both = _rated(sentence_scores, rating_scores, measure, prompt)
    phenomena = ordered(both["phenomenon"])[:PANELS]
    with style():
        figure, panels = grid(len(phenomena), 1.75)
        for axes, phenomenon in zip(panels, phenomena, strict=False):
            points = both[both["phenomenon"] == phenomenon]
            _both_conditions(axes, points)
            _regression(axes, points)
            said = [wrapped(phenomenon), _correlation(points)]
            axes.set_title("\n".join(said).strip(), fontsize=10, loc="left", color="#374151")
            axes.tick_params(labelsize=9, length=2)
            axes.locator_params(nbins=4)
        _score_axes(figure, panels[0], measure, prompt)
    return figure


def _rated(
    sentence_scores: pd.DataFrame, rating_scores: pd.DataFrame, measure: str, prompt: str | None
) -> pd.DataFrame:
    given = sentence_scores[["item", "condition", measure]].rename(columns={measure: "score"}).dropna(subset="score")
    both = mean_ratings(one(rating_scores, prompt)).merge(given, on=["item", "condition"], validate="1:1")
    return filled(both, f"sentence_scores and rating_scores ({measure})")


def _told(scores: pd.DataFrame, measure: str, correlations: pd.DataFrame | None, prompt: str | None) -> dict[str, str]:
    """Return Pearson's r and its ceiling by level, of the one model and protocol of the scores."""
    if correlations is None:
        return {}
    rows = of(correlations, prompt)
    own = rows[
        (rows["measure"] == measure)
        & (rows["method"] == "pearson")
        & rows["model"].isin(scores["model"])
        & rows["protocol"].isin(scores["protocol"])
    ].dropna(subset="r")
    return {
        row["level"]: f"r = {shown(row['r'])}"
        + ("" if pd.isna(row["ceiling"]) else f", at most {shown(row['ceiling'])}")
        for row in records(own)
    }


def _correlation(points: pd.DataFrame) -> str:
    r = points["score"].corr(points["rating"])
    return "" if pd.isna(r) else f"r = {shown(r)}"


def _both_conditions(axes: "Axes", points: pd.DataFrame) -> None:
    for condition, colour, marker in ((GOOD, BLUE, "o"), (BAD, ORANGE, "D")):
        part = points[points["condition"] == condition]
        axes.plot(
            part["score"], part["rating"], marker, color=colour, alpha=0.6, markersize=4, label=condition, markeredgewidth=0
        )  # fmt: skip


def _score_axes(figure: "Figure", axes: "Axes", measure: str, prompt: str | None) -> None:
    figure.supxlabel(SCORES.get(measure, measure), fontsize=11, color="#1f2937")
    figure.supylabel(mean_z(prompt), fontsize=11, color="#1f2937")
    figure_legend(figure, axes, 2)


def _regression(axes: "Axes", points: pd.DataFrame) -> None:
    import numpy as np
    from scipy import stats

    x, y = (points[name].to_numpy(dtype="float64") for name in ("score", "rating"))
    x, y = x[np.isfinite(x)], y[np.isfinite(x)]
    if len(x) < 3 or np.ptp(x) == 0:
        return
    over = np.linspace(x.min(), x.max(), 60)
    line, half = least_squares(x, y, over, stats.t.ppf(0.975, len(x) - 2))
    axes.fill_between(over, line - half, line + half, color=GREY, alpha=0.2, linewidth=0)
    axes.plot(over, line, color="#1f2937", linewidth=1.6)


def surprisal_figure(aligned: pd.DataFrame) -> "Figure":
    """Return mean reading time against surprisal, for one model and protocol: words, tenths of them, and their line.

    A word is its readers' mean log reading time; the axis is labelled in ms. The line is ordinary least squares
    through the words, with its pointwise 95 % band, without the covariates of the mixed model.
    """
    import numpy as np
    from scipy import stats

    rows = filled(aligned, "aligned")
    words = rows.groupby("token").agg(x=("surprisal", "first"), y=("log_rt", "mean"))
    x, y = words["x"].to_numpy(dtype="float64"), words["y"].to_numpy(dtype="float64")
    with style():
        figure, axes = blank(3.7)
        shown = np.argsort(x, kind="stable")[:: math.ceil(len(x) / DRAWN)]
        axes.scatter(x[shown], y[shown], s=9, color=GREY, alpha=0.22, linewidths=0, label="a word")
        if len(x) > 2 and np.ptp(x) > 0:
            grid = np.linspace(x.min(), x.max(), 60)
            line, half = least_squares(x, y, grid, stats.t.ppf(0.975, len(x) - 2))
            axes.fill_between(grid, line - half, line + half, color=ORANGE, alpha=0.18, linewidth=0)
            axes.plot(grid, line, color=ORANGE, linewidth=1.8, label="regression line, 95% band")
        binned = _binned(words)
        axes.errorbar(
            binned["x"], binned["y"], yerr=binned["se"].fillna(0), fmt="o", color=BLUE, markersize=6, elinewidth=1.6,
            markeredgecolor="white", label="mean of a tenth of the words, ± SE",
        )  # fmt: skip
        _milliseconds(axes, y)
        axes.set_xlabel("surprisal (bits)")
        axes.set_ylabel("reading time (ms, log scale)")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1, handletextpad=0.6, borderaxespad=0.2)
    return figure


def _binned(words: pd.DataFrame) -> pd.DataFrame:
    tenth = pd.qcut(words["x"].rank(method="first"), min(BINS, len(words)), labels=False)
    return words.groupby(tenth).agg(x=("x", "mean"), y=("y", "mean"), se=("y", "sem"))


def _milliseconds(axes: "Axes", log_rt: Any) -> None:
    """Label a log axis with round milliseconds; leave out the outermost words' tails, not their tenths."""
    import numpy as np

    low, high = np.quantile(log_rt, [0.005, 0.995])
    room = 0.06 * (high - low) or 0.1
    axes.set_ylim(low - room, high + room)
    steps = next(s for s in (20, 50, 100, 200, 500, 1000) if (np.exp(high) - np.exp(low)) / s <= 7 or s == 1000)
    first = int(np.ceil(np.exp(low - room) / steps)) * steps
    ticks = range(first, int(np.exp(high + room)) + 1, steps)
    axes.set_yticks(np.log(list(ticks)), [str(tick) for tick in ticks])
