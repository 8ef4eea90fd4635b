"""Language models against each other on minimal pairs: who wins, by how much, by which measure, and what it depends on."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..intervals import (
    MIN_UNITS,
    correlation_interval,
    holm,
    mcnemar,
    mean_interval,
    ratio_interval,
    sign_flip_test,
    wilson_interval,
)
from ..measuring.ratings_and_times import cap_faults
from ..prompts import format_prompt_suffix, list_prompts
from .pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS, MODEL_KEY, POOLED_OVER_PAIRS, compute_wins
from .pairwise_comparisons import PairwiseComparison, tabulate_model_wins

HUMAN_SOURCE = "people"


def compute_model_comparisons(pairs: pd.DataFrame, *, seed: int = 1) -> pd.DataFrame:
    """Return every two language models on the pairs that both were given: how often, and how surely, one wins more.

    McNemar's test is exact (binomial, doi 10.1007/BF02295996) and drops pairs that either model ties; with the bootstrap
    over pairs it takes paradigms as fixed and speaks of further pairs of the same paradigms. The bootstrap and the sign
    flips over paradigms' differences speak of further paradigms; they are withheld under 10. Both p are adjusted after
    Holm over the pairs of models within a measure. Differences are in share of pairs, 0 to 1. Fewer than two models under
    each measure are a `DataError`.

    >>> wins = [(m, k, k < n) for m, n in (("a", 9), ("b", 3)) for k in range(10)]
    >>> rows = [(m, "p", "npi", "ever", f"i{k}", "lp", -1.0, -2.0, correct, False) for m, k, correct in wins]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> table = compute_model_comparisons(pd.DataFrame(rows, columns=names))
    >>> table[["difference", "n_only_a", "n_only_b", "mcnemar_p"]].to_numpy().tolist()
    [[0.6, 6.0, 0.0, 0.03125]]
    """
    comparisons = []
    for models in tabulate_model_wins(pairs):
        paradigms = models.pairs["paradigm"].to_numpy()
        comparisons += [
            comparison.row_key | _summarise_comparison(comparison, paradigms[comparison.pair_rows], seed)
            for comparison in models.compare_models()
        ]
    if not comparisons:
        raise DataError(
            f"table pairs: no two models share a measure in its {len(pairs)} rows; expected two models or more to compare"
        )
    names = TABLES["model_comparisons"].column_names
    table = pd.DataFrame(comparisons, columns=[name for name in names if not name.endswith("_holm")])
    for name in ("mcnemar", "flip"):
        table[f"{name}_p_holm"] = table.groupby("measure", sort=False)[f"{name}_p"].transform(lambda p: holm(p.astype("float64")))
    return check(table, "model_comparisons")


def _summarise_comparison(comparison: PairwiseComparison, paradigms: Any, seed: int) -> dict[str, object]:
    if not len(comparison.pair_rows):
        return {
            "n_pairs": 0,
            "n_ties": 0,
            "n_only_a": 0,
            "n_only_b": 0,
            "n_paradigms": 0,
            "note": "No pair was given to both models.",
        }
    won_a, won_b = comparison.won_a.astype("float64"), comparison.won_b.astype("float64")
    gain = pd.Series(won_a - won_b)
    a_only, b_only = (int(alone.sum()) for alone in comparison.find_sole_wins())
    low, high = mean_interval(gain, seed=seed)
    by_paradigm = gain.groupby(paradigms).mean()
    wide = ratio_interval(by_paradigm, [1] * len(by_paradigm), seed=seed)
    flipped = sign_flip_test(by_paradigm, one_sided=False, seed=seed)
    few = len(by_paradigm) < MIN_UNITS
    return {
        "n_pairs": len(gain), "n_ties": int((~comparison.is_untied).sum()), "accuracy_a": won_a.mean(), "accuracy_b": won_b.mean(),
        "difference": gain.mean(), "ci_low": low, "ci_high": high, "n_only_a": a_only, "n_only_b": b_only,
        "mcnemar_p": float(mcnemar(a_only, b_only)),
        "n_paradigms": len(by_paradigm), "paradigm_difference": by_paradigm.mean(), "paradigm_ci_low": wide[0],
        "paradigm_ci_high": wide[1], "flip_p": flipped.p, "min_flip_p": flipped.min_possible_p,
        "note": f"No test over paradigms: {len(by_paradigm)}, under {MIN_UNITS}." if few else "",
    }  # fmt: skip


def compute_proportion_tests(pairs: pd.DataFrame, groups: Mapping[str, str], *, unit: str = "pairs", seed: int = 1) -> pd.DataFrame:
    """Return the z-test for two proportions of each model between two groups of items, such as hand-made and generated.

    `unit` says what are its trials, which it takes as independent: "pairs" though these cluster in paradigms, or "paradigms",
    whose accuracies, hardly proportions of trials, are averaged. It is for reproduction of published comparisons; beside it is
    the mean difference within paradigms with a bootstrap over these. The standard error pools both groups. An item without a
    group, or any other number of groups than two, is a `DataError`.

    >>> rows = [("m", "p", "npi", "ever", f"i{k}", "lp", -1.0, -2.0, k % 4 > 0, False) for k in range(80)]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> groups = {f"i{k}": "small" if k < 20 else "large" for k in range(80)}
    >>> compute_proportion_tests(pd.DataFrame(rows, columns=names), groups)[["n_a", "accuracy_a", "z", "p"]].to_numpy().tolist()
    [[60.0, 0.75, 0.0, 1.0]]
    """
    if unit not in ("pairs", "paradigms"):
        raise ValueError(f"a test over {unit!r}; expected pairs or paradigms")
    grouped, names = _assign_groups(pairs, groups)
    rows = []
    differences = compute_group_differences(pairs, groups).groupby([*MODEL_KEY, "measure"])["difference"]
    within = {key: values.to_numpy() for key, values in differences}
    for key, model_pairs in grouped.groupby([*MODEL_KEY, "measure"], sort=False):
        row: dict[str, object] = {**dict(zip([*MODEL_KEY, "measure"], key, strict=True)), "test_unit": unit}
        parts = [model_pairs[model_pairs["group"] == name] for name in names]
        won_of = [p["won"] if unit == "pairs" else p.groupby("paradigm", sort=False)["won"].mean() for p in parts]
        for end, name, part in zip("ab", names, won_of, strict=True):
            row |= {f"group_{end}": name, f"n_{end}": len(part), f"accuracy_{end}": part.mean() if len(part) else None}
        gain = list(within.get(key, ()))
        low, high = ratio_interval(gain, [1] * len(gain), seed=seed)
        mean_difference = {"n_paradigms": len(gain), "difference": sum(gain) / len(gain) if len(gain) else None}
        rows.append(row | _test_proportions(*won_of) | mean_difference | {"ci_low": low, "ci_high": high})
    return check(pd.DataFrame(rows), "proportion_tests")


def compute_group_differences(pairs: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return each model's accuracy in two groups of items of each paradigm that has both, and the difference, 0 to 1.

    `groups` and its faults are those of `compute_proportion_tests`; `difference_figure` draws the differences.

    >>> rows = [("m", "p", "npi", "ever", f"i{k}", "lp", -1.0, -2.0, k % 4 > 0, False) for k in range(8)]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> groups = {f"i{k}": "hand" if k % 4 < 2 else "generated" for k in range(8)}
    >>> table = compute_group_differences(pd.DataFrame(rows, columns=names), groups)
    >>> table[["group_a", "group_b", "difference"]].to_numpy().tolist()
    [['generated', 'hand', 0.5]]
    """
    grouped, (a, b) = _assign_groups(pairs, groups)
    key_columns = [*MODEL_KEY, "measure", "phenomenon", "paradigm"]
    sides = [
        grouped[grouped["group"] == name].groupby(key_columns, sort=False)["won"].agg(["size", "mean"]).reset_index()
        for name in (a, b)
    ]
    sides = [s.rename(columns={"size": f"n_{end}", "mean": f"accuracy_{end}"}) for s, end in zip(sides, "ab", strict=True)]
    both = sides[0].merge(sides[1], on=key_columns).assign(group_a=a, group_b=b)
    return check(both.assign(difference=both["accuracy_a"] - both["accuracy_b"]), "group_differences")


def _assign_groups(pairs: pd.DataFrame, groups: Mapping[str, str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the pairs with what they won and their group, and the names of both groups."""
    missing_items = sorted(set(pairs["item"]) - set(groups))
    if missing_items:
        raise DataError(
            cap_faults(f"item {item!r} has no group; expected one for each item of the pairs" for item in missing_items)
        )
    grouped = pairs.assign(won=compute_wins(pairs), group=pairs["item"].map(groups))
    names = sorted(grouped["group"].unique())
    if len(names) != 2:
        raise DataError(f"items are in {len(names)} group(s) ({', '.join(names)}); expected two")
    return grouped, names


def _test_proportions(a: "pd.Series[float]", b: "pd.Series[float]") -> dict[str, object]:
    from scipy import stats

    if a.empty or b.empty:
        return {"z": None, "p": None}
    pooled_share = (a.sum() + b.sum()) / (len(a) + len(b))
    se = math.sqrt(pooled_share * (1 - pooled_share) * (1 / len(a) + 1 / len(b)))
    if se == 0:
        return {"z": None, "p": None}  # all pairs won, or all lost
    z = (a.mean() - b.mean()) / se
    return {"z": z, "p": 2 * stats.norm.sf(abs(z))}


def compute_rankings(accuracies: pd.DataFrame, prompting_accuracies: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the place of each model under each measure, 1 for the highest mean accuracy over paradigms; equals share.

    `accuracies` is the table that `accuracy` returns; without its means it is a `DataError`. `prompting_accuracies`, with the
    columns model, protocol, n and accuracy (0 to 1), has answers to prompts: models are ranked by them as by the measure
    `prompting`.

    >>> from gardenpath.analysis import compute_accuracy
    >>> rows = [(m, "p", "npi", "ever", "i0", "lp", -20.0, -21.0, m == "b", False) for m in "ab"]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> table = compute_rankings(compute_accuracy(pd.DataFrame(rows, columns=names)))
    >>> table[["model", "accuracy", "model_rank"]].to_numpy().tolist()
    [['b', 1.0, 1.0], ['a', 0.0, 2.0]]
    """
    means = accuracies[(accuracies["phenomenon"] == ALL_PHENOMENA) & (accuracies["paradigm"] == MEAN_OVER_PARADIGMS)]
    if means.empty:
        raise DataError("table accuracy has no means over paradigms; expected the table that accuracy returns")
    if prompting_accuracies is not None:
        asked = prompting_accuracies[[*MODEL_KEY, "n_pairs", "accuracy"]].assign(measure="prompting")
        means = pd.concat([means, asked], ignore_index=True)
    ranks = means.groupby("measure", sort=False)["accuracy"].rank(ascending=False, method="average")
    table = means[["measure", *MODEL_KEY, "n_pairs", "accuracy"]].assign(model_rank=ranks)
    order = {measure: k for k, measure in enumerate(table["measure"].unique())}
    return check(
        table.sort_values(["measure", "model_rank"], key=lambda c: c.map(order) if c.name == "measure" else c, kind="stable"),
        "rankings",
    )


def compute_length_bias(pairs: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the point-biserial correlation of winning a pair with grammatical less ungrammatical tokens, ties dropped.

    Negative: the model wins where the grammatical member is the shorter one. `scores` is sentence_scores of the models.

    A pair without rows of both members there is a `DataError`; where all pairs are won, or all are lost, `note` says why there is
    no correlation.

    >>> rows = [("m", "p", "npi", "ever", f"i{k}", "lp", -1.0, -2.0, k < 2, False) for k in range(4)]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> tokens = [(f"i{k}", c, n) for k in range(4) for c, n in (("grammatical", 3 + k), ("ungrammatical", 4))]
    >>> scores = pd.DataFrame(tokens, columns=["item", "condition", "n_tokens"]).assign(model="m", protocol="p", lp=-1.0)
    >>> table = compute_length_bias(pd.DataFrame(rows, columns=names), scores)
    >>> table[["n_pairs", "mean_difference", "r"]].round(2).to_numpy().tolist()
    [[4.0, 0.5, -0.89]]
    """
    merged_pairs = _add_scores(pairs, scores)
    rows = []
    for (model, protocol, measure), model_pairs in merged_pairs.groupby([*MODEL_KEY, "measure"], sort=False):
        longer = model_pairs["n_tokens"] - model_pairs["n_tokens_ungrammatical"]
        rows.append({"model": model, "protocol": protocol, "measure": measure, **correlate_with_length(model_pairs, longer)})
    return check(pd.DataFrame(rows, columns=TABLES["length_bias"].column_names), "length_bias")


def correlate_with_length(pairs: pd.DataFrame, longer: "pd.Series[int]") -> dict[str, object]:
    """Return how winning pairs goes along with a difference in tokens: counts, r and p without ties, or why there is no r."""
    from scipy import stats

    clear = ~pairs["tie"]
    correct, difference = (column[clear].astype("float64") for column in (pairs["correct"], longer))
    row: dict[str, object] = {
        "n_pairs": len(correct), "n_ties": len(pairs) - len(correct), "n_unequal": int((difference != 0).sum()),
        "mean_difference": difference.mean() if len(correct) else None,
    }  # fmt: skip
    if len(correct) < 3 or difference.nunique() < 2 or correct.nunique() < 2:
        why = "fewer than 3 pairs" if len(correct) < 3 else "members differ by one number of tokens in all pairs"
        why = "all pairs are won, or all are lost" if len(correct) > 2 and correct.nunique() < 2 else why
        return row | {"note": f"No correlation: {why}."}
    correlation = stats.pearsonr(correct, difference)
    return row | {"r": correlation.statistic, "p": correlation.pvalue}


def _add_scores(pairs: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs with tokens and log-probability of the grammatical member, and tokens of the other."""
    known = scores[[*MODEL_KEY, "item", "condition", "n_tokens", "lp"]]
    good, bad = (known[known["condition"] == name].drop(columns="condition") for name in ("grammatical", "ungrammatical"))
    key = [*MODEL_KEY, "item"]
    merged_pairs = pairs.merge(good, on=key, how="left", validate="m:1")
    merged_pairs = merged_pairs.merge(bad.drop(columns="lp"), on=key, how="left", suffixes=("", "_ungrammatical"), validate="m:1")
    missing_pairs = merged_pairs[merged_pairs["n_tokens"].isna() | merged_pairs["n_tokens_ungrammatical"].isna()].drop_duplicates(
        key
    )
    if len(missing_pairs):
        raise DataError(
            cap_faults(
                f"item {r.item}: {r.model} ({r.protocol}) has no row for both members in table sentence_scores"
                for r in missing_pairs.itertuples()
            )
        )
    return merged_pairs


def compute_accuracy_correlations(
    accuracies: pd.DataFrame, human_accuracies: pd.DataFrame | None = None, *, seed: int = 1
) -> pd.DataFrame:
    """Return the correlation over paradigms of every two models' accuracies, and of each with people's.

    `human_accuracies` has the columns paradigm and accuracy (0 to 1), and `who` where there are several. Intervals are
    bootstraps over paradigms, none under 10.

    Fewer than two columns to correlate are a `DataError`.

    >>> shares = {"a": [0.5, 0.6, 0.9], "b": [0.4, 0.9, 1.0]}
    >>> rows = [(m, "p", "npi", f"p{k}", "lp", share) for m, row in shares.items() for k, share in enumerate(row)]
    >>> accuracies = pd.DataFrame(rows, columns=["model", "protocol", "phenomenon", "paradigm", "measure", "accuracy"])
    >>> compute_accuracy_correlations(accuracies)[["model_a", "model_b", "n_paradigms", "pearson"]].round(2).to_numpy().tolist()
    [['a (p)', 'b (p)', 3, 0.8]]
    """
    paradigms = accuracies[~accuracies["paradigm"].isin([MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS])]
    rows = []
    for measure, measure_rows in paradigms.groupby("measure", sort=False):
        columns = {
            f"{model} ({protocol})": part.set_index("paradigm")["accuracy"]
            for (model, protocol), part in measure_rows.groupby(MODEL_KEY, sort=False)
        }
        if human_accuracies is not None:
            human_groups = human_accuracies.assign(who=human_accuracies.get("who", HUMAN_SOURCE)).groupby("who", sort=False)
            human_columns = {str(who): part.set_index("paradigm")["accuracy"] for who, part in human_groups}
            columns = {**human_columns, **columns}
        for a, b in itertools.combinations(columns, 2):
            rows.append({"measure": measure, "model_a": a, "model_b": b} | _correlate(columns[a], columns[b], seed))
    if not rows:
        raise DataError("table accuracy has one model and there are no people; expected two to correlate")
    return check(pd.DataFrame(rows, columns=TABLES["accuracy_correlations"].column_names), "accuracy_correlations")


def _correlate(a: "pd.Series[float]", b: "pd.Series[float]", seed: int) -> dict[str, object]:
    from scipy import stats

    both = pd.concat([a, b], axis=1, join="inner", keys=["a", "b"]).astype("float64").dropna()
    row: dict[str, object] = {"n_paradigms": len(both)}
    if len(both) < 3 or both["a"].nunique() < 2 or both["b"].nunique() < 2:
        return row | {"note": "No correlation: fewer than 3 common paradigms, or one side is the same on all."}
    x, y = both["a"].to_numpy(), both["b"].to_numpy()
    low, high = correlation_interval(x, y, both.index, ranks=False, seed=seed)
    row |= {"pearson": stats.pearsonr(x, y).statistic, "ci_low": low, "ci_high": high, "spearman": stats.spearmanr(x, y).statistic}
    return row | {"note": f"No interval: {len(both)} paradigms, under {MIN_UNITS}." if len(both) < MIN_UNITS else ""}


def compute_human_accuracies(choices: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return people's accuracy (0 to 1) on each paradigm, from the tables choice_agreement and rating_scores.

    Of a paradigm in forced choice, the share of single choices of the grammatical member (as BLiMP's figures for people,
    doi 10.1162/tacl_a_00321); of others, the share of pairs whose grammatical member has the higher mean z, ties half. Where there
    are several prompts of choices, or of ratings, each stands by itself: `who` is "people" with the prompt in brackets.
    """
    choice_shares = choices.loc[choices["paradigm"] != ALL_PHENOMENA, ["prompt", "paradigm", "individual"]].rename(
        columns={"individual": "accuracy"}
    )
    rated = ratings[ratings["role"] == "target"].dropna(subset="z")
    means = rated.pivot_table("z", ["prompt", "paradigm", "item"], "condition")
    means = means.reindex(columns=["grammatical", "ungrammatical"])
    gap = (means["grammatical"] - means["ungrammatical"]).dropna()
    shares = ((gap > 0) + (gap == 0) / 2).groupby(["prompt", "paradigm"]).mean().rename("accuracy").reset_index()
    if list_prompts(choice_shares) == list_prompts(shares) == [None]:
        both, who = ([choice_shares, shares[~shares["paradigm"].isin(choice_shares["paradigm"])]], lambda prompt: HUMAN_SOURCE)
    else:
        both, who = [choice_shares, shares], lambda prompt: HUMAN_SOURCE + format_prompt_suffix(prompt)
    human_accuracies = pd.concat([frame for frame in both if len(frame)] or [choice_shares], ignore_index=True)
    human_accuracies = human_accuracies.assign(who=human_accuracies["prompt"].map(who))[["who", "paradigm", "accuracy"]]
    return human_accuracies.drop_duplicates(["who", "paradigm"])


def compute_accuracy_bins(pairs: pd.DataFrame, scores: pd.DataFrame | None = None, *, bins: int = 5) -> pd.DataFrame:
    """Return accuracy by confidence, and with `scores` by length, perplexity and log-probability, in equal shares of pairs.

    Confidence is the absolute difference of the members' scores (nats); the others are of the grammatical member: tokens,
    exp(-lp / tokens), and lp. Intervals are Wilson's (doi 10.1080/01621459.1927.10502953) and treat pairs as
    independent. Equal values stay in one bin.

    A pair without a row in `scores` is a `DataError`, fewer than one bin a `ValueError`.

    >>> rows = [("m", "p", "npi", "ever", f"i{k}", "lp", -1.0, -2.0 - k, k != 1, False) for k in range(4)]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> table = compute_accuracy_bins(pd.DataFrame(rows, columns=names), bins=2)
    >>> table[["bin_low", "bin_high", "n_pairs", "accuracy"]].to_numpy().tolist()
    [[1.0, 2.0, 2.0, 0.5], [3.0, 4.0, 2.0, 1.0]]
    """
    if bins < 1:
        raise ValueError(f"{bins} bins; expected 1 or more")
    merged_pairs = pairs if scores is None else _add_scores(pairs, scores)
    merged_pairs = merged_pairs.assign(won=compute_wins(pairs).to_numpy())
    rows: list[dict[str, object]] = []
    for (model, protocol, measure), model_pairs in merged_pairs.groupby([*MODEL_KEY, "measure"], sort=False):
        for predictor, values in _list_predictors(model_pairs):
            row = {"model": model, "protocol": protocol, "measure": measure, "predictor": predictor}
            rows += [row | part for part in _compute_bins(values, model_pairs, bins)]
    return check(pd.DataFrame(rows, columns=TABLES["accuracy_bins"].column_names), "accuracy_bins")


def _list_predictors(pairs: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    yield "confidence", (pairs["score_grammatical"] - pairs["score_ungrammatical"]).mask(pairs["tie"], 0.0).abs()
    if "n_tokens" in pairs:
        tokens, lp = pairs["n_tokens"].astype("float64"), pairs["lp"].astype("float64")
        yield "length", tokens
        yield "perplexity", (-lp / tokens).clip(upper=700).map(math.exp)
        yield "lp", lp


def _compute_bins(values: "pd.Series[float]", pairs: pd.DataFrame, bins: int) -> Iterable[dict[str, object]]:
    import numpy as np

    finite = values.replace([float("inf"), -float("inf")], float("nan")).dropna()
    if finite.empty:
        return
    shares = finite.rank(method="max") / len(finite)
    which = np.ceil(shares * bins).astype("int64")
    for number, (_, part) in enumerate(finite.groupby(which, sort=True)):
        rows = pairs.loc[part.index]
        low, high = wilson_interval(pd.Series([rows["won"].sum()]), pd.Series([len(rows)]))
        yield {
            "bin": number, "bin_low": part.min(), "bin_high": part.max(), "mean_value": part.mean(), "n_pairs": len(rows),
            "n_ties": int(rows["tie"].sum()), "accuracy": rows["won"].mean(), "wilson_low": low[0], "wilson_high": high[0],
        }  # fmt: skip
