"""No formula of a model is built in `cli` or `experiment`: the plan of models states them all."""

import ast
import re
from pathlib import Path

import pytest

from ..conftest import ROOT

PARTS = re.compile(r" ~ |[|](participant|item)\b")


def find_formulas(code: str) -> list[str]:
    """Texts in code that are parts of formulas, but for docstrings, and names of what reads formulas."""
    tree = ast.parse(code)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    found = [node.value for node in texts if id(node) not in documented and PARTS.search(node.value)]
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(tree)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    return found + sorted(names & {"parse_formula", "Formula"})


@pytest.mark.parametrize("package", ["cli", "experiment"])
def test_no_formula_is_built_outside_the_plan(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert len(files) > 40
    assert {str(Path(file).relative_to(ROOT)): found for file in files if (found := find_formulas(file.read_text("utf-8")))} == {}


def test_a_formula_in_code_is_found() -> None:
    assert find_formulas('def f(x):\n    """z ~ a"""\n    return f"{x} ~ 1 + (1|item)"') == [" ~ 1 + (1|item)"]
    assert find_formulas("from a import parse_formula") == ["parse_formula"]
