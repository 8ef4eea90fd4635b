"""`collect`: the same tables of data of our own, from a database or a folder, and of what other platforms gave to download."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath import study
from gardenpath.study.table_sets import TableSet

from .barring import barred_among, excluding, marked, noting_barred, read_barred
from .event_tables import Tables, check_versions, joined, parts_of
from .session_folders import read_files, read_records, read_sessions
from .sessions import Session, SessionRecord
from .versions import VersionFile

if TYPE_CHECKING:
    from .platforms.importing import ColumnMapping

SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where data are from and how they are read: the arguments of `collect`."""

    previews: bool = False
    platform: str | None = None
    mapping: "str | Path | ColumnMapping | None" = None
    materials: str | Path | None = None
    prolific: str | Path | Sequence[str | Path] | None = None
    key: str | Path | None = None
    keep_ids: bool = False
    barred: Sequence[str | Path] = ()

    def each(self, count: int) -> "list[Origin]":
        """Return that of each of several collections: they may have an export of Prolific each, or share one.

        >>> [one.prolific for one in Origin(prolific=["a.csv", "b.csv"]).each(2)]
        ['a.csv', 'b.csv']
        """
        if self.prolific is None or isinstance(self.prolific, str | Path):
            return [self] * count
        if len(self.prolific) not in (1, count):
            raise ValueError(
                f"{len(self.prolific)} exports of Prolific for {count} collections; expected one, or one for each"
            )
        exports = self.prolific if len(self.prolific) == count else [*self.prolific] * count
        return [replace(self, prolific=export) for export in exports]


def collect(
    data: str | Path | Sequence[str | Path],
    *,
    previews: bool = False,
    platform: str | None = None,
    mapping: "str | Path | ColumnMapping | None" = None,
    materials: str | Path | None = None,
    prolific: str | Path | Sequence[str | Path] | None = None,
    key: str | Path | None = None,
    keep_ids: bool = False,
    barred: Sequence[str | Path] = (),
) -> dict[str, pd.DataFrame]:
    """Return the tables items, conditions, words, readings, responses and sessions of collected data, and demographics
    where any were asked.

    `data` is the URL of a server's database, a SQLite file, or a folder of sessions. With `previews` the experimenter's own
    looks at the study are among them, their `source` is "preview"; analyses leave them out in any case.

    Of several collections the tables are one set (`joined_collections`): items that they share have to agree, participants are
    apart. They may have an export of Prolific each, in their order.

    With `platform` it is what that platform gave to download, a file or a folder of files (docs/import.md). `mapping` names
    columns, `materials` (study.toml, a folder of version files, or a file of items) says what was shown: without it there are no
    tables items, conditions and words. Participants' ids are hashed with the key in the file `key`, by default `participant.key`
    beside the data, unless `keep_ids`; the labels of a plain table are kept unless a `key` is given. `prolific` is Prolific's
    export of demographics, joined by these hashes; who has revoked consent is removed from every table.

    `barred` are the data of earlier studies, such as the norming of the items, each with its participant.key: the sessions of who
    took part in them are marked as not counting (`barring`).

    >>> import tempfile
    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> versions = experiment.version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = experiment.simulate(versions, f"{folder}/data", participants=2, seed=1)
    ...     list(collect(f"{folder}/data"))
    ['items', 'conditions', 'words', 'readings', 'responses', 'sessions']
    """
    origin = Origin(
        previews=previews,
        platform=platform,
        mapping=mapping,
        materials=materials,
        prolific=prolific,
        key=key,
        keep_ids=keep_ids,
        barred=barred,
    )
    return TableSet(joined(collect_parts(data, origin)))


def collect_parts(data: str | Path | Sequence[str | Path], origin: Origin | None = None) -> Iterator[Tables]:
    """Yield the tables of `collect` in parts, whose rows follow each other; our own data are never in memory as a whole."""
    from .joined_collections import joined_collections

    several = [data] if isinstance(data, str | Path) else data
    origins = (origin or Origin()).each(len(several))
    if len(several) == 1:
        yield from _parts(several[0], origins[0])
    else:  # whole: their tables may have other columns of factors
        tables = [joined(_parts(one, how)) for one, how in zip(several, origins, strict=True)]
        yield joined_collections(tables, [str(one) for one in several])


def _parts(data: str | Path, origin: Origin) -> Iterator[Tables]:
    """Yield the tables of one collection in parts."""
    from .platforms import collecting
    from .platforms import prolific as demographics

    platform, prolific = origin.platform, origin.prolific
    name = collecting.namer(data, platform, origin.key, origin.keep_ids) if platform or prolific else str
    earlier = read_barred(origin.barred)
    who: dict[str, str] = {}
    if platform and earlier:
        name = noting_barred(name, earlier, who)
    parts: Iterable[Tables]
    if platform is None:
        own = recorded(data, origin.previews)
        people = {session.participant for session in own.sessions}
        records = excluding(own.records(), barred_among(data, people, earlier))
        parts = parts_of(records, own.files, where=str(data))
    else:
        tables = collecting.collect_from(data, platform, mapping=origin.mapping, materials=origin.materials, name=name)
        # A table of words' means has nobody in it.
        people, parts = set(tables["sessions"]["participant"]) if "sessions" in tables else set(), [tables]
    if isinstance(prolific, str | Path):
        parts = demographics.join(parts, people, demographics.read(prolific), name)
    yield from (marked(tables, who) for tables in parts)


@dataclass(frozen=True)
class Recorded:
    """Sessions of our own: the versions that they ran, by SHA-256, and their records one after the other."""

    files: Mapping[str, VersionFile]
    sessions: Sequence[Session]
    records: Callable[[], Iterator[SessionRecord]]


def recorded(data: str | Path, previews: bool) -> Recorded:
    """Return the sessions of a database or a folder; raises `DataError` where there are none, or a version is missing."""
    path = Path(data)
    database = path / "study.sqlite" if path.is_dir() else path
    if "://" in str(data) or database.is_file():
        if database.is_file():
            _check_database(database)
        study.errors.require("sqlalchemy", "online")
        from .server.database import sqlite_url
        from .server.store import Store

        store = Store(str(data) if "://" in str(data) else sqlite_url(database), create=False)
        made = Recorded(store.files(), store.sessions(previews=previews), partial(store.records, previews=previews))
    elif path.is_dir():
        sessions = [session for session in read_sessions(path) if previews or session.source != "preview"]
        made = Recorded(read_files(path), sessions, partial(read_records, path, sessions))
    else:
        raise FileNotFoundError(f"{data}: there is no such file or folder; expected a database or a folder of sessions")
    if not made.sessions:
        looks = "" if previews else " (previews count with --previews)"
        raise study.DataError(f"{data}: holds no sessions; expected at least one{looks}")
    check_versions(str(data), made.files, made.sessions)
    return made


def _check_database(path: Path) -> None:
    """Raise `DataError` for a file that is no SQLite database, saying which platform it may be from."""
    from .platforms.importing import Source, looks_like

    source = Source.of(path)
    if source.data and not source.data.startswith(SQLITE):
        raise study.DataError(f"{path}: not a database of gardenpath; it {looks_like(source)}")
