"""Ordinal, additive and marginal models against R run by itself; the R call stands in each test."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import cumulative, marginal_contrasts, smooths
from gardenpath.study import DataError

pytestmark = [pytest.mark.r("ordinal", "mgcv"), pytest.mark.usefixtures("pymer4")]

RScript = Callable[..., pd.DataFrame]


def ratings(seed: int = 2, participants: int = 16, items: int = 14) -> pd.DataFrame:
    """Return ratings from 1 to 5 with a latent effect of 1, and log reading times that bend with surprisal."""
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(participants), np.arange(items), indexing="ij"))
    x = np.where((p + i) % 2, 0.5, -0.5)
    latent = x + rng.normal(0, 0.7, participants)[p] + rng.normal(0, 0.4, items)[i] + rng.normal(0, 1, len(p))
    surprisal = rng.gamma(2, 3, len(p))
    kind, size = np.array(["a", "b", "c"])[(p + i) % 3], np.array(["big", "small"])[(p + i) // 3 % 2]
    noise = rng.normal(0, 0.2, len(p))
    noise[1:] += 0.4 * noise[:-1]
    log_rt = 5.8 + 0.1 * np.sin(surprisal / 3) + 0.05 * (kind == "b") + rng.normal(0, 0.15, participants)[p] + noise
    frame = pd.DataFrame({"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i], "x": x})
    return frame.assign(rating=np.digitize(latent, [-1, 0, 0.7, 1.5]) + 1, surprisal=surprisal, kind=kind, size=size, log_rt=log_rt)


CLMM = """
rows$rating <- factor(rows$rating, ordered = TRUE)
model <- ordinal::clmm({formula}, data = rows, link = "{link}")
result <- as.data.frame(coef(summary(model)))[-seq_along(model$Theta), , drop = FALSE]
"""


@pytest.mark.parametrize(
    ("formula", "link", "slow"),
    [
        ("rating ~ x + (1|participant) + (1|item)", "probit", False),
        ("rating ~ x + (1|participant) + (1|item)", "logit", False),
        ("rating ~ x + (1 + x|participant) + (1|item)", "probit", False),
        ("rating ~ x + (1 + x|participant) + (1 + x|item)", "logit", True),
        ("rating ~ x + (1 + x||participant)", "probit", True),
        ("rating ~ x + (1 + x||participant)", "logit", False),
    ],
)
def test_ratings_as_categories_equal_clmm(formula: str, link: str, slow: bool, rscript: RScript, full: bool) -> None:
    if slow and not full:
        pytest.skip("one link of each form of slopes is fitted without --full")
    rows = ratings(participants=12, items=10)
    rows[["participant", "item"]] = rows[["participant", "item"]].astype("category")
    reference = rscript(
        "rows$participant <- factor(rows$participant); rows$item <- factor(rows$item)"
        + CLMM.format(formula=formula.replace("(1 + x||participant)", "(1|participant) + (0 + x|participant)"), link=link),
        rows=rows,
    )
    table = cumulative(rows, formula, link=link)
    assert table["term"].to_list() == ["x"]
    np.testing.assert_allclose(table[["estimate", "se", "t", "p"]], reference.iloc[:, :4], rtol=1e-5)
    assert table["converged"].all()


def test_bam_equals_mgcv_with_and_without_autocorrelation(rscript: RScript) -> None:
    rows = ratings()
    formula = "log_rt ~ x + s(surprisal, k=6) + s(participant, bs='re')"
    code = """
    rows$participant <- factor(rows$participant)
    first <- !duplicated(rows$participant)
    model <- mgcv::bam(FORMULA, data = rows, discrete = TRUE, method = "fREML", rho = RHO, AR.start = first)
    told <- summary(model, re.test = FALSE)
    result <- data.frame(estimate = told$p.table[2, 1], se = told$p.table[2, 2], p = told$p.table[2, 4],
      edf = told$s.table[1, "edf"], F = told$s.table[1, "F"], deviance = told$dev.expl)"""
    for rho in (0.0, 0.3):
        reference = rscript(code.replace("FORMULA", formula).replace("RHO", str(rho)), rows=rows).iloc[0]
        table = smooths(rows, formula, series=["participant"], rho=rho).set_index("term")
        line, curve = table.loc["x"], table.loc["s(surprisal)"]
        found = [line["estimate"], line["se"], line["p"], curve["edf"], curve["statistic"], line["deviance"]]
        np.testing.assert_allclose(np.array(found, dtype=float), reference.to_numpy(), rtol=1e-6)
        assert not line["smooth"]
        assert curve["smooth"]


def test_without_rho_the_autocorrelation_is_taken_from_the_data_and_then_gone() -> None:
    rows = ratings(participants=24, items=40)
    formula = "log_rt ~ s(surprisal) + s(participant, bs='re')"
    plain, corrected = smooths(rows, formula), smooths(rows, formula, series=["participant"])
    assert plain["rho"].eq(0).all()
    assert 0.2 < corrected["rho"][0] < 0.5  # made as a moving average of .4, whose lag-1 correlation is .34
    assert abs(corrected["autocorrelation"][0]) < 0.15 < plain["autocorrelation"][0]


EMMEANS = """
rows$kind <- factor(rows$kind); rows$size <- factor(rows$size)
model <- lmerTest::lmer(log_rt ~ kind * size + (1|participant) + (1|item), data = rows)
means <- emmeans::emmeans(model, SPECS, lmer.df = "satterthwaite", lmerTest.limit = 1e6)
result <- as.data.frame(emmeans::contrast(means, "pairwise", adjust = "holm"))
"""


@pytest.mark.parametrize(("by", "specs"), [([], "~ kind"), (["size"], "~ kind | size")])
def test_contrasts_between_levels_equal_emmeans(by: list[str], specs: str, rscript: RScript) -> None:
    rows = ratings()
    reference = rscript(EMMEANS.replace("SPECS", specs), rows=rows)
    table = marginal_contrasts(rows, "log_rt ~ kind*size + (1|participant) + (1|item)", "kind", by=by)
    assert table["contrast"].to_list() == reference["contrast"].to_list()
    theirs = reference[["estimate", "SE", "df", "t.ratio", "p.value"]]
    np.testing.assert_allclose(table[["estimate", "se", "df", "t", "p"]].astype(float), theirs, rtol=1e-6)
    assert table["within"].to_list() == ([f"size {s}" for s in reference["size"]] if by else ["all"] * 3)


def told(call: Callable[[], object]) -> str:
    with pytest.raises((DataError, ValueError)) as raised:
        call()
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_bad_data_and_calls_are_sentences() -> None:
    rows = ratings()
    plain = "rating ~ x + (1|participant)"
    assert "column 'rating' is 3 in each of 224 rows" in told(lambda: cumulative(rows.assign(rating=3), plain))
    assert "only one participant" in told(lambda: cumulative(rows.assign(participant="P"), plain))
    assert "clmm does not support models without random effects" in told(lambda: cumulative(rows, "rating ~ x"))
    assert "|| does not part the levels of the factor kind" in told(
        lambda: cumulative(rows, "rating ~ kind + (1 + kind||participant)")
    )
    assert "expected one of probit, logit" in told(lambda: cumulative(rows, plain, link="cauchy"))
    assert "no column pitch" in told(lambda: smooths(rows, "log_rt ~ s(pitch)"))
    assert "not finite" in told(lambda: smooths(rows.assign(surprisal=np.inf), "log_rt ~ s(surprisal)"))
    assert "R says" in told(lambda: smooths(rows, "log_rt ~ s(x)"))  # two values bear no curve of ten
    assert "expected -1 < rho < 1" in told(lambda: smooths(rows, "log_rt ~ s(surprisal)", rho=0.3))
    assert "x is no factor" in told(lambda: marginal_contrasts(rows, "log_rt ~ x + (1|participant)", "x"))
    assert "expected one of none, holm" in told(
        lambda: marginal_contrasts(rows, "log_rt ~ kind + (1|participant)", "kind", adjust="all")
    )
