"""What the server keeps: sessions with their places and events, revisions of the study, and payments apart from them."""

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from ..records import fault
from ..recruitment import Person
from ..script import Placed, Walk
from ..sessions import Event, Session, SessionRecord, open_session, steps_of, walked
from ..versions import VersionFile, parse_version
from .assignment import Filled, choose
from .database import (
    DEPARTED,
    DEPARTURES,
    EVENTS,
    META,
    PAYMENTS,
    PREVIEW,
    REAL,
    REVISIONS,
    SESSIONS,
    VERSIONS,
    Database,
    canonical,
    sqlite_url,
)

__all__ = ["Arrival", "Conflict", "Opened", "Refused", "Rules", "Store", "sqlite_url"]

log = logging.getLogger("gardenpath")

WALKED = ("begin", "outcome", "done")  # the kinds of events that say how far a session has come
COUNTS = SESSIONS.c.excluded.is_(None) & SESSIONS.c.withdrawn.is_(None) & REAL


class Conflict(Exception):
    """The request contradicts what is stored; the message says how."""


class Refused(Conflict):
    """Nobody can begin or go on; `reason` is one of docs/api.md, `session` the session concerned where there is one."""

    def __init__(
        self, reason: str, message: str, *, session: "Ticket | None" = None, wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.reason, self.session, self.wait = reason, session, wait


@dataclass(frozen=True)
class Rules:
    """How places are given and kept: arguments from the section `online` of study.toml."""

    quota: int | None = None
    sessions: int = 1
    lease: timedelta = timedelta(minutes=60)
    resume: timedelta = timedelta(hours=24)
    tab: timedelta = timedelta(seconds=90)
    keep_withdrawn: bool = False


@dataclass(frozen=True)
class Arrival:
    """Somebody at the door: the keyed hash of who it is, the platform's id for payment, and the tab.

    `resume` is what an anonymous browser kept; `preview` is a version and a trial to look at.
    """

    participant: str | None = None
    person: Person | None = None
    source: str = "server"
    tab: str | None = None
    resume: str | None = None
    preview: tuple[str, int] | None = None


@dataclass(frozen=True)
class Ticket:
    """What the way back of a session needs: its platform, the raw id while it is kept, and its source."""

    platform: str
    id: str
    source: str


@dataclass(frozen=True)
class Opened:
    """A session as handed to a client: new or resumed, with its token, visit and where it stands."""

    session: Session
    file: VersionFile
    token: str
    visit: int
    next_seq: int
    stand: Walk
    ticket: Ticket


@dataclass(frozen=True)
class Seen:
    """What can be told of a session without a look at its answers; `state` is completed, running, dropped or withdrawn."""

    id: str
    version: str
    state: str
    started: datetime
    minutes: float
    trials: int
    ended: int
    interruptions: int
    visits: int
    late: bool
    excluded: str | None
    source: str
    revision: int


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
        self.rules, self._clock = rules or Rules(), clock
        self.database = Database(url, create=create)
        self.engine = self.database.engine
        self._parsed: dict[str, VersionFile] = {}

    # ---------------------------------------------------------------------------------------------- what is shown

    def publish(self, files: Sequence[VersionFile], settings: Mapping[str, Any] | None = None) -> int:
        """Make these versions the ones that new sessions are assigned to, and return the number of this revision.

        What nobody has met yet is replaced; what a session has met stays, and a change has a new number.
        """
        for file in files:
            file.version.drawn(0)  # the first order costs a count; no arrival should wait for it
        hashes = _hashes(files, settings or {})
        with self.database.exclusive() as connection:
            there = set(connection.scalars(sa.select(VERSIONS.c.sha256)))
            connection.execute(VERSIONS.update().values(active=False))
            for file in files:
                if file.sha256 in there:
                    connection.execute(VERSIONS.update().where(VERSIONS.c.sha256 == file.sha256).values(active=True))
                else:
                    row = {"sha256": file.sha256, "name": file.name, "active": True, "content": file.text}
                    connection.execute(VERSIONS.insert().values(row))
            return self._revise(connection, hashes)

    def _revise(self, connection: sa.Connection, hashes: Mapping[str, str]) -> int:
        last = connection.execute(sa.select(REVISIONS).order_by(REVISIONS.c.number.desc())).first()
        row = {"since": self._now(), "hashes": canonical(hashes)}
        if last is None:
            connection.execute(REVISIONS.insert().values(number=1, **row))
            return 1
        before = json.loads(last.hashes)
        changed = sorted(what for what in hashes if hashes[what] != before.get(what))
        if not changed:
            return int(last.number)
        met = sa.select(sa.func.count()).select_from(SESSIONS).where(REAL & (SESSIONS.c.revision == last.number))
        begun = connection.scalar(met) or 0
        if not begun:
            connection.execute(REVISIONS.update().where(REVISIONS.c.number == last.number).values(row))
            return int(last.number)
        log.warning(
            "the study has changed since its first sessions (%s): those %d keep what they ran, new ones are of revision %d, and "
            "the tables will hold both; serve from another folder (-o) to keep them apart",
            ", ".join(changed),
            begun,
            last.number + 1,
        )
        connection.execute(REVISIONS.insert().values(number=last.number + 1, **row))
        return int(last.number) + 1

    def revisions(self) -> list[dict[str, Any]]:
        """Return each revision's number, time, and what changed since the one before."""
        with self.database.reading() as connection:
            rows = connection.execute(sa.select(REVISIONS).order_by(REVISIONS.c.number)).all()
        told: list[dict[str, Any]] = []
        before: dict[str, str] = {}
        for row in rows:
            hashes = json.loads(row.hashes)
            changed = [what for what in hashes if told and hashes[what] != before.get(what)]
            told.append({"number": row.number, "since": row.since, "changed": changed, "hashes": hashes})
            before = hashes
        return told

    # ---------------------------------------------------------------------------------------------- who comes

    def open(self, arrival: Arrival) -> Opened:
        """Return a new session in a version with the fewest completed and running ones, or the person's unfinished one.

        Raises `Refused` when the study is full or closed, or when this person may not begin or go on.
        """
        with self.database.exclusive() as connection:
            if arrival.preview is not None:
                return self._preview(connection, arrival, *arrival.preview)
            had = self._had(connection, arrival)
            if had and had[-1].finished is None:
                return self._resume(connection, had[-1], arrival)
            if arrival.participant is not None:
                if connection.scalar(sa.select(DEPARTED).where(DEPARTED.c.participant == arrival.participant)):
                    raise Refused("departed", "this person has withdrawn or was forgotten")
                if len(had) >= self.rules.sessions:
                    ticket = self._ticket(connection, had[-1])
                    raise Refused("finished", "this person has finished the study already", session=ticket)
            if connection.scalar(sa.select(META.c.closed)):
                raise Refused("closed", "the study is closed for newcomers")
            return self._assign(connection, arrival, [row.version for row in had])

    def _had(self, connection: sa.Connection, arrival: Arrival) -> Sequence[sa.Row]:
        """The sessions of this person, first to last; of an unknown browser the one that it can still go on with."""
        if arrival.participant is not None:
            mine = SESSIONS.c.participant == arrival.participant
        elif arrival.resume is not None:
            fresh = SESSIONS.c.seen > self._ago(self.rules.resume)
            mine = (SESSIONS.c.token == arrival.resume) & SESSIONS.c.finished.is_(None) & fresh
        else:
            return []
        query = sa.select(SESSIONS).where(mine, REAL, SESSIONS.c.withdrawn.is_(None)).order_by(SESSIONS.c.sitting)
        return connection.execute(query).all()

    def _assign(self, connection: sa.Connection, arrival: Arrival, taken: Sequence[str]) -> Opened:
        active = dict(connection.execute(sa.select(VERSIONS.c.name, VERSIONS.c.sha256).where(VERSIONS.c.active)).all())
        name = choose(sorted(active), self._filled(connection), self.rules.quota, taken)
        if name is None:
            raise Refused("full", "every version has its quota of completed and running sessions")
        last = connection.scalar(sa.select(sa.func.max(SESSIONS.c.slot)).where(SESSIONS.c.version == name, REAL))
        slot = 0 if last is None else last + 1
        return self._begin(connection, arrival, self._file(connection, active[name]), slot, sitting=len(taken))

    def _preview(self, connection: sa.Connection, arrival: Arrival, version: str, trial: int) -> Opened:
        sha256 = connection.scalar(sa.select(VERSIONS.c.sha256).where(VERSIONS.c.active, VERSIONS.c.name == version))
        if sha256 is None:
            raise Refused("preview", f"there is no version {version!r}")
        opened = self._begin(connection, arrival, self._file(connection, sha256), 0, sitting=0)
        steps = steps_of(opened.session, opened.file)
        at = min(trial, len(opened.session.order) - 1)
        first = next(placed.number for placed in steps if placed.position == at) if at else 0
        return replace(opened, stand=Walk(steps, range(first)))

    def _begin(
        self, connection: sa.Connection, arrival: Arrival, file: VersionFile, slot: int, *, sitting: int
    ) -> Opened:
        now = self._now()
        session = open_session(
            file,
            slot,
            id=f"s-{secrets.token_hex(8)}",
            participant=arrival.participant or f"p-{secrets.token_hex(8)}",
            started=now,
            source=PREVIEW if arrival.preview else arrival.source,
        )
        revision = connection.scalar(sa.select(sa.func.max(REVISIONS.c.number))) or 1
        session = replace(session, revision=revision)
        person = None if arrival.preview else arrival.person
        ticket = Ticket(person.platform if person else "link", person.id if person else "", session.source)
        token = secrets.token_urlsafe(24)
        connection.execute(
            SESSIONS.insert().values(
                {
                    "id": session.id,
                    "token": token,
                    "participant": session.participant,
                    "sitting": sitting,
                    "platform": ticket.platform,
                    "version": session.version,
                    "slot": session.slot,
                    "order": json.dumps(session.order),
                    "version_sha256": session.version_sha256,
                    "procedure_sha256": session.procedure_sha256,
                    "revision": revision,
                    "started": now,
                    "seen": now,
                    "source": session.source,
                    "visits": 1,
                    "tab": arrival.tab,
                    "tab_seen": now,
                }
            )
        )
        if person is not None:
            self._payee(connection, session.id, person)
        return Opened(session, file, token, 0, 0, walked(session, file), ticket)

    def _resume(self, connection: sa.Connection, row: sa.Row, arrival: Arrival) -> Opened:
        now = self._now()
        ticket = self._ticket(connection, row)
        if row.seen <= self._ago(self.rules.resume):
            raise Refused("expired", "the session was left for longer than it may be resumed", session=ticket)
        if arrival.tab is not None and row.tab not in (None, arrival.tab):
            wait = (datetime.fromisoformat(row.tab_seen) + self.rules.tab - self._clock()).total_seconds()
            if wait > 0:
                raise Refused("open_elsewhere", "the session is open in another tab", session=ticket, wait=wait)
        mine = EVENTS.c.session == row.id
        last = connection.scalar(sa.select(sa.func.max(EVENTS.c.seq)).where(mine))
        self._alive(connection, row, visits=row.visits + 1, tab=arrival.tab, tab_seen=now)
        if arrival.person is not None:
            self._payee(connection, row.id, arrival.person)
            ticket = Ticket(row.platform, arrival.person.id, row.source)
        file = self._file(connection, row.version_sha256)
        stand = walked(_session(row), file, self._events(connection, row.id, (*WALKED, "word")))
        return Opened(_session(row), file, row.token, row.visits, 0 if last is None else last + 1, stand, ticket)

    def _filled(self, connection: sa.Connection) -> dict[str, Filled]:
        done = SESSIONS.c.finished.is_not(None)
        live = ~done & (SESSIONS.c.seen > self._ago(self.rules.lease))
        sums = [
            sa.func.sum(sa.case((which, 1), else_=0)) for which in (done, live, done & SESSIONS.c.late, ~done & ~live)
        ]
        counted = sa.select(SESSIONS.c.version, *sums).where(COUNTS).group_by(SESSIONS.c.version)
        return {version: Filled(*map(int, numbers)) for version, *numbers in connection.execute(counted)}

    def filled(self) -> dict[str, Filled]:
        """Return how far each version with a session is filled."""
        with self.database.reading() as connection:
            return self._filled(connection)

    # ---------------------------------------------------------------------------------------------- what happens

    def append(self, session: str, token: str, events: Sequence[Event]) -> int:
        """Store events and return how many the session has; one that is stored already must be the same.

        Raises `KeyError` for an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        with self.database.writing() as connection:
            row = self._authorised(connection, session, token)
            if row.withdrawn is not None:
                raise Conflict("the session is withdrawn; it takes no further events")
            mine = EVENTS.c.session == session
            trials = _check(events, steps_of(_session(row), self._file(connection, row.version_sha256)))
            there = {
                event.seq: event._asdict()
                for event in connection.execute(
                    sa.select(EVENTS).where(mine, EVENTS.c.seq.in_([e.seq for e in events]))
                )
            }
            fresh: dict[int, dict[str, Any]] = {}
            for event in events:
                values = {"session": session, **vars(event), "value": canonical(event.value)}
                stored = there.get(event.seq, fresh.get(event.seq))
                if stored is not None and stored != values:
                    raise Conflict(f"event {event.seq} is stored already and differs; events are never changed")
                fresh |= {} if event.seq in there else {event.seq: values}
            if fresh and row.finished is not None:
                raise Conflict("the session is complete; it takes no further events")
            if fresh:
                connection.execute(EVENTS.insert(), list(fresh.values()))
            new = [event for event in events if event.seq in fresh]
            self._alive(
                connection,
                row,
                trials_ended=row.trials_ended + sum(event.kind == "done" and event.step in trials for event in new),
                interruptions=row.interruptions + sum(_leaves(event) for event in new),
            )
            return connection.scalar(sa.select(sa.func.count()).select_from(EVENTS).where(mine)) or 0

    def heartbeat(self, session: str, token: str, tab: str | None, *, leaving: bool = False) -> None:
        """Renew the session's lease; raises `Refused` when another tab has the session."""
        with self.database.writing() as connection:
            row = self._authorised(connection, session, token)
            if tab is not None and row.tab is not None and row.tab != tab:
                raise Refused("open_elsewhere", "the session is open in another tab")
            if leaving:
                self._alive(connection, row, tab=None)
            else:
                self._alive(connection, row, tab=tab or row.tab, tab_seen=self._now())

    def complete(self, session: str, token: str, events: int, code: str) -> tuple[list[int], Ticket]:
        """Mark the session finished if events 0 to `events` - 1 are all stored; return the missing numbers.

        `code` is noted for payment. Neither the time it took nor any answer matters here.
        """
        with self.database.writing() as connection:
            row = self._authorised(connection, session, token)
            ticket = self._ticket(connection, row)
            if row.withdrawn is not None:
                raise Conflict("the session is withdrawn")
            if row.finished is not None:
                return [], ticket
            mine = EVENTS.c.session == session
            there = set(connection.scalars(sa.select(EVENTS.c.seq).where(mine)))
            missing = [seq for seq in range(events) if seq not in there]
            if not missing:
                file = self._file(connection, row.version_sha256)
                stand = walked(_session(row), file, self._events(connection, session, WALKED))
                if stand.at is not None and row.source != PREVIEW:
                    left = stand.steps[stand.at[0]]
                    raise Conflict(
                        f"the session is at step {left.number} ({left.step.name}); the code comes at the end"
                    )
                self._alive(connection, row, finished=self._now())
                self._pay(connection, session, "completed", code)
            return missing, ticket

    def _alive(self, connection: sa.Connection, row: sa.Row, **values: Any) -> None:
        """Renew a session's lease; one whose lease had run out goes on as a late one, since its place was given away."""
        late = row.late or (row.finished is None and row.seen <= self._ago(self.rules.lease))
        seen = row.seen if row.finished is not None else self._now()
        connection.execute(SESSIONS.update().where(SESSIONS.c.id == row.id).values(seen=seen, late=late, **values))

    def _authorised(self, connection: sa.Connection, session: str, token: str) -> sa.Row:
        row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session).with_for_update()).first()
        if row is None:
            raise KeyError(f"session {session!r} is not known")
        if not hmac.compare_digest(row.token.encode(), token.encode()):
            raise PermissionError("the token does not belong to this session")
        return row

    # ---------------------------------------------------------------------------------------------- who leaves

    def withdraw(self, session: str, token: str, reason: str, code: str | None) -> tuple[str, bool, Ticket]:
        """Let somebody go; return how it counts, whether the data are deleted, and what the way back needs.

        Who refuses, or whose device does not fit, leaves nothing, unless a trial has ended: then it is a withdrawal.
        Who had finished keeps the payment.
        """
        with self.database.exclusive() as connection:
            row = self._authorised(connection, session, token)
            ticket = self._ticket(connection, row)
            if row.trials_ended and reason in ("refused", "unsuitable"):
                reason = "withdrawn"
            keep = reason == "withdrawn" and self.rules.keep_withdrawn
            if row.withdrawn is None:
                if row.source != PREVIEW:
                    self._count_departure(connection, row.version, reason)
                if reason in ("refused", "unsuitable"):
                    connection.execute(PAYMENTS.delete().where(PAYMENTS.c.session == session))
                else:
                    self._depart(connection, row.participant)
                    if row.finished is None:
                        self._pay(connection, session, reason, code)
                if keep:
                    self._alive(connection, row, withdrawn=self._now())
                else:
                    self._delete(connection, SESSIONS.c.id == session)
        if not keep:
            self.database.scrub()
        return "finished" if row.finished is not None else reason, not keep, ticket

    def forget(self, participant: str, name: str | None = None) -> int:
        """Delete all that is stored of a person and bar the way back; return how many sessions that were.

        The person is given by the keyed hash, or by `name`: a participant or session as the tables name them.
        Raises `KeyError` when nothing is known of this person.
        """
        with self.database.exclusive() as connection:
            named = SESSIONS.c.participant.in_([participant, name or participant]) | (SESSIONS.c.id == name)
            people = connection.scalars(sa.select(SESSIONS.c.participant).where(named)).all()
            known = connection.scalar(sa.select(DEPARTED).where(DEPARTED.c.participant == participant))
            if not people and not known:
                raise KeyError("nobody of this name has taken part")
            mine = SESSIONS.c.participant.in_(people)
            sessions = connection.execute(sa.select(SESSIONS.c.id, SESSIONS.c.version).where(mine)).all()
            for session in sessions:
                self._count_departure(connection, session.version, "forgotten")
            connection.execute(PAYMENTS.delete().where(PAYMENTS.c.session.in_([session.id for session in sessions])))
            self._delete(connection, mine)
            for person in set(people):
                self._depart(connection, person)
        self.database.scrub()
        return len(sessions)

    def _delete(self, connection: sa.Connection, which: sa.ColumnElement[bool]) -> None:
        sessions = sa.select(SESSIONS.c.id).where(which)
        connection.execute(EVENTS.delete().where(EVENTS.c.session.in_(sessions)))
        connection.execute(SESSIONS.delete().where(which))

    def _depart(self, connection: sa.Connection, participant: str) -> None:
        there = connection.scalar(sa.select(DEPARTED).where(DEPARTED.c.participant == participant))
        # Who came without an id has a random label, which can never come again.
        if there is None and not participant.startswith("p-"):
            connection.execute(DEPARTED.insert().values(participant=participant))

    def _count_departure(self, connection: sa.Connection, version: str, reason: str) -> None:
        this = (DEPARTURES.c.version == version) & (DEPARTURES.c.reason == reason)
        number = connection.scalar(sa.select(DEPARTURES.c.number).where(this))
        if number is None:
            connection.execute(DEPARTURES.insert().values(version=version, reason=reason, number=1))
        else:
            connection.execute(DEPARTURES.update().where(this).values(number=number + 1))

    # ---------------------------------------------------------------------------------------------- payment

    def _payee(self, connection: sa.Connection, session: str, person: Person) -> None:
        connection.execute(PAYMENTS.delete().where(PAYMENTS.c.session == session))
        row = {"session": session, "platform": person.platform, "id": person.id, "submission": person.submission}
        connection.execute(PAYMENTS.insert().values(**row, code=None, status="running"))

    def _pay(self, connection: sa.Connection, session: str, status: str, code: str | None) -> None:
        connection.execute(PAYMENTS.update().where(PAYMENTS.c.session == session).values(status=status, code=code))

    def _ticket(self, connection: sa.Connection, row: sa.Row) -> Ticket:
        id = connection.scalar(sa.select(PAYMENTS.c.id).where(PAYMENTS.c.session == row.id))
        return Ticket(row.platform, id or "", row.source)

    def payments(self) -> list[dict[str, Any]]:
        """Return the payments: platform, id, submission, code and status, ordered by platform and id."""
        columns = [column for column in PAYMENTS.c if column.name != "session"]
        with self.database.reading() as connection:
            rows = connection.execute(sa.select(*columns).order_by(PAYMENTS.c.platform, PAYMENTS.c.id))
            return [dict(row._mapping) for row in rows]

    def forget_payments(self) -> int:
        """Delete every platform's id; return how many."""
        with self.database.writing() as connection:
            number = connection.execute(PAYMENTS.delete()).rowcount
        self.database.scrub()
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
            of_submission = sa.select(PAYMENTS.c.session).where(PAYMENTS.c.submission == name)
            which = (SESSIONS.c.id == name) | SESSIONS.c.id.in_(of_submission)
            id = connection.scalar(sa.select(SESSIONS.c.id).where(which, REAL))
            if id is None:
                raise KeyError(f"session {name!r} is not known")
            connection.execute(SESSIONS.update().where(SESSIONS.c.id == id).values(excluded=reason))
            return str(id)

    def include(self, session: str) -> None:
        """Let a session count again; raises `KeyError` for one that is not known."""
        with self.database.exclusive() as connection:
            changed = connection.execute(SESSIONS.update().where(SESSIONS.c.id == session).values(excluded=None))
            if not changed.rowcount:
                raise KeyError(f"session {session!r} is not known")

    def close(self, closed: bool = True) -> None:
        """Close the study for newcomers, or open it again; who has begun can go on in any case."""
        with self.database.exclusive() as connection:
            connection.execute(META.update().values(closed=closed))

    @property
    def closed(self) -> bool:
        """Whether the study is closed for newcomers."""
        with self.database.reading() as connection:
            return bool(connection.scalar(sa.select(META.c.closed)))

    # ---------------------------------------------------------------------------------------------- what is there

    def overview(self) -> list["Seen"]:
        """Return what can be told of each session without a look at its answers, the latest first; previews are none."""
        oldest = self._ago(self.rules.lease)
        with self.database.reading() as connection:
            rows = connection.execute(
                sa.select(SESSIONS).where(REAL).order_by(SESSIONS.c.started.desc(), SESSIONS.c.id)
            )
            return [_seen(row, oldest) for row in rows]

    def departures(self) -> dict[str, dict[str, int]]:
        """Return how many left, by version and reason."""
        told: dict[str, dict[str, int]] = {}
        with self.database.reading() as connection:
            for version, reason, number in connection.execute(sa.select(DEPARTURES).order_by(DEPARTURES.c.reason)):
                told.setdefault(version, {})[reason] = number
        return told

    def active(self) -> list[str]:
        """Return the names of the versions that newcomers are assigned to, in order."""
        with self.database.reading() as connection:
            return sorted(connection.scalars(sa.select(VERSIONS.c.name).where(VERSIONS.c.active)))

    def record(self, session: str) -> tuple[SessionRecord, VersionFile]:
        """Return a session with its events, and the version it ran; raises `KeyError` for one that is not known."""
        with self.database.reading() as connection:
            row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session)).first()
            if row is None:
                raise KeyError(f"session {session!r} is not known")
            return SessionRecord(_session(row), self._events(connection, row.id)), self._file(
                connection, row.version_sha256
            )

    def counts(self) -> tuple[int, int]:
        """Return how many sessions have begun, and how many of them are finished; previews are none."""
        with self.database.reading() as connection:
            row = connection.execute(sa.select(sa.func.count(), sa.func.count(SESSIONS.c.finished)).where(REAL)).one()
        return int(row[0]), int(row[1])

    def files(self) -> dict[str, VersionFile]:
        """Return every version that is or was published, by SHA-256."""
        with self.database.reading() as connection:
            hashes = connection.scalars(sa.select(VERSIONS.c.sha256)).all()
            return {sha256: self._file(connection, sha256) for sha256 in hashes}

    def records(self, *, previews: bool = False) -> Iterator[SessionRecord]:
        """Yield every session with its events, in order of assignment; previews only when asked for."""
        with self.database.reading() as connection:
            query = sa.select(SESSIONS).order_by(SESSIONS.c.started, SESSIONS.c.id)
            for row in connection.execute(query if previews else query.where(REAL)).all():
                yield SessionRecord(_session(row), self._events(connection, row.id))

    def _events(self, connection: sa.Connection, session: str, kinds: Sequence[str] = ()) -> tuple[Event, ...]:
        mine = sa.select(EVENTS).where(EVENTS.c.session == session).order_by(EVENTS.c.seq)
        mine = mine.where(EVENTS.c.kind.in_(kinds)) if kinds else mine
        # By position: a row's attribute `t` is SQLAlchemy's own.
        return tuple(
            Event(seq, visit, t, kind, step, screen, json.loads(value))
            for _, seq, visit, t, kind, step, screen, value in connection.execute(mine)
        )

    def _file(self, connection: sa.Connection, sha256: str) -> VersionFile:
        """A version file never changes and is needed at every request: read each once."""
        if sha256 not in self._parsed:
            name, content = connection.execute(
                sa.select(VERSIONS.c.name, VERSIONS.c.content).where(VERSIONS.c.sha256 == sha256)
            ).one()
            self._parsed[sha256] = parse_version(content, f"version {name} in the database")
        return self._parsed[sha256]

    def _now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")

    def _ago(self, time: timedelta) -> str:
        return (self._clock() - time).isoformat(timespec="milliseconds")


def _hashes(files: Sequence[VersionFile], settings: Mapping[str, Any]) -> dict[str, str]:
    """What participants meet: the hash of the texts with the procedure, of the materials in their versions, of the settings."""
    materials = [[file.name, *_materials(file)] for file in sorted(files, key=lambda file: file.name)]
    parts = {
        "texts": sorted({file.procedure_sha256 for file in files}),
        "materials": materials,
        "settings": settings,
    }
    return {name: hashlib.sha256(canonical(part).encode("utf-8")).hexdigest() for name, part in parts.items()}


def _materials(file: VersionFile) -> list[object]:
    content = json.loads(file.text)
    return [content["title"], content["paradigms"], content["version"]]


def _leaves(event: Event) -> bool:
    return event.kind == "interruption" and event.value["reason"] in ("blur", "hidden")


def _check(events: Sequence[Event], steps: Sequence[Placed]) -> set[int]:
    """Return the steps that are trials; raises `ValueError` for a step, a screen or an answer that the version does not have."""
    for event in events:
        if event.step is None:
            continue
        if event.step >= len(steps):
            raise ValueError(f"event {event.seq}: step {event.step}; expected one from 0 to {len(steps) - 1}")
        screens = steps[event.step].step.screens
        if event.screen is not None and event.screen >= len(screens):
            raise ValueError(f"event {event.seq}: screen {event.screen}; expected one from 0 to {len(screens) - 1}")
        if (
            event.kind == "outcome"
            and event.screen is not None
            and (wrong := fault(screens[event.screen], event.value))
        ):
            raise ValueError(f"event {event.seq}: {wrong}")
    return {placed.number for placed in steps if placed.position is not None}


def _seen(row: sa.Row, oldest: str) -> Seen:
    started = datetime.fromisoformat(row.started)
    until = datetime.fromisoformat(row.finished or row.seen)
    if row.withdrawn is not None:
        state = "withdrawn"
    elif row.finished is not None:
        state = "completed"
    else:
        state = "running" if row.seen > oldest else "dropped"
    return Seen(
        row.id,
        row.version,
        state,
        started,
        (until - started).total_seconds() / 60,
        row.order.count(",") + 1,
        row.trials_ended,
        row.interruptions,
        row.visits,
        row.late,
        row.excluded,
        row.source,
        row.revision,
    )


def _session(row: sa.Row) -> Session:
    return Session(
        row.id,
        row.participant,
        row.version,
        row.slot,
        tuple(json.loads(row.order)),
        row.version_sha256,
        row.procedure_sha256,
        row.started,
        row.finished,
        row.source,
        row.revision,
        row.late,
        row.excluded,
    )
