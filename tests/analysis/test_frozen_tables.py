"""The tables of models of five made studies are those that were computed before there was one plan of models.

`pytest tests/analysis/test_frozen_tables.py --update-pins` writes them anew: only where a change of numbers is meant.
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from gardenpath.analysis import analyse, compute_multiverse, resolve_plan
from gardenpath.analysis.measured_studies import measure_study

from .made_studies import INPUTS, STUDIES, MadeStudy
from .old_tables import OLD_MULTIVERSE, REBUILT

FROZEN = Path(__file__).with_name("frozen")


def compute_model_tables(study: MadeStudy) -> dict[str, pd.DataFrame]:
    """Return the tables of models of before that have rows, rebuilt from those of now."""
    tables = study.build_tables()
    inputs = {name: tables[name] for name in INPUTS if name in tables}
    found = analyse(inputs, study.settings)
    if (found["effects"]["unit"] == "phenomenon").any():
        varied = replace(study.settings, multiverse=OLD_MULTIVERSE)
        plan = resolve_plan(varied, measure_study(inputs, varied).trials)
        found = {**found, "multiverse": compute_multiverse(inputs, varied, plan)}
    rebuilt = {name: view({**found, "items": tables["items"]}) for name, view in REBUILT.items()}
    return {name: table.reset_index(drop=True) for name, table in rebuilt.items() if len(table)}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.r) if s.needs_r else n for n, s in STUDIES.items()])
def test_the_numbers_of_models_are_those_of_before(name: str, request: pytest.FixtureRequest) -> None:
    study, folder = STUDIES[name], FROZEN / name
    if study.needs_r:
        request.getfixturevalue("pymer4")
    found = compute_model_tables(study)
    if request.config.getoption("--update-pins"):
        folder.mkdir(parents=True, exist_ok=True)
        for table, frame in found.items():
            frame.to_csv(folder / f"{table}.csv", index=False)
    assert {path.stem for path in folder.glob("*.csv")} == {*found}
    for table, frame in found.items():
        text = (folder / f"{table}.csv").read_text("utf-8")
        if frame.to_csv(index=False) == text:
            continue
        # Other processors and libraries of linear algebra round otherwise.
        expected = pd.read_csv(folder / f"{table}.csv", dtype={name: frame[name].dtype for name in frame}, keep_default_na=True)
        pd.testing.assert_frame_equal(frame, expected, rtol=1e-7, atol=1e-10, check_dtype=False)


def test_every_table_of_models_is_frozen() -> None:
    assert {path.stem for path in FROZEN.glob("*/*.csv")} == {*REBUILT}
