"""What tests share: the example study in a folder of its own, its lists, its results, and the real data where they are."""

import contextlib
import gc
import io
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import settings

from gardenpath import experiment, study
from gardenpath.cli.main import main

# The same examples every time, and no deadline: a busy machine is no fault of the code.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-pins", action="store_true", help="write tests/contract/pins anew from what is there now")
    parser.addoption("--full", action="store_true", help="as many robots and draws as the docs state, not fewer of each")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spread each package's files over the whole run of several processes, so that they do not all wait for browsers at once.

    Long ones come a little earlier, so that no process works through one of them when the others have nothing left.
    """
    if not hasattr(config, "workerinput"):
        return
    folders: dict[str, dict[Path, int]] = {}
    long: set[Path] = set()
    for item in items:
        files = folders.setdefault(item.path.relative_to(ROOT).parts[1], {})
        files.setdefault(item.path, len(files))
        if any(item.get_closest_marker(name) for name in ("browser", "lab", "slow")):
            long.add(item.path)

    def place(item: pytest.Item) -> tuple[float, str]:
        folder = item.path.relative_to(ROOT).parts[1]
        at = (folders[folder][item.path] + 0.5) / len(folders[folder])
        return at * (0.9 if item.path in long else 1), str(item.path)

    items.sort(key=place)


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether there is time for as many robots and draws as the docs state (`make test-all`)."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def study_folder(tmp_path: Path) -> Path:
    """A copy of the example study."""
    return Path(shutil.copytree(ROOT / "examples" / "minimal-pairs", tmp_path / "study"))


@pytest.fixture(scope="session")
def example() -> study.Study:
    """The example study as stated in its study.toml."""
    return study.load(ROOT / "examples" / "minimal-pairs")


@pytest.fixture(scope="session")
def list_files(example: study.Study) -> list[experiment.ListFile]:
    """The nine list files of the example study: three experiments of three lists."""
    return experiment.build_list_files(example)


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """Every `gardenpath` line of a page; what sets the machine up (make, pip, cd) is run by the test run itself."""
    lines = "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("gardenpath ")]


@dataclass(frozen=True)
class Ran:
    """A command that was run: its exit code, and what it printed and said."""

    line: str
    code: int
    printed: str
    said: str


def run_line(line: str, folder: Path) -> Ran:
    """Run a command as it is typed in a folder."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = shlex.split(line, comments=True)
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return Ran(line, done.returncode, done.stdout, done.stderr)


def run_here(line: str, folder: Path) -> Ran:
    """Run a command in this process, which has loaded what every command loads; otherwise as `run_line`."""
    printed, said, words = io.StringIO(), io.StringIO(), shlex.split(line, comments=True)
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(said),
        mock.patch.object(sys, "argv", words),
        mock.patch.object(logging.root, "handlers", []),  # the command's own, which write to `said`
        pytest.raises(SystemExit) as end,
    ):
        main()
    return Ran(line, int(end.value.code or 0), printed.getvalue(), said.getvalue())


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"the real data sets are not at {DATA}")
    return DATA


gc.disable()  # until all tests are collected: a quarter of the time of that


def pytest_collection_finish() -> None:
    """As commands do: what is loaded by now stays, and tables are made of many objects that do not refer to each other in circles."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(100_000)
