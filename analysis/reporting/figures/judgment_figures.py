"""Figures of language models asked to judge: accuracy by method, vote, phenomenon and group, and what length has to do with it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import DataError

from ...comparing.ensembles import ALL_COMBINATIONS, HELD_OUT_SELECTIONS, ORACLE_SELECTION
from ...comparing.model_comparison import HUMAN_SOURCE
from ...comparing.pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS
from ...row_dicts import list_rows
from ..wording.judgments import method_name, whole_rows
from ..wording.numbers import correlation
from .figure_style import (
    BLUE,
    DASHED,
    GREY,
    INK,
    common_labels,
    compute_heights,
    dots,
    filled,
    grid,
    legend,
    named_rows,
    ordered,
    panel,
    style,
    whiskers,
    wrapped,
)
from .pair_figures import share_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHOSEN = {ALL_COMBINATIONS: "mean over all mixes", ORACLE_SELECTION: "best on the test set (oracle)"} | {
    name: f"best, chosen on other {of}" for of, name in HELD_OUT_SELECTIONS.items()
}


def method_figure(method_accuracies: pd.DataFrame) -> "Figure":
    """Return each model's accuracy by each method, with one standard deviation over templates, chance, and people's accuracy.

    >>> table = pd.DataFrame([("lp", "none", 0.7), ("ab", "1", 0.8)], columns=["method", "template", "accuracy"])
    >>> figure = method_figure(table.assign(model="m", phenomenon="all", sd=float("nan"), human_accuracy=float("nan")))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['LP', 'A/B prompting']
    """
    rows = whole_rows(method_accuracies[method_accuracies["phenomenon"] == ALL_PHENOMENA])
    rows = filled(rows, "method_accuracies")
    rows = rows.assign(
        name=rows["method"].map(method_name), ci_low=rows["accuracy"] - rows["sd"], ci_high=rows["accuracy"] + rows["sd"]
    )
    people = rows["human_accuracy"].dropna()
    return _by_method(rows, "model", "accuracy (share of pairs)", chance=0.5, people=float(people.iloc[0]) if len(people) else None)


def vote_figure(ensembles: pd.DataFrame, model: str) -> "Figure":
    """Return the accuracy of a model's votes: mean and range over all mixes, and the best mix, chosen here or elsewhere."""
    rows = ensembles[(ensembles["model"] == model) & ensembles["selection"].isin(CHOSEN)].dropna(subset="accuracy")
    rows = filled(rows, f"ensembles, model {model!r}")
    rows = rows.assign(name=rows["ensemble"].map(method_name).str.removeprefix("1 "), series=rows["selection"].map(CHOSEN))
    rows = rows.assign(ci_low=rows["min_accuracy"], ci_high=rows["max_accuracy"])
    return _by_method(rows, "series", "accuracy (share of pairs)", chance=0.5)


def length_figure(method_length_bias: pd.DataFrame) -> "Figure":
    """Return how being right goes along with the difference in tokens, by method and model: left of 0 the shorter member wins."""
    rows = filled(whole_rows(method_length_bias).dropna(subset="r"), "method_length_bias")
    rows = rows.assign(name=rows["method"].map(method_name), accuracy=rows["r"], ci_low=rows["r"], ci_high=rows["r"])
    rows["model"] = rows["model"].replace({MEAN_OVER_PARADIGMS: "mean over models"})
    figure = _by_method(rows, "model", "correlation of being right\nand difference in tokens")
    figure.axes[0].axvline(0, color=GREY, linewidth=1)
    return figure


def group_figure(method_groups: pd.DataFrame, model: str, factor: str) -> "Figure":
    """Return a model's mean accuracy by method at each level of a factor, with 95 % intervals over paradigms, and people's."""
    rows = method_groups[(method_groups["model"] == model) & (method_groups["factor"] == factor)]
    rows = filled(rows, f"method_groups, model {model!r}, factor {factor!r}")
    rows = rows.assign(name=rows["method"].map(method_name), accuracy=rows["mean_accuracy"])
    asked = rows.drop_duplicates("level").dropna(subset="human_accuracy")
    asked = asked.assign(name=HUMAN_SOURCE, accuracy=asked["human_accuracy"], ci_low=None, ci_high=None)
    rows = pd.concat([rows, asked]) if len(asked) else rows
    return _by_method(rows, "level", "mean accuracy over paradigms", chance=0.5)


def _by_method(rows: pd.DataFrame, by: str, axis: str, chance: float | None = None, people: float | None = None) -> "Figure":
    """Return a row for each name, and in it a dot with its interval for each of the series."""
    names, series = ordered(rows["name"]), ordered(rows[by].astype(str))
    rows = rows.astype({"accuracy": "float64", "ci_low": "float64", "ci_high": "float64"})
    with style():
        figure, axes = named_rows(names, each=0.2 + 0.13 * len(series))
        if chance is not None:
            axes.axvline(chance, label="chance", **DASHED)
        if people is not None:
            axes.axvline(people, label=HUMAN_SOURCE, color=INK, linewidth=1.2)
        for k, name in enumerate(series):
            part = rows[rows[by].astype(str) == name]
            at = compute_heights(part["name"], names, k, len(series))
            dots(axes, part["accuracy"], at, whiskers(part, "accuracy", "ci_low", "ci_high"), k, wrapped(name, 40))
        axes.set_xlabel(axis)
        legend(axes, len(series) + (chance is not None) + (people is not None))
    return figure


def phenomenon_figure(method_accuracies: pd.DataFrame, model: str) -> "Figure":
    """Return a map of a model's accuracies: a row for each phenomenon, a column for each method, people first where known."""
    own = method_accuracies[(method_accuracies["model"] == model) & (method_accuracies["phenomenon"] != ALL_PHENOMENA)]
    rows = filled(own, f"method_accuracies, model {model!r}")
    rows = whole_rows(rows)
    methods: Sequence[str] = ordered(rows["method"])
    wide = rows.pivot_table("accuracy", "phenomenon", "method", sort=False)[methods].rename(columns=method_name)
    if rows["human_accuracy"].notna().any():
        wide.insert(0, HUMAN_SOURCE, rows.drop_duplicates("phenomenon").set_index("phenomenon")["human_accuracy"])
    return share_map(wide)


def tradeoff_figure(method_differences: pd.DataFrame) -> "Figure":
    """Return by paradigm how much better one method is than another against the members' difference in tokens, a panel a model.

    As figure 6 of Ide et al. (2025, doi 10.18653/v1/2025.naacl-long.380). A table without rows is a `DataError`.
    """
    rows = filled(method_differences[method_differences["paradigm"] != MEAN_OVER_PARADIGMS], "method_differences")
    overall = {row["model"]: row for row in list_rows(method_differences[method_differences["paradigm"] == MEAN_OVER_PARADIGMS])}
    if len(rows) < 2 or rows["token_difference"].nunique() < 2:
        raise DataError("table method_differences: one paradigm, or one difference in tokens; expected several to draw")
    models = ordered(rows["model"])
    with style():
        figure, panels = grid(len(models), 1.9)
        for axes, model in zip(panels, models, strict=False):
            part, r = rows[rows["model"] == model], overall[model]["r"]
            axes.axhline(0, **DASHED)
            axes.axvline(0, **DASHED)
            axes.plot(part["token_difference"], 100 * part["difference"], "o", color=BLUE, markersize=4, markeredgecolor="white")
            panel(axes, wrapped(model) + ("" if pd.isna(r) else f"\nr = {correlation(r)}"))
        names = (method_name(str(rows[f"method_{end}"].iloc[0])) for end in "ab")
        common_labels(figure, "grammatical less ungrammatical tokens", " less\n".join(names) + " (points)")
    return figure
