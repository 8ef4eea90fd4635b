"""Delta log-likelihood against densities by the definition, and against R's lme4 and mvtnorm."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import (
    AlignmentOptions,
    align,
    compute_delta_comparisons,
    compute_delta_log_likelihood,
    compute_held_out_clusters,
)
from gardenpath.analysis.aligning.held_out_likelihood import FittedModel, fit_ml
from gardenpath.analysis.aligning.predictors import format_formula, list_reading_terms
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.intervals import holm, ratio_interval, sign_flip_test
from gardenpath.study import DataError

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def aligned(tables: Tables) -> pd.DataFrame:
    given = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    return align(given, AlignmentOptions(slopes=False))["aligned"]


FITTED = FittedModel(
    "y",
    {"(Intercept)": 5.0, "x": 0.3},
    [("participant", ("(Intercept)", "x"), np.array([[0.5, 0.1], [0.1, 0.2]])), ("item", ("(Intercept)",), np.array([[0.3]]))],
    residual=0.4,
    converged=True,
)


def rows(participants: int, items: int) -> pd.DataFrame:
    rng = np.random.default_rng(participants)
    cells = list(itertools.product(range(participants), range(items)))
    frame = pd.DataFrame({"participant": [f"P{p}" for p, _ in cells], "item": [f"i{i}" for _, i in cells]})
    return frame.assign(x=rng.normal(0, 1, len(cells)), y=rng.normal(5, 1, len(cells)))


def by_definition(frame: pd.DataFrame) -> tuple[list[float], list[list[float]]]:
    """Return means and covariances of all readings, cell by cell."""
    given = frame.to_dict("records")
    covariance = []
    for a in given:
        line = []
        for b in given:
            same = 0.4 if a is b else 0.0
            if a["participant"] == b["participant"]:
                same += 0.5 + 0.1 * (a["x"] + b["x"]) + 0.2 * a["x"] * b["x"]
            if a["item"] == b["item"]:
                same += 0.3
            line.append(same)
        covariance.append(line)
    return [5 + 0.3 * a["x"] for a in given], covariance


@pytest.mark.parametrize(("participants", "items"), [(2, 30), (6, 2), (1, 1)], ids=["fewer effects", "more effects", "one"])
def test_joint_densities_are_those_of_the_multivariate_normal(participants: int, items: int) -> None:
    frame = rows(participants, items)
    mean, covariance = by_definition(frame)
    expected = stats.multivariate_normal(mean, covariance).logpdf(frame["y"].to_numpy())
    assert FITTED.compute_joint_density(frame) == pytest.approx(expected, abs=1e-9)
    alone = [stats.norm(m, covariance[k][k] ** 0.5).logpdf(frame["y"][k]) for k, m in enumerate(mean)]
    assert FITTED.compute_row_densities(frame) == pytest.approx(alone, abs=1e-12)


R_HELD = """
suppressMessages(library(lme4))
suppressMessages(library(mvtnorm))
fixed <- c("length", "length_previous", "length_previous2", "zipf", "zipf_previous", "zipf_previous2", "position", "log_trial")
random <- "(1 | participant) + (1 | item) + (1 | token)"
density <- function(terms, train, test) {
  fitted <- lmer(as.formula(paste("log_rt ~", paste(terms, collapse = " + "), "+", random)), train, REML = FALSE,
    control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9)))
  beta <- fixef(fitted)
  mean <- as.vector(cbind(1, as.matrix(test[, names(beta)[-1]])) %*% beta)
  v <- as.data.frame(VarCorr(fitted))
  sigma <- diag(v$vcov[v$grp == "Residual"], nrow(test))
  for (g in c("participant", "item", "token"))
    sigma <- sigma + v$vcov[v$grp == g] * outer(test[[g]], test[[g]], "==")
  dmvnorm(test$log_rt, mean, sigma, log = TRUE)
}
surprisal <- c("surprisal", "surprisal_previous", "surprisal_previous2")
train <- aligned[!(aligned$item %in% out$cluster), ]
result <- do.call(rbind, lapply(out$cluster, function(cluster) {
  test <- aligned[aligned$item == cluster, ]
  data.frame(cluster = cluster, log_likelihood_without = density(fixed, train, test),
    log_likelihood_with = density(c(surprisal, fixed), train, test))
}))
"""


@pytest.mark.r
def test_held_out_densities_are_those_of_lme4_and_mvtnorm(aligned: pd.DataFrame, rscript: Callable[..., pd.DataFrame]) -> None:
    held = compute_held_out_clusters(aligned, folds=6, seed=3)
    first = held[held["fold"] == 0].set_index("cluster")
    assert len(first) == 4
    theirs = rscript(R_HELD, aligned=aligned, out=first.reset_index()[["cluster"]]).set_index("cluster")
    for name in ("log_likelihood_without", "log_likelihood_with"):
        assert first[name].to_list() == pytest.approx(theirs.loc[first.index, name].to_list(), abs=2e-3)


@pytest.mark.parametrize(("by", "column"), [("item", "item"), ("participant", "participant"), ("story", "paradigm")])
def test_each_cluster_is_held_out_once_and_whole(aligned: pd.DataFrame, by: str, column: str) -> None:
    held = compute_held_out_clusters(aligned, fold_unit=by, folds=4, lags=1)
    assert dict(zip(held["cluster"], held["n_readings"], strict=True)) == aligned.groupby(column).size().to_dict()
    sizes = held["fold"].value_counts()
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == min(4, aligned[column].nunique())
    cluster, fold = held["cluster"].iloc[0], held["fold"].iloc[0]
    out = held.loc[held["fold"] == fold, "cluster"]
    train, test = aligned[~aligned[column].isin(out)], aligned[aligned[column] == cluster]
    for name, with_it in (("log_likelihood_without", False), ("log_likelihood_with", True)):
        fitted = fit_ml(train, parse_formula(format_formula(list_reading_terms([0, 1], surprisal=with_it))))
        assert held[name].iloc[0] == pytest.approx(fitted.compute_joint_density(test), abs=1e-3)  # from another start


def test_rows_are_held_out_alone_and_summed_by_item(aligned: pd.DataFrame) -> None:
    held = compute_held_out_clusters(aligned, fold_unit="row", folds=3)
    assert held["n_readings"].sum() == len(aligned)
    assert sorted(held["cluster"]) == sorted(aligned["item"].unique())
    assert held["fold"].isna().all()
    told = compute_delta_log_likelihood(held)
    assert "Other readings of the same words are in the fit" in told["note"].item()


def test_the_base_is_the_same_for_every_model_and_a_permuted_model_gains_nothing(aligned: pd.DataFrame) -> None:
    shuffled = dict(zip(aligned["token"].unique(), np.random.default_rng(2).permutation(aligned["token"].unique()), strict=True))
    bits = aligned.drop_duplicates("token").set_index("token")[["surprisal", "surprisal_previous", "surprisal_previous2"]]
    noise = aligned.assign(model="noise", **bits.loc[aligned["token"].map(shuffled)].reset_index(drop=True))
    held = compute_held_out_clusters(pd.concat([aligned, noise]))
    real, other = (held[held["model"] == name].set_index("cluster") for name in ("little-lm (toy)", "noise"))
    pd.testing.assert_series_equal(real["log_likelihood_without"], other["log_likelihood_without"])
    gains = compute_delta_log_likelihood(held).set_index("model")
    assert gains.loc["little-lm (toy)", "p"] == gains.loc["little-lm (toy)", "min_p"] == 1 / 10001
    assert gains.loc["little-lm (toy)", "ci_low"] > 0
    assert gains.loc["noise", "p"] > 0.05
    assert gains["total_delta"].to_list() == pytest.approx(
        (held["log_likelihood_with"] - held["log_likelihood_without"]).groupby(held["model"]).sum().to_list()
    )
    assert gains["delta"].to_list() == pytest.approx((gains["total_delta"] / len(aligned)).to_list())
    pair = compute_delta_comparisons(held).iloc[0]
    assert pair["total_delta"] == pytest.approx(gains["total_delta"].iloc[0] - gains["total_delta"].iloc[1])
    assert (pair["p"], pair["p_holm"]) == (1 / 10001, 1 / 10001)


def test_folds_depend_on_the_seed_and_on_nothing_else(aligned: pd.DataFrame) -> None:
    once = compute_held_out_clusters(aligned, folds=3, lags=0, seed=5)
    again = compute_held_out_clusters(aligned.sample(frac=1, random_state=1), folds=3, lags=0, seed=5)
    assert once["fold"].to_list() == again["fold"].to_list()
    assert once["log_likelihood_with"].to_list() == pytest.approx(again["log_likelihood_with"].to_list(), abs=1e-4)
    assert once["fold"].to_list() != compute_held_out_clusters(aligned, folds=3, lags=0, seed=6)["fold"].to_list()


def test_under_ten_clusters_there_is_no_p(aligned: pd.DataFrame) -> None:
    told = compute_delta_log_likelihood(compute_held_out_clusters(aligned, fold_unit="story")).iloc[0]
    assert told[["p", "ci_low", "ci_high", "min_p"]].isna().all()
    assert told["note"] == "No p and no interval: 3 clusters, under 10."
    assert told["delta"] > 0


def test_models_of_other_readings_are_not_compared(aligned: pd.DataFrame) -> None:
    less = aligned[aligned["participant"] != "P03"].assign(model="other")
    pair = compute_delta_comparisons(
        pd.concat([compute_held_out_clusters(aligned, folds=3), compute_held_out_clusters(less, folds=3)])
    ).iloc[0]
    assert pair["note"] == "The two were not fitted to the same readings."
    assert pair[["delta", "p", "p_holm"]].isna().all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda a: a[a["participant"] == "P00"], "only one participant"),
        (lambda a: a[a["item"] == "islands-1"], "only one item"),
        (lambda a: a.assign(log_rt=5.0), "is 5 in each of"),
        (lambda a: a.assign(surprisal=np.inf), "not finite"),
        (lambda a: a.head(0), "has no rows"),
    ],
)
def test_what_cannot_be_held_out_is_a_sentence(
    aligned: pd.DataFrame, change: Callable[[pd.DataFrame], pd.DataFrame], why: str
) -> None:
    with pytest.raises(DataError, match=why):
        compute_held_out_clusters(change(aligned))


def test_a_wrong_call_says_what_was_expected(aligned: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="expected one of item, story, participant, row"):
        compute_held_out_clusters(aligned, fold_unit="sentence")
    with pytest.raises(ValueError, match="expected 2 or more"):
        compute_held_out_clusters(aligned, folds=1)


@pytest.mark.parametrize("one_sided", [True, False])
def test_few_sign_flips_are_enumerated(one_sided: bool) -> None:
    values = [0.3, -0.1, 0.4, 0.2, -0.25, 0.6, 0.1, 0.05, 0.2, -0.4, 0.3]
    sums = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in itertools.product([-1, 1], repeat=11)]
    reached = [(s if one_sided else abs(s)) >= sum(values) - 1e-12 for s in sums]
    found = sign_flip_test(values, one_sided=one_sided, seed=1)
    assert found.p == sum(reached) / 2**11
    assert found.min_possible_p == (1 if one_sided else 2) / 2**11
    assert found.method == "exact"


def test_drawn_sign_flips_come_close_to_the_enumerated_ones() -> None:
    values = np.random.default_rng(8).normal(0.3, 1, 17)
    signs = np.array(list(itertools.product([-1, 1], repeat=17)))
    exact = float((signs @ values >= values.sum() - 1e-12).mean())
    drawn = sign_flip_test(values, one_sided=True, seed=4)
    assert abs(drawn.p - exact) < 4 * (exact * (1 - exact) / 10_000) ** 0.5
    assert drawn == sign_flip_test(values, one_sided=True, seed=4)
    assert drawn.min_possible_p == 1 / 10_001


def test_no_effect_is_found_as_often_as_stated() -> None:
    rng = np.random.default_rng(0)
    p = [sign_flip_test(rng.normal(0, 1, 12), one_sided=True, seed=1).p for _ in range(300)]
    assert stats.binomtest(sum(x < 0.05 for x in p), 300, 0.05).pvalue > 0.001


def test_the_cluster_bootstrap_is_the_plain_loop() -> None:
    rng = np.random.default_rng(1)
    sums, sizes = rng.normal(2, 3, 25), rng.integers(5, 40, 25)
    drawn = []
    for _ in range(4000):
        chosen = [int(rng.integers(25)) for _ in range(25)]
        drawn.append(sum(sums[k] for k in chosen) / sum(sizes[k] for k in chosen))
    assert ratio_interval(sums, sizes, seed=2) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.006)


@pytest.mark.r
def test_holm_is_rs(rscript: Callable[..., pd.DataFrame]) -> None:
    p = pd.Series([0.04, 0.001, 0.2, 0.03, 0.03, 0.9])
    theirs = rscript('result <- data.frame(p = p.adjust(given$p, "holm"))', given=p.to_frame("p"))
    assert holm(p).to_list() == pytest.approx(theirs["p"].to_list(), abs=1e-12)
