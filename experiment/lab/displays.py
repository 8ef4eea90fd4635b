"""What a screen shows and what comes back from it: values alone, so that a session runs on any screen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# Where the two answers of a choice stand, the keys that give them, and what is printed on the first of these.
SIDES = {
    "left": ("KeyF", "ArrowLeft"),
    "right": ("KeyJ", "ArrowRight"),
    "upper": ("KeyF", "ArrowUp"),
    "lower": ("KeyJ", "ArrowDown"),
}
CAPS = {"left": "F", "right": "J", "upper": "F", "lower": "J"}


@dataclass(frozen=True)
class Answer:
    """One of the answers on a screen: what it says, what is recorded, and the codes of its keys (docs/api.md)."""

    label: str
    value: int | str
    keys: tuple[str, ...]
    cap: str = ""
    side: str | None = None


def answers(labels: Sequence[str], values: Sequence[int | str], sides: tuple[str, str]) -> tuple[Answer, ...]:
    """Return an answer for each label: two are given by F and J as they stand, more by their number; numbers always do.

    >>> [(one.cap, one.side) for one in answers(["yes", "no"], [1, 0], ("left", "right"))]
    [('F', 'left'), ('J', 'right')]
    """
    made = []
    for n, (label, value) in enumerate(zip(labels, values, strict=True)):
        numbers = (f"Digit{n + 1}", f"Numpad{n + 1}")
        side = sides[n] if len(labels) == 2 else None
        keys = numbers if side is None else (*SIDES[side], *numbers)
        made.append(Answer(label, value, keys, str(n + 1) if side is None else CAPS[side], side))
    return tuple(made)


def points(number: int) -> tuple[Answer, ...]:
    """Return the points of a scale from 1, each answered by its number on the top row or the keypad."""
    return tuple(Answer(str(n), n, (f"Digit{n}", f"Numpad{n}")) for n in range(1, number + 1))


@dataclass(frozen=True)
class Page:
    """A page of text; with answers, or with a hint how to go on."""

    paragraphs: tuple[str, ...]
    heading: str = ""
    answers: tuple[Answer, ...] = ()
    hint: str = ""


@dataclass(frozen=True)
class Word:
    """A word, or the fixation mark before it, in the middle of the screen."""

    text: str
    hint: str = ""


@dataclass(frozen=True)
class Lines:
    """A sentence on lines whose words are covered but for word `shown` and, where it is cumulative, those before it."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    shown: int = -1
    cumulative: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Whole:
    """A text that is read at once."""

    text: str
    hint: str = ""


@dataclass(frozen=True)
class Task:
    """A prompt with its answers in a "row", in a "stack" or as the "points" of a scale with two labelled ends."""

    prompt: str
    answers: tuple[Answer, ...]
    arrangement: str = "row"
    low: str = ""
    high: str = ""
    sentence: str = ""
    progress: float = 0.0


@dataclass(frozen=True)
class Slider:
    """A scale from 0 to 100; `value` is None before it was moved."""

    prompt: str
    low: str
    high: str
    value: int | None
    hint: str
    sentence: str = ""
    progress: float = 0.0


@dataclass(frozen=True)
class Blank:
    """A question about the participant that waits to be filled in: what is typed so far, or which choice is marked."""

    heading: str
    note: str
    label: str
    given: str
    hint: str
    choices: tuple[str, ...] = ()
    fault: str = ""


Display = Page | Word | Lines | Whole | Task | Slider | Blank


@dataclass
class Painted:
    """When a display was asked for, the frame that showed it and the frame after that, ms; None while it has not come."""

    request: float
    frame: float
    frame2: float | None = None


@dataclass(frozen=True)
class Key:
    """A key that went down or up at `t`, as its hardware says, ms; `handler` is when this program saw it."""

    code: str
    t: float
    handler: float
    down: bool = True


@dataclass(frozen=True)
class Typed:
    """A character that was typed, whatever keys the layout or the language asks for."""

    text: str
    t: float


@dataclass(frozen=True)
class Click:
    """A click on an answer, or `at` a share of a slider's length."""

    answer: int
    t: float
    at: float = 0.0


@dataclass(frozen=True)
class Focus:
    """The window was left ("blur") or came back ("focus")."""

    reason: str
    t: float


Input = Key | Typed | Click | Focus


class Screen(Protocol):
    """A screen with a keyboard; all times are ms on one clock, from the start of this visit."""

    def now(self) -> float:
        """Return the time."""

    def prepare(self, displays: Sequence[Display]) -> None:
        """Make displays that follow each other, so that showing them takes no longer than a frame."""

    def show(self, display: Display) -> Painted:
        """Show a display on the next frame."""

    def wait(self, patience: float | None = None) -> Input | None:
        """Return what happens next, oldest first; None when nothing did for so many ms."""

    def places(self, words: Sequence[str], gaps: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """Return the line of each word of a sentence, and its position on that line."""

    def dropped(self) -> int | None:
        """Return the frames that came late since this was last asked; None where that cannot be told."""
