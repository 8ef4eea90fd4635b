"""What was shown, as far as it is known: the items, and the version files of the study where it was exported from one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gardenpath import study
from gardenpath.stimuli import Materials, read

from ..event_tables import materials_of
from ..versions import VersionFile, read_versions, version_files


@dataclass(frozen=True)
class Shown:
    """Items, and versions by SHA-256; `where` they are from is for messages."""

    where: str
    materials: Materials
    files: Mapping[str, VersionFile]


def read_shown(path: str | Path) -> Shown:
    """Return what a study (its study.toml), a folder of version files, or a file of materials says was shown."""
    path = Path(path)
    if path.suffix == ".toml":
        plan = study.load(path)
        return _of_versions(path, version_files(plan))
    if path.is_dir():
        return _of_versions(path, read_versions(path))
    return Shown(str(path), read(path), {})


def _of_versions(path: Path, files: list[VersionFile]) -> Shown:
    return Shown(str(path), materials_of(files), {file.sha256: file for file in files})
