"""How places are given and kept, and what is raised for whoever cannot begin or go on."""

from dataclasses import dataclass
from datetime import timedelta

from gardenpath import study

from .payments import ReturnTicket


@dataclass(frozen=True)
class SessionRules:
    """How places are given and kept: arguments from the section `online` of study.toml, and the screener."""

    quota: int | None = None
    max_sessions: int = 1
    lease_duration: timedelta = timedelta(minutes=60)
    resume_duration: timedelta = timedelta(hours=24)
    tab_duration: timedelta = timedelta(seconds=90)
    keeps_withdrawn_data: bool = False
    screener: tuple[study.config.ScreenerSection, ...] = ()


class Conflict(Exception):
    """The request contradicts what is stored; the message says how."""


class Refusal(Conflict):
    """Nobody can begin or go on here; `reason` is one of docs/api.md, `ticket` the session concerned where there is one."""

    def __init__(self, reason: str, message: str, *, ticket: ReturnTicket | None = None, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.reason, self.ticket, self.wait_seconds = reason, ticket, wait_seconds
