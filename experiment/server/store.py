"""A study's data on the server: each method is one transaction, which alone says what happens at once."""

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from gardenpath import study

from ..scripts.list_files import ListFile
from ..sessions.assignment import SlotCounts
from ..sessions.sessions import Event, RecordedSession, RejectedEvent, Session
from . import departures, payments, published_lists, session_overview, stored_sessions
from .arrivals import Arrival, OpenedSession, SessionAssigner
from .database import META, Database
from .leases import Leases, SteadyClock
from .payments import ReturnTicket
from .published_lists import ListFileCache
from .rules import SessionRules
from .running_sessions import RunningSessions
from .screening import AnswerScreening
from .scrubbing import Scrubber
from .session_overview import SessionSummary


@dataclass(frozen=True)
class WithdrawalResult:
    """How a session was left: how it counts, whether its data are deleted, and are in none of the database's files any more."""

    ending: str
    is_deleted: bool
    is_scrubbed: bool
    ticket: ReturnTicket


@dataclass(frozen=True)
class Health:
    """Whether the study is closed, how long a write takes (ms), what is free on the database's disk (MB; None on another machine),
    and when the last backup was made (UTC; None for none).
    """

    closed: bool
    write_ms: float
    free_disk_mb: int | None
    backed_up: str | None


class Store:
    """A study's data in a database; every method is one transaction. `clock` gives the time in UTC, `SteadyClock` unless stated."""

    def __init__(
        self, url: str, *, rules: SessionRules | None = None, create: bool = True, clock: Callable[[], datetime] | None = None
    ) -> None:
        clock = clock or SteadyClock()
        self.database = Database(url, create=create)
        self.scrubber = Scrubber(self.database.scrub_deleted_rows)
        self._leases = Leases(rules or SessionRules(), clock)
        self._files = ListFileCache()
        self._screening = AnswerScreening(self._leases, self._files)
        self._assigner = SessionAssigner(self._leases, self._files, self._screening)
        self._running = RunningSessions(self._leases, self._files)

    # ---------------------------------------------------------------------------------------------- lists

    def publish_lists(self, files: Sequence[ListFile], settings: Mapping[str, Any] | None = None) -> int:
        """Make these lists the ones that new sessions are assigned to, and return the number of this revision.

        What nobody has met yet is replaced; what a session has met stays, and a change has a new number.
        """
        for file in files:
            file.trial_list.draw_order(0)  # the first order costs a count; no arrival should wait for it
        hashes = published_lists.compute_content_hashes(files, settings or {})
        with self.database.begin_exclusive() as connection:
            return published_lists.publish_lists(connection, files, hashes, now=self._leases.get_time())

    def list_revisions(self) -> list[dict[str, Any]]:
        """Return each revision's number, time and hashes, and what changed since the one before."""
        with self.database.begin_reading() as connection:
            return published_lists.list_revisions(connection)

    def count_list_quotas(self) -> dict[str, int | None]:
        """Return how many places each list has that newcomers are assigned to: its short lists, or its quota, None without one."""
        with self.database.begin_reading() as connection:
            files = {
                name: self._files.get_list_file(connection, sha)
                for name, sha in published_lists.find_active_lists(connection).items()
            }
        return {name: len(files[name].trial_list.short_lists) or self._leases.rules.quota for name in sorted(files)}

    def read_list_files(self) -> dict[str, ListFile]:
        """Return every list that is or was published, by SHA-256."""
        with self.database.begin_reading() as connection:
            return self._files.get_all_list_files(connection)

    # ---------------------------------------------------------------------------------------------- sessions

    def open_session(self, arrival: Arrival) -> OpenedSession:
        """Return a new session in a list with the fewest completed and running ones, or the person's unfinished one.

        Raises `Refused` when the study is full or closed, or when this person may not begin or go on.
        """
        with self.database.begin_exclusive() as connection:
            return self._assigner.open_session(connection, arrival)

    def append_events(
        self, session: str, token: str, events: Sequence[Event], malformed_events: Sequence[RejectedEvent] = ()
    ) -> tuple[int, list[RejectedEvent]]:
        """Store events; return how many the session has, and which of these are set apart. One stored already must be the same.

        Raises `KeyError` for an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        with self.database.begin_writing() as connection:
            return self._running.append_events(connection, session, token, events, malformed_events)

    def renew_lease(self, session: str, token: str, *, is_leaving: bool = False) -> None:
        """Renew the session's lease; raises `Refused` when another tab has the session."""
        with self.database.begin_writing() as connection:
            self._running.renew_lease(connection, session, token, is_leaving=is_leaving)

    def complete_session(
        self, session: str, token: str, events: int, code: str
    ) -> tuple[list[int], Mapping[int, str], ReturnTicket]:
        """Mark the session finished if events 0 to `events` - 1 are all stored, and its script was walked to the end.

        Returns the missing numbers, and those set apart with the reason. `code` is noted for payment. Neither the time it took nor
        any answer matters here.
        """
        with self.database.begin_writing() as connection:
            return self._running.complete_session(connection, session, token, events, code)

    def withdraw_session(self, session: str, token: str, reason: str, code: str | None) -> WithdrawalResult:
        """Let somebody go; return how it counts, whether the data are deleted and out of the files, and what the way back needs.

        Who refuses, or whose device does not fit, leaves nothing, unless a trial has ended: then it is a withdrawal.
        Who had finished keeps the payment.
        """
        with self.database.begin_exclusive() as connection:
            ending, is_deleted, ticket = departures.withdraw_session(connection, self._leases, session, token, reason, code)
        return WithdrawalResult(ending, is_deleted, is_deleted and self.scrubber.scrub_deleted_rows(), ticket)

    def judge_screener(self, session: str, token: str, answers: Mapping[str, Any], code: str | None) -> ReturnTicket | None:
        """Judge answers to the screener; return None for who goes on, else what the way back needs: the session is deleted.

        `code` is noted for payment. Raises `ValueError` for answers that are no choice of the questions.
        """
        with self.database.begin_exclusive() as connection:
            is_admitted, ticket = self._screening.judge_answers(connection, session, token, dict(answers), code)
        if not is_admitted:
            self.scrubber.scrub_deleted_rows()
        return ticket

    def count_screener_answers(self) -> dict[tuple[str, str], int]:
        """Return how many sessions that are completed or running gave each answer to the screener, by question and answer."""
        with self.database.begin_reading() as connection:
            return self._screening.count_answers(connection)

    # ---------------------------------------------------------------------------------------------- people

    def forget_participant(self, participant: str, name: str | None = None) -> int:
        """Delete all that is stored of a person and bar the way back; return how many sessions that were.

        The person is given by the keyed hash, or by `name`: a participant or session as the tables name them.
        Raises `KeyError` when nothing is known of this person.
        """
        with self.database.begin_exclusive() as connection:
            number = departures.forget_participant(connection, participant, name)
        self.scrubber.scrub_deleted_rows()
        return number

    def has_known_participants(self) -> bool:
        """Whether anybody is known by the keyed hash of an id; a new key would not recognise them."""
        with self.database.begin_reading() as connection:
            return departures.has_known_participants(connection)

    def list_payments(self) -> list[dict[str, Any]]:
        """Return the payments: platform, id, submission, code and status, ordered by platform and id."""
        with self.database.begin_reading() as connection:
            return payments.list_payments(connection)

    def note_payment_status(self, submission: str, status: str) -> None:
        """Note how a submission stands at its platform."""
        with self.database.begin_writing() as connection:
            payments.note_submission_status(connection, submission, status)

    def forget_payments(self) -> int:
        """Delete every platform's id; return how many."""
        with self.database.begin_writing() as connection:
            number = payments.delete_all_payments(connection)
        self.scrubber.scrub_deleted_rows()
        return number

    # ---------------------------------------------------------------------------------------------- the experimenter

    def exclude_session(self, name: str, reason: str) -> str:
        """Mark a session as not counting, which opens its place again; return its id.

        `name` is a session or a platform's submission. The data stay, with the reason; payment does not change.
        Raises `KeyError` for one that is not known, `ValueError` without a reason.
        """
        reason = " ".join(reason.split())
        if not reason:
            raise ValueError("the reason is empty; expected why the session does not count")
        with self.database.begin_exclusive() as connection:
            return session_overview.exclude_session(connection, name, reason)

    def release_slot(self, submission: str, reason: str) -> bool:
        """Open the place of an unfinished session by its platform's submission again; return whether it was one that counted."""
        with self.database.begin_exclusive() as connection:
            return session_overview.release_slot(connection, submission, reason)

    def include_session(self, session: str) -> None:
        """Let a session count again; raises `KeyError` for one that is not known."""
        with self.database.begin_exclusive() as connection:
            session_overview.include_session(connection, session)

    def set_closed(self, closed: bool = True) -> None:
        """Close the study for newcomers, or open it again; who has begun can go on in any case."""
        with self.database.begin_exclusive() as connection:
            session_overview.set_closed(connection, closed)

    def find_study_id(self, config: study.Study) -> str:
        """Return the study's id, letters and digits; one that follows from its name where the database has none."""
        with self.database.begin_reading() as connection:
            known = connection.scalar(sa.select(META.c.study))
        return str(known) if known else hashlib.sha256(config.name.encode()).hexdigest()[:16]

    def renew_leases_after_pause(self) -> int:
        """Renew the leases that ran out while the server was away, or seem to have since the clock was set; return how many."""
        with self.database.begin_exclusive() as connection:
            return self._leases.renew_after_pause(connection)

    def check_health(self) -> Health:
        """Write to the database, and return how it stands; raises what writing raises."""
        started = time.perf_counter()
        with self.database.begin_writing() as connection:
            connection.execute(META.update().values(closed=META.c.closed))
            closed, backed_up = connection.execute(sa.select(META.c.closed, META.c.backed_up)).one()
        return Health(bool(closed), round(1000 * (time.perf_counter() - started), 1), self.database.measure_free_disk(), backed_up)

    @property
    def is_closed(self) -> bool:
        """Whether the study is closed for newcomers."""
        with self.database.begin_reading() as connection:
            return session_overview.is_closed(connection)

    def list_summaries(self, offset: int, limit: int) -> list[SessionSummary]:
        """Return what is known of so many sessions without their answers, the latest first; previews are none."""
        with self.database.begin_reading() as connection:
            return session_overview.list_summaries(connection, self._leases.get_live_cutoff(), offset, limit)

    def list_durations(self) -> list[float]:
        """Return the minutes that each completed session took that counts, in increasing order."""
        with self.database.begin_reading() as connection:
            return session_overview.list_durations(connection)

    def count_slots(self) -> dict[str, SlotCounts]:
        """Return how far each list with a session is filled."""
        with self.database.begin_reading() as connection:
            return self._assigner.count_slots(connection)

    def count_departures(self) -> dict[str, dict[str, int]]:
        """Return how many left, by list and reason."""
        with self.database.begin_reading() as connection:
            return departures.count_departures(connection)

    def count_sessions(self) -> tuple[int, int]:
        """Return how many sessions have begun, and how many of them are finished; previews are none."""
        with self.database.begin_reading() as connection:
            return session_overview.count_sessions(connection)

    # ---------------------------------------------------------------------------------------------- the data

    def read_recorded_session(self, session: str) -> tuple[RecordedSession, ListFile]:
        """Return a session with its events, and the list it ran; raises `KeyError` for one that is not known."""
        with self.database.begin_reading() as connection:
            recorded_session = stored_sessions.read_recorded_session(connection, session)
            return recorded_session, self._files.get_list_file(connection, recorded_session.session.list_sha256)

    def read_sessions(self, *, previews: bool = False) -> list[Session]:
        """Return every session without its events, in order of assignment; previews only when asked for."""
        with self.database.begin_reading() as connection:
            return stored_sessions.read_sessions(connection, previews=previews)

    def read_recorded_sessions(self, *, previews: bool = False) -> Iterator[RecordedSession]:
        """Yield every session with its events, in order of assignment; previews only when asked for.

        Each is read in a transaction of its own: a long one would keep what is deleted meanwhile in the files.
        """
        with self.database.begin_reading() as connection:
            sessions = stored_sessions.list_session_ids(connection, previews=previews)
        for session in sessions:
            with contextlib.suppress(KeyError):  # withdrawn meanwhile
                yield self.read_recorded_session(session)[0]
