"""The server's database: versions, sessions and events, on SQLite (WAL) or PostgreSQL, by SQLAlchemy Core."""

import hmac
import json
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from gardenpath import study

from .sessions import Event, Record, Session, open_session
from .versions import VersionFile, parse_version

log = logging.getLogger("gardenpath")

SCHEMA = 1
metadata = sa.MetaData()
META = sa.Table("meta", metadata, sa.Column("schema", sa.Integer, nullable=False))
VERSIONS = sa.Table(
    "versions",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
)
SESSIONS = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("token", sa.String, nullable=False),
    sa.Column("participant", sa.String, nullable=False, unique=True),
    sa.Column("version", sa.String, nullable=False),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("version_sha256", sa.ForeignKey("versions.sha256"), nullable=False),
    sa.Column("procedure_sha256", sa.String(64), nullable=False),
    sa.Column("started", sa.String, nullable=False),
    sa.Column("seen", sa.String, nullable=False),
    sa.Column("finished", sa.String),
    sa.Column("source", sa.String, nullable=False),
    sa.Column("visits", sa.Integer, nullable=False),
    sa.UniqueConstraint("version", "slot"),
)
EVENTS = sa.Table(
    "events",
    metadata,
    sa.Column("session", sa.ForeignKey("sessions.id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("visit", sa.Integer, nullable=False),
    sa.Column("t", sa.Double, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("trial", sa.Integer),
    sa.Column("value", sa.Text, nullable=False),
)


class Conflict(Exception):
    """The request contradicts what is stored; the message says how."""


@dataclass(frozen=True)
class Opened:
    """A session as handed to a client: new or resumed, with its token, visit and what is stored already."""

    session: Session
    file: VersionFile
    token: str
    visit: int
    next_seq: int
    done: tuple[int, ...]


class Store:
    """A study's data in a database; every method is one transaction."""

    def __init__(self, url: str, *, lease: timedelta = timedelta(minutes=60), create: bool = True) -> None:
        self.lease = lease
        try:
            self.engine = sa.create_engine(url)
            if self.engine.dialect.name == "sqlite":
                _prepare_sqlite(self.engine)
                if not create and not Path(self.engine.url.database or "").is_file():
                    raise FileNotFoundError(f"{url}: there is no such file; expected a study's database")
            self._open(url)
        except ModuleNotFoundError as error:
            raise study.MissingExtra(
                f"{url}: its driver {error.name} is not installed: pip install {error.name}"
            ) from None
        except sa.exc.SQLAlchemyError as error:
            reason = str(getattr(error, "orig", error)).partition("\n")[0]
            raise study.DataError(f"{url}: not a database of gardenpath: {reason}") from None

    def _open(self, url: str) -> None:
        metadata.create_all(self.engine)
        with self.engine.begin() as connection:
            found = connection.scalar(sa.select(META.c.schema))
            if found is None:
                connection.execute(META.insert().values(schema=SCHEMA))
            elif found != SCHEMA:
                raise study.DataError(
                    f"{url}: the database has schema {found}, expected {SCHEMA}; collect its data with the gardenpath "
                    "that made it, and serve from a new database"
                )

    def publish(self, files: Sequence[VersionFile]) -> None:
        """Make these versions the ones that new sessions are assigned to; earlier ones stay for their sessions."""
        with self.engine.begin() as connection:
            there = set(connection.scalars(sa.select(VERSIONS.c.sha256)))
            begun = connection.scalar(sa.select(sa.func.count()).select_from(SESSIONS)) or 0
            if begun and not {file.sha256 for file in files} <= there:
                log.warning(
                    "the study has changed since its first sessions: those %d keep the versions they ran, new ones get the new "
                    "versions, and the tables will hold both; serve from another folder (-o) to keep them apart",
                    begun,
                )
            connection.execute(VERSIONS.update().values(active=False))
            for file in files:
                _parsed(file.text, file.name).version.drawn(
                    0
                )  # the first order costs a count; no arrival should wait for it
            for file in files:
                if file.sha256 in there:
                    connection.execute(VERSIONS.update().where(VERSIONS.c.sha256 == file.sha256).values(active=True))
                else:
                    row = {"sha256": file.sha256, "name": file.name, "active": True, "content": file.text}
                    connection.execute(VERSIONS.insert().values(row))

    def open(self, participant: str | None, source: str) -> Opened:
        """Return a new session in the version with the fewest completed and live ones, or the participant's unfinished one.

        Raises `Conflict` when the participant has finished already.
        """
        now = _now()
        with self._exclusive() as connection:
            if participant is not None:
                row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.participant == participant)).first()
                if row is not None:
                    return self._resume(connection, row, now)
            file = self._least_filled(connection, now)
            slot = connection.scalar(sa.select(sa.func.max(SESSIONS.c.slot)).where(SESSIONS.c.version == file.name))
            session = open_session(
                file,
                0 if slot is None else slot + 1,
                id=f"s-{secrets.token_hex(8)}",
                participant=participant or f"p-{secrets.token_hex(8)}",
                started=now,
                source=source,
            )
            token = secrets.token_urlsafe(24)
            connection.execute(
                SESSIONS.insert().values(
                    {
                        "id": session.id,
                        "token": token,
                        "participant": session.participant,
                        "version": session.version,
                        "slot": session.slot,
                        "order": json.dumps(session.order),
                        "version_sha256": session.version_sha256,
                        "procedure_sha256": session.procedure_sha256,
                        "started": now,
                        "seen": now,
                        "source": source,
                        "visits": 1,
                    }
                )
            )
            return Opened(session, file, token, 0, 0, ())

    def _resume(self, connection: sa.Connection, row: sa.Row, now: str) -> Opened:
        if row.finished is not None:
            raise Conflict("this participant has finished the study already")
        mine = EVENTS.c.session == row.id
        last = connection.scalar(sa.select(sa.func.max(EVENTS.c.seq)).where(mine))
        ended = connection.scalars(sa.select(EVENTS.c.trial).where(mine, EVENTS.c.kind == "trial_end"))
        done = tuple(trial for trial in ended if trial is not None)
        connection.execute(SESSIONS.update().where(SESSIONS.c.id == row.id).values(visits=row.visits + 1, seen=now))
        file = self._file(connection, row.version_sha256)
        return Opened(_session(row), file, row.token, row.visits, 0 if last is None else last + 1, done)

    def _least_filled(self, connection: sa.Connection, now: str) -> VersionFile:
        active = connection.execute(
            sa.select(VERSIONS.c.name, VERSIONS.c.sha256).where(VERSIONS.c.active).order_by(VERSIONS.c.name)
        ).all()
        if not active:
            raise Conflict("no versions are published")
        oldest = (datetime.fromisoformat(now) - self.lease).isoformat(timespec="milliseconds")
        counted = sa.select(SESSIONS.c.version, sa.func.count()).where(
            SESSIONS.c.finished.is_not(None) | (SESSIONS.c.seen > oldest)
        )
        filled: dict[str, int] = dict(connection.execute(counted.group_by(SESSIONS.c.version)).all())
        _, sha256 = min(active, key=lambda version: filled.get(version[0], 0))
        return self._file(connection, sha256)

    def _file(self, connection: sa.Connection, sha256: str) -> VersionFile:
        name, content = connection.execute(
            sa.select(VERSIONS.c.name, VERSIONS.c.content).where(VERSIONS.c.sha256 == sha256)
        ).one()
        return _parsed(content, name)

    def append(self, session: str, token: str, events: Sequence[Event]) -> int:
        """Store events and return how many the session has; one that is stored already must be the same.

        Raises `KeyError` for an unknown session, `PermissionError` for a wrong token, `Conflict` for a different event.
        """
        with self._exclusive() as connection:
            row = self._authorised(connection, session, token)
            mine = EVENTS.c.session == session
            _check_ratings(events, self._file(connection, row.version_sha256))
            there = {
                event.seq: event._asdict()
                for event in connection.execute(
                    sa.select(EVENTS).where(mine, EVENTS.c.seq.in_([e.seq for e in events]))
                )
            }
            fresh: dict[int, dict[str, object]] = {}
            for event in events:
                values = {"session": session, **vars(event), "value": _canonical(event.value)}
                stored = there.get(event.seq, fresh.get(event.seq))
                if stored is not None and stored != values:
                    raise Conflict(f"event {event.seq} is stored already and differs; events are never changed")
                fresh |= {} if event.seq in there else {event.seq: values}
            if fresh and row.finished is not None:
                raise Conflict("the session is complete; it takes no further events")
            if fresh:
                connection.execute(EVENTS.insert(), list(fresh.values()))
            connection.execute(SESSIONS.update().where(SESSIONS.c.id == session).values(seen=_now()))
            return connection.scalar(sa.select(sa.func.count()).select_from(EVENTS).where(mine)) or 0

    def complete(self, session: str, token: str, events: int) -> list[int]:
        """Mark the session finished if events 0 to `events` - 1 are all stored; return the missing numbers."""
        with self._exclusive() as connection:
            row = self._authorised(connection, session, token)
            mine = EVENTS.c.session == session
            there = set(connection.scalars(sa.select(EVENTS.c.seq).where(mine)))
            missing = [seq for seq in range(events) if seq not in there]
            if not missing:
                ended = set(connection.scalars(sa.select(EVENTS.c.trial).where(mine, EVENTS.c.kind == "trial_end")))
                unread = sorted(set(range(len(json.loads(row.order)))) - ended)
                if unread:
                    raise Conflict(
                        f"{len(unread)} trials have not ended, first trial {unread[0]}; the code comes at the end"
                    )
                unfinished = (SESSIONS.c.id == session) & SESSIONS.c.finished.is_(None)
                connection.execute(SESSIONS.update().where(unfinished).values(finished=_now()))
            return missing

    def _authorised(self, connection: sa.Connection, session: str, token: str) -> sa.Row:
        row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.id == session)).first()
        if row is None:
            raise KeyError(f"session {session!r} is not known")
        if not hmac.compare_digest(row.token.encode(), token.encode()):
            raise PermissionError("the token does not belong to this session")
        return row

    def counts(self) -> tuple[int, int]:
        """Return how many sessions have begun, and how many of them are finished."""
        with self.engine.connect() as connection:
            row = connection.execute(sa.select(sa.func.count(), sa.func.count(SESSIONS.c.finished))).one()
        return int(row[0]), int(row[1])

    def files(self) -> dict[str, VersionFile]:
        """Return every version that a session ran, by SHA-256."""
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(VERSIONS.c.sha256, VERSIONS.c.name, VERSIONS.c.content)).all()
        return {sha256: _parsed(content, name) for sha256, name, content in rows}

    def records(self) -> Iterator[Record]:
        """Yield every session with its events, in order of assignment."""
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(SESSIONS).order_by(SESSIONS.c.started, SESSIONS.c.id)).all()
            for row in rows:
                mine = sa.select(EVENTS).where(EVENTS.c.session == row.id).order_by(EVENTS.c.seq)
                # By position: a row's attribute `t` is SQLAlchemy's own.
                events = tuple(
                    Event(seq, visit, t, kind, trial, json.loads(value))
                    for _, seq, visit, t, kind, trial, value in connection.execute(mine)
                )
                yield Record(_session(row), events)

    @contextmanager
    def _exclusive(self) -> Iterator[sa.Connection]:
        """A transaction that no other writer runs beside: SQLite begins immediate, PostgreSQL locks the sessions."""
        with self.engine.connect().execution_options(writes=True) as connection, connection.begin():
            if self.engine.dialect.name == "postgresql":
                connection.exec_driver_sql("LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE")
            yield connection


def _check_ratings(events: Sequence[Event], file: VersionFile) -> None:
    """Raise `ValueError` for a rating that the scale does not have."""
    points = file.procedure.rating.points
    for event in events:
        response = event.value.get("response")
        if event.kind == "response" and event.value["task"] == "rating" and response not in range(1, points + 1):
            raise ValueError(f"event {event.seq}: a rating of {response!r}; expected a whole number from 1 to {points}")


def sqlite_url(path: str | Path) -> str:
    """Return the URL of a SQLite file, whose folder is made."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{path}"


def _prepare_sqlite(engine: sa.Engine) -> None:
    """WAL, every commit on disk, and transactions that begin when we say, for writing (as SQLAlchemy documents)."""

    @sa.event.listens_for(engine, "connect")
    def _connect(connection, record):  # type: ignore[no-untyped-def]
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection):  # type: ignore[no-untyped-def]
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@cache
def _parsed(content: str, name: str) -> VersionFile:
    """A version file never changes and is read at every arrival: parse each text once."""
    return parse_version(content, f"version {name} in the database")


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
    )
