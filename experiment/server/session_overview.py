"""What the experimenter sees of sessions without a look at their answers, and which of them count."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from .database import IS_REAL, META, PAYMENTS, SESSIONS, Row


@dataclass(frozen=True)
class SessionSummary:
    """What is known of a session without its answers; `state` is completed, running, dropped or withdrawn."""

    id: str
    list_name: str
    state: str
    started: datetime
    minutes: float
    trials: int
    ended: int
    interruptions: int
    rejected_count: int
    visits: int
    lease_expired: bool
    exclusion_reason: str | None
    source: str
    revision: int


def list_summaries(connection: sa.Connection, live_cutoff: str, offset: int, limit: int) -> list[SessionSummary]:
    """Return a summary of each of so many sessions, the latest first; previews are none."""
    query = sa.select(SESSIONS).where(IS_REAL).order_by(SESSIONS.c.started.desc(), SESSIONS.c.id)
    return [_build_summary(row, live_cutoff) for row in connection.execute(query.offset(offset).limit(limit))]


def list_durations(connection: sa.Connection) -> list[float]:
    """Return the minutes that each completed session took that counts, in increasing order."""
    is_counted = SESSIONS.c.finished.is_not(None) & SESSIONS.c.withdrawn.is_(None) & SESSIONS.c.exclusion_reason.is_(None)
    query = sa.select(SESSIONS.c.started, SESSIONS.c.finished).where(IS_REAL & is_counted)
    return sorted(_count_minutes(row.started, row.finished) for row in connection.execute(query))


def _build_summary(row: Row, live_cutoff: str) -> SessionSummary:
    if row.withdrawn is not None:
        state = "withdrawn"
    elif row.finished is not None:
        state = "completed"
    else:
        state = "running" if row.seen > live_cutoff else "dropped"
    return SessionSummary(
        row.id,
        row.list_name,
        state,
        datetime.fromisoformat(row.started),
        _count_minutes(row.started, row.finished or row.seen),
        row.order.count(",") + 1,
        row.trials_ended,
        row.interruptions,
        row.n_rejected,
        row.visits,
        row.lease_expired,
        row.exclusion_reason,
        row.source,
        row.revision,
    )


def _count_minutes(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() / 60


def count_sessions(connection: sa.Connection) -> tuple[int, int]:
    """Return how many sessions have begun, and how many of them are finished; previews are none."""
    row = connection.execute(sa.select(sa.func.count(), sa.func.count(SESSIONS.c.finished)).where(IS_REAL)).one()
    return int(row[0]), int(row[1])


def exclude_session(connection: sa.Connection, name: str, reason: str) -> str:
    """Mark a session as not counting, which opens its place again; return its id.

    `name` is a session or a platform's submission. Raises `KeyError` for one that is not known.
    """
    submission_sessions = sa.select(PAYMENTS.c.session).where(PAYMENTS.c.submission == name)
    is_named = (SESSIONS.c.id == name) | SESSIONS.c.id.in_(submission_sessions)
    id = connection.scalar(sa.select(SESSIONS.c.id).where(is_named, IS_REAL))
    if id is None:
        raise KeyError(f"session {name!r} is not known")
    connection.execute(SESSIONS.update().where(SESSIONS.c.id == id).values(exclusion_reason=reason))
    return str(id)


def release_slot(connection: sa.Connection, submission: str, reason: str) -> bool:
    """Mark the unfinished session of a submission as not counting; return whether it counted, unfinished, until now."""
    is_of_submission = SESSIONS.c.id.in_(sa.select(PAYMENTS.c.session).where(PAYMENTS.c.submission == submission))
    is_open = SESSIONS.c.finished.is_(None) & SESSIONS.c.withdrawn.is_(None) & SESSIONS.c.exclusion_reason.is_(None)
    return bool(connection.execute(SESSIONS.update().where(is_of_submission, is_open).values(exclusion_reason=reason)).rowcount)


def include_session(connection: sa.Connection, session: str) -> None:
    """Let a session count again; raises `KeyError` for one that is not known."""
    changed = connection.execute(SESSIONS.update().where(SESSIONS.c.id == session).values(exclusion_reason=None))
    if not changed.rowcount:
        raise KeyError(f"session {session!r} is not known")


def set_closed(connection: sa.Connection, is_closed_now: bool) -> None:
    """Close the study for newcomers, or open it again."""
    connection.execute(META.update().values(closed=is_closed_now))


def is_closed(connection: sa.Connection) -> bool:
    """Whether the study is closed for newcomers."""
    return bool(connection.scalar(sa.select(META.c.closed)))
