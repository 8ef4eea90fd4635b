"""Tasks and presentations: what is shown of a sentence and what is asked of it, a module each, listed here in TASKS.

KINDS                                  what `kind` says in study.toml, or `show` and `ask` where no table is needed
IS_PRESENTATION                        whether it shows the sentence (a presentation) or asks about it
Settings                               the table [procedure.tasks.NAME], a frozen dataclass that checks itself
REQUIRED_COLUMNS                       the fields and free columns of items without which it is not asked
RESPONSES                              the responses of a trial that models take, by their names in gardenpath.study.responses
write_instructions(settings, texts)    the page that explains it
build_screens(settings, trial_context) the screens of one trial, in order; `ValueError` says why there can be none
simulate_response(screen, simulated_reader)
                                       what a robot does on one of them, and when
build_rows(record, shown_trial)        the rows of `readings` and `responses` that a record of one of them makes in a trial that
                                       showed this; files of other platforms become the same records

A task knows nothing of players, servers or platforms, and none of these knows a task: they know the kinds of screens
(gardenpath.study.screens).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from gardenpath import study
from gardenpath.study.events import Record
from gardenpath.study.screens import Screen

from ..texts.standard_texts import Texts
from . import (
    choice,
    completion,
    lexical_decision,
    magnitude_estimation,
    maze,
    question,
    rating,
    rsvp,
    self_paced,
    typed_answer,
    whole,
)
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext
from .trial_rows import ShownTrial, TableRow, build_reading_rows, build_response_rows, escape_controls

__all__ = [
    "TASKS",
    "ShownTrial",
    "SimulatedReader",
    "SimulatedResponse",
    "StudyTasks",
    "TableRow",
    "Task",
    "TrialContext",
    "build_record_rows",
    "escape_controls",
    "find_task",
    "load_tasks",
]


class Task(Protocol):
    """What each of the modules above is; its texts are those of texts/<its name>.toml."""

    @property
    def __name__(self) -> str: ...

    @property
    def KINDS(self) -> tuple[str, ...]: ...

    @property
    def IS_PRESENTATION(self) -> bool: ...

    @property
    def REQUIRED_COLUMNS(self) -> tuple[str, ...]: ...

    @property
    def RESPONSES(self) -> tuple[str, ...]: ...

    @property
    def Settings(self) -> type: ...

    def write_instructions(self, settings: Any, texts: Texts) -> str: ...

    def build_screens(self, settings: Any, trial_context: TrialContext) -> Iterator[Screen]: ...

    # Each task is given screens of the kinds that it builds.
    def simulate_response(self, screen: Any, simulated_reader: SimulatedReader) -> SimulatedResponse: ...

    def build_rows(self, record: Record, shown_trial: ShownTrial) -> Iterator[TableRow]: ...


TASKS: list[Task] = [
    self_paced,
    whole,
    rsvp,
    maze,
    rating,
    magnitude_estimation,
    question,
    typed_answer,
    choice,
    completion,
    lexical_decision,
]
# A sentence that is not read before it is asked about stands above what is asked.
WITH_TASK_PRESENTATION = "with_task"


def find_task(kind: str) -> Task:
    """Return the task of a kind; raises `KeyError` for none."""
    if (task := _find_registered_task(kind)) is None:
        raise KeyError(f"task {kind!r} is not known; expected one of {', '.join(_list_kinds())}")
    return task


def _find_registered_task(kind: str) -> Task | None:
    return next((task for task in TASKS if kind in task.KINDS), None)


def build_record_rows(record: Record, shown_trial: ShownTrial) -> Iterator[TableRow]:
    """Return the rows that a record makes as its task has them; of a task that is none of ours its words, or its answer."""
    task = _find_registered_task(record.task)
    # Another lab may call a question about a sentence what we call a way of reading it.
    if task is None or (task.IS_PRESENTATION and record.answer is not None):
        return (build_reading_rows if record.words else build_response_rows)(record, shown_trial)
    return task.build_rows(record, shown_trial)


def _list_kinds(is_presentation: bool | None = None) -> list[str]:
    return [kind for task in TASKS if is_presentation in (None, task.IS_PRESENTATION) for kind in task.KINDS]


class StudyTasks:
    """The tasks that a study uses: their settings by name, and what each role shows and asks."""

    def __init__(
        self, settings: Mapping[str, Any], presentation_by_role: Mapping[str, str], tasks_by_role: Mapping[str, Sequence[str]]
    ) -> None:
        self.settings, self.presentation_by_role, self.tasks_by_role = settings, presentation_by_role, tasks_by_role

    def get_task(self, name: str) -> Task:
        """Return the task of a name."""
        return find_task(self.settings[name].kind)

    def list_responses(self, names: Iterable[str]) -> set[str]:
        """Return the responses that tasks of these names give; a name that needs no settings gives none."""
        return {response for name in names if name in self.settings for response in self.get_task(name).RESPONSES}

    def list_required_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the fields and columns of items that tasks need, by the tasks' names."""
        return {name: self.get_task(name).REQUIRED_COLUMNS for name in self.settings if self.get_task(name).REQUIRED_COLUMNS}


def load_tasks(config: study.Study) -> StudyTasks:
    """Return the tasks of a study; raises `study.DataError` with every fault of every table at once."""
    where, procedure = str(config.path), config.procedure
    settings: dict[str, Any] = {}
    faults: list[str] = []

    refused: set[str] = set()  # tasks whose table has a fault: that a role names them is none of its own

    def add_task(name: str, table: Mapping[str, Any], label: str) -> None:
        refused.add(name)
        try:
            task = find_task(table["kind"])
        except KeyError as error:
            faults.append(f"{where}: {label}: {error.args[0]}")
            return
        task.Settings.__pydantic_config__ = study.config.STRICT_VALIDATION  # type: ignore[attr-defined]  # a misspelt key is an error
        try:
            settings[name] = study.config.parse_dataclass(task.Settings, dict(table), where=f"{where}: {label}")
            refused.remove(name)
        except study.DataError as error:
            faults.extend(error.faults)

    for name, table in procedure.tasks.items():
        add_task(name, table, f"procedure.tasks.{name}")
    defaults = ("with_task", ["choice"]) if config.design.trial == "pair" else ("centred", [])
    presentation_by_role, tasks_by_role = {}, {}
    for role in study.config.ROLES:
        section = procedure.resolve_role(role)
        presentation_by_role[role], tasks_by_role[role] = (
            section.show or defaults[0],
            list(defaults[1] if section.ask is None else section.ask),
        )
    for role in study.config.ROLES:
        for key, names, is_presentation in (("show", [presentation_by_role[role]], True), ("ask", tasks_by_role[role], False)):
            if role != "target" and getattr(getattr(procedure, role), key) is None:
                continue  # it shows or asks as target does, whose faults are said there
            for name in names:
                if name in refused or (name == WITH_TASK_PRESENTATION and is_presentation):
                    continue
                if name not in settings and name in _list_kinds():
                    add_task(
                        name, {"kind": name}, f"procedure.{role}.{key} names {name!r} and [procedure.tasks.{name}] is not there"
                    )
                    if name in refused:
                        continue
                if name in settings and is_presentation != find_task(settings[name].kind).IS_PRESENTATION:
                    faults.append(f"{where}: procedure.{role}.{key} names {name}, which {'asks' if is_presentation else 'shows'}")
                elif name not in settings:
                    known = [
                        *(n for n in settings if is_presentation == find_task(settings[n].kind).IS_PRESENTATION),
                        *_list_kinds(is_presentation),
                    ]
                    faults.append(
                        f"{where}: procedure.{role}.{key} names {name!r}; expected a task of [procedure.tasks.NAME]"
                        f" or one of {', '.join(dict.fromkeys([*known, *([WITH_TASK_PRESENTATION] if is_presentation else [])]))}"
                    )
        own_section = role == "target" or getattr(procedure, role) != study.config.RoleSection()
        if own_section and presentation_by_role[role] == WITH_TASK_PRESENTATION and not tasks_by_role[role]:
            faults.append(f"{where}: procedure.{role} shows its sentences with the task and asks nothing; expected ask = [...]")
    pairs = config.design.trial == "pair"
    faults += [
        f"{where}: procedure.{role}.ask names {name}, a question about one sentence; a trial that shows a pair has two"
        for role, names in tasks_by_role.items()
        for name in names
        if pairs and name in settings and "question" in find_task(settings[name].kind).REQUIRED_COLUMNS and role != "practice"
    ]
    faults += [
        f"{where}: design.task_shares names {name!r}, which no role asks; expected one of "
        f"{', '.join(_list_asked_tasks(tasks_by_role)) or '(none)'}"
        for name in config.design.task_shares
        if name not in _list_asked_tasks(tasks_by_role)
    ]
    for n, item in enumerate(config.design.attention, start=1):
        faults += [
            f"{where}: design.attention {n}: expected_responses names {name!r}, which attention items are not asked; "
            f"expected one of {', '.join(tasks_by_role['attention']) or '(none)'}"
            for name in item.expected_responses
            if name not in tasks_by_role["attention"]
        ]
    if faults:
        raise study.DataError(dict.fromkeys(faults))
    return StudyTasks(settings, presentation_by_role, tasks_by_role)


def _list_asked_tasks(tasks_by_role: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in tasks_by_role.values() for name in names))
