"""Bounds on what a stranger may send: how often, and how much."""

import time
from collections.abc import Callable

from starlette.requests import Request

MAX_BODY_BYTES = 1_000_000
MAX_EVENTS = 200_000
MAX_VALUE_BYTES = 20_000
MAX_CALLERS = 10_000  # callers that are remembered at once


class BodyTooLarge(Exception):
    """The body is larger than any that is read."""


async def read_limited_body(request: Request) -> bytes:
    """Return the request's body; no more than the largest is ever read."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_BODY_BYTES:
            raise BodyTooLarge
    return bytes(raw)


class RateLimit:
    """Lets each caller come `burst` times at once and `rate` times a second in the long run.

    >>> limit = RateLimit(burst=2, rate=1, clock=lambda: 0.0)
    >>> [limit.count_call("a"), limit.count_call("a"), limit.count_call("a"), limit.count_call("b")]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(self, burst: int, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.burst, self.rate, self._clock = burst, rate, clock
        self._remaining_calls: dict[str, tuple[float, float]] = {}

    def count_call(self, caller: str) -> float:
        """Count a call, or return the seconds until the caller's next one is welcome."""
        now = self._clock()
        remaining, then = self._remaining_calls.pop(caller, (float(self.burst), now))
        remaining = min(float(self.burst), remaining + (now - then) * self.rate)
        is_welcome = remaining >= 1
        self._remaining_calls[caller] = (remaining - 1 if is_welcome else remaining, now)
        if len(self._remaining_calls) > MAX_CALLERS:
            del self._remaining_calls[next(iter(self._remaining_calls))]  # the one that has been silent longest
        return 0.0 if is_welcome else (1 - remaining) / self.rate
