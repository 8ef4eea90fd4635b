"""Tasks and presentations: what is shown of a sentence and what is asked of it, a module each, listed here in TASKS.

KINDS                                  what `kind` says in study.toml, or `show` and `ask` where no table is needed
SHOWS                                  whether it shows the sentence (a presentation) or asks of it
Settings                               the table [procedure.tasks.NAME], a frozen dataclass that checks itself
NEEDS                                  the fields and free columns of items without which it is not asked
GIVES                                  the response of a trial that mixed models take (log_rt, rating, correct or chosen), or None
instructions(settings, texts)          the page that explains it
screens(settings, moment)              the screens of one trial, in order; `ValueError` says why there can be none
act(screen, reader) -> Act             what a robot does on one of them, and when
rows(record, shown)                    the rows of `readings` and `responses` that a record of one of them makes in a trial that
                                       showed this; files of other platforms become the same records

A task knows nothing of players, servers or platforms, and none of these knows a task: they know the kinds of screens
(gardenpath.study.screens).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from gardenpath import study
from gardenpath.study.screens import Record

from ..standard_texts import Texts
from . import choice, completion, lexical_decision, maze, question, rating, rsvp, self_paced, whole
from .moment import Act, Moment, Reader, Row
from .recording import ShownTrial, readings, response

__all__ = [
    "TASKS",
    "Act",
    "Moment",
    "Reader",
    "Row",
    "ShownTrial",
    "Task",
    "Tasks",
    "rows_of",
    "task_of",
    "tasks_of",
]


class Task(Protocol):
    """What each of the modules above is; its texts are those of texts/<its name>.toml."""

    @property
    def __name__(self) -> str: ...

    @property
    def KINDS(self) -> tuple[str, ...]: ...

    @property
    def SHOWS(self) -> bool: ...

    @property
    def NEEDS(self) -> tuple[str, ...]: ...

    @property
    def GIVES(self) -> str | None: ...

    @property
    def Settings(self) -> type: ...

    def instructions(self, settings: Any, texts: Texts) -> str: ...

    def screens(self, settings: Any, moment: Moment) -> Iterator[Any]: ...

    def act(self, screen: Any, reader: Reader) -> Act: ...

    def rows(self, record: Record, shown: ShownTrial) -> Iterator[Row]: ...


TASKS: list[Task] = [self_paced, whole, rsvp, maze, rating, question, choice, completion, lexical_decision]
# A sentence that is not read before it is asked about stands above what is asked.
WITH_TASK = "with_task"


def task_of(kind: str) -> Task:
    """Return the task of a kind; raises `KeyError` for none."""
    if (task := _registered(kind)) is None:
        raise KeyError(f"task {kind!r} is not known; expected one of {', '.join(_kinds())}")
    return task


def _registered(kind: str) -> Task | None:
    return next((task for task in TASKS if kind in task.KINDS), None)


def rows_of(record: Record, shown: ShownTrial) -> Iterator[Row]:
    """Return the rows that a record makes as its task has them; of a task that is none of ours its words, or its answer."""
    task = _registered(record.task)
    # Another lab may call a question about a sentence what we call a way of reading it.
    if task is None or (task.SHOWS and record.answer is not None):
        return (readings if record.words else response)(record, shown)
    return task.rows(record, shown)


def _kinds(shows: bool | None = None) -> list[str]:
    return [kind for task in TASKS if shows in (None, task.SHOWS) for kind in task.KINDS]


class Tasks:
    """The tasks that a study uses: their settings by name, and what each role shows and asks."""

    def __init__(
        self, settings: Mapping[str, Any], shows: Mapping[str, str], asks: Mapping[str, Sequence[str]]
    ) -> None:
        self.settings, self.shows, self.asks = settings, shows, asks

    def task(self, name: str) -> Task:
        """Return the task of a name."""
        return task_of(self.settings[name].kind)

    def giving(self, names: Iterable[str]) -> set[str]:
        """Return the responses that tasks of these names give; a name that needs no settings gives none."""
        return {gives for name in names if name in self.settings and (gives := self.task(name).GIVES) is not None}

    def needing(self) -> dict[str, tuple[str, ...]]:
        """Return the fields and columns of items that tasks need, by the tasks' names."""
        return {name: self.task(name).NEEDS for name in self.settings if self.task(name).NEEDS}


def tasks_of(plan: study.Study) -> Tasks:
    """Return the tasks of a study; raises `study.DataError` with every fault of every table at once."""
    where, procedure = str(plan.path), plan.procedure
    settings: dict[str, Any] = {}
    faults: list[str] = []

    def add(name: str, table: Mapping[str, Any]) -> None:
        try:
            task = task_of(table["kind"])
        except KeyError as error:
            faults.append(f"{where}: procedure.tasks.{name}: {error.args[0]}")
            return
        task.Settings.__pydantic_config__ = study.config.STRICT  # type: ignore[attr-defined]  # a misspelt key is an error
        try:
            settings[name] = study.config.structure(
                task.Settings, dict(table), where=f"{where}: procedure.tasks.{name}"
            )
        except study.DataError as error:
            faults.extend(error.faults)

    for name, table in procedure.tasks.items():
        add(name, table)
    usual = ("with_task", ["choice"]) if plan.design.trial == "pair" else ("centred", [])
    shows, asks = {}, {}
    for role in study.config.ROLES:
        section = procedure.role(role)
        shows[role], asks[role] = section.show or usual[0], list(usual[1] if section.ask is None else section.ask)
    for role in study.config.ROLES:
        for key, names, shown in (("show", [shows[role]], True), ("ask", asks[role], False)):
            for name in names:
                if name == WITH_TASK and shown:
                    continue
                if name not in settings and name not in procedure.tasks and name in _kinds():
                    add(name, {"kind": name})
                if name in settings and shown != task_of(settings[name].kind).SHOWS:
                    faults.append(f"{where}: procedure.{role}.{key} names {name}, which {'asks' if shown else 'shows'}")
                elif name not in settings and name not in procedure.tasks:
                    known = [*(n for n in settings if shown == task_of(settings[n].kind).SHOWS), *_kinds(shown)]
                    faults.append(
                        f"{where}: procedure.{role}.{key} names {name!r}; expected a task of [procedure.tasks.NAME]"
                        f" or one of {', '.join(dict.fromkeys([*known, *([WITH_TASK] if shown else [])]))}"
                    )
        if shows[role] == WITH_TASK and not asks[role]:
            faults.append(
                f"{where}: procedure.{role} shows its sentences with the task and asks nothing; expected ask = [...]"
            )
    pairs = plan.design.trial == "pair"
    faults += [
        f"{where}: procedure.{role}.ask names {name}, a question about one sentence; a trial that shows a pair has two"
        for role, names in asks.items()
        for name in names
        if pairs and name in settings and "question" in task_of(settings[name].kind).NEEDS and role != "practice"
    ]
    faults += [
        f"{where}: design.share names {name!r}, which no role asks; expected one of {', '.join(_asked(asks)) or '(none)'}"
        for name in plan.design.share
        if name not in _asked(asks)
    ]
    for n, item in enumerate(plan.design.attention, start=1):
        faults += [
            f"{where}: design.attention {n}: responses names {name!r}, which attention items are not asked; "
            f"expected one of {', '.join(asks['attention']) or '(none)'}"
            for name in item.responses
            if name not in asks["attention"]
        ]
    if faults:
        raise study.DataError(dict.fromkeys(faults))
    return Tasks(settings, shows, asks)


def _asked(asks: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in asks.values() for name in names))
