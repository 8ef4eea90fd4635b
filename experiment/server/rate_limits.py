"""Bounds on what a stranger may send: how often, and how much."""

import time
from collections.abc import Callable

from starlette.requests import Request

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
