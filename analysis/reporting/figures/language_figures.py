"""Figures of language models over languages: accuracy by language, by resources, by frequency."""

from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import DataError

from ...comparing import logistic_curve
from ...comparing.pair_accuracy import ALL_PHENOMENA
from ...row_dicts import list_rows
from ..wording.languages import SPLIT_NAMES
from .figure_style import BLUE, DASHED, INK, TEXT, common_labels, filled, grid, panel, style, wrapped
from .pair_figures import accuracies, with_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMED = 4  # languages farthest from a curve that are named beside it


def language_figure(language_accuracies: pd.DataFrame, measure: str) -> "Figure":
    """Return each model's accuracy on each language with its 95 % Wilson interval, the language of the highest mean on top.

    >>> rows = [("eu", 0.6, 0.4, 0.8), ("nl", 0.9, 0.7, 0.97)]
    >>> table = pd.DataFrame(rows, columns=["language", "accuracy", "wilson_low", "wilson_high"])
    >>> table = table.assign(model="m", protocol="p", measure="lp", phenomenon="all")
    >>> [label.get_text() for label in language_figure(table, "lp").axes[0].get_yticklabels()]
    ['nl', 'eu']
    """
    rows = with_names(filled(_overall(language_accuracies, measure), "language_accuracies"))
    best = rows.groupby("language")["accuracy"].mean().sort_values(ascending=False, kind="stable")
    rows = rows.set_index("language").loc[best.index].reset_index()
    return accuracies(rows, "language", "name", sorted(rows["name"].unique()), columns=1)


def split_figure(language_means: pd.DataFrame, measure: str) -> "Figure":
    """Return each model's mean accuracy over the languages of each split, with its 95 % bootstrap interval over languages."""
    rows = with_names(_overall(language_means, measure)).rename(columns={"ci_low": "wilson_low", "ci_high": "wilson_high"})
    if rows["split"].nunique() < 2:
        raise DataError("table language_means: one split; expected languages of several")
    told = [f"{SPLIT_NAMES.get(row['split'], row['split'])} ({row['n_languages']})" for row in list_rows(rows)]
    return accuracies(rows.assign(split=told), "split", "name", sorted(rows["name"].unique()), columns=1)


def frequency_figure(frequency_curves: pd.DataFrame, frequency_residuals: pd.DataFrame, measure: str) -> "Figure":
    """Return accuracy over language frequency with its logistic curve, a panel a model; those farthest from it are named."""
    import numpy as np

    curves = with_names(_of_measure(frequency_curves, measure).dropna(subset="slope"))
    points = with_names(_of_measure(frequency_residuals, measure))
    filled(curves, f"frequency_curves, measure {measure!r}")
    with style():
        figure, panels = grid(len(curves), 2.1)
        for axes, row in zip(panels, list_rows(curves), strict=False):
            part = points[points["name"] == row["name"]]
            axes.axhline(0.5, **DASHED)
            x = np.log10(part["frequency"].to_numpy(dtype="float64"))
            axes.plot(x, part["accuracy"], "o", color=BLUE, alpha=0.6, markersize=4, markeredgewidth=0)
            over = np.linspace(x.min(), x.max(), 80)
            fitted = logistic_curve.evaluate_curve(over, row["upper_asymptote"], row["slope"], row["midpoint"])
            axes.plot(over, fitted, color=INK, linewidth=1.6)
            for far in list_rows(part.loc[part["residual"].abs().nlargest(NAMED).index]):
                up = 1 if far["residual"] > 0 else -1
                axes.annotate(
                    far["language"], (np.log10(far["frequency"]), far["accuracy"]), (0, 5 * up), textcoords="offset points",
                    ha="center", va="bottom" if up > 0 else "top", fontsize=8, color=TEXT,
                )  # fmt: skip
            axes.set_ylim(min(0.42, part["accuracy"].min() - 0.08), 1.06)
            panel(axes, wrapped(row["name"]))
        common_labels(figure, "log10 language frequency", "accuracy")
    return figure


def _of_measure(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    return table[table["measure"] == measure]


def _overall(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    return table[(table["measure"] == measure) & (table["phenomenon"] == ALL_PHENOMENA)]
