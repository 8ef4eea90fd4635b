"""Figures of people's ratings against scores of language models."""

from typing import TYPE_CHECKING

import pandas as pd

from ...comparing.rating_correlation import ITEM_LEVEL, compute_mean_ratings, split_by_level
from ...grammatical_status import sort_conditions
from ...prompts import filter_prompt, select_prompt
from ...row_dicts import list_rows
from ..wording.labels import mean_rating, measure_axis
from ..wording.minimal_pairs import under_ceiling
from ..wording.numbers import correlation
from .figure_style import (
    GREY,
    INK,
    PALETTE,
    common_labels,
    figure_legend,
    filled,
    grid,
    least_squares,
    ordered,
    panel,
    style,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 24


def score_figure(
    sentence_scores: pd.DataFrame,
    rating_scores: pd.DataFrame,
    measure: str = "slor",
    correlations: pd.DataFrame | None = None,
    prompt: str | None = None,
    of: str = "z",
) -> "Figure":
    """Return mean ratings against scores: of sentences, and differences within pairs, for one model and protocol.

    The line is least squares through all points of a panel, with its pointwise 95 % band. Of `correlations`, the table
    rating_correlations, each panel has Pearson's r and what a perfect model would reach. Of several prompts, `prompt` names one;
    `of` is z or rating.

    Scores and ratings without a sentence in common are a `DataError`.

    >>> sentences = [(f"i{k}", condition) for k in range(3) for condition in ("grammatical", "ungrammatical")]
    >>> scores = pd.DataFrame(sentences, columns=["item", "condition"]).assign(model="m", protocol="p")
    >>> ratings = scores.assign(role="target", prompt="rating", phenomenon="npi", paradigm="ever")
    >>> ratings["z"] = [1.0, -1, 0.8, -0.6, 0.5, -0.7]
    >>> figure = score_figure(scores.assign(slor=[3.0, 1, 2.5, 1.5, 2, 1.8]), ratings)
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['sentences', 'differences within pairs']
    """
    both = _rated(sentence_scores, rating_scores, measure, prompt, of)
    points = {level: part for level, part, _ in split_by_level(both)}
    statistics = _statistics(sentence_scores, measure, correlations, prompt)
    with style():
        figure, (left, right) = grid(2, 2.7)
        _conditions(left, both)
        within, title = ("pairs", "differences within pairs") if "pairs" in points else (ITEM_LEVEL, "within items")
        right.plot(
            points[within]["score"], points[within]["rating"], "s", color=GREY, alpha=0.6, markersize=4, label="a pair",
            markeredgewidth=0,
        )  # fmt: skip
        for axes, level, name in ((left, "sentences", "sentences"), (right, within, title)):
            _regression(axes, points[level])
            panel(axes, f"{name}\n{statistics.get(level, '')}".strip())
        _score_axes(figure, left, measure, prompt, of)
    return figure


def phenomenon_score_figure(
    sentence_scores: pd.DataFrame, rating_scores: pd.DataFrame, measure: str = "slor", prompt: str | None = None, of: str = "z"
) -> "Figure":
    """Return mean ratings of sentences against scores, a panel with Pearson's r for each phenomenon (24 at most).

    Of several prompts, `prompt` names one; `of` is z or rating.
    """
    both = _rated(sentence_scores, rating_scores, measure, prompt, of)
    phenomena = ordered(both["phenomenon"])[:PANELS]
    with style():
        figure, panels = grid(len(phenomena), 1.75)
        for axes, phenomenon in zip(panels, phenomena, strict=False):
            points = both[both["phenomenon"] == phenomenon]
            _conditions(axes, points)
            _regression(axes, points)
            panel(axes, f"{wrapped(phenomenon)}\n{_correlation(points)}".strip())
            axes.locator_params(nbins=4)
        _score_axes(figure, panels[0], measure, prompt, of)
    return figure


def _rated(sentence_scores: pd.DataFrame, rating_scores: pd.DataFrame, measure: str, prompt: str | None, of: str) -> pd.DataFrame:
    scores = sentence_scores[["item", "condition", measure]].rename(columns={measure: "score"}).dropna(subset="score")
    both = compute_mean_ratings(select_prompt(rating_scores, prompt), of).merge(scores, on=["item", "condition"], validate="1:1")
    return filled(both, f"sentence_scores and rating_scores ({measure})")


def _statistics(scores: pd.DataFrame, measure: str, correlations: pd.DataFrame | None, prompt: str | None) -> dict[str, str]:
    """Return Pearson's r and its ceiling by level, of the one model and protocol of the scores."""
    if correlations is None:
        return {}
    rows = filter_prompt(correlations, prompt)
    rows = rows[
        (rows["measure"] == measure)
        & (rows["method"] == "pearson")
        & rows["model"].isin(scores["model"])
        & rows["protocol"].isin(scores["protocol"])
    ].dropna(subset="r")
    return {row["level"]: under_ceiling(f"r = {correlation(row['r'])}", row) for row in list_rows(rows)}


def _correlation(points: pd.DataFrame) -> str:
    r = points["score"].corr(points["rating"])
    return "" if pd.isna(r) else f"r = {correlation(r)}"


def _conditions(axes: "Axes", points: pd.DataFrame) -> None:
    for k, condition in enumerate(sort_conditions(points["condition"])):
        part = points[points["condition"] == condition]
        colour, marker = PALETTE[k % len(PALETTE)], ("o", "D", "s", "^", "v", "P")[k % len(PALETTE)]
        axes.plot(
            part["score"], part["rating"], marker, color=colour, alpha=0.6, markersize=4, label=condition, markeredgewidth=0
        )  # fmt: skip


def _score_axes(figure: "Figure", axes: "Axes", measure: str, prompt: str | None, of: str) -> None:
    common_labels(figure, measure_axis(measure), mean_rating(prompt, of))
    figure_legend(figure, axes, 2)


def _regression(axes: "Axes", points: pd.DataFrame) -> None:
    import numpy as np
    from scipy import special

    x, y = (points[name].to_numpy(dtype="float64") for name in ("score", "rating"))
    x, y = x[np.isfinite(x)], y[np.isfinite(x)]
    if len(x) < 3 or np.ptp(x) == 0:
        return
    over = np.linspace(x.min(), x.max(), 60)
    line, half = least_squares(x, y, over, float(special.stdtrit(len(x) - 2, 0.975)))
    axes.fill_between(over, line - half, line + half, color=GREY, alpha=0.2, linewidth=0)
    axes.plot(over, line, color=INK, linewidth=1.6)
