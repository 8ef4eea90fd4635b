"""Figures of language models on minimal pairs: accuracy, comparisons, ranks, what accuracy depends on."""

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import DataError

from ...comparing.model_comparison import HUMAN_SOURCE
from ...comparing.pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS
from ...prompts import filter_prompt, list_prompts
from ...row_dicts import list_rows
from ..wording.labels import asked, language_model, measure_axis
from ..wording.minimal_pairs import DRAWN, FIXED
from .figure_style import (
    BLUE,
    DASHED,
    GREY,
    INK,
    MARKERS,
    PALETTE,
    WIDTH,
    blank,
    common_labels,
    compute_heights,
    dots,
    figure_legend,
    filled,
    grid,
    legend,
    line,
    named_rows,
    ordered,
    panel,
    style,
    whiskers,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PREDICTORS = {"confidence": "confidence (nats)", "length": "length (tokens)", "perplexity": "perplexity", "lp": measure_axis("lp")}


def accuracy_figure(accuracy: pd.DataFrame) -> "Figure":
    """Return the accuracy on each paradigm with its 95 % Wilson interval, and chance, for one model and protocol.

    A table without rows of paradigms is a `DataError`.

    >>> rows = [("ever", 0.9, 0.7, 0.97), ("any", 0.6, 0.4, 0.78)]
    >>> table = pd.DataFrame(rows, columns=["paradigm", "accuracy", "wilson_low", "wilson_high"]).assign(measure="lp")
    >>> [label.get_text() for label in accuracy_figure(table).axes[0].get_yticklabels()]
    ['ever', 'any']
    """
    rows = filled(accuracy[~accuracy["paradigm"].isin([MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS])], "accuracy")
    return accuracies(rows, "paradigm", "measure", ordered(rows["measure"]))


def phenomenon_accuracy_figure(accuracy: pd.DataFrame, measure: str) -> "Figure":
    """Return each model's accuracy on each phenomenon with its 95 % Wilson interval, chance, and the mean over paradigms."""
    rows = accuracy[accuracy["measure"] == measure]
    over = rows["phenomenon"] == ALL_PHENOMENA
    of_phenomena = rows[(rows["paradigm"] == POOLED_OVER_PAIRS) & ~over]
    means = rows[(rows["paradigm"] == MEAN_OVER_PARADIGMS) & over].assign(phenomenon="mean over paradigms")
    rows = with_names(filled(pd.concat([of_phenomena, means]), f"accuracy, measure {measure!r}"))
    figure = accuracies(rows, "phenomenon", "name", sorted(rows["name"].unique()), columns=1)
    with style():
        figure.axes[0].axhline(rows["phenomenon"].nunique() - 1.5, color=GREY, linewidth=1)
    return figure


def accuracies(rows: pd.DataFrame, each: str, by: str, series: Sequence[str], columns: int = 3) -> "Figure":
    """Return a row for each value of one column, and in it a dot with its interval for each of the series."""
    names = ordered(rows[each])
    with style():
        figure, axes = named_rows(names, each=0.2 + 0.13 * len(series))
        axes.axvline(0.5, label="chance", **DASHED)
        for k, name in enumerate(series):
            part = rows[rows[by] == name]
            at = compute_heights(part[each], names, k, len(series))
            dots(axes, part["accuracy"], at, whiskers(part, "accuracy", "wilson_low", "wilson_high"), k, name)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel("accuracy (share of pairs)")
        legend(axes, len(series) + 1, columns)
    return figure


def heat_figure(accuracy: pd.DataFrame, measure: str, choices: pd.DataFrame | None = None) -> "Figure":
    """Return a map of accuracies in percent: a row for each paradigm under its phenomenon, a column for each model.

    With the table choice_agreement, people's single choices are the first column, or columns where there are several prompts.
    """
    paradigms = accuracy[(accuracy["measure"] == measure) & ~accuracy["paradigm"].isin([MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS])]
    rows = with_names(filled(paradigms, f"accuracy, measure {measure!r}"))
    wide = rows.pivot_table("accuracy", ["phenomenon", "paradigm"], "name", sort=False)[sorted(rows["name"].unique())]
    if choices is not None and len(choices):
        for place, prompt in enumerate(list_prompts(choices)):
            known = filter_prompt(choices, prompt).set_index("paradigm")["individual"].to_dict()
            shares = wide.index.get_level_values("paradigm").map(known).astype("float64")
            wide.insert(place, f"{HUMAN_SOURCE}{asked(prompt)}", shares)
    figure = share_map(wide.droplevel("phenomenon"))
    before = list(wide.index.get_level_values("phenomenon"))
    for y in (y for y in range(1, len(before)) if before[y] != before[y - 1]):
        figure.axes[0].axhline(y - 0.5, color="white", linewidth=3)
    return figure


def share_map(wide: pd.DataFrame) -> "Figure":
    """Return a map of shares of pairs won, 0 to 1, in percent: a row for each name of the index, and the columns named above."""
    cells = wide.to_numpy(dtype="float64") * 100
    with style():
        figure, axes = blank(1.2 + 0.27 * len(wide) + 0.012 * max(map(len, wide.columns)), _width(len(wide.columns)))
        shown = axes.imshow(cells, cmap="cividis", vmin=0, vmax=100, aspect="auto")
        _cells(axes, cells, "{:.0f}", lambda value: value < 55)
        axes.set_yticks(range(len(wide)), [wrapped(str(name), 30) for name in wide.index], fontsize=9)
        _columns(axes, list(wide.columns))
        bar = figure.colorbar(shown, ax=axes, orientation="horizontal", shrink=0.7, aspect=30, ticks=[0, 50, 100])
        bar.set_label("pairs won (%), chance is 50", fontsize=10)
        bar.outline.set_visible(False)
    return figure


def rank_figure(rankings: pd.DataFrame) -> "Figure":
    """Return each model's place under each measure, the first on top, a line a model."""
    rows = with_names(filled(rankings, "rankings"))
    measures, models = ordered(rows["measure"]), sorted(rows["name"].unique())
    if len(measures) < 2 or len(models) < 2:
        raise DataError("table rankings: one measure or one model; expected two of both to compare ranks")
    with style():
        figure, axes = blank(1.1 + 0.34 * len(models), WIDTH)
        for k, model in enumerate(models):
            part = rows[rows["name"] == model].set_index("measure").reindex(measures)
            axes.plot(
                range(len(measures)), part["model_rank"], color=PALETTE[k % len(PALETTE)], marker=MARKERS[k % len(MARKERS)],
                markersize=8, markeredgecolor="white", linewidth=1.8, label=model,
            )  # fmt: skip
        axes.set_xticks(range(len(measures)), measures)
        axes.set_yticks(range(1, len(models) + 1))
        axes.set_ylim(len(models) + 0.4, 0.6)
        axes.set_xlim(-0.3, len(measures) - 0.7)
        axes.set_ylabel("rank by accuracy")
        figure_legend(figure, axes, 1)
    return figure


def comparison_figure(model_comparisons: pd.DataFrame, measure: str) -> "Figure":
    """Return how many more pairs one model wins than the other, in points, with the interval over pairs and over paradigms."""
    compared = model_comparisons[model_comparisons["measure"] == measure].dropna(subset="difference")
    rows = list_rows(filled(compared, f"model_comparisons, measure {measure!r}"))
    with style():
        figure, axes = blank(1.3 + 0.62 * len(rows))
        axes.axvline(0, color=GREY, linewidth=1)
        for y, row in enumerate(rows):
            kinds = (
                ("difference", "ci_low", "ci_high", GREY, "o", -0.14, f"{FIXED} only"),
                ("paradigm_difference", "paradigm_ci_low", "paradigm_ci_high", BLUE, "D", 0.14, DRAWN),
            )
            for middle, low, high, colour, marker, offset, name in kinds:
                if not pd.isna(row[low]):
                    ends = [[100 * (row[middle] - row[low])], [100 * (row[high] - row[middle])]]
                    axes.errorbar(
                        100 * row[middle], y + offset, xerr=ends, fmt=marker, color=colour, markersize=6, elinewidth=1.6,
                        markeredgecolor="white", label=name if y == 0 else None,
                    )  # fmt: skip
        axes.set_yticks(
            range(len(rows)), [f"{wrapped(language_model(r, '_a'), 24)}\n− {wrapped(language_model(r, '_b'), 24)}" for r in rows]
        )
        axes.tick_params(axis="y", length=0, labelsize=9)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("difference in accuracy (points)")
        legend(axes, 2, columns=1)
    return figure


def difference_figure(group_differences: pd.DataFrame) -> "Figure":
    """Return how many paradigms differ by how much between two groups of items, a panel for each model and measure.

    As BLiMP-NL's figure 7 (doi 10.1162/COLI.a.00559). A table without rows is a `DataError`.

    >>> table = pd.DataFrame({"difference": [0.1, -0.2, 0.1], "group_a": "generated", "group_b": "hand"})
    >>> figure = difference_figure(table.assign(model="m", protocol="p", measure="lp"))
    >>> float(sum(bar.get_height() for bar in figure.axes[0].patches))
    3.0
    """
    rows = with_names(filled(group_differences, "group_differences"))
    edges = [k / 20 for k in range(-21, 22, 2)]  # tenths, a bin around 0
    panels_of = list(rows.groupby(["name", "measure"], sort=False))
    with style():
        figure, panels = grid(len(panels_of), 1.5)
        for axes, ((name, measure), part) in zip(panels, panels_of, strict=False):
            axes.hist(part["difference"], bins=edges, color=BLUE)
            axes.axvline(0, color=GREY, linewidth=1)
            axes.axvline(part["difference"].mean(), color=INK, linewidth=1.4, linestyle="--")
            panel(axes, wrapped(f"{name}, {measure}"))
        groups = rows.iloc[0]
        common_labels(figure, f"accuracy, {groups['group_a']} less {groups['group_b']}", "paradigms")
    return figure


def bin_figure(accuracy_bins: pd.DataFrame, measure: str) -> "Figure":
    """Return accuracy against confidence, length, perplexity and log-probability, with Wilson intervals, a series a model."""
    rows = with_names(filled(accuracy_bins[accuracy_bins["measure"] == measure], f"accuracy_bins, measure {measure!r}"))
    predictors, models = ordered(rows["predictor"]), sorted(rows["name"].unique())
    with style():
        figure, panels = grid(len(predictors), 1.75)
        for axes, predictor in zip(panels, predictors, strict=False):
            axes.axhline(0.5, **DASHED)
            for k, model in enumerate(models):
                part = rows[(rows["predictor"] == predictor) & (rows["name"] == model)].sort_values("bin")
                error = whiskers(part, "accuracy", "wilson_low", "wilson_high")
                line(axes, part["mean_value"], part["accuracy"], error, k, model)
            if predictor == "perplexity":
                axes.set_xscale("log")
            else:
                axes.locator_params(axis="x", nbins=4)
            axes.set_ylim(-0.03, 1.03)
            panel(axes, PREDICTORS.get(predictor, predictor))
        common_labels(figure, y="accuracy")
        figure_legend(figure, panels[0], 1)
    return figure


def accuracy_correlation_figure(accuracy_correlations: pd.DataFrame, measure: str) -> "Figure":
    """Return a map of the correlations of models' accuracies over paradigms, and people's among them."""
    rows = accuracy_correlations[accuracy_correlations["measure"] == measure].dropna(subset="pearson")
    rows = filled(rows, f"accuracy_correlations, measure {measure!r}")
    names = sorted({*rows["model_a"], *rows["model_b"]}, key=[*rows["model_a"], *rows["model_b"]].index)
    names = sorted(names, key=lambda name: not name.startswith(HUMAN_SOURCE))
    if len(names) < 3:
        raise DataError("table accuracy_correlations: two accuracies; one number needs no map")
    import numpy as np

    place = {name: k for k, name in enumerate(names)}
    cells = np.full((len(names), len(names)), np.nan)
    for row in list_rows(rows):
        a, b = place[row["model_a"]], place[row["model_b"]]
        cells[max(a, b), min(a, b)] = row["pearson"]
    with style():
        figure, axes = blank(1.4 + 0.42 * len(names), _width(len(names)))
        cells = cells[1:, :-1]  # the half under the diagonal
        axes.imshow(cells, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        _cells(axes, cells, "{:.2f}", lambda value: abs(value) > 0.7)
        axes.set_yticks(range(len(cells)), [wrapped(name) for name in names[1:]], fontsize=9)
        _columns(axes, names[:-1])
    return figure


def _width(columns: int) -> float:
    return max(WIDTH, 2.2 + 0.55 * columns)


def _cells(axes: "Axes", cells: Any, form: str, on_dark: Callable[[float], bool]) -> None:
    """Write each number into its cell, in white on dark ground."""
    for y, x in itertools.product(*map(range, cells.shape)):
        value = cells[y, x]
        if not pd.isna(value):
            axes.text(
                x, y, form.format(value).replace("-", "−"), ha="center", va="center", fontsize=9,
                color="white" if on_dark(value) else INK,
            )  # fmt: skip


def _columns(axes: "Axes", names: Sequence[str]) -> None:
    """Name the columns of a map above it."""
    axes.set_xticks(range(len(names)), [wrapped(name, 24) for name in names], fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if len(names) > 3 or (len(names) > 1 and max(map(len, names)) > 12):
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="left", rotation_mode="anchor")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def with_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the name of each model, and of its protocol where there are several."""
    if rows["protocol"].nunique() < 2:
        return rows.assign(name=rows["model"].astype(str))
    return rows.assign(name=[language_model(row) for row in list_rows(rows)])
