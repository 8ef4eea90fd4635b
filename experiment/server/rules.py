"""How places are given and kept, and what is raised for whoever cannot begin or go on."""

from dataclasses import dataclass
from datetime import timedelta

from gardenpath import study

from .payments import Ticket


@dataclass(frozen=True)
class Rules:
    """How places are given and kept: arguments from the section `online` of study.toml, and the screener."""

    quota: int | None = None
    sessions: int = 1
    lease: timedelta = timedelta(minutes=60)
    resume: timedelta = timedelta(hours=24)
    tab: timedelta = timedelta(seconds=90)
    keep_withdrawn: bool = False
    screener: tuple[study.config.ScreenerSection, ...] = ()


class Conflict(Exception):
    """The request contradicts what is stored; the message says how."""


class Refused(Conflict):
    """Nobody can begin or go on here; `reason` is one of docs/api.md, `session` the session concerned where there is one."""

    def __init__(self, reason: str, message: str, *, session: Ticket | None = None, wait: float | None = None) -> None:
        super().__init__(message)
        self.reason, self.session, self.wait = reason, session, wait
