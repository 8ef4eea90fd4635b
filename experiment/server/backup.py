"""Backups of a running study: a copy of one state of its database, of either kind, that is read back before it counts."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from gardenpath import study

from ..sessions.pseudonyms import load_existing_key
from .database import META, ROWS_PER_PART, SESSIONS, TRIAL_LISTS, Database, build_sqlite_url, metadata
from .departures import has_known_participants

DATABASE_FILENAME, KEY_FILENAME = "study.sqlite", "participant.key"
DatabaseState = dict[str, tuple[int, int]]  # of each table the number of rows, and a sum of their hashes, which no order changes


def create_backup(url: str, key: Path, folder: Path) -> dict[str, int]:
    """Copy the database at `url` and the `key` of ids into a new folder, and return the number of rows of each table.

    The folder is one of data: `collect` reads it and `serve -o` goes on with it. The study may be running: what is copied is
    one state of it. The copy is read back and compared before it has its name. Raises `FileExistsError` where a backup is
    there already, `FileNotFoundError` without the key where people are known by it, `DataError` where the copy differs.
    """
    study.files.refuse_overwrite([folder / DATABASE_FILENAME, folder / KEY_FILENAME], force=False)
    source = Database(url, create=False)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as temporary:
        unfinished = Path(temporary) / DATABASE_FILENAME
        copied_state = _copy_rows(source, Database(build_sqlite_url(unfinished)))
        reread = Database(build_sqlite_url(unfinished), create=False)
        with reread.begin_reading() as connection:
            state, has_participants = _read_state(connection), has_known_participants(connection)
        reread.engine.dispose()
        if state != copied_state:
            raise study.DataError(f"{folder}: what was read back is not what was copied; is the disk sound?")
        if has_participants or key.exists():
            load_existing_key(key, "the study's database")
            _copy_key(key, folder / KEY_FILENAME)
        os.replace(unfinished, folder / DATABASE_FILENAME)
    with source.begin_writing() as connection:
        connection.execute(META.update().values(backed_up=datetime.now(UTC).isoformat(timespec="seconds")))
    source.engine.dispose()
    return {name: rows for name, (rows, _) in copied_state.items()}


def restore_backup(folder: Path, url: str, key: Path) -> dict[str, int]:
    """Copy a backup into the empty database at `url`, and its key to `key`; return the number of rows of each table.

    Raises `DataError` where the database holds a study already, or `key` is another one.
    """
    source = Database(build_sqlite_url(folder / DATABASE_FILENAME), create=False)
    stored = folder / KEY_FILENAME
    if stored.exists() and key.exists() and stored.read_bytes() != key.read_bytes():
        raise study.DataError(f"{key}: another key of ids than the backup's; move it away first")
    copied_state = _copy_rows(source, Database(url))
    if stored.exists() and not key.exists():
        _copy_key(stored, key)
    source.engine.dispose()
    return {name: rows for name, (rows, _) in copied_state.items()}


def _copy_key(key: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.touch(mode=0o600)
    shutil.copyfile(key, to)


def _copy_rows(source: Database, target: Database) -> DatabaseState:
    """Copy every row into a database that holds no study; return what was copied."""
    with source.begin_reading() as source_connection, target.begin_writing() as target_connection:
        if any(target_connection.scalar(sa.select(sa.func.count()).select_from(table)) for table in (TRIAL_LISTS, SESSIONS)):
            raise study.DataError("the database to restore to holds a study already; expected an empty one")
        target_connection.execute(META.delete())
        state = _read_state(source_connection, target_connection)
    target.engine.dispose()
    return state


def _read_state(connection: sa.Connection, copy_to: sa.Connection | None = None) -> DatabaseState:
    """Return what a database holds, and copy it meanwhile where `copy_to` is given."""
    state: DatabaseState = {}
    for table in metadata.sorted_tables:
        number = total = 0
        for rows in _read_rows(connection, table):
            if copy_to is not None:
                copy_to.execute(table.insert(), [dict(zip(table.columns.keys(), row, strict=True)) for row in rows])
            number += len(rows)
            total += sum(int.from_bytes(hashlib.sha256(repr(row).encode()).digest()[:16]) for row in rows)
        state[table.name] = number, total
    return state


def _read_rows(connection: sa.Connection, table: sa.Table) -> Iterator[list[tuple[Any, ...]]]:
    query = sa.select(table).execution_options(yield_per=ROWS_PER_PART)
    for part in connection.execute(query).partitions():
        yield [tuple(row) for row in part]
