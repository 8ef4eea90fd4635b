"""lists/E1-L1.json: a list with its texts and the script of its sessions, all that a session needs."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from gardenpath import study
from gardenpath.stimuli import Materials, Paradigm, TrialList, design, read_study
from gardenpath.study.screens import Script

from ..tasks import StudyTasks, load_tasks
from ..tasks.line_breaks import has_uneven_breaks
from .script import build_script, strip_correct_answers

SCHEMA_VERSION = 4
# What a screen says that does not come from an item.
_EXPONENT = re.compile(r"\de[-+]?\d")
FIXED_TEXT_FIELDS = ("hint", "lab_hint", "reminder", "fixation", "button", "missing", "error", "again")


@dataclass(frozen=True)
class ListFile:
    """What a list file holds; `sha256` names this exact content in every session that ran it.

    `procedure` is what study.toml states, for the record: what is shown and asked stands in `build_script`.

    >>> from importlib.resources import files
    >>> file, *_ = build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> file.name, len(file.trial_list.trials), len(file.sha256)
    ('E1-L1', 39, 64)
    """

    schema: int
    study: str
    title: str
    procedure: dict[str, Any]
    paradigms: tuple[Paradigm, ...]
    trial_list: TrialList
    script: Script

    @cached_property
    def text(self) -> str:
        """The file's text: the same list and script give the same bytes, those of `json.dumps`."""
        text = to_json(self, indent=1, inf_nan_mode="constants").decode("utf-8")
        if _EXPONENT.search(text):  # the one thing that pydantic, five times as fast, writes otherwise: 1e-5, not 1e-05
            text = json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=1)
        return f"{text}\n"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file's bytes, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    @cached_property
    def procedure_sha256(self) -> str:
        """SHA-256 of what is shown whatever the materials are: the procedure, the pages, what stands beside the sentences."""
        other_steps = dataclasses.asdict(dataclasses.replace(self.script, trials=(), interludes=()))
        screens = [vars(screen) for step in self.script.trials for screen in step.screens]
        fixed_texts = sorted({str(screen[name]) for screen in screens for name in FIXED_TEXT_FIELDS if name in screen})
        content = json.dumps([self.procedure, other_steps, fixed_texts], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def player_script(self) -> dict[str, Any]:
        """The script as players get it: without the right answers that they do not need."""
        return dataclasses.asdict(strip_correct_answers(self.script))

    @property
    def name(self) -> str:
        """Experiment and list, as in the file's name: E1-L1."""
        return f"{self.trial_list.experiment}-{self.trial_list.id}"

    @property
    def language(self) -> str:
        """The language of the study."""
        return self.script.language

    def write(self, folder: str | Path) -> Path:
        """Write `<folder>/E1-L1.json` and return its path."""
        path = Path(folder) / f"{self.name}.json"
        study.files.write_text(path, self.text)
        return path


def build_list_files(config: study.Study) -> list[ListFile]:
    """Return the list files of a study: its materials dealt by its design, expanded to the screens of its procedure.

    >>> from importlib.resources import files
    >>> config = study.load(files("gardenpath.examples") / "minimal-pairs")
    >>> [file.name for file in build_list_files(config)][:4]
    ['E1-L1', 'E1-L2', 'E1-L3', 'E2-L1']
    """
    tasks = load_tasks(config)
    materials = read_study(config)
    trial_lists = design(config, materials, tasks_by_role=tasks.tasks_by_role, required_columns=tasks.list_required_columns())
    _check_required_columns(config, tasks, trial_lists)
    shortest = min(trial_list.length for trial_list in trial_lists)
    if config.procedure.breaks >= shortest:
        raise study.DataError(
            f"{config.path}: procedure.breaks is {config.procedure.breaks}; expected fewer than the {shortest} sentences of a list"
        )
    for trial_list in trial_lists:
        _check_list_order(config, trial_list)
    title, procedure = config.title or config.name, dataclasses.asdict(config.procedure)
    for screener_entry in procedure["screener"]:
        del screener_entry["quotas"]  # these may change at any time, as the places of lists
    return [
        ListFile(
            SCHEMA_VERSION,
            config.name,
            title,
            procedure,
            _select_paradigms(trial_list, materials),
            trial_list,
            build_script(config, tasks, trial_list),
        )
        for trial_list in trial_lists
    ]


def _check_required_columns(config: study.Study, tasks: StudyTasks, trial_lists: Sequence[TrialList]) -> None:
    """Refuse a task that no trial can be asked, since nothing has what it needs."""
    trials = [trial for trial_list in trial_lists for trial in trial_list.trials]
    missing_by_task = {
        name: [n for n in required if not any(t.has_value(n) for t in trials)]
        for name, required in tasks.list_required_columns().items()
    }
    asked_tasks = {name for names in tasks.tasks_by_role.values() for name in names}
    faults = [
        f"{config.path}: procedure asks {name} of sentences that have {' and '.join(missing)}, but no sentence does; "
        "expected it among "
        "the columns of the materials"
        for name, missing in missing_by_task.items()
        if missing and name in asked_tasks
    ]
    if faults:
        raise study.DataError(faults)


def _check_list_order(config: study.Study, trial_list: TrialList) -> None:
    """Draw one order, or one of each short list, so that rules which cannot hold are refused before anybody comes."""
    for slot in range(len(trial_list.short_lists) or 1):
        try:
            trial_list.draw_order(slot)
        except ValueError as error:
            list_label = f"{trial_list.experiment}-{trial_list.id}{f', short list {slot}' if trial_list.short_lists else ''}"
            raise study.DataError(f"{config.path}: ordering, list {list_label}: {error}") from None


def _select_paradigms(trial_list: TrialList, materials: Materials) -> tuple[Paradigm, ...]:
    shown_paradigms = {trial.item.paradigm for trial in trial_list.trials}
    return tuple(paradigm for paradigm in materials.paradigms if paradigm.id in shown_paradigms)


def parse_list_file(text: str, where: str) -> ListFile:
    """Return the list file whose text this is; raises `study.DataError` with every fault."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise study.DataError(f"{where}: not valid JSON: {error}; write it again with  gardenpath design") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA_VERSION:
        schema = data.get("schema") if isinstance(data, dict) else None
        raise study.DataError(
            f"{where}: schema is {schema!r}, expected {SCHEMA_VERSION}: it was written by another release of "
            "gardenpath; write it again "
            "with  gardenpath design  (sessions that ran it are read by the release that wrote it)"
        )
    file = study.config.parse_dataclass(ListFile, data, where=where)
    # Sessions name the list that they ran by the hash of these bytes, whatever wrote them.
    vars(file)["text"] = text
    return file


def read_list_files(folder: str | Path) -> list[ListFile]:
    """Return the list files of a folder, ordered by name.

    >>> import tempfile
    >>> from importlib.resources import files
    >>> written = build_list_files(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = [file.write(folder) for file in written]
    ...     read_list_files(folder) == written
    True
    """
    paths = sorted(Path(folder).glob("E*-L*.json"))
    paths = [path for path in paths if not path.name.endswith(".meta.json")]
    if not paths:
        raise FileNotFoundError(f"{folder}: holds no lists; write them with  gardenpath design STUDY.toml")
    return [parse_list_file(study.files.read_text(path), str(path)) for path in paths]


def find_unevenly_broken_items(files: Sequence[ListFile], width: int) -> list[str]:
    """Return the items, by id, that are shown on lines and broken before different words in their conditions."""
    found = {
        file.trial_list.trials[step.trial].item.id: file.trial_list.trials[step.trial].item
        for file in files
        for step in file.script.trials
        if step.trial is not None
        for screen in step.screens
        if screen.kind == "words" and screen.breaks
    }
    return sorted(id for id, item in found.items() if has_uneven_breaks(item, width))
