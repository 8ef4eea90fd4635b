"""A real server on a free port with a database of its own, on SQLite or on a PostgreSQL started for the tests."""

import os
import pwd
import shutil
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.players.lab import typesetting
from gardenpath.experiment.server import routes, slow_connections
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.simulation.browser_robot import CHROMIUM_NAMES

ROBOT_KEY = routes.compute_preview_key(b"key")
BOTH = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Running:
    """A server that runs: its address, its store and its data folder."""

    address: str
    store: Store
    folder: Path


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def running(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, database_url: str) -> Iterator[Running]:
    yield from serve(example, list_files, tmp_path / "data", database_url)


def serve(
    stated: study.Study,
    list_files: list[experiment.ListFile],
    folder: Path,
    url: str | None = None,
    *,
    site: routes.SiteSettings | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    patience: float = slow_connections.REQUEST_TIMEOUT_S,
) -> Iterator[Running]:
    """Run the study's server in a thread until the generator is closed."""
    pytest.importorskip("uvicorn", reason="the extra online is not installed")
    opened = routes.open_store(stated, list_files, url or build_sqlite_url(folder / "study.sqlite"), clock=clock)
    app = routes.create_application(opened, stated, key=b"key", site=site)
    listener = routes.bind_socket("127.0.0.1", 0)
    process = routes.create_server(app, request_timeout=patience)
    thread = threading.Thread(target=process.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}/", opened, folder)
    process.should_exit = True
    thread.join()
    opened.database.engine.dispose()


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """The URL of a new SQLite database; modules whose tests hold on both databases have a fixture of their own."""
    return build_sqlite_url(tmp_path / "data" / "study.sqlite")


def new_database(kind: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of a new database of this kind."""
    if kind == "sqlite":
        return build_sqlite_url(folder / "data" / "study.sqlite")
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.create()


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL server that listens on a socket in a folder of its own."""

    folder: Path
    owner: str

    def create(self) -> str:
        """Make a schema, which costs less than a database, and return a URL that leads to it."""
        import sqlalchemy as sa

        name = f"study_{uuid.uuid4().hex}"
        url = f"{self.owner}@/postgres?host={self.folder}"
        engine = sa.create_engine(f"postgresql+psycopg://{url}")
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        engine.dispose()
        return f"postgresql://{url}&options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL from Debian's packages, or whose programs are on the path; without one the tests are skipped."""
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(places[-1]) if places else None)
    if initdb is None:
        pytest.skip("PostgreSQL is not installed (no initdb)")
    programs = Path(initdb).resolve().parent
    if absent := [name for name in ("pg_ctl", "postgres") if not (programs / name).exists()]:
        pytest.skip(f"PostgreSQL is not installed whole ({programs} has no {', '.join(absent)})")
    # PostgreSQL refuses to run as root.
    owner = pwd.getpwuid(os.getuid()).pw_name if os.getuid() else "nobody"
    folder = Path(tempfile.mkdtemp(prefix="gp-pg-"))
    if not os.getuid():
        os.chown(folder, pwd.getpwnam(owner).pw_uid, -1)

    def call(program: str, *arguments: str) -> None:
        words = [str(programs / program), "-D", str(folder / "data"), *arguments]
        user = None if os.getuid() else owner
        subprocess.run(words, check=True, cwd=folder, user=user, stdout=subprocess.DEVNULL)

    call("initdb", "-A", "trust", "-U", owner, "-E", "UTF8", "--no-sync")
    settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off -c max_connections=200"
    call("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
    yield Cluster(folder, owner)
    call("pg_ctl", "-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; where it or playwright is not installed, or does not start, a test is skipped."""
    found = experiment.find_chromium()
    if found is None:
        pytest.skip(f"Chromium is not installed (none of {', '.join(CHROMIUM_NAMES)})")
    pytest.importorskip("playwright", reason="playwright is not installed")
    started = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    if started.returncode:  # Ubuntu's chromium-browser may be there only to say that it has to be installed
        pytest.skip(f"{found} does not start: {' '.join((started.stderr or started.stdout).split())}")
    needs_font("en", "a")  # without any font it ends as soon as a page has a text
    return found


def needs_font(language: str, text: str) -> None:
    """Skip the test where no font of this machine has the characters of a text."""
    try:
        typesetting.choose_font([text], language)
    except ValueError as error:
        pytest.skip(f"no font for language {language}: {error}")
