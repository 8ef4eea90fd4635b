"""Statistics in words: the right decimals, the right direction, and no claim where there is none."""

import pandas as pd
import pytest

from gardenpath.analysis import apa, wording

ROW = {
    "phenomenon": "npi", "measure": "z", "term": "grammaticality", "estimate": 0.5, "se": 0.1, "df": 51.2, "t": 5.0,
    "p": 0.00001, "ci_low": 0.3, "ci_high": 0.7, "p_bh": 0.00002, "note": None, "model": "m", "protocol": "causal",
}  # fmt: skip


def test_a_coefficient_is_told_as_apa_tells_it() -> None:
    assert apa(ROW) == "b = 0.50, 95% CI [0.30, 0.70], t(51.2) = 5.00, p < .001, p_BH < .001"


def test_without_degrees_of_freedom_the_test_is_z() -> None:
    assert "z = 5.00" in apa(ROW | {"df": float("nan")})


def test_a_negative_number_has_a_minus_sign_and_no_negative_zero() -> None:
    text = apa(ROW | {"estimate": -0.5, "ci_low": -1.0, "ci_high": -0.0001})
    assert "b = −0.50, 95% CI [−1.00, 0.00]" in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "grammatical sentences were rated 0.50 standard deviations higher than ungrammatical ones"),
        ({"estimate": -0.5}, "rated 0.50 standard deviations lower"),
        ({"measure": "log_rt", "estimate": -0.1}, "took 9.5% less time in grammatical than in ungrammatical sentences"),
        ({"measure": "log_rt", "estimate": 0.1}, "took 10.5% more time"),
        ({"p_bh": 0.06}, "the data do not show that grammaticality changes how sentences were rated"),
        ({"p_bh": float("nan"), "p": 0.2}, "the data do not show"),
        ({"estimate": float("nan"), "note": "Not fitted: one participant"}, "npi: Not fitted: one participant"),
    ],
)
def test_an_effect_says_its_direction_and_size_or_that_there_is_none(change: dict, said: str) -> None:
    assert said in wording.effect(ROW | change)


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
    row = ROW | {"term": "surprisal", "p_bh": float("nan")} | change
    assert said in wording.slopes(pd.DataFrame([row]))[0]


def test_a_note_is_told_once_after_all_it_holds_for() -> None:
    rows = [ROW | {"phenomenon": name, "note": "Singular fit."} for name in ("a", "b", "b")]
    assert wording.notes(pd.DataFrame(rows), "phenomenon") == ["a, b: Singular fit."]
