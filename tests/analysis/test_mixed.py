"""`fit` against a reference fit of real data, a dense REML written by hand and known effects; bad data."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import fit
from gardenpath.analysis.engines import r_session
from gardenpath.analysis.engines.estimates import ModelEstimate, RandomEffectSd, describe_singularity
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.study import DataError, MissingExtra
from gardenpath.study.table_files import read_csv

FORMULA = "y ~ x + (1|participant) + (1|item)"


def crossed(participants: int = 14, items: int = 10, seed: int = 3, effect: float = 0.4, person: float = 0.8) -> pd.DataFrame:
    """Return y = effect * x + person + item + noise, x being +.5 or -.5 in a Latin square."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(participants), np.arange(items), indexing="ij"))
    x = np.where((p + i) % 2, 0.5, -0.5)
    y = effect * x + rng.normal(0, person, participants)[p] + rng.normal(0, 0.5, items)[i] + rng.normal(0, 1, len(p))
    return pd.DataFrame({"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i], "x": x, "y": y})


def dense_reml(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return estimates and standard errors of FORMULA: the REML criterion minimised over the full covariance.

    -2 l = log|V| + log|X'V^-1 X| + r'V^-1 r, with V = s_p ZpZp' + s_i ZiZi' + s_e I.
    """
    from scipy.optimize import minimize

    y, design = frame["y"].to_numpy(), np.column_stack([np.ones(len(frame)), frame["x"]])
    same = [frame[g].to_numpy()[:, None] == frame[g].to_numpy()[None, :] for g in ("participant", "item")]

    def solve(log_variances: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        s_p, s_i, s_e = np.exp(log_variances)
        covariance = s_p * same[0] + s_i * same[1] + s_e * np.eye(len(y))
        weighted = np.linalg.solve(covariance, np.column_stack([design, y]))
        information = design.T @ weighted[:, :2]
        beta = np.linalg.solve(information, design.T @ weighted[:, 2])
        residual = y - design @ beta
        criterion = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
        return criterion + residual @ np.linalg.solve(covariance, residual), beta, np.linalg.inv(information)

    best = minimize(lambda v: solve(v)[0], np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    _, beta, covariance = solve(best.x)
    return beta, np.sqrt(np.diag(covariance))


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_estimates_and_standard_errors_are_those_of_a_dense_reml(seed: int) -> None:
    frame = crossed(seed=seed)
    beta, se = dense_reml(frame)
    table = fit(frame, FORMULA)
    assert not table["singular"].any()  # else the hand-written search would creep towards log(0)
    np.testing.assert_allclose(table["estimate"], beta, atol=1e-5)
    np.testing.assert_allclose(table["se"], se, rtol=1e-4)


@pytest.mark.data
def test_object_relatives_of_grodner_and_gibson_2005_give_the_reference_fit(real_data: Path) -> None:
    rows = read_csv(real_data / "grodner-gibson-2005" / "GrodnerGibson2005E1.csv")
    verb = rows["word_position"].eq(rows["condition"].map({"objgap": "6", "subjgap": "4"}))
    rows = rows[verb].rename(columns={"subject": "participant"})
    rows = rows.assign(log_rt=np.log(rows["rawRT"].astype(float)), x=rows["condition"].map({"objgap": 0.5, "subjgap": -0.5}))
    table = fit(rows, "log_rt ~ x + (1|participant) + (1|item)").set_index("term")
    # R: lmerTest::lmer(log(rawRT) ~ x + (1|subject) + (1|item))
    assert table.loc["x", "n"] == 672
    assert table.loc["x", "estimate"] == pytest.approx(0.12403, abs=5e-6)
    assert table.loc["x", "se"] == pytest.approx(0.02938, abs=5e-6)
    assert table.loc["x", "df"] == pytest.approx(614.0, abs=0.05)
    assert table.loc["x", "t"] == pytest.approx(4.2216, abs=5e-4)


def test_intervals_hold_the_true_effect_about_95_times_in_100() -> None:
    held = 0
    for seed in range(200):
        row = fit(crossed(seed=seed), FORMULA).set_index("term").loc["x"]
        held += row["ci_low"] <= 0.4 <= row["ci_high"]
    assert 180 <= held <= 198  # 95 % of 200 is 190; the bounds lie more than three standard deviations away


def test_a_fit_names_its_formula_engine_and_counts() -> None:
    table = fit(crossed(), FORMULA)
    assert table["formula"].eq(FORMULA).all()
    assert table.loc[0, ["engine", "term", "n", "participants", "n_items"]].to_list() == ["glmm", "intercept", 140, 14, 10]


def test_z_scored_ratings_are_singular_and_the_note_says_why() -> None:
    frame = crossed()
    frame["z"] = frame.groupby("participant")["y"].transform(lambda v: (v - v.mean()) / v.std(ddof=1))
    table = fit(frame, "z ~ x + (1|participant) + (1|item)")
    assert table["singular"].all()
    assert table["converged"].all()
    assert table["note"].unique().tolist() == [
        "Singular fit: the variance of the intercepts by participant is estimated as zero, because z-scoring takes out "
        "the participants' means, so none is left by construction; the model is kept as declared."
    ]


def test_slopes_without_variance_are_not_put_down_to_z_scores() -> None:
    frame = crossed()
    zero = (RandomEffectSd("participant", "1", 0.0), RandomEffectSd("participant", "x", 0.0), RandomEffectSd("item", "1", 1.0))
    found = ModelEstimate(frame, zero, 1.0, 4, 0.0, True, True, "glmm")
    told = describe_singularity(found, parse_formula("z ~ x + (1 + x|participant) + (1|item)"))
    assert "none is left by construction, and elsewhere these data show no more difference than noise alone would" in told


def test_a_singular_fit_of_anything_else_does_not_blame_z_scores() -> None:
    table = fit(crossed(seed=1, person=0.0), FORMULA)
    assert table["singular"].all()
    assert "no more difference there than noise" in table["note"].iloc[0]


def test_a_predictor_that_is_a_sum_of_others_is_named_and_left_empty() -> None:
    frame = crossed().assign(w=lambda t: np.arange(len(t)) % 3, sum=lambda t: t["x"] + np.arange(len(t)) % 3)
    table = fit(frame, "y ~ x + w + sum + (1|participant) + (1|item)")
    assert table["estimate"].isna().sum() == 1
    assert table["note"].str.contains("combination of other predictors").all()


def test_no_warning_reaches_the_caller(recwarn: pytest.WarningsRecorder) -> None:
    fit(crossed(seed=1, person=0.0), FORMULA)
    assert not recwarn.list


def test_extension_types_of_checked_tables_fit_like_plain_ones() -> None:
    frame = crossed()
    typed = frame.astype({"participant": "string", "item": "string", "x": "Float64"})
    pd.testing.assert_frame_equal(fit(typed, FORMULA), fit(frame, FORMULA))


BAD = {
    "no rows are left": lambda t: t.head(0),
    "only one participant (P0)": lambda t: t[t["participant"] == "P0"],
    "only one item (i0)": lambda t: t[t["item"] == "i0"],
    "column 'y' is 1 in each of 140 rows": lambda t: t.assign(y=1.0),
    "column 'x' is 0.5 in each of 70 rows": lambda t: t[t["x"] > 0],
    "column 'y': 2 of 140 values are empty or not finite": lambda t: t.assign(y=[np.nan, np.inf, *t["y"][2:]]),
    "column 'item': 1 of 140 values are empty": lambda t: t.assign(item=[None, *t["item"][1:]]),
    "no column item": lambda t: t.drop(columns="item"),
    "each of 10 rows has its own participant": lambda t: t.head(10).assign(participant=list("abcdefghij")),
}


@pytest.mark.parametrize("fault", BAD)
def test_data_without_an_estimate_are_a_sentence(fault: str) -> None:
    with pytest.raises(DataError) as raised:
        fit(BAD[fault](crossed()), FORMULA)
    assert fault in str(raised.value)


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(DataError) as raised:
        fit(crossed().head(10).assign(y=1.0), FORMULA)
    assert len(raised.value.faults) == 3  # one participant, an item each, constant y


def test_an_engine_that_is_not_known_is_one_line() -> None:
    with pytest.raises(ValueError, match="expected one of glmm, lme4") as raised:
        fit(crossed(), FORMULA, engine="spss")
    assert "\n" not in str(raised.value)


def test_without_r_the_engine_lme4_says_in_a_line_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(r_session, "_sessions", {})  # an R that runs already needs no path
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtra, match=r"needs .*R, not found.*gardenpath\[r\].*apt-get install.*r-cran-lme4") as raised:
        fit(crossed(), FORMULA, engine="lme4")
    assert "\n" not in str(raised.value)


FORMS = ["(0 + x|participant) + (1|item)", "(1 + x||participant) + (1|item)", "(1|participant) + (1 + x|participant)"]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_glmm_has_not_is_refused_in_a_line_that_names_lme4(form: str) -> None:
    with pytest.raises(ValueError, match=r"engine 'glmm' does not support .*; engine 'lme4' does") as raised:
        fit(crossed(), f"y ~ x + {form}")
    assert "\n" not in str(raised.value)


def test_a_factor_with_one_level_and_a_response_of_text_are_sentences() -> None:
    with pytest.raises(DataError, match="factor 'c' has the one level 'a' in 140 rows"):
        fit(crossed().assign(c="a"), "y ~ c + (1|participant) + (1|item)")
    with pytest.raises(DataError, match="column 'y' is text, such as 'fast'"):
        fit(crossed().assign(y=["fast", "slow"] * 70), FORMULA)


def test_slopes_of_an_interaction_have_their_variance() -> None:
    frame = crossed(30, 24).assign(w=lambda t: np.where(np.arange(len(t)) // 2 % 2, 0.5, -0.5))
    product = frame.assign(xw=frame["x"] * frame["w"])
    table = fit(frame, "y ~ x*w + (1 + x*w|participant) + (1|item)")
    other = fit(product, "y ~ x + w + xw + (1 + x + w + xw|participant) + (1|item)")
    assert table["term"].to_list() == ["intercept", "x", "w", "x:w"]
    np.testing.assert_allclose(table["estimate"], other["estimate"], rtol=1e-9)


@pytest.mark.parametrize("formula", ["y", "y ~", "y ~ x + (1|participant"])
def test_a_formula_that_is_none_is_a_sentence(formula: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        fit(crossed(), formula)
