"""Who has taken part in an earlier study, such as the norming of its items, and may not take part in this one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from gardenpath import study

from .list_coverage import judged_in
from .platforms.sources import KEY
from .pseudonyms import hash_participant, participant_key
from .sessions import SessionRecord

SESSIONS = "sessions"
REASON = "took part in {}"


@dataclass(frozen=True)
class Barred:
    """The participants of an earlier study, as its data name them, and the key that hashed their ids where there is one.

    >>> key = b"k" * 32
    >>> earlier = Barred("norming/data", frozenset([hash_participant("5f1", key)]), key)
    >>> earlier.holds("5f1"), earlier.holds("5f2")
    (True, False)
    """

    source: str
    people: frozenset[str]
    key: bytes | None

    def holds(self, id: str) -> bool:
        """Whether somebody of this id, or this keyed hash, has taken part."""
        return id in self.people or (self.key is not None and hash_participant(id, self.key) in self.people)


def read_barred(sources: Iterable[str | Path], folder: str | Path = ".") -> tuple[Barred, ...]:
    """Return the participants of earlier studies, whose data these are: a data folder, a SQLite file, or a folder of tables.

    Everybody counts who has begun. The key is participant.key in the folder, or in data/ beside a folder of tables. Raises
    `DataError` where there are no sessions.
    """
    from .collect_data import recorded

    found = []
    for source in sources:
        path = Path(folder, source)
        place = path if path.is_dir() else path.parent
        if study.table_files.table_file(path, SESSIONS).is_file() and path.is_dir():
            people = frozenset(study.read(path, SESSIONS)["participant"])
        else:
            people = frozenset(session.participant for session in recorded(path, previews=False).sessions)
        keys = [key for key in (place / KEY, place.parent / "data" / KEY) if key.exists()]
        key = participant_key(keys[0]) if keys else None
        found.append(Barred(str(source), people, key))
    return tuple(found)


def barred_among(data: str | Path, participants: Iterable[str], sources: Iterable[Barred]) -> dict[str, str]:
    """Return those participants of our own data who are barred, each with the earlier data that they are in.

    Ids are hashed with a key of each study: people are known again where both studies have the same key, or while the database
    still has the ids of the platform. Raises `DataError` where neither holds, since nobody could be told.
    """
    participants, sources = list(participants), list(sources)
    path = Path(data)
    place = path if path.is_dir() else path.parent
    own = participant_key(place / KEY) if "://" not in str(data) and (place / KEY).exists() else None
    ids = {hash_participant(id, own): id for id in _raw_ids(data)} if own is not None else {}
    if hashed := [one for one in sources if own is not None and one.key != own and not ids]:
        raise study.DataError(
            f"{data} and {hashed[0].source} have different keys of participants' ids, and the ids themselves are not there: "
            "who took part in both cannot be told; expected online.barred in study.toml, by which the server asks"
        )
    return {
        who: one.source
        for who in participants
        for one in sources
        if one.holds(who) or (who in ids and one.holds(ids[who]))
    }


def noting_barred(name: Callable[[str], str], sources: Iterable[Barred], who: dict[str, str]) -> Callable[[str], str]:
    """Return `name`, which makes of an id what is written, and which notes in `who` whom it wrote that is barred."""
    earlier = tuple(sources)

    def noting(id: str) -> str:
        written = name(id)
        if source := next((one.source for one in earlier if one.holds(id)), None):
            who[written] = source
        return written

    return noting


def excluding(records: Iterable[SessionRecord], who: Mapping[str, str]) -> Iterator[SessionRecord]:
    """Yield the records, those of these participants with the reason why they do not count."""
    for record in records:
        session = record.session
        if source := who.get(session.participant):
            record = replace(record, session=replace(session, excluded=session.excluded or REASON.format(source)))
        yield record


def marked(tables: dict[str, pd.DataFrame], who: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """Return tables whose sessions of these participants are marked as not counting, and counted so."""
    if not who or SESSIONS not in tables:
        return tables
    sessions = tables[SESSIONS]
    reason = sessions["participant"].map(who).map(REASON.format, na_action="ignore")
    sessions = sessions.assign(excluded=sessions["excluded"].where(sessions["excluded"].notna(), reason))
    tables = {**tables, SESSIONS: study.check(sessions, SESSIONS)}
    if "coverage" in tables:
        judged = judged_in(tables["responses"], sessions)
        places = tables["coverage"][["experiment", "item", "condition"]].itertuples(index=False, name=None)
        tables["coverage"] = tables["coverage"].assign(judgments=[judged[place] for place in places])
    return tables


def _raw_ids(data: str | Path) -> list[str]:
    """Return the platforms' ids that a database still has."""
    path = Path(data)
    database = path / "study.sqlite" if path.is_dir() else path
    if not database.is_file():
        return []
    from .server.database import sqlite_url
    from .server.store import Store

    return [row["id"] for row in Store(sqlite_url(database), create=False).payments()]
