"""Downloads of the dashboard, made by a process of their own: `python -m gardenpath.experiment.server.download KIND ZIP`.

The database's address comes on standard input, since an argument could be read by everybody on the machine.
"""

import gc
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from gardenpath import study

from ..collection.recorded_sessions import open_session_source
from ..sessions.event_tables import build_table_parts
from ..sessions.session_folders import format_session, format_session_files
from .store import Store

COMPRESSION_LEVEL = 1  # of nine levels: a fifth more bytes in a third of the time


def write_tables(url: str, archive: zipfile.ZipFile) -> None:
    """Write the tables of `collect` with their sidecars and the data dictionary."""
    own = open_session_source(url, previews=False)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        parts = build_table_parts(own.read_recorded_sessions(), own.list_files, where=url)
        study.table_files.write_parts(parts, folder, command="dashboard, tables", dictionary=True)
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)


def write_events(url: str, archive: zipfile.ZipFile) -> None:
    """Write the events as they came, as a folder that `gardenpath collect` reads, with the schema that describes them."""
    store = Store(url, create=False)
    for file in store.read_list_files().values():
        archive.writestr(f"lists/{file.sha256}.json", file.text)
    for recorded_session in store.read_recorded_sessions():
        for name, text in {
            **format_session_files(recorded_session),
            "session.json": format_session(recorded_session.session),
        }.items():
            archive.writestr(f"{recorded_session.session.id}/{name}", text)
    archive.write(str(files("gardenpath.experiment.sessions") / "screens.schema.json"), "screens.schema.json")
    store.database.engine.dispose()


DOWNLOAD_WRITERS: Mapping[str, Callable[[str, zipfile.ZipFile], None]] = {"tables": write_tables, "events": write_events}


def write_download(kind: str, url: str, target: Path) -> None:
    """Write a download of this kind to a zip file, from the database to the disk: no table and no zip is in memory."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL) as archive:
        DOWNLOAD_WRITERS[kind](url, archive)


if __name__ == "__main__":
    gc.set_threshold(100_000)  # as gardenpath.cli.main
    write_download(sys.argv[1], sys.stdin.read(), Path(sys.argv[2]))
