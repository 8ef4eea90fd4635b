"""Sessions: who runs which list in which order, what a player gets, and the events that it leaves."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gardenpath.study.events import EVENT_TYPES, Event, Json, create_event

from ..scripts.list_files import ListFile
from ..scripts.script import TimelineStep, Walk, build_timeline, replay_events
from .event_validation import ValidatedEvents, validate_events

__all__ = ["Event", "Json", "RecordedSession", "RejectedEvent", "Session", "build_payload", "check_events", "open_session"]


@dataclass(frozen=True)
class Session:
    """One participant's run of one list; `order` holds positions in the list's trials.

    `revision` numbers what the study showed then; one with `lease_expired` went on after its slot had been given away;
    `exclusion_reason` is why it does not count.
    """

    id: str
    participant: str
    list_name: str
    slot: int
    order: tuple[int, ...]
    list_sha256: str
    procedure_sha256: str
    started: str
    finished: str | None
    source: str
    revision: int = 1
    lease_expired: bool = False
    exclusion_reason: str | None = None


@dataclass(frozen=True)
class RejectedEvent:
    """What came with an event's number and is none that the session can contain: why, and what came, cut where it is long."""

    seq: int
    reason: str
    content: str


@dataclass(frozen=True)
class RecordedSession:
    """A session with all its events, in order of seq; `rejected_events` are those that were set apart as they came."""

    session: Session
    events: tuple[Event, ...]
    rejected_events: tuple[RejectedEvent, ...] = ()


def open_session(file: ListFile, slot: int, *, id: str, participant: str, started: str, source: str) -> Session:
    """Return a new session of a list: its order is drawn from the list's seed and the slot, never from who comes."""
    order = tuple(file.trial_list.order_trials(slot))
    return Session(id, participant, file.name, slot, order, file.sha256, file.procedure_sha256, started, None, source)


def build_session_timeline(session: Session, file: ListFile) -> tuple[TimelineStep, ...]:
    """Return the steps of a session, in order."""
    return build_timeline(file.script, session.order)


def validate_session_events(recorded_session: RecordedSession, file: ListFile) -> ValidatedEvents:
    """Return the events of a session that its script knows, and why each other one is set apart."""
    validated = validate_events(build_session_timeline(recorded_session.session, file), recorded_session.events)
    return ValidatedEvents(
        validated.valid_events, {**{one.seq: one.reason for one in recorded_session.rejected_events}, **validated.rejection_reasons}
    )


def replay_session_events(session: Session, file: ListFile, events: tuple[Event, ...] = ()) -> Walk:
    """Return where a session stands after these events."""
    steps = build_session_timeline(session, file)
    return replay_events(steps, validate_events(steps, events).valid_events)


def build_payload(session: Session, file: ListFile, walk: Walk, *, token: str, visit: int, next_seq: int) -> Json:
    """Return what a player needs to run a session from where it stands (docs/api.md): of short lists the one at hand alone."""
    player_script, order = file.player_script, list(session.order)
    if file.trial_list.short_lists:
        player_script, order = ({**player_script, "trials": [player_script["trials"][n] for n in order]}, list(range(len(order))))
    return {
        "session": session.id,
        "token": token,
        "visit": visit,
        "next_seq": next_seq,
        "done": sorted(walk.done_steps),
        "tallies": {block: list(tally) for block, tally in walk.tallies.items()},
        "outcomes": {str(n): outcome for n, outcome in walk.outcomes.items()},
        "study": {"name": file.study, "title": file.title},
        "list_sha256": file.sha256,
        "order": order,
        "script": player_script,
    }


@cache
def _build_event_adapter() -> TypeAdapter[list[Event]]:
    return TypeAdapter(list[Event])


def check_events(events: object) -> list[Event]:
    """Return events checked against their types; raises `ValueError` naming the first fault and its place."""
    if not isinstance(events, list):
        raise ValueError(f"events is {type(events).__name__}, expected a list")
    for n, (path, fault) in find_event_faults(events).items():
        raise ValueError(f"{'/'.join(filter(None, ('events', str(n), path)))}: {fault}")
    return [create_event(**event) for event in events]


def find_event_faults(events: list[Any]) -> dict[int, tuple[str, str]]:
    """Return what is wrong with each of these that is no event by its type: the place within it, and the fault."""
    try:
        _build_event_adapter().validate_json(json.dumps(events))  # JSON: strict, yet an object is a value
    except ValidationError as error:
        faults: dict[int, tuple[str, str]] = {}
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if not fault["loc"]:  # what is no JSON, such as half a character
                if len(events) == 1:
                    return {0: ("", fault["msg"][:200])}
                return {n: found[0] for n, event in enumerate(events) if (found := find_event_faults([event]))}
            n, *path = fault["loc"]
            faults.setdefault(int(n), ("/".join(str(part) for part in path if part not in EVENT_TYPES), fault["msg"][:200]))
        return faults
    return {}
