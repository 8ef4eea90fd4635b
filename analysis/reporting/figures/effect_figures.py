"""Figures of what people did, from the declared tables of results."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import DataError

from ...contrasts import INTERCEPTS, SLOPES, TERM
from ...ledger import ALL
from ...measures import SENTENCE_WIDE
from ...prompts import endings, one, rated, told
from ...reliability import POOR, poor
from ...sensitivity import UNFLAGGED
from ..wording.effects import asked, label, mean_z
from .figure_style import (
    BLUE,
    GREY,
    MARKERS,
    ORANGE,
    PALETTE,
    WIDTH,
    blank,
    dots,
    figure_legend,
    filled,
    grid,
    legend,
    named_rows,
    ordered,
    places,
    style,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
CRITICAL = "critical"
SERIES = {INTERCEPTS: "declared model", SLOPES: "with slopes"}
PANELS = 24
SCALE = 9  # points of a rating scale that are all labelled


def condition_figure(condition_means: pd.DataFrame, measure: str = "rating", prompt: str | None = None) -> "Figure":
    """Return a dot for each phenomenon and condition: the mean of `measure` with one standard error to each side.

    Reading times (measure "rt") are those of the critical region. Of ratings under several prompts, `prompt` names one.
    """
    region = CRITICAL if measure == "rt" else SENTENCE_WIDE
    rows = condition_means[(condition_means["measure"] == measure) & (condition_means["region"] == region)]
    rows = filled(one(rows, prompt), f"condition_means, measure {measure!r}")
    phenomena, conditions = ordered(rows["phenomenon"]), sorted(rows["condition"].unique())
    with style():
        figure, axes = named_rows(phenomena, each=max(0.42, 0.2 + 0.13 * len(conditions)))
        for k, condition in enumerate(conditions):
            part = rows[rows["condition"] == condition]
            at = places(part["phenomenon"], phenomena, k, len(conditions))
            dots(axes, part["mean"], at, part["se"].fillna(0), k, condition)
        means = {"rating": f"mean rating{asked(prompt)}", "z": mean_z(prompt), "rt": "mean reading time (ms)"}
        axes.set_xlabel(means[measure])
        legend(axes, len(conditions))
    return figure


def coefficient_figure(phenomenon_models: pd.DataFrame, measure: str = "log_rt", prompt: str | None = None) -> "Figure":
    """Return the grammaticality coefficient of each phenomenon with its 95 % interval, and stars after `p_bh`.

    Of ratings (z), the declared model and the one with slopes; of reading times, the declared models of the critical
    region and the words after it. Stars stand beside declared models only. Of several prompts, `prompt` names one.
    """
    rows = phenomenon_models[(phenomenon_models["measure"] == measure) & (phenomenon_models["term"] == TERM)]
    rows = filled(one(rows, prompt).dropna(subset=["estimate"]), f"phenomenon_models, measure {measure!r}")
    by = "random" if measure == "z" else "region"
    if by == "region":
        rows = rows[rows["random"] == INTERCEPTS]
    phenomena, series = ordered(rows["phenomenon"]), sorted(rows[by].unique())
    with style():
        figure, axes = named_rows(phenomena, each=0.2 + 0.15 * len(series))
        axes.axvline(0, color=GREY, linewidth=1)
        for k, name in enumerate(series):
            part = rows[rows[by] == name]
            at = places(part["phenomenon"], phenomena, k, len(series))
            below, above = part["estimate"] - part["ci_low"], part["ci_high"] - part["estimate"]
            dots(axes, part["estimate"], at, [below.fillna(0), above.fillna(0)], k, SERIES.get(name, name))
            if name == SLOPES:
                continue
            for y, end, p in zip(at, part["ci_high"].fillna(part["estimate"]), part["p_bh"], strict=True):
                axes.annotate(_stars(p), (end, y), (4, -3), textcoords="offset points", va="center", color="#1f2937")
        unit = {"z": f"{_scale(prompt)}, z", "log_rt": "log reading time"}[measure]
        axes.set_xlabel(f"grammatical minus ungrammatical\n({unit})")
        legend(axes, len(series))
    return figure


def _scale(prompt: str | None) -> str:
    """Return how ratings are called on an axis: by the prompt where there are several."""
    return "rating" if prompt is None else label(prompt)


def factorial_figure(factorial_models: pd.DataFrame, measure: str = "log_rt", prompt: str | None = None) -> "Figure":
    """Return each contrast of the study's own factors with its 95 % interval, region by region; slopes left out.

    Of several prompts, `prompt` names one.
    """
    rows = factorial_models[(factorial_models["measure"] == measure) & (factorial_models["random"] != SLOPES)]
    rows = filled(one(rows, prompt).dropna(subset=["estimate", "contrast"]), f"factorial_models, measure {measure!r}")
    several = len(rows["model"].unique()) > 1
    names = rows["contrast"].map(_crossed)
    rows = rows.assign(name=rows["model"] + ": " + names if several else names)
    contrasts, series = ordered(rows["name"]), ordered(rows["region"])
    with style():
        figure, axes = named_rows(contrasts, each=0.2 + 0.15 * len(series), lines=5)
        axes.axvline(0, color=GREY, linewidth=1)
        for k, region in enumerate(series):
            part = rows[rows["region"] == region]
            error = [part["estimate"] - part["ci_low"], part["ci_high"] - part["estimate"]]
            dots(axes, part["estimate"], places(part["name"], contrasts, k, len(series)), error, k, label(region))
        points = "points of the scale" if prompt is None else f"{label(prompt)}, points"
        units = {"z": f"{_scale(prompt)}, z", "rating": points, "log_rt": "log reading time", "rt": "ms"}
        axes.set_xlabel(f"difference ({units[measure]})")
        if series != [SENTENCE_WIDE]:
            legend(axes, len(series))
    return figure


def _crossed(contrast: str) -> str:
    """Return an interaction by its factors alone: what is held against what stands beside the main effects.

    >>> _crossed("extraction: object minus subject x noun: name minus description")
    'extraction x noun'
    """
    parts = contrast.split(" x ")
    return contrast if len(parts) == 1 else " x ".join(part.partition(":")[0] for part in parts)


def curve_figure(reading_curves: pd.DataFrame) -> "Figure":
    """Return mean reading times word by word around the critical region (place 0), a panel for each phenomenon."""
    rows = filled(reading_curves, "reading_curves")
    phenomena, conditions = ordered(rows["phenomenon"]), sorted(rows["condition"].unique())
    with style():
        figure, panels = grid(len(phenomena), 1.55)
        for axes, phenomenon in zip(panels, phenomena, strict=False):
            axes.axvspan(-0.5, 0.5, color="#f3f4f6", zorder=0)
            for k, condition in enumerate(conditions):
                part = rows[(rows["phenomenon"] == phenomenon) & (rows["condition"] == condition)].sort_values("place")
                axes.errorbar(
                    part["place"], part["mean"], yerr=part["se"].fillna(0), color=PALETTE[k % len(PALETTE)],
                    marker=MARKERS[k % len(MARKERS)], markersize=4, linewidth=1.4, elinewidth=1.0, label=condition,
                )  # fmt: skip
            axes.set_title(wrapped(phenomenon), fontsize=10, loc="left", color="#374151")
            axes.locator_params(axis="y", nbins=4)
            axes.set_xticks(range(int(rows["place"].min()), int(rows["place"].max()) + 1))
            axes.tick_params(labelsize=9, length=2)
        figure.supxlabel("word, from the critical region (0)", fontsize=11, color="#1f2937")
        figure.supylabel("reading time (ms a word)", fontsize=11, color="#1f2937")
        figure_legend(figure, panels[0], len(conditions))
    return figure


def reliability_figure(reliability: pd.DataFrame, prompt: str | None = None) -> "Figure":
    """Return ICC(2,k) of each paradigm: a dot a version, over all sentences with its interval, and within conditions.

    Values below the axis stand at its left end. Of several prompts, `prompt` names one.
    """
    rows = filled(one(reliability, prompt).dropna(subset=["icc"]), "reliability")
    paradigms, conditions = ordered(rows["paradigm"]), sorted(rows["condition"].unique())
    floor = -0.5
    with style():
        figure, axes = named_rows(paradigms, each=0.16 + 0.14 * len(conditions))
        axes.axvline(POOR, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)), label=f"poor below {POOR:g}")
        for k, condition in enumerate(conditions):
            part = rows[rows["condition"] == condition]
            at = places(part["paradigm"], paradigms, k, len(conditions))
            x = part["icc"].clip(lower=floor)
            ends = [x - part["icc_low"].clip(lower=floor), part["icc_high"] - x]
            error = [end.clip(lower=0).fillna(0) for end in ends] if condition == ALL else None
            look = {"alpha": 0.85} if condition == ALL else {"alpha": 0.6}
            dots(axes, x, at, error, k, "all sentences" if condition == ALL else f"within {condition}", **look)
        axes.set_xlim(floor - 0.03, 1.03)
        axes.set_xlabel(f"ICC(2,k){asked(prompt)}, a dot for each version")
        legend(axes, len(conditions) + 1, columns=2)
    return figure


def rating_figure(rating_counts: pd.DataFrame, prompt: str | None = None) -> "Figure":
    """Return how often each rating was given, as shares of a condition, a panel for each paradigm (24 at most).

    Of several prompts, `prompt` names one.
    """
    rows = filled(one(rating_counts, prompt), "rating_counts")
    paradigms, conditions = ordered(rows["paradigm"])[:PANELS], sorted(rows["condition"].unique())
    share = rows["n"] / rows.groupby(["paradigm", "condition"])["n"].transform("sum")
    points = sorted(rows["rating"].unique())
    width = 0.8 / len(conditions) * (min(b - a for a, b in itertools.pairwise(points)) if points[1:] else 1)
    with style():
        figure, panels = grid(len(paradigms), 1.3)
        for axes, paradigm in zip(panels, paradigms, strict=False):
            for k, condition in enumerate(conditions):
                part = rows[(rows["paradigm"] == paradigm) & (rows["condition"] == condition)]
                at = part["rating"] + (k - (len(conditions) - 1) / 2) * width
                axes.bar(at, share[part.index], width, color=PALETTE[k % len(PALETTE)], label=condition)
            axes.set_title(wrapped(paradigm), fontsize=10, loc="left", color="#374151")
            axes.grid(axis="x", visible=False)
            axes.locator_params(axis="y", nbins=3)
            axes.tick_params(labelsize=9, length=2)
            if len(points) <= SCALE:
                axes.set_xticks(points)
        figure.supxlabel(f"rating{asked(prompt)}", fontsize=11, color="#1f2937")
        figure.supylabel("share of ratings", fontsize=11, color="#1f2937")
        figure_legend(figure, panels[0], len(conditions))
    return figure


def specification_figure(sensitivity: pd.DataFrame) -> "Figure":
    """Return the effect on reading times (ms) under every choice, a panel for each phenomenon, the choices marked below.

    Choices stand in the order of their mean effect over phenomena; the declared one is orange.
    """
    rows = filled(sensitivity[sensitivity["measure"] == "log_rt"].dropna(subset=["ms"]), "sensitivity, reading times")
    if len(told(sensitivity)) > 1:  # it matters by whose ratings they are flagged
        rows = rows.assign(people=rows["people"] + rows["prompt"].map(asked))
    keys = ["cutoff", "transform", "people"]
    means = rows.groupby(keys)["ms"].mean().sort_values(kind="stable")
    place = {key: n for n, key in enumerate(means.index)}
    rows = rows.assign(at=[place[key] for key in zip(*(rows[name] for name in keys), strict=True)])
    phenomena = ordered(rows["phenomenon"])
    levels = [(name, level) for name in keys for level in ordered(rows[name]) if len(rows[name].unique()) > 1]
    from matplotlib.figure import Figure

    with style():
        tall = 0.19 * len(levels) + 0.1
        figure = Figure(figsize=(WIDTH, 0.7 + 0.62 * len(phenomena) + tall), layout="constrained")
        heights = [*[0.62] * len(phenomena), tall]
        *panels, matrix = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for axes, phenomenon in zip(panels, phenomena, strict=True):
            part = rows[rows["phenomenon"] == phenomenon]
            axes.axhline(0, color=GREY, linewidth=1)
            for declared, colour in ((False, BLUE), (True, ORANGE)):
                some = part[part["declared"] == declared]
                ends = [(some["ms"] - some["ms_low"]).clip(lower=0), (some["ms_high"] - some["ms"]).clip(lower=0)]
                axes.errorbar(
                    some["at"], some["ms"], yerr=[end.fillna(0) for end in ends], fmt="D" if declared else "o",
                    color=colour, markersize=5 if declared else 3, elinewidth=1.6 if declared else 0.8,
                    label="declared" if declared else "other choices",
                )  # fmt: skip
            axes.set_ylabel(wrapped(phenomenon), rotation=0, ha="right", va="center", fontsize=10)
            axes.yaxis.set_label_coords(-0.16, 0.5)
            axes.locator_params(axis="y", nbins=3)
            axes.tick_params(axis="y", labelsize=9)
            axes.tick_params(axis="x", length=0)
            axes.grid(axis="x", visible=False)
        chosen = [
            (n, y)
            for key, n in place.items()
            for y, (name, level) in enumerate(levels)
            if key[keys.index(name)] == level
        ]
        matrix.scatter(*zip(*chosen, strict=True), s=10, color="#374151")
        matrix.set_yticks(range(len(levels)), [_plain(name, level) for name, level in levels], fontsize=9.5)
        matrix.set_ylim(len(levels) - 0.5, -0.5)
        matrix.set_xticks([])
        for spine in matrix.spines.values():
            spine.set_visible(False)
        matrix.grid(visible=False)
        for y in range(0, len(levels), 2):
            matrix.axhspan(y - 0.5, y + 0.5, color="#f3f4f6", zorder=0)
        for y in (y for y in range(1, len(levels)) if levels[y][0] != levels[y - 1][0]):
            matrix.axhline(y - 0.5, color="#9ca3af", linewidth=0.8)
        figure.supxlabel("grammatical minus ungrammatical (ms), a choice a column", fontsize=10.5, color="#1f2937")
        figure_legend(figure, panels[0], 2)
    return figure


def _plain(name: str, level: str) -> str:
    """Return a choice in words.

    >>> _plain("people", "not flagged"), _plain("people", "not flagged (sense)"), _plain("cutoff", "none")
    ('without the flagged', 'unflagged (sense)', 'no cutoff')
    """
    if name == "people":
        long = "without the flagged" if level == UNFLAGGED else "unflagged"  # a prompt needs the room
        return "everybody" if level == ALL else level.replace(UNFLAGGED, long, 1)
    return "no cutoff" if level == "none" else level


def power_figure(power: pd.DataFrame) -> "Figure":
    """Return how often the smallest effect is found, by participants, a line for each number of items."""
    rows = filled(power, "power")
    with style():
        figure, axes = blank(3.2)
        axes.axhline(0.8, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        for k, ((effect, items), part) in enumerate(rows.groupby(["effect", "items"], sort=True)):
            part = part.sort_values("participants")
            ends = [part["power"] - part["power_low"], part["power_high"] - part["power"]]
            axes.errorbar(
                part["participants"], part["power"], yerr=[end.clip(lower=0) for end in ends], color=PALETTE[k % len(PALETTE)],
                marker=MARKERS[k % len(MARKERS)], markersize=5, linewidth=1.6, elinewidth=1.0,
                label=f"{items} items, effect {effect:g}",
            )  # fmt: skip
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("participants")
        axes.set_ylabel("studies that find it")
        legend(axes, len(rows), columns=2)
    return figure


def result_figures(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, "Figure"]]:
    """Yield a name and a figure of each result that there is something to draw of, from the tables of `analyse`."""
    drawings: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
        "reading_times": ("condition_means", partial(condition_figure, measure="rt")),
        "reading_time_effects": ("phenomenon_models", coefficient_figure),
        "factorial_reading_times": ("factorial_models", factorial_figure),
        "reading_curves": ("reading_curves", curve_figure),
        "specifications": ("sensitivity", specification_figure),
    }
    for prompt, ending in endings(rated(tables)).items():
        drawings |= {
            f"ratings{ending}": ("condition_means", partial(condition_figure, prompt=prompt)),
            f"rating_effects{ending}": ("phenomenon_models", partial(coefficient_figure, measure="z", prompt=prompt)),
            f"reliability{ending}": ("reliability", partial(reliability_figure, prompt=prompt)),
            f"rating_distributions{ending}": ("rating_counts", partial(rating_figure, prompt=prompt)),
        }
    if (models := tables.get("factorial_models")) is not None:
        for prompt, ending in endings(told(models)).items():
            of_prompt = partial(factorial_figure, measure="z", prompt=prompt)
            drawings[f"factorial_ratings{ending}"] = ("factorial_models", of_prompt)
    counts, agreed = tables.get("rating_counts"), tables.get("reliability")
    if counts is not None and agreed is not None:
        tables = {**tables, "rating_counts": poor(counts, agreed)}
    for name, (table, draw) in drawings.items():
        if table in tables:
            try:
                yield name, draw(tables[table])
            except DataError:  # nothing to draw of this; the tables say so
                continue


def _stars(p: float) -> str:
    return "" if pd.isna(p) else next((text for bound, text in STARS if p < bound), "")
