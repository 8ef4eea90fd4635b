"""What a session may contain: events that its script does not know are set apart with a reason, and never become data.

One place decides, for the server, the tables and the dashboard. An event by itself is judged as it comes (`find_misfit`); how
events follow each other is judged in the order of their numbers (`validate_events`), whatever order they arrived in. Each step is
judged by itself, and an event that is lost takes no other one with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gardenpath.study.events import BeganEvent, DoneEvent, EndedEvent, Event, WordEnded, WordEndedEvent
from gardenpath.study.screens import Screen, Step, WordPairs, Words

from ..scripts.script import TimelineStep, find_ending, find_next_screen
from .records import find_outcome_fault

MAX_REASON_LENGTH = 200  # characters; a reason may quote what was sent


@dataclass(frozen=True)
class ValidatedEvents:
    """The events of a session that its script knows, in order, and by number why each other one is set apart."""

    valid_events: tuple[Event, ...]
    rejection_reasons: Mapping[int, str]


def validate_events(steps: Sequence[TimelineStep], events: Iterable[Event]) -> ValidatedEvents:
    """Return which of a session's events, in order of their numbers, its steps know."""
    valid_events: list[Event] = []
    rejection_reasons: dict[int, str] = {}
    runs: dict[int, _StepRun] = {}
    done_steps: set[int] = set()
    for event in events:
        reason = find_misfit(steps, event)
        if reason is None and isinstance(event, _OrderedEvent):
            reason = _find_order_fault(steps[event.step], event, runs, done_steps)
        if reason is None:
            valid_events.append(event)
        else:
            rejection_reasons[event.seq] = reason
    return ValidatedEvents(tuple(valid_events), rejection_reasons)


def find_misfit(steps: Sequence[TimelineStep], event: Event) -> str | None:
    """Return why no session of these steps can contain this event, None where one can."""
    if event.step is None:
        return None
    if event.step >= len(steps):
        return f"step {event.step}; expected one from 0 to {len(steps) - 1}"
    screens = steps[event.step].step.screens
    if event.screen is None:
        return None
    if event.screen >= len(screens):
        return f"screen {event.screen}; expected one from 0 to {len(screens) - 1}"
    reason = None
    if event.kind == "word":
        reason = _find_word_misfit(screens[event.screen], event.value)
    elif event.kind == "outcome":
        reason = find_outcome_fault(screens[event.screen], event.value)
    return None if reason is None else reason[:MAX_REASON_LENGTH]


def _find_word_misfit(screen: Screen, value: WordEnded) -> str | None:
    if isinstance(screen, Words):
        number, is_choice, lines = len(screen.words), False, len(screen.breaks)
    elif isinstance(screen, WordPairs):
        number, is_choice, lines = len(screen.pairs), value["word"] >= 0, 0
    else:
        return f"a word on a screen of kind {screen.kind}"
    word, line = value["word"], value["line"]
    if not -1 <= word < number:
        return f"word {word}; expected one from -1 to {number - 1}"
    if line is not None and not 0 <= line <= lines:
        return f"line {line}; expected one from 0 to {lines}"
    if (value["correct"] is not None) != is_choice:
        return f"correct is {value['correct']} of word {word}; expected {'true or false' if is_choice else 'null'}"
    if value["first"] is not None and not is_choice:
        return f"a first choice of word {word}, which is not chosen"
    return None


@dataclass
class _StepRun:
    """A step that was begun: the screen that comes next (None after its end), how screens ended, the last word."""

    step: Step
    next_screen: int | None = 0
    outcomes: dict[int, str] = field(default_factory=dict)
    last_word: WordEndedEvent | None = None
    is_whole: bool = True
    visit: int = 0

    def reach_screen(self, event: WordEndedEvent | EndedEvent) -> str | None:
        """Come to the screen of an event; events of those before may be lost."""
        n = event.screen
        is_interrupted = event.kind == "outcome" and event.value["outcome"] == "interrupted"
        if event.visit > self.visit and is_interrupted and n in self.outcomes:
            # Timed words of an earlier visit are not shown again: whatever came after them comes anew.
            self.outcomes, self.next_screen = {m: outcome for m, outcome in self.outcomes.items() if m < n}, n
        if self.next_screen is None or n < self.next_screen:
            return f"screen {n} has ended already"
        if n > self.next_screen:
            when = self.step.screens[n].when
            condition_outcome = None if when is None else self.outcomes.get(when.screen)
            if when is not None and condition_outcome is not None and condition_outcome not in when.outcomes:
                return f"screen {n} is not shown after screen {when.screen} has ended {condition_outcome}"
            self.next_screen, self.last_word, self.is_whole = n, None, False
        return None

    def read_word(self, event: WordEndedEvent) -> str | None:
        """Take a word; words come one after the other, and so do the presses that end them."""
        before, first = self.last_word, event.value["first"]
        if before is not None:
            if event.value["word"] <= before.value["word"]:
                return f"word {event.value['word']} after word {before.value['word']}"
            if event.visit != before.visit:
                return "the word before it was read in another visit"
            if not before.t <= (event.t if first is None else first) <= event.t:
                return "its time lies before that of the word before it"
        self.last_word = event
        return None

    def end_screen(self, event: EndedEvent) -> None:
        """End the screen at hand."""
        n, outcome = event.screen, event.value["outcome"]
        self.outcomes[n], self.last_word, self.visit = outcome, None, event.visit
        if find_ending(self.step.screens[n], outcome) is not None:
            self.next_screen, self.is_whole = None, False
        else:
            self.next_screen = find_next_screen(self.step, n, self.outcomes)


_OrderedEvent = BeganEvent | WordEndedEvent | EndedEvent | DoneEvent


def _find_order_fault(
    timeline_step: TimelineStep, event: _OrderedEvent, runs: dict[int, _StepRun], done_steps: set[int]
) -> str | None:
    """Return why an event cannot follow those before it, None where it can; of a step begun again a new run counts."""
    number = timeline_step.number
    if number in done_steps:
        return f"step {number} is done already"
    if event.kind == "begin":
        runs[number] = _StepRun(timeline_step.step, visit=event.visit)
        return None
    if (run := runs.get(number)) is None:
        return f"step {number} was not begun"
    if event.kind == "done":
        if run.next_screen is not None or not run.is_whole:
            return f"step {number} has not come to its end"
        done_steps.add(number)
        return None
    reason = None if event.screen == run.next_screen else run.reach_screen(event)
    if reason is not None:
        return reason
    if event.kind == "word":
        return run.read_word(event)
    run.end_screen(event)
    return None
