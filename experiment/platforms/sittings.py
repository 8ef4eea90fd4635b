"""What a platform's files say, before it is held against the materials: sittings, trials, words, answers.

A platform's module makes these of its files and says no more than they say: what is not there stays None. `tables` makes
the declared tables of them, with the words taken from the items.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReadWord:
    """A word that was read: its text as the file has it, and times in ms; a region where only the file can say it.

    `line`, `rt_first`, `duration` and `correct` as in the table `readings`.
    """

    text: str | None
    rt: float | None
    rt_onset: float | None = None
    flags: tuple[str, ...] = ()
    region: str | None = None
    line: int | None = None
    rt_first: float | None = None
    duration: float | None = None
    correct: bool | None = None


@dataclass(frozen=True)
class Answer:
    """An answer to one prompt, its fields as in the table `responses`; without a response where none came in time."""

    task: str
    prompt: str
    response: str | float | None
    rt: float | None = None
    side: str | None = None
    correct: bool | None = None
    outcome: str | None = None
    rt_first: float | None = None


@dataclass(frozen=True)
class Presented:
    """One trial at its presented position; `where` names file and line in messages.

    A file that holds the `sentence` and names no item leaves `item` and `condition` empty: the materials name them.
    """

    trial: int
    item: str
    condition: str
    where: str
    role: str | None = None
    paradigm: str | None = None
    words: tuple[ReadWord, ...] = ()
    answers: tuple[Answer, ...] = ()
    sentence: str | None = None


@dataclass(frozen=True)
class Sitting:
    """One sitting of one participant; `participant` is the platform's own name for them, hashed before it is written.

    `version_sha256` and `slot` are there where the study was exported by gardenpath: they say which texts and which order it ran.
    """

    id: str
    participant: str
    source: str
    presented: tuple[Presented, ...]
    complete: bool
    where: str
    started: str | None = None
    finished: str | None = None
    experiment: str | None = None
    version: str | None = None
    slot: int | None = None
    version_sha256: str | None = None
    device: str | None = None
    refresh_hz: float | None = None
    demographics: Mapping[str, str] = field(default_factory=dict)
