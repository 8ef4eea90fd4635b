"""What a platform gave to download becomes the tables that our own server's data become."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd

from gardenpath import study
from gardenpath.study.mapping import ColumnMapping, Row, read_mapping

from ..sessions.event_tables import build_session_tables
from ..sessions.pseudonyms import hash_participant, load_existing_key, load_participant_key
from ..sessions.sessions import RecordedSession
from . import page_rows
from .imported_tables import build_tables
from .jatos import results as jatos
from .jspsych import results as jspsych
from .platform_import import find_platform, read_platform_files, read_platform_sessions
from .shown_materials import read_shown_materials
from .sources import KEY_FILENAME
from .table import results as table
from .table.word_tables import build_mean_tables

log = logging.getLogger("gardenpath")


def collect_platform_data(
    data: str | Path,
    platform: str,
    *,
    mapping: str | Path | ColumnMapping | None = None,
    materials: str | Path | None = None,
    pseudonymise: Callable[[str], str],
) -> dict[str, pd.DataFrame]:
    """Return the tables of a file or a folder that `platform` gave to download; `pseudonymise` makes of an id what is written.

    Sessions that our own page ran there have all their events, and become what they would be from our server.
    """
    columns = mapping if mapping is None or isinstance(mapping, ColumnMapping) else read_mapping(mapping)
    shown_materials = None if materials is None else read_shown_materials(materials)
    if rows := _read_page_rows(data, platform):
        if shown_materials is None or not shown_materials.files:
            raise study.DataError(
                f"{data}: these are data of a study that gardenpath exported; name its lists (--materials: the folder lists "
                "of the export, or study.toml)"
            )
        records = [_pseudonymise_record(record, pseudonymise) for record in page_rows.build_session_records(rows, str(data))]
        return build_session_tables(records, shown_materials.files, where=str(data))
    if columns is not None and columns.rows_are_means:
        if platform != table.NAME:
            raise study.DataError(f"{data}: rows_are_means = true is of tables (--platform table), not of {platform}")
        return build_mean_tables(read_platform_files(data, table), columns, shown_materials)
    try:
        return build_tables(read_platform_sessions(data, platform, columns), shown_materials, pseudonymise)
    except study.DataError as error:
        # What a table cannot hold came from these files, of which its check does not know.
        raise study.DataError(f"{data}: {f}" if f.startswith("table ") else f for f in error.faults) from None


def _read_page_rows(data: str | Path, platform: str) -> list[Row]:
    """Return the rows that our own page sent, where the platform ran it."""
    page_platforms = {module.NAME: module for module in (jspsych, jatos)}
    if platform not in page_platforms:
        return []
    files = read_platform_files(data, find_platform(platform))
    rows = [row for source in files for run in page_platforms[platform].read_runs(source) for row in run.rows]
    own_rows = [row for row in rows if row.get(page_rows.SESSION_COLUMN)]
    if own_rows and len(own_rows) < len(rows):
        log.warning("%s: %d rows are not of gardenpath's page; left out", data, len(rows) - len(own_rows))
    return own_rows


def _pseudonymise_record(record: RecordedSession, pseudonymise: Callable[[str], str]) -> RecordedSession:
    return replace(record, session=replace(record.session, participant=pseudonymise(record.session.participant)))


def build_pseudonymiser(data: str | Path, platform: str | None, key: str | Path | None, keep_ids: bool) -> Callable[[str], str]:
    """Return what makes of a platform's id what is written: a keyed hash, or the id itself where it is a researcher's label."""
    path = find_key_file(data, platform, key, keep_ids)
    if path is None:
        return str

    @cache
    def load_secret() -> bytes:
        """Made only when there is an id to hash: data that cannot be read leave no key."""
        try:
            # The ids of our own server are hashed already, with a key that has to be there.
            return load_existing_key(path) if platform is None else load_participant_key(path)
        except FileNotFoundError:
            raise
        except OSError:
            raise study.DataError(f"{path}: cannot be written; name another place for the key of ids (--key)") from None

    return lambda id: hash_participant(id, load_secret())


def find_key_file(data: str | Path, platform: str | None, key: str | Path | None, keep_ids: bool) -> Path | None:
    """Return the file of the key that hashes ids: `key`, or participant.key beside the data; None where ids stay as they are."""
    if keep_ids or (platform == table.NAME and key is None):
        return None
    if key is not None:
        return Path(key)
    # Where the raw ids are too.
    return (Path(data) if Path(data).is_dir() else Path(data).parent) / KEY_FILENAME
