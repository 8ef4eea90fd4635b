"""Figures of a study's own factors: means of their cells, and what the models say of each contrast."""

import itertools
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study.config import FiguresSection
from gardenpath.study.responses import RESPONSES

from ...exclusion_log import ALL_CONDITIONS
from ...measuring.binary_responses import BINARY_MEASURES, CHOICE_MEASURE
from ...measuring.cell_means import CELL_SEPARATOR
from ...measuring.region_spans import SENTENCE_REGION
from ...model_results import is_intercepts_form, select_factors
from ...prompts import select_prompt
from ..wording.labels import label, region_name
from ..wording.terms import terms_by_model
from .effect_figures import FORMS, INTERCEPTS_FORM, name_scale
from .figure_style import (
    DASHED,
    GREY,
    bars,
    common_labels,
    compute_heights,
    dots,
    figure_legend,
    filled,
    grid,
    legend,
    line,
    milliseconds,
    named_rows,
    ordered,
    panel,
    percentages,
    style,
    whiskers,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROBABILITY = ("probability", "probability_low", "probability_high")
ASIDE = 0.05  # between the series at a level, of the distance to the next level
TITLE = 26  # characters of a line above a panel
PANEL = ["model", "response", "region", "prompt"]


def interaction_figure(factorial_means: pd.DataFrame, factors: str | None = None) -> "Figure":
    r"""Return the means of a design's cells with their intervals, a panel for each response and region.

    The first factor is on the axis, the others are the lines, in the order of the materials. Log reading times are labelled in
    ms, and their panels span the same ratio, so that lines of the same slope are effects of the same size. Log odds are labelled
    in percent. Of models with different factors, `factors` names those of one, as the column does.

    A table without means is a `DataError`; several sets of factors of which none is named are a `ValueError`.

    >>> cells = [("subject x name", 5.6), ("subject x plural", 5.7), ("object x name", 5.7), ("object x plural", 6.0)]
    >>> means = pd.DataFrame(cells, columns=["levels", "mean_value"]).assign(
    ...     model="relatives", response="log_rt", region="critical", prompt=None, factors="extraction x noun"
    ... )
    >>> means = means.assign(ci_low=means["mean_value"] - 0.1, ci_high=means["mean_value"] + 0.1)
    >>> axes = interaction_figure(means).axes[0]
    >>> axes.get_title("left"), [text.get_text() for text in axes.get_xticklabels()]
    ('critical region\nreading time (ms)', ['subject', 'object'])
    """
    rows = filled(factorial_means.dropna(subset="mean_value"), "factorial_means")
    sets = ordered(rows["factors"])
    if factors is None and len(sets) > 1:
        raise ValueError(f"there are models of the factors {', '.join(sets)}; expected one, as in  factors={sets[0]!r}")
    sets = [factors or sets[0]]
    rows = rows[rows["factors"] == sets[0]]
    first, *others = _split(rows)
    name, *crossed = sets[0].split(CELL_SEPARATOR) if others else sets[:1]
    rows = rows.assign(at=first, series=[", ".join(levels) for levels in zip(*others, strict=True)] if others else "")
    axis, series = ordered(rows["at"]), ordered(rows["series"])
    panels = [part for _, part in rows.groupby(PANEL, sort=False, dropna=False)]
    spread = max((_span(part) for part in panels if part["response"].iloc[0] == "log_rt"), default=0.0)
    several = len(rows["model"].unique()) > 1
    with style():
        figure, drawn = grid(len(panels), 1.9)
        for axes, part in zip(drawn, panels, strict=False):
            for k, levels in enumerate(series):
                _series(axes, part[part["series"] == levels], axis, k, len(series), label(levels))
            axes.set_xlim(-0.35, len(axis) - 0.65)
            axes.set_xticks(range(len(axis)), [wrapped(level, 14) for level in axis])
            axes.grid(axis="x", visible=False)
            panel(axes, _title(part, several))
            _scale(axes, part, spread)
        common_labels(figure, label(name))
        if crossed:
            figure_legend(figure, drawn[0], 3, " and ".join(map(label, crossed)))
    return figure


def _split(rows: pd.DataFrame) -> list["pd.Series[str]"]:
    """Return the levels of each factor; of names that are not to be told apart, all as one."""
    parts = [levels.split(CELL_SEPARATOR) for levels in rows["levels"]]
    if {len(part) for part in parts} != {len(rows["factors"].iloc[0].split(CELL_SEPARATOR))}:
        return [rows["levels"]]
    return [pd.Series(column, index=rows.index) for column in zip(*parts, strict=True)]


def _series(axes: "Axes", rows: pd.DataFrame, axis: list[str], k: int, of: int, name: str) -> None:
    """Draw the k-th of `of` lines, a little aside of the others."""
    at = pd.Series([axis.index(level) + ASIDE * (k - (of - 1) / 2) for level in rows["at"]], index=rows.index)
    error = whiskers(rows, "mean_value", "ci_low", "ci_high")
    line(axes, at, rows["mean_value"], error, k, name, markersize=6, markeredgecolor="white", elinewidth=1.4)


def _title(rows: pd.DataFrame, several: bool) -> str:
    """Return what a panel shows: the region or the prompt, the response, and the model where there are several."""
    row = rows.iloc[0]
    response = RESPONSES[row["response"]].means_label
    place = row["prompt"] if row["region"] == SENTENCE_REGION else region_name(row["region"])
    lines = [str(row["model"]) if several else "", "" if pd.isna(place) else str(place), response]
    return "\n".join(wrapped(line, TITLE) for line in lines if line)


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the lowest and the highest end of the intervals."""
    ends = rows[["mean_value", "ci_low", "ci_high"]].astype("float64")
    return float(ends.min().min()), float(ends.max().max())


def _span(rows: pd.DataFrame) -> float:
    low, high = _ends(rows)
    return high - low


def _scale(axes: "Axes", rows: pd.DataFrame, spread: float) -> None:
    """Give a panel its range: log reading times as much as the widest of their panels."""
    low, high = _ends(rows)
    half = 0.56 * (spread if rows["response"].iloc[0] == "log_rt" else high - low) or 0.1
    middle = (low + high) / 2
    if rows["response"].iloc[0] == "log_rt":
        milliseconds(axes, middle - half, middle + half, 5)
    elif rows["response"].iloc[0] in BINARY_MEASURES:
        percentages(axes, middle - half, middle + half)
    else:
        axes.set_ylim(middle - half, middle + half)
        axes.locator_params(axis="y", nbins=5)


def choice_figure(factorial_means: pd.DataFrame) -> "Figure":
    """Return how often the member of a pair that is listed first is chosen: the probability by the model, with its interval.

    The dashed line is no preference. A table without choices is a `DataError`.
    """
    rows = factorial_means[factorial_means["response"] == CHOICE_MEASURE].dropna(subset="probability")
    rows = filled(rows, "factorial_means, response 'chosen'")
    names = rows["model"].str.cat(rows["levels"].where(rows["levels"] != ALL_CONDITIONS, ""), sep=" ").str.strip()
    with style():
        figure, axes = named_rows(ordered(names), each=0.35)
        axes.axvline(50, label="no preference", **DASHED)
        percent = rows.assign(**{name: 100 * rows[name] for name in PROBABILITY})
        dots(
            axes,
            percent["probability"],
            compute_heights(names, ordered(names), 0, 1),
            whiskers(percent, *PROBABILITY),
            0,
            "choices",
        )
        axes.set_xlim(-2, 102)
        axes.set_xlabel("choices of the member listed first (%)")
        legend(axes, 2)
    return figure


def factorial_figure(
    results: pd.DataFrame, response: str = "log_rt", prompt: str | None = None, figures: FiguresSection | None = None
) -> "Figure":
    """Return each contrast of the study's own factors with its 95 % interval, region by region.

    The headline is filled: the model with slopes wherever the data allow it. Beside it, hollow, stands the published form with
    intercepts alone. Of several prompts, `prompt` names one. With `figures.bars` "se" bars are one standard error.
    """
    figures = figures or FiguresSection()
    effects = select_factors(results)
    rows = select_prompt(effects[effects["response"] == response], prompt)
    rows = rows.assign(beside=is_intercepts_form(rows)).dropna(subset=["estimate", "contrast"])
    rows = filled(rows, f"effects, response {response!r}")
    several = len(rows["model"].unique()) > 1
    names = terms_by_model(rows)
    names = names.str.replace(" − ", "\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}")  # a comparison stays on one line
    rows = rows.assign(name=rows["model"] + ": " + names if several else names)
    contrasts, series = ordered(rows["name"]), ordered(rows["region"])
    forms = [form for form in FORMS if rows[form].any()]
    lines = list(itertools.product(series, forms))
    with style():
        figure, axes = named_rows(contrasts, each=0.2 + 0.13 * len(lines), lines=5)
        axes.axvline(0, color=GREY, linewidth=1)
        for k, (region, form) in enumerate(lines):
            part = rows[(rows["region"] == region) & rows[form]]
            at = compute_heights(part["name"], contrasts, k, len(lines))
            name = FORMS[form] if len(series) == 1 else "" if form == INTERCEPTS_FORM else region_name(region)
            dots(axes, part["estimate"], at, bars(part, figures), series.index(region), name, hollow=form == INTERCEPTS_FORM)
        points = "points of the scale" if prompt is None else f"{label(prompt)}, points"
        units = {"rating": points, "rt": "ms"}
        axes.set_xlabel(f"difference\n({units.get(response) or name_scale(response, prompt)})")
        legend(axes, len(series) if len(series) > 1 else len(forms))
    return figure
