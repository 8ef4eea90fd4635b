"""Specification curves: an effect under every choice, the estimates in order, the choices marked below."""

import itertools
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from ..wording.labels import label
from ..wording.multiverse import CHOICES, describe_choice, find_common_scale, name_effect, select_distinct, split_effects
from .figure_style import BLUE, EDGE, GREY, GROUND, LINE, ORANGE, TEXT, WIDTH, filled, ordered, style, whiskers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME_WIDTH = 25  # letters of a choice beside its dots
CURVE_HEIGHT = 2.1  # inches


def specification_figures(multiverse: pd.DataFrame) -> Iterator[tuple[str, "Figure"]]:
    """Yield a name and the specification curve of each effect that has an estimate, numbered in the order of the table."""
    for number, rows in enumerate(split_effects(multiverse), 1):
        if len(select_distinct(rows)):
            yield f"specifications_{number}", specification_figure(rows)


def specification_figure(rows: pd.DataFrame) -> "Figure":
    """Return the specification curve of one effect (Simonsohn et al. 2020, doi 10.1038/s41562-020-0912-z).

    Above, estimates with 95 % intervals from the lowest to the highest, in ms, the unit of the response or its standard deviations;
    grey ones have intervals with zero, the planned one is orange. Below, each one's choices. `rows` are those of one effect of the
    table multiverse; a fit that several specifications come to stands there once.
    """
    from matplotlib.figure import Figure

    scale = find_common_scale(rows)
    fitted = filled(select_distinct(rows), "multiverse, estimates").sort_values(scale.middle, kind="stable")
    fitted = fitted.assign(at=range(len(fitted)))
    shown = rows[rows["specification"].isin(fitted["specification"])]  # in the order of the plan
    kinds = {column: ordered(shown[column]) for column in CHOICES if len(shown[column].unique()) > 1}
    lines = [(column, choice) for column, choices in kinds.items() for choice in (None, *choices)]
    names = [_name_line(column, choice) for column, choice in lines]
    heights = [LINE * (0.95 + name.count("\n")) for name in names]
    with style():
        title = textwrap.wrap(label(name_effect(rows)), 58)
        tall = sum(heights) + 0.1
        figure = Figure(figsize=(WIDTH, CURVE_HEIGHT + tall + 0.2 * len(title) + 0.75), layout="constrained")
        curve, matrix = figure.subplots(2, 1, sharex=True, height_ratios=[CURVE_HEIGHT, max(tall, 0.1)])
        _draw_curve(curve, fitted, (scale.middle, scale.low, scale.high))
        curve.set_ylabel(f"effect ({scale.unit})", fontsize=10)
        _draw_choices(matrix, fitted, lines, names, heights)
        figure.suptitle("\n".join(title), fontsize=10, color=TEXT, x=0.02, ha="left")
        matrix.set_xlabel(f"{len(fitted)} specifications, by their estimate", fontsize=10)
        figure.legend(*curve.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9.5)
    return figure


def _name_line(column: str, choice: str | None) -> str:
    """Return what stands beside a line: the kind of choices, or a choice, in lines of its own width."""
    text = CHOICES[column] if choice is None else describe_choice(column, choice)
    return "\n".join(textwrap.wrap(text, NAME_WIDTH))


def _draw_curve(axes: "Axes", rows: pd.DataFrame, columns: tuple[str, str, str]) -> None:
    """Draw the estimates of one effect with their intervals, from the lowest to the highest."""
    axes.axhline(0, color=GREY, linewidth=1)
    has_zero = (rows["ci_low"] <= 0) & (rows["ci_high"] >= 0)
    planned = rows["declared"].astype(bool)
    series = (
        ("interval without zero", ~planned & ~has_zero, BLUE, "o"),
        ("interval with zero", ~planned & has_zero, EDGE, "o"),
        ("as planned", planned, ORANGE, "D"),
    )
    for name, which, colour, marker in series:
        part = rows[which]
        if len(part):
            big = marker == "D"
            axes.errorbar(
                part["at"], part[columns[0]], yerr=whiskers(part, *columns), fmt=marker, color=colour, label=name,
                markersize=5 if big else 3, elinewidth=1.6 if big else 0.8, zorder=4 if big else 3,
            )  # fmt: skip
    axes.locator_params(axis="y", nbins=5)
    axes.tick_params(axis="y", labelsize=9)
    axes.tick_params(axis="x", length=0, labelbottom=False)
    axes.grid(axis="x", visible=False)


def _draw_choices(
    axes: "Axes", rows: pd.DataFrame, lines: list[tuple[str, str | None]], names: list[str], heights: list[float]
) -> None:
    """Mark below each estimate what was chosen, a line for each choice under the name of its kind."""
    edges = [sum(heights[:k]) for k in range(len(heights) + 1)]
    middles = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    for k, (column, choice) in enumerate(lines):
        if choice is None:
            if k:
                axes.axhline(edges[k], color=EDGE, linewidth=0.6)
            continue
        if k % 2:
            axes.axhspan(edges[k], edges[k + 1], color=GROUND, zorder=0)
        chosen = rows[rows[column].astype(str) == choice]
        colours = [ORANGE if is_planned else TEXT for is_planned in chosen["declared"]]
        axes.scatter(chosen["at"], [middles[k]] * len(chosen), s=9, c=colours, zorder=3)
    axes.set_yticks(middles, names, fontsize=8.5)
    for tick, (_, choice) in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_fontweight("bold" if choice is None else "normal")
    axes.set_ylim(edges[-1] if lines else 1, 0)
    axes.set_xlim(-0.8, len(rows) - 0.2)
    axes.tick_params(axis="both", length=0, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.grid(visible=False)
