"""Bounds on what a stranger may send: how often, how much, and which values."""

import time
from collections.abc import Callable, Sequence

from starlette.requests import Request

from ..sessions import Event
from .database import canonical

LARGEST_BODY = 1_000_000
MOST_EVENTS = 200_000
LONGEST_VALUE = 20_000
FORGET_AFTER = 10_000  # callers that are remembered at once


class TooLarge(Exception):
    """The body is larger than any that is read."""


async def limited(request: Request) -> bytes:
    """Return the request's body; no more than the largest is ever read."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_BODY:
            raise TooLarge
    return bytes(raw)


class Limit:
    """Lets each caller come `burst` times at once and `rate` times a second in the long run.

    >>> limit = Limit(burst=2, rate=1, clock=lambda: 0.0)
    >>> [limit.wait("a"), limit.wait("a"), limit.wait("a"), limit.wait("b")]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(self, burst: int, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.burst, self.rate, self._clock = burst, rate, clock
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, caller: str) -> float:
        """Count a call, or return the seconds until the caller's next one is welcome."""
        now = self._clock()
        left, then = self._left.pop(caller, (float(self.burst), now))
        left = min(float(self.burst), left + (now - then) * self.rate)
        welcome = left >= 1
        self._left[caller] = (left - 1 if welcome else left, now)
        if len(self._left) > FORGET_AFTER:
            del self._left[next(iter(self._left))]  # the one that has been silent longest
        return 0.0 if welcome else (1 - left) / self.rate


def bounded(events: Sequence[Event]) -> list[Event]:
    """Return events whose numbers and values the database can hold; raises `ValueError` naming the first that is not."""
    return [_bounded(event) for event in events]


def _bounded(event: Event) -> Event:
    for name, value, below in (
        ("seq", event.seq, MOST_EVENTS),
        ("visit", event.visit, 10_000),
        ("step", event.step or 0, 100_000),
        ("screen", event.screen or 0, 100_000),
        ("t", abs(event.t), 1e12),
    ):
        if value >= below:
            raise ValueError(f"events: {name} is over {below:.0f}; expected less")
    if len(canonical(event.value).encode("utf-8")) > LONGEST_VALUE:
        raise ValueError(f"event {event.seq:.0f}: its value is over {LONGEST_VALUE} bytes")
    return event
