"""The server's database: its tables, and transactions that hold on SQLite (WAL) and on PostgreSQL alike."""

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from gardenpath import study

SCHEMA_VERSION = 8
OLDEST_SCHEMA = 6  # from which databases are upgraded (migrations.py)
SETUP_LOCK = 76_141_517  # a lock's number, as good as any
ROWS_PER_PART = 5_000  # rows of a table that are copied at once
BUSY_TIMEOUT_MS = 10_000  # ms that a writer of another process is waited for
Row = sa.Row[Any]
metadata = sa.MetaData()
META = sa.Table(
    "meta",
    metadata,
    sa.Column("schema", sa.Integer, nullable=False),
    sa.Column("closed", sa.Boolean, nullable=False, default=False),
    sa.Column("study", sa.String),  # its id (study_identity.py)
    sa.Column("backed_up", sa.String),  # when the last backup was made
)
TRIAL_LISTS = sa.Table(
    "lists",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
)
# What participants meet, by hash: frozen by the first real session, afterwards every change has a number of its own.
REVISIONS = sa.Table(
    "revisions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("since", sa.String, nullable=False),
    sa.Column("hashes", sa.Text, nullable=False),
)
SESSIONS = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("token", sa.String, nullable=False),
    sa.Column("voided", sa.Text, nullable=False, default=""),
    sa.Column("resume", sa.String, nullable=False, index=True),
    sa.Column("participant", sa.String, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("platform", sa.String, nullable=False),
    sa.Column("list_name", sa.String, nullable=False),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("list_sha256", sa.ForeignKey("lists.sha256"), nullable=False),
    sa.Column("procedure_sha256", sa.String(64), nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("started", sa.String, nullable=False),
    sa.Column("seen", sa.String, nullable=False),
    sa.Column("finished", sa.String),
    sa.Column("withdrawn", sa.String),
    sa.Column("lease_expired", sa.Boolean, nullable=False, default=False),
    sa.Column("exclusion_reason", sa.Text),
    sa.Column("source", sa.String, nullable=False),
    sa.Column("visits", sa.Integer, nullable=False),
    sa.Column("tab", sa.String),
    sa.Column("tab_seen", sa.String),
    sa.Column("trials_ended", sa.Integer, nullable=False, default=0),
    sa.Column("interruptions", sa.Integer, nullable=False, default=0),
    sa.Column("n_rejected", sa.Integer, nullable=False, default=0),
    sa.UniqueConstraint("participant", "ordinal"),
)
PREVIEW_SOURCE = "preview"
IS_REAL = SESSIONS.c.source != PREVIEW_SOURCE
# Two sessions never share a place; previews take none.
sa.Index("one_session_a_slot", SESSIONS.c.list_name, SESSIONS.c.slot, unique=True, sqlite_where=IS_REAL, postgresql_where=IS_REAL)
EVENTS = sa.Table(
    "events",
    metadata,
    sa.Column("session", sa.ForeignKey("sessions.id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("visit", sa.Integer, nullable=False),
    sa.Column("t", sa.Double, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("step", sa.Integer),
    sa.Column("screen", sa.Integer),
    sa.Column("value", sa.Text, nullable=False),
)
# What came with an event's number and is none that its session can contain, as it came: kept, and never data.
REJECTED_EVENTS = sa.Table(
    "rejected_events",
    metadata,
    sa.Column("session", sa.ForeignKey("sessions.id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("reason", sa.String, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
)
# The one table that holds platforms' ids; nothing else depends on it, so it can be deleted after payment.
PAYMENTS = sa.Table(
    "payments",
    metadata,
    sa.Column("session", sa.String, primary_key=True),
    sa.Column("platform", sa.String, nullable=False),
    sa.Column("id", sa.String, nullable=False),
    sa.Column("submission", sa.String),
    sa.Column("code", sa.String),
    sa.Column("status", sa.String, nullable=False),
)
# Keyed hashes of people who left, or were screened out, and may not come again.
DEPARTED_PARTICIPANTS = sa.Table(
    "departed", metadata, sa.Column("participant", sa.String, primary_key=True), sa.Column("reason", sa.String, nullable=False)
)
# What those who were let in answered to the screener: so quotas are filled.
SCREENINGS = sa.Table(
    "screenings",
    metadata,
    sa.Column("session", sa.ForeignKey("sessions.id"), primary_key=True),
    sa.Column("field", sa.String, primary_key=True),
    sa.Column("answer", sa.String, nullable=False),
)
# How many left each list, and why: all that stays of who refused.
DEPARTURES = sa.Table(
    "departures",
    metadata,
    sa.Column("list_name", sa.String, primary_key=True),
    sa.Column("reason", sa.String, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
)


OUTDATED = "the database was upgraded by a newer gardenpath; this process writes nothing any more: stop it"


class OutdatedProcess(Exception):
    """The database was upgraded by a newer gardenpath while this process served it: nothing may be written any more."""


class Database:
    """An opened database of a study; raises `DataError` for one that is none of ours or has another schema.

    One of an earlier schema is upgraded where `migrations` has a step from each schema to the next.
    """

    def __init__(
        self, url: str, *, create: bool = True, migrations: Mapping[int, Callable[[sa.Connection], None]] | None = None
    ) -> None:
        self.url, self._lock = url, threading.Lock()
        self._migrations = migrations or {}
        self._deletion_transaction = 0  # the transaction after the last deletion, on PostgreSQL
        try:
            self.engine = connect_engine(url)
            if self.engine.dialect.name == "sqlite":
                _prepare_sqlite(self.engine)
                _make_private(url, self.engine.url.database, create)
            self._create_tables(_mask_password(url))
        except sa.exc.SQLAlchemyError as error:
            raise _describe_strange_database(url, error) from None

    def _create_tables(self, url: str) -> None:
        with self._begin_writing() as connection:
            if self.engine.dialect.name == "postgresql":  # of several processes that begin at once one makes the tables
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SETUP_LOCK})")
            exists = sa.inspect(connection).has_table(META.name)
            schema = connection.scalar(sa.select(META.c.schema)) if exists else None
            if schema is None:
                metadata.create_all(connection)
                connection.execute(META.insert().values(schema=SCHEMA_VERSION))
                return
            while schema in self._migrations:
                self._migrations[schema](connection)
                schema += 1
                connection.execute(META.update().values(schema=schema))
            if schema != SCHEMA_VERSION:
                raise study.DataError(f"{url}: {_describe_schema(schema)}")

    @property
    def shown_url(self) -> str:
        """The URL without a password."""
        return _mask_password(self.url)

    def measure_free_disk(self) -> int | None:
        """Return the MB that are free on the disk of a SQLite file; PostgreSQL's may be another machine's."""
        if self.engine.dialect.name != "sqlite":
            return None
        return shutil.disk_usage(Path(self.engine.url.database or ".").parent).free // 1_000_000

    @contextmanager
    def begin_exclusive(self) -> Iterator[sa.Connection]:
        """A transaction beside which nobody is assigned a place: SQLite has one writer, PostgreSQL locks the sessions."""
        with self.begin_writing() as connection:
            if self.engine.dialect.name == "postgresql":
                connection.exec_driver_sql("LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE")
            yield connection

    @contextmanager
    def begin_writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes; on SQLite the writers of this process wait in line instead of polling the file.

        Raises `OutdatedProcess` where a newer process has upgraded the database meanwhile.
        """
        with self._begin_writing() as connection:
            _require_schema(connection)
            yield connection

    @contextmanager
    def _begin_writing(self) -> Iterator[sa.Connection]:
        if self.engine.dialect.name != "sqlite":
            with self.engine.begin() as connection:
                yield connection
            return
        with self._lock, self.engine.connect().execution_options(writes=True) as connection, connection.begin():
            yield connection

    @contextmanager
    def begin_reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads one state of the data; raises `OutdatedProcess` as `begin_writing` does."""
        options = {"isolation_level": "REPEATABLE READ"} if self.engine.dialect.name == "postgresql" else {}
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            _require_schema(connection)
            yield connection

    def scrub_deleted_rows(self, is_retry: bool = False) -> bool:
        """Leave no trace of deleted rows in the database's files; return whether none is left, and never wait for who reads.

        `is_retry`: nothing was deleted since the call before, which did not come to an end.
        """
        if self.engine.dialect.name == "sqlite":
            return self._empty_log()
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if not (is_retry and self._deletion_transaction):
                self._deletion_transaction = int(connection.exec_driver_sql("SELECT txid_current()").scalar_one()) % 2**32
            # A snapshot from before keeps what it sees.
            older = connection.exec_driver_sql(
                "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                f"AND age(backend_xmin) > age('{self._deletion_transaction}'::xid)"
            ).scalar_one()
            for table in (EVENTS, REJECTED_EVENTS, SCREENINGS, SESSIONS, PAYMENTS):
                connection.exec_driver_sql(f"VACUUM {table.name}")
        return not older

    def _empty_log(self) -> bool:
        """Bring SQLite's write-ahead log into its file, where deleted rows are overwritten, and empty it."""
        with self._lock, self.engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")  # a checkpoint cannot run within a transaction
            connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                busy, *_ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        return not busy


def _require_schema(connection: sa.Connection) -> None:
    if connection.scalar(sa.select(META.c.schema)) not in (SCHEMA_VERSION, None):  # a restored one has no row yet
        raise OutdatedProcess(OUTDATED)


def connect_engine(url: str) -> sa.Engine:
    """Return the engine of a URL; errors are logged, ids are not. Raises `MissingExtra` without its driver."""
    try:
        return sa.create_engine(_parse_url(url), hide_parameters=True)
    except ModuleNotFoundError as error:
        extra = " 'gardenpath[postgres]'" if error.name == "psycopg" else f" {error.name}"
        raise study.MissingExtra(f"{_mask_password(url)}: its driver {error.name} is not installed: pip install{extra}") from None
    except sa.exc.SQLAlchemyError as error:
        raise _describe_strange_database(url, error) from None


def read_schema(engine: sa.Engine) -> int | None:
    """Return the schema of a database, None where it is empty or, of SQLite, not there; raises `DataError` for a strange one."""
    if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
        return None
    try:
        with engine.connect() as connection:
            return connection.scalar(sa.select(META.c.schema)) if sa.inspect(connection).has_table(META.name) else None
    except sa.exc.SQLAlchemyError as error:
        raise _describe_strange_database(str(engine.url), error) from None


def _describe_strange_database(url: str, error: Exception) -> study.DataError:
    reason = str(getattr(error, "orig", error)).partition("\n")[0]
    return study.DataError(f"{_mask_password(url)}: not a database of gardenpath: {reason}")


def _describe_schema(schema: int) -> str:
    """Return why a database of another schema is not opened, and what to do."""
    if schema > SCHEMA_VERSION:
        return f"the database has schema {schema}, of a newer gardenpath than this, which knows {SCHEMA_VERSION}; update this one"
    if schema < OLDEST_SCHEMA:
        return (
            f"the database has schema {schema}, expected {OLDEST_SCHEMA} or more; collect its data with the gardenpath that made "
            "it, and serve from a new database"
        )
    return f"the database has schema {schema}, expected {SCHEMA_VERSION};  gardenpath serve  upgrades it, after a backup"


def is_disk_full(error: sa.exc.SQLAlchemyError) -> bool:
    """Whether a statement failed since the disk is full."""
    cause = getattr(error, "orig", None)
    # PostgreSQL's code for a full disk; SQLite's.
    return getattr(cause, "sqlstate", None) == "53100" or getattr(cause, "sqlite_errorname", None) == "SQLITE_FULL"


def build_sqlite_url(path: str | Path) -> str:
    """Return the URL of a SQLite file, whose folder is made."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{path}"


def _make_private(url: str, path: str | None, create: bool) -> None:
    """Let nobody else on the machine read platforms' ids: SQLite gives its other files the mode of the first."""
    if create and path and not Path(path).exists():
        Path(path).touch(mode=0o600)
    elif not create and not Path(path or "").is_file():
        raise FileNotFoundError(f"{url}: there is no such file; expected a study's database")


def format_canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no spaces: equal values give equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _parse_url(url: str) -> sa.URL:
    """Read a URL; PostgreSQL is reached by psycopg unless another driver is named."""
    parsed = sa.make_url(url)
    return parsed.set(drivername="postgresql+psycopg") if parsed.drivername in ("postgresql", "postgres") else parsed


def _mask_password(url: str) -> str:
    return re.sub(r"(://[^/@]*?):[^/@]*@", r"\1:***@", url)


def _prepare_sqlite(engine: sa.Engine) -> None:
    """WAL, every commit on disk, and transactions that begin when we say, for writing (as SQLAlchemy documents)."""

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: Any, record: object) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "secure_delete=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
