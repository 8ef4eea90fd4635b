"""Whether there is an agreement: the worked numbers of the test, other computations of the same, and what is counted."""

import shutil
import subprocess

import pytest
from scipy import stats

from gardenpath.stimuli.treebanks import agreement

# k, m: tail and decision, worked by hand from the published description of the test.
WORKED = {
    (20, 20): (0, 0.1216, "likely"),
    (28, 28): (0, 0.0523, "likely"),
    (29, 29): (0, 0.0471, "certain"),
    (95, 100): (0, 0.0576, "likely"),
    (85, 100): (1, 0.0726, "undecided"),
    (83, 100): (1, 0.0206, "none"),
    (5, 5): (0, 0.5905, "undecided"),  # too few to be likely
    (0, 3): (1, 0.0010, "none"),
}


def values(*names: str) -> frozenset[str]:
    return frozenset(names)


@pytest.mark.parametrize(("counts", "case"), WORKED.items())
def test_the_worked_numbers(counts: tuple[int, int], case: tuple[int, float, str]) -> None:
    which, tail, decision = case
    assert agreement.compute_binomial_tails(*counts)[which] == pytest.approx(tail, abs=5e-5)
    assert agreement.decide_agreement(*counts) == decision


def test_tails_and_intervals_are_those_of_scipy() -> None:
    for m in (1, 7, 29, 100, 5000):
        for k in {0, 1, m // 2, int(0.9 * m), m - 1, m}:
            expected = [stats.binomtest(k, m, 0.9, alternative=side).pvalue for side in ("greater", "less")]
            assert agreement.compute_binomial_tails(k, m) == pytest.approx(expected, rel=1e-9, abs=1e-300)
            exact = stats.binomtest(k, m).proportion_ci(0.95, method="exact")
            assert agreement.clopper_pearson_interval(k, m) == pytest.approx((exact.low, exact.high), rel=1e-9)


@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed (Rscript)")
def test_tails_and_intervals_are_those_of_r() -> None:
    code = "for (a in c('greater', 'less')) cat(binom.test(83, 100, .9, a)$p.value, ''); cat(binom.test(83, 100)$conf.int)"
    done = subprocess.run(["Rscript", "-e", f"options(digits=10); {code}"], capture_output=True, text=True, check=True)
    assert [*map(float, done.stdout.split())] == pytest.approx(
        [*agreement.compute_binomial_tails(83, 100), *agreement.clopper_pearson_interval(83, 100)], rel=1e-6
    )


def test_a_form_of_several_values_counts_with_the_other_and_what_says_nothing_does_not() -> None:
    both = values("Sing", "Plur")
    seen = [
        (values("Sing"), values("Plur"), "SV"),
        (values("Plur"), both, "SV"),
        (both, values("Plur"), "VS"),
        (both, both, "SV"),
        (values("Dual"), both, "SV"),
        (values(), values("Sing"), "SV"),
    ]
    assert agreement.count_values(seen) == {("SV", "Plur", "Sing"): 1, ("SV", "Plur", "Plur"): 1, ("VS", "Plur", "Plur"): 1}


def test_the_table_has_a_row_for_each_order_and_value() -> None:
    seen = [(values("Sing"), values("Sing"), "SV")] * 29 + [(values("Sing"), values("Plur"), "SV")] * 5
    seen += [(values("Plur"), values("Plur"), "VS")]
    table = agreement.compute_agreement("nld", "sv-number", agreement.count_values(seen))
    assert table[["order", "value", "n_agreeing", "n_words", "share_agreeing", "decision"]].to_numpy().tolist() == [
        ["SV", "Plur", 0, 5, 0.0, "none"],
        ["SV", "Sing", 29, 29, 1.0, "certain"],
        ["VS", "Plur", 1, 1, 1.0, "undecided"],
    ]
    assert table["share_agreeing"].between(table["ci_low"], table["ci_high"]).all()
