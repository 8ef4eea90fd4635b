"""Data collected elsewhere: a platform is a module that makes sessions of its files, listed here in one tuple.

NAME                       what --platform says
recognises(source)         whether a file looks like this platform's, from its first lines; never raises
read(source, mapping)      the sessions of a file; what the mapping names goes before what the platform usually says
join(sessions)             if there: the sessions whose parts stand in several of a platform's files, each as one
LOOKS_FOR_DAMAGE           if there and true: `read` refuses what a spreadsheet program has damaged, and bears what does no harm
"""

import logging
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import ColumnMapping, read_mapping

from .gorilla import results as gorilla
from .imported_sessions import ImportedSession, ImportedTrial
from .jatos import results as jatos
from .jspsych import results as jspsych
from .magpie import results as magpie
from .pcibex import results as pcibex
from .psychopy import results as psychopy
from .qualtrics import results as qualtrics
from .sources import ZIP_SIGNATURES, Source, compute_fingerprint, read_sources
from .spreadsheet_damage import find_damage
from .table import results as table

log = logging.getLogger("gardenpath")
MAX_FAULTS_PER_KIND = 3  # faults of one kind


class Platform(Protocol):
    """What each module of `PLATFORMS` is."""

    NAME: str

    def recognises(self, source: Source) -> bool: ...

    def read(self, source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]: ...


PLATFORMS: tuple[Platform, ...] = (jspsych, jatos, pcibex, gorilla, psychopy, magpie, qualtrics, table)

__all__ = [
    "PLATFORMS",
    "ColumnMapping",
    "ImportedSession",
    "ImportedTrial",
    "Platform",
    "Record",
    "Source",
    "WordRecord",
    "compute_fingerprint",
    "describe_format",
    "find_platform",
    "read_mapping",
    "read_platform_files",
    "read_platform_sessions",
    "read_sources",
]


def find_platform(name: str) -> Platform:
    """Return the platform of this name; raises `ValueError` with those that there are."""
    known = {platform.NAME: platform for platform in PLATFORMS}
    if name not in known:
        raise ValueError(f"platform is {name!r}; expected one of {', '.join(known)}")
    return known[name]


def read_platform_sessions(data: str | Path, platform: str, mapping: ColumnMapping | None = None) -> list[ImportedSession]:
    """Return the sessions of a file, or of all files of a folder, that `platform` gave to download.

    In a folder, files that are not the platform's are left out and named on the log. Every fault of all files is raised at once.
    """
    chosen = find_platform(platform)
    sessions: list[ImportedSession] = []
    faults: list[str] = []
    for source in read_platform_files(data, chosen):
        try:
            sessions += chosen.read(source, mapping)
        except study.DataError as error:
            faults += error.faults
    if faults:
        raise study.DataError(summarise_faults(faults))
    if not sessions:
        raise study.DataError(f"{data}: contains no session; expected rows of participants under the header line")
    if not any(s.demographics or any(map(_has_data, s.trials)) for s in sessions):
        raise study.DataError(
            f"{data}: contains no reading time and no answer; name their columns in a mapping ([columns] rt, [[responses]]; "
            "see docs/import.md)"
        )
    joined_sessions: list[ImportedSession] = getattr(chosen, "join", list)(sessions)
    _check_no_duplicates(joined_sessions)
    return [_add_roles(session, mapping) for session in joined_sessions] if mapping and mapping.roles else joined_sessions


def _add_roles(session: ImportedSession, mapping: ColumnMapping) -> ImportedSession:
    trials = (replace(t, role=mapping.find_role(t.item, t.condition) or t.role) for t in session.trials)
    return replace(session, trials=tuple(trials))


def _has_data(trial: ImportedTrial) -> bool:
    return any(record.outcome is not None or record.answer is not None for record in trial.records)


def summarise_faults(faults: Sequence[str]) -> list[str]:
    """Return the faults with at most three of one kind in one file; the third says how many more lines have it.

    >>> summarise_faults([f"a.csv, line {n}: rt is 'NA'" for n in range(2, 9)])[-1]
    "a.csv, line 4: rt is 'NA' (and 4 more lines)"
    """
    kinds = [re.sub(r", (line|row) \d+: ", ": ", fault, count=1) for fault in faults]
    times, reported = Counter(kinds), Counter[str]()
    kept = []
    for fault, kind in zip(faults, kinds, strict=True):
        reported[kind] += 1
        if reported[kind] <= MAX_FAULTS_PER_KIND:
            more = times[kind] - MAX_FAULTS_PER_KIND
            rest = f" (and {more} more line{'s' * (more > 1)})" if more > 0 and reported[kind] == MAX_FAULTS_PER_KIND else ""
            kept.append(fault + rest)
    return kept


def read_platform_files(data: str | Path, platform: Platform) -> list[Source]:
    """Return the platform's files; a folder may hold others, which the log names. Damaged ones are an error."""
    files = read_sources(data)
    platform_sources = [source for source in files if platform.recognises(source)]
    other = [f"{source.name}: {_describe_mismatch(source, platform)}" for source in files if source not in platform_sources]
    if not platform_sources:
        raise study.DataError(other or f"{data}: the folder is empty; expected files of {platform.NAME}")
    for message in other:
        log.warning("%s; left out", message)
    checks_itself = getattr(platform, "LOOKS_FOR_DAMAGE", False)
    if damaged := [fault for source in platform_sources if not checks_itself for fault in find_damage(source)]:
        raise study.DataError(damaged)
    return platform_sources


def describe_format(source: Source) -> str:
    """Return what a file looks like, as the end of a sentence"""
    if source.data.startswith(ZIP_SIGNATURES) and not source.members:
        return "is a zip file that is cut short or damaged; download it again"
    matches = [other.NAME for other in PLATFORMS if other is not table and other.recognises(source)]
    return f"looks like {' or '.join(matches)} (--platform {matches[0]})" if matches else "has the format of no platform known here"


def _describe_mismatch(source: Source, platform: Platform) -> str:
    if not source.data.strip():
        return f"the file is empty; expected data of {platform.NAME}"
    return f"does not look like data of {platform.NAME}; it {describe_format(source)}"


def _check_no_duplicates(sessions: Sequence[ImportedSession]) -> None:
    """Raise `DataError` for a session that is there twice, by its name or by all that happened in it."""
    first: dict[Hashable, ImportedSession] = {}
    faults = []
    for session in sessions:
        events = tuple((t.position, t.item, t.condition, t.records) for t in session.trials)
        for key in (session.id, (session.participant, events) if events else session.id):
            if (before := first.setdefault(key, session)) is not session:
                faults.append(f"{session.where}: one of its sessions is also in {before.where}; give each download once")
    if faults:
        raise study.DataError(dict.fromkeys(faults))
