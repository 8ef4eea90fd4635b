"""`gardenpath plan`: the models of a study before there are data, and the same ones once there are."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import analysis, experiment, study
from gardenpath.analysis.plan import StudyTrials, resolve_plan
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.study import TABLES
from gardenpath.study.plans import parse_plan

from ..conftest import ROOT, run_here

QUESTIONS = """name = "questions"
language = "en"
seed = 1
[materials]
files = ["items.jsonl"]
[design]
lists = 4
fillers = ["fillers"]
task_shares = { comprehension = 0.5 }
[procedure.target]
show = "moving_window"
ask = ["comprehension"]
[procedure.filler]
show = "moving_window"
ask = ["comprehension"]
[procedure.tasks.comprehension]
kind = "question"
"""


@pytest.fixture
def relatives(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "relative-clauses", tmp_path / "study"))


def test_it_names_every_model_and_its_hash_and_writes_it(relatives: Path) -> None:
    ran = run_here("gardenpath plan study.toml -o plan.json", relatives)
    assert ran.code == 0
    printed = ran.printed.splitlines()
    assert printed[0] == "10 models, fitted by glmm; resolved from the design, before there are data."
    assert "  log_rt ~ extraction*noun_phrase + log_trial + (1 + extraction*noun_phrase|participant) + (1 + extraction*noun_phrase|item)" in printed  # fmt: skip
    assert "  tests noun_phrase_name_description (noun_phrase: name minus description)" in printed
    plan = parse_plan(json.loads((relatives / "plan.json").read_text("utf-8")), "plan.json")
    assert printed[-1] == f"SHA-256 {plan.sha256}"
    assert [one.is_headline for one in plan.models] == [False, True] * 5
    again = run_here("gardenpath plan study.toml -o plan.json", relatives)
    assert (again.code, "exists already" in again.said) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relative-clauses", "forced-choice"])
def test_the_plan_of_the_design_is_that_of_the_data(name: str, tmp_path: Path) -> None:
    config = study.load(ROOT / "examples" / name)
    planned = resolve_design_plan(config)
    experiment.simulate(experiment.build_list_files(config), tmp_path / "data", participants=24, seed=3)
    tables = dict(experiment.collect(tmp_path / "data"))
    given = ("readings", "responses", "sessions", "items", "conditions", "words")
    found = analysis.analyse({table: tables[table] for table in given if table in tables}, config.analysis)
    none = pd.DataFrame(columns=TABLES["binary_responses"].column_names)
    trials = StudyTrials(
        found["rating_scores"], found["region_times"], found.get("binary_responses", none), tables["items"], tables["conditions"]
    )
    resolved = resolve_plan(config.analysis, trials)
    assert (planned.resolved_from, resolved.resolved_from) == ("design", "data")
    assert planned.models == resolved.models
    assert planned.sha256 == resolved.sha256


def test_slopes_of_interactions_of_right_answers_are_planned(relatives: Path) -> None:
    """Where they cannot be estimated, the results say so."""
    (relatives / "study.toml").write_text(QUESTIONS)
    plan = resolve_design_plan(study.load(relatives))
    (slopes,) = [one for one in plan.models if one.response == "correct" and one.random == "slopes"]
    assert "extraction*noun_phrase|participant" in slopes.formula
    assert "extraction_object_subject:noun_phrase_name_description|" in slopes.first_fit
    assert (slopes.family, slopes.link) == ("binomial", "logit")


def test_a_study_that_cannot_be_designed_is_refused(relatives: Path) -> None:
    text = (relatives / "study.toml").read_text("utf-8")
    (relatives / "study.toml").write_text(text.replace("[analysis]", "[analysis]\n", 1) + '\n[[analysis.models]]\nname = "m"\nformula = "log_rt ~ colour + (1|participant)"\n')  # fmt: skip
    ran = run_here("gardenpath plan study.toml", relatives)
    assert ran.code == 1
    assert "analysis.models, 'm': 'colour' is no column" in ran.said
