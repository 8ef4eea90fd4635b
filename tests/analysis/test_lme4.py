"""The engine `lme4` against R run by itself; the R call stands in each test."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import AlignmentOptions, align, fit
from gardenpath.analysis.engines import glmm_engine, lme4_engine
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.modelling.mixed_models import columns_of
from gardenpath.study import AnalysisSection, DataError
from gardenpath.study.table_files import read_csv

pytestmark = [pytest.mark.r, pytest.mark.usefixtures("pymer4")]

RScript = Callable[..., pd.DataFrame]
NUMBERS = ["estimate", "se", "df", "t", "p"]
LMER = """
model <- lmerTest::lmer({formula}, data = rows)
result <- as.data.frame(coef(summary(model)))
names(result) <- c("estimate", "se", "df", "t", "p")
result$criterion <- -2 * as.numeric(logLik(model))
result$singular <- lme4::isSingular(model)
"""


def study(seed: int = 1, participants: int = 24, items: int = 24, slope: float = 0.5) -> pd.DataFrame:
    """Return a 2 x 2 design, x and w being +.5 or -.5, with intercepts and slopes by participant and item."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(participants), np.arange(items), indexing="ij"))
    x, w = np.where((p + i) % 2, 0.5, -0.5), np.where((p + i) // 2 % 2, 0.5, -0.5)
    people, sentences = rng.normal(0, [0.8, slope, 0.6, 0.9], (participants, 4)), rng.normal(0, 0.5, (items, 2))
    y = 6 + 0.4 * x + 0.2 * w + (people[p] * np.column_stack([x * 0 + 1, x, w, x * w])).sum(1) + sentences[i, 0]
    y = y + sentences[i, 1] * x + rng.normal(0, 1, len(p))
    frame = pd.DataFrame({"participant": p, "item": i, "x": x, "w": w, "y": y})
    group = "group " + (p % 3).astype(str).astype(object)
    names = {"participant": "P" + frame["participant"].astype(str), "item": "i" + frame["item"].astype(str)}
    return frame.assign(**names, group=group, kind=np.where(i % 3 == 0, "a", np.where(i % 3 == 1, "b", 'ü, "c"')))


FORMS = [
    "y ~ x*w + (1|participant) + (1|item)",
    "y ~ x*w + (1 + x*w|participant) + (1 + x|item)",
    "y ~ x*w + (1 + x + w||participant) + (1 + x||item)",
    "y ~ x + (0 + x|participant) + (1|item) + (0 + x|item)",
    "y ~ x + (1|group/participant) + (1|item)",
    "y ~ 0 + kind + x + (1|participant) + (1|participant:kind)",
]


@pytest.mark.parametrize("formula", FORMS)
def test_every_form_of_random_effects_equals_lmertest(formula: str, rscript: RScript) -> None:
    rows = study()
    reference = rscript(LMER.format(formula=formula), rows=rows)
    table = fit(rows, formula, engine="lme4")
    # At a singular fit the criterion is flat, and rounding decides where the optimizer stops.
    close = 1e-3 if reference["singular"].any() else 1e-7
    np.testing.assert_allclose(table[NUMBERS], reference[NUMBERS], rtol=close, atol=1e-12)
    assert table["singular"].to_list() == reference["singular"].to_list()
    assert (table["ci_low"] < table["estimate"]).all()
    assert table["note"].str.startswith("Singular fit").eq(table["singular"]).all()


def test_standard_deviations_and_the_criterion_equal_those_of_lme4(rscript: RScript) -> None:
    rows, formula = study(), parse_formula("y ~ x + (1 + x|participant) + (1|item)")
    code = f"m <- lme4::lmer({formula}, data = rows); v <- as.data.frame(lme4::VarCorr(m)); v <- v[is.na(v$var2), ]"
    reference = rscript(code + "\nresult <- data.frame(sd = v$sdcor, criterion = lme4::REMLcrit(m))", rows=rows)
    for engine, near in ((lme4_engine, 1e-6), (glmm_engine, 1e-3)):
        found = engine.estimate_model(columns_of(rows, formula), formula)
        spread = [*(v.sd for v in found.variances), found.residual]
        np.testing.assert_allclose(spread, reference["sd"], rtol=near)
        assert found.criterion == pytest.approx(reference["criterion"][0], abs=1e-5)
        assert found.parameters == 4


def compared(rows: pd.DataFrame, formula: str, reference: pd.DataFrame) -> None:
    table = fit(rows, formula)
    np.testing.assert_allclose(table["estimate"], reference["estimate"], atol=1e-6)
    np.testing.assert_allclose(table["se"], reference["se"], rtol=1e-4)
    np.testing.assert_allclose(table["df"], reference["df"], rtol=1e-3)
    assert table["singular"].to_list() == reference["singular"].to_list()


@pytest.mark.parametrize("seed", range(4))
def test_glmm_equals_lme4_on_crossed_intercepts(seed: int, rscript: RScript) -> None:
    rows = study(seed)
    formula = "y ~ x*w + (1|participant) + (1|item)"
    compared(rows, formula, rscript(LMER.format(formula=formula), rows=rows))


@pytest.mark.data
def test_glmm_equals_lme4_on_object_relatives_of_grodner_and_gibson_2005(real_data: Path, rscript: RScript) -> None:
    rows = read_csv(real_data / "grodner-gibson-2005" / "GrodnerGibson2005E1.csv")
    verb = rows["word_position"].eq(rows["condition"].map({"objgap": "6", "subjgap": "4"}))
    rows = rows[verb].assign(x=rows["condition"].map({"objgap": 0.5, "subjgap": -0.5}))
    rows = pd.DataFrame(
        # Participants are numbers here: R has to be told that they are names.
        {"participant": "P" + rows["subject"], "item": "i" + rows["item"], "x": rows["x"], "ms": rows["rawRT"].astype(float)}
    ).assign(log_rt=lambda t: np.log(t["ms"]))
    formula = "log_rt ~ x + (1|participant) + (1|item)"
    compared(rows, formula, rscript(LMER.format(formula=formula), rows=rows))


@pytest.mark.data
def test_glmm_equals_lme4_on_chinese_relatives_of_jaeger_et_al_2015(real_data: Path, rscript: RScript) -> None:
    path = real_data / "jaeger-2015" / "JaegerChenLiLinVasishth2015_Exp1.txt"
    rows = pd.read_csv(path, sep="\t", dtype={"subject": str, "item": str}).query("`region.id` == 'hd1' and rt > 0")
    rows = pd.DataFrame(
        {
            "participant": "P" + rows["subject"],
            "item": "i" + rows["item"],
            "x": np.where(rows["cond"].isin(["a", "b"]), 0.5, -0.5),
            "w": np.where(rows["cond"].isin(["a", "c"]), 0.5, -0.5),
            "log_rt": np.log(rows["rt"]),
        }
    )
    formula = "log_rt ~ x*w + (1|participant) + (1|item)"
    compared(rows, formula, rscript(LMER.format(formula=formula), rows=rows))


def test_a_singular_fit_is_rs_own_verdict_and_is_explained(rscript: RScript) -> None:
    rows = study()
    rows["z"] = rows.groupby("participant")["y"].transform(lambda v: (v - v.mean()) / v.std(ddof=1))
    formula = "z ~ x + (1|participant) + (1|item)"
    assert rscript(LMER.format(formula=formula), rows=rows)["singular"].all()
    table = fit(rows, formula, engine="lme4")
    assert table["singular"].all()
    assert table["converged"].all()
    assert table["note"].iloc[0].startswith("Singular fit: the variance of the intercepts by participant is estimated as")
    assert "z-scoring takes out the participants' means" in table["note"].iloc[0]


def test_a_predictor_that_is_a_sum_of_others_is_named_and_left_empty() -> None:
    rows = study().assign(sum=lambda t: t["x"] + t["w"])
    table = fit(rows, "y ~ x + w + sum + (1|participant)", engine="lme4").set_index("term")
    assert pd.isna(table.loc["sum", "estimate"])
    assert table["note"].str.contains("combination of other predictors: sum").all()


def test_what_lme4_warns_of_is_in_the_note_as_text() -> None:
    rows = study().assign(far=lambda t: t["w"] * 1e9 + np.arange(len(t)))
    note = fit(rows, "y ~ x + far + (1|participant)", engine="lme4")["note"].iloc[0]
    assert "predictor variables are on very different scales" in note
    assert "\n" not in note


def test_what_r_refuses_is_a_sentence_with_its_reason() -> None:
    formula = "y ~ x + (1 + x*w|participant:item) + (1|item)"
    with pytest.raises(DataError, match=r"R says: .*number of (levels|observations)") as raised:
        fit(study(), formula, engine="lme4")
    assert "\n" not in str(raised.value)


def test_text_passes_to_r_as_it_is() -> None:
    table = fit(study(), "y ~ kind + (1|participant) + (1|item)", engine="lme4")
    assert table["term"].to_list() == ["intercept", "kindb", 'kindü, "c"']


def test_another_fit_uses_the_same_process() -> None:
    from gardenpath.analysis.engines import r_session

    fit(study(), FORMS[0], engine="lme4")
    process = r_session.get_session().process
    fit(study(2), FORMS[1], engine="lme4")
    assert r_session.get_session().process is process
    assert list(Path(r_session.get_session().folder.name).iterdir()) == []  # no rows are left behind


def test_after_r_was_killed_the_next_fit_starts_it_again() -> None:
    from gardenpath.analysis.engines import r_session

    before = fit(study(), FORMS[0], engine="lme4")
    r_session.get_session().process.kill()
    r_session.get_session().process.wait()
    pd.testing.assert_frame_equal(fit(study(), FORMS[0], engine="lme4"), before)


def test_threads_wait_for_one_another() -> None:
    from concurrent.futures import ThreadPoolExecutor

    expected = [fit(study(seed), FORMS[0], engine="lme4") for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: fit(study(seed), FORMS[0], engine="lme4"), range(4)))
    for table, other in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(table, other)


def test_the_engine_lme4_does_without_glmm_all_but_what_is_held_out(
    tables: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "glmm", None)  # its import fails
    readings = tables["readings"]
    few = readings[readings["participant"].isin(readings["participant"].unique()[:8])]
    given = {"readings": few, **{name: tables[name] for name in ("sessions", "surprisal", "words")}}
    found = align(given, AlignmentOptions(settings=AnalysisSection(engine="lme4")))
    assert found["alignment_models"]["estimate"].notna().all()
    assert found["held_out_clusters"].empty
    assert "glmm, which fits the models, cannot be imported" in found["delta_log_likelihood"]["note"].iloc[0]
