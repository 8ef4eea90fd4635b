"""What all figures share: colours, type, axes with a row for each name, and pictures that are the same bytes each time."""

import io
import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import DataError
from gardenpath.study.config import FiguresSection
from gardenpath.study.files import write_atomically, write_text

from ..wording.labels import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's colours, which people with any colour vision tell apart (https://jfly.uni-koeln.de/color/).
BLUE, ORANGE, GREEN, PURPLE, SKY, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#6b7280"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#e69f00")
INK, TEXT, EDGE, GROUND = "#1f2937", "#374151", "#9ca3af", "#f3f4f6"
MARKERS = ("o", "D", "s", "^", "v", "P")
LINE = 0.18  # inches: height of a line of 11 pt
WIDTH = 4.7  # inches: scaled to a phone's screen, 11 pt stays legible
CHARACTERS = 50  # of a legend beside each other, in the width of a figure
STEPS = (5, 10, 20, 50, 100, 200, 500, 1000)  # ms between the ticks of a log axis
DPI = 200  # of pictures for slides and manuscripts that take no SVG

DASHED: Any = {"color": GREY, "linewidth": 1.2, "linestyle": (0, (4, 3))}  # a line to hold results against
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # shipped with matplotlib, so the layout is the same everywhere
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": EDGE,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.8,
    "xtick.color": EDGE,
    "ytick.color": EDGE,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "svg.fonttype": "none",
}


def svg(figure: "Figure", name: str) -> str:
    """Return the figure as an `<svg>` element, the same bytes each time; `name` keeps its ids apart on a page.

    >>> figure, axes = blank(2)
    >>> line = axes.plot([0, 1], [300, 320])
    >>> svg(figure, "times")[:4], svg(figure, "times") == svg(figure, "times")
    ('<svg', True)
    """
    import matplotlib

    stream = io.StringIO()
    with style(), matplotlib.rc_context({"svg.hashsalt": name}):
        _lay_out(figure)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # The page has many figures: every id, and every reference to one, carries the figure's name.
    return re.sub(r'(\bid="|href="#|url\(#)', lambda match: f"{match[0]}{name}-", text).strip() + "\n"


def png(figure: "Figure") -> bytes:
    """Return the figure as a PNG picture, the same bytes each time."""
    stream = io.BytesIO()
    with style():
        _lay_out(figure)
        figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()


def _lay_out(figure: "Figure") -> None:
    """Give all parts of a figure their places for good: `savefig` would find them anew for each picture, and draw twice."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    engine = figure.get_layout_engine()
    if engine is None:
        return
    FigureCanvasSVG(figure)  # whose texts are as wide as they are in the picture
    figure.dpi, dpi = 72, figure.dpi
    engine.execute(figure)
    figure.dpi = dpi
    figure.set_layout_engine(None)


def save(figure: "Figure", name: str, folder: Path, drawn: str = "") -> None:
    """Write the figure as SVG, `drawn` if that is its text already, and as PNG."""
    write_text(folder / f"{name}.svg", drawn or svg(figure, name))
    with write_atomically(folder / f"{name}.png") as temporary:
        temporary.write_bytes(png(figure))


def style() -> AbstractContextManager[None]:
    """Return the look of every figure, for a with statement."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def filled(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the rows, or raise `DataError` where there are none to draw."""
    if rows.empty:
        raise DataError(f"table {what}: no rows to draw")
    return rows


def blank(height: float, width: float = WIDTH) -> tuple["Figure", "Axes"]:
    """Return a canvas of so many inches with one panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def grid(n: int, height: float) -> tuple["Figure", list["Axes"]]:
    """Return a canvas with a panel for each of n, two beside one another where there are more than one."""
    from matplotlib.figure import Figure

    lines, columns = (n + 1) // 2, min(n, 2)
    figure = Figure(figsize=(WIDTH, 0.9 + height * lines * (1.5 if n == 1 else 1)), layout="constrained")
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for empty in panels[n:]:
        empty.set_axis_off()
    return figure, panels


def panel(axes: "Axes", title: str) -> None:
    """Give one panel among several its title, on its left, and small ticks."""
    axes.set_title(title, fontsize=10, loc="left", color=TEXT)
    axes.tick_params(labelsize=9, length=2)


def common_labels(figure: "Figure", x: str = "", y: str = "") -> None:
    """Name the axes that all panels have in common."""
    for label_axis, text in ((figure.supxlabel, x), (figure.supylabel, y)):
        if text:
            label_axis(text, fontsize=11, color=INK)


def figure_legend(figure: "Figure", axes: "Axes", columns: int, title: str | None = None) -> None:
    """Put the legend of a panel above all panels, in room of its own."""
    handles, labels = axes.get_legend_handles_labels()
    look: dict[str, Any] = {"handletextpad": 0.4, "columnspacing": 1.2, "borderaxespad": 0.2}
    fitting = int(CHARACTERS // (4 + max(map(len, labels)))) if labels else 1
    columns = max(1, min(columns, 3, fitting))
    lines = math.ceil(len(labels) / columns) - (title is None)
    figure.set_figheight(figure.get_figheight() + LINE * 1.15 * lines)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, title=title, **look)


def named_rows(names: Sequence[str], each: float = 0.42, lines: int = 2) -> tuple["Figure", "Axes"]:
    """Return a canvas with a horizontal row for each name, the first on top."""
    labels = [wrapped(name, lines=lines, spare=1) for name in names]
    each = max(each, LINE * (1 + max(text.count("\n") for text in labels)) + 0.06)
    figure, axes = blank(1.1 + each * len(names))
    axes.set_yticks(range(len(names)), labels)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=6)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)
    for line in range(1, len(names)):
        axes.axhline(line - 0.5, color=GROUND, linewidth=0.8, zorder=0)
    return figure, axes


def wrapped(name: str, width: int = 22, lines: int = 2, spare: int = 0) -> str:
    """Return a name as people write it, in so many lines at most; `spare` more are taken before a word is broken.

    >>> wrapped("grammaticality (ungrammatical − grammatical)", spare=1).splitlines()
    ['grammaticality', '(ungrammatical −', 'grammatical)']
    """
    import textwrap

    text = label(name)
    for breakable in (text, text.replace("\u00a0", " ")):
        whole = textwrap.wrap(breakable, width, break_long_words=False)
        if len(whole) <= lines + spare and all(len(line) <= width for line in whole):
            return "\n".join(whole)
    return "\n".join(textwrap.wrap(text, width)[:lines])


def ordered(names: "pd.Series[str]") -> list[str]:
    """Return each name once, in the order of the table."""
    return [str(name) for name in names.drop_duplicates()]


def compute_heights(names: "pd.Series[str]", order: Sequence[str], k: int, of: int) -> list[float]:
    """Return the heights of the k-th of `of` series, side by side around each row's middle."""
    step = min(0.26, 0.7 / of)
    return [order.index(name) + (k - (of - 1) / 2) * step for name in names]


def whiskers(rows: pd.DataFrame, middle: str, low: str, high: str) -> list[Any]:
    """Return how far each interval reaches to both sides of its middle, nowhere where it is not known."""
    return [side.clip(lower=0).fillna(0) for side in (rows[middle] - rows[low], rows[high] - rows[middle])]


def bars(models: pd.DataFrame, figures: FiguresSection) -> Any:
    """Return how far the bars of coefficients reach to both sides: their interval, or a standard error."""
    return models["se"].fillna(0) if figures.bars == "se" else whiskers(models, "estimate", "ci_low", "ci_high")


def dots(
    axes: "Axes", x: pd.Series, y: Sequence[float], error: Any, k: int, label: str, *, hollow: bool = False, **more: Any
) -> None:
    """Draw a series of dots with the lengths of their intervals to both sides; hollow ones stand beside others."""
    colour = PALETTE[k % len(PALETTE)]
    look: dict[str, Any] = {"color": colour, "fmt": MARKERS[k % len(MARKERS)]}
    if hollow:
        look |= {"markersize": 4.5, "elinewidth": 0.9, "markeredgecolor": colour, "markerfacecolor": "white"}
    else:
        look |= {"markersize": 6, "elinewidth": 1.6, "markeredgecolor": "white"}
    axes.errorbar(x, y, xerr=error, label=label, **(look | more))


def line(axes: "Axes", x: pd.Series, y: pd.Series, error: Any, k: int, label: str, **more: Any) -> None:
    """Draw a series as a line with the lengths of its intervals upwards and downwards."""
    look: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k % len(MARKERS)]}
    look |= {"markersize": 4, "linewidth": 1.4, "elinewidth": 1.0, **more}
    axes.errorbar(x, y, yerr=error, label=label, **look)


def legend(axes: "Axes", entries: int, columns: int = 3) -> None:
    """Put the legend above the drawing, over its whole width: long names at the left leave the axes little room."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure_legend(figure, axes, min(entries, columns))


def milliseconds(axes: "Axes", low: float, high: float, most: int = 7) -> None:
    """Label a log axis from `low` to `high` with round milliseconds, `most` of them at most."""
    import numpy as np

    axes.set_ylim(low, high)
    first, last = float(np.exp(low)), float(np.exp(high))
    step = next((step for step in STEPS if (last - first) / step <= most), STEPS[-1])
    ticks = range(math.ceil(first / step) * step, int(last) + 1, step)
    axes.set_yticks(np.log(list(ticks)), [str(tick) for tick in ticks])


# Labels of an axis in log odds, the most wanted first: where two would print over each other, the first of them stands.
PERCENT = (50, 90, 10, 99, 1, 70, 30, 80, 20, 95, 5, 99.9, 0.1, 98, 2, 99.5, 0.5)
PERCENT_STEPS = (10, 5, 2, 1, 0.5, 0.2, 0.1)  # between the labels of an axis that has none of those


def percentages(axes: "Axes", low: float, high: float, most: int = 7) -> None:
    """Label an axis in log odds from `low` to `high` with percentages, as far apart as `most` of them would be at least."""
    axes.set_ylim(low, high)
    ticks = _space(PERCENT, low, high, most)
    for step in PERCENT_STEPS:
        if len(ticks) < 2:
            ticks = _space([step * k for k in range(1, round(100 / step))], low, high, most)
    shares = sorted(ticks)
    axes.set_yticks([_log_odds(share) for share in shares], [f"{share:g}" for share in shares])


def _log_odds(share: float) -> float:
    return math.log(share / (100 - share))


def _space(shares: Sequence[float], low: float, high: float, most: int) -> list[float]:
    """Return those of some percentages that lie on an axis, without those that come too near to one before them."""
    kept: list[float] = []
    for share in shares:
        place = _log_odds(share)
        if low <= place <= high and all(abs(place - _log_odds(one)) >= (high - low) / most for one in kept):
            kept.append(share)
    return kept


def least_squares(x: Any, y: Any, grid: Any, t: float) -> tuple[Any, Any]:
    """Return the least-squares line over `grid` and half the width of its pointwise band."""
    import numpy as np

    centred = x - x.mean()
    slope = (centred @ y) / (centred @ centred)
    fitted = y.mean() + slope * centred
    variance = ((y - fitted) ** 2).sum() / (len(x) - 2)
    away = grid - x.mean()
    return y.mean() + slope * away, t * np.sqrt(variance * (1 / len(x) + away**2 / (centred @ centred)))
