"""The models of grammaticality: coding, correction, and phenomena that cannot be fitted."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse, phenomenon_models, rating_scores, region_times
from gardenpath.analysis.contrasts import adjusted, minimal_pairs
from gardenpath.study import check

Tables = dict[str, pd.DataFrame]
Simulate = Callable[..., Tables]


def models(tables: Tables) -> pd.DataFrame:
    scores = rating_scores(tables["responses"], tables["items"])
    return phenomenon_models(scores, region_times(tables["readings"], tables["items"]), tables["items"])


def test_benjamini_hochberg_is_over_the_phenomena_of_one_measure() -> None:
    p = {"z": [0.01, 0.04, 0.03, 0.005], "log_rt": [0.04, 0.5]}
    rows = [(m, "grammaticality", value) for m, values in p.items() for value in values] + [("z", "intercept", 0.001)]
    table = adjusted(pd.DataFrame(rows, columns=["measure", "term", "p"]))
    # z by hand: .005*4/1, .01*4/2, .03*4/3, .04*4/4 = .02 .02 .04 .04; log_rt: .04*2/1 and .5*2/2
    np.testing.assert_allclose(table["p_bh"], [0.02, 0.04, 0.04, 0.02, 0.08, 0.5, np.nan])


def test_the_coefficient_is_grammatical_minus_ungrammatical(tables: Tables) -> None:
    found = models(tables).set_index(["phenomenon", "measure", "term"])["estimate"]
    assert found[("agreement", "z", "grammaticality")] > 0
    assert found[("agreement", "log_rt", "grammaticality")] < 0
    mean = region_times(tables["readings"], tables["items"]).query("phenomenon == 'agreement'")["log_rt"].mean()
    assert found[("agreement", "log_rt", "intercept")] == pytest.approx(mean, abs=0.05)


def test_known_effects_on_reading_times_are_recovered(simulate: Simulate) -> None:
    tables = simulate(participants=60, items=16, seed=7)
    rows = models(tables).query("term == 'grammaticality'")
    times = rows[rows["measure"] == "log_rt"]
    assert ((times["ci_low"] < -0.08) & (times["ci_high"] > -0.08)).all()
    ratings = rows[rows["measure"] == "z"].set_index("phenomenon")
    assert ratings.loc["agreement", "estimate"] > ratings.loc["islands", "estimate"] > 0.2
    assert ratings.loc["null effect", "p_bh"] > 0.05
    assert (ratings.drop("null effect")["p_bh"] < 0.001).all()


def test_only_paradigms_of_grammatical_and_ungrammatical_enter(tables: Tables) -> None:
    items = tables["items"].assign(
        condition=tables["items"]["condition"].where(tables["items"]["paradigm"] != "islands 1", "object")
    )
    items = items.drop_duplicates(["item", "condition"])
    assert minimal_pairs(items) == ["agreement 1", "null effect 1"]


def test_without_minimal_pairs_the_table_is_empty_but_whole(tables: Tables) -> None:
    factorial = {"grammatical": "subject", "ungrammatical": "object"}
    renamed = {name: tables[name].replace({"condition": factorial}) for name in ("items", "readings", "responses")}
    found = analyse(renamed["readings"], renamed["responses"], tables["sessions"], renamed["items"])
    assert found["phenomenon_models"].empty
    assert set(found["condition_means"]["condition"]) == {"subject", "object"}


def test_a_phenomenon_that_cannot_be_fitted_keeps_a_row_that_says_why(tables: Tables) -> None:
    one = {name: tables[name] for name in ("readings", "responses", "items")}
    for name in ("readings", "responses"):
        one[name] = one[name][one[name]["participant"] == "P00"]
    table = check(models(one), "phenomenon_models")
    assert table["estimate"].isna().all()
    assert table["note"].str.startswith("Not fitted: there is only one participant (P00)").all()


def test_fillers_shape_z_but_are_not_in_the_models(tables: Tables) -> None:
    responses = tables["responses"].copy()
    responses.loc[responses["paradigm"] == "islands 1", "role"] = "filler"
    found = models(tables | {"responses": responses}).query("measure == 'z'")
    assert set(found["phenomenon"]) == {"agreement", "null effect"}
