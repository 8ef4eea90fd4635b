"""Figures of the declared tables, as matplotlib figures and as SVG text that is the same bytes each time."""

import io
import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import DataError

from .contrasts import TERM
from .evaluation import MEAN, POOLED
from .wording import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's colours, which people with any colour vision tell apart (https://jfly.uni-koeln.de/color/).
BLUE, ORANGE, GREEN, PURPLE, SKY, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#6b7280"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#e69f00")
MARKERS = ("o", "D", "s", "^", "v", "P")
LINE = 0.18  # inches: height of a line of 11 pt
WIDTH = 4.7  # inches: scaled to a phone's screen, 11 pt stays legible
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
BINS = 10
DRAWN = 1000  # dots at most: every further one is bytes in the page; means and line use all words

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # shipped with matplotlib, so the layout is the same everywhere
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9ca3af",
    "axes.labelcolor": "#1f2937",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.8,
    "xtick.color": "#9ca3af",
    "ytick.color": "#9ca3af",
    "xtick.labelcolor": "#374151",
    "ytick.labelcolor": "#1f2937",
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "svg.fonttype": "none",
}


def condition_figure(condition_means: pd.DataFrame, measure: str = "rating") -> "Figure":
    """Return a dot for each phenomenon and condition: the mean of `measure` with one standard error to each side."""
    rows = _some(condition_means[condition_means["measure"] == measure], f"condition_means, measure {measure!r}")
    phenomena, conditions = _ordered(rows["phenomenon"]), sorted(rows["condition"].unique())
    with _style():
        figure, axes = _rows(phenomena)
        for k, condition in enumerate(conditions):
            part = rows[rows["condition"] == condition]
            at = _places(part["phenomenon"], phenomena, k, len(conditions))
            _dots(axes, part["mean"], at, part["se"].fillna(0), k, condition)
        axes.set_xlabel({"rating": "mean rating", "z": "mean rating (z)", "rt": "mean reading time (ms)"}[measure])
        _legend(axes, len(conditions))
    return figure


def coefficient_figure(phenomenon_models: pd.DataFrame, measure: str = "log_rt") -> "Figure":
    """Return the grammaticality coefficient of each phenomenon with its 95 % interval, and stars after `p_bh`."""
    rows = phenomenon_models[(phenomenon_models["measure"] == measure) & (phenomenon_models["term"] == TERM)]
    rows = _some(rows.dropna(subset=["estimate"]), f"phenomenon_models, measure {measure!r}")
    phenomena = _ordered(rows["phenomenon"])
    with _style():
        figure, axes = _rows(phenomena)
        at = _places(rows["phenomenon"], phenomena, 0, 1)
        axes.axvline(0, color=GREY, linewidth=1)
        below, above = rows["estimate"] - rows["ci_low"], rows["ci_high"] - rows["estimate"]
        _dots(axes, rows["estimate"], at, [below.fillna(0), above.fillna(0)], 0, "")
        for y, end, p in zip(at, rows["ci_high"].fillna(rows["estimate"]), rows["p_bh"], strict=True):
            text = _stars(p)
            axes.annotate(text, (end, y), (5, -3), textcoords="offset points", va="center", color="#1f2937")
        unit = {"z": "rating, z", "log_rt": "log reading time"}[measure]
        axes.set_xlabel(f"grammatical minus ungrammatical\n({unit})")
    return figure


def surprisal_figure(aligned: pd.DataFrame) -> "Figure":
    """Return mean reading time against surprisal, for one model and protocol: words, tenths of them, and their line.

    A word is its readers' mean log reading time; the axis is labelled in ms. The line is ordinary least squares
    through the words, with its pointwise 95 % band, without the covariates of the mixed model.
    """
    import numpy as np
    from scipy import stats

    rows = _some(aligned, "aligned")
    words = rows.groupby("token").agg(x=("surprisal", "first"), y=("log_rt", "mean"))
    x, y = words["x"].to_numpy(dtype="float64"), words["y"].to_numpy(dtype="float64")
    with _style():
        figure, axes = _canvas(3.7)
        shown = np.argsort(x, kind="stable")[:: math.ceil(len(x) / DRAWN)]
        axes.scatter(x[shown], y[shown], s=9, color=GREY, alpha=0.22, linewidths=0, label="a word")
        if len(x) > 2 and np.ptp(x) > 0:
            grid = np.linspace(x.min(), x.max(), 60)
            line, half = _line(x, y, grid, stats.t.ppf(0.975, len(x) - 2))
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


def accuracy_figure(accuracy: pd.DataFrame) -> "Figure":
    """Return the accuracy on each paradigm with its 95 % Wilson interval, and chance, for one model and protocol."""
    rows = _some(accuracy[~accuracy["paradigm"].isin([MEAN, POOLED])], "accuracy")
    paradigms, measures = _ordered(rows["paradigm"]), _ordered(rows["measure"])
    with _style():
        figure, axes = _rows(paradigms, each=0.2 + 0.13 * len(measures))
        axes.axvline(0.5, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)), label="chance")
        for k, measure in enumerate(measures):
            part = rows[rows["measure"] == measure]
            at = _places(part["paradigm"], paradigms, k, len(measures))
            ends = [part["accuracy"] - part["wilson_low"], part["wilson_high"] - part["accuracy"]]
            _dots(axes, part["accuracy"], at, [end.clip(lower=0).fillna(0) for end in ends], k, measure)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel("accuracy (share of pairs)")
        _legend(axes, len(measures) + 1)
    return figure


def svg(figure: "Figure", name: str) -> str:
    """Return the figure as an `<svg>` element, the same bytes each time; `name` keeps its ids apart on a page."""
    import matplotlib

    stream = io.StringIO()
    with _style(), matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # The page has many figures: every id, and every reference to one, carries the figure's name.
    return re.sub(r'(\bid="|href="#|url\(#)', lambda found: f"{found[0]}{name}-", text).strip() + "\n"


def _style() -> AbstractContextManager[None]:
    import matplotlib

    return matplotlib.rc_context(STYLE)


def _some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    if rows.empty:
        raise DataError(f"table {what}: no rows to draw")
    return rows


def _canvas(height: float) -> tuple["Figure", "Axes"]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _rows(names: Sequence[str], each: float = 0.42) -> tuple["Figure", "Axes"]:
    """Return a canvas with a horizontal row for each name, the first on top."""
    labels = [_wrapped(name) for name in names]
    each = max(each, LINE * (1 + max(text.count("\n") for text in labels)) + 0.06)
    figure, axes = _canvas(1.1 + each * len(names))
    axes.set_yticks(range(len(names)), labels)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=6)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)
    for line in range(1, len(names)):
        axes.axhline(line - 0.5, color="#f3f4f6", linewidth=0.8, zorder=0)
    return figure, axes


def _wrapped(name: str, width: int = 22) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(label(name), width)[:2])


def _ordered(names: "pd.Series[str]") -> list[str]:
    return [str(name) for name in names.drop_duplicates()]


def _places(names: "pd.Series[str]", order: Sequence[str], k: int, of: int) -> list[float]:
    """Return the heights of the k-th of `of` series, side by side around each row's middle."""
    step = min(0.26, 0.7 / of)
    return [order.index(name) + (k - (of - 1) / 2) * step for name in names]


def _dots(axes: "Axes", x: pd.Series, y: Sequence[float], error: Any, k: int, label: str) -> None:
    look: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "fmt": MARKERS[k % len(MARKERS)]}
    axes.errorbar(x, y, xerr=error, markersize=6, elinewidth=1.6, markeredgecolor="white", label=label, **look)


def _legend(axes: "Axes", entries: int) -> None:
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(entries, 3), handletextpad=0.4, columnspacing=1.2
    )


def _stars(p: float) -> str:
    return "" if pd.isna(p) else next((text for bound, text in STARS if p < bound), "")


def _line(x: Any, y: Any, grid: Any, t: float) -> tuple[Any, Any]:
    """Return the least-squares line over `grid` and half the width of its pointwise band."""
    import numpy as np

    centred = x - x.mean()
    slope = (centred @ y) / (centred @ centred)
    fitted = y.mean() + slope * centred
    variance = ((y - fitted) ** 2).sum() / (len(x) - 2)
    away = grid - x.mean()
    return y.mean() + slope * away, t * np.sqrt(variance * (1 / len(x) + away**2 / (centred @ centred)))


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
