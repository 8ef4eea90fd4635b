"""Sessions of our own, from the server's database or a folder of sessions."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gardenpath import study

from ..scripts.list_files import ListFile
from ..sessions.event_tables import check_list_files
from ..sessions.session_folders import read_recorded_sessions, read_sessions, read_stored_list_files
from ..sessions.sessions import RecordedSession, Session

if TYPE_CHECKING:
    from ..server.store import Store

SQLITE_SIGNATURE = b"SQLite format 3\0"


@dataclass(frozen=True)
class SessionSource:
    """Sessions of our own: the lists that they ran, by SHA-256, and their records one after the other."""

    list_files: Mapping[str, ListFile]
    sessions: Sequence[Session]
    read_recorded_sessions: Callable[[], Iterator[RecordedSession]]


def open_session_source(data: str | Path, previews: bool) -> SessionSource:
    """Return the sessions of a database or a folder; raises `DataError` where there are none, or a list is missing."""
    path = Path(data)
    database = path / "study.sqlite" if path.is_dir() else path
    if "://" in str(data) or database.is_file():
        if database.is_file():
            _check_database(database)
        study.errors.require("sqlalchemy", "online")
        from ..server.database import build_sqlite_url

        store = _open_store(str(data) if "://" in str(data) else build_sqlite_url(database))
        session_source = SessionSource(
            store.read_list_files(),
            store.read_sessions(previews=previews),
            partial(store.read_recorded_sessions, previews=previews),
        )
    elif path.is_dir():
        sessions = [session for session in read_sessions(path) if previews or session.source != "preview"]
        session_source = SessionSource(read_stored_list_files(path), sessions, partial(read_recorded_sessions, path, sessions))
    else:
        raise FileNotFoundError(f"{data}: there is no such file or folder; expected a database or a folder of sessions")
    if not session_source.sessions:
        preview_hint = "" if previews else " (previews count with --previews)"
        raise study.DataError(f"{data}: holds no sessions; expected at least one{preview_hint}")
    check_list_files(str(data), session_source.list_files, session_source.sessions)
    return session_source


def _open_store(url: str) -> "Store":
    """Return the data at a URL; a database of an earlier release is read as an upgraded copy, which lasts as long as the store."""
    from ..server.migrations import open_upgraded_copy
    from ..server.store import Store

    folder = tempfile.mkdtemp()
    try:
        store = Store(open_upgraded_copy(url, Path(folder)), create=False)
    except BaseException:
        shutil.rmtree(folder)
        raise
    weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
    return store


def _check_database(path: Path) -> None:
    """Raise `DataError` for a file that is no SQLite database, saying which platform it may be from."""
    from ..platforms.platform_import import Source, describe_format

    source = Source.from_path(path)
    if source.data and not source.data.startswith(SQLITE_SIGNATURE):
        raise study.DataError(f"{path}: not a database of gardenpath; it {describe_format(source)}")
