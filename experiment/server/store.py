"""A study's data on the server: each method is one transaction, which alone says what happens at once."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..sessions import Apart, Event, Session, SessionRecord
from ..versions import VersionFile
from . import departures, overview, payments, published_versions, stored_sessions
from .arrivals import Arrival, Arrivals, Opened
from .assignment import Filled
from .database import Database
from .leases import Leases
from .overview import SessionSummary
from .payments import Ticket
from .published_versions import VersionFiles
from .rules import Rules
from .running_sessions import RunningSessions
from .screening import Screening
from .scrubbing import Scrubber


@dataclass(frozen=True)
class Left:
    """How a session was left: how it counts, whether its data are deleted, and are in none of the database's files any more."""

    how: str
    deleted: bool
    scrubbed: bool
    ticket: Ticket


class Store:
    """A study's data in a database; every method is one transaction. `clock` gives the time in UTC."""

    def __init__(
        self,
        url: str,
        *,
        rules: Rules | None = None,
        create: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.database = Database(url, create=create)
        self.scrubber = Scrubber(self.database.scrub)
        self._leases = Leases(rules or Rules(), clock)
        self._files = VersionFiles()
        self._screening = Screening(self._leases, self._files)
        self._arrivals = Arrivals(self._leases, self._files, self._screening)
        self._running = RunningSessions(self._leases, self._files)

    # ---------------------------------------------------------------------------------------------- versions

    def publish(self, files: Sequence[VersionFile], settings: Mapping[str, Any] | None = None) -> int:
        """Make these versions the ones that new sessions are assigned to, and return the number of this revision.

        What nobody has met yet is replaced; what a session has met stays, and a change has a new number.
        """
        for file in files:
            file.version.drawn(0)  # the first order costs a count; no arrival should wait for it
        hashes = published_versions.hashes_of(files, settings or {})
        with self.database.exclusive() as connection:
            return published_versions.publish(connection, files, hashes, now=self._leases.now())

    def revisions(self) -> list[dict[str, Any]]:
        """Return each revision's number, time and hashes, and what changed since the one before."""
        with self.database.reading() as connection:
            return published_versions.revisions(connection)

    def places(self) -> dict[str, int | None]:
        """Return how many places each version has that newcomers are assigned to: its lists, or its quota, None without one."""
        with self.database.reading() as connection:
            files = {
                name: self._files.file(connection, sha) for name, sha in published_versions.active(connection).items()
            }
        return {name: len(files[name].version.lists) or self._leases.rules.quota for name in sorted(files)}

    def files(self) -> dict[str, VersionFile]:
        """Return every version that is or was published, by SHA-256."""
        with self.database.reading() as connection:
            return self._files.every(connection)

    # ---------------------------------------------------------------------------------------------- sessions

    def open(self, arrival: Arrival) -> Opened:
        """Return a new session in a version with the fewest completed and running ones, or the person's unfinished one.

        Raises `Refused` when the study is full or closed, or when this person may not begin or go on.
        """
        with self.database.exclusive() as connection:
            return self._arrivals.open(connection, arrival)

    def append(
        self, session: str, token: str, events: Sequence[Event], apart: Sequence[Apart] = ()
    ) -> tuple[int, list[Apart]]:
        """Store events; return how many the session has, and which of these are set apart. One stored already must be the same.

        Raises `KeyError` for an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        with self.database.writing() as connection:
            return self._running.append(connection, session, token, events, apart)

    def heartbeat(self, session: str, token: str, *, leaving: bool = False) -> None:
        """Renew the session's lease; raises `Refused` when another tab has the session."""
        with self.database.writing() as connection:
            self._running.heartbeat(connection, session, token, leaving=leaving)

    def complete(self, session: str, token: str, events: int, code: str) -> tuple[list[int], Mapping[int, str], Ticket]:
        """Mark the session finished if events 0 to `events` - 1 are all stored, and its script was walked to the end.

        Returns the missing numbers, and those set apart with the reason. `code` is noted for payment. Neither the time it took nor
        any answer matters here.
        """
        with self.database.writing() as connection:
            return self._running.complete(connection, session, token, events, code)

    def withdraw(self, session: str, token: str, reason: str, code: str | None) -> Left:
        """Let somebody go; return how it counts, whether the data are deleted and out of the files, and what the way back needs.

        Who refuses, or whose device does not fit, leaves nothing, unless a trial has ended: then it is a withdrawal.
        Who had finished keeps the payment.
        """
        with self.database.exclusive() as connection:
            how, deleted, ticket = departures.withdraw(connection, self._leases, session, token, reason, code)
        return Left(how, deleted, deleted and self.scrubber.ask(), ticket)

    def screen(self, session: str, token: str, answers: Mapping[str, Any], code: str | None) -> Ticket | None:
        """Judge answers to the screener; return None for who goes on, else what the way back needs: the session is deleted.

        `code` is noted for payment. Raises `ValueError` for answers that are no choice of the questions.
        """
        with self.database.exclusive() as connection:
            admitted, ticket = self._screening.judge(connection, session, token, dict(answers), code)
        if not admitted:
            self.scrubber.ask()
        return ticket

    def screened(self) -> dict[tuple[str, str], int]:
        """Return how many sessions that are completed or running gave each answer to the screener, by question and answer."""
        with self.database.reading() as connection:
            return self._screening.filled(connection)

    # ---------------------------------------------------------------------------------------------- people

    def forget(self, participant: str, name: str | None = None) -> int:
        """Delete all that is stored of a person and bar the way back; return how many sessions that were.

        The person is given by the keyed hash, or by `name`: a participant or session as the tables name them.
        Raises `KeyError` when nothing is known of this person.
        """
        with self.database.exclusive() as connection:
            number = departures.forget(connection, participant, name)
        self.scrubber.ask()
        return number

    def knows_people(self) -> bool:
        """Whether anybody is known by the keyed hash of an id; a new key would not recognise them."""
        with self.database.reading() as connection:
            return departures.knows_people(connection)

    def payments(self) -> list[dict[str, Any]]:
        """Return the payments: platform, id, submission, code and status, ordered by platform and id."""
        with self.database.reading() as connection:
            return payments.listed(connection)

    def note_payment(self, submission: str, status: str) -> None:
        """Note how a submission stands at its platform."""
        with self.database.writing() as connection:
            payments.note(connection, submission, status)

    def forget_payments(self) -> int:
        """Delete every platform's id; return how many."""
        with self.database.writing() as connection:
            number = payments.delete_all(connection)
        self.scrubber.ask()
        return number

    # ---------------------------------------------------------------------------------------------- the experimenter

    def exclude(self, name: str, reason: str) -> str:
        """Mark a session as not counting, which opens its place again; return its id.

        `name` is a session or a platform's submission. The data stay, with the reason; payment does not change.
        Raises `KeyError` for one that is not known, `ValueError` without a reason.
        """
        reason = " ".join(reason.split())
        if not reason:
            raise ValueError("the reason is empty; expected why the session does not count")
        with self.database.exclusive() as connection:
            return overview.exclude(connection, name, reason)

    def release(self, submission: str, reason: str) -> bool:
        """Open the place of an unfinished session by its platform's submission again; return whether it was one that counted."""
        with self.database.exclusive() as connection:
            return overview.release(connection, submission, reason)

    def include(self, session: str) -> None:
        """Let a session count again; raises `KeyError` for one that is not known."""
        with self.database.exclusive() as connection:
            overview.include(connection, session)

    def close(self, closed: bool = True) -> None:
        """Close the study for newcomers, or open it again; who has begun can go on in any case."""
        with self.database.exclusive() as connection:
            overview.close(connection, closed)

    @property
    def closed(self) -> bool:
        """Whether the study is closed for newcomers."""
        with self.database.reading() as connection:
            return overview.is_closed(connection)

    def overview(self, skipped: int, most: int) -> list[SessionSummary]:
        """Return what is known of so many sessions without their answers, the latest first; previews are none."""
        with self.database.reading() as connection:
            return overview.summaries(connection, self._leases.oldest_live(), skipped, most)

    def durations(self) -> list[float]:
        """Return the minutes that each completed session took that counts, in increasing order."""
        with self.database.reading() as connection:
            return overview.durations(connection)

    def filled(self) -> dict[str, Filled]:
        """Return how far each version with a session is filled."""
        with self.database.reading() as connection:
            return self._arrivals.filled(connection)

    def departures(self) -> dict[str, dict[str, int]]:
        """Return how many left, by version and reason."""
        with self.database.reading() as connection:
            return departures.numbers(connection)

    def counts(self) -> tuple[int, int]:
        """Return how many sessions have begun, and how many of them are finished; previews are none."""
        with self.database.reading() as connection:
            return overview.counts(connection)

    # ---------------------------------------------------------------------------------------------- the data

    def record(self, session: str) -> tuple[SessionRecord, VersionFile]:
        """Return a session with its events, and the version it ran; raises `KeyError` for one that is not known."""
        with self.database.reading() as connection:
            record = stored_sessions.record(connection, session)
            return record, self._files.file(connection, record.session.version_sha256)

    def sessions(self, *, previews: bool = False) -> list[Session]:
        """Return every session without its events, in order of assignment; previews only when asked for."""
        with self.database.reading() as connection:
            return stored_sessions.sessions(connection, previews=previews)

    def records(self, *, previews: bool = False) -> Iterator[SessionRecord]:
        """Yield every session with its events, in order of assignment; previews only when asked for.

        Each is read in a transaction of its own: a long one would keep what is deleted meanwhile in the files.
        """
        with self.database.reading() as connection:
            sessions = stored_sessions.names(connection, previews=previews)
        for session in sessions:
            with contextlib.suppress(KeyError):  # withdrawn meanwhile
                yield self.record(session)[0]
