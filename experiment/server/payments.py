"""Platforms' ids, in a table of their own that can be deleted after payment: whom to pay, and the way back to the platform."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ..sessions.recruitment import PlatformParticipant
from .database import PAYMENTS, Row


@dataclass(frozen=True)
class ReturnTicket:
    """What the way back of a session needs: its platform, the raw id while it is kept, and its source."""

    platform: str
    id: str
    source: str


def find_return_ticket(connection: sa.Connection, row: Row) -> ReturnTicket:
    """Return the ticket of a session."""
    id = connection.scalar(sa.select(PAYMENTS.c.id).where(PAYMENTS.c.session == row.id))
    return ReturnTicket(row.platform, id or "", row.source)


def register_payment(connection: sa.Connection, session: str, platform_participant: PlatformParticipant) -> None:
    """Note who is to be paid for a session, in place of what was noted before."""
    delete_payments(connection, [session])
    row = {
        "session": session,
        "platform": platform_participant.platform,
        "id": platform_participant.id,
        "submission": platform_participant.submission,
    }
    connection.execute(PAYMENTS.insert().values(**row, code=None, status="running"))


def settle_payment(connection: sa.Connection, session: str, status: str, code: str | None) -> None:
    """Note how a session ended, and the code that its participant was given."""
    connection.execute(PAYMENTS.update().where(PAYMENTS.c.session == session).values(status=status, code=code))


def note_submission_status(connection: sa.Connection, submission: str, status: str) -> None:
    """Note how a submission stands at its platform."""
    connection.execute(PAYMENTS.update().where(PAYMENTS.c.submission == submission).values(status=status))


def delete_payments(connection: sa.Connection, sessions: Sequence[str]) -> None:
    """Delete what is noted for the payment of these sessions."""
    connection.execute(PAYMENTS.delete().where(PAYMENTS.c.session.in_(sessions)))


def delete_all_payments(connection: sa.Connection) -> int:
    """Delete every platform's id; return how many."""
    return connection.execute(PAYMENTS.delete()).rowcount


def list_payments(connection: sa.Connection) -> list[dict[str, Any]]:
    """Return the payments: platform, id, submission, code and status, ordered by platform and id."""
    columns = [column for column in PAYMENTS.c if column.name != "session"]
    rows = connection.execute(sa.select(*columns).order_by(PAYMENTS.c.platform, PAYMENTS.c.id))
    return [dict(row._mapping) for row in rows]
