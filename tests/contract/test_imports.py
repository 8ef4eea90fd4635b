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
# The rooms of experiment, each of which imports from those before it.
ROOMS = ("texts", "tasks", "scripts", "sessions", "players", "server", "platforms", "collection", "simulation", "setup")
# The server's downloads are what `collect` gives, and it reads who took part in earlier studies as `collect` does.
BACKWARDS = {("server/download.py", "collection/recorded_sessions.py"), ("server/routes.py", "collection/previous_participants.py")}
HEAVY = ("torch", "pandas", "transformers", "scipy", "numpy", "rpy2", "psychopy", "matplotlib", "wordfreq", "sqlalchemy")


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
            assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}; it may import {sorted(MAY_IMPORT[package])}"


def files_imported(path: Path) -> set[Path]:
    """Return the files of ours that a file imports from, lazily and for types included."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            module = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        elif node.module and node.module.split(".")[0] == "gardenpath":
            module = ROOT.joinpath(*node.module.split(".")[1:])
        else:
            continue
        for name in (alias.name for alias in node.names):
            one = next((p for p in (module / f"{name}.py", module / name / "__init__.py") if p.is_file()), None)
            found.add(one or next(p for p in (module.with_suffix(".py"), module / "__init__.py") if p.is_file()))
    return found - {path}


def test_rooms_of_experiment_import_from_those_before_them() -> None:
    """Nothing lies loose beside the rooms, and each arrow back is one that is named."""
    package = ROOT / "experiment"
    assert [path.name for path in package.glob("*.py")] == ["__init__.py"]
    backwards = set()
    for path in package.rglob("*.py"):
        room, *_ = path.relative_to(package).parts
        for other in files_imported(path) if room in ROOMS and "node_modules" not in path.parts else ():
            first = other.relative_to(package).parts[0] if package in other.parents else ""
            if first in ROOMS and ROOMS.index(first) > ROOMS.index(room):
                backwards.add((str(path.relative_to(package)), str(other.relative_to(package))))
    assert backwards == BACKWARDS
    rooms = {path.name for path in package.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms == {*ROOMS}


def test_no_file_imports_itself_by_a_detour() -> None:
    """Lazy imports and those for types count too."""
    files = [p for package in MAY_IMPORT for p in (ROOT / package).rglob("*.py") if "node_modules" not in p.parts]
    after = {path: files_imported(path) for path in files}
    while free := {path for path, imports in after.items() if not imports & after.keys()}:
        after = {path: imports for path, imports in after.items() if path not in free}
    assert not after, "\n".join(f"{a.relative_to(ROOT)} -> {b.relative_to(ROOT)}" for a in after for b in after[a] if b in after)


# Their help lists what a package has (protocols, measures, platforms), and asks the package.
ASKING = ("score", "evaluate", "judge", "collect", "export")


@pytest.mark.parametrize(
    "command", [[], ["check"], ["serve"], ["report"], ["demo"], *([name] for name in ASKING)], ids=lambda c: " ".join(c)
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
