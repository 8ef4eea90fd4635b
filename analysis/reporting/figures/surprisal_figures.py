"""Figures of reading times beside surprisal: the lag profile, what a bit costs, curves, gains on held-out readings."""

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...aligning.predictors import LAGGED_PREDICTORS, split_by_model
from ...row_dicts import list_rows
from ..wording.labels import language_model
from ..wording.surprisal import SimulatedCosts
from .figure_style import (
    BLUE,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    PALETTE,
    blank,
    figure_legend,
    filled,
    least_squares,
    milliseconds,
    style,
    whiskers,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAGS = {-2: "two\nahead", -1: "next", 0: "read", 1: "before", 2: "two\nbefore", 3: "three\nbefore"}
BINS = 10
BAR = 0.18  # half the width of a bar that says what was simulated
DRAWN = 1000  # dots at most: every further one is bytes in the page; means and line use all words
READ = {LAGGED_PREDICTORS[0]: "the word read", f"{LAGGED_PREDICTORS[0]}_previous": "the one before"}


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


def cost_figure(surprisal_effects: pd.DataFrame, truth: SimulatedCosts | None = None) -> "Figure":
    """Return ms per bit of surprisal at each lag that is in the model, with 95 % intervals, a series a language model.

    What was simulated is a black bar at each lag, 0 at those that nothing was stated of. The estimate that is to be held against
    it stands beside the other: that of the times themselves, to which the ms were added.
    """
    rows = filled(surprisal_effects.dropna(subset="ms_per_bit"), "surprisal_effects")
    rows = pd.concat([rows, *(_of_times(part) for *whose, part in split_by_model(rows) if tuple(whose) in (truth or {}))])
    with style():
        figure, axes = blank(2.9)
        axes.axhline(0, color=GREY, linewidth=1)
        _lagged(axes, rows, ("ms_per_bit", "ms_low", "ms_high"))
        lags = sorted(rows["lag"].unique())
        for whose, stated in (truth or {}).items():
            name = "simulated" if len(truth or {}) == 1 else f"simulated, {whose[0]}"
            true = [stated[lag] if lag < len(stated) else 0.0 for lag in lags]
            starts, ends = [lag - BAR for lag in lags], [lag + BAR for lag in lags]
            axes.hlines(true, starts, ends, color=INK, linewidth=1.4, zorder=1.5, label=name)
        axes.set_xticks(lags, [LAGS[lag] for lag in lags])
        axes.set_xlim(lags[0] - 0.5, lags[-1] + 0.5)
        axes.set_xlabel("word whose surprisal it is")
        axes.set_ylabel("cost (ms per bit)")
        _series_legend(figure, axes)
    return figure


def _of_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a language model's ms per bit by the model of the times themselves, as a series of its own."""
    raw = {"ms_per_bit": rows["raw"], "ms_low": rows["raw_low"], "ms_high": rows["raw_high"]}
    return rows.assign(**raw, protocol=rows["protocol"] + ", times themselves").dropna(subset="ms_per_bit")


def _lagged(axes: "Axes", rows: pd.DataFrame, names: tuple[str, str, str]) -> None:
    """Draw a series of intervals over lags for each language model, side by side."""
    middle, low, high = names
    series = list(split_by_model(rows))
    for k, (model, protocol, part) in enumerate(series):
        part = part.sort_values("lag")
        at = part["lag"] + (k - (len(series) - 1) / 2) * min(0.16, 0.7 / len(series))
        name = language_model({"model": model, "protocol": protocol})
        axes.errorbar(
            at, part[middle], yerr=whiskers(part, middle, low, high), fmt=MARKERS[k % len(MARKERS)],
            color=PALETTE[k % len(PALETTE)], markersize=6, elinewidth=1.6, markeredgecolor="white", label=name,
        )  # fmt: skip


def _series_legend(figure: "Figure", axes: "Axes") -> None:
    """Put the legend above the panel: names of models are long, so one below the other."""
    figure_legend(figure, axes, 1)


def gain_figure(delta_log_likelihood: pd.DataFrame) -> "Figure":
    """Return each language model's gain in log likelihood per held-out reading (nats), with its 95 % interval.

    A table without gains is a `DataError`.

    >>> rows = [("gpt2", 0.004, 0.001, 0.007), ("bigram", 0.002, None, None)]
    >>> table = pd.DataFrame(rows, columns=["model", "delta", "ci_low", "ci_high"]).assign(protocol="p")
    >>> [label.get_text() for label in gain_figure(table).axes[0].get_yticklabels()]
    ['bigram (p)', 'gpt2 (p)']
    """
    rows = list_rows(
        filled(delta_log_likelihood.dropna(subset="delta"), "delta_log_likelihood").sort_values("delta", kind="stable")
    )
    with style():
        figure, axes = blank(1.0 + 0.42 * len(rows))
        axes.axvline(0, color=GREY, linewidth=1)
        for place, row in enumerate(rows):
            if not pd.isna(row["ci_low"]):
                axes.plot([row["ci_low"], row["ci_high"]], [place, place], color=BLUE, linewidth=1.6)
            axes.plot(row["delta"], place, "o", color=BLUE, markersize=6, markeredgecolor="white")
        axes.set_yticks(range(len(rows)), [wrapped(language_model(row), 26) for row in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.locator_params(axis="x", nbins=4)
        axes.set_xlabel("gain per held-out reading (nats)")
    return figure


def surprisal_figure(aligned: pd.DataFrame, simulated: float | None = None) -> "Figure":
    """Return mean reading time against surprisal, for one model and protocol: words, tenths of them, and their line.

    A word is its readers' mean log reading time; the axis is labelled in ms. The line is ordinary least squares
    through the words, with its pointwise 95 % band, without the covariates of the mixed model. `simulated` is what each bit
    was made to cost simulated readers, ms: a dashed line through the words' mean.

    A table without rows is a `DataError`.

    >>> aligned = pd.DataFrame({"token": ["i0:a:1", "i0:a:2", "i0:a:3"], "surprisal": [2.0, 5, 9], "log_rt": [5.7, 5.8, 5.9]})
    >>> surprisal_figure(aligned).axes[0].get_xlabel()
    'surprisal (bits)'
    """
    import numpy as np
    from scipy import special

    rows = filled(aligned, "aligned")
    words = rows.groupby("token").agg(x=("surprisal", "first"), y=("log_rt", "mean"))
    x, y = words["x"].to_numpy(dtype="float64"), words["y"].to_numpy(dtype="float64")
    with style():
        figure, axes = blank(3.7)
        shown = np.argsort(x, kind="stable")[:: math.ceil(len(x) / DRAWN)]
        axes.scatter(x[shown], y[shown], s=9, color=GREY, alpha=0.22, linewidths=0, label="a word")
        if len(x) > 2 and np.ptp(x) > 0:
            grid = np.linspace(x.min(), x.max(), 60)
            line, half = least_squares(x, y, grid, float(special.stdtrit(len(x) - 2, 0.975)))
            axes.fill_between(grid, line - half, line + half, color=ORANGE, alpha=0.18, linewidth=0)
            axes.plot(grid, line, color=ORANGE, linewidth=1.8, label="regression line, 95% band")
        if simulated is not None:
            grid = np.linspace(x.min(), x.max(), 60)
            times = np.exp(y).mean() + simulated * (grid - x.mean())
            axes.plot(grid, np.log(times), "--", color=INK, linewidth=1.2, label=f"simulated: {simulated:g} ms per bit")
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
    milliseconds(axes, low - room, high + room)


def smooth_figure(smooths: pd.DataFrame) -> "Figure":
    """Return what surprisal of the word read, and of the one before, adds to log reading time; 95 % intervals as bands."""
    rows = filled(smooths[smooths["predictor"].isin(READ)], "smooths")
    with style():
        figure, axes = blank(3.2)
        axes.axhline(0, color=GREY, linewidth=1)
        several = len(rows[["model", "protocol"]].drop_duplicates()) > 1
        colours = iter(PALETTE * len(rows))
        for model, protocol, part in split_by_model(rows):
            for dashes, (predictor, word) in zip(("-", "--"), READ.items(), strict=True):
                curve = part[part["predictor"] == predictor].sort_values("value")
                if len(curve):
                    name = f"{language_model({'model': model, 'protocol': protocol})}, {word}" if several else word
                    look: dict[str, Any] = {"color": next(colours)}
                    axes.fill_between(curve["value"], curve["ci_low"], curve["ci_high"], alpha=0.15, linewidth=0, **look)
                    axes.plot(curve["value"], curve["estimate"], linestyle=dashes, label=name, **look)
        axes.set_xlabel("surprisal (bits)")
        axes.set_ylabel("log reading time,\ndifference")
        figure_legend(figure, axes, 2)
    return figure
