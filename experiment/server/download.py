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

from ..collect_data import collect_parts
from ..session_folders import record_texts, session_text
from .store import Store

FAST = 1  # of nine levels: a fifth more bytes in a third of the time


def write_tables(url: str, made: zipfile.ZipFile) -> None:
    """Write the tables of `collect` with their sidecars and the data dictionary."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        study.table_files.write_parts(collect_parts(url), folder, command="dashboard, tables", dictionary=True)
        for path in sorted(folder.iterdir()):
            made.write(path, path.name)


def write_events(url: str, made: zipfile.ZipFile) -> None:
    """Write the events as they came, as a folder that `gardenpath collect` reads, with the schema that describes them."""
    store = Store(url, create=False)
    for file in store.files().values():
        made.writestr(f"versions/{file.sha256}.json", file.text)
    for record in store.records():
        for name, text in {**record_texts(record), "session.json": session_text(record.session)}.items():
            made.writestr(f"{record.session.id}/{name}", text)
    made.write(str(files("gardenpath.experiment") / "screens.schema.json"), "screens.schema.json")
    store.database.engine.dispose()


KINDS: Mapping[str, Callable[[str, zipfile.ZipFile], None]] = {"tables": write_tables, "events": write_events}


def write_zip(kind: str, url: str, target: Path) -> None:
    """Write a download of this kind to a zip file, from the database to the disk: no table and no zip is in memory."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=FAST) as made:
        KINDS[kind](url, made)


if __name__ == "__main__":
    gc.set_threshold(100_000)  # as gardenpath.cli.main
    write_zip(sys.argv[1], sys.stdin.read(), Path(sys.argv[2]))
