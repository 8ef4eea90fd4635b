"""`collect`: the same tables of data of our own, from a database or a folder, and of what other platforms gave to download."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath import study
from gardenpath.study.participant_measures import SIMULATED_MEASURES_FILE
from gardenpath.study.table_sets import TableSet

from ..sessions.event_tables import Tables, build_table_parts, concatenate_parts
from ..sessions.sessions import Session
from .combined_collections import combine_collections
from .previous_participants import (
    collect_previous_participants,
    find_previous_participants,
    mark_excluded_in_tables,
    mark_excluded_sessions,
    read_previous_participants,
)
from .recorded_sessions import open_session_source

if TYPE_CHECKING:
    from ..platforms.platform_import import ColumnMapping


@dataclass(frozen=True, kw_only=True)
class CollectOptions:
    """Where data are from and how they are read: the arguments of `collect`."""

    previews: bool = False
    platform: str | None = None
    mapping: "str | Path | ColumnMapping | None" = None
    materials: str | Path | None = None
    prolific: str | Path | Sequence[str | Path] | None = None
    key: str | Path | None = None
    keep_ids: bool = False
    excluded_participants: Sequence[str | Path] = ()

    def split_by_collection(self, count: int) -> "list[CollectOptions]":
        """Return that of each of several collections: they may have an export of Prolific each, or share one.

        >>> [one.prolific for one in CollectOptions(prolific=["a.csv", "b.csv"]).split_by_collection(2)]
        ['a.csv', 'b.csv']
        """
        if self.prolific is None or isinstance(self.prolific, str | Path):
            return [self] * count
        if len(self.prolific) not in (1, count):
            raise ValueError(f"{len(self.prolific)} exports of Prolific for {count} collections; expected one, or one for each")
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
    excluded_participants: Sequence[str | Path] = (),
) -> dict[str, pd.DataFrame]:
    """Return the tables items, conditions, words, readings, responses and sessions of collected data, and demographics
    where any were asked.

    `data` is the URL of a server's database, a SQLite file, or a folder of sessions. With `previews` the experimenter's own
    looks at the study are among them, their `source` is "preview"; analyses leave them out in any case.

    Of several collections the tables are one set (`combine_collections`): items that they share have to agree, participants are
    apart. They may have an export of Prolific each, in their order.

    With `platform` it is what that platform gave to download, a file or a folder of files (docs/import.md). `mapping` names
    columns, `materials` (study.toml, a folder of list files, or a file of items) says what was shown: without it there are no
    tables items, conditions and words. Participants' ids are hashed with the key in the file `key`, by default `participant.key`
    beside the data, unless `keep_ids`; the labels of a plain table are kept unless a `key` is given. `prolific` is Prolific's
    export of demographics, joined by these hashes; who has revoked consent is removed from every table.

    `excluded_participants` are the data of earlier studies, such as the norming of the items, each with its participant.key: the
    sessions of who took part in them are marked as not counting (`barring`).

    >>> import tempfile
    >>> from importlib.resources import files
    >>> from gardenpath import experiment, study
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = experiment.simulate(list_files, f"{folder}/data", participants=2, seed=1)
    ...     list(collect(f"{folder}/data"))
    ['items', 'conditions', 'words', 'readings', 'responses', 'sessions']
    """
    options = CollectOptions(
        previews=previews,
        platform=platform,
        mapping=mapping,
        materials=materials,
        prolific=prolific,
        key=key,
        keep_ids=keep_ids,
        excluded_participants=excluded_participants,
    )
    return TableSet(concatenate_parts(collect_table_parts(data, options)))


def collect_table_parts(data: str | Path | Sequence[str | Path], options: CollectOptions | None = None) -> Iterator[Tables]:
    """Yield the tables of `collect` in parts, whose rows follow each other; our own data are never in memory as a whole."""
    collections = [data] if isinstance(data, str | Path) else data
    options_by_collection = (options or CollectOptions()).split_by_collection(len(collections))
    if len(collections) == 1:
        yield from _read_table_parts(collections[0], options_by_collection[0])
    else:  # whole: their tables may have other columns of factors
        tables = [
            concatenate_parts(_read_table_parts(one, collection_options))
            for one, collection_options in zip(collections, options_by_collection, strict=True)
        ]
        yield combine_collections(tables, [str(one) for one in collections])


def _read_table_parts(data: str | Path, options: CollectOptions) -> Iterator[Tables]:
    """Yield the tables of one collection in parts."""
    from ..platforms import platform_collection
    from ..platforms import prolific as demographics

    platform, prolific = options.platform, options.prolific
    pseudonymise = (
        platform_collection.build_pseudonymiser(data, platform, options.key, options.keep_ids) if platform or prolific else str
    )
    previous = read_previous_participants(options.excluded_participants)
    source_by_participant: dict[str, str] = {}
    if platform and previous:
        pseudonymise = collect_previous_participants(pseudonymise, previous, source_by_participant)
    parts: Iterable[Tables]
    if platform is None:
        session_source = open_session_source(data, options.previews)
        participants = {session.participant for session in session_source.sessions}
        recorded_sessions = mark_excluded_sessions(
            session_source.read_recorded_sessions(), find_previous_participants(data, participants, previous)
        )
        parts = chain(
            build_table_parts(recorded_sessions, session_source.list_files, where=str(data)),
            _read_simulated_measures(data, session_source.sessions),
        )
    else:
        tables = platform_collection.collect_platform_data(
            data, platform, mapping=options.mapping, materials=options.materials, pseudonymise=pseudonymise
        )
        # A table of words' means has nobody in it.
        participants, parts = set(tables["sessions"]["participant"]) if "sessions" in tables else set(), [tables]
    if isinstance(prolific, str | Path):
        parts = demographics.join_demographics(parts, participants, demographics.read(prolific), pseudonymise)
    yield from (mark_excluded_in_tables(tables, source_by_participant) for tables in parts)


def _read_simulated_measures(data: str | Path, sessions: Sequence[Session]) -> Iterator[Tables]:
    """Yield what files by participant would say of simulated ones as demographics, where `simulate` has drawn any."""
    path = Path(data) / SIMULATED_MEASURES_FILE
    if not path.is_file():
        return
    rows = study.table_files.read_csv(path).melt("participant", var_name="question", value_name="response")
    simulated = [(one.participant, one.id) for one in sessions if one.source == "simulation"]
    joined = rows.merge(pd.DataFrame(simulated, columns=["participant", "session"]), on="participant")
    yield {"demographics": study.check(joined, "demographics")}
