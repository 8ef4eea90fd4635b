"""Events as a client sends them: those that are some by their form, and what is kept apart as it came."""

import json
from collections.abc import Iterator
from typing import Any

from ..sessions import Apart, Event, event_faults
from .database import canonical
from .rate_limits import LONGEST_VALUE, MOST_EVENTS

LONGEST_APART = 2_000  # characters of what is set apart
# What the database can hold of the other numbers of an event.
BELOW = {"visit": 10_000, "t": 1e12, "step": 100_000, "screen": 100_000}
LARGEST = 1e15  # of numbers in a value, such as ms since 1970: what is computed from them stays a number


def received(events: object) -> tuple[list[Event], list[Apart]]:
    """Return the events of a request, and what is none by its form; raises `ValueError` for what has no number to be named by."""
    if not isinstance(events, list):
        raise ValueError(f"events is {type(events).__name__}, expected a list")
    for n, event in enumerate(events):
        seq = event.get("seq") if isinstance(event, dict) else None
        if type(seq) is not int or not 0 <= seq < MOST_EVENTS:
            raise ValueError(f"events/{n}: expected an object whose seq is a whole number from 0 to {MOST_EVENTS - 1}")
    faults = event_faults(events)
    known: list[Event] = []
    apart: list[Apart] = []
    for n, event in enumerate(events):
        reason = ": ".join(filter(None, faults[n])) if n in faults else _unbounded(event)
        if reason is None:
            known.append(Event(**event))
        else:
            apart.append(set_apart(event, reason))
    return known, apart


def set_apart(event: Any, reason: str) -> Apart:
    """Return what is kept of an event that its session cannot contain."""
    # A reason may quote what no database holds: half a character, or a zero.
    return Apart(event["seq"], reason if reason.isprintable() else ascii(reason), json.dumps(event)[:LONGEST_APART])


def _unbounded(event: Any) -> str | None:
    for name, below in BELOW.items():
        if abs(event[name] or 0) >= below:
            return f"{name} is over {below:.0f}; expected less"
    if any(abs(number) >= LARGEST for number in _numbers(event["value"])):
        return f"a number of its value is over {LARGEST:.0f}; expected less"
    if len(canonical(event["value"]).encode("utf-8")) > LONGEST_VALUE:
        return f"its value is over {LONGEST_VALUE} bytes"
    return None


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _numbers(one)
    elif isinstance(value, (int, float)):
        yield value
