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
        "largest_slope": 0.02, "note": "The next word's surprisal adds nothing (p >= .01), as it must be.",
    }])  # fmt: skip
    profile = pd.DataFrame({"model": "m", "protocol": "p", "lag": [-1, 0], "estimate": [0.0, 0.02]})
    assert surprisal.alignment_check(tested, profile) == [
        "m (p) passed the alignment self-test. The next word's surprisal adds nothing (p ≥ .01), as it must be (b = −0.0010, "
        "95% CI [−0.0049, 0.0029], t(1000000000.0) = −0.50, p = .610; largest slope of lags 0 to 2: 0.02). Of lags −2 to 3 in "
        "one model, the largest slope is at lag 0."
    ]
    untested = tested.assign(verdict="untested", p=NAN, note="Not tested: no rows.")
    assert surprisal.alignment_check(untested, profile.head(0)) == [
        "m (p) could not be put to the alignment self-test. Not tested: no rows."
    ]


def test_what_was_simulated_stands_beside_the_estimate_from_the_times_themselves() -> None:
    rows = [("m", 0, 2.9, 2.5, 3.3), ("m", 1, 0.4, 0.1, 0.7), ("other", 0, 1.0, 0.5, 1.5)]
    effects = pd.DataFrame(rows, columns=["model", "lag", "raw", "raw_low", "raw_high"]).assign(protocol="p")
    assert surprisal.recovered(effects, {("m", "p"): (3.0, 1.0)}) == [
        "Simulated: 3 ms per bit of m (p), for the word read. Estimated from the times themselves: 2.90 ms per bit "
        "(95% CI [2.50, 3.30]), which covers it.",
        "Simulated: 1 ms per bit of m (p), for the word before. Estimated from the times themselves: 0.40 ms per bit "
        "(95% CI [0.10, 0.70]), which misses it.",
    ]
    assert surprisal.recovered(effects, {}) == []


def test_predictors_that_hang_together_are_named() -> None:
    table = pd.DataFrame(
        [("surprisal", "zipf", -0.7, 3.0), ("surprisal", "length", 0.4, 3.0), ("zipf", "surprisal", -0.7, 4.5)],
        columns=["predictor", "other_predictor", "r", "vif"],
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
