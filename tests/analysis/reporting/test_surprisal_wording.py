"""Sentences about models: signs, counts and directions as the tables have them, and no claim where there is none."""

import pandas as pd
import pytest

from gardenpath.analysis.reporting.wording import fits, surprisal

NAN = float("nan")


def test_the_verdict_of_the_self_test_comes_with_its_statistics() -> None:
    tested = pd.DataFrame([{
        "model": "m", "protocol": "p", "verdict": "passed", "estimate": -0.001, "se": 0.002, "df": 1e9, "t": -0.5, "p": 0.61,
        "largest": 0.02, "note": "The next word's surprisal adds nothing (p >= .01), as it must be.",
    }])  # fmt: skip
    profile = pd.DataFrame({"model": "m", "protocol": "p", "lag": [-1, 0], "estimate": [0.0, 0.02]})
    assert surprisal.alignment(tested, profile) == [
        "m (p) passed the alignment self-test. The next word's surprisal adds nothing (p ≥ .01), as it must be (b = −0.0010, "
        "95% CI [−0.0049, 0.0029], t(1000000000.0) = −0.50, p = .610; largest slope of lags 0 to 2: 0.02). Of lags −2 to 3 in "
        "one model, the largest slope is at lag 0."
    ]
    untested = tested.assign(verdict="untested", p=NAN, note="Not tested: no rows.")
    assert surprisal.alignment(untested, profile.head(0)) == [
        "m (p) could not be put to the alignment self-test. Not tested: no rows."
    ]


@pytest.mark.parametrize(
    ("r", "p", "said"),
    [
        (-0.2, 0.01, "r_pb = −.20, p = .010 (90 pairs, 30 of unequal length): it wins rather where the grammatical member is shorter."),
        (0.2, 0.01, "it wins rather where the grammatical member is longer."),
        (0.2, 0.3, "no leaning is seen."),
        (NAN, NAN, "m (p), lp: No correlation: fewer than 3 pairs."),
    ],
)  # fmt: skip
def test_a_leaning_to_length_has_its_direction_or_is_not_seen(r: float, p: float, said: str) -> None:
    row = {"model": "m", "protocol": "p", "measure": "lp", "n": 90, "unequal": 30, "r": r, "p": p}
    assert surprisal.leanings(pd.DataFrame([row | {"note": "No correlation: fewer than 3 pairs."}]))[0].endswith(said)


def test_many_comparisons_are_counted_first_and_few_are_not() -> None:
    row = {"n": 10, "mcnemar_holm": 0.01, "flip_holm": 0.2}
    assert surprisal.decided(pd.DataFrame([row] * 3)) == []
    assert surprisal.decided(pd.DataFrame([row] * 4 + [row | {"mcnemar_holm": 0.5, "flip_holm": 0.01}])) == [
        "Of 5 comparisons of two models, 4 differ on these pairs (McNemar, p_Holm < .05), 1 of 5 over paradigms (sign flips, "
        "p_Holm < .05)."
    ]
    few = surprisal.decided(pd.DataFrame([row | {"flip_holm": NAN}] * 4))
    assert few[0].endswith("too few paradigms to speak of others.")


def test_places_people_and_confidence_are_told() -> None:
    ranks = pd.DataFrame(
        {"measure": "lp", "model": ["a", "b"], "protocol": "c", "rank": [1.0, 2.0], "accuracy": [0.9, 0.8]}
    )
    assert surprisal.standings(ranks) == ["By lp: 1 a (c) 90.0%, 2 b (c) 80.0%."]
    kin = {"measure": "lp", "a": "people", "b": "a (c)", "paradigms": 12, "pearson": 0.5, "low": -0.04, "high": 0.8}
    kin |= {"spearman": 0.4, "note": "No interval: 4 paradigms, under 10."}
    assert surprisal.kinships(pd.DataFrame([kin])) == [
        "people and a (c), lp: accuracies correlate by r = .50, 95% CI [−.04, .80] over 12 paradigms (Spearman .40)."
    ]
    assert surprisal.kinships(pd.DataFrame([kin | {"pearson": NAN}])) == ["people and a (c), lp: " + kin["note"]]
    bins = pd.DataFrame({"predictor": "confidence", "model": "a", "protocol": "c", "measure": "lp", "bin": [0, 1, 2], "n": 8,
                         "accuracy": [0.5, 0.75, 1.0]})  # fmt: skip
    (said,) = surprisal.slants(bins)
    assert "50.0% of the 8 pairs are won where the members' scores differ least, 100.0% of the 8" in said


def test_predictors_that_hang_together_are_named() -> None:
    table = pd.DataFrame(
        [("surprisal", "zipf", -0.7, 3.0), ("surprisal", "length", 0.4, 3.0), ("zipf", "surprisal", -0.7, 4.5)],
        columns=["predictor", "other", "r", "vif"],
    ).assign(model="m", protocol="p")
    assert surprisal.entangled(table) == [
        "m (p): surprisal correlates most with zipf (r = −.70); the largest variance inflation is 4.5, of zipf."
    ]


CHOSEN = {
    "phenomenon": "npi", "measure": "z", "region": "sentence", "prompt": "sense", "policy": "maximal", "term": "grammaticality", "estimate": 0.5,
    "se": 0.1, "df": 20.0, "t": 5.0, "p": 0.0001, "ci_low": 0.3, "ci_high": 0.7, "singular": False,
    "formula": "z ~ grammaticality + (1|item)", "note": "Cross-checked with lme4: estimates differ by at most 1e-06 SE.",
}  # fmt: skip


def test_a_policy_tells_its_steps_what_stayed_singular_and_what_was_checked() -> None:
    steps = pd.DataFrame({"model": ["z sentence npi"] * 3})
    first, second = fits.chosen(pd.DataFrame([CHOSEN]), steps)
    assert first == (
        "Random effects by the policy maximal: 1 of 1 models were fitted in 3 steps; none is singular; 1 agree with the other "
        "engine to a thousandth of a standard error."
    )
    assert second == "npi: b = 0.50, 95% CI [0.30, 0.70], t(20.0) = 5.00, p < .001, with (1|item)."
    singular = fits.chosen(pd.DataFrame([CHOSEN | {"singular": True, "note": "Singular fit: x."}]), steps)
    assert "; 1 remained singular." in singular[0]
    failed = fits.chosen(pd.DataFrame([CHOSEN | {"estimate": NAN, "note": "Not fitted: y."}]), steps)
    assert failed[1] == "npi: Not fitted: y."
    steps = pd.DataFrame({"model": ["z sentence npi (form)", "z sentence npi (sense)", "z sentence npi"]})
    several = fits.chosen(pd.DataFrame([CHOSEN, CHOSEN | {"prompt": "form"}]), steps)
    assert "2 of 2 models were fitted in 2 steps" in several[0]
    assert [sentence.partition(":")[0] for sentence in several[1:]] == ["npi (sense)", "npi (form)"]


def test_other_models_are_told_on_their_own_scale() -> None:
    ordinal = {
        "term": "grammaticality",
        "link": "probit",
        "estimate": -1.0,
        "ci_low": -1.5,
        "ci_high": -0.5,
        "z": -4.0,
        "p": 0.0001,
    }
    assert fits.ordinal(pd.DataFrame([ordinal])) == [
        "as ordered categories (probit), ratings differ by grammaticality (b = −1.00, 95% CI [−1.50, −0.50], z = −4.00, p < .001)."
    ]
    assert "are not shown to differ" in fits.ordinal(pd.DataFrame([ordinal | {"p": 0.2}]))[0]
    curve = {
        "term": "s(surprisal)",
        "smooth": True,
        "edf": 1.01,
        "statistic": 9.0,
        "p": 0.002,
        "n": 500,
        "autocorrelation": 0.03,
    }
    assert fits.curves(pd.DataFrame([curve])) == [
        "s(surprisal): about a straight line (edf = 1.0, F = 9.00, p = .002; 500 readings, residuals of successive ones correlate "
        "by 0.03)."
    ]
    assert fits.curves(pd.DataFrame([curve | {"edf": 3.2}]))[0].startswith("s(surprisal): bent")
    power = pd.DataFrame({"effect": 0.05, "items": 24, "participants": [20, 40, 60], "power": [0.5, 0.82, 0.95], "runs": 200,
                          "power_low": 0.7, "power_high": 0.9})  # fmt: skip
    assert "is found by 40 participants with 24 items in 82.0% of 200" in fits.planned(power)[0]
    assert "more than these would be needed" in fits.planned(power.head(1))[0]
