"""A real server on a free port, with a database of its own."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment import server, store


@dataclass(frozen=True)
class Running:
    """A server that runs: its address, its store and its data folder."""

    address: str
    store: store.Store
    folder: Path


@pytest.fixture
def running(example: study.Study, versions: list[experiment.VersionFile], tmp_path: Path) -> Iterator[Running]:
    yield from serve(example, versions, tmp_path / "data")


def serve(stated: study.Study, versions: list[experiment.VersionFile], folder: Path) -> Iterator[Running]:
    """Run the study's server in a thread until the generator is closed."""
    uvicorn = pytest.importorskip("uvicorn", reason="the extra online is not installed")
    opened = server.open_store(stated, versions, store.sqlite_url(folder / "study.sqlite"))
    app = server.application(opened, completion_code=stated.online.completion_code, key=b"key")
    listener = server.listen("127.0.0.1", 0)
    process = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning"))
    thread = threading.Thread(target=process.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}/", opened, folder)
    process.should_exit = True
    thread.join()
    opened.engine.dispose()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; without it or playwright a test is skipped, in CI it fails."""
    from importlib.util import find_spec

    found = experiment.find_chromium()
    if found is None or find_spec("playwright") is None:
        reason = "Chromium is not installed" if found is None else "playwright is not installed"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return found
