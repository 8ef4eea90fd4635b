"""What a platform gave to download becomes the tables that our own server's data become."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd

from gardenpath import study
from gardenpath.study.mapping import ColumnMapping, Row, read_mapping

from ..event_tables import tables_of
from ..pseudonyms import hash_participant, known_key, participant_key
from ..sessions import SessionRecord
from . import native
from .importing import platform_files, platform_named, read_sessions
from .jatos import results as jatos
from .jspsych import results as jspsych
from .materials import read_shown
from .sources import KEY
from .table import results as table
from .table.words import mean_tables
from .tabulate import tabulate

log = logging.getLogger("gardenpath")


def collect_from(
    data: str | Path,
    platform: str,
    *,
    mapping: str | Path | ColumnMapping | None = None,
    materials: str | Path | None = None,
    name: Callable[[str], str],
) -> dict[str, pd.DataFrame]:
    """Return the tables of a file or a folder that `platform` gave to download; `name` makes of an id what is written.

    Sessions that our own page ran there have all their events, and become what they would be from our server.
    """
    columns = mapping if mapping is None or isinstance(mapping, ColumnMapping) else read_mapping(mapping)
    shown = None if materials is None else read_shown(materials)
    if rows := _own_rows(data, platform):
        if shown is None or not shown.files:
            raise study.DataError(
                f"{data}: these are data of a study that gardenpath exported; name its versions (--materials: the folder versions "
                "of the export, or study.toml)"
            )
        records = [_named(record, name) for record in native.records(rows, str(data))]
        return tables_of(records, shown.files, where=str(data))
    if columns is not None and columns.means:
        if platform != table.NAME:
            raise study.DataError(f"{data}: means = true is of tables (--from table), not of {platform}")
        return mean_tables(platform_files(data, table), columns, shown)
    try:
        return tabulate(read_sessions(data, platform, columns), shown, name)
    except study.DataError as error:
        # What a table cannot hold came from these files, of which its check does not know.
        raise study.DataError(f"{data}: {f}" if f.startswith("table ") else f for f in error.faults) from None


def _own_rows(data: str | Path, platform: str) -> list[Row]:
    """Return the rows that our own page sent, where the platform ran it."""
    made_by = {module.NAME: module for module in (jspsych, jatos)}
    if platform not in made_by:
        return []
    files = platform_files(data, platform_named(platform))
    rows = [row for source in files for run in made_by[platform].runs(source) for row in run.rows]
    page_rows = [row for row in rows if row.get(native.SESSION)]
    if page_rows and len(page_rows) < len(rows):
        log.warning("%s: %d rows are not of gardenpath's page; left out", data, len(rows) - len(page_rows))
    return page_rows


def _named(record: SessionRecord, name: Callable[[str], str]) -> SessionRecord:
    return replace(record, session=replace(record.session, participant=name(record.session.participant)))


def namer(data: str | Path, platform: str | None, key: str | Path | None, keep_ids: bool) -> Callable[[str], str]:
    """Return what makes of a platform's id what is written: a keyed hash, or the id itself where it is a researcher's label."""
    path = key_file(data, platform, key, keep_ids)
    if path is None:
        return str

    @cache
    def secret() -> bytes:
        """Made only when there is an id to hash: data that cannot be read leave no key."""
        try:
            # The ids of our own server are hashed already, with a key that has to be there.
            return known_key(path) if platform is None else participant_key(path)
        except FileNotFoundError:
            raise
        except OSError:
            raise study.DataError(f"{path}: cannot be written; name another place for the key of ids (--key)") from None

    return lambda id: hash_participant(id, secret())


def key_file(data: str | Path, platform: str | None, key: str | Path | None, keep_ids: bool) -> Path | None:
    """Return the file of the key that hashes ids: `key`, or participant.key beside the data; None where ids stay as they are."""
    if keep_ids or (platform == table.NAME and key is None):
        return None
    if key is not None:
        return Path(key)
    # Where the raw ids are too.
    return (Path(data) if Path(data).is_dir() else Path(data).parent) / KEY
