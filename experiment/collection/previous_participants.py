"""Who has taken part in an earlier study, such as the norming of its items, and may not take part in this one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from gardenpath import study

from ..platforms.sources import KEY_FILENAME
from ..sessions.judgment_counts import count_judgments
from ..sessions.pseudonyms import hash_participant, load_participant_key
from ..sessions.sessions import RecordedSession
from .recorded_sessions import open_session_source

SESSIONS_TABLE = "sessions"
EXCLUSION_REASON = "took part in {}"


@dataclass(frozen=True)
class PreviousParticipants:
    """The participants of an earlier study, as its data name them, and the key that hashed their ids where there is one.

    >>> key = b"k" * 32
    >>> earlier = PreviousParticipants("norming/data", frozenset([hash_participant("5f1", key)]), key)
    >>> earlier.has_participant("5f1"), earlier.has_participant("5f2")
    (True, False)
    """

    source: str
    participants: frozenset[str]
    key: bytes | None

    def has_participant(self, id: str) -> bool:
        """Whether somebody of this id, or this keyed hash, has taken part."""
        return id in self.participants or (self.key is not None and hash_participant(id, self.key) in self.participants)


def read_previous_participants(sources: Iterable[str | Path], folder: str | Path = ".") -> tuple[PreviousParticipants, ...]:
    """Return the participants of earlier studies, whose data these are: a data folder, a SQLite file, or a folder of tables.

    Everybody counts who has begun. The key is participant.key in the folder, or in data/ beside a folder of tables. Raises
    `DataError` where there are no sessions.
    """
    previous = []
    for source in sources:
        path = Path(folder, source)
        data_folder = path if path.is_dir() else path.parent
        if study.table_files.find_table_file(path, SESSIONS_TABLE).is_file() and path.is_dir():
            participants = frozenset(study.read(path, SESSIONS_TABLE)["participant"])
        else:
            participants = frozenset(session.participant for session in open_session_source(path, previews=False).sessions)
        keys = [key for key in (data_folder / KEY_FILENAME, data_folder.parent / "data" / KEY_FILENAME) if key.exists()]
        key = load_participant_key(keys[0]) if keys else None
        previous.append(PreviousParticipants(str(source), participants, key))
    return tuple(previous)


def find_previous_participants(
    data: str | Path, participants: Iterable[str], sources: Iterable[PreviousParticipants]
) -> dict[str, str]:
    """Return those participants of our own data who are excluded, each with the earlier data that they are in.

    Ids are hashed with a key of each study: people are known again where both studies have the same key, or while the database
    still has the ids of the platform. Raises `DataError` where neither holds, since nobody could be told.
    """
    participants, sources = list(participants), list(sources)
    path = Path(data)
    data_folder = path if path.is_dir() else path.parent
    own_key = (
        load_participant_key(data_folder / KEY_FILENAME)
        if "://" not in str(data) and (data_folder / KEY_FILENAME).exists()
        else None
    )
    ids = {hash_participant(id, own_key): id for id in _read_platform_ids(data)} if own_key is not None else {}
    if incomparable := [one for one in sources if own_key is not None and one.key != own_key and not ids]:
        raise study.DataError(
            f"{data} and {incomparable[0].source} have different keys of participants' ids, and the ids themselves are not there: "
            "who took part in both cannot be told; expected online.excluded_participants in study.toml, by which the server asks"
        )
    return {
        participant: one.source
        for participant in participants
        for one in sources
        if one.has_participant(participant) or (participant in ids and one.has_participant(ids[participant]))
    }


def collect_previous_participants(
    pseudonymise: Callable[[str], str], sources: Iterable[PreviousParticipants], source_by_participant: dict[str, str]
) -> Callable[[str], str]:
    """Return `pseudonymise`, which makes of an id what is written, and which notes in `source_by_participant` whom it wrote that
    is excluded."""
    previous = tuple(sources)

    def pseudonymise_and_collect(id: str) -> str:
        pseudonym = pseudonymise(id)
        if source := next((one.source for one in previous if one.has_participant(id)), None):
            source_by_participant[pseudonym] = source
        return pseudonym

    return pseudonymise_and_collect


def mark_excluded_sessions(
    recorded_sessions: Iterable[RecordedSession], source_by_participant: Mapping[str, str]
) -> Iterator[RecordedSession]:
    """Yield the records, those of these participants with the reason why they do not count."""
    for recorded_session in recorded_sessions:
        session = recorded_session.session
        if source := source_by_participant.get(session.participant):
            recorded_session = replace(
                recorded_session,
                session=replace(session, exclusion_reason=session.exclusion_reason or EXCLUSION_REASON.format(source)),
            )
        yield recorded_session


def mark_excluded_in_tables(tables: dict[str, pd.DataFrame], source_by_participant: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """Return tables whose sessions of these participants are marked as not counting, and counted so."""
    if not source_by_participant or SESSIONS_TABLE not in tables:
        return tables
    sessions = tables[SESSIONS_TABLE]
    reason = sessions["participant"].map(source_by_participant).map(EXCLUSION_REASON.format, na_action="ignore")
    given = sessions["exclusion_reason"]
    sessions = sessions.assign(exclusion_reason=given.where(given.notna(), reason))
    tables = {**tables, SESSIONS_TABLE: study.check(sessions, SESSIONS_TABLE)}
    if "judgment_counts" in tables:
        judgment_counts = count_judgments(tables["responses"], sessions)
        cells = tables["judgment_counts"][["experiment", "item", "condition"]].itertuples(index=False, name=None)
        tables["judgment_counts"] = tables["judgment_counts"].assign(n_judgments=[judgment_counts[cell] for cell in cells])
    return tables


def _read_platform_ids(data: str | Path) -> list[str]:
    """Return the platforms' ids that a database still has."""
    path = Path(data)
    database = path / "study.sqlite" if path.is_dir() else path
    if not database.is_file():
        return []
    from ..server.database import build_sqlite_url
    from ..server.store import Store

    return [row["id"] for row in Store(build_sqlite_url(database), create=False).list_payments()]
