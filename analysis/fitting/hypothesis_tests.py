"""Hypotheses answered one by one: what the effect of each is, and what follows for it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.plans import Plan, PlannedHypothesis, PlannedModel

from ..intervals import benjamini_hochberg, holm
from ..model_results import COEFFICIENT
from ..row_dicts import list_rows

SUPPORTED, SMALL = "supported", "supported, but smaller than what matters"
OPPOSITE, EQUIVALENT, UNDECIDED = "opposite", "equivalent", "undecided"
ADJUSTMENTS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
FROM_EFFECTS = (
    "estimate", "se", "df", "t", "ci_low", "ci_high", "optimistic", "low_90", "high_90", "p_equivalence", "raw", "raw_low",
    "raw_high", "raw_p",
)  # fmt: skip


def judge(estimate: float, p: float, p_two_sided: float, direction: str, *, alpha: float = 0.05, within: bool | None = None) -> str:
    """Return the verdict on a hypothesis.

    `p` is of its own test, one- or two-sided and adjusted, `p_two_sided` that of two sides, adjusted too. `within` says whether the
    interval of 1 - 2 alpha lies between minus and plus the smallest effect that matters; None where none is stated, so that nothing
    is called equivalent. Where p is below alpha and the effect has the stated direction, or none is stated, it is supported, and
    smaller than what matters where the interval lies within. Where the effect has the other direction, and p of two sides is below
    alpha, it is opposite. Else it is equivalent to no effect where the interval lies within, and undecided where not.

    >>> judge(0.1, 0.01, 0.01, "positive"), judge(0.1, 0.01, 0.01, "positive", within=True), judge(-0.1, 0.99, 0.02, "positive")
    ('supported', 'supported, but smaller than what matters', 'opposite')
    >>> judge(0.01, 0.6, 0.6, "", within=True), judge(0.01, 0.6, 0.6, "")
    ('equivalent', 'undecided')
    """
    is_as_stated = not direction or (estimate > 0) == (direction == "positive")
    if is_as_stated and p < alpha:
        return SMALL if within else SUPPORTED
    if not is_as_stated and p_two_sided < alpha:
        return OPPOSITE
    return EQUIVALENT if within else UNDECIDED


def compute_hypotheses(plan: Plan, effects: pd.DataFrame) -> pd.DataFrame:
    """Return the table hypotheses of a plan from the table effects: each by the model of its trials that is reported first.

    p of one side is that of the stated direction. It is adjusted over the hypotheses of a family. An effect whose p is optimistic
    decides nothing.
    """
    models = {model.model_id: model for model in plan.models}
    rows = [_build_row(one, models[one.model_id], effects) for one in plan.hypotheses]
    _adjust(rows)
    for row in rows:
        row["verdict"] = _judge_row(row, plan.alpha)
    return check(pd.DataFrame(rows, columns=TABLES["hypotheses"].column_names), "hypotheses")


def _build_row(hypothesis: PlannedHypothesis, model: PlannedModel, effects: pd.DataFrame) -> dict[str, Any]:
    """Return what is known of a hypothesis; without numbers where its effect has no estimate."""
    row: dict[str, Any] = {
        "name": hypothesis.name,
        "model_id": hypothesis.model_id,
        "model": model.name,
        "response": model.response,
        "region": model.region,
        "prompt": model.prompt,
        "term": hypothesis.term,
        "contrast": hypothesis.contrast,
        "role": hypothesis.role,
        "family": hypothesis.family or None,
        "correction": hypothesis.correction,
        "direction": hypothesis.direction or None,
        "sides": hypothesis.sides,
        "smallest": hypothesis.sesoi,
        "optimistic": False,
    }
    same = (effects["unit"] == model.unit) & (effects["model"] == model.name) & (effects["response"] == model.response)
    same &= (effects["region"] == model.region) & (
        effects["prompt"].isna() if model.prompt is None else effects["prompt"] == model.prompt
    )
    named = effects["term"].map(lambda term: isinstance(term, str) and {*term.split(":")} == {*hypothesis.term.split(":")})
    found = list_rows(effects[same & effects["headline"] & (effects["kind"] == COEFFICIENT) & named.astype(bool)])
    if len(found) == 1:
        row |= {name: found[0][name] for name in FROM_EFFECTS}
        row |= {"model_id": found[0]["model_id"], "p_two_sided": found[0]["p"]}
        row["p"] = _compute_p(found[0], hypothesis)
    return row


def _compute_p(effect: Mapping[str, Any], hypothesis: PlannedHypothesis) -> float:
    """Return p of a hypothesis's test: of two sides, or of the stated direction alone."""
    p, t = effect["p"], effect["t"]
    if hypothesis.sides == 2 or pd.isna(p):
        return float("nan") if pd.isna(p) else float(p)
    is_as_stated = (t > 0) == (hypothesis.direction == "positive")
    return float(p) / 2 if is_as_stated else 1 - float(p) / 2


def _adjust(rows: Sequence[dict[str, Any]]) -> None:
    """Add the adjusted p of hypotheses in a family, of their own tests and of two sides."""
    for family in dict.fromkeys(row["family"] for row in rows if row["role"] == "family"):
        members = [row for row in rows if row["role"] == "family" and row["family"] == family and not pd.isna(row.get("p"))]
        correction = next((row["correction"] for row in members), "none")
        if correction in ADJUSTMENTS:
            for name in ("p", "p_two_sided"):
                adjusted = ADJUSTMENTS[correction](pd.Series([row[name] for row in members], dtype="float64"))
                for row, value in zip(members, adjusted, strict=True):
                    row[f"{name}_adjusted"] = float(value)


def _judge_row(row: Mapping[str, Any], alpha: float) -> str:
    if pd.isna(row.get("p", math.nan)) or row["optimistic"]:
        return UNDECIDED
    ends = (row["low_90"], row["high_90"])
    smallest = row["smallest"]
    # Without slopes there is no interval to hold against the smallest effect.
    within = None if smallest is None or any(map(pd.isna, ends)) else -smallest < ends[0] and ends[1] < smallest
    return judge(
        row["estimate"],
        row.get("p_adjusted", row["p"]),
        row.get("p_two_sided_adjusted", row["p_two_sided"]),
        row["direction"] or "",
        alpha=alpha,
        within=within,
    )
