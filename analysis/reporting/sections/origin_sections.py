"""The section on how items came about: drafting by a model, reviews by people, norming before the study."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from ..exhibits import SIMULATED, Exhibit, Page, Section
from ..figures import origin_figures
from ..wording import origins as words

FIRST = 16  # sentences before the figures: two normings and a draft


def origins(page: Page) -> Section:
    """Return where the study's items come from, what people decided about drafts, and how the items were normed."""
    items, drafting, agreement = page.get("item_origins"), page.get("drafting"), page.get("review_agreement")
    norms, decisions = page.get("norms"), page.get("norm_decisions")
    sentences = [*words.origins(items), *words.drafting(drafting), *words.agreement(agreement)]
    reviews = page.get("reviews")
    sentences += [*words.describe_injected_errors(reviews), *words.blind(reviews), *words.norming(norms, decisions)]
    caption = "What became of the pairs that a model drafted. Open ones nobody decided about, or not all agreed on."
    exhibits = page.figure("drafting", "drafting", caption, partial(origin_figures.drafting_figure, drafting))
    caption = "What was asked of a model, read of its answers, and decided by people, by reason."
    exhibits += page.table("drafting", caption, drafting.drop(columns="prompt_hash"), aside=True)
    caption = "How far reviewers agree above chance, with 95% intervals. AC1 does not fall where nearly all pairs are good."
    draw = partial(origin_figures.agreement_figure, agreement)
    exhibits += page.figure("review_agreement", "review-agreement", caption, draw)
    exhibits += page.table("review_agreement", "Two reviewers on each tick, over first decisions.", agreement, aside=True)
    simulated = _simulated(decisions)
    exhibits += [replace(one, badges=(*one.badges, *simulated)) for one in _norms(page, norms, decisions)]
    return Section("How the items came about", simulated, sentences, exhibits, first=FIRST)


def _norms(page: Page, norms: pd.DataFrame, decisions: pd.DataFrame) -> Sequence[Exhibit]:
    """Return a figure of each task's norms, their means, and the items that were dropped."""
    exhibits: list[Exhibit] = []
    for task, rows in norms.groupby("task", sort=False):
        own = decisions[decisions["task"].fillna(task) == task]
        kept = ~rows["item"].isin(own.loc[~own["kept"].astype(bool), "item"])
        caption = f"Norms of single items ({task}): a dot is a sentence, at the place where people put it."
        caption += "" if kept.all() else " Hollow ones belong to items that the rule dropped."
        draw = partial(origin_figures.norm_figure, rows, kept, str(task))
        exhibits += page.figure("norms", f"norms-{task}", caption, draw, rows)
    caption = "Means of the normed items by condition, with 95% intervals over items."
    exhibits += page.table("norm_means", caption, page.get("norm_means").dropna(axis="columns", how="all"), aside=True)
    dropped = decisions.loc[~decisions["kept"].astype(bool), ["item", "paradigm", "task", "reason"]]
    exhibits += page.table("norm_decisions", "Items that the rule dropped, and why.", dropped, aside=True)
    return exhibits


def _simulated(decisions: pd.DataFrame) -> tuple[str, ...]:
    """Return the warning that answers of a norming were simulated, where some were."""
    sources = {source for text in decisions["source"].dropna() for source in text.split(", ")}
    if not sources & {*SIMULATED}:
        return ()
    return ("simulated norms" if sources <= {*SIMULATED} else "some norms simulated",)
