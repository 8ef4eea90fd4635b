"""Random-effects meta-analysis against published results, closed forms and a likelihood written by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from gardenpath.analysis.modelling.meta_analysis import pool_estimates
from gardenpath.study import DataError

# Thirteen trials of a vaccine (Colditz et al. 1994, doi 10.1001/jama.1994.03510330076038): ill and well with it, ill and well without.
TRIALS = (
    (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
    (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232), (17, 1699, 65, 1600),
    (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825),
)  # fmt: skip


def log_risk_ratios() -> tuple[list[float], list[float]]:
    values = [math.log(a / (a + b)) - math.log(c / (c + d)) for a, b, c, d in TRIALS]
    errors = [math.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)) for a, b, c, d in TRIALS]
    return values, errors


def test_published_example() -> None:
    """What metafor's documentation gives of these trials (rma, REML; confint)."""
    result = pool_estimates(*log_risk_ratios())
    assert result.estimate == pytest.approx(-0.7145, abs=5e-5)
    assert result.tau**2 == pytest.approx(0.3132, abs=5e-5)
    assert (result.tau_low**2, result.tau_high**2) == pytest.approx((0.1197, 1.1115), abs=5e-5)
    assert 100 * result.i_squared == pytest.approx(92.22, abs=5e-3)
    assert (result.q, result.q_df) == (pytest.approx(152.2330, abs=5e-5), 12)


def restricted_deviance(tau2: float, values: list[float], errors: list[float]) -> float:
    """-2 log restricted likelihood of a normal vector, by its dense covariance."""
    covariance = np.diag(np.square(errors)) + tau2 * np.eye(len(values))
    inverse, ones = np.linalg.inv(covariance), np.ones(len(values))
    information = ones @ inverse @ ones
    residual = np.asarray(values) - (ones @ inverse @ values) / information
    return float(np.linalg.slogdet(covariance)[1] + math.log(information) + residual @ inverse @ residual)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_hand_written_likelihood(count: int) -> None:
    random = np.random.default_rng(count)
    values = list(random.normal(0.05, 0.2, count))
    errors = list(random.uniform(0.02, 0.2, count))
    result = pool_estimates(values, errors)
    points = np.linspace(0, 0.6, 30001)
    coarse = points[int(np.argmin([restricted_deviance(p, values, errors) for p in points[::100]])) * 100]
    fine = optimize.minimize_scalar(
        restricted_deviance, bounds=(max(0, coarse - 0.01), coarse + 0.01), args=(values, errors), options={"xatol": 1e-12}
    )
    assert result.tau**2 == pytest.approx(fine.x, abs=1e-6)
    weights = 1 / (np.square(errors) + result.tau**2)
    mean = weights @ values / weights.sum()
    scale = max(1.0, float(weights @ (values - mean) ** 2) / (count - 1))
    se = math.sqrt(scale / weights.sum())
    assert (result.estimate, result.se) == pytest.approx((mean, se), rel=1e-12)
    assert (result.ci_low, result.ci_high) == pytest.approx(stats.t.interval(0.95, count - 1, mean, se), rel=1e-9)
    assert result.p == pytest.approx(2 * stats.t.sf(abs(mean / se), count - 1), rel=1e-9)
    assert sum(result.weights) == pytest.approx(1)


@pytest.mark.parametrize("apart", [0.0, 0.01, 0.3])
def test_two_experiments_of_one_precision(apart: float) -> None:
    """A closed form: the variance of two numbers less that of their errors, not below 0; Q is its ratio to theirs."""
    se = 0.05
    result = pool_estimates([0.1, 0.1 + apart], [se, se])
    assert result.tau**2 == pytest.approx(max(0.0, apart**2 / 2 - se**2), abs=1e-12)
    assert result.q == pytest.approx(apart**2 / (2 * se**2))
    assert result.q_p == pytest.approx(2 * stats.norm.sf(apart / se / math.sqrt(2)))
    assert result.se >= se / math.sqrt(2) - 1e-12  # experiments that agree by chance do not make an error smaller than theirs
    assert math.isnan(result.prediction_low)


def test_order_sign_and_unit_do_not_matter() -> None:
    values, errors = [0.1, -0.2, 0.05], [0.05, 0.04, 0.08]
    first = pool_estimates(values, errors)
    for order in itertools.permutations(range(3)):
        again = pool_estimates([-1000 * values[k] for k in order], [1000 * errors[k] for k in order])
        assert (again.estimate, again.tau, again.ci_low) == pytest.approx(
            (-1000 * first.estimate, 1000 * first.tau, -1000 * first.ci_high), rel=1e-6
        )
        assert again.p == pytest.approx(first.p, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "errors"), [([0.1], [0.1]), ([0.1, 0.2], [0.1, 0.0]), ([0.1, math.nan], [0.1, 0.1]), ([0.1, 0.2], [0.1, math.inf])]
)
def test_what_cannot_be_pooled(values: list[float], errors: list[float]) -> None:
    with pytest.raises(DataError, match="expected two or more"):
        pool_estimates(values, errors)


def test_intervals_cover_few_experiments() -> None:
    """Three experiments whose effects truly differ, 400 times: the interval of the mean holds it in 95 % (exact limits at .999)."""
    random = np.random.default_rng(20261125)
    held = 0
    for _ in range(400):
        effects = random.normal(0.1, 0.1, 3)
        errors = random.uniform(0.03, 0.06, 3)
        result = pool_estimates(list(random.normal(effects, errors)), list(errors))
        held += result.ci_low <= 0.1 <= result.ci_high
    assert stats.binom.ppf(0.0005, 400, 0.95) <= held <= 400
