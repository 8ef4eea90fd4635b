"""The lists that sessions are assigned to, or once were, and the revisions of a study that changes under its sessions."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ..scripts.list_files import ListFile, parse_list_file
from .database import IS_REAL, REVISIONS, SESSIONS, TRIAL_LISTS, format_canonical_json

log = logging.getLogger("gardenpath")


class ListFileCache:
    """The list files of a database; each is parsed once, since it never changes and every request needs one."""

    def __init__(self) -> None:
        self._parsed: dict[str, ListFile] = {}

    def get_list_file(self, connection: sa.Connection, sha256: str) -> ListFile:
        """Return the list file with this hash."""
        if sha256 not in self._parsed:
            query = sa.select(TRIAL_LISTS.c.name, TRIAL_LISTS.c.content).where(TRIAL_LISTS.c.sha256 == sha256)
            name, content = connection.execute(query).one()
            self._parsed[sha256] = parse_list_file(content, f"list {name} in the database")
        return self._parsed[sha256]

    def get_all_list_files(self, connection: sa.Connection) -> dict[str, ListFile]:
        """Return every list that is or was published, by SHA-256."""
        hashes = connection.scalars(sa.select(TRIAL_LISTS.c.sha256)).all()
        return {sha256: self.get_list_file(connection, sha256) for sha256 in hashes}


def find_active_lists(connection: sa.Connection) -> dict[str, str]:
    """Return the lists that newcomers are assigned to: the SHA-256 of each name."""
    return dict(connection.execute(sa.select(TRIAL_LISTS.c.name, TRIAL_LISTS.c.sha256).where(TRIAL_LISTS.c.active)).all())


def publish_lists(connection: sa.Connection, files: Sequence[ListFile], hashes: Mapping[str, str], *, now: str) -> int:
    """Make these lists the active ones, and return the number of this revision, which `hashes` describe."""
    stored = set(connection.scalars(sa.select(TRIAL_LISTS.c.sha256)))
    connection.execute(TRIAL_LISTS.update().values(active=False))
    for file in files:
        if file.sha256 in stored:
            connection.execute(TRIAL_LISTS.update().where(TRIAL_LISTS.c.sha256 == file.sha256).values(active=True))
        else:
            row = {"sha256": file.sha256, "name": file.name, "active": True, "content": file.text}
            connection.execute(TRIAL_LISTS.insert().values(row))
    return _update_revision(connection, hashes, now)


def _update_revision(connection: sa.Connection, hashes: Mapping[str, str], now: str) -> int:
    """Replace a revision that no session has met yet; otherwise a change has a new number."""
    last = connection.execute(sa.select(REVISIONS).order_by(REVISIONS.c.number.desc())).first()
    row = {"since": now, "hashes": format_canonical_json(hashes)}
    if last is None:
        connection.execute(REVISIONS.insert().values(number=1, **row))
        return 1
    before = json.loads(last.hashes)
    changed = _list_changed_parts(hashes, before)
    if not changed:
        if None in before.values():  # of an upgraded database: now it is known
            connection.execute(REVISIONS.update().where(REVISIONS.c.number == last.number).values(hashes=row["hashes"]))
        return int(last.number)
    session_query = sa.select(sa.func.count()).select_from(SESSIONS).where(IS_REAL & (SESSIONS.c.revision == last.number))
    session_count = connection.scalar(session_query) or 0
    if not session_count:
        connection.execute(REVISIONS.update().where(REVISIONS.c.number == last.number).values(row))
        return int(last.number)
    log.warning(
        "the study has changed since its first sessions (%s): those %d keep what they ran, new ones are of revision %d, and "
        "the tables will hold both; serve from another folder (-o) to keep them apart",
        ", ".join(sorted(changed)),
        session_count,
        last.number + 1,
    )
    connection.execute(REVISIONS.insert().values(number=last.number + 1, **row))
    return int(last.number) + 1


def list_revisions(connection: sa.Connection) -> list[dict[str, Any]]:
    """Return each revision's number, time and hashes, and what changed since the one before."""
    described: list[dict[str, Any]] = []
    before: dict[str, str | None] | None = None
    for row in connection.execute(sa.select(REVISIONS).order_by(REVISIONS.c.number)).all():
        hashes = json.loads(row.hashes)
        changed = [] if before is None else _list_changed_parts(hashes, before)
        described.append({"number": row.number, "since": row.since, "changed": changed, "hashes": hashes})
        before = hashes
    return described


def find_current_revision(connection: sa.Connection) -> int:
    """Return the number of the revision that new sessions meet."""
    return connection.scalar(sa.select(sa.func.max(REVISIONS.c.number))) or 1


def _list_changed_parts(hashes: Mapping[str, str | None], before: Mapping[str, str | None]) -> list[str]:
    """Return the parts that have changed; one whose hash is None is not known, and taken to be the same."""
    return [part for part in hashes if hashes[part] != before.get(part) and None not in (hashes[part], before.get(part, ""))]


def compute_content_hashes(files: Sequence[ListFile], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what participants meet by hash: the texts with the procedure, the materials in their lists, the settings."""
    parts = {
        "texts": sorted({file.procedure_sha256 for file in files}),
        "materials": [[file.name, *_read_materials_content(file)] for file in sorted(files, key=lambda file: file.name)],
        "settings": settings,
    }
    return {name: hashlib.sha256(format_canonical_json(part).encode("utf-8")).hexdigest() for name, part in parts.items()}


def _read_materials_content(file: ListFile) -> list[object]:
    content = json.loads(file.text)
    return [content["title"], content["paradigms"], content["trial_list"]]
