"""How long a session keeps its place, may be resumed, and belongs to one tab."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from .database import SESSIONS, Row
from .rules import SessionRules


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

    def renew_lease(self, connection: sa.Connection, row: Row, **values: Any) -> None:
        """Renew a session's lease and set values; one whose lease had run out is late, since its place was given away."""
        is_late = row.lease_expired or (row.finished is None and row.seen <= self.get_live_cutoff())
        seen = row.seen if row.finished is not None else self.get_time()
        connection.execute(SESSIONS.update().where(SESSIONS.c.id == row.id).values(seen=seen, lease_expired=is_late, **values))

    @staticmethod
    def _format_time(time: datetime) -> str:
        return time.isoformat(timespec="milliseconds")
