"""What is installed is what stands in the folders, and the dependencies stay few."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from gardenpath.experiment.players.web.built_page import find_page_folder

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP = ("study", "stimuli", "experiment", "lmscore", "analysis", "cli", "examples")
# The most direct dependencies each may have: a new one has to be argued for in docs/decisions.md.
BUDGET = {
    "base": 12,
    "lm": 4,
    "quantized": 3,
    "adapters": 1,
    "benchmark": 3,
    "online": 5,
    "lab": 1,
    "r": 10,
    "parquet": 1,
    "import": 1,
    "cjk": 1,
    "selection": 1,
    "postgres": 1,
    "browser": 1,
    "cluster": 1,
}


def test_every_package_folder_is_listed() -> None:
    folders = {
        "gardenpath." + ".".join(path.parent.relative_to(ROOT).parts)
        for top in TOP
        for path in (ROOT / top).rglob("__init__.py")
        if "node_modules" not in path.parts
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders


WEB = "experiment/players/web"
# What the page is built from, and the examples that the demo does not run.
STAYS = ("examples/agreement-attraction/", "examples/agreement-pairs/", "examples/drafting/", "examples/forced-choice/", "examples/relative-clauses/", "examples/thematic-roles/", "examples/turkish-attraction/", *(f"{WEB}/{name}" for name in ("src/", "tests/", "index.html", "build.mjs", "package", "tsconfig.json", "jspsych-LICENSE.txt")))  # fmt: skip


def built(call: str, source: Path, out: Path) -> tuple[Path, str]:
    """Let setuptools build from a folder; return the file that it made, and all that it said."""
    code = f"from setuptools import build_meta; print('made', build_meta.{call}({str(out)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return out / done.stdout.rpartition("made ")[2].strip(), done.stdout


def test_a_wheel_by_way_of_its_sources_holds_what_stands_in_the_folders(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="setuptools 77 is not installed")
    ignored = shutil.ignore_patterns("node_modules", "build", "__pycache__", ".*_cache")
    for top in TOP:
        shutil.copytree(ROOT / top, tmp_path / "from" / top, ignore=ignored)
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / "from")
    wanted = {path.relative_to(tmp_path / "from").as_posix() for top in TOP for path in (tmp_path / "from" / top).rglob("*") if path.is_file()}  # fmt: skip
    sources, said = built("build_sdist", tmp_path / "from", tmp_path)
    with tarfile.open(sources) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    wheel, said_again = built("build_wheel", unpacked, tmp_path)
    # What setuptools says of a folder that could be imported, has files to install, and is not listed.
    assert "would be ignored" not in said + said_again
    inside = {name.removeprefix("gardenpath/") for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}  # fmt: skip
    assert inside == {name for name in wanted if not name.startswith(STAYS)}
    assert any(name.endswith(".css") for name in inside)


@pytest.fixture
def unbuilt(tmp_path: Path) -> Path:
    """The sources as they are checked out: the page is not built."""
    ignored = shutil.ignore_patterns("node_modules", "build", "dist", "__pycache__", ".*_cache")
    for top in TOP:
        shutil.copytree(ROOT / top, tmp_path / "from" / top, ignore=ignored)
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / "from")
    return tmp_path / "from"


def npm(folder: Path, text: str) -> str:
    """A PATH on which npm is this script, or on which there is none."""
    folder.mkdir()
    if text:
        (folder / "npm").write_text(f"#!/bin/sh\n{text}\n")
        (folder / "npm").chmod(0o755)
    return f"{folder}:/usr/bin:/bin" if text else str(folder)


@pytest.mark.parametrize("call", ["build_wheel", "build_sdist"])
def test_a_page_that_is_not_built_is_built_on_the_way(
    call: str, unbuilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 'echo "$*" >>steps; if [ "$1" = run ]; then mkdir dist; echo page >dist/index.html; fi'
    monkeypatch.setenv("PATH", npm(tmp_path / "bin", steps))
    made, _ = built(call, unbuilt, tmp_path)
    assert (unbuilt / WEB / "steps").read_text().splitlines() == ["ci --no-audit --no-fund", "run --silent build"]
    if call == "build_wheel":
        names = zipfile.ZipFile(made).namelist()
    else:
        with tarfile.open(made) as packed:
            names = packed.getnames()
        sources = {f"{WEB}/src/main.ts", f"{WEB}/build.mjs", f"{WEB}/package-lock.json"}
        assert sources <= {name.partition("/")[2] for name in names}
    assert any(name.endswith("players/web/dist/index.html") for name in names)


@pytest.mark.parametrize(
    ("script", "said"), [("", "npm is not installed"), ("echo no network; exit 1", "npm ci failed: no network")]
)
def test_without_the_page_it_is_built_and_says_so(
    script: str, said: str, unbuilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", npm(tmp_path / "bin", script))
    wheel, output = built("build_wheel", unbuilt, tmp_path)
    assert said in output
    assert "gardenpath is built without the page that participants see" in output
    # What is installed then says how to get the page, in words that fit an installed package, and a checkout.
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    with pytest.raises(FileNotFoundError, match="pip install --force-reinstall") as caught:
        find_page_folder(tmp_path / "site" / "gardenpath" / WEB)
    assert "make web" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match=f"run  make web  in {unbuilt} "):
        find_page_folder(unbuilt / WEB)


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
            needs = [need for need in installed.requires or [] if "extra ==" not in need and "python_version <" not in need]
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


def test_the_index_of_decisions_lists_every_theme_and_decision() -> None:
    import re

    text = (ROOT / "docs" / "decisions.md").read_text()
    index = dict(re.findall(r"^\| \[(.+?)\]\(#.+?\) \| (.+) \|$", text, re.MULTILINE))
    index.pop("Dependencies")
    themes = re.split(r"^## ", text, flags=re.MULTILINE)[2:]
    decided = {
        theme.partition("\n")[0]: [
            " ".join(title.split()).rstrip(":") for title in re.findall(r"^\*\*(.+?)\*\*", theme, re.MULTILINE | re.DOTALL)
        ]
        for theme in themes
    }
    assert decided == {theme: titles.split(" · ") for theme, titles in index.items()}
    dated = re.findall(r"^\*\*.+?\*\*(?: \(2026-\d\d-\d\d)?", text, re.MULTILINE | re.DOTALL)
    assert not [title for title in dated if not title.endswith(tuple("0123456789"))]
