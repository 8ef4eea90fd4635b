"""What a running session sends: its events, that it is still there, and that it has reached its end."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from ..records import fault
from ..script import Placed
from ..sessions import Event, steps_of
from . import payments
from .database import EVENTS, PREVIEW, canonical
from .leases import Leases
from .payments import Ticket
from .published_versions import VersionFiles
from .rules import Conflict, Refused
from .screening import check_screened
from .stored_sessions import authorised, progress, session_of


class RunningSessions:
    """Takes what the participants' pages send, each for the session whose token it has."""

    def __init__(self, leases: Leases, files: VersionFiles) -> None:
        self._leases, self._files = leases, files

    def append(self, connection: sa.Connection, session: str, token: str, events: Sequence[Event]) -> int:
        """Store events and return how many the session has; one that is stored already must be the same.

        Raises `KeyError` for an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        row = authorised(connection, session, token)
        if row.withdrawn is not None:
            raise Conflict("the session is withdrawn; it takes no further events")
        steps = steps_of(session_of(row), self._files.file(connection, row.version_sha256))
        trials = _check(events, steps)
        check_screened(connection, session, steps, events)
        fresh = _fresh(connection, session, events)
        if fresh and row.finished is not None:
            raise Conflict("the session is complete; it takes no further events")
        if fresh:
            connection.execute(EVENTS.insert(), list(fresh.values()))
        new = [event for event in events if event.seq in fresh]
        self._leases.renew(
            connection,
            row,
            trials_ended=row.trials_ended + sum(event.kind == "done" and event.step in trials for event in new),
            interruptions=row.interruptions + sum(_leaves(event) for event in new),
        )
        count = sa.select(sa.func.count()).select_from(EVENTS).where(EVENTS.c.session == session)
        return connection.scalar(count) or 0

    def heartbeat(self, connection: sa.Connection, session: str, token: str, tab: str | None, *, leaving: bool) -> None:
        """Renew the session's lease; raises `Refused` when another tab has the session."""
        row = authorised(connection, session, token)
        if tab is not None and row.tab is not None and row.tab != tab:
            raise Refused("open_elsewhere", "the session is open in another tab")
        if leaving:
            self._leases.renew(connection, row, tab=None)
        else:
            self._leases.renew(connection, row, tab=tab or row.tab, tab_seen=self._leases.now())

    def complete(
        self, connection: sa.Connection, session: str, token: str, events: int, code: str
    ) -> tuple[list[int], Ticket]:
        """Mark the session finished if events 0 to `events` - 1 are all stored; return the missing numbers.

        `code` is noted for payment. Neither the time it took nor any answer matters here.
        """
        row = authorised(connection, session, token)
        ticket = payments.ticket(connection, row)
        if row.withdrawn is not None:
            raise Conflict("the session is withdrawn")
        if row.finished is not None:
            return [], ticket
        stored = set(connection.scalars(sa.select(EVENTS.c.seq).where(EVENTS.c.session == session)))
        missing = [seq for seq in range(events) if seq not in stored]
        if not missing:
            stand = progress(connection, row, self._files.file(connection, row.version_sha256))
            if stand.at is not None and row.source != PREVIEW:
                left = stand.steps[stand.at[0]]
                raise Conflict(f"the session is at step {left.number} ({left.step.name}); the code comes at the end")
            self._leases.renew(connection, row, finished=self._leases.now())
            payments.settle(connection, session, "completed", code)
        return missing, ticket


def _check(events: Sequence[Event], steps: Sequence[Placed]) -> set[int]:
    """Return the steps that are trials; raises `ValueError` for a step, a screen or an answer that the version does not have."""
    for event in events:
        if event.step is None:
            continue
        if event.step >= len(steps):
            raise ValueError(f"event {event.seq}: step {event.step}; expected one from 0 to {len(steps) - 1}")
        screens = steps[event.step].step.screens
        if event.screen is not None and event.screen >= len(screens):
            raise ValueError(f"event {event.seq}: screen {event.screen}; expected one from 0 to {len(screens) - 1}")
        if (
            event.kind == "outcome"
            and event.screen is not None
            and (wrong := fault(screens[event.screen], event.value))
        ):
            raise ValueError(f"event {event.seq}: {wrong}")
    return {placed.number for placed in steps if placed.position is not None}


def _fresh(connection: sa.Connection, session: str, events: Sequence[Event]) -> dict[int, dict[str, Any]]:
    """Return the rows of the events that are not stored yet, by number; raises `Conflict` for one that differs from what is."""
    numbered = sa.select(EVENTS).where(EVENTS.c.session == session, EVENTS.c.seq.in_([event.seq for event in events]))
    stored = {row.seq: row._asdict() for row in connection.execute(numbered)}
    fresh: dict[int, dict[str, Any]] = {}
    for event in events:
        row = {"session": session, **vars(event), "value": canonical(event.value)}
        before = stored.get(event.seq, fresh.get(event.seq))
        if before is not None and before != row:
            raise Conflict(f"event {event.seq} is stored already and differs; events are never changed")
        if event.seq not in stored:
            fresh[event.seq] = row
    return fresh


def _leaves(event: Event) -> bool:
    return event.kind == "interruption" and event.value["reason"] in ("blur", "hidden")
