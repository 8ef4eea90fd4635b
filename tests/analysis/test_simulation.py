"""A seeded part of benchmarks/simulation.py: what each policy does to false positives."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "simulation.py"
    spec = importlib.util.spec_from_file_location("simulation_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_maximal_is_nominal_where_slopes_vary_and_declared_intercepts_find_too_much(simulation: ModuleType, full: bool) -> None:
    studies = 200 if full else 100
    verdicts = {(c.slopes, c.policy): c for c in simulation.compute_cells(studies, "glmm", ["declared", "maximal"])}
    without, vary = simulation.SLOPE_SDS
    assert verdicts[vary, "maximal"].verdict == "nominal"
    assert verdicts[vary, "declared"].verdict == "anticonservative"
    assert verdicts[without, "declared"].verdict == "nominal"
    # Slopes that are not there cost power, never false alarms.
    assert verdicts[without, "maximal"].verdict in ("nominal", "conservative")


def test_the_limits_are_those_of_the_binomial(simulation: ModuleType) -> None:
    # R: qbinom(c(.005, .995), 200, .05) / 200
    assert simulation.Cell("", "", 0, 200).limits == (0.015, 0.095)
    assert [simulation.Cell("", "", n, 200).verdict for n in (2, 3, 19, 20)] == [
        "conservative",
        "nominal",
        "nominal",
        "anticonservative",
    ]


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
def test_studies_of_the_r_ladder_are_those_of_glmm(simulation: ModuleType) -> None:
    [mine, theirs] = [list(simulation.compute_cells(10, engine, ["declared"])) for engine in ("glmm", "lme4")]
    assert mine == theirs


def test_blimp_nls_size_is_22680_ratings(simulation: ModuleType) -> None:
    assert (len(simulation.PARADIGM_COUNTS), sum(simulation.PARADIGM_COUNTS)) == (22, 84)
    lines = [name for name, _ in simulation.time_blimp_nl_models("glmm")]
    assert lines[1:] == ["22 models of ratings, 22680 rows", "66 models of reading times, 68040 rows"]


def test_a_run_that_was_cut_short_goes_on_where_it_stopped(simulation: ModuleType, tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    whole = list(simulation.compute_cells(6, "glmm", ["declared"]))
    assert [cell.study_count for cell in simulation.compute_cells(6, "glmm", ["declared"], kept_file=keep, minutes=0)] == [0, 0]
    assert [cell.study_count for cell in simulation.compute_cells(4, "glmm", ["declared"], kept_file=keep)] == [4, 4]
    first = keep.read_text("utf-8")
    keep.write_text(first + '["glmm", "decl', encoding="utf-8")  # the power went
    assert list(simulation.compute_cells(6, "glmm", ["declared"], kept_file=keep)) == whole
    assert keep.read_text("utf-8").startswith(first)
    assert len(keep.read_text("utf-8").splitlines()) == 12
