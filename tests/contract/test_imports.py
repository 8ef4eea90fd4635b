"""Data flow one way: which package may import which, and what `--help` may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "study": set(),
    "stimuli": {"study"},
    "experiment": {"stimuli", "study"},
    "lmscore": {"stimuli", "study"},
    "analysis": {"study"},
    "cli": {"analysis", "experiment", "lmscore", "stimuli", "study"},
}
HEAVY = (
    "torch",
    "pandas",
    "transformers",
    "scipy",
    "numpy",
    "rpy2",
    "psychopy",
    "matplotlib",
    "wordfreq",
    "sqlalchemy",
)


def imported(path: Path) -> set[str]:
    """Return the packages of ours that a file imports absolutely, at its top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "gardenpath":
            names = [f"gardenpath.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        found |= {name.split(".")[1] for name in names if name.startswith("gardenpath.")}
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_lies_before_it(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        if "node_modules" not in path.parts:
            wrong = imported(path) - MAY_IMPORT[package] - {package}
            assert not wrong, (
                f"{path.relative_to(ROOT)} imports {sorted(wrong)}; it may import {sorted(MAY_IMPORT[package])}"
            )


# Their help lists what a package has (protocols, measures, platforms), and asks the package.
ASKING = ("score", "evaluate", "judge", "collect", "export")


@pytest.mark.parametrize(
    "command",
    [[], ["check"], ["serve"], ["report"], ["demo"], *([name] for name in ASKING)],
    ids=lambda c: " ".join(c),
)
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    heavy = [name for name in HEAVY if not (set(command) & {*ASKING} and name in ("pandas", "numpy"))]
    code = (
        "import sys\nfrom gardenpath.cli.main import cli\n"
        f"try: cli.main({[*command, '--help']!r})\nexcept SystemExit: pass\n"
        f"print('LOADED', [m for m in {heavy!r} if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Usage:" in said
    assert said.rstrip().endswith("LOADED []")


def test_what_an_extra_brings_is_not_loaded_by_importing_a_package() -> None:
    """A linguist who only builds lists needs none of it."""
    extras = ("psychopy", "torch", "transformers", "sqlalchemy", "starlette", "rpy2")
    code = (
        f"import sys\nfor package in {sorted(MAY_IMPORT)!r}: __import__('gardenpath.' + package)\n"
        f"print([m for m in {extras!r} if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_materials_that_need_no_table_load_no_pandas() -> None:
    """It takes as long to load as two paradigms to generate."""
    code = "import sys, gardenpath.study, gardenpath.stimuli\nprint('pandas' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"


def test_check_without_norms_loads_no_pandas() -> None:
    """A quarter of a second and 40 MB, for a table that only norms have."""
    items = ROOT / "examples" / "minimal-pairs" / "items.csv"
    code = (
        "import sys\nfrom gardenpath.cli.main import cli\n"
        f"try: cli.main(['check', {str(items)!r}])\nexcept SystemExit: pass\n"
        "print('LOADED', 'pandas' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "paradigm" in said
    assert said.rstrip().endswith("LOADED False")


def test_no_module_bears_the_name_of_a_public_function() -> None:
    import importlib

    for package in ("study", "stimuli", "experiment", "lmscore", "analysis"):
        public = set(importlib.import_module(f"gardenpath.{package}").__all__)
        modules = {path.stem for path in (ROOT / package).iterdir() if path.suffix == ".py" or path.is_dir()}
        assert not public & modules
