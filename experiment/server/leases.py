"""How long a session keeps its place, may be resumed, and belongs to one tab."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from .database import SESSIONS, Row
from .rules import Rules


class Leases:
    """What the rules say of a session at the time of `clock`, in UTC.

    Times are texts in ISO 8601, as the database holds them: they sort as the times do.
    """

    def __init__(self, rules: Rules, clock: Callable[[], datetime]) -> None:
        self.rules, self._clock = rules, clock

    def now(self) -> str:
        """Return the time."""
        return self._text(self._clock())

    def oldest_live(self) -> str:
        """Return the time since which an unfinished session must have been seen to keep its place."""
        return self._text(self._clock() - self.rules.lease)

    def oldest_resumable(self) -> str:
        """Return the time since which an unfinished session must have been seen to be resumed."""
        return self._text(self._clock() - self.rules.resume)

    def wait_for_tab(self, row: Row, tab: str | None) -> float:
        """Return the seconds until this tab may take a session from another one; 0 or less when it may already.

        A missing tab is another one.
        """
        if row.tab == tab or row.tab_seen is None:
            return 0.0
        free: datetime = datetime.fromisoformat(row.tab_seen) + self.rules.tab
        return (free - self._clock()) / timedelta(seconds=1)

    def renew(self, connection: sa.Connection, row: Row, **values: Any) -> None:
        """Renew a session's lease and set values; one whose lease had run out is late, since its place was given away."""
        late = row.late or (row.finished is None and row.seen <= self.oldest_live())
        seen = row.seen if row.finished is not None else self.now()
        connection.execute(SESSIONS.update().where(SESSIONS.c.id == row.id).values(seen=seen, late=late, **values))

    @staticmethod
    def _text(time: datetime) -> str:
        return time.isoformat(timespec="milliseconds")
