"""Who leaves: what is deleted, what stays, and who may not come again."""

import sqlalchemy as sa

from . import payments, stored_sessions
from .database import DEPARTED, DEPARTURES, PREVIEW, REAL, SESSIONS
from .leases import Leases
from .payments import Ticket

LEAVE_NOTHING = ("refused", "unsuitable")
UNNAMED = "p-"  # begins the random label of who came without an id


def withdraw(
    connection: sa.Connection, leases: Leases, session: str, token: str, reason: str, code: str | None
) -> tuple[str, bool, Ticket]:
    """Let somebody go; return how it counts, whether the data are deleted, and what the way back needs.

    Who refuses, or whose device does not fit, leaves nothing, unless a trial has ended: then it is a withdrawal.
    Who had finished keeps the payment.
    """
    row = stored_sessions.authorised(connection, session, token)
    ticket = payments.ticket(connection, row)
    if row.trials_ended and reason in LEAVE_NOTHING:
        reason = "withdrawn"
    keep = reason == "withdrawn" and leases.rules.keep_withdrawn
    if row.withdrawn is None:
        if row.source != PREVIEW:
            _count(connection, row.version, reason)
        if reason in LEAVE_NOTHING:
            payments.delete(connection, [session])
        else:
            _bar(connection, row.participant, reason)
            if row.finished is None:
                payments.settle(connection, session, reason, code)
        if keep:
            leases.renew(connection, row, withdrawn=leases.now())
        else:
            stored_sessions.delete(connection, SESSIONS.c.id == session)
    return "finished" if row.finished is not None else reason, not keep, ticket


def forget(connection: sa.Connection, participant: str, name: str | None = None) -> int:
    """Delete all that is stored of a person and bar the way back; return how many sessions that were.

    The person is given by the keyed hash, or by `name`: a participant or session as the tables name them.
    Raises `KeyError` when nothing is known of this person.
    """
    named = SESSIONS.c.participant.in_([participant, name or participant]) | (SESSIONS.c.id == name)
    people = set(connection.scalars(sa.select(SESSIONS.c.participant).where(named)))
    if not people and departed(connection, participant) is None:
        raise KeyError("nobody by this name has taken part")
    theirs = SESSIONS.c.participant.in_(people)
    sessions = connection.execute(sa.select(SESSIONS.c.id, SESSIONS.c.version).where(theirs)).all()
    for session in sessions:
        _count(connection, session.version, "forgotten")
    payments.delete(connection, [session.id for session in sessions])
    stored_sessions.delete(connection, theirs)
    for person in people:
        _bar(connection, person, "forgotten")
    return len(sessions)


def departed(connection: sa.Connection, participant: str) -> str | None:
    """Return why this person may not come again: withdrawn, forgotten or screened_out; None for who may."""
    reason: str | None = connection.scalar(sa.select(DEPARTED.c.reason).where(DEPARTED.c.participant == participant))
    return reason


def knows_people(connection: sa.Connection) -> bool:
    """Whether anybody is known by the keyed hash of an id: in a session, or as one who may not come again."""
    hashed = SESSIONS.c.participant.not_like(f"{UNNAMED}%") & REAL
    found = sa.union_all(sa.select(SESSIONS.c.participant).where(hashed), sa.select(DEPARTED.c.participant)).limit(1)
    return connection.scalar(found) is not None


def numbers(connection: sa.Connection) -> dict[str, dict[str, int]]:
    """Return how many left, by version and reason."""
    left: dict[str, dict[str, int]] = {}
    for version, reason, number in connection.execute(sa.select(DEPARTURES).order_by(DEPARTURES.c.reason)):
        left.setdefault(version, {})[reason] = number
    return left


def _bar(connection: sa.Connection, participant: str, reason: str) -> None:
    # A random label can never come again.
    if not participant.startswith(UNNAMED) and departed(connection, participant) is None:
        connection.execute(DEPARTED.insert().values(participant=participant, reason=reason))


def _count(connection: sa.Connection, version: str, reason: str) -> None:
    condition = (DEPARTURES.c.version == version) & (DEPARTURES.c.reason == reason)
    number = connection.scalar(sa.select(DEPARTURES.c.number).where(condition))
    if number is None:
        connection.execute(DEPARTURES.insert().values(version=version, reason=reason, number=1))
    else:
        connection.execute(DEPARTURES.update().where(condition).values(number=number + 1))
