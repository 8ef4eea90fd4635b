"""Language models on minimal pairs in words: directions and counts as the tables have them, and no claim where there is none."""

import pandas as pd
import pytest

from gardenpath.analysis.reporting.wording import minimal_pairs

NAN = float("nan")


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
    row = {"model": "m", "protocol": "p", "measure": "lp", "n_pairs": 90, "n_unequal": 30, "r": r, "p": p}
    assert minimal_pairs.length_bias(pd.DataFrame([row | {"note": "No correlation: fewer than 3 pairs."}]))[0].endswith(said)


def test_many_comparisons_are_counted_first_and_few_are_not() -> None:
    row = {"n_pairs": 10, "mcnemar_p_holm": 0.01, "flip_p_holm": 0.2}
    assert minimal_pairs.significant_comparisons(pd.DataFrame([row] * 3)) == []
    assert minimal_pairs.significant_comparisons(
        pd.DataFrame([row] * 4 + [row | {"mcnemar_p_holm": 0.5, "flip_p_holm": 0.01}])
    ) == [
        "Of 5 comparisons of two models, 4 differ on these paradigms (McNemar, p_Holm < .05), 1 of 5 over paradigms as drawn "
        "from more (sign flips, p_Holm < .05)."
    ]
    few = minimal_pairs.significant_comparisons(pd.DataFrame([row | {"flip_p_holm": NAN}] * 4))
    assert few[0].endswith("too few paradigms to speak of others.")


def test_places_people_and_confidence_are_told() -> None:
    ranks = pd.DataFrame({"measure": "lp", "model": ["a", "b"], "protocol": "c", "model_rank": [1.0, 2.0], "accuracy": [0.9, 0.8]})
    assert minimal_pairs.rankings(ranks) == ["By lp: 1 a (c) 90.0%, 2 b (c) 80.0%."]
    kin = {
        "measure": "lp",
        "model_a": "people",
        "model_b": "a (c)",
        "n_paradigms": 12,
        "pearson": 0.5,
        "ci_low": -0.04,
        "ci_high": 0.8,
    }
    kin |= {"spearman": 0.4, "note": "No interval: 4 paradigms, under 10."}
    assert minimal_pairs.accuracy_correlations(pd.DataFrame([kin])) == [
        "people and a (c), lp: accuracies correlate by r = .50, 95% CI [−.04, .80] over 12 paradigms (Spearman .40)."
    ]
    assert minimal_pairs.accuracy_correlations(pd.DataFrame([kin | {"pearson": NAN}])) == ["people and a (c), lp: " + kin["note"]]
    bins = pd.DataFrame({"predictor": "confidence", "model": "a", "protocol": "c", "measure": "lp", "bin": [0, 1, 2], "n_pairs": 8,
                         "accuracy": [0.5, 0.75, 1.0]})  # fmt: skip
    (said,) = minimal_pairs.accuracy_by_confidence(bins)
    assert "50.0% of the 8 pairs are won where the members' scores differ least, 100.0% of the 8" in said


def test_ties_are_said_to_count_half() -> None:
    row = {"model": "m", "protocol": "default", "measure": "lp", "phenomenon": "f", "wilson_low": 0.2, "wilson_high": 0.8}
    rows = [row | {"paradigm": "p", "n_pairs": 10, "n_ties": 10, "accuracy": 0.5, "delta": 0.0}]
    rows += [rows[0] | {"phenomenon": "all", "paradigm": name} for name in ("mean", "pooled")]
    [sentence] = minimal_pairs.accuracies(pd.DataFrame(rows))
    assert "50.0% of 10 pairs, 10 of them ties, which count half (95% Wilson interval" in sentence


def test_what_two_stages_leave_to_chance_is_told() -> None:
    facts = {"pairs": 900, "exact": 600, "open": 88, "checked": 256, "noise": {"lp": 0.1}, "within": {"lp": 0.6}}
    told = minimal_pairs.stages("m", {**facts, "wrong": {"lp": 1}, "wrong_at_most": {"lp": 0.0184}})
    assert told[0] == "m, two stages: 600 of 900 pairs are computed exactly, 88 of them since bfloat16 leaves them open"
    assert told[1].endswith("of 256 decided verdicts 1 are wrong, of the others at most 1.8% (95%)")
    assert minimal_pairs.stages("m", {"note": "All of them."}) == ["m, two stages: All of them."]
