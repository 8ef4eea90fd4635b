"""How long a session keeps its place, may be resumed, and belongs to one tab."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from .database import IS_REAL, SESSIONS, Row
from .rules import SessionRules

log = logging.getLogger("gardenpath")

SUSPICIOUS_STEP = timedelta(minutes=1)  # by which a clock is set, and not only corrected


class SteadyClock:
    """The time in UTC when the process began, and what has passed since by a clock that nobody sets: leases run by it.

    Where the machine's clock is set meanwhile, that is said once for each step, and nobody's lease is shorter or longer for it.
    """

    def __init__(self, wall: Callable[[], datetime] = lambda: datetime.now(UTC), passed: Callable[[], float] | None = None) -> None:
        self._wall, self._passed = wall, passed or _count_seconds
        self._start, self._passed_start = wall(), self._passed()
        self._said = timedelta(0)

    def __call__(self) -> datetime:
        """Return the time."""
        steady = self._start + timedelta(seconds=self._passed() - self._passed_start)
        step = self._wall() - steady
        if abs(step - self._said) > SUSPICIOUS_STEP:
            self._said = step
            log.warning(
                "the machine's clock was set %s by %.1f minutes; leases and times go on by the clock as it was when the server "
                "began, until a restart",
                "forward" if step > timedelta(0) else "back",
                abs(step) / timedelta(minutes=1),
            )
        return steady


def _count_seconds() -> float:
    """Return the seconds that have passed, those in which a laptop sleeps among them, where the system counts them."""
    boot_clock: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_clock is None else time.clock_gettime(boot_clock)


class Leases:
    """What the rules say of a session at the time of `clock`, in UTC.

    Times are texts in ISO 8601, as the database holds them: they sort as the times do.
    """

    def __init__(self, rules: SessionRules, clock: Callable[[], datetime]) -> None:
        self.rules, self._clock = rules, clock

    def get_time(self) -> str:
        """Return the time."""
        return self._format_time(self._clock())

    def get_live_cutoff(self) -> str:
        """Return the time since which an unfinished session must have been seen to keep its place."""
        return self._format_time(self._clock() - self.rules.lease_duration)

    def get_resume_cutoff(self) -> str:
        """Return the time since which an unfinished session must have been seen to be resumed."""
        return self._format_time(self._clock() - self.rules.resume_duration)

    def compute_tab_wait(self, row: Row, tab: str | None) -> float:
        """Return the seconds until this tab may take a session from another one; 0 or less when it may already.

        A missing tab is another one.
        """
        if row.tab == tab or row.tab_seen is None:
            return 0.0
        free: datetime = datetime.fromisoformat(row.tab_seen) + self.rules.tab_duration
        return (free - self._clock()) / timedelta(seconds=1)

    def renew_after_pause(self, connection: sa.Connection) -> int:
        """Renew the leases of the sessions that had one when the last of them was heard of; return how many.

        Only where that lies further back than a lease is long, or in the future: the server was away, or the clock was set.
        """
        latest = connection.scalar(sa.select(sa.func.max(SESSIONS.c.seen)).where(IS_REAL))
        if latest is None:
            return 0
        now, last = self._clock(), datetime.fromisoformat(latest)
        is_back = last - now > SUSPICIOUS_STEP
        if not is_back and now - last < self.rules.lease_duration:
            return 0
        alive = IS_REAL & SESSIONS.c.finished.is_(None) & SESSIONS.c.withdrawn.is_(None) & ~SESSIONS.c.lease_expired
        alive &= SESSIONS.c.seen > self._format_time(last - self.rules.lease_duration)
        renewed = connection.execute(SESSIONS.update().where(alive).values(seen=self.get_time(), tab_seen=None)).rowcount
        if renewed:
            why = "which is to come: the clock was set back" if is_back else "so the server was away, or the clock was set forward"
            log.warning("the last session was heard of at %s, %s; %d leases were renewed", latest, why, renewed)
        return renewed

    def renew_lease(self, connection: sa.Connection, row: Row, **values: Any) -> None:
        """Renew a session's lease and set values; one whose lease had run out is late, since its place was given away."""
        is_late = row.lease_expired or (row.finished is None and row.seen <= self.get_live_cutoff())
        seen = row.seen if row.finished is not None else self.get_time()
        connection.execute(SESSIONS.update().where(SESSIONS.c.id == row.id).values(seen=seen, lease_expired=is_late, **values))

    @staticmethod
    def _format_time(time: datetime) -> str:
        return time.isoformat(timespec="milliseconds")
