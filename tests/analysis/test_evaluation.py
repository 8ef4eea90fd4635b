"""Accuracy of language models and its Wilson intervals, against scipy and by hand."""

import pandas as pd
import pytest
from scipy.stats import binomtest

from gardenpath.analysis import accuracy
from gardenpath.analysis.evaluation import wilson
from gardenpath.study import TABLES, DataError, check


def pairs(outcomes: dict[str, str], measure: str = "lp", model: str = "m") -> pd.DataFrame:
    """Return pairs from paradigm to a string of + (correct), - (wrong) and = (tie)."""
    rows = [
        (model, "causal", f"{paradigm} phenomenon", paradigm, f"{paradigm}-{k}", measure, -20.0,
         -20.0 - "-=+".index(sign) + 1, sign == "+", sign == "=")
        for paradigm, signs in outcomes.items() for k, sign in enumerate(signs)
    ]  # fmt: skip
    return check(pd.DataFrame(rows, columns=TABLES["pairs"].names), "pairs")


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (7, 10), (1, 1), (520, 1000)])
def test_wilson_intervals_are_scipys(k: int, n: int) -> None:
    low, high = wilson(pd.Series([k]), pd.Series([n]))
    reference = binomtest(k, n).proportion_ci(method="wilson")
    assert (low[0], high[0]) == (pytest.approx(reference.low, abs=1e-12), pytest.approx(reference.high, abs=1e-12))


def test_a_tie_is_half_a_success() -> None:
    row = accuracy(pairs({"a": "++=-"})).iloc[0]
    assert (row["n"], row["ties"], row["accuracy"]) == (4, 1, 0.625)
    low, high = wilson(pd.Series([2.5]), pd.Series([4]))
    assert (row["wilson_low"], row["wilson_high"]) == (low[0], high[0])


def test_a_tie_is_no_whole_success_even_where_it_is_called_correct() -> None:
    tied = pairs({"a": "=="}).assign(correct=True)
    assert accuracy(tied)["accuracy"].to_list() == [0.5, 0.5, 0.5]


def test_the_mean_weighs_paradigms_alike_and_the_pool_weighs_pairs_alike() -> None:
    table = accuracy(pairs({"a": "+" * 9 + "-", "b": "--"})).set_index("paradigm")
    assert table.loc["mean", "accuracy"] == pytest.approx((0.9 + 0.0) / 2)
    assert table.loc["pooled", "accuracy"] == pytest.approx(9 / 12)
    assert table.loc[["mean", "pooled"], "n"].to_list() == [12, 12]
    assert table.loc["mean", ["wilson_low", "wilson_high"]].isna().all()


def test_models_and_measures_stay_apart() -> None:
    table = accuracy(pd.concat([pairs({"a": "++"}), pairs({"a": "--"}, "mean_lp"), pairs({"a": "+-"}, model="n")]))
    pooled = table[table["paradigm"] == "pooled"].set_index(["model", "measure"])["accuracy"]
    assert pooled.to_dict() == {("m", "lp"): 1.0, ("m", "mean_lp"): 0.0, ("n", "lp"): 0.5}


def test_no_pairs_are_a_sentence() -> None:
    with pytest.raises(DataError, match="table pairs has no rows"):
        accuracy(pairs({"a": "+"}).head(0))
