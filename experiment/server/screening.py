"""Who takes part by the answers to the screener: judged here, since no page knows how many others have answered alike."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from ..scripts.script import TimelineStep, find_screener
from ..sessions.records import has_accepted_answers
from ..sessions.sessions import Event, Json, build_session_timeline
from . import departures
from .database import PREVIEW_SOURCE, SCREENINGS, SESSIONS
from .leases import Leases
from .payments import ReturnTicket
from .published_lists import ListFileCache
from .rules import Conflict
from .stored_sessions import IS_COUNTED, authorise_session, build_session


class AnswerScreening:
    """Judges answers to the screener, and keeps those of who was let in: they fill its quotas."""

    def __init__(self, leases: Leases, files: ListFileCache) -> None:
        self._leases, self._files = leases, files

    def judge_answers(
        self, connection: sa.Connection, session: str, token: str, answers: Json, code: str | None
    ) -> tuple[bool, ReturnTicket | None]:
        """Return whether the session goes on; where it does not it is deleted, and the ticket says what the way back needs.

        Raises `ValueError` for answers to other questions, or that are no choice of theirs.
        """
        row = authorise_session(connection, session, token)
        if row.withdrawn is not None or row.finished is not None:
            raise Conflict("the session is over; nobody is screened any more")
        screener = find_screener(build_session_timeline(build_session(row), self._files.get_list_file(connection, row.list_sha256)))
        if screener is None:
            raise Conflict("the study has no screener")
        choices = {field.name: field.choices for field in screener[1].fields}
        if answers.keys() != choices.keys() or any(answer not in choices[name] for name, answer in answers.items()):
            raise ValueError(f"answers: expected a choice of each question of the screener: {', '.join(choices)}")
        answer_counts = self.count_answers(connection, excluded_session=session)
        full = [
            name
            for name, answer in answers.items()
            if (quota := self._quotas.get(name, {}).get(answer)) is not None and answer_counts.get((name, answer), 0) >= quota
        ]
        if has_accepted_answers(screener[1], answers) and (row.source == PREVIEW_SOURCE or not full):
            connection.execute(SCREENINGS.delete().where(SCREENINGS.c.session == session))
            rows = [{"session": session, "field": name, "answer": answer} for name, answer in answers.items()]
            connection.execute(SCREENINGS.insert(), rows)
            self._leases.renew_lease(connection, row)
            return True, None
        if row.source == PREVIEW_SOURCE:
            return False, ReturnTicket(row.platform, "", row.source)
        return False, departures.withdraw_session(connection, self._leases, session, token, "screened_out", code)[2]

    def count_answers(self, connection: sa.Connection, excluded_session: str = "") -> dict[tuple[str, str], int]:
        """Return how many sessions that are completed or running gave each answer, by question and answer."""
        holds_slot = SESSIONS.c.finished.is_not(None) | (SESSIONS.c.seen > self._leases.get_live_cutoff())
        query = (
            sa.select(SCREENINGS.c.field, SCREENINGS.c.answer, sa.func.count())
            .join(SESSIONS, SESSIONS.c.id == SCREENINGS.c.session)
            .where(IS_COUNTED, holds_slot, SESSIONS.c.id != excluded_session)
            .group_by(SCREENINGS.c.field, SCREENINGS.c.answer)
        )
        return {(name, answer): number for name, answer, number in connection.execute(query)}

    def is_full(self, connection: sa.Connection) -> bool:
        """Whether every answer to some question that would let a newcomer in has its quota."""
        answer_counts = self.count_answers(connection)
        return any(
            all(answer_counts.get((one.name, answer), 0) >= one.quotas.get(answer, float("inf")) for answer in one.accepted_choices)
            for one in self._leases.rules.screener
        )

    @property
    def _quotas(self) -> Mapping[str, Mapping[str, int]]:
        return {one.name: one.quotas for one in self._leases.rules.screener}


def check_screener_passed(connection: sa.Connection, session: str, steps: Sequence[TimelineStep], events: Sequence[Event]) -> None:
    """Raise `Conflict` for events behind a screener that has not let the session in, or has with other answers."""
    if (screener := find_screener(steps)) is None:
        return
    events_after_screener = [
        event for event in events if event.step is not None and event.step >= screener[0] and event.kind != "begin"
    ]
    if not events_after_screener:
        return
    query = sa.select(SCREENINGS.c.field, SCREENINGS.c.answer).where(SCREENINGS.c.session == session)
    stored_answers = dict(connection.execute(query).all())
    for event in events_after_screener:
        is_accepted_otherwise = (
            event.kind == "outcome"
            and event.step == screener[0]
            and event.value["outcome"] == "accepted"
            and event.value["answer"] != stored_answers
        )
        if is_accepted_otherwise or (not stored_answers and (event.kind == "done" or event.step != screener[0])):
            raise Conflict(f"event {event.seq}: the screener has not let the session in with these answers")
