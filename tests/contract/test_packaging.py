"""What is installed is what stands in the folders, and the dependencies stay few."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP = ("study", "stimuli", "experiment", "lmscore", "analysis", "cli", "examples")
# The most direct dependencies each may have: a new one has to be argued for in docs/decisions.md.
BUDGET = {
    "base": 10,
    "lm": 4,
    "quantized": 2,
    "benchmark": 3,
    "online": 5,
    "lab": 1,
    "r": 10,
    "parquet": 1,
    "import": 1,
    "postgres": 1,
    "dev": 11,
}


def test_every_package_folder_is_listed() -> None:
    folders = {
        "gardenpath." + ".".join(path.parent.relative_to(ROOT).parts)
        for top in TOP
        for path in (ROOT / top).rglob("__init__.py")
        if "node_modules" not in path.parts
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders


def test_no_python_file_lies_at_the_root() -> None:
    assert not list(ROOT.glob("*.py"))


def test_direct_dependencies_stay_within_their_budget() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    counts = {"base": len(PROJECT["project"]["dependencies"]), **{name: len(needs) for name, needs in extras.items()}}
    assert counts.keys() == BUDGET.keys()
    assert all(counts[name] <= BUDGET[name] for name in BUDGET), counts


def test_the_base_install_stays_within_its_size() -> None:
    """What `pip install gardenpath` brings, with all that its dependencies need."""
    import importlib.metadata
    import re

    wanted, closed = [re.match(r"[\w-]+", need).group() for need in PROJECT["project"]["dependencies"]], {}  # type: ignore[union-attr]
    while wanted:
        name = wanted.pop()
        if name not in closed:
            installed = importlib.metadata.distribution(name)
            closed[name] = sum(f.size or 0 for f in installed.files or [])
            needs = [
                need for need in installed.requires or [] if "extra ==" not in need and "python_version <" not in need
            ]
            names = [re.match(r"[\w-]+", need).group() for need in needs if "sys_platform" not in need]  # type: ignore[union-attr]
            wanted += [need for need in names if need not in closed]
    assert sum(closed.values()) < 550e6, {name: f"{size / 1e6:.0f} MB" for name, size in sorted(closed.items())}


def test_every_dependency_has_a_line_in_decisions() -> None:
    import re

    decisions = (ROOT / "docs" / "decisions.md").read_text()
    extras = PROJECT["project"]["optional-dependencies"]
    for need in [*PROJECT["project"]["dependencies"], *(n for needs in extras.values() for n in needs)]:
        name = re.match(r"[A-Za-z0-9_-]+", need)
        assert name is not None
        assert f"`{name.group()}`" in decisions, f"{name.group()}: say in docs/decisions.md what it is for"
