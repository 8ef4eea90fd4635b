"""What the levels of a factor differ in beside the factor: the length and frequency of the words that participants read.

`check` says before a study which conditions differ so; here the same measure is taken of the levels of each factor, over the
sentences as they were shown, so that it can stand beside the factor's effect.
"""

import itertools
import math
from collections.abc import Iterator

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.balance import compute_mean_and_variance, compute_standardised_difference, is_large

CRITICAL, CUE = "critical", "cue"
PARTS = ("before", CRITICAL, "after", "rest", "sentence")


def compute_confounds(words: pd.DataFrame, items: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """Return table `confounds`: where two levels of a factor differ by over half a standard deviation, in five items or more.

    The three tables are those of `collect`. An item counts where both levels have the part, with the mean of its sentences at a
    level; where no item has both, the factor differing between items, all count. Where a cue is marked, the whole sentence is
    not compared: the cue is what the contrast consists in.
    """
    sizes = _measure_parts(words).merge(items[["item", "condition", "paradigm"]], on=["item", "condition"])
    sizes = sizes.merge(conditions, on=["paradigm", "condition"])
    with_cue = set(sizes.loc[sizes["part"] == "rest", "paradigm"])
    rows = [row for row in _compare_levels(sizes) if not (row["region"] == "sentence" and row["paradigm"] in with_cue)]
    return check(pd.DataFrame(rows, columns=TABLES["confounds"].column_names), "confounds")


def _measure_parts(words: pd.DataFrame) -> pd.DataFrame:
    """Return letters and mean Zipf frequency of each part of each sentence: item, condition, part, measure, value."""
    place = ["item", "condition"]
    critical = words[words["region"] == CRITICAL].groupby(place, sort=False)["word"].agg(["min", "max"]).reset_index()
    placed = words.merge(critical, on=place, how="left")
    has_cue = (words["region"] == CUE).groupby([words["item"], words["condition"]]).transform("any").to_numpy()
    chosen = {
        "before": placed["word"] == placed["min"] - 1,
        CRITICAL: placed["word"].between(placed["min"], placed["max"]),
        "after": placed["word"] == placed["max"] + 1,
        "rest": pd.Series(has_cue, placed.index) & (placed["region"] != CUE).fillna(True),
        "sentence": pd.Series(True, placed.index),
    }
    found = []
    for part, there in chosen.items():
        groups = placed[there.fillna(False).astype(bool)].groupby(place, sort=False)
        for measure, values in (("letters", groups["length"].sum()), ("zipf", groups["zipf"].mean())):
            found.append(values.rename("value").reset_index().assign(part=part, measure=measure))
    return pd.concat(found, ignore_index=True).dropna(subset="value")


def _compare_levels(sizes: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield a row for each two levels that differ."""
    groups = sizes.groupby(["paradigm", "factor"], sort=False)
    for (paradigm, factor), rows in groups:
        levels = rows["level"].unique()
        means = rows.groupby(["part", "measure", "level", "item"], sort=False)["value"].mean().reset_index()
        of: dict[tuple[str, str, str], dict[str, float]] = {}
        for part, measure, level, item, value in zip(*(means[name].tolist() for name in means), strict=True):
            of.setdefault((part, measure, level), {})[item] = float(value)
        for part, measure, (one, two) in itertools.product(PARTS, ("letters", "zipf"), itertools.combinations(levels, 2)):
            if (part, measure, one) not in of or (part, measure, two) not in of:
                continue
            a, b = of[part, measure, one], of[part, measure, two]
            both = [item for item in a if item in b]
            n_items = len(both) or len(a) + len(b)
            of_a, of_b = (
                compute_mean_and_variance([values[item] for item in both] if both else [*values.values()]) for values in (a, b)
            )
            d = compute_standardised_difference(of_a, of_b)
            if is_large(d, n_items):
                yield {
                    "paradigm": paradigm,
                    "factor": factor,
                    "level_a": one,
                    "level_b": two,
                    "region": part,
                    "measure": measure,
                    "n_items": n_items,
                    "mean_a": of_a[0],
                    "mean_b": of_b[0],
                    "cohens_d": None if math.isinf(d) else d,
                }
