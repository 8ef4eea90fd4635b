"""The tables of a fitted plan hang together, and which of the models of the same trials is the headline."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse, fit_plan, resolve_plan
from gardenpath.analysis.fitting import plan_tables, planned_fits
from gardenpath.analysis.fitting.plan_tables import NOT_TRIED
from gardenpath.analysis.model_results import is_intercepts_form, join_results
from gardenpath.study import TABLES, AnalysisSection, ModelSection
from gardenpath.study.plans import Plan, parse_plan

from .conftest import build_trials, measure_pairs
from .made_studies import ANYONE, INPUTS, STUDIES, build_factorial_tables
from .test_factorial import conditions, measured

Tables = dict[str, pd.DataFrame]
PLACE = ["unit", "model", "response", "region", "prompt"]
EMPTY = ("estimate", "se", "df", "t", "p", "ci_low", "ci_high", "p_adjusted", "mde", "ms", "raw")


@pytest.fixture(scope="module", params=[name for name, study in STUDIES.items() if not study.needs_r])
def fitted(request: pytest.FixtureRequest) -> Tables:
    study = STUDIES[request.param]
    tables = study.build_tables()
    return analyse({name: tables[name] for name in INPUTS if name in tables}, study.settings)


def test_every_planned_model_has_one_kept_fit_and_its_effects(fitted: Tables) -> None:
    planned, models, effects = (fitted[name] for name in ("planned_models", "models", "effects"))
    for name in ("planned_models", "models", "effects", "random_effects"):
        assert not fitted[name].duplicated([*TABLES[name].key]).any(), name
    assert models["model_id"].drop_duplicates().to_list() == planned["model_id"].to_list()
    assert effects["model_id"].drop_duplicates().to_list() == planned["model_id"].to_list()
    assert models.groupby("model_id")["kept"].sum().eq(1).all()
    first = models[(models["step"] == 0) & (models["decision"] != NOT_TRIED)].set_index("model_id")["formula"]
    assert first.to_dict() == planned.set_index("model_id").loc[first.index, "first_fit"].to_dict()
    steps = models.groupby("model_id")["step"].agg(list)
    assert all(numbers == [*range(len(numbers))] for numbers in steps)


def test_there_is_one_headline_for_the_models_of_the_same_trials(fitted: Tables) -> None:
    models = fitted["effects"].drop_duplicates("model_id")
    headlines = models.groupby(PLACE, dropna=False)["headline"].sum()
    assert headlines.eq(1).all()
    assert fitted["effects"].groupby("model_id")["headline"].nunique().eq(1).all()


def test_a_coefficient_of_the_effects_is_a_fixed_effect_of_the_kept_formula(fitted: Tables) -> None:
    results = join_results(fitted).query("kind == 'coefficient' and term != 'intercept'")
    assert len(results)
    for formula, rows in results.groupby("formula"):
        fixed = [{*term.split(":")} for term in formula.partition(" ~ ")[2].partition(" + (")[0].split(" + ")]
        assert all({*term.split(":")} in fixed for term in rows["term"])


@pytest.mark.parametrize(
    ("change", "headline"),
    [
        ({}, "slopes"),
        ({"singular": True}, "slopes"),
        ({"converged": False}, "intercepts"),
        ({"p": float("nan")}, "intercepts"),
        (None, "intercepts"),
    ],
)
def test_the_model_with_slopes_is_the_headline_where_the_data_allow_it(
    change: dict[str, object] | None, headline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`change` is what becomes of the fit with slopes; None where there is none."""

    def fit_planned(model, trials, engine):  # type: ignore[no-untyped-def]
        fit = planned_fits.fit_planned(model, trials, engine)
        if model.random != "slopes" or change == {}:
            return fit
        if change is None:
            return replace(fit, estimated=None, coefficients=fit.coefficients.head(1).assign(estimate=np.nan, p=np.nan))
        if "p" in change:
            return replace(fit, coefficients=fit.coefficients.assign(**change))
        return replace(fit, estimated=replace(fit.estimated, **change))

    monkeypatch.setattr(plan_tables, "fit_planned", fit_planned)
    _, times = measured(people=8, items=8)
    trials = build_trials(times=times, conditions=conditions())
    effects = fit_plan(resolve_plan(AnalysisSection(), trials), trials)["effects"]
    assert set(effects.loc[effects["headline"], "random"]) == {headline}
    assert set(effects.loc[is_intercepts_form(effects), "random"]) == ({"intercepts"} if headline == "slopes" else set())


def test_a_declared_model_is_its_own_headline_even_where_it_cannot_be_fitted() -> None:
    _, times = measured(people=8, items=8)
    trials = build_trials(times=times, conditions=conditions())
    formula = "log_rt ~ extraction + (1|participant) + (1|item)"
    own = (ModelSection("here", formula), ModelSection("nowhere", formula, region="verb"))
    effects = fit_plan(resolve_plan(AnalysisSection(models=own), trials), trials)["effects"]
    assert effects["headline"].all()
    assert not is_intercepts_form(effects).any()
    assert effects.groupby("model")["estimate"].count().to_dict() == {"here": 2, "nowhere": 0}


def test_without_effects_the_joined_table_is_empty_but_whole() -> None:
    results = join_results({})
    assert results.empty
    assert {*TABLES["effects"].column_names, "formula", "converged", "note"} <= {*results}


# ------------------------------------------------------------------------------------------------ a plan made before the data


def test_the_plan_that_is_given_is_the_one_that_is_fitted() -> None:
    """Of a plan from JSON with one of its models, the others are not fitted, and the numbers are those of the whole plan."""
    tables = build_factorial_tables(12, 8)
    given = {name: tables[name] for name in INPUTS if name in tables}
    settings = AnalysisSection(exclude=ANYONE)
    whole = analyse(given, settings)
    trials = build_trials(times=whole["region_times"], items=tables["items"], conditions=tables["conditions"])
    plan = resolve_plan(settings, trials)
    part = parse_plan(json.loads(replace(plan, models=plan.models[1:2], resolved_from="design").format_json()), "plan.json")
    found = analyse(given, settings, plan=part)
    [model] = part.models
    assert found["planned_models"]["model_id"].to_list() == [model.model_id]
    assert set(found["planned_models"]["plan_sha256"]) == {part.sha256} != {plan.sha256}
    expected = whole["effects"].query("model_id == @model.model_id")
    compared = expected.columns.drop(["p_adjusted", "adjustment"])  # of more than one region
    pd.testing.assert_frame_equal(found["effects"][compared], expected[compared].reset_index(drop=True))


@pytest.fixture(scope="module")
def planned(two_scales: Tables) -> Plan:
    """The plan of a study of reading and two scales, where all of it was measured."""
    return replace(resolve_plan(AnalysisSection(), measure_pairs(two_scales)), resolved_from="design")


@pytest.mark.parametrize("lacking", [{"response": "z", "prompt": "plausibility"}, {"response": "log_rt", "region": "critical+1"}])
def test_a_model_whose_prompt_or_region_the_data_lack_is_there_and_says_why_it_is_not_fitted(
    planned: Plan, two_scales: Tables, lacking: dict[str, str]
) -> None:
    trials = measure_pairs(two_scales)
    scores, times = trials.scores, trials.times
    if "prompt" in lacking:
        scores = scores[scores["prompt"] != lacking["prompt"]]
    else:
        times = times[times["region"] != lacking["region"]]
    found = fit_plan(planned, build_trials(scores=scores, times=times, items=trials.items))
    place = [*lacking]
    is_lacking = found["planned_models"][place].eq(pd.Series(lacking)).all(axis=1)
    assert is_lacking.sum() >= 9
    wanted = set(found["planned_models"].loc[is_lacking, "model_id"])
    models, effects = (found[name][found[name]["model_id"].isin(wanted)] for name in ("models", "effects"))
    assert set(models["model_id"]) == wanted
    assert len(effects) == len(models) == len(wanted)
    assert set(models["note"]) == {"Not fitted: no trial of these paradigms was measured there"}
    assert models["kept"].all()
    assert (models["n"] == 0).all()
    assert not models["converged"].any()
    assert effects[[*EMPTY]].isna().all(axis=None)
    assert not set(found["random_effects"]["model_id"]) & wanted
    others = found["effects"].drop(effects.index)
    assert others["estimate"].notna().all()
