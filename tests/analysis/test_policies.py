"""Policies of random effects: what each keeps, what it never looks at, and the log of every step."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import fit
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.modelling.mixed_models import columns_of, fit_stepwise
from gardenpath.analysis.modelling.policies import widest
from gardenpath.study import DataError

RScript = Callable[..., pd.DataFrame]
FORMULA = "y ~ x*w + (1|participant) + (1|item)"
MAIN = "y ~ x + w + (1|participant) + (1|item)"


def study(seed: int = 1, slope: float = 0.8, participants: int = 24, items: int = 24) -> pd.DataFrame:
    """Return a 2 x 2 design within participants and items; slopes of x vary over participants, and no others do."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(participants), np.arange(items), indexing="ij"))
    x, w = np.where((p + i) % 2, 0.5, -0.5), np.where((p + i) // 2 % 2, 0.5, -0.5)
    y = 0.3 * x + rng.normal(0, 0.7, participants)[p] + slope * rng.normal(0, 1, participants)[p] * x
    y = y + rng.normal(0, 0.5, items)[i] + rng.normal(0, 1, len(p))
    age = np.where(p % 2, 0.5, -0.5)
    names = {"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i]}
    return pd.DataFrame({**names, "x": x, "w": w, "age": age, "y": y})


def chosen(rows: pd.DataFrame, policy: str, engine: str, formula: str = FORMULA) -> tuple[str, pd.DataFrame]:
    table, steps = fit_stepwise(rows, formula, policy=policy, engine=engine)
    return table["formula"].iloc[0], steps.of("y")


def random(formula: str) -> str:
    return formula.partition("(")[1] + formula.partition("(")[2]


def test_the_widest_model_has_a_slope_of_all_that_varies_within() -> None:
    rows = study()
    formula = parse_formula("y ~ x*w + age + (1|participant) + (0 + x|item)")
    assert str(widest(formula, columns_of(rows, formula))) == (
        "y ~ x + w + age + x:w + (1 + x + w + x:w|participant) + (0 + x + w + age + x:w|item)"
    )
    assert random(str(widest(formula, columns_of(rows, formula), ["x"]))) == "(1 + x|participant) + (0 + x|item)"


def test_an_interaction_with_a_factor_between_participants_has_no_slope_over_them() -> None:
    """Its column is that of the other factor, times a number for each participant."""
    rows = study()
    rows = rows.assign(age=rows["participant"].str[1:].astype(int).floordiv(4).mod(2) - 0.5)
    formula = parse_formula("y ~ x*w*age + (1|participant) + (1|item)")
    assert random(str(widest(formula, columns_of(rows, formula)))) == (
        "(1 + x + w + x:w|participant) + (1 + x + w + age + x:w + x:age + w:age + x:w:age|item)"
    )


def test_declared_keeps_the_formula_and_logs_one_step() -> None:
    formula, log = chosen(study(), "declared", "glmm")
    assert formula == FORMULA
    assert log[["model", "step", "kept", "formula"]].to_numpy().tolist() == [["y", 0, True, FORMULA]]


@pytest.mark.parametrize("engine", ["glmm", pytest.param("lme4", marks=pytest.mark.r)])
def test_maximal_keeps_a_slope_that_varies_and_drops_what_is_zero(engine: str, request: pytest.FixtureRequest) -> None:
    if engine == "lme4":
        request.getfixturevalue("pymer4")
    formula, log = chosen(study(2), "maximal", engine, MAIN)
    assert log["formula"].iloc[0].endswith("(1 + x + w|participant) + (1 + x + w|item)")
    assert "+ x" in random(formula).partition("participant")[0]
    # glmm cannot leave correlations out, so one of -1 or 1 may remain.
    assert engine == "glmm" or not log.loc[log["kept"], "singular"].any()
    assert "w by participant 0;" not in log.loc[log["kept"], "sd"].item()
    assert log.loc[~log["kept"], ["singular", "converged"]].eq([False, True]).all(axis=1).sum() == 0
    assert log["kept"].to_list() == [False] * (len(log) - 1) + [True]
    if engine == "lme4":  # correlations first
        assert log["formula"].iloc[1].endswith("(1 + x + w||participant) + (1 + x + w||item)")


@pytest.mark.r
def test_parsimonious_finds_the_slopes_that_are_there(pymer4: None) -> None:
    formula, log = chosen(study(2), "parsimonious", "lme4", MAIN)
    assert random(formula) == "(1 + x||participant) + (1|item)"
    assert log["kept"].sum() == 1
    tested = log.dropna(subset="p")
    assert ((tested["p"] > 0.2) == tested["decision"].str.contains("p > 0.2")).all()
    taken = tested[tested["decision"].str.contains("taken")]
    assert taken["formula"].iloc[-1] == formula
    assert taken["df"].sum() == log["parameters"].iloc[0] - log["parameters"].iloc[-1]


@pytest.mark.r
def test_the_likelihood_ratio_tests_are_rs_anova(pymer4: None, rscript: RScript) -> None:
    rows = study()
    _, log = chosen(rows, "parsimonious", "lme4", "y ~ x + (1|participant) + (1|item)")
    tested = log[log["formula"].str.contains(r"(1 + x||participant) + (1 + x|item)", regex=False)].iloc[0]
    code = """
    larger <- lme4::lmer(y ~ x + (1 + x|participant) + (1 + x|item), data = rows)
    smaller <- lme4::lmer(y ~ x + (1 + x||participant) + (1 + x|item), data = rows)
    compared <- anova(larger, smaller, refit = FALSE)
    result <- data.frame(chi2 = compared$Chisq[2], df = compared$Df[2], p = compared$`Pr(>Chisq)`[2])"""
    reference = rscript(code, rows=rows).iloc[0]
    assert tested["chi2"] == pytest.approx(reference["chi2"], abs=1e-4)
    assert tested["df"] == reference["df"] == 1
    assert tested["p"] == pytest.approx(reference["p"], abs=1e-4)


@pytest.mark.parametrize("policy", ["maximal", "parsimonious"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fixed_effects_are_not_looked_at(policy: str, seed: int) -> None:
    # Adding to y what the fixed effects can explain changes every fixed effect and no random one.
    rows = study(seed)
    shifted = rows.assign(y=rows["y"] + 7 * rows["x"] - 5 * rows["w"] + 3 * rows["x"] * rows["w"])
    steps = ["formula", "singular", "kept", "decision"]
    pd.testing.assert_frame_equal(chosen(rows, policy, "glmm")[1][steps], chosen(shifted, policy, "glmm")[1][steps])


def test_without_any_slopes_parsimonious_ends_at_intercepts() -> None:
    formula, log = chosen(study(slope=0.0, seed=4), "parsimonious", "glmm")
    assert random(formula) == "(1|participant) + (1|item)"
    assert log["decision"].iloc[-1] == "kept: nothing is left to leave out"


def test_a_model_that_stays_singular_is_kept_and_explained() -> None:
    rows = study(slope=0.0)
    rows["y"] -= rows.groupby("participant")["y"].transform("mean")
    table, steps = fit_stepwise(rows, "y ~ x + (1|participant) + (1|item)", policy="maximal")
    assert random(table["formula"].iloc[0]).startswith("(1|participant) + ")  # the group stays, though its variance is 0
    assert "the variance of the intercepts by participant is estimated as zero" in table["note"].iloc[0]
    assert table["note"].iloc[0].endswith("noise alone would; no slope without variance is left to leave out.")
    assert steps.of("y")["decision"].iloc[-1] == "kept, though it is singular: no slope without variance is left"


@pytest.mark.parametrize("engine", ["glmm", pytest.param("lme4", marks=pytest.mark.r)])
def test_a_slope_with_variance_stays_where_only_intercepts_have_none(engine: str, request: pytest.FixtureRequest) -> None:
    if engine == "lme4":
        request.getfixturevalue("pymer4")
    rows = study(3)
    rows["z"] = rows.groupby("participant")["y"].transform(lambda v: (v - v.mean()) / v.std(ddof=1))
    formula, log = chosen(rows, "maximal", engine, "z ~ x + (1|participant) + (1|item)")
    assert "x" in random(formula).partition("participant")[0]
    assert log.loc[log["kept"], "singular"].all()


@pytest.mark.r
def test_more_random_effects_than_rows_are_a_step_not_the_end(pymer4: None) -> None:
    rows = study(participants=24, items=24).groupby("participant").head(4)
    formula, log = chosen(rows, "maximal", "lme4", "y ~ x*w + (1|participant)")
    assert "R says: " in log["decision"].iloc[0]
    assert log["criterion"].isna().iloc[0]
    assert log["kept"].iloc[-1]
    assert formula != log["formula"].iloc[0]


def test_an_unknown_policy_is_one_line() -> None:
    with pytest.raises(ValueError, match="expected one of declared, maximal, parsimonious"):
        fit(study(), FORMULA, policy="stepwise")


def test_data_that_no_model_bears_end_in_the_last_reason() -> None:
    with pytest.raises(DataError, match="only one item"):
        fit(study().query("item == 'i0'"), FORMULA, policy="maximal")


@pytest.mark.r
def test_engines_that_agree_are_said_to(pymer4: None) -> None:
    for engine, other in (("glmm", "lme4"), ("lme4", "glmm")):
        table = fit(study(), FORMULA, engine=engine, crosscheck=True)
        assert table["note"].str.fullmatch(rf"Cross-checked with {other}: estimates differ by at most \S+ SE\.").all()


@pytest.mark.r
def test_a_form_that_only_one_engine_has_is_not_cross_checked_and_says_so(pymer4: None) -> None:
    table = fit(study(), "y ~ x + (0 + x|participant) + (1|item)", engine="lme4", crosscheck=True)
    assert table["note"].str.startswith("Not cross-checked: engine 'glmm' does not support slopes without intercepts").all()


@pytest.mark.r
def test_engines_that_differ_are_not_printed(pymer4: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from gardenpath.analysis.modelling import mixed_models

    monkeypatch.setattr(mixed_models, "SAME", 0.0)  # real fits differ by about a millionth of a standard error
    with pytest.raises(DataError, match=r"is .* by glmm and .* by lme4, .* SE apart; expected at most 0") as raised:
        fit(study(), "y ~ x + (1 + x|participant) + (1|item)", crosscheck=True)
    assert "\n" not in str(raised.value)


@pytest.mark.r
@pytest.mark.parametrize("policy", ["declared", "maximal"])
def test_the_r_code_of_a_fit_gives_its_estimates(policy: str, pymer4: None, rscript: RScript) -> None:
    rows = study().assign(kind=lambda t: np.where(t["x"] > 0, 'the "big" one', "small"))
    formula = "y ~ kind + (1|participant) + (1 + kind||item)"
    table, steps = fit_stepwise(rows, formula, engine="lme4", policy=policy, contrasts={"kind": "sum"})
    code = steps.of("y").query("kept")["code"].iloc[0]
    assert code.startswith("# R ")
    reference = rscript(code + "result <- as.data.frame(coef(summary(model)))", rows=rows)
    np.testing.assert_allclose(table[["estimate", "se", "df", "t", "p"]], reference, rtol=1e-7)
