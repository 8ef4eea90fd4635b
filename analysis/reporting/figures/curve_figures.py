"""The figure of curves: what surprisal adds to reading times, as R's mgcv bends it."""

from typing import TYPE_CHECKING

import pandas as pd

from ...predictors import LAGGED, by_model
from ..wording.surprisal import named
from .figure_style import GREY, PALETTE, blank, figure_legend, filled, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

READ = {LAGGED[0]: "the word read", f"{LAGGED[0]}_previous": "the one before"}


def smooth_figure(smooths: pd.DataFrame) -> "Figure":
    """Return what surprisal of the word read, and of the one before, adds to log reading time; 95 % intervals as bands."""
    rows = filled(smooths[smooths["predictor"].isin(READ)], "smooths")
    with style():
        figure, axes = blank(3.2)
        axes.axhline(0, color=GREY, linewidth=1)
        several = len(rows[["model", "protocol"]].drop_duplicates()) > 1
        colours = iter(PALETTE * len(rows))
        for model, protocol, part in by_model(rows):
            for dashes, (predictor, said) in zip(("-", "--"), READ.items(), strict=True):
                curve = part[part["predictor"] == predictor].sort_values("value")
                if len(curve):
                    colour = next(colours)
                    name = f"{named({'model': model, 'protocol': protocol})}, {said}" if several else said
                    axes.fill_between(
                        curve["value"], curve["ci_low"], curve["ci_high"], color=colour, alpha=0.15, linewidth=0
                    )
                    axes.plot(curve["value"], curve["estimate"], color=colour, linestyle=dashes, label=name)
        axes.set_xlabel("surprisal (bits)")
        axes.set_ylabel("log reading time,\ndifference")
        figure_legend(figure, axes, 2)
    return figure
