"""Magnitude estimates: models of typed numbers are those that R makes of them, from the numbers on."""

import math
from collections.abc import Callable

import pandas as pd
import pytest

from gardenpath import analysis, experiment, study
from gardenpath.study import AnalysisSection

ITEMS = "paradigm,phenomenon,item,condition,sentence,factors\n" + "".join(
    f'p,f,i{n},{noun}.{verb},The {noun} near {n} [{verb}] here.,"noun: key, keys | verb: was, were"\n'
    for n in range(8)
    for noun in ("key", "keys")
    for verb in ("was", "were")
)
STUDY = """
name = "numbers"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
lists = 4
[procedure.target]
show = "with_task"
ask = ["good", "numbers"]
[procedure.tasks.good]
kind = "rating"
prompt = "How good is it?"
low = "bad"
high = "good"
[procedure.tasks.numbers]
kind = "magnitude_estimation"
prompt = "How good is it?"
[simulate.noun]
rating = 1.0
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(STUDY)
    made = study.load(folder / "study.toml")
    effects = experiment.Effects(terms=made.simulate)
    experiment.simulate(experiment.build_list_files(made), folder / "data", participants=24, seed=2, effects=effects)
    return experiment.collect(folder / "data")


FROM_NUMBERS = """
rows$log <- log(as.numeric(rows$response))
rows$z <- ave(rows$log, rows$participant, FUN = function(x) as.numeric(scale(x)))
rows$noun <- ifelse(rows$noun == "keys", 0.5, -0.5)
rows$verb <- ifelse(rows$verb == "were", 0.5, -0.5)
control <- lme4::lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10))  # the default stops early at a variance of zero
model <- lme4::lmer(z ~ noun * verb + (1|participant) + (1|item), data = rows, control = control)
result <- as.data.frame(coef(summary(model)))
"""


@pytest.mark.r
def test_models_are_lme4s_of_the_typed_numbers(collected: dict[str, pd.DataFrame], rscript: Callable[..., pd.DataFrame]) -> None:
    effects = analysis.analyse(collected)["effects"]
    ours = effects[(effects["response"] == "magnitude") & (effects["random"] == "intercepts") & (effects["kind"] == "coefficient")]
    responses = collected["responses"]
    theirs = rscript(FROM_NUMBERS, rows=responses[responses["task"] == "magnitude_estimation"])
    assert len(ours) == len(theirs) == 4
    for name, column in (("estimate", "Estimate"), ("se", "Std. Error")):
        assert ours[name].to_numpy() == pytest.approx(theirs[column].to_numpy(), rel=1e-6, abs=1e-9), name


def test_a_study_may_ask_for_both_and_each_has_its_own_scores_and_models(collected: dict[str, pd.DataFrame]) -> None:
    results = analysis.analyse(collected, AnalysisSection())
    scores = results["rating_scores"]
    assert scores.groupby("task")["prompt"].unique().map(list).to_dict() == {
        "magnitude_estimation": ["numbers"],
        "rating": ["good"],
    }
    typed = collected["responses"].query("task == 'magnitude_estimation'")["response"].astype(float).map(math.log)
    assert sorted(scores.loc[scores["prompt"] == "numbers", "rating"]) == pytest.approx(sorted(typed))
    assert set(zip(results["planned_models"]["response"], results["planned_models"]["prompt"], strict=True)) == {
        ("magnitude", "numbers"),
        ("z", "good"),
    }
    assert set(results["rating_counts"]["prompt"]) == {"good"}
    means = results["condition_means"]
    assert set(zip(means["measure"], means["prompt"], strict=True)) == {
        ("rating", "good"),
        ("z", "good"),
        ("log_magnitude", "numbers"),
        ("magnitude", "numbers"),
    }
    html = analysis.report({**collected, **results}, title="Both")
    assert "log magnitude estimate (z)" in html
    assert "Magnitude estimates were log-transformed (Bard et al., 1996, doi 10.2307/416793) and standardised" in html
    assert "Ratings were standardised within participant" in html
