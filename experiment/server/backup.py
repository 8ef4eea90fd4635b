"""Backups of a running study: a copy of one state of its database, of either kind, that is read back before it counts."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from gardenpath import study

from ..pseudonyms import known_key
from .database import META, SESSIONS, VERSIONS, Database, metadata, sqlite_url
from .departures import knows_people

DATABASE, KEY = "study.sqlite", "participant.key"
AT_ONCE = 5_000  # rows
State = dict[
    str, tuple[int, int]
]  # of each table the number of rows, and a sum of their hashes, which no order changes


def back_up(url: str, key: Path, folder: Path) -> dict[str, int]:
    """Copy the database at `url` and the `key` of ids into a new folder, and return the number of rows of each table.

    The folder is one of data: `collect` reads it and `serve -o` goes on with it. The study may be running: what is copied is
    one state of it. The copy is read back and compared before it has its name. Raises `FileExistsError` where a backup is
    there already, `FileNotFoundError` without the key where people are known by it, `DataError` where the copy differs.
    """
    study.files.refuse_overwrite([folder / DATABASE, folder / KEY], force=False)
    source = Database(url, create=False)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as place:
        unfinished = Path(place) / DATABASE
        copied = _copied(source, Database(sqlite_url(unfinished)))
        again = Database(sqlite_url(unfinished), create=False)
        with again.reading() as connection:
            state, known = _state(connection), knows_people(connection)
        again.engine.dispose()
        if state != copied:
            raise study.DataError(f"{folder}: what was read back is not what was copied; is the disk sound?")
        if known or key.exists():
            known_key(key, "the study's database")
            _copy_key(key, folder / KEY)
        os.replace(unfinished, folder / DATABASE)
    source.engine.dispose()
    return {name: rows for name, (rows, _) in copied.items()}


def restore(folder: Path, url: str, key: Path) -> dict[str, int]:
    """Copy a backup into the empty database at `url`, and its key to `key`; return the number of rows of each table.

    Raises `DataError` where the database holds a study already, or `key` is another one.
    """
    source = Database(sqlite_url(folder / DATABASE), create=False)
    stored = folder / KEY
    if stored.exists() and key.exists() and stored.read_bytes() != key.read_bytes():
        raise study.DataError(f"{key}: another key of ids than the backup's; move it away first")
    copied = _copied(source, Database(url))
    if stored.exists() and not key.exists():
        _copy_key(stored, key)
    source.engine.dispose()
    return {name: rows for name, (rows, _) in copied.items()}


def _copy_key(key: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.touch(mode=0o600)
    shutil.copyfile(key, to)


def _copied(source: Database, target: Database) -> State:
    """Copy every row into a database that holds no study; return what was copied."""
    with source.reading() as there, target.writing() as here:
        if any(here.scalar(sa.select(sa.func.count()).select_from(table)) for table in (VERSIONS, SESSIONS)):
            raise study.DataError("the database to restore to holds a study already; expected an empty one")
        here.execute(META.delete())
        copied = _state(there, here)
    target.engine.dispose()
    return copied


def _state(connection: sa.Connection, copy_to: sa.Connection | None = None) -> State:
    """Return what a database holds, and copy it meanwhile where `copy_to` is given."""
    state: State = {}
    for table in metadata.sorted_tables:
        number = total = 0
        for rows in _rows(connection, table):
            if copy_to is not None:
                copy_to.execute(table.insert(), [dict(zip(table.columns.keys(), row, strict=True)) for row in rows])
            number += len(rows)
            total += sum(int.from_bytes(hashlib.sha256(repr(row).encode()).digest()[:16]) for row in rows)
        state[table.name] = number, total
    return state


def _rows(connection: sa.Connection, table: sa.Table) -> Iterator[list[tuple[Any, ...]]]:
    query = sa.select(table).execution_options(yield_per=AT_ONCE)
    for part in connection.execute(query).partitions():
        yield [tuple(row) for row in part]
