"""What cannot be of a person at a keyboard: times, presses and steps that are named, kept, and never dropped in silence.

A flag is no verdict: a script made these events, a browser counted wrongly, or somebody changed the page. Exclusions that act on
flags are declared (`analysis.exclude.flags` for words, `session_flags` for sessions).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gardenpath.study.events import Event, WordEndedEvent
from gardenpath.study.screens import Screen, WordPairs, Words

from ..scripts.script import TimelineStep

MAX_WORD_MS = 3_600_000.0  # an hour at one word
MAX_STEP_BACK_MS = 1_000.0  # by which an event may lie before the one that was noted before it
MAX_STEP_FORWARD_MS = 86_400_000.0  # a day within a visit without any event
MAX_BEGINS = 20  # of one step, each after a reload

IMPOSSIBLE_TIME, NO_PRESS, UNTRUSTED_PRESS = "impossible_time", "no_press", "untrusted_press"
CLOCK_STEP, REPEATED_STEP = "clock_step", "repeated_step"
# Each flag of a session, and how the dashboard says it.
SESSION_FLAGS = {
    IMPOSSIBLE_TIME: "times that cannot be",
    NO_PRESS: "words without a press",
    UNTRUSTED_PRESS: "keys that a script made",
    CLOCK_STEP: "a clock that was set",
    REPEATED_STEP: f"a step begun over {MAX_BEGINS} times",
}


def list_word_flags(screen: Screen, event: WordEndedEvent, before: WordEndedEvent) -> Iterator[str]:
    """Yield what cannot be of a word that was read after another one: its time, and the press that ended it."""
    press = event.value["press"]
    is_paced = isinstance(screen, Words) and screen.pace is not None
    if press is None and not is_paced and isinstance(screen, Words | WordPairs):
        yield NO_PRESS
    if press is not None and press["trusted"] is False:
        yield UNTRUSTED_PRESS
    if not 0 < event.t - before.t <= MAX_WORD_MS:
        yield IMPOSSIBLE_TIME


def list_session_flags(steps: Sequence[TimelineStep], events: Iterable[Event]) -> tuple[str, ...]:
    """Return, sorted, what cannot be of a session by its valid events: of its words, its clock, and the beginnings of its steps."""
    found: set[str] = set()
    begins: Counter[int] = Counter()
    last: Event | None = None
    last_word: WordEndedEvent | None = None
    for event in events:
        if event.kind == "begin":
            begins[event.step] += 1
        elif event.kind == "word":
            if last_word is not None and (last_word.step, last_word.screen) == (event.step, event.screen):
                found.update(list_word_flags(steps[event.step].step.screens[event.screen], event, last_word))
        elif event.kind == "outcome" and (press := event.value["press"]) is not None and press["trusted"] is False:
            found.add(UNTRUSTED_PRESS)
        if event.kind in ("begin", "word"):
            last_word = event if event.kind == "word" else None
        if last is not None and last.visit == event.visit and not -MAX_STEP_BACK_MS <= event.t - last.t <= MAX_STEP_FORWARD_MS:
            found.add(CLOCK_STEP)
        last = event
    if max(begins.values(), default=0) > MAX_BEGINS:
        found.add(REPEATED_STEP)
    return tuple(sorted(found))
