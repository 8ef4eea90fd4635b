"""What was shown, as far as it is known: the items, and the list files of the study where it was exported from one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gardenpath import study
from gardenpath.stimuli import Materials, read

from ..scripts.list_files import ListFile, build_list_files, read_list_files
from ..sessions.event_tables import collect_materials


@dataclass(frozen=True)
class ShownMaterials:
    """Items, and lists by SHA-256; `where` they are from is for messages."""

    where: str
    materials: Materials
    files: Mapping[str, ListFile]


def read_shown_materials(path: str | Path) -> ShownMaterials:
    """Return what a study (its study.toml), a folder of list files, or a file of materials says was shown."""
    path = Path(path)
    if path.suffix == ".toml":
        config = study.load(path)
        return _build_from_lists(path, build_list_files(config))
    if path.is_dir():
        return _build_from_lists(path, read_list_files(path))
    return ShownMaterials(str(path), read(path), {})


def _build_from_lists(path: Path, files: list[ListFile]) -> ShownMaterials:
    return ShownMaterials(str(path), collect_materials(files), {file.sha256: file for file in files})
