"""Sessions and their events as rows of the database."""

import hmac
import json
from collections.abc import Sequence

import sqlalchemy as sa
from pydantic_core import from_json

from gardenpath.study.events import create_event

from ..scripts.list_files import ListFile
from ..scripts.script import Walk
from ..sessions.sessions import Event, RecordedSession, RejectedEvent, Session, replay_session_events
from .database import EVENTS, IS_REAL, REJECTED_EVENTS, SCREENINGS, SESSIONS, Row
from .rules import Refusal

IS_COUNTED = SESSIONS.c.exclusion_reason.is_(None) & SESSIONS.c.withdrawn.is_(None) & IS_REAL
PROGRESS_KINDS = ("begin", "word", "outcome", "done")  # the kinds of events that say how far a session has come


def authorise_session(connection: sa.Connection, session: str, token: str) -> Row:
    """Return a session's row, locked on PostgreSQL.

    Raises `KeyError` for an unknown one, `PermissionError` for a wrong token, `Refusal` for one of a tab from which another has
    taken the session.
    """
    row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session).with_for_update()).first()
    if row is None:
        raise KeyError(f"session {session!r} is not known")
    if _is_same_token(row.token, token):
        return row
    if any(_is_same_token(voided, token) for voided in row.voided.split()):
        raise Refusal("open_elsewhere", "the session is open in another tab")
    raise PermissionError("the token does not belong to this session")


def _is_same_token(known: str, token: str) -> bool:
    return hmac.compare_digest(known.encode(), token.encode())


def build_session(row: Row) -> Session:
    """Return the session that a row holds."""
    return Session(
        row.id,
        row.participant,
        row.list_name,
        row.slot,
        tuple(json.loads(row.order)),
        row.list_sha256,
        row.procedure_sha256,
        row.started,
        row.finished,
        row.source,
        row.revision,
        row.lease_expired,
        row.exclusion_reason,
    )


def read_events(connection: sa.Connection, session: str, kinds: Sequence[str] = ()) -> tuple[Event, ...]:
    """Return a session's events in order of seq, where kinds are named those alone."""
    query = sa.select(EVENTS).where(EVENTS.c.session == session).order_by(EVENTS.c.seq)
    query = query.where(EVENTS.c.kind.in_(kinds)) if kinds else query
    # By position: a row's attribute `t` is SQLAlchemy's own.
    return tuple(
        [
            create_event(seq, visit, t, kind, step, screen, from_json(value))
            for _, seq, visit, t, kind, step, screen, value in connection.execute(query).all()
        ]
    )


def read_rejected_events(connection: sa.Connection, session: str) -> tuple[RejectedEvent, ...]:
    """Return what was set apart of a session as it came, in order of seq."""
    query = sa.select(REJECTED_EVENTS.c.seq, REJECTED_EVENTS.c.reason, REJECTED_EVENTS.c.content).where(
        REJECTED_EVENTS.c.session == session
    )
    return tuple(RejectedEvent(*row) for row in connection.execute(query.order_by(REJECTED_EVENTS.c.seq)))


def compute_walk(connection: sa.Connection, row: Row, file: ListFile) -> Walk:
    """Return where a session stands."""
    return replay_session_events(build_session(row), file, read_events(connection, row.id, PROGRESS_KINDS))


def read_recorded_session(connection: sa.Connection, session: str) -> RecordedSession:
    """Return a session with its events; raises `KeyError` for one that is not known."""
    row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session)).first()
    if row is None:
        raise KeyError(f"session {session!r} is not known")
    return build_recorded_session(connection, row)


def read_sessions(connection: sa.Connection, *, previews: bool) -> list[Session]:
    """Return every session without its events, in order of assignment; previews only when asked for."""
    query = sa.select(SESSIONS).order_by(SESSIONS.c.started, SESSIONS.c.id)
    return [build_session(row) for row in connection.execute(query if previews else query.where(IS_REAL))]


def build_recorded_session(connection: sa.Connection, row: Row) -> RecordedSession:
    """Return the session of a row with all that it sent."""
    return RecordedSession(build_session(row), read_events(connection, row.id), read_rejected_events(connection, row.id))


def list_session_ids(connection: sa.Connection, *, previews: bool) -> Sequence[str]:
    """Return every session's id, in order of assignment."""
    query = sa.select(SESSIONS.c.id).order_by(SESSIONS.c.started, SESSIONS.c.id)
    return connection.scalars(query if previews else query.where(IS_REAL)).all()


def delete_sessions(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Delete the sessions for which this holds, with their events."""
    sessions = sa.select(SESSIONS.c.id).where(condition)
    for table in (EVENTS, REJECTED_EVENTS, SCREENINGS):
        connection.execute(table.delete().where(table.c.session.in_(sessions)))
    connection.execute(SESSIONS.delete().where(condition))
