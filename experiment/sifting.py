"""What a session may contain: events that its script does not know are set apart with a reason, and never become data.

One place decides, for the server, the tables and the dashboard. An event by itself is judged as it comes (`misfit`); how events
follow each other is judged in the order of their numbers (`sift`), whatever order they arrived in. Each step is judged by itself,
and an event that is lost takes no other one with it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gardenpath.study.screens import Event, Step, WordPairs, Words

from .records import fault
from .script import Placed, following, way_out

LONGEST_REASON = 200  # characters; a reason may quote what was sent


@dataclass(frozen=True)
class Sifted:
    """The events of a session that its script knows, in order, and by number why each other one is set apart."""

    known: tuple[Event, ...]
    apart: Mapping[int, str]


def sift(steps: Sequence[Placed], events: Iterable[Event]) -> Sifted:
    """Return which of a session's events, in order of their numbers, its steps know."""
    known: list[Event] = []
    apart: dict[int, str] = {}
    runs: dict[int, _Run] = {}
    done: set[int] = set()
    for event in events:
        reason = misfit(steps, event)
        if reason is None and event.step is not None and event.kind in _FOLLOWS:
            reason = _out_of_place(steps[event.step], event, runs, done)
        if reason is None:
            known.append(event)
        else:
            apart[event.seq] = reason
    return Sifted(tuple(known), apart)


def misfit(steps: Sequence[Placed], event: Event) -> str | None:
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
    judge = _JUDGES.get(event.kind)
    reason = None if judge is None else judge(screens[event.screen], event.value)
    return None if reason is None else reason[:LONGEST_REASON]


def _word_misfit(screen: Any, value: Mapping[str, Any]) -> str | None:
    if isinstance(screen, Words):
        number, chosen, lines = len(screen.words), False, len(screen.breaks)
    elif isinstance(screen, WordPairs):
        number, chosen, lines = len(screen.pairs), value["word"] >= 0, 0
    else:
        return f"a word on a screen of kind {screen.kind}"
    word, line = value["word"], value["line"]
    if not -1 <= word < number:
        return f"word {word}; expected one from -1 to {number - 1}"
    if line is not None and not 0 <= line <= lines:
        return f"line {line}; expected one from 0 to {lines}"
    if (value["correct"] is not None) != chosen:
        return f"correct is {value['correct']} of word {word}; expected {'true or false' if chosen else 'null'}"
    if value["first"] is not None and not chosen:
        return f"a first choice of word {word}, which is not chosen"
    return None


_JUDGES: Mapping[str, Callable[[Any, Mapping[str, Any]], str | None]] = {"word": _word_misfit, "outcome": fault}


@dataclass
class _Run:
    """A step that was begun: the screen that comes next (None after its end), how screens ended, the last word."""

    step: Step
    at: int | None = 0
    outcomes: dict[int, str] = field(default_factory=dict)
    word: Event | None = None
    whole: bool = True
    visit: int = 0

    def reach(self, event: Event) -> str | None:
        """Come to the screen of an event; events of those before may be lost."""
        n = event.screen
        assert n is not None
        if event.visit > self.visit and event.value.get("outcome") == "interrupted" and n in self.outcomes:
            # Timed words of an earlier visit are not shown again: whatever came after them comes anew.
            self.outcomes, self.at = {m: how for m, how in self.outcomes.items() if m < n}, n
        if self.at is None or n < self.at:
            return f"screen {n} has ended already"
        if n > self.at:
            when = self.step.screens[n].when
            ended = None if when is None else self.outcomes.get(when.screen)
            if when is not None and ended is not None and ended not in when.outcomes:
                return f"screen {n} is not shown after screen {when.screen} has ended {ended}"
            self.at, self.word, self.whole = n, None, False
        return None

    def read(self, event: Event) -> str | None:
        """Take a word; words come one after the other, and so do the presses that end them."""
        before, first = self.word, event.value["first"]
        if before is not None:
            if event.value["word"] <= before.value["word"]:
                return f"word {event.value['word']} after word {before.value['word']}"
            if event.visit != before.visit:
                return "the word before it was read in another visit"
            if not before.t <= (event.t if first is None else first) <= event.t:
                return "its time lies before that of the word before it"
        self.word = event
        return None

    def end(self, event: Event) -> None:
        """End the screen at hand."""
        n, outcome = event.screen, event.value["outcome"]
        assert n is not None
        self.outcomes[n], self.word, self.visit = outcome, None, event.visit
        if way_out(self.step.screens[n], outcome) is not None:
            self.at, self.whole = None, False
        else:
            self.at = following(self.step, n, self.outcomes)


_FOLLOWS = ("begin", "word", "outcome", "done")


def _out_of_place(placed: Placed, event: Event, runs: dict[int, _Run], done: set[int]) -> str | None:
    """Return why an event cannot follow those before it, None where it can; of a step begun again a new run counts."""
    number = placed.number
    if number in done:
        return f"step {number} is done already"
    if event.kind == "begin":
        runs[number] = _Run(placed.step, visit=event.visit)
        return None
    if (run := runs.get(number)) is None:
        return f"step {number} was not begun"
    if event.kind == "done":
        if run.at is not None or not run.whole:
            return f"step {number} has not come to its end"
        done.add(number)
        return None
    reason = None if event.screen == run.at else run.reach(event)
    if reason is None and event.kind == "word":
        return run.read(event)
    if reason is None:
        run.end(event)
    return reason
