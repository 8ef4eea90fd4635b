"""What an experimenter looks at in a session, whatever its conditions: never a ground for payment."""

from dataclasses import dataclass
from itertools import pairwise

from .records import judged
from .sessions import Event, SessionRecord, sifted, steps_of
from .versions import VersionFile

FAST = 100.0  # ms; nobody reads a word in less


@dataclass(frozen=True)
class Quality:
    """Share of words faster than anybody reads, attention items answered as asked, and how many there were."""

    fast: float
    attentive: int
    attention: int


def quality(record: SessionRecord, file: VersionFile) -> Quality:
    """Return the quality of a session; `fast` is 0 where no word was read one by one."""
    known = sifted(record, file).known
    times = [b.t - a.t for a, b in _presses(known)]
    asked = right = 0
    steps = steps_of(record.session, file)
    for event in known:
        if event.kind != "outcome" or event.step is None or event.screen is None:
            continue
        step = steps[event.step].step
        screen = step.screens[event.screen]
        if (
            step.trial is not None
            and file.version.trials[step.trial].role == "attention"
            and getattr(screen, "right", None)
        ):
            asked += 1
            right += judged(screen, event.value) == "right"
    return Quality(sum(time < FAST for time in times) / len(times) if times else 0.0, right, asked)


def _presses(events: tuple[Event, ...]) -> list[tuple[Event, Event]]:
    """Each word that a press ended with the one before."""
    shown = [event for event in events if event.kind == "word"]
    return [
        (a, b)
        for a, b in pairwise(shown)
        if b.value["word"] > a.value["word"]
        and (a.step, a.screen) == (b.step, b.screen)
        and b.value["press"] is not None
    ]
