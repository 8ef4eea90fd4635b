"""Standard deviations and correlations of random effects are those of R's VarCorr, by either engine."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import StudyTrials
from gardenpath.study import ModelSection

from .conftest import build_trials, fit_trials
from .test_answers import answers, conditions  # noqa: F401
from .test_factorial import measured_trials
from .test_ordinal import rated

RScript = Callable[..., pd.DataFrame]
SLOPES = "extraction + (1 + extraction|participant) + (1|item)"
SPREADS = """
rows$extraction <- ifelse(rows$extraction == "object", .5, -.5)
{fit}
spreads <- {package}::VarCorr(model)
result <- do.call(rbind, lapply(names(spreads), function(group) {{
  sd <- attr(spreads[[group]], "stddev"); r <- attr(spreads[[group]], "correlation")
  group <- sub("[.][0-9]+$", "", group)
  sds <- data.frame(grouping = group, term = names(sd), correlated_with = "", value = sd)
  if (length(sd) < 2) return(sds)
  rbind(sds, data.frame(grouping = group, term = names(sd)[1], correlated_with = names(sd)[2], value = r[1, 2]))
}}))
if (is.numeric(attr(spreads, "sc")) && {has_residual})
  result <- rbind(result, data.frame(grouping = "residual", term = "", correlated_with = "", value = attr(spreads, "sc")))
"""
pytestmark = [pytest.mark.r("ordinal"), pytest.mark.usefixtures("pymer4")]


def estimate(trials: StudyTrials, formula: str, family: str = "gaussian", **settings: object) -> "pd.Series[float]":
    """Return the random effects of a declared model, by grouping, term and the other term of a correlation."""
    found = fit_trials(trials, models=(ModelSection("m", formula),), **settings)
    model = found["planned_models"].set_index("family").loc[family, "model_id"]
    table = found["random_effects"].set_index("model_id").loc[[model]]
    assert (table["sd"].isna() != table["correlation"].isna()).all(), "one or the other"
    keys = ["grouping", "term", "correlated_with"]
    table[keys] = table[keys].astype(object).fillna("").replace("_object_subject", "", regex=True)
    return table["sd"].fillna(table["correlation"]).set_axis(pd.MultiIndex.from_frame(table[keys])).sort_index()


def refit(rscript: RScript, rows: pd.DataFrame, fit: str, package: str = "lme4", residual: bool = False) -> "pd.Series[float]":
    code = SPREADS.format(fit=fit, package=package, has_residual=str(residual).upper())
    table = rscript(code, rows=rows).replace("(Intercept)", "intercept")
    table[["term", "correlated_with"]] = table[["term", "correlated_with"]].astype(object).fillna("")
    return table.set_index(["grouping", "term", "correlated_with"])["value"].sort_index()


def require_same(ours: "pd.Series[float]", theirs: "pd.Series[float]", within: float) -> None:
    assert ours.index.to_list() == theirs.index.to_list()
    assert len(ours) >= 4
    np.testing.assert_allclose(ours.astype(float), theirs, rtol=within, atol=within)


@pytest.mark.parametrize("engine", ["glmm", "lme4"])
def test_those_of_a_linear_model_are_those_of_lmer(engine: str, rscript: RScript) -> None:
    trials = measured_trials()
    ours = estimate(trials, f"log_rt ~ {SLOPES}", engine=engine)
    theirs = refit(rscript, trials.times, f"model <- lme4::lmer(log_rt ~ {SLOPES}, rows)", residual=True)
    require_same(ours, theirs, 2e-3)


def test_uncorrelated_ones_have_no_correlation(rscript: RScript) -> None:
    trials = measured_trials()
    formula = f"log_rt ~ {SLOPES}".replace("extraction|p", "extraction||p")
    ours = estimate(trials, formula, engine="lme4")
    assert (ours.index.get_level_values("correlated_with") == "").all()
    require_same(ours, refit(rscript, trials.times, f"model <- lme4::lmer({formula}, rows)", residual=True), 1e-4)


@pytest.mark.parametrize("engine", ["glmm", "lme4"])
def test_those_of_a_binomial_model_are_those_of_glmer(engine: str, answers: pd.DataFrame, rscript: RScript) -> None:  # noqa: F811
    ours = estimate(build_trials(answers=answers, conditions=conditions()), f"correct ~ {SLOPES}", "binomial", engine=engine)
    fit = f"model <- lme4::glmer(response ~ {SLOPES}, rows, family = binomial, control = lme4::glmerControl(optimizer = 'bobyqa'))"
    require_same(ours, refit(rscript, answers.query("measure == 'correct'"), fit), 5e-3)


def test_those_of_ratings_as_categories_are_those_of_clmm(rscript: RScript) -> None:
    trials = rated()
    ours = estimate(trials, f"rating ~ {SLOPES}", "cumulative", ordinal=True)
    factors = "for (name in c('participant', 'item')) rows[[name]] <- factor(rows[[name]])"
    fit = f"{factors}; rows$rating <- ordered(rows$rating); model <- ordinal::clmm(rating ~ {SLOPES}, data = rows, link = 'probit')"
    require_same(ours, refit(rscript, trials.scores, fit, package="ordinal"), 5e-3)
