"""Ten designs: `gardenpath plan`, the preregistration, the tables and the R code name the same models."""

import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import study
from gardenpath.study.plans import Plan, parse_plan

from ..conftest import ROOT, run_here

READ, JUDGE = 'show = "moving_window"', 'show = "whole"\nask = ["naturalness"]'
RATING = '\n[procedure.tasks.naturalness]\nkind = "rating"\nprompt = "How natural?"\nlow = "odd"\nhigh = "fine"\n'
NOUNS = ("baker", "driver", "painter", "singer", "teacher", "doctor", "lawyer", "farmer", "writer", "sailor", "dancer", "judge")
VERBS = {"a": "saw", "b": "heard", "c": "met"}


@dataclass(frozen=True)
class Design:
    """A study: its factors with their levels, what is shown and asked, and what more study.toml states."""

    factors: Mapping[str, Sequence[str]]
    target: str = READ
    more: str = ""
    design: str = ""
    analysis: str = ""
    people: int = 12

    def write(self, folder: Path) -> Path:
        """Write items.csv and study.toml; each item has all conditions."""
        names = [*self.factors]
        factors = " | ".join(f"{name}: {', '.join(levels)}" for name, levels in self.factors.items())
        rows = []
        for noun in NOUNS:
            for levels in itertools.product(*self.factors.values()):
                code = "".join(chr(ord("a") + self.factors[name].index(level)) for name, level in zip(names, levels, strict=True))
                words = " ".join(f"the {VERBS[letter]}{place} guest" for place, letter in enumerate(code))
                sentence = f"Yesterday the {noun} near {words} [left{code}] the old house before noon."
                row = {"paradigm": "made", "phenomenon": "made", "item": noun, "condition": ".".join(levels), "sentence": sentence}
                rows.append(
                    {**row, "question": f"Did the {noun} leave?", "answer": "yes" if len(rows) % 2 else "no", "factors": factors}
                )
        pd.DataFrame(rows).to_csv(folder / "items.csv", index=False)
        within = [len(levels) for name, levels in self.factors.items() if f'"{name}"' not in self.design]
        lists = 1
        for number in within:
            lists *= number
        between = 2 if "between_participants" in self.design else 1
        (folder / "study.toml").write_text(
            f'name = "made"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n[design]\nlists = {lists * between}\n'
            f"{self.design}\n[ordering]\n[procedure.target]\n{self.target}\n{self.more}\n[analysis]\n{self.analysis}\n"
        )
        return folder / "study.toml"


TWO = {"size": ("small", "large"), "voice": ("active", "passive")}
MEASURE = """
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
min = 18
max = 80

[[procedure.demographics]]
name = "skill"
label = "How well do you know the language?"
kind = "choice"
choices = ["some", "well"]
"""
BETWEEN = "2 x 2 x 2 with a factor between participants and covariates of participants"
DESIGNS = {
    "2 x 2 in reading": Design(TWO),
    "one factor of three levels": Design({"size": ("small", "middle", "large")}),
    "ratings": Design(TWO, JUDGE, RATING),
    "judgments of yes or no": Design(TWO, JUDGE, RATING + "points = 2\n"),
    "questions": Design(TWO, READ + '\nask = ["comprehension"]', '\n[procedure.tasks.comprehension]\nkind = "question"\n'),
    "treatment contrasts": Design(
        TWO,
        analysis='[[analysis.models]]\nname = "own"\nformula = "log_rt ~ size*voice + (1 + size|participant) + (1|item)"\n'
        'contrasts = { size = "treatment", voice = "sum" }\nreference_levels = { size = "large" }\n',
    ),
    "nested contrasts": Design(
        TWO, analysis='[[analysis.models]]\nname = "nested"\nformula = "log_rt ~ size/voice + (1|participant) + (1|item)"\n'
    ),
    "a policy": Design(TWO, analysis='policy = "parsimonious"\n'),
    BETWEEN: Design(
        {**TWO, "group": ("first", "second")},
        READ,
        MEASURE,
        design='between_participants = ["group"]',
        analysis='[analysis.participant_measures.age]\n[analysis.participant_measures.skill]\n[[analysis.models]]\nname = "age"\n'
        'formula = "log_rt ~ size*voice*group + size:age + age + size:skill + skill + (1 + size|participant) + (1|item)"\n',
        people=16,
    ),
}


@pytest.fixture(params=[*DESIGNS, "minimal pairs"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "minimal pairs":
        for name in ("items.csv", "study.toml"):
            (tmp_path / name).write_text((ROOT / "examples" / "minimal-pairs" / name).read_text("utf-8"), "utf-8")
    else:
        DESIGNS[request.param].write(tmp_path)
    return tmp_path


def run(line: str, folder: Path) -> str:
    done = run_here(f"gardenpath {line}", folder)
    assert done.code == 0, done.said
    return done.printed


@pytest.mark.r
def test_r_code_fits_the_planned_model_of_people_and_conditions(tmp_path: Path) -> None:
    """Factors within and between participants, a number and a text that participants gave."""
    if (program := shutil.which("Rscript")) is None:
        pytest.skip("R is not installed (Rscript); it is the independent source of this test")
    DESIGNS[BETWEEN].write(tmp_path)
    for line in (
        "simulate study.toml --participants 16 --seed 2 -o data",
        "collect data -o tables",
        "analyse tables --study study.toml -o results",
        "report study.toml -o report.html",
    ):
        run(line, tmp_path)
    call = [program, "--vanilla", "report.R"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if "there is no package called" in done.stderr:
        pytest.skip(f"R lacks a package: {done.stderr.strip()}")
    said = re.search(r"1 models fitted again; the largest difference is (\S+) standard errors", done.stdout)
    assert said, done.stdout + done.stderr
    assert float(said[1]) < 1e-3


def read_plan(folder: Path) -> Plan:
    return parse_plan(json.loads((folder / "plan.json").read_text("utf-8")), "plan.json")


@pytest.mark.slow
def test_plan_preregistration_tables_and_r_code_name_the_same_models(folder: Path) -> None:
    printed = run("plan study.toml -o plan.json", folder)
    plan = read_plan(folder)
    assert plan.models
    run("preregister study.toml --participants 12 -o preregistration.md", folder)
    page = (folder / "preregistration.md").read_text("utf-8")
    run("simulate study.toml --participants 12 --seed 2 -o data", folder)
    run("collect data -o tables", folder)
    run("analyse tables --study study.toml -o results", folder)
    run("report study.toml -o report.html", folder)
    planned, fits, effects = (study.read(folder / "results", name) for name in ("planned_models", "models", "effects"))
    assert [*planned["model_id"]] == [one.model_id for one in plan.models]
    assert {*planned["plan_sha256"]} == {plan.sha256}
    assert plan.sha256 in printed
    assert plan.sha256 in page
    first = fits[fits["step"] == 0].set_index("model_id")["formula"]
    tried = fits[fits["optimizer"].notna()].groupby("model_id").size()
    for one in plan.models:
        assert f"  {one.formula}\n" in printed
        assert f"`{one.formula}`" in page
        if one.model_id in tried:
            assert first[one.model_id] == one.first_fit
        terms = {*effects.loc[(effects["model_id"] == one.model_id) & effects["estimate"].notna(), "term"].dropna()}
        assert terms <= {effect.term for effect in one.effects}
    kept = fits[fits["kept"]].set_index("model_id")["formula"]
    assert re.search(r'"results/models\.csv"', (folder / "report.R").read_text("utf-8"))
    assert {*kept.index} == {one.model_id for one in plan.models}
    departing = [row for row in run("deviations study.toml preregistration.md -o d", folder).splitlines() if "plan." in row]
    assert all("the log odds have no finite estimate" in row for row in departing)
