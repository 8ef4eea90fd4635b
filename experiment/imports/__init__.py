"""Data collected elsewhere: a platform is a module that makes sittings of its files, listed here in one tuple.

NAME                       what --from says
recognises(source)         whether a file looks like this platform's, from its first lines; never raises
read(source, mapping)      the sittings of a file; what the mapping names goes before what the platform usually says
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from gardenpath import study

from . import jatos, jspsych, magpie, pcibex, psychopy, qualtrics, table
from .damages import damage
from .mapping import ColumnMapping, read_mapping
from .sittings import Answer, Presented, ReadWord, Sitting
from .sources import STARTS_OF_A_ZIP, Source, sources

log = logging.getLogger("gardenpath")


class Platform(Protocol):
    """What each module of `PLATFORMS` is."""

    NAME: str

    def recognises(self, source: Source) -> bool: ...

    def read(self, source: Source, mapping: ColumnMapping | None) -> list[Sitting]: ...


PLATFORMS: tuple[Platform, ...] = (jspsych, jatos, pcibex, psychopy, magpie, qualtrics, table)

__all__ = [
    "PLATFORMS",
    "Answer",
    "ColumnMapping",
    "Platform",
    "Presented",
    "ReadWord",
    "Sitting",
    "Source",
    "platform_files",
    "platform_named",
    "read_mapping",
    "read_sittings",
    "sources",
]


def platform_named(name: str) -> Platform:
    """Return the platform of this name; raises `ValueError` with those that there are."""
    known = {platform.NAME: platform for platform in PLATFORMS}
    if name not in known:
        raise ValueError(f"platform is {name!r}; expected one of {', '.join(known)}")
    return known[name]


def read_sittings(data: str | Path, platform: str, mapping: ColumnMapping | None = None) -> list[Sitting]:
    """Return the sittings of a file, or of all files of a folder, that `platform` gave to download.

    In a folder, files that are not the platform's are left out and named on the log. Every fault of all files is raised at once.
    """
    chosen = platform_named(platform)
    sittings: list[Sitting] = []
    faults: list[str] = []
    for source in platform_files(data, chosen):
        try:
            sittings += chosen.read(source, mapping)
        except study.DataError as error:
            faults += error.faults
    if faults:
        raise study.DataError(faults)
    _check_once(sittings)
    return sittings


def platform_files(data: str | Path, platform: Platform) -> list[Source]:
    """Return the platform's files; a folder may hold others, which the log names. Damaged ones are an error."""
    found = sources(data)
    theirs = [source for source in found if platform.recognises(source)]
    other = [f"{source.name}: {_looks(source, platform)}" for source in found if source not in theirs]
    if not theirs:
        raise study.DataError(other or f"{data}: the folder is empty; expected files of {platform.NAME}")
    for message in other:
        log.warning("%s; left out", message)
    if damaged := [fault for source in theirs for fault in damage(source)]:
        raise study.DataError(damaged)
    return theirs


def _looks(source: Source, platform: Platform) -> str:
    if not source.data.strip():
        return f"the file is empty; expected data of {platform.NAME}"
    if source.data.startswith(STARTS_OF_A_ZIP) and not source.members:
        return "a zip file that is cut short or damaged; download it again"
    alike = [other.NAME for other in PLATFORMS if other is not table and other.recognises(source)]
    said = f"looks like {' or '.join(alike)} (--from {alike[0]})" if alike else "is of no platform known here"
    return f"does not look like data of {platform.NAME}; it {said}"


def _check_once(sittings: Sequence[Sitting]) -> None:
    first: dict[str, Sitting] = {}
    faults = []
    for sitting in sittings:
        if first.setdefault(sitting.id, sitting) is not sitting:
            faults.append(
                f"{sitting.where}: session {sitting.id} is also in {first[sitting.id].where}; give each download once"
            )
    if faults:
        raise study.DataError(faults)
