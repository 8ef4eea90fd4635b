"""Binomial mixed models against glmer, against logistic regression by hand, and where they have no estimate."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from gardenpath.analysis import fit
from gardenpath.analysis.engines import glmm_engine, lme4_engine
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.modelling.mixed_models import columns_of, fit_stepwise
from gardenpath.analysis.modelling.separation import separated
from gardenpath.study import DataError

RScript = Callable[..., pd.DataFrame]
NUMBERS = ["estimate", "se", "t", "p"]
GLMER = """
model <- lme4::glmer({formula}, data = rows, family = binomial, control = lme4::glmerControl(optimizer = "bobyqa", tolPwrss = 1e-10))
result <- as.data.frame(coef(summary(model)))
names(result) <- c("estimate", "se", "t", "p")
result$criterion <- -2 * as.numeric(logLik(model))
result$singular <- lme4::isSingular(model)
result$converged <- length(model@optinfo$conv$lme4$messages) == 0
"""


def study(seed: int = 1, participants: int = 30, items: int = 24) -> pd.DataFrame:
    """Return right and wrong answers in a 2 x 2, x and w being +.5 or -.5, with intercepts and slopes that vary."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(participants), np.arange(items), indexing="ij"))
    x, w = np.where((p + i) % 2, 0.5, -0.5), np.where((p + i) // 2 % 2, 0.5, -0.5)
    people, sentences = rng.normal(0, [0.8, 0.9], (participants, 2)), rng.normal(0, [0.6, 0.7], (items, 2))
    log_odds = 0.8 + 0.6 * x - 0.5 * w + 0.4 * x * w + people[p, 0] + people[p, 1] * x + sentences[i, 0]
    log_odds += sentences[i, 1] * x
    frame = pd.DataFrame({"participant": p, "item": i, "x": x, "w": w})
    names = {"participant": "P" + frame["participant"].astype(str), "item": "i" + frame["item"].astype(str)}
    return frame.assign(**names, y=(rng.random(len(p)) < 1 / (1 + np.exp(-log_odds))).astype(int))


INTERCEPTS = "y ~ x*w + (1|participant) + (1|item)"
SLOPES = "y ~ x*w + (1 + x|participant) + (1 + x|item)"


@pytest.mark.parametrize(("formula", "seed"), [(INTERCEPTS, 2), (SLOPES, 1)])
def test_glmm_equals_glmer_where_both_converge_and_neither_is_singular(formula: str, seed: int, rscript: RScript) -> None:
    rows = study(seed)
    reference, table = rscript(GLMER.format(formula=formula), rows=rows), fit(rows, formula, family="binomial")
    for fitted in (reference, table):
        assert fitted["converged"].all()
        assert not fitted["singular"].any()
    np.testing.assert_allclose(table["estimate"], reference["estimate"], rtol=1e-4)
    np.testing.assert_allclose(table["se"], reference["se"], rtol=1e-3)
    assert table["df"].isna().all()
    found = glmm_engine.estimate_model(columns_of(rows, parse_formula(formula)), parse_formula(formula), family="binomial")
    assert found.criterion == pytest.approx(reference["criterion"][0], abs=1e-5)


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
@pytest.mark.parametrize("formula", [SLOPES, "y ~ x*w + (1 + x||participant) + (1|item)"])
def test_the_engine_lme4_is_glmer_and_writes_the_code_that_repeats_it(formula: str, rscript: RScript) -> None:
    rows = study()
    table, steps = fit_stepwise(rows, formula, family="binomial", engine="lme4")
    reference = rscript(GLMER.format(formula=formula), rows=rows)
    np.testing.assert_allclose(table[NUMBERS], reference[NUMBERS], rtol=1e-4)
    assert steps.rows[0]["criterion"] == pytest.approx(reference["criterion"][0])
    assert "residual" not in str(steps.rows[0]["sd"])
    again = rscript(f"{steps.rows[0]['code']}\nresult <- as.data.frame(coef(summary(model)))", rows=rows)
    np.testing.assert_allclose(table[NUMBERS], again, rtol=1e-4)


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
def test_two_engines_agree_and_give_the_same_covariance() -> None:
    rows, formula = study(), parse_formula(INTERCEPTS)
    table = fit(rows, INTERCEPTS, family="binomial", crosscheck=True)
    assert table["note"].str.startswith("Cross-checked with lme4").all()
    ours, theirs = (
        engine.estimate_model(columns_of(rows, formula), formula, family="binomial").covariance
        for engine in (glmm_engine, lme4_engine)
    )
    np.testing.assert_allclose(ours, theirs.loc[ours.index, ours.columns], rtol=5e-3, atol=1e-6)


def test_tests_and_intervals_are_wald_s() -> None:
    table = fit(study(), INTERCEPTS, family="binomial")
    z = table["estimate"] / table["se"]
    np.testing.assert_allclose(table["t"], z)
    np.testing.assert_allclose(table["p"], 2 * norm.sf(np.abs(z)))
    np.testing.assert_allclose(table["ci_high"] - table["estimate"], 1.959963984540054 * table["se"])


def test_truth_and_falsehood_are_taken_as_one_and_zero() -> None:
    rows = study()
    told = fit(rows.assign(y=rows["y"].astype(bool)), INTERCEPTS, family="binomial")
    pd.testing.assert_frame_equal(told, fit(rows, INTERCEPTS, family="binomial"))


def test_a_policy_starts_from_the_slopes_of_the_design_and_its_steps_have_the_fit_that_is_kept() -> None:
    rows = study(participants=20, items=16)
    table, steps = fit_stepwise(rows, INTERCEPTS, family="binomial", policy="maximal", slopes=["w"])
    assert steps.rows[0]["formula"] == "y ~ x + w + x:w + (1 + w|participant) + (1 + w|item)"
    assert [row["kept"] for row in steps.rows].count(True) == 1
    assert steps.kept is not None
    assert steps.kept.family == "binomial"
    assert steps.kept.coefficients["estimate"].to_list() == table["estimate"].to_list()


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(attractor=np.where(rows["x"] > 0, "plural", "singular"), grammatical=np.where(rows["w"] > 0, "no", "yes"))


def test_a_condition_without_errors_is_named_and_has_no_estimate() -> None:
    rows = cells(study())
    whole = (rows["attractor"] == "plural") & (rows["grammatical"] == "yes")
    rows["y"] = rows["y"].mask(whole, 1)
    coding = {"attractor": "sum", "grammatical": "sum"}
    formula = "y ~ attractor*grammatical + (1|participant) + (1|item)"
    with pytest.raises(DataError) as caught:
        fit(rows, formula, family="binomial", contrasts=coding)
    n = int(whole.sum())
    wanted = f"y is 100 % ({n} of {n}) where attractor is plural and grammatical is yes: the log odds have no finite estimate (separation)"
    assert str(caught.value) == wanted
    # Without the interaction the same data have an estimate, and with a whole level right they have none.
    assert fit(rows, formula.replace("*", " + "), family="binomial", contrasts=coding)["se"].lt(2).all()
    rows["y"] = rows["y"].mask(rows["attractor"] == "singular", 0)
    with pytest.raises(DataError, match=r"^y is 0 % \(0 of 360\) where attractor is singular: "):
        fit(rows, formula.replace("*", " + "), family="binomial", contrasts=coding)


def nearly_all_right(seed: int) -> pd.DataFrame:
    """Return answers of which a tenth is wrong, wherever it falls: few, as after a study's questions."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(12), np.arange(8), indexing="ij"))
    names = {"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i]}
    return pd.DataFrame(names).assign(x=np.where((p + i) % 2, 0.5, -0.5), y=(rng.random(len(p)) < 0.9).astype(int))


@pytest.mark.parametrize("engine", ["glmm", pytest.param("lme4", marks=pytest.mark.r)])
def test_variances_that_run_away_make_no_result(engine: str, request: pytest.FixtureRequest) -> None:
    """With slopes, random effects tell right from wrong without error; glmer's s.d. by item is 31 here, too."""
    if engine == "lme4":
        request.getfixturevalue("pymer4")
    rows, formula = nearly_all_right(1), "y ~ x + (1 + x|participant) + (1 + x|item)"
    table = fit(rows, formula, family="binomial", engine=engine)
    assert not table["converged"].any()
    assert table["note"].str.contains(r"has run away \(s\.d\. [\d.]+ log odds\): these answers are too few").all()
    smaller, steps = fit_stepwise(rows, formula, family="binomial", engine=engine, policy="maximal")
    assert smaller["converged"].all()
    assert "it did not converge" in str(steps.rows[0]["decision"])
    assert steps.kept is not None
    assert max(one.sd for one in steps.kept.variances) < 10
    apart = fit(study(), SLOPES, family="binomial", engine=engine)
    assert apart["converged"].all()


def test_separation_is_that_by_which_the_likelihood_has_no_maximum() -> None:
    """Held to logistic regression by hand: where Newton's steps end, there is a maximum, where they grow there is none."""
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(60):
        x, y = rng.integers(0, 3, (2, 8)).astype(float), rng.integers(0, 2, 8).astype(float)
        if len({*y}) < 2 or any(len({*one}) < 2 for one in x):
            continue
        columns = {"y": y.tolist(), "a": x[0].tolist(), "b": x[1].tolist()}
        found = separated(columns, parse_formula("y ~ a + b"))
        assert found == _diverges(np.column_stack([np.ones(8), *x]), y)
        seen.add(found)
    assert seen == {True, False}


def _diverges(design: np.ndarray, y: np.ndarray) -> bool:
    """Whether the log likelihood still climbs to where no fitted probability could be told from 0 or 1."""
    beta = np.zeros(design.shape[1])
    for _ in range(200):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -500, 500)))
        information = design.T @ (design * (p * (1 - p))[:, None])
        step = np.linalg.pinv(information, rcond=1e-12) @ design.T @ (y - p)
        beta = beta + step * min(1.0, 2 / max(np.abs(step).max(), 1e-300))
    return bool(np.abs(design @ beta).max() > 15)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, 1], r"column 'y': 1 of 4 values are neither 0 nor 1, such as .*2.*; expected 0 and 1, or False"),
        ([1, 1, 1, 1], r"y is 100 % \(4 of 4\), so that log odds have no finite estimate"),
    ],
)
def test_a_response_that_is_not_binary_is_refused(y: list[int], message: str) -> None:
    rows = pd.DataFrame({"y": y, "participant": list("aabb"), "item": list("abab")})
    with pytest.raises(DataError, match=message):
        fit(rows, "y ~ 1 + (1|participant) + (1|item)", family="binomial")


def test_an_unknown_family_and_what_glmm_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="family 'poisson' is not known; expected one of gaussian, binomial"):
        fit(study(), INTERCEPTS, family="poisson")
    with pytest.raises(ValueError, match="engine 'glmm' does not support uncorrelated random effects"):
        fit(study(), "y ~ x + (1 + x||participant) + (1|item)", family="binomial")
