"""Who takes part by the answers to the screener: judged here, since no page knows how many others have answered alike."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from ..records import admits
from ..script import Placed, screener_of
from ..sessions import Event, Json, steps_of
from . import departures
from .database import PREVIEW, SCREENINGS, SESSIONS
from .leases import Leases
from .payments import Ticket
from .published_versions import VersionFiles
from .rules import Conflict
from .stored_sessions import COUNTS, authorised, session_of


class Screening:
    """Judges answers to the screener, and keeps those of who was let in: they fill its quotas."""

    def __init__(self, leases: Leases, files: VersionFiles) -> None:
        self._leases, self._files = leases, files

    def judge(
        self, connection: sa.Connection, session: str, token: str, answers: Json, code: str | None
    ) -> tuple[bool, Ticket | None]:
        """Return whether the session goes on; where it does not it is deleted, and the ticket says what the way back needs.

        Raises `ValueError` for answers to other questions, or that are no choice of theirs.
        """
        row = authorised(connection, session, token)
        if row.withdrawn is not None or row.finished is not None:
            raise Conflict("the session is over; nobody is screened any more")
        found = screener_of(steps_of(session_of(row), self._files.file(connection, row.version_sha256)))
        if found is None:
            raise Conflict("the study has no screener")
        choices = {field.name: field.choices for field in found[1].fields}
        if answers.keys() != choices.keys() or any(answer not in choices[name] for name, answer in answers.items()):
            raise ValueError(f"answers: expected a choice of each question of the screener: {', '.join(choices)}")
        taken = self.filled(connection, without=session)
        full = [
            name
            for name, answer in answers.items()
            if (quota := self._quotas.get(name, {}).get(answer)) is not None and taken.get((name, answer), 0) >= quota
        ]
        if admits(found[1], answers) and (row.source == PREVIEW or not full):
            connection.execute(SCREENINGS.delete().where(SCREENINGS.c.session == session))
            rows = [{"session": session, "field": name, "answer": answer} for name, answer in answers.items()]
            connection.execute(SCREENINGS.insert(), rows)
            self._leases.renew(connection, row)
            return True, None
        if row.source == PREVIEW:
            return False, Ticket(row.platform, "", row.source)
        return False, departures.withdraw(connection, self._leases, session, token, "screened_out", code)[2]

    def filled(self, connection: sa.Connection, without: str = "") -> dict[tuple[str, str], int]:
        """Return how many sessions that are completed or running gave each answer, by question and answer."""
        holds = SESSIONS.c.finished.is_not(None) | (SESSIONS.c.seen > self._leases.oldest_live())
        counted = (
            sa.select(SCREENINGS.c.field, SCREENINGS.c.answer, sa.func.count())
            .join(SESSIONS, SESSIONS.c.id == SCREENINGS.c.session)
            .where(COUNTS, holds, SESSIONS.c.id != without)
            .group_by(SCREENINGS.c.field, SCREENINGS.c.answer)
        )
        return {(name, answer): number for name, answer, number in connection.execute(counted)}

    def is_full(self, connection: sa.Connection) -> bool:
        """Whether every answer to some question that would let a newcomer in has its quota."""
        taken = self.filled(connection)
        return any(
            all(taken.get((one.name, answer), 0) >= one.quotas.get(answer, float("inf")) for answer in one.accepts)
            for one in self._leases.rules.screener
        )

    @property
    def _quotas(self) -> Mapping[str, Mapping[str, int]]:
        return {one.name: one.quotas for one in self._leases.rules.screener}


def check_screened(connection: sa.Connection, session: str, steps: Sequence[Placed], events: Sequence[Event]) -> None:
    """Raise `Conflict` for events behind a screener that has not let the session in, or has with other answers."""
    if (found := screener_of(steps)) is None:
        return
    behind = [event for event in events if event.step is not None and event.step >= found[0] and event.kind != "begin"]
    if not behind:
        return
    query = sa.select(SCREENINGS.c.field, SCREENINGS.c.answer).where(SCREENINGS.c.session == session)
    judged = dict(connection.execute(query).all())
    for event in behind:
        ends = event.step == found[0] and event.kind == "outcome"
        if (ends and event.value["outcome"] == "accepted" and event.value["answer"] != judged) or (
            not judged and (event.kind == "done" or event.step != found[0])
        ):
            raise Conflict(f"event {event.seq}: the screener has not let the session in with these answers")
