"""Events as a client sends them: those that are some by their form, and what is kept apart as it came."""

import json
from collections.abc import Iterator
from typing import Any

from gardenpath.study.events import create_event

from ..sessions.sessions import Event, RejectedEvent, find_event_faults
from .database import format_canonical_json
from .rate_limits import MAX_EVENTS, MAX_VALUE_BYTES

MAX_REJECTED_LENGTH = 2_000  # characters of what is set apart
# What the database can hold of the other numbers of an event.
NUMBER_BOUNDS = {"visit": 10_000, "t": 1e12, "step": 100_000, "screen": 100_000}
MAX_VALUE_NUMBER = 1e15  # of numbers in a value, such as ms since 1970: what is computed from them stays a number


def parse_received_events(events: object) -> tuple[list[Event], list[RejectedEvent]]:
    """Return the events of a request, and what is none by its form; raises `ValueError` for what has no number to be named by."""
    if not isinstance(events, list):
        raise ValueError(f"events is {type(events).__name__}, expected a list")
    for n, event in enumerate(events):
        seq = event.get("seq") if isinstance(event, dict) else None
        if type(seq) is not int or not 0 <= seq < MAX_EVENTS:
            raise ValueError(f"events/{n}: expected an object whose seq is a whole number from 0 to {MAX_EVENTS - 1}")
    faults = find_event_faults(events)
    well_formed: list[Event] = []
    rejected_events: list[RejectedEvent] = []
    for n, event in enumerate(events):
        reason = ": ".join(filter(None, faults[n])) if n in faults else _find_bound_fault(event)
        if reason is None:
            well_formed.append(create_event(**event))
        else:
            rejected_events.append(reject_event(event, reason))
    return well_formed, rejected_events


def reject_event(event: Any, reason: str) -> RejectedEvent:
    """Return what is kept of an event that its session cannot contain."""
    # A reason may quote what no database holds: half a character, or a zero.
    return RejectedEvent(event["seq"], reason if reason.isprintable() else ascii(reason), json.dumps(event)[:MAX_REJECTED_LENGTH])


def _find_bound_fault(event: Any) -> str | None:
    for name, below in NUMBER_BOUNDS.items():
        if abs(event[name] or 0) >= below:
            return f"{name} is over {below:.0f}; expected less"
    if any(abs(number) >= MAX_VALUE_NUMBER for number in _list_numbers(event["value"])):
        return f"a number of its value is over {MAX_VALUE_NUMBER:.0f}; expected less"
    if len(format_canonical_json(event["value"]).encode("utf-8")) > MAX_VALUE_BYTES:
        return f"its value is over {MAX_VALUE_BYTES} bytes"
    return None


def _list_numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _list_numbers(one)
    elif isinstance(value, (int, float)):
        yield value
