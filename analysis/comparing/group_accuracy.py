"""Accuracy on groups of paradigms or items: with and without an adjective, by attractor, by resource, by language."""

from collections.abc import Iterator

import pandas as pd

from gardenpath.study import TABLES, DataError, check
from gardenpath.study.plans import INTERCEPTS
from gardenpath.study.responses import STANDARDISED_RESPONSES

from ..grammatical_status import GRAMMATICALITY
from ..intervals import ratio_interval, wilson_interval
from ..measuring.ratings_and_times import cap_faults
from .pair_accuracy import ALL_PHENOMENA, MODEL_KEY, POOLED_OVER_PAIRS, compute_wins

GROUP_COLUMNS = ["factor", "level"]
CEILING_ACCURACY, BASELINE_CEILING_ACCURACY = 0.97, 0.95  # as in BLiMP-NL, section 7.2


def compute_group_accuracies(
    pairs: pd.DataFrame, groups: pd.DataFrame, human_accuracies: pd.DataFrame | None = None, *, seed: int = 1
) -> pd.DataFrame:
    """Return each model's accuracy at every level of each factor in `groups`, 0 to 1, and its difference to the first level.

    `groups` (`stimuli.groups_of`, or a table of one's own) has the columns `factor`, `level`, and `paradigm` or `item`, a row for
    each that belongs to the level; what it does not name is left out, and a name that the pairs do not have is a `DataError`.
    `human_accuracies` has paradigm and accuracy (`people_accuracies`). `accuracy` is over pairs, a tie being half a success,
    with its Wilson interval; `mean_accuracy` is over paradigms, with a bootstrap over them (none under 10), and differences are
    of means.

    >>> rows = [("m", "p", "npi", f"p{k % 2}", f"i{k}", "lp", -1.0, -2.0, k % 4 > 0, False) for k in range(8)]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> groups = pd.DataFrame({"paradigm": ["p1", "p0"], "factor": "attractor", "level": ["none", "relational"]})
    >>> table = compute_group_accuracies(pd.DataFrame(rows, columns=names), groups)
    >>> table[["level", "n_pairs", "mean_accuracy", "difference"]].to_numpy().tolist()
    [['none', 4, 1.0, 0.0], ['relational', 4, 0.5, -0.5]]
    """
    key = find_group_key(pairs, groups)
    grouped = pairs.assign(won=compute_wins(pairs)).merge(groups[[key, *GROUP_COLUMNS]], on=key)
    rows = [
        {"model": model, "protocol": protocol, "measure": measure, **row}
        for (model, protocol, measure), of_model in grouped.groupby([*MODEL_KEY, "measure"], sort=False)
        for row in compute_level_rows(of_model, groups, human_accuracies, seed)
    ]
    return check(pd.DataFrame(rows, columns=TABLES["group_accuracies"].column_names), "group_accuracies")


def find_group_key(pairs: pd.DataFrame, groups: pd.DataFrame) -> str:
    """Return by which column `groups` names pairs, paradigm or item; a name the pairs do not have is a `DataError`."""
    keys = [name for name in ("paradigm", "item") if name in groups]
    if len(keys) != 1 or not {*GROUP_COLUMNS} <= {*groups}:
        raise DataError(f"groups have the columns {', '.join(map(str, groups))}; expected paradigm or item, factor and level")
    double = groups[groups.duplicated([keys[0], "factor"], keep=False)]
    if len(double):
        raise DataError(
            cap_faults(
                f"{keys[0]} {name!r} is at {len(rows)} levels of factor {factor!r}; expected one"
                for (name, factor), rows in double.groupby([keys[0], "factor"], sort=False)
            )
        )
    if unknown := sorted(set(groups[keys[0]]) - set(pairs[keys[0]])):
        raise DataError(
            cap_faults(f"the groups name {keys[0]} {name!r}, which the pairs do not have" for name in map(str, unknown))
        )
    return keys[0]


def compute_level_rows(
    of_model: pd.DataFrame, groups: pd.DataFrame, human_accuracies: pd.DataFrame | None, seed: int
) -> Iterator[dict[str, object]]:
    """Yield accuracy at each level of each factor, and its difference to the first, from pairs with `compute_wins` and their
    levels."""
    human_means = (
        human_accuracies.groupby("paradigm")["accuracy"].mean() if human_accuracies is not None else pd.Series(dtype="float64")
    )
    for factor, levels in groups.groupby("factor", sort=False):
        first: dict[str, float | None] = {}
        for level in levels["level"].unique():
            rows = of_model[(of_model["factor"] == factor) & (of_model["level"] == level)]
            if rows.empty:
                continue
            by_paradigm = rows.groupby("paradigm", sort=False)["won"].mean()
            wilson_low, wilson_high = wilson_interval(pd.Series([rows["won"].sum()]), pd.Series([len(rows)]))
            low, high = ratio_interval(by_paradigm, [1] * len(by_paradigm), seed=seed)
            whose = human_means.reindex(by_paradigm.index).dropna()
            level_accuracies = {
                "mean_accuracy": float(by_paradigm.mean()),
                "human_accuracy": float(whose.mean()) if len(whose) == len(by_paradigm) else None,
            }
            first = first or level_accuracies
            yield {
                "factor": factor, "level": level, "n_paradigms": len(by_paradigm), "n_pairs": len(rows),
                "n_ties": int(rows["tie"].sum()),
                "accuracy": rows["won"].mean(), "wilson_low": wilson_low[0], "wilson_high": wilson_high[0],
                **level_accuracies, "ci_low": low, "ci_high": high,
                "difference": _subtract(level_accuracies["mean_accuracy"], first["mean_accuracy"]),
                "human_difference": _subtract(level_accuracies["human_accuracy"], first["human_accuracy"]),
            }  # fmt: skip


def _subtract(accuracy: float | None, first: float | None) -> float | None:
    return None if accuracy is None or first is None else accuracy - first


def compute_usable_phenomena(accuracies: pd.DataFrame, effects: pd.DataFrame, baseline: str | None = None) -> pd.DataFrame:
    """Return which phenomena tell models from people, and why others do not, as BLiMP-NL's section 7.2 asks.

    A phenomenon is not usable where every model, `baseline` aside, wins 97 % of its pairs; where `baseline`, an n-gram model,
    wins 95 %; or where people's ratings do not differ: in the table `effects` of `analyse`, the estimate of
    grammaticality for z is not above zero or its adjusted p not below .05 (of the first prompt, with intercepts). `accuracies`
    is the table that `accuracy` returns.

    >>> rows = [(m, "lp", "npi", "pooled", share) for m, share in (("a", 0.99), ("b", 0.98), ("5-gram", 0.5))]
    >>> accuracies = pd.DataFrame(rows, columns=["model", "measure", "phenomenon", "paradigm", "accuracy"])
    >>> people = pd.DataFrame([("phenomenon", "npi", "z", "intercepts", "grammaticality", 0.8, 0.001)])
    >>> people.columns = ["unit", "model", "response", "random", "term", "estimate", "p_adjusted"]
    >>> compute_usable_phenomena(accuracies, people, baseline="5-gram")[["phenomenon", "is_usable", "reason"]].to_numpy().tolist()
    [['npi', False, 'every model wins 97 % of its pairs']]
    """
    over = accuracies[(accuracies["paradigm"] == POOLED_OVER_PAIRS) & (accuracies["phenomenon"] != ALL_PHENOMENA)]
    rated = effects[
        (effects["unit"] == "phenomenon")
        & effects["response"].isin(STANDARDISED_RESPONSES)
        & (effects["term"] == GRAMMATICALITY)
        & (effects["random"] == INTERCEPTS)
    ]
    people = {
        phenomenon: (estimate, estimate > 0 and p < 0.05)
        for phenomenon, estimate, p in rated.drop_duplicates("model")[["model", "estimate", "p_adjusted"]].to_numpy()
    }
    rows = []
    for (measure, phenomenon), shares in over.groupby(["measure", "phenomenon"], sort=False):
        by_model = shares.groupby("model")["accuracy"].mean()
        lowest = by_model.drop([baseline], errors="ignore").min()
        shallow = by_model.get(baseline)
        estimate, differ = people.get(phenomenon, (None, True))
        reasons = [
            f"every model wins {CEILING_ACCURACY * 100:.0f} % of its pairs" if lowest >= CEILING_ACCURACY else "",
            f"{baseline} wins {BASELINE_CEILING_ACCURACY * 100:.0f} % of its pairs"
            if (shallow or 0) >= BASELINE_CEILING_ACCURACY
            else "",
            "" if differ else "people's ratings do not differ",
        ]
        why = "; ".join(filter(None, reasons))
        row = {
            "measure": measure,
            "phenomenon": phenomenon,
            "min_accuracy": lowest,
            "baseline_accuracy": shallow,
            "human_difference": estimate,
        }
        rows.append(row | {"is_usable": not why, "reason": why})
    return check(pd.DataFrame(rows, columns=TABLES["usable_phenomena"].column_names), "usable_phenomena")
