"""Sessions: who runs which version in which order, what a player gets, and the events that it leaves."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, TypeAdapter, ValidationError

from gardenpath.study.screens import EVENTS, Event, Json

from .script import Placed, Walk, sequence, walk
from .sifting import Sifted, sift
from .versions import VersionFile

__all__ = [
    "Apart",
    "Event",
    "Json",
    "Session",
    "SessionRecord",
    "check_events",
    "event_types",
    "open_session",
    "payload",
]


@dataclass(frozen=True)
class Session:
    """One participant's run of one version; `order` holds positions in the version's trials.

    `revision` numbers what the study showed then; a `late` one went on after its place had been given away; `excluded` is why
    it does not count.
    """

    id: str
    participant: str
    version: str
    slot: int
    order: tuple[int, ...]
    version_sha256: str
    procedure_sha256: str
    started: str
    finished: str | None
    source: str
    revision: int = 1
    late: bool = False
    excluded: str | None = None


@dataclass(frozen=True)
class Apart:
    """What came with an event's number and is none that the session can contain: why, and what came, cut where it is long."""

    seq: int
    reason: str
    content: str


@dataclass(frozen=True)
class SessionRecord:
    """A session with all its events, in order of seq; `apart` are those that were set apart as they came."""

    session: Session
    events: tuple[Event, ...]
    apart: tuple[Apart, ...] = ()


def open_session(file: VersionFile, slot: int, *, id: str, participant: str, started: str, source: str) -> Session:
    """Return a new session of a version: its order is drawn from the version's seed and the slot, never from who comes."""
    order = tuple(file.version.order(slot))
    return Session(id, participant, file.name, slot, order, file.sha256, file.procedure_sha256, started, None, source)


def steps_of(session: Session, file: VersionFile) -> tuple[Placed, ...]:
    """Return the steps of a session, in order."""
    return sequence(file.script, session.order)


def sifted(record: SessionRecord, file: VersionFile) -> Sifted:
    """Return the events of a session that its script knows, and why each other one is set apart."""
    made = sift(steps_of(record.session, file), record.events)
    return Sifted(made.known, {**{one.seq: one.reason for one in record.apart}, **made.apart})


def walked(session: Session, file: VersionFile, events: tuple[Event, ...] = ()) -> Walk:
    """Return where a session stands after these events."""
    steps = steps_of(session, file)
    return walk(steps, sift(steps, events).known)


def payload(session: Session, file: VersionFile, stand: Walk, *, token: str, visit: int, next_seq: int) -> Json:
    """Return what a player needs to run a session from where it stands (docs/api.md): of small lists the one at hand alone."""
    shown, order = file.shown, list(session.order)
    if file.version.lists:
        shown, order = {**shown, "trials": [shown["trials"][n] for n in order]}, list(range(len(order)))
    return {
        "session": session.id,
        "token": token,
        "visit": visit,
        "next_seq": next_seq,
        "done": sorted(stand.done),
        "tallies": {block: list(tally) for block, tally in stand.tallies.items()},
        "outcomes": {str(n): outcome for n, outcome in stand.outcomes.items()},
        "study": {"name": file.study, "title": file.title},
        "version_sha256": file.sha256,
        "order": order,
        "script": shown,
    }


@cache
def event_types() -> Mapping[str, type]:
    """Return the type of each kind of event, as it is checked and as its schema is generated."""
    number = Annotated[int, Field(ge=0)]
    places: Mapping[str, tuple[Any, Any]] = {
        "session": (None, None),
        "step": (number, None),
        "screen": (number, number),
        "any": (number | None, number | None),
    }
    made = {}
    for kind, (value, place) in EVENTS.items():
        step, screen = places[place]
        made[kind] = dataclasses.make_dataclass(
            f"{value.__name__}Event",
            [
                ("seq", number),
                ("visit", number),
                ("t", float),
                ("kind", Literal[kind]),
                ("step", step),
                ("screen", screen),
                ("value", value),
            ],
            frozen=True,
            namespace={
                "__doc__": value.__doc__,
                "__pydantic_config__": {"extra": "forbid", "strict": True, "allow_inf_nan": False},
            },
        )
    return made


@cache
def _events() -> TypeAdapter[Any]:
    union: Any = None
    for made in event_types().values():
        union = made if union is None else union | made
    return TypeAdapter(list[Annotated[union, Discriminator("kind")]])


def check_events(events: object) -> list[Event]:
    """Return events checked against their types; raises `ValueError` naming the first fault and its place."""
    if not isinstance(events, list):
        raise ValueError(f"events is {type(events).__name__}, expected a list")
    for n, (place, fault) in event_faults(events).items():
        raise ValueError(f"{'/'.join(filter(None, ('events', str(n), place)))}: {fault}")
    return [Event(**event) for event in events]


def event_faults(events: list[Any]) -> dict[int, tuple[str, str]]:
    """Return what is wrong with each of these that is no event by its type: the place within it, and the fault."""
    try:
        _events().validate_json(json.dumps(events))  # JSON: strict, yet an object is a value
    except ValidationError as error:
        faults: dict[int, tuple[str, str]] = {}
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if not fault["loc"]:  # what is no JSON, such as half a character
                if len(events) == 1:
                    return {0: ("", fault["msg"][:200])}
                return {n: found[0] for n, event in enumerate(events) if (found := event_faults([event]))}
            n, *place = fault["loc"]
            faults.setdefault(int(n), ("/".join(str(part) for part in place if part not in EVENTS), fault["msg"][:200]))
        return faults
    return {}
