"""Sums of a model's fixed effects, tested without refitting: lmerTest's contest1D, by both engines, and by hand."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis.engines.estimates import ModelEstimate
from gardenpath.analysis.modelling.mixed_models import fit_stepwise

RScript = Callable[..., pd.DataFrame]
FORMULA = "y ~ x*w + (1 + x|participant) + (1|item)"
WEIGHTS = {"x": 1.0, "x:w": -0.5}


def crossed(seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(14), np.arange(12), indexing="ij"))
    x, w = np.where((p + i) % 2, 0.5, -0.5), np.where((p + i) // 2 % 2, 0.5, -0.5)
    kept = rng.random(len(p)) > 0.1  # unbalanced: coefficients covary
    y = 6 + 0.1 * x + rng.normal(0, 0.3, 14)[p] + rng.normal(0, 0.2, 14)[p] * x + rng.normal(0, 0.2, 12)[i]
    frame = pd.DataFrame({"participant": p, "item": i, "x": x, "w": w, "y": y + rng.normal(0, 0.3, len(p))})
    return frame.assign(participant="P" + frame["participant"].astype(str), item="i" + frame["item"].astype(str))[kept]


def kept(rows: pd.DataFrame, engine: str) -> ModelEstimate:
    estimated = fit_stepwise(rows, FORMULA, engine=engine).steps.kept
    assert estimated is not None
    return estimated


@pytest.fixture(params=["glmm", pytest.param("lme4", marks=pytest.mark.r)])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "lme4":
        request.getfixturevalue("pymer4")
    return str(request.param)


def test_a_sum_of_coefficients_is_tested_as_by_lmertest(engine: str, rscript: RScript) -> None:
    rows = crossed()
    reference = rscript(
        f"""
        m <- lmerTest::lmer({FORMULA}, data = rows)
        t <- lmerTest::contest1D(m, c(0, 1, 0, -.5), confint = TRUE)
        V <- as.matrix(vcov(m)); b <- lme4::fixef(m)
        u <- c(1, .5, .5, .25); l <- c(1, -.5, .5, -.25)
        g <- exp(sum(u * b)) * u - exp(sum(l * b)) * l
        half <- qt(.975, lmerTest::contest1D(m, u - l)$df) * sqrt(as.numeric(t(g) %*% V %*% g))
        result <- data.frame(t$Estimate, t$`Std. Error`, t$df, t$`t value`, t$`Pr(>|t|)`, t$lower, t$upper,
                             ms = exp(sum(u * b)) - exp(sum(l * b)), half)""",
        rows=rows,
    ).iloc[0]
    estimated = kept(rows, engine)
    found = [*estimated.combine_effects(WEIGHTS).values()]
    np.testing.assert_allclose(found, reference.iloc[:7], rtol=1e-3 if engine == "glmm" else 1e-6)
    upper = {"intercept": 1.0, "x": 0.5, "w": 0.5, "x:w": 0.25}
    lower = {"intercept": 1.0, "x": -0.5, "w": 0.5, "x:w": -0.25}
    ms, low, high = estimated.compute_exp_difference(upper, lower)
    np.testing.assert_allclose([ms, ms - low, high - ms], reference[["ms", "half", "half"]], rtol=1e-3)


def test_a_single_coefficient_is_the_table_s_own(engine: str) -> None:
    estimated = kept(crossed(), engine)
    for row in estimated.coefficients.to_dict("records"):
        found = estimated.combine_effects({row["term"]: 1.0})
        assert found == pytest.approx({name: row[name] for name in found}, rel=1e-6)


def test_without_degrees_of_freedom_the_test_is_z() -> None:
    table = pd.DataFrame({"term": ["a", "b"], "estimate": [2.0, 1.0]})
    covariance = pd.DataFrame([[0.5, 0.25], [0.25, 0.5]], index=["a", "b"], columns=["a", "b"])
    found = ModelEstimate(table, (), 1.0, 1, 0.0, True, False, "", covariance=covariance).combine_effects({"a": 1.0, "b": 1.0})
    # Variance .5 + .5 + 2 * .25, so z = 3 / sqrt(1.5).
    assert found["t"] == pytest.approx(2.449489742783178)
    assert found["p"] == pytest.approx(0.0143058784354296)
    assert np.isnan(found["df"])


def test_what_was_not_estimated_leaves_no_number(engine: str) -> None:
    rows = crossed().assign(again=lambda t: 2 * t["w"])
    formula = "y ~ x + w + again + (1|participant) + (1|item)"
    estimated = fit_stepwise(rows, formula, engine=engine).steps.kept
    assert estimated is not None
    assert np.isnan(estimated.combine_effects({"x": 1.0, "again": 1.0})["se"])
    alone = estimated.combine_effects({"x": 1.0})
    assert np.isfinite([alone["se"], alone["df"]]).all()
