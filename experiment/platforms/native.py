"""What our own page left on another platform: rows of jsPsych's data that carry our session and its events."""

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from gardenpath import study

from ..sessions import Event, Session, SessionRecord, check_events

log = logging.getLogger("gardenpath")

SESSION = "gardenpath_session"
EVENTS = "gardenpath_events"
Row = Mapping[str, Any]


def records(rows: Iterable[Row], where: str) -> list[SessionRecord]:
    """Return the sessions of rows in any order, ordered by start; a row or an event that came twice counts once.

    Raises `study.DataError` with every row that cannot be read. Events that are missing are named on the log.
    """
    sessions: dict[str, Session] = {}
    events: dict[str, dict[int, Event]] = {}
    faults: list[str] = []
    for number, row in enumerate(rows, start=1):
        place = f"{where}, row {number}"
        try:
            session = study.config.structure(Session, _cell(row, SESSION), where=place)
            row_events = check_events(_cell(row, EVENTS))
        except study.DataError as error:
            faults += error.faults
            continue
        except (KeyError, TypeError, ValueError) as error:
            faults.append(
                f"{place}: {SESSION} and {EVENTS} cannot be read ({error}); expected them as the page wrote them"
            )
            continue
        known = sessions.setdefault(session.id, session)
        if known.version_sha256 != session.version_sha256:
            faults.append(f"{place}: session {session.id} runs another version than in its first row")
        elif session.finished is not None:
            sessions[session.id] = session
        _add(events.setdefault(session.id, {}), row_events, session.id, place)
    if faults:
        raise study.DataError(faults)
    made = [SessionRecord(s, tuple(event for _, event in sorted(events[s.id].items()))) for s in sessions.values()]
    for record in made:
        _say_missing(record, where)
    return sorted(made, key=lambda record: (record.session.started, record.session.id))


def _cell(row: Row, name: str) -> Any:
    value = row[name]
    return json.loads(value) if isinstance(value, str) else value


def _add(events: dict[int, Event], row_events: Iterable[Event], session: str, place: str) -> None:
    for event in row_events:
        before = events.setdefault(event.seq, event)
        if before == event:
            continue
        # A page that lost what it had kept counts on from an earlier number: what it did later counts.
        if event.visit > before.visit:
            events[event.seq] = event
        log.warning(
            "%s: session %s has two events number %d; that of the later visit counts", place, session, event.seq
        )


def _say_missing(record: SessionRecord, where: str) -> None:
    """Say which events of a session that did not end are missing; of finished ones the tables' reader does."""
    seqs = {event.seq for event in record.events}
    missing = sorted(set(range(max(seqs, default=-1) + 1)) - seqs)
    if missing and record.session.finished is None:
        log.warning(
            "%s: session %s lacks %d events, first number %d", where, record.session.id, len(missing), missing[0]
        )
