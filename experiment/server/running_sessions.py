"""What a running session sends: its events, that it is still there, and that it has reached its end."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ..script import Walk, walk
from ..sessions import Apart, Event, sifted, steps_of
from ..sifting import misfit
from . import payments
from .database import APART, EVENTS, PREVIEW, canonical
from .leases import Leases
from .payments import Ticket
from .published_versions import VersionFiles
from .received_events import set_apart
from .rules import Conflict
from .screening import check_screened
from .stored_sessions import authorised, record_of, session_of


class RunningSessions:
    """Takes what the participants' pages send, each for the session whose token it has."""

    def __init__(self, leases: Leases, files: VersionFiles) -> None:
        self._leases, self._files = leases, files

    def append(
        self, connection: sa.Connection, session: str, token: str, events: Sequence[Event], apart: Sequence[Apart] = ()
    ) -> tuple[int, list[Apart]]:
        """Store events; return how many the session has, and which of these are set apart. One stored already must be the same.

        `apart` are none by their form; events that no session of this version can contain are set apart here. Raises `KeyError` for
        an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        row = authorised(connection, session, token)
        if row.withdrawn is not None:
            raise Conflict("the session is withdrawn; it takes no further events")
        steps = steps_of(session_of(row), self._files.file(connection, row.version_sha256))
        judged = [(event, misfit(steps, event)) for event in events]
        known = [event for event, reason in judged if reason is None]
        unknown = [*apart, *(set_apart(vars(event), reason) for event, reason in judged if reason is not None)]
        check_screened(connection, session, steps, known)
        tables = (EVENTS, APART) if row.apart or unknown else (EVENTS,)
        fresh = _fresh(connection, session, known, unknown, tables)
        if fresh and row.finished is not None:
            raise Conflict("the session is complete; it takes no further events")
        for table, rows in ((EVENTS, known), (APART, unknown)):
            if new := [fresh[one.seq] for one in rows if one.seq in fresh]:
                connection.execute(table.insert(), new)
        new_events = [event for event in known if event.seq in fresh]
        trials = {placed.number for placed in steps if placed.position is not None}
        self._leases.renew(
            connection,
            row,
            trials_ended=row.trials_ended + sum(event.kind == "done" and event.step in trials for event in new_events),
            interruptions=row.interruptions + sum(_leaves(event) for event in new_events),
            apart=row.apart + len(fresh) - len(new_events),
        )
        counts = [sa.select(sa.func.count()).where(table.c.session == session) for table in tables]
        return sum(connection.scalar(count) or 0 for count in counts), unknown

    def heartbeat(self, connection: sa.Connection, session: str, token: str, *, leaving: bool) -> None:
        """Renew the session's lease; raises `Refused` when another tab has the session."""
        row = authorised(connection, session, token)
        self._leases.renew(connection, row, tab_seen=None if leaving else self._leases.now())

    def complete(
        self, connection: sa.Connection, session: str, token: str, events: int, code: str
    ) -> tuple[list[int], Mapping[int, str], Ticket]:
        """Mark the session finished if events 0 to `events` - 1 are all stored, and its script was walked to the end.

        Returns the missing numbers, and those set apart with the reason. `code` is noted for payment. Neither the time it took nor
        any answer matters here.
        """
        row = authorised(connection, session, token)
        ticket = payments.ticket(connection, row)
        if row.withdrawn is not None:
            raise Conflict("the session is withdrawn")
        file = self._files.file(connection, row.version_sha256)
        if row.finished is None:
            kept = (sa.select(table.c.seq).where(table.c.session == session) for table in (EVENTS, APART))
            stored = {seq for query in kept for seq in connection.scalars(query)}
            if missing := [seq for seq in range(events) if seq not in stored]:
                return missing, {}, ticket
        record = record_of(connection, row)
        sift = sifted(record, file)
        if row.finished is None:
            if row.source != PREVIEW:
                _check_end(walk(steps_of(record.session, file), sift.known), sift.apart)
            self._leases.renew(connection, row, finished=self._leases.now(), apart=len(sift.apart))
            payments.settle(connection, session, "completed", code)
        return [], sift.apart, ticket


def _check_end(stand: Walk, apart: Mapping[int, str]) -> None:
    """Raise `Conflict` where a session has not come to the end of its script."""
    if stand.at is None and stand.ending is None:
        return
    left = stand.steps[stand.at[0]] if stand.at is not None else None
    where = f"is at step {left.number} ({left.step.name})" if left else f"has ended before its end ({stand.ending})"
    why = f"; of its events {len(apart)} are set apart, first number {min(apart)}: {apart[min(apart)]}" if apart else ""
    raise Conflict(f"the session {where}; the code comes at the end{why}")


def _fresh(
    connection: sa.Connection, session: str, events: Sequence[Event], apart: Sequence[Apart], tables: Sequence[sa.Table]
) -> dict[int, dict[str, Any]]:
    """Return the rows of what is not stored yet, by number; raises `Conflict` for what differs from what is."""
    numbers = [event.seq for event in events] + [one.seq for one in apart]
    stored: dict[int, dict[str, Any]] = {}
    for table in tables:
        query = sa.select(table).where(table.c.session == session, table.c.seq.in_(numbers))
        stored |= {row.seq: row._asdict() for row in connection.execute(query)}
    came = [{"session": session, **vars(event), "value": canonical(event.value)} for event in events]
    came += [{"session": session, **vars(one)} for one in apart]
    fresh: dict[int, dict[str, Any]] = {}
    for row in came:
        before = stored.get(row["seq"], fresh.get(row["seq"]))
        if before is not None and before != row:
            raise Conflict(f"event {row['seq']} is stored already and differs; events are never changed")
        if row["seq"] not in stored:
            fresh[row["seq"]] = row
    return fresh


def _leaves(event: Event) -> bool:
    return event.kind == "interruption" and event.value["reason"] in ("blur", "hidden")
