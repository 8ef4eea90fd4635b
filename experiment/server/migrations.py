"""A database of an earlier release becomes one of this: one step a schema, in one transaction, after a backup.

What a step needs of the release before stands in the step: names that are used nowhere else any more.
"""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from gardenpath import study

from ..scripts.list_files import ListFile, parse_list_file
from .database import (
    BUSY_TIMEOUT_MS,
    ROWS_PER_PART,
    SCHEMA_VERSION,
    SETUP_LOCK,
    Database,
    build_sqlite_url,
    connect_engine,
    format_canonical_json,
    read_schema,
)
from .published_lists import compute_content_hashes

Json = dict[str, Any]

# ------------------------------------------------------------------------------------------------------------ from schema 6 to 7

RENAMED_TABLES_7 = {"versions": "lists", "apart": "rejected_events"}
RENAMED_COLUMNS_7 = {
    "sessions": {
        "version": "list_name",
        "version_sha256": "list_sha256",
        "late": "lease_expired",
        "excluded": "exclusion_reason",
        "apart": "n_rejected",
    },
    "departures": {"version": "list_name"},
}
SLOT_INDEX_7 = "CREATE UNIQUE INDEX one_session_a_slot ON sessions (list_name, slot) WHERE source != 'preview'"
LIST_SCHEMA_6, LIST_SCHEMA_7 = 2, 4
TRIAL_LIST_NAMES_7 = {"lists": "short_lists"}
TRIAL_NAMES_7 = {"shown": "shown_sentences", "expected": "expected_responses"}
ORDERING_NAMES_7 = {
    "across_blocks": "adjacent_across_blocks",
    "across_breaks": "adjacent_across_breaks",
    "among": "scope",
    "balance": "balance_across_blocks",
    "before": "precedence",
    "fillers_between": "min_fillers_between",
    "first": "start_with",
    "last": "end_with",
    "together": "block_by",
}
DISPLAY_NAMES_7 = {"size": "font_size", "min_size": "min_font_size", "width": "line_width"}
FIELD_NAMES_7 = {"low": "min", "high": "max", "needed": "required"}
TASK_NAMES_7 = {
    "completion": {"blank": "blank_region", "longest": "max_length", "until": "fragment_end"},
    "rsvp": {"pause": "pause_duration", "word": "word_duration"},
}


def migrate_6_to_7(connection: sa.Connection) -> None:
    """Give tables, columns and list files their names of schema 7; what participants met stays what it was."""
    connection.exec_driver_sql("DROP INDEX IF EXISTS place")
    for old, new in RENAMED_TABLES_7.items():
        connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")
    for table, columns in RENAMED_COLUMNS_7.items():
        for old, new in columns.items():
            connection.exec_driver_sql(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    files = _migrate_lists(connection)
    _migrate_revisions(connection, files)
    connection.exec_driver_sql(SLOT_INDEX_7)


def _migrate_lists(connection: sa.Connection) -> list[ListFile]:
    """Write the list files anew, and let sessions name them; return the active ones."""
    lists = sa.table("lists", *(sa.column(name) for name in ("sha256", "name", "active", "content")))
    sessions = sa.table("sessions", *(sa.column(name) for name in ("list_name", "list_sha256", "procedure_sha256")))
    departures = sa.table("departures", sa.column("list_name"))
    active = []
    for row in connection.execute(sa.select(lists)).all():
        file = migrate_list_file_7(row.content, f"list {row.name} in the database")
        connection.execute(lists.insert().values(sha256=file.sha256, name=file.name, active=bool(row.active), content=file.text))
        connection.execute(
            sessions.update()
            .where(sessions.c.list_sha256 == row.sha256)
            .values(list_name=file.name, list_sha256=file.sha256, procedure_sha256=file.procedure_sha256)
        )
        connection.execute(departures.update().where(departures.c.list_name == row.name).values(list_name=file.name))
        connection.execute(lists.delete().where(lists.c.sha256 == row.sha256))
        active += [file] if row.active else []
    return active


def _migrate_revisions(connection: sa.Connection, active: list[ListFile]) -> None:
    """Give the revisions the hashes of texts and materials that the same lists have now."""
    _replace_hashes(
        connection, {part: hash_now for part, hash_now in compute_content_hashes(active, {}).items() if part != "settings"}
    )


def _replace_hashes(connection: sa.Connection, new: Mapping[str, str | None]) -> None:
    """Give what the last revision has, and earlier ones that have the same, new hashes; None where one is not known."""
    revisions = sa.table("revisions", sa.column("number"), sa.column("hashes"))
    rows = [(row.number, json.loads(row.hashes)) for row in connection.execute(sa.select(revisions).order_by("number")).all()]
    for number, hashes in rows:
        replaced = {part: new[part] for part in new if hashes[part] == rows[-1][1][part]}
        new_hashes = format_canonical_json(hashes | replaced)
        connection.execute(revisions.update().where(revisions.c.number == number).values(hashes=new_hashes))


def migrate_list_file_7(text: str, where: str) -> ListFile:
    """Return the list file of schema 2 whose text this is in today's form; raises `study.DataError` for one of another schema."""
    old = json.loads(text)
    if old.get("schema") != LIST_SCHEMA_6:
        raise study.DataError(f"{where}: its schema is {old.get('schema')!r}; expected {LIST_SCHEMA_6} in this database")
    trial_list = _rename(old.pop("version"), TRIAL_LIST_NAMES_7)
    trial_list["id"] = re.sub(r"^V(?=\d+$)", "L", trial_list["id"])
    trial_list["trials"] = [_rename(trial, TRIAL_NAMES_7) for trial in trial_list["trials"]]
    trial_list["ordering"] = _rename(trial_list["ordering"], ORDERING_NAMES_7)
    migrated = {
        **old,
        "schema": LIST_SCHEMA_7,
        "trial_list": trial_list,
        "script": _migrate_script_7(old["script"]),
        "procedure": _migrate_procedure_7(old["procedure"]),
    }
    file = parse_list_file(json.dumps(migrated), where)
    del vars(file)["text"]  # the hash is of the bytes that are written today
    return file


def _migrate_procedure_7(procedure: Json) -> Json:
    found = dict(procedure)
    if isinstance(found.get("practice"), dict):
        found["practice"] = _rename(found["practice"], {"rounds": "max_rounds"})
    if isinstance(found.get("display"), dict):
        found["display"] = _rename(found["display"], DISPLAY_NAMES_7)
    found["demographics"] = [_rename(one, FIELD_NAMES_7) for one in found.get("demographics", [])]
    tasks = found.get("tasks", {})
    found["tasks"] = {name: _rename(task, TASK_NAMES_7.get(task.get("kind"), {})) for name, task in tasks.items()}
    return found


def _migrate_script_7(script: Json) -> Json:
    found = _migrate_screens_7(script)
    return {**found, "display": _rename(found["display"], DISPLAY_NAMES_7)}


def _migrate_screens_7(value: Any) -> Any:
    """Return a part of a script with the screens in it renamed."""
    if isinstance(value, list):
        return [_migrate_screens_7(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: _migrate_screens_7(one) for name, one in value.items()}
    if "kind" not in found:
        return found
    if found["kind"] == "form":
        found["fields"] = [_rename(field, FIELD_NAMES_7) for field in found["fields"]]
    if found["kind"] == "entry":
        found.setdefault("not_positive", "")
    return _rename(found, {"tell": "is_judged_by_player"})


def _rename(table: Json, names: Mapping[str, str]) -> Json:
    return {names.get(name, name): value for name, value in table.items()}


# ------------------------------------------------------------------------------------------------------------ from schema 7 to 8


def migrate_7_to_8(connection: sa.Connection) -> None:
    """Add which study the database holds, and when it was backed up; neither is known yet.

    Settings had no `max_sessions` in schema 7, and another name for it in 6; they stand nowhere, so their hash is not known.
    """
    for name in ("study", "backed_up"):
        connection.exec_driver_sql(f"ALTER TABLE meta ADD COLUMN {name} VARCHAR")
    _replace_hashes(connection, {"settings": None})


MIGRATIONS: Mapping[int, Callable[[sa.Connection], None]] = {6: migrate_6_to_7, 7: migrate_7_to_8}


def upgrade_database(url: str, folder: Path) -> Path | None:
    """Bring a database of an earlier release to today's schema; return the backup made before in `folder`, None where none is due.

    All or nothing: where a step fails, the database is what it was. Of several processes that begin at once one does it. Raises
    `study.DataError` for a database that is none of ours, of a newer release, or of one too old.
    """
    engine = connect_engine(url)
    schema = read_schema(engine)
    if schema is None or schema not in MIGRATIONS:
        engine.dispose()
        Database(url).engine.dispose()  # which says what is wrong with it, or makes it
        return None
    backup = folder / f"before-schema-{SCHEMA_VERSION}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}" / "study.sqlite"
    copy_to_sqlite(engine, backup)
    engine.dispose()
    Database(url, migrations=MIGRATIONS).engine.dispose()
    if read_schema(connect_engine(build_sqlite_url(backup))) in MIGRATIONS:
        return backup
    shutil.rmtree(backup.parent)  # another process was before this one
    return None


def open_upgraded_copy(url: str, folder: Path) -> str:
    """Return the URL of a database of today's schema: this one, or an upgraded copy in `folder` of one of an earlier release."""
    engine = connect_engine(url)
    try:
        if read_schema(engine) not in MIGRATIONS:
            return url
        copy = folder / "study.sqlite"
        copy_to_sqlite(engine, copy)
    finally:
        engine.dispose()
    Database(build_sqlite_url(copy), migrations=MIGRATIONS).engine.dispose()
    return build_sqlite_url(copy)


def copy_to_sqlite(engine: sa.Engine, path: Path) -> None:
    """Copy one state of a database, whatever its schema, to a new SQLite file; indexes stay behind on PostgreSQL."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    if engine.dialect.name == "sqlite":
        source = f"file:{Path(engine.url.database or '').absolute()}?mode=ro"
        with (
            closing(sqlite3.connect(source, uri=True, timeout=BUSY_TIMEOUT_MS / 1000)) as old,
            closing(sqlite3.connect(path)) as new,
        ):
            old.backup(new)
        return
    target = sa.create_engine(build_sqlite_url(path))
    options = {"isolation_level": "REPEATABLE READ"}  # one state
    with engine.begin() as guard, engine.connect().execution_options(**options) as old_connection, target.begin() as new_connection:
        guard.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SETUP_LOCK})")  # no other process upgrades it meanwhile
        found = sa.MetaData()
        found.reflect(old_connection)
        for table in found.tables.values():
            table.indexes.clear()
            for column in table.columns:
                column.server_default = None  # PostgreSQL's own, such as a sequence
        found.create_all(new_connection)
        for table in found.sorted_tables:
            query = sa.select(table).execution_options(yield_per=ROWS_PER_PART)
            for part in old_connection.execute(query).mappings().partitions():
                new_connection.execute(table.insert(), [dict(row) for row in part])
    target.dispose()
