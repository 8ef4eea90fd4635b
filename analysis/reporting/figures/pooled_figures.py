"""Effects of several experiments as a forest plot."""

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...fitting.pooled_effects import EXPERIMENT, POOLED
from ...prompts import build_file_suffixes, list_prompts
from ..wording.labels import label, region_name
from ..wording.labels import response as response_name
from ..wording.terms import term
from .effect_figures import name_scale
from .figure_style import BLUE, GREY, INK, PALETTE, WIDTH, filled, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, GAP, MARGIN = 0.27, 0.75, 1.0  # inches: a line, between the effects, and of the axis
SMALLEST, LARGEST = 18, 90  # areas of the squares, in points: their weights
EFFECT = ["model", "response", "family", "region", "prompt", "term"]


def forest_figure(pooled_effects: pd.DataFrame, response: str, prompt: str | None = None) -> "Figure":
    """Return the effects on a response in every experiment with their 95 % intervals, and pooled: a panel for each effect.

    Squares are as large as their experiment weighs; hollow ones are left out. The diamond spans the interval of the pooled effect,
    the line through it where the effect of a further experiment is expected. Of several prompts, `prompt` names one. A table
    without effects on the response is a `DataError`.
    """
    rows = pooled_effects[(pooled_effects["response"] == response) & pooled_effects["kind"].isin([EXPERIMENT, POOLED])]
    rows = rows if prompt is None else rows[rows["prompt"] == prompt]
    rows = filled(rows.dropna(subset="estimate"), f"pooled_effects, response {response!r}")
    parts = [part for _, part in rows.groupby(EFFECT, sort=False, dropna=False)]
    several = len(rows["model"].unique()) > 1
    with style():
        from matplotlib.figure import Figure

        heights = [len(part) * ROW + GAP for part in parts]
        figure = Figure(figsize=(WIDTH, sum(heights) + MARGIN), layout="constrained")
        panels = figure.subplots(len(parts), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
        left, right = _find_limits(rows)
        for axes, part in zip(panels, parts, strict=True):
            axes.set_xlim(left, right)
            _draw(axes, part)
            axes.set_title(_title(part.iloc[0], several), fontsize=10, loc="left", color=INK)
        panels[-1].set_xlabel(f"difference ({name_scale(response, prompt)})")
    return figure


def _title(row: "pd.Series", several: bool) -> str:
    where = "" if row["region"] == "sentence" else region_name(row["region"])
    kind = f"{response_name(row['response'])} as ordered categories" if row["family"] == "cumulative" else ""
    return "\n".join(
        filter(
            None,
            [
                ", ".join(filter(None, [label(row["model"]) if several else "", where, kind])),
                term({str(name): value for name, value in row.items()}),
            ],
        )
    )


def _find_limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis: those of the experiments' own intervals and of zero, and a third more to both sides.

    The intervals of few experiments together are so wide that nothing else could be seen; what reaches farther has an arrow.
    """
    own = rows[rows["kind"] == EXPERIMENT]
    low, high = min(0.0, float(own["ci_low"].min())), max(0.0, float(own["ci_high"].max()))
    return low - (high - low) / 3, high + (high - low) / 3


def _mark_cut(axes: "Axes", row: "Mapping[Hashable, Any]", height: int) -> None:
    left, right = axes.get_xlim()
    ends = [row[name] for name in ("ci_low", "ci_high", "prediction_low", "prediction_high") if not pd.isna(row[name])]
    for marker, place, is_cut in (("<", left, min(ends) < left), (">", right, max(ends) > right)):
        if is_cut:
            axes.plot([place], [height], marker=marker, color=PALETTE[1], markersize=6, clip_on=False)


def _draw(axes: "Axes", rows: pd.DataFrame) -> None:
    axes.axvline(0, color=GREY, linewidth=1)
    names = []
    for height, row in enumerate(rows.to_dict("records")):
        middle, low, high = row["estimate"], row["ci_low"], row["ci_high"]
        _mark_cut(axes, row, height)
        if row["kind"] == POOLED:
            names.append("pooled")
            if not pd.isna(row["prediction_low"]):
                axes.plot([row["prediction_low"], row["prediction_high"]], [height, height], color=PALETTE[1], linewidth=1.2)
            axes.fill([low, middle, high, middle], [height, height - 0.3, height, height + 0.3], color=PALETTE[1])
            continue
        names.append(str(row["experiment"]))
        is_left_out = pd.isna(row["weight"])
        axes.plot([low, high], [height, height], color=BLUE, linewidth=1.4)
        size = SMALLEST if is_left_out else SMALLEST + (LARGEST - SMALLEST) * row["weight"]
        axes.scatter([middle], [height], s=size, marker="s", color="white" if is_left_out else BLUE, edgecolors=BLUE, zorder=3)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)


def forest_figures(pooled_effects: pd.DataFrame) -> Iterator[tuple[str, "Figure"]]:
    """Yield a name and a forest plot for each response, prompt by prompt where there are several, that has pooled effects."""
    for response in dict.fromkeys(pooled_effects.loc[pooled_effects["kind"] == POOLED, "response"]):
        rows = pooled_effects[pooled_effects["response"] == response]
        for prompt, ending in build_file_suffixes(list_prompts(rows)).items():
            yield f"forest-{response}{ending}", forest_figure(rows, response, prompt)
