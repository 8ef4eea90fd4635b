"""The plan of a study names the models that are fitted: those of the tables, by the formulas that are tried first."""

import json
from pathlib import Path

import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.engines.ordinal_engine import split_uncorrelated_effects
from gardenpath.analysis.grammatical_status import build_pair_conditions
from gardenpath.analysis.measured_studies import measure_study
from gardenpath.analysis.plan import StudyTrials, resolve_plan
from gardenpath.study import TABLES, DataError
from gardenpath.study.plans import Plan, PlannedModel, parse_plan

from .made_studies import INPUTS, STUDIES
from .test_frozen_tables import FROZEN

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module", params=[name for name, one in STUDIES.items() if not one.needs_r])
def planned(request: pytest.FixtureRequest) -> tuple[str, Plan]:
    name: str = request.param
    return name, plan_of(name)


def plan_of(name: str) -> Plan:
    """Resolve the plan of a made study from its data."""
    one = STUDIES[name]
    tables = one.build_tables()
    settings = one.settings
    found = analyse({k: tables[k] for k in INPUTS if k in tables}, settings) if not one.needs_r else measured(tables, name)
    answers = found.get("binary_responses", pd.DataFrame(columns=TABLES["binary_responses"].column_names))
    conditions = tables["conditions"] if "conditions" in tables else build_pair_conditions(tables["items"])
    trials = StudyTrials(found["rating_scores"], found["region_times"], answers, tables["items"], conditions)
    return resolve_plan(settings, trials)


def measured(tables: Tables, name: str) -> Tables:
    """What is measured in a study whose models R fits: its plan needs none."""
    from dataclasses import replace

    return analyse({k: tables[k] for k in INPUTS if k in tables}, replace(STUDIES[name].settings, ordinal=False))


def frozen(name: str, table: str) -> pd.DataFrame:
    path = FROZEN / name / f"{table}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["prompt"])


def select(plan: Plan, unit: str, policy: str | None = None) -> list[PlannedModel]:
    return [one for one in plan.models if one.unit == unit and policy in (None, one.policy) and one.family != "cumulative"]


@pytest.mark.parametrize("unit", ["phenomenon", "paradigm"])
def test_models_of_pairs_are_those_of_the_tables(planned: tuple[str, Plan], unit: str) -> None:
    name, plan = planned
    table = frozen(name, f"{unit}_models").astype({"prompt": object}).fillna({"prompt": ""})
    fitted = {(getattr(r, unit), r.measure, r.region, r.prompt, r.random): r.formula for r in table.itertuples()}
    assert {(m.name, m.response, m.region, m.prompt or "", m.random): m.first_fit for m in select(plan, unit, "declared")} == fitted


def test_models_of_factors_begin_as_their_first_step_did(planned: tuple[str, Plan]) -> None:
    name, plan = planned
    table, steps = frozen(name, "factorial_models").astype({"prompt": object}).fillna({"prompt": ""}), frozen(name, "model_steps")
    keys = ["model", "measure", "region", "prompt", "random"]
    models = {(m.name, m.response, m.region, m.prompt or "", m.random): m for m in select(plan, "model")}
    assert {*models} == {tuple(map(str, row)) for row in table[keys].drop_duplicates().itertuples(index=False)}
    first = steps[steps["step"] == 0].set_index("model")["formula"]
    compared = 0
    for (model, measure, region, prompt, random), one in models.items():
        named = [f"{model} {measure} {region} {random}{suffix}" for suffix in ("", f" ({prompt})")]
        for label in (n for n in named if n in first):
            assert one.first_fit == first[label]
            compared += 1
    assert compared == len(
        [label for label in first.index if label.split(" ")[0] in {m.name.split(" ")[0] for m in models.values()}]
    )


def test_a_policy_s_models_of_pairs_begin_as_their_first_step_did() -> None:
    plan, steps = plan_of("pairs"), frozen("pairs", "model_steps")
    first = steps[steps["step"] == 0].set_index("model")["formula"]
    chosen = select(plan, "phenomenon", "maximal")
    assert (
        len(chosen) == frozen("pairs", "chosen_models").groupby(["phenomenon", "measure", "region", "prompt"], dropna=False).ngroups
    )
    for one in chosen:
        label = f"{one.response} {one.region} {one.name}" + (f" ({one.prompt})" if one.prompt else "")
        assert one.first_fit == first[label]


def test_ratings_as_categories_are_planned_without_r() -> None:
    (model,) = [one for one in plan_of("categories").models if one.family == "cumulative"]
    fitted = split_uncorrelated_effects(parse_formula(model.first_fit)).format_expanded()
    assert fitted == frozen("categories", "ordinal_models")["formula"].iloc[0]
    assert (model.link, model.response, model.prompt) == ("probit", "rating", "naturalness")


def test_effects_are_the_terms_of_the_tables_with_what_they_compare(planned: tuple[str, Plan]) -> None:
    name, plan = planned
    table = frozen(name, "factorial_models")
    fitted = table.dropna(subset="estimate")
    for (model, measure, region, random), rows in fitted.groupby(["model", "measure", "region", "random"]):
        ours = {e.term: e.contrast for m in select(plan, "model") for e in m.effects if (m.name, m.response, m.region, m.random) == (model, measure, region, random)}  # fmt: skip
        contrasts = rows.set_index("term")["contrast"].fillna("")
        assert {term: ours[term] for term in contrasts.index} == contrasts.to_dict()


def test_a_plan_is_json_and_back(planned: tuple[str, Plan], tmp_path: Path) -> None:
    _, plan = planned
    again = parse_plan(json.loads(plan.format_json()), "plan.json")
    assert again == plan
    assert again.sha256 == plan.sha256
    assert len({one.model_id for one in plan.models}) == len(plan.models)
    with pytest.raises(DataError, match="a plan of schema 0; expected 2"):
        parse_plan({**json.loads(plan.format_json()), "schema": 0}, "plan.json")


def test_slopes_of_a_response_that_is_the_same_throughout_the_design_are_planned() -> None:
    """First choices in Maze are all right in the tables of a design, whose answers are placeholders."""
    tables = STUDIES["answers"].build_tables()
    alike = tables["responses"].assign(correct=tables["responses"]["correct"].where(tables["responses"]["correct"].isna(), True))
    settings = STUDIES["answers"].settings
    plans = [
        resolve_plan(
            settings,
            measure_study({**{name: tables[name] for name in INPUTS if name in tables}, "responses": one}, settings).trials,
        )
        for one in (tables["responses"], alike)
    ]
    planned = [[model for model in plan.models if model.response == "correct"] for plan in plans]
    assert planned[0] == planned[1]
    assert "(1 + " in planned[0][-1].first_fit
