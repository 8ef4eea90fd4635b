"""Models against models, against R, enumeration and plain loops."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import (
    compute_accuracy,
    compute_accuracy_bins,
    compute_accuracy_correlations,
    compute_group_differences,
    compute_length_bias,
    compute_model_comparisons,
    compute_proportion_tests,
    compute_rankings,
    difference_figure,
)
from gardenpath.analysis.comparing.all_comparisons import ComparisonData, compute_comparisons
from gardenpath.analysis.comparing.model_comparison import compute_human_accuracies
from gardenpath.analysis.intervals import mean_interval, wilson_interval
from gardenpath.study import TABLES, DataError, check

from .conftest import sentence_scores

GAP = {"+": 1.0, "-": -1.0, "=": 0.0}


def pairs(outcomes: dict[str, str], model: str = "a", measure: str = "lp") -> pd.DataFrame:
    """Return pairs from paradigm to a string of + (won), - (lost) and = (tie)."""
    rows = [
        (model, "causal", paradigm[0], paradigm, f"{paradigm}-{k}", measure, -20.0, -20.0 - GAP[sign] * (1 + k),
         sign == "+", sign == "=")
        for paradigm, signs in outcomes.items() for k, sign in enumerate(signs)
    ]  # fmt: skip
    return check(pd.DataFrame(rows, columns=TABLES["pairs"].column_names[:-1]), "pairs")


def drawn(seed: int, paradigms: int, n: int, level: float, model: str) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    signs = {f"p{k:02}": "".join(rng.choice(list("+-="), n, p=[level, 0.95 - level, 0.05])) for k in range(paradigms)}
    return pairs(signs, model)


def test_two_of_several_models_meet_on_the_pairs_that_both_were_given() -> None:
    rng = np.random.default_rng(5)
    whole = pd.concat([drawn(k, 3, 40, 0.5 + k / 10, model) for k, model in enumerate("abcd")], ignore_index=True)
    given = whole[rng.random(len(whole)) < 0.8].sample(frac=1, random_state=1)
    table = compute_model_comparisons(given).set_index(["model_a", "model_b"])
    by_model = {m: {r.item: (r.correct, r.tie) for r in rows.itertuples()} for m, rows in given.groupby("model")}
    assert len(table) == 6
    for (a, b), row in table.iterrows():
        n = ties = a_only = b_only = 0
        for item, (correct, tie) in by_model[a].items():
            if item in by_model[b]:
                other, other_tie = by_model[b][item]
                n += 1
                ties += tie or other_tie
                a_only += correct and not other and not tie and not other_tie
                b_only += other and not correct and not tie and not other_tie
        assert (row["n_pairs"], row["n_ties"], row["n_only_a"], row["n_only_b"]) == (n, ties, a_only, b_only)
    with pytest.raises(DataError, match=r"item 'p00-0' has several rows of a by lp; expected one"):
        compute_model_comparisons(pd.concat([whole, whole[:1]]))


def exact(more: int, less: int) -> float:
    """McNemar's exact p by enumeration, in whole numbers."""
    n, k = more + less, min(more, less)
    return float(min(Fraction(1), Fraction(2 * sum(math.comb(n, i) for i in range(k + 1)), 2**n)))


def test_mcnemar_counts_what_one_model_wins_alone_and_drops_ties() -> None:
    one, other = pairs({"p": "++++++-=+="}), pairs({"p": "+----=++-="}, "b")
    row = compute_model_comparisons(pd.concat([one, other])).iloc[0]
    assert row[["n_pairs", "n_ties", "n_only_a", "n_only_b"]].to_list() == [10, 3, 5, 1]
    assert row["mcnemar_p"] == pytest.approx(exact(5, 1), abs=1e-12)
    assert (row["accuracy_a"], row["accuracy_b"]) == (0.8, 0.4)
    assert row["difference"] == pytest.approx(0.4)


@pytest.mark.r
def test_mcnemar_is_rs_binomial_test(rscript: Callable[..., pd.DataFrame]) -> None:
    both = pd.concat([drawn(1, 12, 40, 0.8, "a"), drawn(2, 12, 40, 0.7, "b")])
    row = compute_model_comparisons(both).iloc[0]
    theirs = rscript(
        """
        a <- pairs[pairs$model == "a", ]; b <- pairs[pairs$model == "b", ]
        stopifnot(all(a$item == b$item))
        clear <- a$tie == "False" & b$tie == "False"
        better <- sum(clear & a$correct == "True" & b$correct == "False")
        worse <- sum(clear & a$correct == "False" & b$correct == "True")
        result <- data.frame(p = binom.test(better, better + worse)$p.value, better, worse)
        """,
        pairs=both,
    ).iloc[0]
    assert row[["n_only_a", "n_only_b"]].to_list() == theirs[["better", "worse"]].to_list()
    assert row["mcnemar_p"] == pytest.approx(theirs["p"], rel=1e-9)


def test_the_paired_bootstrap_is_the_plain_loop() -> None:
    both = pd.concat([drawn(1, 4, 30, 0.8, "a"), drawn(2, 4, 30, 0.6, "b")])
    row = compute_model_comparisons(both).iloc[0]
    gains = (accuracy_by_hand(both.query("model == 'a'")) - accuracy_by_hand(both.query("model == 'b'")).to_numpy()).to_numpy()
    rng = np.random.default_rng(3)
    means = [float(np.mean([gains[rng.integers(len(gains))] for _ in gains])) for _ in range(3000)]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.012)
    assert row["note"] == "No test over paradigms: 4, under 10."
    assert row[["flip_p", "flip_p_holm", "paradigm_ci_low", "paradigm_ci_high", "min_flip_p"]].isna().all()


def accuracy_by_hand(rows: pd.DataFrame) -> "pd.Series[float]":
    return pd.Series([0.5 if r.tie else float(r.correct) for r in rows.itertuples()], index=rows.index)


def test_paradigms_weigh_alike_and_their_signs_are_flipped() -> None:
    signs = {f"p{k:02}": "+" * (k + 1) for k in range(11)}
    lost = {name: "-" * len(won) if name != "p03" else "+" * len(won) for name, won in signs.items()}
    row = compute_model_comparisons(pd.concat([pairs(signs), pairs(lost, "b")])).iloc[0]
    assert row["paradigm_difference"] == pytest.approx(10 / 11)
    assert row["flip_p"] == 4 / 2**11  # all ten the same way, the eleventh is nought either way
    assert row["min_flip_p"] == 2 / 2**11
    assert row["paradigm_ci_low"] < 10 / 11 <= row["paradigm_ci_high"]


def test_holm_runs_over_pairs_of_models_within_a_measure() -> None:
    three = [drawn(k, 12, 30, level, model) for k, (model, level) in enumerate((("a", 0.9), ("b", 0.8), ("c", 0.78)))]
    table = compute_model_comparisons(pd.concat([*three, pairs({"p": "++"}, measure="slor"), pairs({"p": "+-"}, "b", "slor")]))
    lp = table[table["measure"] == "lp"]
    assert len(lp) == 3
    for name in ("mcnemar", "flip"):
        p = lp[f"{name}_p"].to_list()
        order = np.argsort(p, kind="stable")
        expected, highest = [0.0] * 3, 0.0
        for place, k in enumerate(order):
            highest = max(highest, min(1.0, p[k] * (3 - place)))
            expected[k] = highest
        assert lp[f"{name}_p_holm"].to_list() == pytest.approx(expected)
    slor = table[table["measure"] == "slor"].iloc[0]
    assert slor["mcnemar_p_holm"] == slor["mcnemar_p"]


def test_one_model_and_no_common_pairs_are_sentences() -> None:
    with pytest.raises(DataError, match="expected two models or more to compare"):
        compute_model_comparisons(pairs({"p": "+-"}))
    row = compute_model_comparisons(pd.concat([pairs({"p": "+-"}), pairs({"q": "++"}, "b")])).iloc[0]
    assert (row["n_pairs"], row["note"]) == (0, "No pair was given to both models.")
    same = compute_model_comparisons(pd.concat([pairs({"p": "+-"}), pairs({"p": "+-"}, "b")])).iloc[0]
    assert (same["mcnemar_p"], same["difference"]) == (1, 0)


def test_few_values_have_no_interval() -> None:
    assert all(math.isnan(end) for end in mean_interval([1.0] * 9, seed=1))


@pytest.mark.r
def test_proportions_are_rs_prop_test(rscript: Callable[..., pd.DataFrame]) -> None:
    given = drawn(5, 6, 50, 0.8, "a")
    given = given[~given["tie"]]
    groups = {item: "hand-made" if item < "p02" else "generated" for item in given["item"]}
    row = compute_proportion_tests(given, groups).iloc[0]
    theirs = rscript(
        """
        test <- prop.test(c(counts$won), c(counts$n), correct = FALSE)
        result <- data.frame(z = unname(sqrt(test$statistic)), p = test$p.value)
        """,
        counts=pd.DataFrame(
            {"won": [row[f"accuracy_{g}"] * row[f"n_{g}"] for g in "ab"], "n_pairs": [row[f"n_{g}"] for g in "ab"]}
        ),
    ).iloc[0]
    assert (abs(row["z"]), row["p"]) == (pytest.approx(theirs["z"], rel=1e-9), pytest.approx(theirs["p"], rel=1e-9))


def test_proportions_need_two_groups_and_a_group_for_each_item() -> None:
    given = pairs({"p": "+-"})
    with pytest.raises(DataError, match="item 'p-1' has no group"):
        compute_proportion_tests(given, {"p-0": "small"})
    with pytest.raises(DataError, match=r"in 1 group\(s\) \(small\); expected two"):
        compute_proportion_tests(given, {"p-0": "small", "p-1": "small"})
    row = compute_proportion_tests(pairs({"p": "++"}), {"p-0": "small", "p-1": "large"}).iloc[0]
    assert row[["z", "p"]].isna().all()


def test_models_are_ranked_by_their_mean_over_paradigms() -> None:
    given = [pairs({"p": "+-", "q": "++"}), pairs({"p": "++", "q": "++"}, "b"), pairs({"p": "-+", "q": "++"}, "c")]
    table = compute_rankings(compute_accuracy(pd.concat([*given, pairs({"p": "+"}, measure="slor")])))
    assert table[["measure", "model", "accuracy", "model_rank"]].to_numpy().tolist() == [
        ["lp", "b", 1.0, 1.0], ["lp", "a", 0.75, 2.5], ["lp", "c", 0.75, 2.5], ["slor", "a", 1.0, 1.0],
    ]  # fmt: skip


def scored(given: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Return sentence scores for the pairs: tokens and lp of each member."""
    rng = np.random.default_rng(seed)
    rows = []
    for pair in given.drop_duplicates(["model", "item"]).itertuples():
        for condition in ("grammatical", "ungrammatical"):
            tokens = int(rng.integers(4, 12))
            row = {"model": pair.model, "protocol": pair.protocol, "item": pair.item, "condition": condition}
            rows.append(row | {"n_tokens": tokens, "n_unknown_tokens": 0, "n_windows": 1, "lp": -3.0 * tokens - rng.random()})
    return sentence_scores(pd.DataFrame(rows))


@pytest.mark.r
def test_length_bias_is_rs_correlation_test(rscript: Callable[..., pd.DataFrame]) -> None:
    given = drawn(7, 5, 40, 0.7, "a")
    scores = scored(given)
    row = compute_length_bias(given, scores).iloc[0]
    tokens = scores.set_index(["item", "condition"])["n_tokens"]
    kept = [r for r in given.itertuples() if not r.tie]
    points = pd.DataFrame(
        {
            "won": [int(r.correct) for r in kept],
            "longer": [tokens[r.item, "grammatical"] - tokens[r.item, "ungrammatical"] for r in kept],
        }
    )
    theirs = rscript(
        "test <- cor.test(points$won, points$longer); result <- data.frame(r = test$estimate, p = test$p.value)", points=points
    ).iloc[0]
    assert (row["r"], row["p"]) == (pytest.approx(theirs["r"], abs=1e-12), pytest.approx(theirs["p"], abs=1e-12))
    assert (row["n_pairs"], row["n_ties"]) == (len(kept), int(given["tie"].sum()))
    assert row["mean_difference"] == pytest.approx(points["longer"].mean())
    assert row["n_unequal"] == (points["longer"] != 0).sum()


def test_a_bias_that_cannot_be_computed_says_why() -> None:
    row = compute_length_bias(pairs({"p": "++++"}), scored(pairs({"p": "++++"}))).iloc[0]
    assert math.isnan(row["r"])
    assert row["note"] == "No correlation: all pairs are won, or all are lost."
    even = compute_length_bias(pairs({"p": "++-"}), scored(pairs({"p": "++-"})).assign(n_tokens=7)).iloc[0]
    assert even["note"] == "No correlation: members differ by one number of tokens in all pairs."
    with pytest.raises(DataError, match=r"item p-0: a \(causal\) has no row for both members in table sentence_scores"):
        compute_length_bias(pairs({"p": "+"}), scored(pairs({"q": "+"})))


def test_models_and_people_correlate_over_paradigms() -> None:
    table = compute_accuracy(pd.concat([drawn(1, 12, 20, 0.7, "a"), drawn(2, 12, 20, 0.7, "b")]))
    own = table[~table["paradigm"].isin(["mean", "pooled"])]
    a, b = (own[own["model"] == model].set_index("paradigm")["accuracy"] for model in "ab")
    people = pd.DataFrame({"paradigm": a.index, "accuracy": np.linspace(0.5, 1, 12)})
    found = compute_accuracy_correlations(table, people).set_index(["model_a", "model_b"])
    assert list(found.index) == [("people", "a (causal)"), ("people", "b (causal)"), ("a (causal)", "b (causal)")]
    row = found.loc[("a (causal)", "b (causal)")]
    assert row["pearson"] == pytest.approx(np.corrcoef(a, b[a.index])[0, 1], abs=1e-12)
    assert row["spearman"] == pytest.approx(np.corrcoef(stats.rankdata(a), stats.rankdata(b[a.index]))[0, 1], abs=1e-12)
    rng, x, y = np.random.default_rng(9), a.to_numpy(), b[a.index].to_numpy()
    loop = [np.corrcoef(x[k], y[k])[0, 1] for k in (rng.integers(0, 12, 12) for _ in range(4000))]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(np.nanquantile(loop, [0.025, 0.975])), abs=0.05)
    few = compute_accuracy_correlations(compute_accuracy(pd.concat([drawn(1, 4, 9, 0.7, "a"), drawn(2, 4, 9, 0.7, "b")]))).iloc[0]
    assert few["note"] == "No interval: 4 paradigms, under 10."
    with pytest.raises(DataError, match="expected two to correlate"):
        compute_accuracy_correlations(compute_accuracy(pairs({"p": "+"})))


def test_people_are_as_often_right_as_they_chose_or_rated_the_grammatical_member_higher() -> None:
    choices = pd.DataFrame({"prompt": "better", "paradigm": ["all", "chosen"], "individual": [0.9, 0.75]})
    rated = [
        ("chosen", "c1", 1.0, -1.0),
        ("rating_measure", "i1", 1.0, -1.0),
        ("rating_measure", "i2", -0.5, 0.5),
        ("rating_measure", "i3", 0.2, 0.2),
    ]
    rows = [
        (paradigm, item, condition, z + off, "target")
        for paradigm, item, *both in rated
        for condition, z in zip(("grammatical", "ungrammatical"), both, strict=True)
        for off in (-0.1, 0.1)
    ]
    rows += [("rating_measure", "i4", "grammatical", 1.0, "target"), ("filled", "i5", "grammatical", 1.0, "filler")]
    ratings = pd.DataFrame(rows, columns=["paradigm", "item", "condition", "z", "role"]).assign(prompt="good")
    found = compute_human_accuracies(choices, ratings).set_index("paradigm")["accuracy"].to_dict()
    assert found == {"chosen": 0.75, "rating_measure": 0.5}
    # Under a second prompt all pairs are rated the other way round: each prompt then stands by itself.
    both = pd.concat([ratings, ratings.assign(prompt="likely", z=-ratings["z"])])
    several = compute_human_accuracies(choices, both)
    assert several.to_numpy().tolist() == [
        ["people (better)", "chosen", 0.75],
        ["people (good)", "chosen", 1.0],
        ["people (good)", "rating_measure", 0.5],
        ["people (likely)", "chosen", 0.0],
        ["people (likely)", "rating_measure", 0.5],
    ]
    table = compute_comparisons(
        pairs({f"p{k}": "+" * (k + 1) + "-" * (5 - k) for k in range(4)}), ComparisonData(human_accuracies=people_of(4))
    )
    assert table["accuracy_correlations"][["model_a", "model_b", "n_paradigms"]].to_numpy().tolist() == [
        ["people", "a (causal)", 4]
    ]
    assert "model_comparisons" not in table


def people_of(n: int) -> pd.DataFrame:
    return pd.DataFrame({"paradigm": [f"p{k}" for k in range(n)], "accuracy": np.linspace(0.6, 0.9, n)})


def test_bins_hold_equal_shares_and_their_own_accuracy() -> None:
    given = drawn(4, 5, 40, 0.7, "a")
    scores = scored(given)
    table = compute_accuracy_bins(given, scores, bins=4)
    assert table["predictor"].unique().tolist() == ["confidence", "length", "perplexity", "lp"]
    assert table.groupby("predictor")["n_pairs"].sum().eq(200).all()
    good = scores[scores["condition"] == "grammatical"].set_index("item")
    lp = given["item"].map(good["lp"])
    ordered = given.assign(value=lp).sort_values("value", kind="stable")
    for number in range(4):
        row = table[(table["predictor"] == "lp") & (table["bin"] == number)].iloc[0]
        part = ordered.iloc[50 * number : 50 * (number + 1)]
        assert row[["n_pairs", "bin_low", "bin_high"]].to_list() == [50, part["value"].min(), part["value"].max()]
        assert row["accuracy"] == pytest.approx(accuracy_by_hand(part).mean())
        assert row["wilson_low"] == wilson_interval(pd.Series([accuracy_by_hand(part).sum()]), pd.Series([50]))[0][0]
    lengths = table[table["predictor"] == "length"]
    assert (lengths["bin_low"].to_numpy()[1:] > lengths["bin_high"].to_numpy()[:-1]).all()  # equal values stay together
    perplexities = np.exp(-lp / given["item"].map(good["n_tokens"]))
    assert table.loc[table["predictor"] == "perplexity", "bin_high"].max() == pytest.approx(perplexities.max())


def test_without_scores_there_is_confidence_and_infinite_ones_are_left_out() -> None:
    given = pairs({"p": "++--=="}).assign(score_ungrammatical=[-21.0, -np.inf, -18.0, -17.0, -20.0, -20.0])
    table = compute_accuracy_bins(given, bins=2)
    assert table["predictor"].unique().tolist() == ["confidence"]
    assert table["n_pairs"].sum() == 5
    assert table["bin_low"].iloc[0] == 0
    with pytest.raises(ValueError, match="expected 1 or more"):
        compute_accuracy_bins(given, bins=0)


def by_hand_and_generated() -> tuple[pd.DataFrame, dict[str, str]]:
    """84 paradigms of 10 and 90 pairs, won as often as BLiMP-NL says of LLaMA-chat, 3.18 points apart."""
    rng = np.random.default_rng(3)
    n = {"hand": 840, "generated": 7560}
    wins = {"hand": 624, "generated": 5856}
    rows, groups = [], {}
    for group, each in (("hand", 10), ("generated", 90)):
        right = rng.permutation(np.arange(n[group]) < wins[group])
        for k, correct in enumerate(right):
            item = f"{group}-{k}"
            groups[item] = group
            rows.append(("m", "p", "f", f"p{k // each:02}", item, "lp", -2.0, -2.0 - (1 if correct else -1), correct, False))
    return check(pd.DataFrame(rows, columns=TABLES["pairs"].column_names[:-1]), "pairs"), groups


def test_the_published_z_test_is_over_paradigms() -> None:
    """z = 2.08 (p = .038) over 840 and 7,560 pairs, where the paper has every z under 0.6; 0.49 over 84 paradigms twice."""
    given, groups = by_hand_and_generated()
    table = pd.concat([compute_proportion_tests(given, groups, unit=over) for over in ("pairs", "paradigms")]).set_index(
        "test_unit"
    )
    assert table.loc["pairs", ["n_a", "n_b"]].to_list() == [7560, 840]
    assert (table.loc["pairs", "z"], table.loc["pairs", "p"]) == (pytest.approx(2.08, abs=0.01), pytest.approx(0.038, abs=1e-3))
    assert table.loc["paradigms", ["n_a", "n_b"]].to_list() == [84, 84]
    assert table.loc["paradigms", "z"] == pytest.approx(0.49, abs=0.01)
    with pytest.raises(ValueError, match="'items'; expected pairs or paradigms"):
        compute_proportion_tests(given, groups, unit="items")


def test_paradigms_with_both_groups_are_compared_within() -> None:
    given, groups = by_hand_and_generated()
    given = given[~((given["paradigm"] == "p03") & given["item"].str.startswith("hand"))]
    table = compute_group_differences(given, groups)
    won: dict[tuple[str, str], list[bool]] = {}
    for row in given.itertuples():
        won.setdefault((row.paradigm, groups[row.item]), []).append(row.correct)
    share = {key: sum(wins) / len(wins) for key, wins in won.items()}
    assert "p03" not in set(table["paradigm"])
    assert len(table) == 83
    gains = []
    for row in table.itertuples():
        gains.append(share[row.paradigm, "generated"] - share[row.paradigm, "hand"])
        assert row.difference == pytest.approx(gains[-1])
        assert (row.n_a, row.n_b) == (90, 10)
    told = compute_proportion_tests(given, groups).iloc[0]
    assert (told["n_paradigms"], told["difference"]) == (83, pytest.approx(np.mean(gains)))
    rng = np.random.default_rng(4)
    loop = [np.mean([gains[k] for k in rng.integers(0, 83, 83)]) for _ in range(3000)]
    assert (told["ci_low"], told["ci_high"]) == pytest.approx(tuple(np.quantile(loop, [0.025, 0.975])), abs=0.004)
    heights = [bar.get_height() for bar in difference_figure(table).axes[0].patches]
    assert sum(heights) == 83
    assert heights[10] == sum(-0.05 < gain <= 0.05 for gain in gains)  # the bin around no difference


def test_answers_to_prompts_are_ranked_beside_measures() -> None:
    accuracies = compute_accuracy(pd.concat([pairs({"p": "++-"}), pairs({"p": "+++"}, "b")]))
    prompted = pd.DataFrame({"model": ["a", "b"], "protocol": "causal", "n_pairs": 3, "accuracy": [0.7, 0.6]})
    table = compute_rankings(accuracies, prompted)
    places = table.set_index(["measure", "model"])["model_rank"].to_dict()
    assert places == {("lp", "b"): 1, ("lp", "a"): 2, ("prompting", "a"): 1, ("prompting", "b"): 2}
