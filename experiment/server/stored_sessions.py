"""Sessions and their events as rows of the database."""

import hmac
import json
from collections.abc import Sequence

import sqlalchemy as sa
from pydantic_core import from_json

from ..script import Walk
from ..sessions import Apart, Event, Session, SessionRecord, walked
from ..versions import VersionFile
from .database import APART, EVENTS, REAL, SCREENINGS, SESSIONS, Row
from .rules import Refused

COUNTS = SESSIONS.c.excluded.is_(None) & SESSIONS.c.withdrawn.is_(None) & REAL
PROGRESS = ("begin", "word", "outcome", "done")  # the kinds of events that say how far a session has come


def authorised(connection: sa.Connection, session: str, token: str) -> Row:
    """Return a session's row, locked on PostgreSQL.

    Raises `KeyError` for an unknown one, `PermissionError` for a wrong token, `Refused` for one of a tab from which another has
    taken the session.
    """
    row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session).with_for_update()).first()
    if row is None:
        raise KeyError(f"session {session!r} is not known")
    if _is(row.token, token):
        return row
    if any(_is(voided, token) for voided in row.voided.split()):
        raise Refused("open_elsewhere", "the session is open in another tab")
    raise PermissionError("the token does not belong to this session")


def _is(known: str, token: str) -> bool:
    return hmac.compare_digest(known.encode(), token.encode())


def session_of(row: Row) -> Session:
    """Return the session that a row holds."""
    return Session(
        row.id,
        row.participant,
        row.version,
        row.slot,
        tuple(json.loads(row.order)),
        row.version_sha256,
        row.procedure_sha256,
        row.started,
        row.finished,
        row.source,
        row.revision,
        row.late,
        row.excluded,
    )


def events_of(connection: sa.Connection, session: str, kinds: Sequence[str] = ()) -> tuple[Event, ...]:
    """Return a session's events in order of seq, where kinds are named those alone."""
    query = sa.select(EVENTS).where(EVENTS.c.session == session).order_by(EVENTS.c.seq)
    query = query.where(EVENTS.c.kind.in_(kinds)) if kinds else query
    # By position: a row's attribute `t` is SQLAlchemy's own.
    return tuple(
        [
            Event(seq, visit, t, kind, step, screen, from_json(value))
            for _, seq, visit, t, kind, step, screen, value in connection.execute(query).all()
        ]
    )


def apart_of(connection: sa.Connection, session: str) -> tuple[Apart, ...]:
    """Return what was set apart of a session as it came, in order of seq."""
    query = sa.select(APART.c.seq, APART.c.reason, APART.c.content).where(APART.c.session == session)
    return tuple(Apart(*row) for row in connection.execute(query.order_by(APART.c.seq)))


def progress(connection: sa.Connection, row: Row, file: VersionFile) -> Walk:
    """Return where a session stands."""
    return walked(session_of(row), file, events_of(connection, row.id, PROGRESS))


def record(connection: sa.Connection, session: str) -> SessionRecord:
    """Return a session with its events; raises `KeyError` for one that is not known."""
    row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session)).first()
    if row is None:
        raise KeyError(f"session {session!r} is not known")
    return record_of(connection, row)


def sessions(connection: sa.Connection, *, previews: bool) -> list[Session]:
    """Return every session without its events, in order of assignment; previews only when asked for."""
    query = sa.select(SESSIONS).order_by(SESSIONS.c.started, SESSIONS.c.id)
    return [session_of(row) for row in connection.execute(query if previews else query.where(REAL))]


def record_of(connection: sa.Connection, row: Row) -> SessionRecord:
    """Return the session of a row with all that it sent."""
    return SessionRecord(session_of(row), events_of(connection, row.id), apart_of(connection, row.id))


def names(connection: sa.Connection, *, previews: bool) -> Sequence[str]:
    """Return every session's id, in order of assignment."""
    query = sa.select(SESSIONS.c.id).order_by(SESSIONS.c.started, SESSIONS.c.id)
    return connection.scalars(query if previews else query.where(REAL)).all()


def delete(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Delete the sessions for which this holds, with their events."""
    sessions = sa.select(SESSIONS.c.id).where(condition)
    for table in (EVENTS, APART, SCREENINGS):
        connection.execute(table.delete().where(table.c.session.in_(sessions)))
    connection.execute(SESSIONS.delete().where(condition))
