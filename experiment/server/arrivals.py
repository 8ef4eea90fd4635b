"""Who comes: a newcomer is assigned a version and a place in it, somebody known goes on."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from ..recruitment import Person
from ..script import Walk
from ..sessions import Session, open_session, steps_of, walked
from ..versions import VersionFile
from . import payments, published_versions
from .assignment import Filled, choose
from .database import APART, EVENTS, META, PREVIEW, REAL, SESSIONS, Row
from .departures import UNNAMED, departed
from .leases import Leases
from .payments import Ticket
from .published_versions import VersionFiles
from .rules import Refused
from .screening import Screening
from .stored_sessions import COUNTS, progress, session_of

LONGEST_VOIDED = 1000  # characters of tokens that are void; older ones are not known at all


@dataclass(frozen=True)
class Arrival:
    """Somebody at the door: the keyed hash of who it is, the platform's id for payment, and the tab.

    Without a tab it is one that nobody has had. `resume` is what an anonymous browser kept; `preview` is a version and a trial to
    look at. Who is `barred` has taken part in an earlier study, and does not begin.
    """

    participant: str | None = None
    person: Person | None = None
    source: str = "server"
    tab: str | None = None
    resume: str | None = None
    preview: tuple[str, int] | None = None
    barred: bool = False


@dataclass(frozen=True)
class Opened:
    """A session as handed to a client: new or resumed, with its token, visit and where it stands.

    The token is that of one tab; `resume` is by what a browser without an id is known again.
    """

    session: Session
    file: VersionFile
    token: str
    resume: str
    visit: int
    next_seq: int
    stand: Walk
    ticket: Ticket


class Arrivals:
    """Opens sessions; a reservation holds only in a transaction beside which nobody else is assigned a place."""

    def __init__(self, leases: Leases, files: VersionFiles, screening: Screening) -> None:
        self.rules, self._leases, self._files, self._screening = leases.rules, leases, files, screening

    def open(self, connection: sa.Connection, arrival: Arrival) -> Opened:
        """Return a new session in a version with the fewest completed and running ones, or the person's unfinished one.

        Raises `Refused` when the study is full or closed, or when this person may not begin or go on.
        """
        if arrival.preview is not None:
            return self._preview(connection, arrival, *arrival.preview)
        earlier = self._earlier(connection, arrival)
        if earlier and earlier[-1].finished is None and not self._may_leave(connection, earlier):
            return self._resume(connection, earlier[-1], arrival)
        if arrival.participant is not None:
            if (reason := departed(connection, arrival.participant)) == "screened_out" and arrival.person:
                ticket = Ticket(arrival.person.platform, arrival.person.id, arrival.source)
                raise Refused("screened_out", "the screener has not let this person in", session=ticket)
            if reason is not None:
                raise Refused("departed", "this person has withdrawn or was forgotten")
            if len(earlier) >= self.rules.sessions:
                ticket = payments.ticket(connection, earlier[-1])
                raise Refused("finished", "this person has finished the study already", session=ticket)
        if arrival.barred and not earlier:
            raise Refused("barred", "this person has taken part in a study whose participants are barred")
        if connection.scalar(sa.select(META.c.closed)):
            raise Refused("closed", "the study is closed for newcomers")
        if self._screening.is_full(connection):
            raise Refused("full", "every answer that lets somebody in has its quota")
        return self._assign(connection, arrival, earlier)

    def filled(self, connection: sa.Connection) -> dict[str, Filled]:
        """Return how far each version with a session is filled."""
        done = SESSIONS.c.finished.is_not(None)
        live = ~done & (SESSIONS.c.seen > self._leases.oldest_live())
        sums = [
            sa.func.sum(sa.case((which, 1), else_=0)) for which in (done, live, done & SESSIONS.c.late, ~done & ~live)
        ]
        counted = sa.select(SESSIONS.c.version, *sums).where(COUNTS).group_by(SESSIONS.c.version)
        return {version: Filled(*map(int, numbers)) for version, *numbers in connection.execute(counted)}

    def _earlier(self, connection: sa.Connection, arrival: Arrival) -> Sequence[Row]:
        """The sessions of this person, first to last; of an unknown browser the one that it can still go on with."""
        if arrival.participant is not None:
            theirs = SESSIONS.c.participant == arrival.participant
        elif arrival.resume is not None:
            resumable = SESSIONS.c.finished.is_(None) & (SESSIONS.c.seen > self._leases.oldest_resumable())
            theirs = (SESSIONS.c.resume == arrival.resume) & resumable
        else:
            return []
        query = sa.select(SESSIONS).where(theirs, REAL, SESSIONS.c.withdrawn.is_(None)).order_by(SESSIONS.c.ordinal)
        return connection.execute(query).all()

    def _may_leave(self, connection: sa.Connection, earlier: Sequence[Row]) -> bool:
        """Whether the person may go on with another list, where the last one was left too long ago."""
        expired = earlier[-1].seen <= self._leases.oldest_resumable() and len(earlier) < self.rules.sessions
        return expired and bool(self._files.file(connection, earlier[-1].version_sha256).version.lists)

    def _assign(self, connection: sa.Connection, arrival: Arrival, earlier: Sequence[Row]) -> Opened:
        files = {name: self._files.file(connection, sha) for name, sha in published_versions.active(connection).items()}
        seen = [
            self._files.file(connection, row.version_sha256).version.shown_of(json.loads(row.order)) for row in earlier
        ]
        had = frozenset[str]().union(*seen)
        lists = {name: self._open_list(connection, file, had) for name, file in files.items() if file.version.lists}
        names = sorted(name for name in files if name not in lists or lists[name] is not None)
        name = choose(names, self.filled(connection), self.rules.quota, [row.version for row in earlier])
        if name is None and lists and earlier and earlier[-1].finished is not None:
            ticket = payments.ticket(connection, earlier[-1])
            raise Refused("finished", "no list is open without what this person has judged already", session=ticket)
        if name is None:
            raise Refused("full", "every version has its quota of completed and running sessions")
        slot = lists.get(name)
        if slot is None:
            last = connection.scalar(sa.select(sa.func.max(SESSIONS.c.slot)).where(SESSIONS.c.version == name, REAL))
            slot = 0 if last is None else last + 1
        return self._begin(connection, arrival, files[name], slot, ordinal=len(earlier))

    def _open_list(self, connection: sa.Connection, file: VersionFile, had: frozenset[str]) -> int | None:
        """Return the slot of the first list without `had` that no completed or running session has; None where there is none."""
        running = SESSIONS.c.finished.is_not(None) | (SESSIONS.c.seen > self._leases.oldest_live())
        holds = COUNTS & running & (SESSIONS.c.version_sha256 == file.sha256)
        of_version = sa.select(SESSIONS.c.slot).where(REAL, SESSIONS.c.version == file.name)
        held, used = (set(connection.scalars(query)) for query in (of_version.where(holds), of_version))
        return file.version.open_slot(held, used, had)

    def _preview(self, connection: sa.Connection, arrival: Arrival, version: str, trial: int) -> Opened:
        sha256 = published_versions.active(connection).get(version)
        if sha256 is None:
            raise Refused("preview", f"there is no version {version!r}")
        opened = self._begin(connection, arrival, self._files.file(connection, sha256), 0, ordinal=0)
        steps = steps_of(opened.session, opened.file)
        at = min(trial, len(opened.session.order) - 1)
        first = next(placed.number for placed in steps if placed.position == at) if at else 0
        return replace(opened, stand=Walk(steps, range(first)))

    def _begin(
        self, connection: sa.Connection, arrival: Arrival, file: VersionFile, slot: int, *, ordinal: int
    ) -> Opened:
        now = self._leases.now()
        session = open_session(
            file,
            slot,
            id=f"s-{secrets.token_hex(8)}",
            participant=arrival.participant or UNNAMED + secrets.token_hex(8),
            started=now,
            source=PREVIEW if arrival.preview else arrival.source,
        )
        session = replace(session, revision=published_versions.current_revision(connection))
        person = None if arrival.preview else arrival.person
        ticket = Ticket(person.platform if person else "link", person.id if person else "", session.source)
        token, resume = _secret(), _secret()
        connection.execute(
            SESSIONS.insert().values(
                {
                    "id": session.id,
                    "token": token,
                    "resume": resume,
                    "participant": session.participant,
                    "ordinal": ordinal,
                    "platform": ticket.platform,
                    "version": session.version,
                    "slot": session.slot,
                    "order": json.dumps(session.order),
                    "version_sha256": session.version_sha256,
                    "procedure_sha256": session.procedure_sha256,
                    "revision": session.revision,
                    "started": now,
                    "seen": now,
                    "source": session.source,
                    "visits": 1,
                    "tab": arrival.tab or _secret(),
                    "tab_seen": now,
                }
            )
        )
        if person is not None:
            payments.register(connection, session.id, person)
        return Opened(session, file, token, resume, 0, 0, walked(session, file), ticket)

    def _resume(self, connection: sa.Connection, row: Row, arrival: Arrival) -> Opened:
        ticket = payments.ticket(connection, row)
        if row.seen <= self._leases.oldest_resumable():
            raise Refused("expired", "the session was left too long ago to be resumed", session=ticket)
        if (wait := self._leases.wait_for_tab(row, arrival.tab)) > 0:
            raise Refused("open_elsewhere", "the session is open in another tab", session=ticket, wait=wait)
        numbers = [sa.select(sa.func.max(table.c.seq)).where(table.c.session == row.id) for table in (EVENTS, APART)]
        last = max((-1 if (seq := connection.scalar(number)) is None else seq) for number in numbers)
        # Who takes a session over has a token of its own, and that of the tab before is void.
        taken = (
            {}
            if row.tab == arrival.tab
            else {"token": _secret(), "voided": f"{row.voided} {row.token}"[-LONGEST_VOIDED:]}
        )
        tab = arrival.tab or _secret()
        self._leases.renew(connection, row, visits=row.visits + 1, tab=tab, tab_seen=self._leases.now(), **taken)
        if arrival.person is not None:
            payments.register(connection, row.id, arrival.person)
            ticket = Ticket(row.platform, arrival.person.id, row.source)
        file = self._files.file(connection, row.version_sha256)
        token, stand = taken.get("token", row.token), progress(connection, row, file)
        return Opened(session_of(row), file, token, row.resume, row.visits, last + 1, stand, ticket)


def _secret() -> str:
    return secrets.token_urlsafe(24)
