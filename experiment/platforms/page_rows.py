"""What our own page left on another platform: rows of jsPsych's data that carry our session and its events."""

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from gardenpath import study

from ..sessions.sessions import Event, RecordedSession, Session, check_events

log = logging.getLogger("gardenpath")

SESSION_COLUMN = "gardenpath_session"
EVENTS_COLUMN = "gardenpath_events"
Row = Mapping[str, Any]


def build_session_records(rows: Iterable[Row], where: str) -> list[RecordedSession]:
    """Return the sessions of rows in any order, ordered by start; a row or an event that came twice counts once.

    Raises `study.DataError` with every row that cannot be read. Events that are missing are named on the log.
    """
    sessions: dict[str, Session] = {}
    events: dict[str, dict[int, Event]] = {}
    faults: list[str] = []
    for number, row in enumerate(rows, start=1):
        location = f"{where}, row {number}"
        try:
            session = study.config.parse_dataclass(Session, _parse_cell(row, SESSION_COLUMN), where=location)
            row_events = check_events(_parse_cell(row, EVENTS_COLUMN))
        except study.DataError as error:
            faults += error.faults
            continue
        except (KeyError, TypeError, ValueError) as error:
            faults.append(
                f"{location}: {SESSION_COLUMN} and {EVENTS_COLUMN} cannot be read ({error}); expected them as the page wrote them"
            )
            continue
        known = sessions.setdefault(session.id, session)
        if known.list_sha256 != session.list_sha256:
            faults.append(f"{location}: session {session.id} runs another list than in its first row")
        elif session.finished is not None:
            sessions[session.id] = session
        _add_events(events.setdefault(session.id, {}), row_events, session.id, location)
    if faults:
        raise study.DataError(faults)
    session_records = [RecordedSession(s, tuple(event for _, event in sorted(events[s.id].items()))) for s in sessions.values()]
    for record in session_records:
        _log_missing_events(record, where)
    return sorted(session_records, key=lambda record: (record.session.started, record.session.id))


def _parse_cell(row: Row, name: str) -> Any:
    value = row[name]
    return json.loads(value) if isinstance(value, str) else value


def _add_events(events: dict[int, Event], row_events: Iterable[Event], session: str, location: str) -> None:
    for event in row_events:
        before = events.setdefault(event.seq, event)
        if before == event:
            continue
        # A page that lost what it had kept counts on from an earlier number: what it did later counts.
        if event.visit > before.visit:
            events[event.seq] = event
        log.warning("%s: session %s has two events number %d; that of the later visit counts", location, session, event.seq)


def _log_missing_events(record: RecordedSession, where: str) -> None:
    """Say which events of a session that did not end are missing; of finished ones the tables' reader does."""
    seqs = {event.seq for event in record.events}
    missing = sorted(set(range(max(seqs, default=-1) + 1)) - seqs)
    if missing and record.session.finished is None:
        log.warning("%s: session %s lacks %d events, first number %d", where, record.session.id, len(missing), missing[0])
