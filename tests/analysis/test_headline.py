"""Which model is the headline: the one with slopes wherever the data allow it."""

import pandas as pd
import pytest

from gardenpath.analysis.modelling.headline import headline, is_intercepts_form

NAN = float("nan")


def pair(**slopes: object) -> pd.DataFrame:
    """Return two terms of a model with intercepts and of the one with slopes, whose rows are changed by `slopes`."""
    place = {"phenomenon": "npi", "measure": "z", "region": "sentence", "prompt": None}
    row = {**place, "estimate": 0.3, "p": 0.01, "converged": True, "singular": False}
    rows = [row | {"random": "intercepts", "term": term} for term in ("intercept", "grammaticality")]
    return pd.DataFrame(rows + [each | {"random": "slopes"} | slopes for each in rows])


@pytest.mark.parametrize(
    ("slopes", "chosen"),
    [
        ({}, "slopes"),
        ({"singular": True}, "slopes"),
        ({"converged": False}, "intercepts"),
        ({"estimate": NAN, "p": NAN, "converged": False}, "intercepts"),
        ({"p": NAN}, "intercepts"),
    ],
)
def test_the_model_with_slopes_is_the_headline_where_the_data_allow_it(slopes: dict, chosen: str) -> None:
    table = pair(**slopes)
    assert set(table.loc[headline(table), "random"]) == {chosen}
    assert headline(table).sum() == 2, "all terms of one model"
    assert set(table.loc[is_intercepts_form(table), "random"]) == ({"intercepts"} if chosen == "slopes" else set())


def test_each_place_has_a_headline_of_its_own() -> None:
    failed = pair(estimate=NAN, p=NAN, converged=False).assign(region="critical", measure="log_rt")
    table = pd.concat([pair(), failed, pair().assign(prompt="sense")], ignore_index=True)
    chosen = table[headline(table)]
    assert chosen["random"].to_list() == ["slopes", "slopes", "intercepts", "intercepts", "slopes", "slopes"]


def test_a_model_that_stands_alone_is_its_own_headline() -> None:
    declared = pair().query("random == 'slopes'").assign(random="declared")
    assert headline(declared).all()
    assert not is_intercepts_form(declared).any()
    failed = pair(estimate=NAN, p=NAN, converged=False).query("random == 'slopes'")
    assert headline(failed).all()


def test_a_term_that_is_dropped_from_the_model_with_slopes_does_not_split_it() -> None:
    table = pair()
    dropped = (table["random"] == "slopes") & (table["term"] == "intercept")
    table.loc[dropped, ["estimate", "p"]] = NAN
    assert headline(table).to_list() == [False, False, True, True]


def test_an_empty_table_has_no_headline() -> None:
    assert headline(pair().iloc[:0]).empty
