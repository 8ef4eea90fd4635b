"""The steps of a session, as the page has them (experiment/web/src/session.ts)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..sessions import Json


@dataclass(frozen=True)
class Step:
    """A step of a session; `trial` is there for a trial, `page` for a page of instructions."""

    kind: str
    page: int = 0
    trial: Json | None = None
    progress: float = 0.0


def steps(payload: Json) -> Iterator[Step]:
    """Yield the steps that are left of a session; `progress` is the share of trials behind the reader after the step."""
    done, trials = set(payload["done"]), payload["trials"]
    if not is_resumed(payload):
        if payload["procedure"]["device"]["keyboard"]:
            yield Step("device")
        yield Step("consent")
        for page in range(len(payload["texts"]["instructions"])):
            yield Step("instructions", page)
    for n, trial in enumerate(trials):
        if trial["trial"] in done:
            continue
        if trial["role"] != "practice" and n > 0 and trials[n - 1]["role"] == "practice":
            yield Step("practice_over")
        elif trial["break_before"]:
            yield Step("break")
        yield Step("trial", trial=trial, progress=(n + 1) / len(trials))
    if payload["procedure"]["demographics"]:
        yield Step("demographics")


def is_resumed(payload: Json) -> bool:
    """Return whether consent and instructions lie behind the participant."""
    return bool(payload["done"]) and payload["visit"] > 0
