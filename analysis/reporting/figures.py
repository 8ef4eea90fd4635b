"""Figures of the declared tables, as matplotlib figures and as SVG text that is the same bytes each time."""

import io
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import DataError

from ..contrasts import INTERCEPTS, SLOPES, TERM
from ..evaluation import MEAN, POOLED
from ..ledger import ALL
from ..measures import SENTENCE_WIDE
from ..reliability import POOR, poor
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
CRITICAL = "critical"
SERIES = {INTERCEPTS: "declared model", SLOPES: "with slopes"}
PANELS = 24
SCALE = 9  # points of a rating scale that are all labelled
DPI = 200  # of pictures for slides and manuscripts that take no SVG
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
    """Return a dot for each phenomenon and condition: the mean of `measure` with one standard error to each side.

    Reading times (measure "rt") are those of the critical region.
    """
    region = CRITICAL if measure == "rt" else SENTENCE_WIDE
    rows = condition_means[(condition_means["measure"] == measure) & (condition_means["region"] == region)]
    rows = _some(rows, f"condition_means, measure {measure!r}")
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
    """Return the grammaticality coefficient of each phenomenon with its 95 % interval, and stars after `p_bh`.

    Of ratings (z), the declared model and the one with slopes; of reading times, the declared models of the critical
    region and the words after it. Stars stand beside declared models only.
    """
    rows = phenomenon_models[(phenomenon_models["measure"] == measure) & (phenomenon_models["term"] == TERM)]
    rows = _some(rows.dropna(subset=["estimate"]), f"phenomenon_models, measure {measure!r}")
    by = "random" if measure == "z" else "region"
    if by == "region":
        rows = rows[rows["random"] == INTERCEPTS]
    phenomena, series = _ordered(rows["phenomenon"]), sorted(rows[by].unique())
    with _style():
        figure, axes = _rows(phenomena, each=0.2 + 0.15 * len(series))
        axes.axvline(0, color=GREY, linewidth=1)
        for k, name in enumerate(series):
            part = rows[rows[by] == name]
            at = _places(part["phenomenon"], phenomena, k, len(series))
            below, above = part["estimate"] - part["ci_low"], part["ci_high"] - part["estimate"]
            _dots(axes, part["estimate"], at, [below.fillna(0), above.fillna(0)], k, SERIES.get(name, name))
            if name == SLOPES:
                continue
            for y, end, p in zip(at, part["ci_high"].fillna(part["estimate"]), part["p_bh"], strict=True):
                axes.annotate(_stars(p), (end, y), (4, -3), textcoords="offset points", va="center", color="#1f2937")
        unit = {"z": "rating, z", "log_rt": "log reading time"}[measure]
        axes.set_xlabel(f"grammatical minus ungrammatical\n({unit})")
        _legend(axes, len(series))
    return figure


def curve_figure(reading_curves: pd.DataFrame) -> "Figure":
    """Return mean reading times word by word around the critical region (place 0), a panel for each phenomenon."""
    rows = _some(reading_curves, "reading_curves")
    phenomena, conditions = _ordered(rows["phenomenon"]), sorted(rows["condition"].unique())
    with _style():
        figure, panels = _grid(len(phenomena), 1.55)
        for axes, phenomenon in zip(panels, phenomena, strict=False):
            axes.axvspan(-0.5, 0.5, color="#f3f4f6", zorder=0)
            for k, condition in enumerate(conditions):
                part = rows[(rows["phenomenon"] == phenomenon) & (rows["condition"] == condition)].sort_values("place")
                axes.errorbar(
                    part["place"], part["mean"], yerr=part["se"].fillna(0), color=PALETTE[k % len(PALETTE)],
                    marker=MARKERS[k % len(MARKERS)], markersize=4, linewidth=1.4, elinewidth=1.0, label=condition,
                )  # fmt: skip
            axes.set_title(_wrapped(phenomenon), fontsize=10, loc="left", color="#374151")
            axes.locator_params(axis="y", nbins=4)
            axes.set_xticks(range(int(rows["place"].min()), int(rows["place"].max()) + 1))
            axes.tick_params(labelsize=9, length=2)
        figure.supxlabel("word, from the critical region (0)", fontsize=11, color="#1f2937")
        figure.supylabel("reading time (ms a word)", fontsize=11, color="#1f2937")
        _figure_legend(figure, panels[0], len(conditions))
    return figure


def reliability_figure(reliability: pd.DataFrame) -> "Figure":
    """Return ICC(2,k) of each paradigm: a dot a version, over all sentences with its interval, and within conditions.

    Values below the axis stand at its left end.
    """
    rows = _some(reliability.dropna(subset=["icc"]), "reliability")
    paradigms, conditions = _ordered(rows["paradigm"]), sorted(rows["condition"].unique())
    floor = -0.5
    with _style():
        figure, axes = _rows(paradigms, each=0.16 + 0.14 * len(conditions))
        axes.axvline(POOR, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)), label=f"poor below {POOR:g}")
        for k, condition in enumerate(conditions):
            part = rows[rows["condition"] == condition]
            at = _places(part["paradigm"], paradigms, k, len(conditions))
            x = part["icc"].clip(lower=floor)
            ends = [x - part["icc_low"].clip(lower=floor), part["icc_high"] - x]
            error = [end.clip(lower=0).fillna(0) for end in ends] if condition == ALL else None
            look = {"alpha": 0.85} if condition == ALL else {"alpha": 0.6}
            _dots(axes, x, at, error, k, "all sentences" if condition == ALL else f"within {condition}", **look)
        axes.set_xlim(floor - 0.03, 1.03)
        axes.set_xlabel("ICC(2,k), a dot for each version")
        _legend(axes, len(conditions) + 1, columns=2)
    return figure


def rating_figure(rating_counts: pd.DataFrame) -> "Figure":
    """Return how often each rating was given, as shares of a condition, a panel for each paradigm (24 at most)."""
    rows = _some(rating_counts, "rating_counts")
    paradigms, conditions = _ordered(rows["paradigm"])[:PANELS], sorted(rows["condition"].unique())
    share = rows["n"] / rows.groupby(["paradigm", "condition"])["n"].transform("sum")
    points = sorted(rows["rating"].unique())
    width = 0.8 / len(conditions) * (min(b - a for a, b in itertools.pairwise(points)) if points[1:] else 1)
    with _style():
        figure, panels = _grid(len(paradigms), 1.3)
        for axes, paradigm in zip(panels, paradigms, strict=False):
            for k, condition in enumerate(conditions):
                part = rows[(rows["paradigm"] == paradigm) & (rows["condition"] == condition)]
                at = part["rating"] + (k - (len(conditions) - 1) / 2) * width
                axes.bar(at, share[part.index], width, color=PALETTE[k % len(PALETTE)], label=condition)
            axes.set_title(_wrapped(paradigm), fontsize=10, loc="left", color="#374151")
            axes.grid(axis="x", visible=False)
            axes.locator_params(axis="y", nbins=3)
            axes.tick_params(labelsize=9, length=2)
            if len(points) <= SCALE:
                axes.set_xticks(points)
        figure.supxlabel("rating", fontsize=11, color="#1f2937")
        figure.supylabel("share of ratings", fontsize=11, color="#1f2937")
        _figure_legend(figure, panels[0], len(conditions))
    return figure


def specification_figure(sensitivity: pd.DataFrame) -> "Figure":
    """Return the effect on reading times (ms) under every choice, a panel for each phenomenon, the choices marked below.

    Choices stand in the order of their mean effect over phenomena; the declared one is orange.
    """
    rows = _some(sensitivity[sensitivity["measure"] == "log_rt"].dropna(subset=["ms"]), "sensitivity, reading times")
    keys = ["cutoff", "transform", "people"]
    means = rows.groupby(keys)["ms"].mean().sort_values(kind="stable")
    place = {key: n for n, key in enumerate(means.index)}
    rows = rows.assign(at=[place[key] for key in zip(*(rows[name] for name in keys), strict=True)])
    phenomena = _ordered(rows["phenomenon"])
    levels = [(name, level) for name in keys for level in _ordered(rows[name]) if len(rows[name].unique()) > 1]
    from matplotlib.figure import Figure

    with _style():
        tall = 0.19 * len(levels) + 0.1
        figure = Figure(figsize=(WIDTH, 0.7 + 0.62 * len(phenomena) + tall), layout="constrained")
        heights = [*[0.62] * len(phenomena), tall]
        *panels, matrix = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for axes, phenomenon in zip(panels, phenomena, strict=True):
            part = rows[rows["phenomenon"] == phenomenon]
            axes.axhline(0, color=GREY, linewidth=1)
            for declared, colour in ((False, BLUE), (True, ORANGE)):
                some = part[part["declared"] == declared]
                ends = [(some["ms"] - some["ms_low"]).clip(lower=0), (some["ms_high"] - some["ms"]).clip(lower=0)]
                axes.errorbar(
                    some["at"], some["ms"], yerr=[end.fillna(0) for end in ends], fmt="D" if declared else "o",
                    color=colour, markersize=5 if declared else 3, elinewidth=1.6 if declared else 0.8,
                    label="declared" if declared else "other choices",
                )  # fmt: skip
            axes.set_ylabel(_wrapped(phenomenon), rotation=0, ha="right", va="center", fontsize=10)
            axes.yaxis.set_label_coords(-0.16, 0.5)
            axes.locator_params(axis="y", nbins=3)
            axes.tick_params(axis="y", labelsize=9)
            axes.tick_params(axis="x", length=0)
            axes.grid(axis="x", visible=False)
        chosen = [
            (n, y)
            for key, n in place.items()
            for y, (name, level) in enumerate(levels)
            if key[keys.index(name)] == level
        ]
        matrix.scatter(*zip(*chosen, strict=True), s=10, color="#374151")
        matrix.set_yticks(range(len(levels)), [_plain(name, level) for name, level in levels], fontsize=9.5)
        matrix.set_ylim(len(levels) - 0.5, -0.5)
        matrix.set_xticks([])
        for spine in matrix.spines.values():
            spine.set_visible(False)
        matrix.grid(visible=False)
        for y in range(0, len(levels), 2):
            matrix.axhspan(y - 0.5, y + 0.5, color="#f3f4f6", zorder=0)
        for y in (y for y in range(1, len(levels)) if levels[y][0] != levels[y - 1][0]):
            matrix.axhline(y - 0.5, color="#9ca3af", linewidth=0.8)
        figure.supxlabel("grammatical minus ungrammatical (ms), a choice a column", fontsize=10.5, color="#1f2937")
        _figure_legend(figure, panels[0], 2)
    return figure


def _plain(name: str, level: str) -> str:
    """Return a choice in words.

    >>> _plain("people", "not flagged"), _plain("transform", "log per word"), _plain("cutoff", "none")
    ('without the flagged', 'log per word', 'no cutoff')
    """
    if name == "people":
        return "everybody" if level == ALL else "without the flagged"
    return "no cutoff" if level == "none" else level


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


def result_figures(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, "Figure"]]:
    """Yield a name and a figure of each result that there is something to draw of, from the tables of `analyse`."""
    drawings: Mapping[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
        "ratings": ("condition_means", condition_figure),
        "rating_effects": ("phenomenon_models", partial(coefficient_figure, measure="z")),
        "reading_times": ("condition_means", partial(condition_figure, measure="rt")),
        "reading_time_effects": ("phenomenon_models", coefficient_figure),
        "reading_curves": ("reading_curves", curve_figure),
        "reliability": ("reliability", reliability_figure),
        "rating_distributions": ("rating_counts", rating_figure),
        "specifications": ("sensitivity", specification_figure),
    }
    counts, agreed = tables.get("rating_counts"), tables.get("reliability")
    if counts is not None and agreed is not None:
        tables = {**tables, "rating_counts": counts[counts["paradigm"].isin(poor(agreed))]}
    for name, (table, draw) in drawings.items():
        if table in tables:
            try:
                yield name, draw(tables[table])
            except DataError:  # nothing to draw of this; the tables say so
                continue


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


def png(figure: "Figure") -> bytes:
    """Return the figure as a PNG picture, the same bytes each time."""
    stream = io.BytesIO()
    with _style():
        figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()


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


def _grid(n: int, height: float) -> tuple["Figure", list["Axes"]]:
    """Return a canvas with a panel for each of n, two beside one another."""
    from matplotlib.figure import Figure

    lines = (n + 1) // 2
    figure = Figure(figsize=(WIDTH, 0.9 + height * lines), layout="constrained")
    panels = list(figure.subplots(lines, 2, squeeze=False).flat)
    for empty in panels[n:]:
        empty.set_axis_off()
    return figure, panels


def _figure_legend(figure: "Figure", axes: "Axes", columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    look: dict[str, Any] = {"handletextpad": 0.4, "columnspacing": 1.2, "borderaxespad": 0.2}
    figure.legend(handles, labels, loc="outside upper center", ncols=min(columns, 3), **look)


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


def _dots(axes: "Axes", x: pd.Series, y: Sequence[float], error: Any, k: int, label: str, **more: Any) -> None:
    look: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "fmt": MARKERS[k % len(MARKERS)], **more}
    axes.errorbar(x, y, xerr=error, markersize=6, elinewidth=1.6, markeredgecolor="white", label=label, **look)


def _legend(axes: "Axes", entries: int, columns: int = 3) -> None:
    """Put the legend above the drawing, over its whole width: long names at the left leave the axes little room."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    _figure_legend(figure, axes, min(entries, columns))


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
