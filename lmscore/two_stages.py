"""Minimal pairs in two stages: a coarse model decides what it can be held to, the exact one what that leaves open."""

import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Item, Materials

from .measures import reductions
from .measures.unigrams import Unigrams
from .models.interface import Model, Progress
from .scoring import MeasureValues, build_pair_rows, prepare_pairs, score_pairs
from .tokens.protocols import Protocol

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_PAIRS = 256  # pairs computed by both models to measure their noise, and as many decided ones to check
OPEN_DEVIATIONS = 6  # of the noise, within which a difference of the coarse model is open
WARM_UP_PAIRS = 8  # pairs computed before the clock runs
CONFIDENCE_LEVEL = 0.95  # of the bound on wrong verdicts

Result = TypeVar("Result")


def evaluate_in_stages(
    materials: Materials,
    model: Model,
    coarse: Model,
    measures: Sequence[str] = ("lp",),
    *,
    protocol: str | Protocol | None = None,
    unigrams: str | Path | Unigrams | None = None,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
    seed: int = 1,
) -> "tuple[pd.DataFrame, dict[str, Any]]":
    """Return the table `pairs`, as `evaluate` does, with scores of `coarse` where it decides, and what was found of it.

    `model` and `coarse` are one model in float32 and in bfloat16. 256 pairs, drawn with `seed`, are computed by both. A difference
    of scores of the coarse model within six standard deviations of what separates the two (coarse less exact, by measure) is open,
    and the exact model computes that pair, whichever measure leaves it open. 256 of the pairs decided are computed exactly too:
    what was found has how many verdicts of theirs are wrong by measure, and the upper bound of their share (one-sided 95 %,
    Clopper and Pearson). Where the coarse model would save nothing, or with at most 512 pairs, the exact one computes all, and
    `note` says so.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> pairs, found = lmscore.evaluate_in_stages(EXAMPLE_PAIR, model, coarse=model)
    >>> len(pairs), found["note"]
    (1, 'All pairs, 1, are computed exactly: from 513 on there is something to decide in two stages.')
    """
    import pandas as pd

    materials, measures, chosen, counted = prepare_pairs(materials, model, measures, protocol, unigrams)
    items = {item.id: item for item in materials.items}
    whole = len(items)

    def values(which: Model, names: Iterable[str], move: Progress | None = None) -> MeasureValues:
        wanted = {*names}
        some = Materials(materials.paradigms, tuple(item for item in materials.items if item.id in wanted))
        return score_pairs(some, which, measures, chosen, counted, batch_tokens=batch_tokens, progress=move) if wanted else {}

    def build_result(scores: MeasureValues, facts: dict[str, Any]) -> "tuple[pd.DataFrame, dict[str, Any]]":
        rows = build_pair_rows(materials, scores, measures, model.name, chosen.name)
        return study.check(pd.DataFrame(rows), "pairs"), {"pairs": whole, **facts}

    if whole <= 2 * SAMPLE_PAIRS:
        note = (
            f"All pairs, {whole}, are computed exactly: from {2 * SAMPLE_PAIRS + 1} on there is something to decide in two stages."
        )
        return build_result(values(model, items, progress), {"exact": whole, "note": note})
    chance = random.Random(seed)
    both = chance.sample(_select_candidates(materials.items, measures), SAMPLE_PAIRS)
    for which in (model, coarse):
        values(which, both[:WARM_UP_PAIRS])
    exact, exact_s = _time_computation(lambda: values(model, both))
    rough, rough_s = _time_computation(lambda: values(coarse, both))
    noise = _estimate_noise(exact, rough, both, measures)
    share = len(_find_open_items(rough, both, noise)) / SAMPLE_PAIRS
    facts: dict[str, Any] = {"noise": noise, "within": {name: OPEN_DEVIATIONS * sd for name, sd in noise.items()}}
    # What the rest costs in two stages, of computing it exactly, as the sample tells.
    facts["cost"] = rough_s / exact_s + share + SAMPLE_PAIRS / (whole - SAMPLE_PAIRS)
    if facts["cost"] >= 1:
        note = (
            f"All pairs, {whole}, are computed exactly: on {SAMPLE_PAIRS} of them the coarse model took "
            f"{rough_s / exact_s:.2f} of the "
            f"exact one's time and left {share:.0%} open, so that it saves nothing here."
        )
        rest = values(model, {*items} - {*both}, progress)
        return build_result(exact | rest, {**facts, "exact": whole, "note": note})
    rough |= values(coarse, {*items} - {*both}, progress)
    still_open = {*_find_open_items(rough, items, noise)} - {*both}
    decided = [name for name in items if name not in still_open and name not in both]
    checked = chance.sample(decided, min(SAMPLE_PAIRS, len(decided)))
    exact |= values(model, still_open | {*checked})
    wrong = {name: _count_wrong_verdicts(exact, rough, checked, name) for name in measures}
    facts |= {
        "open": len(still_open), "checked": len(checked), "exact": SAMPLE_PAIRS + len(still_open) + len(checked), "wrong": wrong,
        "wrong_at_most": {name: compute_share_bound(count, len(checked)) for name, count in wrong.items()},
    }  # fmt: skip
    return build_result(rough | exact, facts)


def compute_share_bound(wrong: int, checked: int) -> float:
    """Return the upper end of the one-sided 95 % interval of a share (Clopper and Pearson, doi 10.1093/biomet/26.4.404).

    >>> round(compute_share_bound(0, 256), 4), compute_share_bound(0, 0)
    (0.0116, 1.0)
    """
    from scipy import stats

    return float(stats.beta.ppf(CONFIDENCE_LEVEL, wrong + 1, checked - wrong)) if wrong < checked else 1.0


def _time_computation(compute: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    return compute(), time.perf_counter() - started


def _select_candidates(items: Sequence[Item], measures: Sequence[str]) -> list[str]:
    """Return the items that have every measure, or all where too few do."""
    fitting = [
        item.id
        for item in items
        if all(reductions.is_comparable(name, item.sentences[GRAMMATICAL], item.sentences[UNGRAMMATICAL]) for name in measures)
    ]
    return fitting if len(fitting) >= SAMPLE_PAIRS else [item.id for item in items]


def _compute_difference(scores: MeasureValues, item: str, measure: str) -> float | None:
    """Return the grammatical less the ungrammatical member's score, None where the measure has none."""
    good, bad = (scores.get((item, condition, measure)) for condition in (GRAMMATICAL, UNGRAMMATICAL))
    return None if good is None or bad is None else good - bad


def _estimate_noise(exact: MeasureValues, rough: MeasureValues, items: Iterable[str], measures: Iterable[str]) -> dict[str, float]:
    """Return the standard deviation, by measure, of what separates the differences of both models."""
    noise = {}
    for measure in measures:
        pairs = ((_compute_difference(rough, item, measure), _compute_difference(exact, item, measure)) for item in items)
        deviations = [a - b for a, b in pairs if a is not None and b is not None and (a or b)]  # of the same tokens both are 0
        finite = [value for value in deviations if math.isfinite(value)]
        noise[measure] = statistics.stdev(finite) if len(finite) > 1 else math.inf
    return noise


def _find_open_items(rough: MeasureValues, items: Iterable[str], noise: Mapping[str, float]) -> list[str]:
    """Return the items of which a measure leaves the verdict open; what is no number is."""

    def is_open(item: str, measure: str, sd: float) -> bool:
        difference = _compute_difference(rough, item, measure)
        return difference is not None and not abs(difference) > OPEN_DEVIATIONS * sd

    return [item for item in items if any(is_open(item, measure, sd) for measure, sd in noise.items())]


def _count_wrong_verdicts(exact: MeasureValues, rough: MeasureValues, items: Iterable[str], measure: str) -> int:
    """Return how many verdicts of the coarse model are not those of the exact one."""
    pairs = ((_compute_difference(rough, item, measure), _compute_difference(exact, item, measure)) for item in items)
    return sum((a > 0) != (b > 0) or (a == 0) != (b == 0) for a, b in pairs if a is not None and b is not None)
