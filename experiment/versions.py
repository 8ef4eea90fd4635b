"""versions/E1-V1.json: a version with its texts and its procedure, all that a session needs."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gardenpath import study
from gardenpath.stimuli import Materials, Paradigm, Version, design, read

from .procedures import Procedure, procedure

SCHEMA = 1


@dataclass(frozen=True)
class VersionFile:
    """What a version file holds; `sha256` names this exact content in every session that ran it."""

    schema: int
    study: str
    title: str
    paradigms: tuple[Paradigm, ...]
    procedure: Procedure
    version: Version

    @cached_property
    def text(self) -> str:
        """The file's text: the same version and procedure give the same bytes."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=1) + "\n"

    @property
    def sha256(self) -> str:
        """SHA-256 of the file's bytes, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    @property
    def procedure_sha256(self) -> str:
        """SHA-256 of the procedure alone."""
        return hashlib.sha256(json.dumps(dataclasses.asdict(self.procedure), ensure_ascii=False).encode()).hexdigest()

    @property
    def name(self) -> str:
        """Experiment and version, as in the file's name: E1-V1."""
        return f"{self.version.experiment}-{self.version.id}"

    def write(self, folder: str | Path) -> Path:
        """Write `<folder>/E1-V1.json` and return its path."""
        path = Path(folder) / f"{self.name}.json"
        study.write_text(path, self.text)
        return path


def version_files(stated: study.Study) -> list[VersionFile]:
    """Return the version files of a study: its materials dealt by its design, with its procedure."""
    materials = read(*stated.paths())
    steps = procedure(stated)
    versions = design(stated, materials)
    shown = min(len(version.trials) for version in versions) - len(stated.design.practice)
    if stated.procedure.breaks >= shown:
        raise study.DataError(
            f"{stated.path}: procedure.breaks is {stated.procedure.breaks}; expected fewer than the {shown} sentences of a version"
        )
    for version in versions:
        _check_order(stated, version)
    return [
        VersionFile(SCHEMA, stated.name, stated.title or stated.name, _shown(version, materials), steps, version)
        for version in versions
    ]


def _check_order(stated: study.Study, version: Version) -> None:
    """Draw one order, so that rules which cannot hold are refused before anybody comes."""
    try:
        version.drawn(0)
    except ValueError as error:
        raise study.DataError(f"{stated.path}: ordering, version {version.experiment}-{version.id}: {error}") from None


def _shown(version: Version, materials: Materials) -> tuple[Paradigm, ...]:
    shown = {trial.item.paradigm for trial in version.trials}
    return tuple(paradigm for paradigm in materials.paradigms if paradigm.id in shown)


def parse_version(text: str, where: str) -> VersionFile:
    """Return the version file whose text this is; raises `study.DataError` with every fault."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise study.DataError(f"{where}: not valid JSON: {error}; write it again with  gardenpath design") from None
    if data.get("schema") != SCHEMA:
        raise study.DataError(
            f"{where}: schema is {data.get('schema')!r}, expected {SCHEMA}; write it again with  gardenpath design"
        )
    file = study.structure(VersionFile, data, where=where)
    # Sessions name the version that they ran by the hash of these bytes, whatever wrote them.
    vars(file)["text"] = text
    return file


def read_versions(folder: str | Path) -> list[VersionFile]:
    """Return the version files of a folder, ordered by name."""
    paths = sorted(Path(folder).glob("E*-V*.json"))
    paths = [path for path in paths if not path.name.endswith(".meta.json")]
    if not paths:
        raise FileNotFoundError(f"{folder}: no versions there; write them with  gardenpath design STUDY.toml")
    return [parse_version(study.read_text(path), str(path)) for path in paths]
