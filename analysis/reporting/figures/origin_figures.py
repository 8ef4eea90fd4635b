"""Figures of how items came about: what became of drafts, how far reviewers agree, and what norms the items have."""

from typing import TYPE_CHECKING

import pandas as pd

from ..wording.origins import MEASURES
from .figure_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    blank,
    compute_heights,
    dots,
    filled,
    legend,
    named_rows,
    ordered,
    style,
    whiskers,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FATES = {"accepted": BLUE, "corrected": GREEN, "dropped": ORANGE, "open": GREY}
NARROW = 0.08  # of all drafts: a part too narrow for its number


def drafting_figure(drafting: pd.DataFrame) -> "Figure":
    """Return how many drafts of each paradigm were accepted, corrected and dropped; open: not decided, or not agreed on.

    >>> steps = [("parsed", 28), ("accepted", 20), ("dropped", 5)]
    >>> table = pd.DataFrame(steps, columns=["step", "n_pairs"]).assign(paradigm="ever", model="gpt-4o", reason="none")
    >>> [text.get_text() for text in drafting_figure(table).axes[0].texts]
    ['20', '5', '3']
    """
    several = len(ordered(drafting["model"])) > 1
    name = drafting["paradigm"] + (", " + drafting["model"] if several else "")
    counts = drafting.assign(name=name).pivot_table(index="name", columns="step", values="n_pairs", aggfunc="sum", sort=False)
    counts = filled(counts[counts.get("parsed", pd.Series(0, counts.index)) > 0], "drafting").fillna(0)
    counts = counts.reindex(columns=["parsed", "accepted", "corrected", "dropped"], fill_value=0)
    counts["open"] = (counts["parsed"] - counts[["accepted", "corrected", "dropped"]].sum(axis=1)).clip(lower=0)
    with style():
        figure, axes = named_rows([str(one) for one in counts.index])
        left = pd.Series(0.0, counts.index)
        shown = [fate for fate in FATES if counts[fate].any()]
        for fate in shown:
            axes.barh(range(len(counts)), counts[fate], left=left, height=0.6, color=FATES[fate], label=fate)
            for at, n in enumerate(counts[fate]):
                if n > NARROW * counts["parsed"].max():
                    axes.text(left.iloc[at] + n / 2, at, f"{n:.0f}", ha="center", va="center", color="white", fontsize=9)
            left += counts[fate]
        axes.set_xlim(0, None)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("pairs read of a model's answers")
        legend(axes, len(shown), columns=4)
    return figure


def agreement_figure(agreement: pd.DataFrame) -> "Figure":
    """Return Cohen's kappa and Gwet's AC1 of two reviewers with their 95 % intervals, for keeping a pair and for each tick."""
    rows = filled(agreement, "review_agreement").sort_values(
        "measure", key=lambda names: names.map([*MEASURES].index), kind="stable"
    )
    pairs = rows["reviewer_a"] + ", " + rows["reviewer_b"]
    several = len(ordered(pairs)) > 1
    rows = rows.assign(name=rows["measure"].map(MEASURES) + (" (" + pairs + ")" if several else ""))
    names = ordered(rows["name"])
    with style():
        figure, axes = named_rows(names)
        for k, (measure, label) in enumerate({"kappa": "Cohen's κ", "ac1": "Gwet's AC1"}.items()):
            there = rows.dropna(subset=measure)
            error = whiskers(there, measure, f"{measure}_ci_low", f"{measure}_ci_high")
            dots(axes, there[measure], compute_heights(there["name"], names, k, 2), error, k, label, hollow=k == 1)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.set_xlim(min(-0.1, float(rows[["kappa_ci_low", "ac1_ci_low"]].min().min()) - 0.05), 1.05)
        axes.set_xlabel("agreement above chance")
        legend(axes, 2)
    return figure


def norm_figure(norms: pd.DataFrame, kept: pd.Series, task: str) -> "Figure":
    """Return each item's norm as found against its shrunken one, by condition; hollow ones belong to dropped items.

    `kept` says of each row whether its item was.
    """
    rows = filled(norms.dropna(subset=["value"]), "norms")
    conditions = ordered(rows["condition"])
    with style():
        figure, axes = blank(1.2 + 0.75 * len(conditions))
        axes.set_yticks(range(len(conditions)), conditions)
        axes.set_ylim(len(conditions) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        said: set[str] = set()  # which a legend names once
        for at, condition in enumerate(conditions):
            own = rows[rows["condition"] == condition].sort_values("value")
            spread = [at + 0.3 * (2 * (k * 0.618 % 1) - 1) for k in range(len(own))]
            is_kept = kept.loc[own.index].astype(bool).to_numpy()
            for label, chosen, face in (("kept", is_kept, BLUE), ("dropped", ~is_kept, "none")):
                if not chosen.any():
                    continue
                heights = [y for y, here in zip(spread, chosen, strict=True) if here]
                axes.plot(
                    own["value"][chosen], heights, "o", markersize=5, markerfacecolor=face, markeredgecolor=BLUE, linestyle="none",
                    alpha=0.85, label=None if label in said else label,
                )  # fmt: skip
                said.add(label)
            means, label = own.loc[is_kept, "shrunken"].dropna(), "mean of the kept, shrunken"
            if len(means):
                place = [float(means.mean())] * 2
                axes.plot(place, [at - 0.4, at + 0.4], color=ORANGE, linewidth=2, label=None if label in said else label)
                said.add(label)
        axes.set_xlabel("cloze probability" if task == "cloze" else f"mean {task}")
        legend(axes, 3)
    return figure
