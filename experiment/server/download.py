"""Downloads of the dashboard, made by a process of their own: `python -m gardenpath.experiment.server.download KIND ZIP`.

The database's address comes on standard input, since an argument could be read by everybody on the machine.
"""

import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from gardenpath import study

from ..collect_data import collect
from ..session_folders import write_record
from .store import Store


def write_tables(url: str, folder: Path) -> None:
    """Write the tables of `collect` with their sidecars and the data dictionary."""
    tables = collect(url)
    for name, table in tables.items():
        study.write(table, name, folder, command="dashboard, tables")
    study.table_files.write_dictionary(tables, folder)


def write_events(url: str, folder: Path) -> None:
    """Write the events as they came, as a folder that `gardenpath collect` reads, with the schema that describes them."""
    store = Store(url, create=False)
    versions = store.files()
    for record in store.records():
        write_record(folder, record, versions[record.session.version_sha256])
    schema = files("gardenpath.experiment") / "screens.schema.json"
    study.files.write_text(folder / "screens.schema.json", schema.read_text("utf-8"))
    store.database.engine.dispose()


KINDS: Mapping[str, Callable[[str, Path], None]] = {"tables": write_tables, "events": write_events}


def write_zip(kind: str, url: str, target: Path) -> None:
    """Write a download of this kind to a zip file."""
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        folder = Path(place)
        KINDS[kind](url, folder)
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            made.write(path, path.relative_to(folder))


if __name__ == "__main__":
    write_zip(sys.argv[1], sys.stdin.read(), Path(sys.argv[2]))
