"""Figures of raters: how far they agree, and how ratings are spread."""

import itertools
from typing import TYPE_CHECKING

import pandas as pd

from ...exclusion_log import ALL_CONDITIONS
from ...measuring.reliability import POOR_ICC
from ...prompts import select_prompt
from ..wording.labels import asked
from .figure_style import (
    DASHED,
    PALETTE,
    common_labels,
    compute_heights,
    dots,
    figure_legend,
    filled,
    grid,
    legend,
    named_rows,
    ordered,
    panel,
    style,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = 24
SCALE = 9  # points of a rating scale that are all labelled


def reliability_figure(reliability: pd.DataFrame, prompt: str | None = None) -> "Figure":
    """Return ICC(2,k) of each paradigm: a dot a list, over all sentences with its interval, and within conditions.

    Values below the axis stand at its left end. Of several prompts, `prompt` names one.
    """
    rows = filled(select_prompt(reliability, prompt).dropna(subset=["icc"]), "reliability")
    paradigms, conditions = ordered(rows["paradigm"]), sorted(rows["condition"].unique())
    floor = -0.5
    with style():
        figure, axes = named_rows(paradigms, each=0.16 + 0.14 * len(conditions))
        axes.axvline(POOR_ICC, label=f"poor below {POOR_ICC:g}", **DASHED)
        for k, condition in enumerate(conditions):
            part = rows[rows["condition"] == condition]
            at = compute_heights(part["paradigm"], paradigms, k, len(conditions))
            x = part["icc"].clip(lower=floor)
            ends = [x - part["icc_low"].clip(lower=floor), part["icc_high"] - x]
            error = [end.clip(lower=0).fillna(0) for end in ends] if condition == ALL_CONDITIONS else None
            name, alpha = ("all sentences", 0.85) if condition == ALL_CONDITIONS else (f"within {condition}", 0.6)
            dots(axes, x, at, error, k, name, alpha=alpha)
        axes.set_xlim(floor - 0.03, 1.03)
        axes.set_xlabel(f"ICC(2,k){asked(prompt)}, a dot for each list")
        legend(axes, len(conditions) + 1, columns=2)
    return figure


def rating_figure(rating_counts: pd.DataFrame, prompt: str | None = None) -> "Figure":
    """Return how often each rating was given, as shares of a condition, a panel for each paradigm (24 at most).

    Of several prompts, `prompt` names one.
    """
    rows = filled(select_prompt(rating_counts, prompt), "rating_counts")
    paradigms, conditions = ordered(rows["paradigm"])[:PANELS], sorted(rows["condition"].unique())
    share = rows["n_ratings"] / rows.groupby(["paradigm", "condition"])["n_ratings"].transform("sum")
    points = sorted(rows["rating"].unique())
    width = 0.8 / len(conditions) * (min(b - a for a, b in itertools.pairwise(points)) if points[1:] else 1)
    with style():
        figure, panels = grid(len(paradigms), 1.3)
        for axes, paradigm in zip(panels, paradigms, strict=False):
            for k, condition in enumerate(conditions):
                part = rows[(rows["paradigm"] == paradigm) & (rows["condition"] == condition)]
                at = part["rating"] + (k - (len(conditions) - 1) / 2) * width
                axes.bar(at, share[part.index], width, color=PALETTE[k % len(PALETTE)], label=condition)
            panel(axes, wrapped(paradigm))
            axes.grid(axis="x", visible=False)
            axes.locator_params(axis="y", nbins=3)
            if len(points) <= SCALE:
                axes.set_xticks(points)
        common_labels(figure, f"rating{asked(prompt)}", "share of ratings")
        figure_legend(figure, panels[0], len(conditions))
    return figure
