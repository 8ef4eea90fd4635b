"""Statistics in words: the right decimals, the right direction, and no claim where there is none."""

import pandas as pd
import pytest

from gardenpath.analysis import apa
from gardenpath.analysis.reporting.wording import effects

ROW = {
    "phenomenon": "npi", "measure": "z", "term": "grammaticality", "estimate": 0.5, "se": 0.1, "df": 51.2, "t": 5.0,
    "p": 0.00001, "ci_low": 0.3, "ci_high": 0.7, "p_bh": 0.00002, "p_bh_all": 0.00003, "region": "sentence", "prompt": None,
    "random": "intercepts", "mde": 0.28, "note": None, "model": "m", "protocol": "causal",
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
    assert said in effects.effect(ROW | change)


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
    assert said in effects.slopes(pd.DataFrame([row]))[0]


def test_a_note_is_told_once_after_all_it_holds_for() -> None:
    rows = [ROW | {"phenomenon": name, "note": "Singular fit."} for name in ("a", "b", "b")]
    assert effects.notes(pd.DataFrame(rows), "phenomenon") == ["a, b: Singular fit."]


def times(**change: object) -> dict[str, object]:
    return (
        ROW
        | {"measure": "log_rt", "region": "critical", "estimate": -0.1, "ms": -31.4, "ms_low": -47.2, "ms_high": -15.6}
        | change
    )


def test_an_effect_on_reading_times_is_told_in_ms_with_its_interval() -> None:
    assert "took 9.5% less time (−31 ms, 95% CI [−47, −16])" in effects.effect(times())


def test_what_slopes_say_stands_in_the_same_sentence_and_later_words_are_counted() -> None:
    rows = [
        times(),
        times(random="slopes", t=-1.9, df=11.3, p=0.08, p_bh=0.09),
        times(region="critical+1", p_bh=0.2, p_bh_all=0.3),
    ]
    first, second, third = effects.effects(pd.DataFrame(rows), "log_rt")
    assert (
        first
        == "Reading times of the critical region differ between grammatical and ungrammatical sentences in 1 of 1 phenomenon (p_BH < .05)."
    )
    assert (
        second
        == "Of the words after the region, they differ in 0 at critical+1; corrected over all 2 tests together, 1 differences remain."
    )
    assert third.endswith("With slopes: t(11.3) = −1.90, p = .080, p_BH = .090.")


def test_what_could_have_been_found_is_held_against_the_smallest_effect_of_interest() -> None:
    rows = pd.DataFrame([times(mde=0.04), times(mde=0.06, phenomenon="b")])
    (said,) = effects.power(rows, {"log_rt": 0.05})
    assert "effects from 0.040 (best phenomenon) to 0.060 (worst) log ms would be found in 80% of repetitions" in said
    assert said.endswith("the smallest effect of interest, 0.05, is within reach in 1 of 2.")
    assert "smallest" not in effects.power(rows, {})[0]


def test_other_choices_are_told_with_their_range_signs_and_intervals() -> None:
    rows = [
        {"measure": "log_rt", "phenomenon": "npi", "declared": k == 0, "ms": ms, "ci_low": -1.0, "ci_high": high}
        for k, (ms, high) in enumerate([(-30.0, -0.5), (-45.0, -0.1), (5.0, 1.0)])
    ]
    (said,) = effects.robustness(pd.DataFrame(rows))
    assert (
        said
        == "npi: −30 ms as declared, −45 to 5 ms under 3 choices; 2 have the same sign, and the intervals of 2 leave out zero."
    )


def test_exclusions_are_told_with_their_counts_and_the_flag_is_no_ground() -> None:
    ledger = pd.DataFrame([("all", "sessions", "session not complete", 10, 2), ("grammatical", "rating_scores", "x", 9, 1)],
                          columns=["condition", "table", "rule", "before", "excluded"])  # fmt: skip
    people = pd.DataFrame({"excluded": ["slept", None, None]})
    prompts = pd.DataFrame({"prompt": "sense", "flagged": [None, True, False]})
    assert effects.exclusions(ledger, people, prompts) == [
        "2 of 10 sessions left out: session not complete.",
        "1 of 3 participants left out: slept.",
        "The ratings of 1 of 2 participants do not tell grammatical from ungrammatical sentences apart (Mann-Whitney, p ≥ .05). "
        "They stay: such a rule is circular with the effect.",
    ]
    nobody = effects.exclusions(ledger.assign(excluded=0), people.head(0), prompts.head(0))
    assert nobody == ["No session, participant, rating or critical region was left out."]


def test_answers_that_did_not_come_are_told_by_prompt_and_so_are_those_who_are_flagged_by_one() -> None:
    lines = [("responses: a", "no answer in time (a)", 90, 3), ("responses: b", "no answer (b)", 80, 1)]
    lines += [("responses", "not a rating", 86, 20), ("responses", "no answer in time (a)", 170, 3)]
    ledger = pd.DataFrame(lines, columns=["table", "rule", "before", "excluded"]).assign(condition="all")
    prompts = pd.DataFrame(
        {"prompt": ["how_good", "how_likely"] * 3, "flagged": [True, False, True, True, False, None]}
    )
    told = effects.exclusions(ledger, pd.DataFrame({"excluded": [None]}), prompts)
    assert told[:2] == [
        "3 of 90 answers left out: no answer in time (a).",
        "1 of 80 answers left out: no answer (b).",
    ]
    assert [sentence[:51] for sentence in told[2:]] == [
        "The ratings (how good) of 2 of 3 participants do no",
        "The ratings (how likely) of 1 of 2 participants do ",
    ]
