"""Who leaves: what is deleted, what stays, and who may not come again."""

import sqlalchemy as sa

from . import payments, stored_sessions
from .database import DEPARTED_PARTICIPANTS, DEPARTURES, IS_REAL, PREVIEW_SOURCE, SESSIONS
from .leases import Leases
from .payments import ReturnTicket

NO_DATA_REASONS = ("refused", "unsuitable")
ANONYMOUS_PREFIX = "p-"  # begins the random label of who came without an id


def withdraw_session(
    connection: sa.Connection, leases: Leases, session: str, token: str, reason: str, code: str | None
) -> tuple[str, bool, ReturnTicket]:
    """Let somebody go; return how it counts, whether the data are deleted, and what the way back needs.

    Who refuses, or whose device does not fit, leaves nothing, unless a trial has ended: then it is a withdrawal.
    Who had finished keeps the payment.
    """
    row = stored_sessions.authorise_session(connection, session, token)
    ticket = payments.find_return_ticket(connection, row)
    if row.trials_ended and reason in NO_DATA_REASONS:
        reason = "withdrawn"
    keeps_data = reason == "withdrawn" and leases.rules.keeps_withdrawn_data
    if row.withdrawn is None:
        if row.source != PREVIEW_SOURCE:
            _add_departure(connection, row.list_name, reason)
        if reason in NO_DATA_REASONS:
            payments.delete_payments(connection, [session])
        else:
            _block_return(connection, row.participant, reason)
            if row.finished is None:
                payments.settle_payment(connection, session, reason, code)
        if keeps_data:
            leases.renew_lease(connection, row, withdrawn=leases.get_time())
        else:
            stored_sessions.delete_sessions(connection, SESSIONS.c.id == session)
    return "finished" if row.finished is not None else reason, not keeps_data, ticket


def forget_participant(connection: sa.Connection, participant: str, name: str | None = None) -> int:
    """Delete all that is stored of a person and bar the way back; return how many sessions that were.

    The person is given by the keyed hash, or by `name`: a participant or session as the tables name them.
    Raises `KeyError` when nothing is known of this person.
    """
    is_named = SESSIONS.c.participant.in_([participant, name or participant]) | (SESSIONS.c.id == name)
    participants = set(connection.scalars(sa.select(SESSIONS.c.participant).where(is_named)))
    if not participants and find_departure_reason(connection, participant) is None:
        raise KeyError("nobody by this name has taken part")
    is_own = SESSIONS.c.participant.in_(participants)
    sessions = connection.execute(sa.select(SESSIONS.c.id, SESSIONS.c.list_name).where(is_own)).all()
    for session in sessions:
        _add_departure(connection, session.list_name, "forgotten")
    payments.delete_payments(connection, [session.id for session in sessions])
    stored_sessions.delete_sessions(connection, is_own)
    for found_participant in participants:
        _block_return(connection, found_participant, "forgotten")
    return len(sessions)


def find_departure_reason(connection: sa.Connection, participant: str) -> str | None:
    """Return why this person may not come again: withdrawn, forgotten or screened_out; None for who may."""
    reason: str | None = connection.scalar(
        sa.select(DEPARTED_PARTICIPANTS.c.reason).where(DEPARTED_PARTICIPANTS.c.participant == participant)
    )
    return reason


def has_known_participants(connection: sa.Connection) -> bool:
    """Whether anybody is known by the keyed hash of an id: in a session, or as one who may not come again."""
    is_hashed = SESSIONS.c.participant.not_like(f"{ANONYMOUS_PREFIX}%") & IS_REAL
    found = sa.union_all(sa.select(SESSIONS.c.participant).where(is_hashed), sa.select(DEPARTED_PARTICIPANTS.c.participant)).limit(
        1
    )
    return connection.scalar(found) is not None


def count_departures(connection: sa.Connection) -> dict[str, dict[str, int]]:
    """Return how many left, by list and reason."""
    counts: dict[str, dict[str, int]] = {}
    for list_name, reason, number in connection.execute(sa.select(DEPARTURES).order_by(DEPARTURES.c.reason)):
        counts.setdefault(list_name, {})[reason] = number
    return counts


def _block_return(connection: sa.Connection, participant: str, reason: str) -> None:
    # A random label can never come again.
    if not participant.startswith(ANONYMOUS_PREFIX) and find_departure_reason(connection, participant) is None:
        connection.execute(DEPARTED_PARTICIPANTS.insert().values(participant=participant, reason=reason))


def _add_departure(connection: sa.Connection, list_name: str, reason: str) -> None:
    condition = (DEPARTURES.c.list_name == list_name) & (DEPARTURES.c.reason == reason)
    number = connection.scalar(sa.select(DEPARTURES.c.number).where(condition))
    if number is None:
        connection.execute(DEPARTURES.insert().values(list_name=list_name, reason=reason, number=1))
    else:
        connection.execute(DEPARTURES.update().where(condition).values(number=number + 1))
