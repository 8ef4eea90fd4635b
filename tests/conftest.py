"""What tests share: the example study in a folder of its own, its versions, and the real data where they are."""

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from gardenpath import experiment, study

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


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"the real data sets are not at {DATA}")
    return DATA
