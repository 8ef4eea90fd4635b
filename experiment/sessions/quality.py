"""What an experimenter looks at in a session, whatever its conditions: never a ground for payment."""

from dataclasses import dataclass
from itertools import pairwise

from gardenpath.study.events import WordEndedEvent
from gardenpath.study.screens import AskingScreen

from ..scripts.list_files import ListFile
from .plausibility import list_session_flags
from .records import judge_outcome
from .sessions import Event, RecordedSession, build_session_timeline, validate_session_events

MIN_READING_MS = 100.0  # ms; nobody reads a word in less


@dataclass(frozen=True)
class SessionQuality:
    """Share of words faster than anybody reads, attention items answered as asked, how many there were, and what cannot be."""

    fast_share: float
    attention_passed: int
    attention_asked: int
    flags: tuple[str, ...] = ()


def compute_session_quality(recorded_session: RecordedSession, file: ListFile) -> SessionQuality:
    """Return the quality of a session; `fast` is 0 where no word was read one by one."""
    events = validate_session_events(recorded_session, file).valid_events
    times = [b.t - a.t for a, b in _pair_word_events(events)]
    asked = right = 0
    steps = build_session_timeline(recorded_session.session, file)
    for event in events:
        if event.kind != "outcome" or event.step is None or event.screen is None:
            continue
        step = steps[event.step].step
        screen = step.screens[event.screen]
        if (
            step.trial is not None
            and file.trial_list.trials[step.trial].role == "attention"
            and isinstance(screen, AskingScreen)
            and screen.right
        ):
            asked += 1
            right += judge_outcome(screen, event.value["outcome"], event.value["answer"]) == "right"
    fast_share = sum(time < MIN_READING_MS for time in times) / len(times) if times else 0.0
    return SessionQuality(fast_share, right, asked, list_session_flags(steps, events))


def _pair_word_events(events: tuple[Event, ...]) -> list[tuple[WordEndedEvent, WordEndedEvent]]:
    """Each word that a press ended with the one before."""
    word_events = [event for event in events if event.kind == "word"]
    return [
        (a, b)
        for a, b in pairwise(word_events)
        if b.value["word"] > a.value["word"] and (a.step, a.screen) == (b.step, b.screen) and b.value["press"] is not None
    ]
