"""versions/E1-V1.json: a version with its texts and the script of its sessions, all that a session needs."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gardenpath import study
from gardenpath.stimuli import Materials, Paradigm, Version, design, read_study
from gardenpath.study.screens import Script

from .script import script, untold
from .tasks import Tasks, tasks_of

SCHEMA = 2
# What a screen says that does not come from an item.
BESIDE = ("hint", "lab_hint", "reminder", "fixation", "button", "missing", "error", "again")


@dataclass(frozen=True)
class VersionFile:
    """What a version file holds; `sha256` names this exact content in every session that ran it.

    `procedure` is what study.toml states, for the record: what is shown and asked stands in `script`.

    >>> from importlib.resources import files
    >>> file, *_ = version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> file.name, len(file.version.trials), len(file.sha256)
    ('E1-V1', 39, 64)
    """

    schema: int
    study: str
    title: str
    procedure: dict[str, Any]
    paradigms: tuple[Paradigm, ...]
    version: Version
    script: Script

    @cached_property
    def text(self) -> str:
        """The file's text: the same version and script give the same bytes."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=1) + "\n"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file's bytes, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    @cached_property
    def procedure_sha256(self) -> str:
        """SHA-256 of what is shown whatever the materials are: the procedure, the pages, what stands beside the sentences."""
        around = dataclasses.asdict(dataclasses.replace(self.script, trials=(), interludes=()))
        screens = [vars(screen) for step in self.script.trials for screen in step.screens]
        beside = sorted({str(screen[name]) for screen in screens for name in BESIDE if name in screen})
        content = json.dumps([self.procedure, around, beside], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def shown(self) -> dict[str, Any]:
        """The script as players get it: without the right answers that they do not need."""
        return dataclasses.asdict(untold(self.script))

    @property
    def name(self) -> str:
        """Experiment and version, as in the file's name: E1-V1."""
        return f"{self.version.experiment}-{self.version.id}"

    @property
    def language(self) -> str:
        """The language of the study."""
        return self.script.language

    def write(self, folder: str | Path) -> Path:
        """Write `<folder>/E1-V1.json` and return its path."""
        path = Path(folder) / f"{self.name}.json"
        study.files.write_text(path, self.text)
        return path


def version_files(plan: study.Study) -> list[VersionFile]:
    """Return the version files of a study: its materials dealt by its design, expanded to the screens of its procedure.

    >>> from importlib.resources import files
    >>> plan = study.load(files("gardenpath.examples") / "minimal-pairs")
    >>> [file.name for file in version_files(plan)][:4]
    ['E1-V1', 'E1-V2', 'E1-V3', 'E2-V1']
    """
    tasks = tasks_of(plan)
    materials = read_study(plan)
    versions = design(plan, materials, asks=tasks.asks, needing=tasks.needing())
    _check_needs(plan, tasks, versions)
    shown = min(version.length for version in versions)
    if plan.procedure.breaks >= shown:
        raise study.DataError(
            f"{plan.path}: procedure.breaks is {plan.procedure.breaks}; expected fewer than the {shown} sentences of a version"
        )
    for version in versions:
        _check_order(plan, version)
    title, procedure = plan.title or plan.name, dataclasses.asdict(plan.procedure)
    for asked in procedure["screener"]:
        del asked["quotas"]  # these may change at any time, as the places of versions
    return [
        VersionFile(
            SCHEMA,
            plan.name,
            title,
            procedure,
            _paradigms(version, materials),
            version,
            script(plan, tasks, version),
        )
        for version in versions
    ]


def _check_needs(plan: study.Study, tasks: Tasks, versions: Sequence[Version]) -> None:
    """Refuse a task that no trial can be asked, since nothing has what it needs."""
    trials = [trial for version in versions for trial in version.trials]
    lacking = {name: [n for n in needs if not any(t.has(n) for t in trials)] for name, needs in tasks.needing().items()}
    asked = {name for names in tasks.asks.values() for name in names}
    faults = [
        f"{plan.path}: procedure asks {name} of sentences that have {' and '.join(lack)}, but no sentence does; expected it among "
        "the columns of the materials"
        for name, lack in lacking.items()
        if lack and name in asked
    ]
    if faults:
        raise study.DataError(faults)


def _check_order(plan: study.Study, version: Version) -> None:
    """Draw one order, or one of each list, so that rules which cannot hold are refused before anybody comes."""
    try:
        for slot in range(len(version.lists) or 1):
            version.drawn(slot)
    except ValueError as error:
        raise study.DataError(f"{plan.path}: ordering, version {version.experiment}-{version.id}: {error}") from None


def _paradigms(version: Version, materials: Materials) -> tuple[Paradigm, ...]:
    shown = {trial.item.paradigm for trial in version.trials}
    return tuple(paradigm for paradigm in materials.paradigms if paradigm.id in shown)


def parse_version(text: str, where: str) -> VersionFile:
    """Return the version file whose text this is; raises `study.DataError` with every fault."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise study.DataError(f"{where}: not valid JSON: {error}; write it again with  gardenpath design") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        schema = data.get("schema") if isinstance(data, dict) else None
        raise study.DataError(
            f"{where}: schema is {schema!r}, expected {SCHEMA}: it was written by another release of gardenpath; write it again "
            "with  gardenpath design  (sessions that ran it are read by the release that wrote it)"
        )
    file = study.config.structure(VersionFile, data, where=where)
    # Sessions name the version that they ran by the hash of these bytes, whatever wrote them.
    vars(file)["text"] = text
    return file


def read_versions(folder: str | Path) -> list[VersionFile]:
    """Return the version files of a folder, ordered by name.

    >>> import tempfile
    >>> from importlib.resources import files
    >>> written = version_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = [file.write(folder) for file in written]
    ...     read_versions(folder) == written
    True
    """
    paths = sorted(Path(folder).glob("E*-V*.json"))
    paths = [path for path in paths if not path.name.endswith(".meta.json")]
    if not paths:
        raise FileNotFoundError(f"{folder}: holds no versions; write them with  gardenpath design STUDY.toml")
    return [parse_version(study.files.read_text(path), str(path)) for path in paths]
