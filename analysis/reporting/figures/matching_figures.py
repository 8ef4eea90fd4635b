"""How alike groups of items are in their covariates, before and after a choice."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from .figure_style import BLUE, GREY, ORANGE, filled, legend, named_rows, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAGES = {
    "before": (GREY, "o", "white"),
    "after": (BLUE, "o", BLUE),
    "lists": (BLUE, "o", BLUE),
    "conditions": (ORANGE, "D", ORANGE),
    "fillers and targets": (GREY, "s", "white"),
}


def matching_figure(matching: pd.DataFrame, tolerances: Mapping[str, float] | None = None) -> "Figure":
    """Return the widest standardised difference of each covariate with its equivalence bound, before and after, or of a design's
    lists, conditions and roles; tolerances are shaded.
    """
    rows = filled(matching[matching["should_match"]].dropna(subset="standardised_difference"), "matching")
    names = list(dict.fromkeys(rows["covariate"]))
    stages = [stage for stage in STAGES if stage in set(rows["stage"])]
    with style():
        figure, axes = named_rows(names)
        for at, name in enumerate(names):
            axes.fill_betweenx([at - 0.4, at + 0.4], 0, (tolerances or {}).get(name, 0), color=BLUE, alpha=0.12, linewidth=0)
        for k, stage in enumerate(stages):
            colour, marker, face = STAGES[stage]
            part = rows[rows["stage"] == stage]
            place = 0.22 * (k - (len(stages) - 1) / 2)
            for at, name in enumerate(names):
                own = part[part["covariate"] == name]
                if own.empty:
                    continue
                d, bound = float(own["standardised_difference"].abs().max()), float(own["equivalence_bound"].max())
                if bound == bound:
                    axes.plot([d, bound], [at + place] * 2, color=colour, linewidth=1.6, solid_capstyle="round")
                drawn: dict[str, Any] = {"label": stage} if own.index[0] == part.index[0] else {}
                axes.plot(d, at + place, marker, color=colour, markerfacecolor=face, markersize=7, linestyle="none", **drawn)
        axes.set_xlim(left=min(-0.01, -0.02 * float(axes.get_xlim()[1])))
        whose = " of the pool" if "after" in stages else ""
        axes.set_xlabel(f"difference (s.d.{whose}), to its bound")
        legend(axes, len(stages))
    return figure
