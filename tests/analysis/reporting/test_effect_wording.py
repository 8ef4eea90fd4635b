"""Statistics in words: the right decimals, the right direction, and no claim where there is none."""

import pandas as pd
import pytest

from gardenpath.analysis import apa
from gardenpath.analysis.reporting.wording import contrasts, effects, equivalence, factors, fits, multiverse, surprisal

NAN = float("nan")
ROW = {
    "unit": "phenomenon", "model": "npi", "response": "z", "family": "gaussian", "term": "grammaticality", "estimate": 0.5,
    "se": 0.1, "df": 51.2, "t": 5.0, "p": 0.00001, "ci_low": 0.3, "ci_high": 0.7, "p_adjusted": 0.00002,
    "p_adjusted_all": 0.00003, "adjustment": "Benjamini-Hochberg over the phenomena", "region": "sentence", "prompt": None,
    "contrast": "grammaticality: grammatical minus ungrammatical", "random": "slopes", "headline": True, "mde": 0.28,
    "note": None, "protocol": "causal", "converged": True, "singular": False, "reduced": False,
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
        ({"response": "log_rt", "estimate": -0.1}, "took 9.5% less time in grammatical than in ungrammatical sentences"),
        ({"response": "log_rt", "estimate": 0.1}, "took 10.5% more time"),
        ({"p_adjusted": 0.06}, "the data do not show that grammaticality changes how sentences were rated"),
        ({"p_adjusted": float("nan"), "p": 0.2}, "the data do not show"),
        ({"estimate": float("nan"), "note": "Not fitted: one participant"}, "npi: Not fitted: one participant"),
    ],
)
def test_an_effect_says_its_direction_and_size_or_that_there_is_none(change: dict, said: str) -> None:
    assert said in effects.effect(ROW | change)


def test_a_note_is_told_once_after_all_it_holds_for() -> None:
    rows = [ROW | {"model": name, "note": "Singular fit."} for name in ("a", "b", "b")]
    assert fits.notes(pd.DataFrame(rows), "model") == ["a, b: Singular fit."]


def times(**change: object) -> dict[str, object]:
    return (
        ROW
        | {"response": "log_rt", "region": "critical", "estimate": -0.1, "ms": -31.4, "ms_low": -47.2, "ms_high": -15.6}
        | change
    )


def test_an_effect_on_reading_times_is_told_in_ms_with_its_interval() -> None:
    assert "took 9.5% less time (−31 ms, 95% CI [−47, −16])" in effects.effect(times())


def test_the_model_with_slopes_comes_first_the_published_form_after_it_and_later_words_are_counted() -> None:
    rows = [
        times(random="intercepts", headline=False, t=-4.9, df=311.3, p=0.00001, p_adjusted=0.00002),
        times(t=-1.9, df=11.3, p=0.08, p_adjusted=0.09, singular=True),
        times(region="critical+1", p_adjusted=0.2, p_adjusted_all=0.3),
    ]
    first, second, third = effects.effects(pd.DataFrame(rows), "log_rt")
    assert first == (
        "Reading times of the critical region differ between grammatical and ungrammatical sentences in 0 of 1 phenomenon "
        "(p_BH < .05; with intercepts alone, in 1)."
    )
    assert second == (
        "Of the words after the region, they differ in 0 at critical+1; corrected over all 2 tests together, 1 differences remain."
    )
    assert third == (
        "npi: the data do not show that grammaticality changes how sentences were read (b = −0.10, 95% CI [0.30, 0.70], "
        "t(11.3) = −1.90, p = .080, p_BH = .090; with slopes, singular fit). With intercepts alone: t(311.3) = −4.90, p < .001, "
        "p_BH < .001."
    )


def test_where_slopes_could_not_be_fitted_the_published_form_is_the_headline_and_says_so() -> None:
    failed = times(estimate=NAN, p=NAN, p_adjusted=NAN, converged=False, headline=False)
    rows = [times(random="intercepts"), failed]
    _, said = effects.effects(pd.DataFrame(rows), "log_rt")
    assert said.endswith("p < .001, p_BH < .001; with intercepts alone).")


def factorial(**change: object) -> dict[str, object]:
    named = {"unit": "model", "model": "relatives", "term": "a_y_x", "contrast": "a: y minus x", "factors": "a"}
    return times(ms=NAN, p_adjusted=NAN, adjustment="Holm, over the regions") | named | change


def test_contrasts_are_told_by_the_headline_with_the_regions_correction_and_the_published_form() -> None:
    rows = [
        factorial(random="intercepts", headline=False, t=-4.9, df=311.3, p=0.001, p_adjusted=0.002),
        factorial(t=-2.2, df=11.3, p=0.05, p_adjusted=0.1, reduced=True, ms=-20.0, ms_low=-40.0, ms_high=0.0),
    ]
    assert factors.factorial_effects(pd.DataFrame(rows)) == [
        "Log reading time, critical region (with slopes, reduced): a (y − x), b = −0.10, 95% CI [0.30, 0.70], "
        "t(11.3) = −2.20, p = .050, p_Holm = .100 (−20 ms, 95% CI [−40, 0]; with intercepts alone: t(311.3) = −4.90, p = .001, "
        "p_Holm = .002)."
    ]


def test_simple_effects_are_those_of_the_headline_with_method_and_adjustment() -> None:
    simple = {
        **factorial(p_adjusted=0.02), "factors": "noun_phrase", "within": "a y", "contrast": "name minus description",
        "adjustment": "Holm over 2 simple effects of noun_phrase",
    }  # fmt: skip
    rows = pd.DataFrame([simple | {"random": "intercepts", "headline": False, "estimate": 9.0}, simple])
    assert factors.simple_effects(rows) == [
        "Log reading time, critical region, simple effects (contrast of the fitted model, Satterthwaite; Holm over 2 "
        "simple effects of noun_phrase): noun phrase (name − description) at a y, b = −0.10, 95% CI [0.30, 0.70], "
        "t(51.2) = 5.00, p < .001, p_Holm = .020."
    ]


def test_equivalence_is_told_of_the_headline_beside_what_could_have_been_found() -> None:
    tested = {"smallest": 0.05, "low_90": -0.02, "high_90": 0.03, "p_equivalence": 0.01, "mde": 0.04, "se": 0.01}
    row = times(**tested, p=0.4)
    said = equivalence.equivalences(pd.DataFrame([row]), pd.DataFrame([factorial(**tested | {"p_equivalence": 0.3}, p=0.4)]))
    assert said == [
        "npi, critical region: the effect is smaller than 0.05, equivalence (90% CI [−0.020, 0.030], p = .010; 0.040 would be found "
        "in 80% of repetitions).",
        "Log reading time, critical region, a (y − x): the effect is neither different from zero nor equivalent to it, the "
        "smallest of interest being 0.05 (90% CI [−0.020, 0.030], p = .300; 0.040 would be found in 80% of repetitions).",
    ]


def test_contrast_matrices_are_two_tables_in_fractions() -> None:
    rows = [
        {"model": "m", "term": term, "contrast": contrast, "cell": cell, "code": code, "weight": weight}
        for term, contrast, cell, code, weight in (
            ("intercept", None, "a x", 1.0, 0.5), ("intercept", None, "a y", 1.0, 0.5),
            ("a_y_x", "a: y minus x", "a x", -0.5, -1.0), ("a_y_x", "a: y minus x", "a y", 0.5, 1.0),
        )
    ]  # fmt: skip
    (_, codes), (_, weights) = contrasts.matrices(pd.DataFrame(rows))
    assert codes.markdown().splitlines() == [
        "| cell | intercept | a (y − x) |", "| --- | ---: | ---: |", "| a x | 1 | −1/2 |", "| a y | 1 | 1/2 |",
    ]  # fmt: skip
    assert weights.rows == (("intercept", "1/2", "1/2"), ("a (y − x)", "−1", "1"))


def test_what_could_have_been_found_is_held_against_the_smallest_effect_of_interest() -> None:
    rows = pd.DataFrame([times(mde=0.04), times(mde=0.06, model="b")])
    (said,) = effects.power(rows, {"log_rt": 0.05})
    assert "effects from 0.040 (best phenomenon) to 0.060 (worst) log ms would be found in 80% of repetitions" in said
    assert said.endswith("the smallest effect of interest, 0.05, is within reach in 1 of 2.")
    assert "smallest" not in effects.power(rows, {})[0]


def specifications(*numbers: tuple[float, float, float], **cells: object) -> pd.DataFrame:
    """Return the rows of an effect under specifications with these estimates and intervals."""
    row = {
        "model_id": "m", "model": "npi_licensing", "response": "log_rt", "prompt": None, "term": "a", "contrast": "a: y minus x",
        "hypothesis": None, "region": "critical", "unit": "log ms", "ms": NAN, "converged": True, "same_as": NAN,
    }  # fmt: skip
    rows = [
        row | {"specification": k, "declared": k == 0, "estimate": b, "ci_low": low, "ci_high": high, "standardised": b / 2}
        for k, (b, low, high) in enumerate(numbers)
    ]
    return pd.DataFrame(rows).assign(standardised_low=-1.0, standardised_high=1.0, **cells)


def test_other_choices_are_told_with_their_median_range_signs_and_intervals() -> None:
    rows = specifications((-0.03, -0.05, -0.01), (-0.045, -0.06, -0.001), (0.005, -0.01, 0.02))
    (said,) = multiverse.describe_effects(rows)
    assert said == (
        "npi licensing, a: y minus x, log reading time of the critical region: −0.030 log ms as planned; over 3 specifications the "
        "median is −0.030 log ms, from −0.045 to 0.005; 2 have the same sign, and the 95% intervals of 2 leave out zero."
    )
    [source] = said.sources
    assert source.rows == (0, 1, 2)


def test_other_choices_that_failed_or_come_to_the_same_are_counted() -> None:
    rows = specifications((0.2, 0.1, 0.3), (NAN, NAN, NAN), (0.3, 0.1, 0.4), (0.3, 0.1, 0.4))
    rows["same_as"], rows["converged"] = [NAN, NAN, NAN, 2], [True, False, False, False]
    rows["hypothesis"] = "slower"
    (said,) = multiverse.describe_effects(rows)
    assert said.startswith("Hypothesis 'slower', npi licensing, ")
    assert "over 2 specifications the median is 0.250 log ms" in said
    assert said.endswith("; not fitted: 1; not converged: 1; the same as another of these: 1.")
    assert multiverse.describe_effects(rows.iloc[[1]]) == []


def test_units_that_differ_are_told_in_standard_deviations_of_the_response() -> None:
    (said,) = multiverse.describe_effects(specifications((0.2, 0.1, 0.3), (30.0, 10.0, 40.0), unit=["log ms", "ms"]))
    assert "0.10 s.d. of the response as planned" in said
    (in_ms,) = multiverse.describe_effects(
        specifications((0.2, 0.1, 0.3), (30.0, 10.0, 40.0), unit=["log ms", "ms"], ms=[33.0, 30.0], ms_low=1.0, ms_high=9.0)
    )
    assert "33 ms as planned; over 2 specifications the median is 32 ms, from 30 to 33" in in_ms


CHOSEN = {
    "model_id": "npi sense", "model": "npi", "response": "z", "region": "sentence", "prompt": "sense", "policy": "maximal",
    "term": "grammaticality", "contrast": "grammaticality: grammatical minus ungrammatical", "estimate": 0.5, "p_adjusted": NAN,
    "adjustment": None, "se": 0.1, "df": 20.0, "t": 5.0, "p": 0.0001, "ci_low": 0.3, "ci_high": 0.7, "singular": False,
    "formula": "z ~ grammaticality + (1|item)", "note": "Cross-checked with lme4: estimates differ by at most 1e-06 SE.",
}  # fmt: skip


def test_a_policy_tells_its_steps_what_stayed_singular_and_what_was_checked() -> None:
    steps = pd.DataFrame({"model_id": ["npi sense"] * 3, "optimizer": "glmm"})
    first, second = effects.policy_effects(pd.DataFrame([CHOSEN]), steps)
    assert first == (
        "Random effects by the policy maximal: 1 of 1 models were fitted in 3 steps; none is singular; 1 agree with the other "
        "engine to a thousandth of a standard error."
    )
    assert second == "npi: b = 0.50, 95% CI [0.30, 0.70], t(20.0) = 5.00, p < .001, with (1|item)."
    singular = effects.policy_effects(pd.DataFrame([CHOSEN | {"singular": True, "note": "Singular fit: x."}]), steps)
    assert "; 1 remained singular." in singular[0]
    failed = effects.policy_effects(pd.DataFrame([CHOSEN | {"estimate": NAN, "note": "Not fitted: y."}]), steps)
    assert failed[1] == "npi: Not fitted: y."
    steps = pd.DataFrame({"model_id": ["npi form", "npi sense", "npi"], "optimizer": "glmm"})
    several = effects.policy_effects(pd.DataFrame([CHOSEN, CHOSEN | {"model_id": "npi form", "prompt": "form"}]), steps)
    assert "2 of 2 models were fitted in 2 steps" in several[0]
    assert [sentence.partition(":")[0] for sentence in several[1:]] == ["npi (sense)", "npi (form)"]


def test_other_models_are_told_on_their_own_scale() -> None:
    ordinal = {
        **ROW,
        "contrast": None,
        "estimate": -1.0,
        "se": 0.25,
        "ci_low": -1.5,
        "ci_high": -0.5,
        "df": NAN,
        "t": -4.0,
        "p": 0.0001,
        "p_adjusted": NAN,
    }
    assert effects.ordinal(pd.DataFrame([ordinal])) == [
        "npi: as ordered categories (probit), ratings differ by grammaticality (b = −1.00, 95% CI [−1.50, −0.50], z = −4.00, p < .001)."
    ]
    assert "are not shown to differ" in effects.ordinal(pd.DataFrame([ordinal | {"p": 0.2}]))[0]
    curve = {"term": "s(surprisal)", "smooth": True, "edf": 1.01, "statistic": 9.0, "p": 0.002, "n": 500, "autocorrelation": 0.03}
    assert surprisal.smooth_terms(pd.DataFrame([curve])) == [
        "s(surprisal): about a straight line (edf = 1.0, F = 9.00, p = .002; 500 readings, residuals of successive ones correlate "
        "by .03)."
    ]
    assert surprisal.smooth_terms(pd.DataFrame([curve | {"edf": 3.2}]))[0].startswith("s(surprisal): bent")


def test_power_names_coefficient_model_spreads_and_false_positives() -> None:
    power = pd.DataFrame({"effect": 0.05, "n_items": 24, "n_participants": [20, 40, 60], "power": [0.5, 0.82, 0.95], "n_simulations": 200,
                          "power_low": 0.7, "power_high": 0.9, "false_positives": 0.045, "response": "log_rt",
                          "term": "number:attractor", "family": "linear", "slopes": "tested",
                          "assumptions": "default"})  # fmt: skip
    assert effects.describe_power(power) == [
        "An effect of number × attractor of 0.05 log ms is found by 40 participants with 24 items in 82.0% of 200 simulated "
        "studies (95% Wilson interval 70.0% to 90.0%), and in 4.5% of them where it is absent."
    ]
    assert "more than these would be needed" in effects.describe_power(power.head(1))[0]
    ordinal = power.head(1).assign(response="rating", family="ordinal", slopes="none", assumptions="pilot (80 % limits)")
    [said] = effects.describe_power(ordinal)
    assert said.startswith(
        "An effect of number × attractor of 0.05 on the latent scale of ratings (in s.d. of a single one), ordinal model, with the "
        "upper 80% limits of the pilot's spreads, is found by 20 participants"
    )
    assert said.endswith("so its p is optimistic.")
