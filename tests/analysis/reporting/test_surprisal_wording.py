"""Sentences about surprisal: signs, counts and directions as the tables have them, and no claim where there is none."""

import pandas as pd
import pytest

from gardenpath.analysis.reporting.wording import surprisal

NAN = float("nan")
SLOPE = {
    "model": "m", "protocol": "causal", "estimate": 0.5, "se": 0.1, "df": 51.2, "t": 5.0, "p": 0.00001, "ci_low": 0.3,
    "ci_high": 0.7,
}  # fmt: skip


def test_the_verdict_of_the_self_test_comes_with_its_statistics() -> None:
    tested = pd.DataFrame([{
        "model": "m", "protocol": "p", "verdict": "passed", "estimate": -0.001, "se": 0.002, "df": 1e9, "t": -0.5, "p": 0.61,
        "largest": 0.02, "note": "The next word's surprisal adds nothing (p >= .01), as it must be.",
    }])  # fmt: skip
    profile = pd.DataFrame({"model": "m", "protocol": "p", "lag": [-1, 0], "estimate": [0.0, 0.02]})
    assert surprisal.alignment_test(tested, profile) == [
        "m (p) passed the alignment self-test. The next word's surprisal adds nothing (p ≥ .01), as it must be (b = −0.0010, "
        "95% CI [−0.0049, 0.0029], t(1000000000.0) = −0.50, p = .610; largest slope of lags 0 to 2: 0.02). Of lags −2 to 3 in "
        "one model, the largest slope is at lag 0."
    ]
    untested = tested.assign(verdict="untested", p=NAN, note="Not tested: no rows.")
    assert surprisal.alignment_test(untested, profile.head(0)) == [
        "m (p) could not be put to the alignment self-test. Not tested: no rows."
    ]


def test_predictors_that_hang_together_are_named() -> None:
    table = pd.DataFrame(
        [("surprisal", "zipf", -0.7, 3.0), ("surprisal", "length", 0.4, 3.0), ("zipf", "surprisal", -0.7, 4.5)],
        columns=["predictor", "other", "r", "vif"],
    ).assign(model="m", protocol="p")
    assert surprisal.collinearity(table) == [
        "m (p): surprisal correlates most with zipf (r = −.70); the largest variance inflation is 4.5, of zipf."
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"estimate": 0.02}, "a word is read 2% longer for each bit of its surprisal"),
        ({"estimate": -0.02}, "2% shorter"),
        ({"term": "surprisal_previous", "estimate": 0.02}, "for each bit of the surprisal of the word before"),
        ({"p": 0.3}, "the data give no evidence for an effect of its surprisal"),
    ],
)
def test_a_slope_says_percent_per_bit(change: dict, said: str) -> None:
    row = SLOPE | {"term": "surprisal"} | change
    assert said in surprisal.slopes(pd.DataFrame([row]))[0]
