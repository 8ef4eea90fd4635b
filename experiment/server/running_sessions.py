"""What a running session sends: its events, that it is still there, and that it has reached its end."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ..scripts.script import Walk, replay_events
from ..sessions.event_validation import find_misfit
from ..sessions.sessions import Event, RejectedEvent, build_session_timeline, validate_session_events
from . import payments
from .database import EVENTS, PREVIEW_SOURCE, REJECTED_EVENTS, format_canonical_json
from .leases import Leases
from .payments import ReturnTicket
from .published_lists import ListFileCache
from .received_events import reject_event
from .rules import Conflict
from .screening import check_screener_passed
from .stored_sessions import authorise_session, build_recorded_session, build_session


class RunningSessions:
    """Takes what the participants' pages send, each for the session whose token it has."""

    def __init__(self, leases: Leases, files: ListFileCache) -> None:
        self._leases, self._files = leases, files

    def append_events(
        self,
        connection: sa.Connection,
        session: str,
        token: str,
        events: Sequence[Event],
        malformed_events: Sequence[RejectedEvent] = (),
    ) -> tuple[int, list[RejectedEvent]]:
        """Store events; return how many the session has, and which of these are set apart. One stored already must be the same.

        `malformed_events` are none by their form; events that no session of this list can contain are set apart here. Raises
        `KeyError` for an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        row = authorise_session(connection, session, token)
        if row.withdrawn is not None:
            raise Conflict("the session is withdrawn; it takes no further events")
        steps = build_session_timeline(build_session(row), self._files.get_list_file(connection, row.list_sha256))
        checked_events = [(event, find_misfit(steps, event)) for event in events]
        valid_events = [event for event, reason in checked_events if reason is None]
        rejected_events = [
            *malformed_events,
            *(reject_event(vars(event), reason) for event, reason in checked_events if reason is not None),
        ]
        check_screener_passed(connection, session, steps, valid_events)
        tables = (EVENTS, REJECTED_EVENTS) if row.n_rejected or rejected_events else (EVENTS,)
        new_rows = _find_new_rows(connection, session, valid_events, rejected_events, tables)
        if new_rows and row.finished is not None:
            raise Conflict("the session is complete; it takes no further events")
        for table, rows in ((EVENTS, valid_events), (REJECTED_EVENTS, rejected_events)):
            if table_rows := [new_rows[one.seq] for one in rows if one.seq in new_rows]:
                connection.execute(table.insert(), table_rows)
        new_events = [event for event in valid_events if event.seq in new_rows]
        trials = {timeline_step.number for timeline_step in steps if timeline_step.position is not None}
        self._leases.renew_lease(
            connection,
            row,
            trials_ended=row.trials_ended + sum(event.kind == "done" and event.step in trials for event in new_events),
            interruptions=row.interruptions + sum(_is_window_leave(event) for event in new_events),
            n_rejected=row.n_rejected + len(new_rows) - len(new_events),
        )
        counts = [sa.select(sa.func.count()).where(table.c.session == session) for table in tables]
        return sum(connection.scalar(count) or 0 for count in counts), rejected_events

    def renew_lease(self, connection: sa.Connection, session: str, token: str, *, is_leaving: bool) -> None:
        """Renew the session's lease; raises `Refused` when another tab has the session."""
        row = authorise_session(connection, session, token)
        self._leases.renew_lease(connection, row, tab_seen=None if is_leaving else self._leases.get_time())

    def complete_session(
        self, connection: sa.Connection, session: str, token: str, events: int, code: str
    ) -> tuple[list[int], Mapping[int, str], ReturnTicket]:
        """Mark the session finished if events 0 to `events` - 1 are all stored, and its script was walked to the end.

        Returns the missing numbers, and those set apart with the reason. `code` is noted for payment. Neither the time it took nor
        any answer matters here.
        """
        row = authorise_session(connection, session, token)
        ticket = payments.find_return_ticket(connection, row)
        if row.withdrawn is not None:
            raise Conflict("the session is withdrawn")
        file = self._files.get_list_file(connection, row.list_sha256)
        if row.finished is None:
            stored_numbers = (sa.select(table.c.seq).where(table.c.session == session) for table in (EVENTS, REJECTED_EVENTS))
            stored = {seq for query in stored_numbers for seq in connection.scalars(query)}
            if missing := [seq for seq in range(events) if seq not in stored]:
                return missing, {}, ticket
        recorded_session = build_recorded_session(connection, row)
        validated = validate_session_events(recorded_session, file)
        if row.finished is None:
            if row.source != PREVIEW_SOURCE:
                _check_walk_ended(
                    replay_events(build_session_timeline(recorded_session.session, file), validated.valid_events),
                    validated.rejection_reasons,
                )
            self._leases.renew_lease(connection, row, finished=self._leases.get_time(), n_rejected=len(validated.rejection_reasons))
            payments.settle_payment(connection, session, "completed", code)
        return [], validated.rejection_reasons, ticket


def _check_walk_ended(walk: Walk, rejection_reasons: Mapping[int, str]) -> None:
    """Raise `Conflict` where a session has not come to the end of its script."""
    if walk.location is None and walk.ending is None:
        return
    current_step = walk.steps[walk.location[0]] if walk.location is not None else None
    where = (
        f"is at step {current_step.number} ({current_step.step.name})"
        if current_step
        else f"has ended before its end ({walk.ending})"
    )
    rejection_text = (
        f"; of its events {len(rejection_reasons)} are set apart, first number {min(rejection_reasons)}: "
        f"{rejection_reasons[min(rejection_reasons)]}"
        if rejection_reasons
        else ""
    )
    raise Conflict(f"the session {where}; the code comes at the end{rejection_text}")


def _find_new_rows(
    connection: sa.Connection,
    session: str,
    events: Sequence[Event],
    rejected_events: Sequence[RejectedEvent],
    tables: Sequence[sa.Table],
) -> dict[int, dict[str, Any]]:
    """Return the rows of what is not stored yet, by number; raises `Conflict` for what differs from what is."""
    numbers = [event.seq for event in events] + [one.seq for one in rejected_events]
    stored: dict[int, dict[str, Any]] = {}
    for table in tables:
        query = sa.select(table).where(table.c.session == session, table.c.seq.in_(numbers))
        stored |= {row.seq: row._asdict() for row in connection.execute(query)}
    received_rows = [{"session": session, **vars(event), "value": format_canonical_json(event.value)} for event in events]
    received_rows += [{"session": session, **vars(one)} for one in rejected_events]
    new_rows: dict[int, dict[str, Any]] = {}
    for row in received_rows:
        before = stored.get(row["seq"], new_rows.get(row["seq"]))
        if before is not None and before != row:
            raise Conflict(f"event {row['seq']} is stored already and differs; events are never changed")
        if row["seq"] not in stored:
            new_rows[row["seq"]] = row
    return new_rows


def _is_window_leave(event: Event) -> bool:
    return event.kind == "interruption" and event.value["reason"] in ("blur", "hidden")
