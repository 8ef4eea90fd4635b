"""What an experimenter looks at in a session, whatever its conditions: never a ground for payment."""

import re
from dataclasses import dataclass
from itertools import pairwise

from gardenpath.stimuli import Trial

from .sessions import Event, Record
from .versions import VersionFile

FAST = 100.0  # ms; nobody reads a word in less


@dataclass(frozen=True)
class Quality:
    """Share of words faster than anybody reads, attention items answered as asked, and how many there were."""

    fast: float
    attentive: int
    attention: int


def quality(record: Record, file: VersionFile) -> Quality:
    """Return the quality of a session; `fast` is 0 where no word was read one by one."""
    times = [b.t - a.t for a, b in _presses(record.events)]
    asked = right = 0
    for event in record.events:
        if event.kind == "response" and event.trial is not None:
            trial = file.version.trials[record.session.order[event.trial]]
            if trial.role == "attention" and trial.expected:
                asked += 1
                right += as_expected(trial, event.value["response"])
    return Quality(sum(time < FAST for time in times) / len(times) if times else 0.0, right, asked)


def as_expected(trial: Trial, response: str | float) -> bool:
    """Whether a response is one that the trial expects, or lies in an expected range, such as 0-10 on a slider."""
    return any(_meets(response, stated) for stated in trial.expected)


def _meets(response: str | float, stated: str) -> bool:
    if isinstance(response, str):
        return response == stated
    if found := re.fullmatch(r"(\d+)-(\d+)", stated):
        return int(found[1]) <= response <= int(found[2])
    return str(response) == {"yes": "1", "no": "0"}.get(stated, stated)


def _presses(events: tuple[Event, ...]) -> list[tuple[Event, Event]]:
    """Each word with the press that brought it."""
    shown = [event for event in events if event.kind in ("start", "word")]
    return [(a, b) for a, b in pairwise(shown) if b.kind == "word" and a.trial == b.trial]
