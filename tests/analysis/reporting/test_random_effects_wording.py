"""Random effects in words: how much people and items differ in an effect, and what zero variances and singular fits mean."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import fit_plan, resolve_plan
from gardenpath.analysis.model_results import join_results
from gardenpath.analysis.plan import StudyTrials
from gardenpath.analysis.reporting.wording import random_effects as words
from gardenpath.study import TABLES, AnalysisSection

EFFECT = {"response": "log_rt", "region": "critical", "named": None, "whose": "", "term": "a", "ci_low": 0.05, "ci_high": 0.15}


def spread(grouping: str, status: str = "estimated", sd: float | None = 0.05, opposite: float | None = None) -> dict[str, object]:
    row = {"grouping": grouping, "term": "a", "correlated_with": None, "status": status, "sd": sd, "opposite": opposite}
    return row | {"correlation": None}


def test_slopes_of_log_times_are_per_cent_too() -> None:
    [sentence] = words.describe_spread(EFFECT, "a", [spread("participant", sd=0.1, opposite=0.25), spread("item", sd=0.2)])
    assert "participants' own effects of a vary with an s.d. of 0.10 (10.5%), so that 25.0% of participants" in sentence
    assert "items' own effects of a vary with an s.d. of 0.20 (22.1%)." in sentence


def test_without_a_sign_of_its_own_no_share_has_the_other_one() -> None:
    [sentence] = words.describe_spread(EFFECT | {"ci_low": -0.1}, "a", [spread("participant", opposite=0.4)])
    assert "other sign" not in sentence


def test_z_scores_have_no_per_cent() -> None:
    [sentence] = words.describe_spread(EFFECT | {"response": "z", "region": "sentence"}, "a", [spread("item", sd=0.1)])
    assert "%" not in sentence


@pytest.mark.parametrize(
    ("sd", "said"), [(None, "was estimated as zero and left out: they differ"), (0.0, "was estimated as zero: they differ")]
)
def test_a_slope_without_variance(sd: float | None, said: str) -> None:
    [sentence] = words.describe_zero(EFFECT, "a", [spread("participant"), spread("item", "zero", sd)])
    assert "slopes of a by items" in sentence
    assert said in sentence
    assert "participants" not in sentence


def test_a_slope_that_could_not_be_estimated_is_not_said_to_be_zero() -> None:
    rows = [spread("participant", "not estimated", None)]
    assert words.describe_zero(EFFECT, "a", rows) == words.describe_spread(EFFECT, "a", rows) == []


def test_a_slope_that_a_test_left_out() -> None:
    [sentence] = words.describe_zero(EFFECT, "a", [spread("item", "not needed", None)])
    assert "a likelihood-ratio test left out the slopes of a by items" in sentence


def test_singular_by_a_correlation() -> None:
    bound = spread("item", sd=None) | {"correlated_with": "intercept", "correlation": -1.0, "status": None}
    [sentence] = words.describe_singular(EFFECT, [spread("item"), bound])
    assert "perfect correlations of random effects (by items)" in sentence


def study(slope_sd: float) -> StudyTrials:
    random = np.random.default_rng(3)
    slopes, people, sentences = random.normal(0.5, slope_sd, 20), random.normal(0, 0.5, 20), random.normal(0, 0.4, 12)
    rows = [
        (f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, people[p] + sentences[i] + ((p + i) % 2 - 0.5) * slopes[p] + random.normal(0, 0.3))
        for p in range(20)
        for i in range(12)
    ]
    scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "z"])
    scores = scores.assign(role="target", paradigm="ever", task="rating", prompt="rating", rating=scores["z"])
    conditions = pd.DataFrame(
        [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")], columns=["paradigm", "condition", "factor", "level"]
    )
    times, answers = (pd.DataFrame(columns=TABLES[name].column_names) for name in ("region_times", "binary_responses"))
    return StudyTrials(scores, times, answers, scores[["paradigm", "item", "condition"]], conditions)


def test_a_fit_in_words_and_in_a_table() -> None:
    trials = study(0.4)
    tables = fit_plan(resolve_plan(AnalysisSection(), trials), trials)
    results = join_results(tables)
    headline = results[results["headline"] & (results["response"] == "z") & results["contrast"].notna()].iloc[0]
    rows = tables["random_effects"]
    own = rows[
        (rows["model_id"] == headline["model_id"]) & (rows["grouping"] == "participant") & (rows["term"] == headline["term"])
    ]
    own = own[own["correlated_with"].isna()].iloc[0]
    assert own["opposite"] == pytest.approx(stats.norm.cdf(-abs(headline["estimate"]) / own["sd"]))
    told = " ".join(words.describe_random_effects(results, rows))
    assert f"participants' own effects of npi (ever − any) vary with an s.d. of {own['sd']:.2f}" in told
    assert f"{100 * own['opposite']:.1f}% of participants" in told
    table = words.tabulate_random_effects(results[results["response"] == "z"], rows)
    assert any((row[0] == "participants" and row[2] == f"{own['sd']:.2f}") or row[1] == "npi (ever − any)" for row in table.rows)
    assert [row[0] for row in table.rows].count("residual") == 1


def test_a_singular_fit_of_trials_without_slopes_is_explained() -> None:
    trials = study(0.0)
    tables = fit_plan(resolve_plan(AnalysisSection(), trials), trials)
    results = join_results(tables)
    assert results.loc[results["headline"] & (results["response"] == "z"), "singular"].all()
    told = words.describe_random_effects(results, tables["random_effects"])
    assert any("the fit is singular by perfect correlations of random effects" in sentence for sentence in told)
