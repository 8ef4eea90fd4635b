"""Decisions of reviewers as tables: all of them, how far two agree, and what became of the drafts."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gardenpath import study

from ..items import GRAMMATICAL, Materials
from .agreement import compute_agreement
from .reviews import (
    KEEP_ACTIONS,
    KNOWN_BAD_PREFIX,
    TICK_MEANINGS,
    Decision,
    ReviewResult,
    find_first_decisions,
    has_detected,
    list_drafting_steps,
)

if TYPE_CHECKING:
    import pandas as pd

REVIEW_COLUMNS = [
    "time",
    "reviewer",
    "item",
    "condition",
    "action",
    *TICK_MEANINGS,
    "reason",
    "injected_error",
    "is_adjudication",
    "guidelines",
]


def build_reviews_table(decisions: Sequence[Decision]) -> "pd.DataFrame":
    """Return the table `reviews`, a row a line of the log, in its order."""
    import pandas as pd

    rows = [
        {
            "decision": number, "time": one.time, "reviewer": one.reviewer, "item": one.item, "condition": one.condition or None,
            "action": one.action, **{tick: one.ticks.get(tick) for tick in TICK_MEANINGS}, "reason": one.reason or None,
            "injected_error": one.injected_error or None, "is_adjudication": one.is_adjudication,
            "guidelines": one.guidelines or None,
        }
        for number, one in enumerate(decisions, start=1)
    ]  # fmt: skip
    return study.check(pd.DataFrame(rows, columns=["decision", *REVIEW_COLUMNS]), "reviews")


def compute_review_agreement(decisions: Sequence[Decision]) -> "pd.DataFrame":
    """Return the table `review_agreement`: two reviewers on each tick, on keeping, and on acceptability in blind mode.

    First decisions are compared, before edits; known-bad pairs are not.
    """
    import pandas as pd

    first = {key: one for key, one in find_first_decisions(decisions).items() if not one.item.startswith(KNOWN_BAD_PREFIX)}
    by: dict[str, dict[tuple[str, str], Decision]] = {}
    for (who, item, condition), one in first.items():
        by.setdefault(who, {})[item, condition] = one
    rows = []
    for a, b in itertools.combinations(sorted(by), 2):
        both = sorted({*by[a]} & {*by[b]})
        judged = [key for key in both if not key[1]]
        blind = [key for key in both if key[1]]
        measures = {
            **{
                tick: [(by[a][key].ticks.get(tick, False), by[b][key].ticks.get(tick, False)) for key in judged]
                for tick in TICK_MEANINGS
            },
            "keep": [(by[a][key].action in KEEP_ACTIONS, by[b][key].action in KEEP_ACTIONS) for key in judged],
            "acceptable": [(by[a][key].action == "acceptable", by[b][key].action == "acceptable") for key in blind],
        }
        for measure, pairs in measures.items():
            if pairs:
                result = compute_agreement([x for x, _ in pairs], [y for _, y in pairs])
                rows.append({"reviewer_a": a, "reviewer_b": b, "measure": measure, **result._asdict()})
    names = [column.name for column in study.TABLES["review_agreement"].columns]
    return study.check(pd.DataFrame(rows, columns=names), "review_agreement")


def count_detected_known_bad(decisions: Sequence[Decision]) -> dict[str, tuple[int, int]]:
    """Return, for each reviewer, how many of the known-bad pairs they noticed at first sight, and how many they saw."""
    counts: dict[str, tuple[int, int]] = {}
    for (who, _, _), one in sorted(find_first_decisions(decisions).items()):
        noticed, seen = counts.get(who, (0, 0))
        if one.injected_error:
            noticed, seen = noticed + has_detected(one), seen + 1
        counts[who] = noticed, seen
    return {who: count for who, count in counts.items() if count[1]}


def find_blind_surprises(decisions: Sequence[Decision]) -> dict[str, tuple[int, list[str]]]:
    """Return, for each blind reviewer, how many sentences they judged first, and those judged otherwise than they are meant.

    >>> log = [Decision("t", "Eva", "i1", "acceptable", condition=name) for name in ("grammatical", "ungrammatical")]
    >>> find_blind_surprises(log)
    {'Eva': (2, ['i1 (ungrammatical)'])}
    """
    found: dict[str, tuple[int, list[str]]] = {}
    for (who, item, condition), one in sorted(find_first_decisions(decisions).items()):
        if condition:
            seen, odd = found.get(who, (0, []))
            surprising = (one.action == "acceptable") != (condition == GRAMMATICAL)
            found[who] = seen + 1, [*odd, *([f"{item} ({condition})"] if surprising else [])]
    return found


def build_drafting_table(materials: Materials, result: ReviewResult, earlier: "pd.DataFrame | None" = None) -> "pd.DataFrame":
    """Return the table `drafting` with what a review made of the drafts; `earlier` is what drafting wrote."""
    import pandas as pd

    key = ["paradigm", "model", "prompt_hash", "step", "reason"]
    rows = pd.DataFrame(list(list_drafting_steps(materials, result)), columns=[*key, "n_pairs"])
    if earlier is not None:
        is_review_row = earlier["step"].isin(("accepted", "corrected", "dropped"))
        rows = pd.concat([earlier[~is_review_row], rows], ignore_index=True)
    return study.check(rows.groupby(key, sort=False)["n_pairs"].sum().reset_index().astype({"n_pairs": "int64"}), "drafting")
