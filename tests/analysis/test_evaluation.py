"""Accuracy of language models and its Wilson intervals, against scipy and by hand."""

import pandas as pd
import pytest
from scipy.stats import binomtest

from gardenpath.analysis import build_model_table, compute_accuracy
from gardenpath.analysis.intervals import wilson_interval
from gardenpath.study import TABLES, DataError, check


def pairs(outcomes: dict[str, str], measure: str = "lp", model: str = "m") -> pd.DataFrame:
    """Return pairs from paradigm to a string of + (correct), - (wrong) and = (tie)."""
    rows = [
        (model, "causal", f"{paradigm[0]} phenomenon", paradigm, f"{paradigm}-{k}", measure, -20.0,
         -20.0 - "-=+".index(sign) + 1, sign == "+", sign == "=")
        for paradigm, signs in outcomes.items() for k, sign in enumerate(signs)
    ]  # fmt: skip
    return check(pd.DataFrame(rows, columns=TABLES["pairs"].column_names[:-1]), "pairs")


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (7, 10), (1, 1), (520, 1000)])
def test_wilson_intervals_are_scipys(k: int, n: int) -> None:
    low, high = wilson_interval(pd.Series([k]), pd.Series([n]))
    reference = binomtest(k, n).proportion_ci(method="wilson")
    assert (low[0], high[0]) == (pytest.approx(reference.low, abs=1e-12), pytest.approx(reference.high, abs=1e-12))


def test_a_tie_is_half_a_success() -> None:
    row = compute_accuracy(pairs({"a": "++=-"})).iloc[0]
    assert (row["n_pairs"], row["n_ties"], row["accuracy"]) == (4, 1, 0.625)
    low, high = wilson_interval(pd.Series([2.5]), pd.Series([4]))
    assert (row["wilson_low"], row["wilson_high"]) == (low[0], high[0])


def test_a_tie_is_no_whole_success_even_where_it_is_called_correct() -> None:
    tied = pairs({"a": "=="}).assign(correct=True)
    assert compute_accuracy(tied)["accuracy"].to_list() == [0.5, 0.5, 0.5, 0.5]


def test_the_mean_weighs_paradigms_alike_and_the_pool_weighs_pairs_alike() -> None:
    table = compute_accuracy(pairs({"a": "+" * 9 + "-", "b": "--"})).query("phenomenon == 'all'").set_index("paradigm")
    assert table.loc["mean", "accuracy"] == pytest.approx((0.9 + 0.0) / 2)
    assert table.loc["pooled", "accuracy"] == pytest.approx(9 / 12)
    assert table.loc[["mean", "pooled"], "n_pairs"].to_list() == [12, 12]
    assert table.loc["mean", ["wilson_low", "wilson_high"]].isna().all()


def test_models_and_measures_stay_apart() -> None:
    table = compute_accuracy(pd.concat([pairs({"a": "++"}), pairs({"a": "--"}, "mean_lp"), pairs({"a": "+-"}, model="n")]))
    pooled = table.query("phenomenon == 'all' and paradigm == 'pooled'").set_index(["model", "measure"])["accuracy"]
    assert pooled.to_dict() == {("m", "lp"): 1.0, ("m", "mean_lp"): 0.0, ("n", "lp"): 0.5}


def test_a_phenomenon_pools_the_pairs_of_its_paradigms() -> None:
    table = compute_accuracy(pairs({"a1": "+" * 9 + "-", "a2": "==", "b": "--"})).query("paradigm == 'pooled'")
    rows = table.set_index("phenomenon")
    assert rows.index.to_list() == ["a phenomenon", "b phenomenon", "all"]
    assert rows.loc["a phenomenon", ["n_pairs", "n_ties", "accuracy"]].to_list() == [12, 2, 10 / 12]
    low, high = wilson_interval(pd.Series([10]), pd.Series([12]))
    assert rows.loc["a phenomenon", ["wilson_low", "wilson_high"]].to_list() == [low[0], high[0]]


def test_delta_is_the_mean_difference_and_that_of_a_tie_is_nothing() -> None:
    found = pairs({"a": "++", "b": "-="}).assign(score_grammatical=[-20.0, -20.0, -20.0, -float("inf")])
    found["score_ungrammatical"] = [-21.0, -24.0, -19.0, -float("inf")]
    rows = compute_accuracy(found).set_index(["phenomenon", "paradigm"])["delta"]
    assert rows.to_dict() == {
        ("a phenomenon", "a"): 2.5, ("b phenomenon", "b"): -0.5, ("a phenomenon", "pooled"): 2.5,
        ("b phenomenon", "pooled"): -0.5, ("all", "mean"): 1.0, ("all", "pooled"): 1.0,
    }  # fmt: skip


def test_the_table_of_models_has_a_row_for_each_phenomenon_and_a_column_for_each_model() -> None:
    given = [pairs({"a1": "+-", "a2": "++", "b": "-="}), pairs({"a1": "++", "a2": "++"}, model="n"), pairs({"b": "+"}, "slor", "n")]
    table = build_model_table(compute_accuracy(pd.concat(given)))
    assert table.columns.to_list() == ["measure", "phenomenon", "m", "n"]
    expected = [
        ["lp", "a phenomenon", 0.75, 1.0],
        ["lp", "b phenomenon", 0.25, None],
        ["lp", "mean", pytest.approx((0.5 + 1 + 0.25) / 3), 1.0],
        ["lp", "pooled", pytest.approx(3.5 / 6), 1.0],
        ["slor", "b phenomenon", None, 1.0],
        ["slor", "mean", None, 1.0],
        ["slor", "pooled", None, 1.0],
    ]
    assert table.astype(object).where(table.notna(), None).to_numpy().tolist() == expected


def test_protocols_of_one_model_stand_side_by_side() -> None:
    two = [pairs({"a": "+-"}), pairs({"a": "++"}).assign(protocol="lm-eval"), pairs({"a": "-+"}, model="n")]
    assert build_model_table(compute_accuracy(pd.concat(two))).columns.to_list()[2:] == ["m (causal)", "m (lm-eval)", "n"]


def test_no_pairs_are_a_sentence() -> None:
    with pytest.raises(DataError, match="table pairs has no rows"):
        compute_accuracy(pairs({"a": "+"}).head(0))
