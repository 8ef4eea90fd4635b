"""Scores of sentences beside people's ratings of them, at every level at which papers correlate the two."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check
from gardenpath.study.config import RATING_MEASURES
from gardenpath.study.measures import SCORE_MEASURES

from ..aligning.predictors import split_by_model
from ..grammatical_status import sort_conditions
from ..intervals import MIN_UNITS, correlation, correlation_interval

GRAMMATICAL, UNGRAMMATICAL = "grammatical", "ungrammatical"
RELATIVE_LEVEL = "relative"
ITEM_LEVEL = "items"  # sentences less the mean of their item
RELATIVE_LEVEL_WARNING = (
    "Both members of a pair enter with one difference and opposite signs, so this correlation holds the mean effect of "
    "grammaticality; do not compare it with the others (doi 10.1162/COLI.a.00559 advises against it)."
)


def compute_rating_correlations(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    *,
    measures: Sequence[str] = SCORE_MEASURES,
    rating_measure: str = "z",
    pairs: pd.DataFrame | None = None,
    ceilings: pd.DataFrame | None = None,
    seed: int = 1,
    draws: int = 2000,
) -> pd.DataFrame:
    """Return Pearson's and Spearman's correlation of sentence_scores with mean target ratings, at each level.

    Each prompt of the ratings stands by itself. Levels: sentences, each condition, and of minimal pairs: pairs (differences
    within pairs), paradigms and phenomena (means of these differences), as in BLiMP-NL (doi 10.1162/COLI.a.00559), and
    `relative`, each sentence's rating against its score less that of the other member, with a warning (the method of doi
    10.1073/pnas.2400917121), without p; of other items: items, each sentence less the mean of its item. Intervals are bootstraps
    over items, with both their sentences, or over the paradigms or phenomena themselves; none under 10. `ceilings` is the table
    noise_ceilings, of z: what a perfect model would reach. p is two-sided and takes points as independent, so that of sentences
    and pairs speaks of further sentences of these paradigms. `rating_measure` is z, standardised within participants, or
    `rating`, as given.

    With the table `pairs` there are the levels "paradigms, all pairs" and "phenomena, all pairs" too: ratings of the pairs that
    were rated against scores over every pair that was scored, as BLiMP-NL's figure 5.

    Scores and ratings without a sentence in common are a `DataError`.

    >>> sentences = [(f"i{k}", condition) for k in range(3) for condition in ("grammatical", "ungrammatical")]
    >>> scores = pd.DataFrame(sentences, columns=["item", "condition"]).assign(model="m", protocol="p")
    >>> ratings = scores.assign(role="target", prompt="rating", phenomenon="npi", paradigm="ever")
    >>> ratings["z"] = [1.0, -1, 0.8, -0.6, 0.5, -0.7]
    >>> table = compute_rating_correlations(scores.assign(lp=[-8.0, -15, -9, -14, -10, -13]), ratings, measures=["lp"])
    >>> table.query("level == 'sentences'")[["method", "n_points", "r"]].round(2).to_numpy().tolist()
    [['pearson', 6, 0.99], ['spearman', 6, 0.94]]
    """
    means = compute_mean_ratings(ratings, rating_measure)
    level_key = ["prompt", "level"]
    ceiling_by_level = {} if ceilings is None or rating_measure != "z" else ceilings.set_index(level_key)["ceiling"].to_dict()
    rows = []
    for model, protocol, model_scores in split_by_model(scores):
        for measure in measures:
            measure_scores = model_scores[["item", "condition", measure]].rename(columns={measure: "score"}).dropna(subset="score")
            joined = means.merge(measure_scores, on=["item", "condition"], validate="m:1")
            for prompt, both in joined.groupby("prompt", sort=True):
                row = {"model": model, "protocol": protocol, "measure": measure, "prompt": prompt, "rating_measure": rating_measure}
                all_pair_levels = [] if pairs is None else _split_all_pair_levels(both, measure_scores, pairs)
                for level, points, unit in (*split_by_level(both), *all_pair_levels):
                    for method in ("pearson", "spearman"):
                        statistics = _correlate(points, method, seed, draws)
                        statistics |= _relate_to_ceiling(statistics["r"], ceiling_by_level.get((prompt, level)))
                        rows.append(row | {"level": level, "unit": unit, "method": method} | statistics)
    if not rows:
        raise DataError(
            "tables sentence_scores and rating_scores have no scored sentence in common; expected scores and "
            "ratings of the same items"
        )
    return check(pd.DataFrame(rows, columns=TABLES["rating_correlations"].column_names), "rating_correlations")


def compute_mean_ratings(ratings: pd.DataFrame, rating_measure: str = "z") -> pd.DataFrame:
    """Return the mean z, or the mean rating as given, under each prompt, of each sentence that was rated in target trials."""
    if rating_measure not in RATING_MEASURES:
        raise ValueError(f"ratings {rating_measure!r}; expected {' or '.join(RATING_MEASURES)}")
    kept = ratings[ratings["role"] == "target"].dropna(subset=rating_measure)
    if kept.empty:
        raise DataError(
            "table rating_scores: no z of a target sentence; expected ratings by participants who do not give one rating throughout"
        )
    by = kept.groupby(["prompt", "phenomenon", "paradigm", "item", "condition"], as_index=False)
    return by.agg(rating=(rating_measure, "mean"))


def split_by_level(both: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield each level of the ratings under one prompt, its points (rating, score, unit), and what their unit is."""
    points = both.assign(unit=both["item"])
    yield "sentences", points, "item"
    for condition in sort_conditions(points["condition"]):
        yield condition, points[points["condition"] == condition], "item"
    of_pairs = both["condition"].isin([GRAMMATICAL, UNGRAMMATICAL])
    if of_pairs.any():
        yield from _split_pair_levels(both[of_pairs])
    if not of_pairs.all():
        others = points[~of_pairs]
        shown = others.groupby("item")["condition"].transform("nunique") > 1
        means = others.groupby("item")[["rating", "score"]].transform("mean")
        yield (
            ITEM_LEVEL,
            others.assign(rating=others["rating"] - means["rating"], score=others["score"] - means["score"])[shown],
            "item",
        )


def _split_pair_levels(both: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield the levels that are about the difference of a pair's members."""
    good, bad = (both[both["condition"] == name].drop(columns="condition") for name in (GRAMMATICAL, UNGRAMMATICAL))
    pairs = good.merge(bad, on=["phenomenon", "paradigm", "item"], suffixes=("", "_bad"), validate="1:1")
    gap = pairs["score"] - pairs["score_bad"]
    differences = pairs.assign(rating=pairs["rating"] - pairs["rating_bad"], score=gap, unit=pairs["item"])
    yield "pairs", differences, "item"
    for level, column in (("paradigms", "paradigm"), ("phenomena", "phenomenon")):
        means = differences.groupby(column, as_index=False).agg(rating=("rating", "mean"), score=("score", "mean"))
        yield level, means.assign(unit=means[column]), column
    both_ways = [
        pd.DataFrame({"rating": pairs["rating"], "score": gap, "unit": pairs["item"]}),
        pd.DataFrame({"rating": pairs["rating_bad"], "score": -gap, "unit": pairs["item"]}),
    ]
    yield RELATIVE_LEVEL, pd.concat(both_ways, ignore_index=True).assign(level=RELATIVE_LEVEL), "item"


def _split_all_pair_levels(
    both: pd.DataFrame, scores: pd.DataFrame, pairs: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield paradigms and phenomena with mean differences of rated pairs in ratings, and of all scored pairs in score."""
    of_item = pairs[["phenomenon", "paradigm", "item"]].drop_duplicates()
    wide = scores.pivot_table("score", "item", "condition").reindex(columns=[GRAMMATICAL, UNGRAMMATICAL]).dropna()
    scored = of_item.assign(score=of_item["item"].map(wide[GRAMMATICAL] - wide[UNGRAMMATICAL]))
    for level, rated, column in _split_pair_levels(both):
        if level in ("paradigms", "phenomena"):
            means = scored.groupby(column)["score"].mean()
            yield f"{level}, all pairs", rated.assign(score=rated["unit"].map(means)), column


def _correlate(points: pd.DataFrame, method: str, seed: int, draws: int) -> dict[str, Any]:
    import numpy as np

    x, y = (points[name].to_numpy(dtype="float64") for name in ("rating", "score"))
    finite = np.isfinite(x) & np.isfinite(y)
    x, y, units = x[finite], y[finite], points["unit"].to_numpy()[finite]
    count = len(set(units))
    notes = [RELATIVE_LEVEL_WARNING] if "level" in points else []
    notes += [f"{int((~finite).sum())} scores are not finite and were left out."] if not finite.all() else []
    row: dict[str, Any] = {"n_points": len(x), "n_units": count, "r": None}
    still = [len(x) > 0 and bool(np.ptp(side) <= 1e-12 * np.abs(side).max()) for side in (x, y)]  # but for rounding
    if len(x) < 3 or any(still):
        side = "fewer than 3 points" if len(x) < 3 else "ratings" if still[0] else "scores"
        notes.append(f"No correlation: {side}{'' if len(x) < 3 else ' are all the same'}.")
        return row | {"note": " ".join(notes)}
    spearman = method == "spearman"
    r, p = correlation(x, y, ranks=spearman)
    low, high = correlation_interval(x, y, units, ranks=spearman, seed=seed, draws=draws)
    notes += [f"No interval: {count} units, under {MIN_UNITS}."] if count < MIN_UNITS else []
    return row | {
        "r": float(r),
        "p": None if "level" in points else float(p),
        "ci_low": low,
        "ci_high": high,
        "note": " ".join(notes),
    }


def _relate_to_ceiling(r: float | None, ceiling: float | None) -> dict[str, float | None]:
    if r is None or ceiling is None or pd.isna(ceiling) or ceiling == 0:
        return {"ceiling": ceiling}
    return {"ceiling": ceiling, "share_of_ceiling": r / ceiling}
