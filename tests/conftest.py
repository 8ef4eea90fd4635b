"""What tests share: the example study in a folder of its own, its versions, its results, and the real data where they are."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
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


@pytest.fixture
def study_folder(tmp_path: Path) -> Path:
    """A copy of the example study."""
    return Path(shutil.copytree(ROOT / "examples" / "minimal-pairs", tmp_path / "study"))


@pytest.fixture(scope="session")
def example() -> study.Study:
    """The example study as stated in its study.toml."""
    return study.load(ROOT / "examples" / "minimal-pairs")


@pytest.fixture(scope="session")
def versions(example: study.Study) -> list[experiment.VersionFile]:
    """The nine version files of the example study: three experiments of three versions."""
    return experiment.version_files(example)


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
        pytest.raises(SystemExit) as end,
    ):
        main()
    return Ran(line, int(end.value.code or 0), printed.getvalue(), said.getvalue())


@dataclass(frozen=True)
class Demo:
    """The example study, from materials to report: its folder, and the commands that were run in it."""

    folder: Path
    ran: list[Ran]

    def printed(self, command: str) -> str:
        """What a command printed."""
        return next(one.printed for one in self.ran if one.line.split()[1] == command)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The example study as the commands of README make it, once a test run: to be read, and not changed.

    Of several processes that run the tests the first that asks runs the commands; the others wait for it.
    """
    pytest.importorskip("torch", reason="the extra lm is not installed")
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo"
    folder, record = place / "examples" / "minimal-pairs", place / "ran.json"
    try:
        place.mkdir()
    except FileExistsError:
        end = time.monotonic() + 1800
        while not record.exists():
            assert time.monotonic() < end, f"another process has not finished {place} within half an hour"
            time.sleep(0.2)
        return Demo(folder, [Ran(**one) for one in json.loads(record.read_text())])
    shutil.copytree(ROOT / "examples", place / "examples")
    ran = [run_line(line, folder) for line in commands(ROOT / "README.md")]
    (place / "part").write_text(json.dumps([vars(one) for one in ran]))
    (place / "part").rename(record)
    return Demo(folder, ran)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"the real data sets are not at {DATA}")
    return DATA
