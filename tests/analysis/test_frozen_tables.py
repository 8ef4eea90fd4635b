"""The tables of models of five made studies are those that were computed before there was one plan of models.

`pytest tests/analysis/test_frozen_tables.py --update-pins` writes them anew: only where a change of numbers is meant.
"""

from pathlib import Path

import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.study import TABLES

from .made_studies import INPUTS, STUDIES, MadeStudy

FROZEN = Path(__file__).with_name("frozen")
MODEL_TABLES = (
    "phenomenon_models",
    "paradigm_models",
    "factorial_models",
    "ordinal_models",
    "chosen_models",
    "model_steps",
    "simple_effects",
    "sensitivity",
)


def compute_model_tables(study: MadeStudy) -> dict[str, pd.DataFrame]:
    """Return the tables of models that are there and have rows."""
    tables = study.build_tables()
    found = analyse({name: tables[name] for name in INPUTS if name in tables}, study.settings)
    return {name: found[name] for name in MODEL_TABLES if name in found and len(found[name])}


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
        kinds = {column.name: frame[column.name].dtype for column in TABLES[table].columns if column.name in frame}
        expected = pd.read_csv(folder / f"{table}.csv", dtype=kinds, keep_default_na=True)
        pd.testing.assert_frame_equal(frame, expected, rtol=1e-7, atol=1e-10, check_dtype=False)


def test_every_table_of_models_is_frozen() -> None:
    assert {path.stem for path in FROZEN.glob("*/*.csv")} == {*MODEL_TABLES}
