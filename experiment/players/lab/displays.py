"""What a screen shows and what comes back from it: values alone, so that a session runs on any screen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gardenpath.study.screens import Answer, Answers, Slider, Whole


@dataclass(frozen=True)
class Page:
    """A page of text; with answers, or with a hint how to go on."""

    paragraphs: tuple[str, ...]
    heading: str = ""
    answers: tuple[Answer, ...] = ()
    hint: str = ""


@dataclass(frozen=True)
class Word:
    """A word, the `is_mark` before the first one, or nothing, in the middle of the screen."""

    text: str
    hint: str = ""
    is_mark: bool = False


@dataclass(frozen=True)
class Lines:
    """A sentence on lines whose words are covered but for word `visible_word` and, where it is cumulative, those before it.

    The words `breaks`, by number, begin a further line.
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    breaks: tuple[int, ...] = ()
    visible_word: int = -1
    is_cumulative: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Pair:
    """Two words beside each other; `hint` is what was wrong with the choice between them."""

    left: str
    right: str
    hint: str = ""


@dataclass(frozen=True)
class AnswerDisplay:
    """A screen that is answered by a key or a click; `value` is where a slider stands, None before it was moved."""

    screen: Answers | Slider
    progress: float = 0.0
    value: int | None = None


@dataclass(frozen=True)
class Blank:
    """A question that waits to be filled in: what is typed so far, or which choice is marked."""

    heading: str
    note: str
    label: str
    text: str
    hint: str
    choices: tuple[str, ...] = ()
    fault: str = ""
    text_above: str = ""
    max_length: int = 200
    progress: float | None = None


Display = Page | Word | Lines | Pair | Whole | AnswerDisplay | Blank


@dataclass
class FrameTimes:
    """When a display was asked for, the frame that showed it and the frame after that, ms; None while it has not come."""

    request: float
    frame: float
    next_frame: float | None = None


@dataclass(frozen=True)
class Key:
    """A key that went down or up at `t`, as its hardware says, ms; `handler` is when this program saw it.

    `code` says where it stands, `character` what the layout types with it as it went down: "" where that is no character.
    """

    code: str
    t: float
    handler: float
    is_down: bool = True
    character: str = ""


@dataclass(frozen=True)
class TypedCharacter:
    """A character that was typed, whatever keys the layout or the language asks for."""

    text: str
    t: float


@dataclass(frozen=True)
class Click:
    """A click on an answer, or `slider_share` a share of a slider's length."""

    answer: int
    t: float
    slider_share: float = 0.0


@dataclass(frozen=True)
class Focus:
    """The window was left ("blur") or came back ("focus")."""

    reason: Literal["blur", "focus"]
    t: float


Input = Key | TypedCharacter | Click | Focus


class Screen(Protocol):
    """A screen with a keyboard; all times are ms on one clock, from the start of this visit."""

    refresh: float | None  # Hz; None where flips do not wait for a refresh

    def now(self) -> float:
        """Return the time."""

    def prepare(self, displays: Sequence[Display]) -> None:
        """Make displays that follow each other, so that showing them takes no longer than a frame."""

    def show(self, display: Display) -> FrameTimes:
        """Show a display on the next frame."""

    def wait(self, patience: float | None = None) -> Input | None:
        """Return what happens next, oldest first; None when nothing did for so many ms."""

    def hold_display(self, frames: int) -> Input | None:
        """Return what happens while the display shown last stands for so many frames, counted from its first.

        None when nothing does: what is shown next comes with the frame after these.
        """

    def count_dropped_frames(self) -> int | None:
        """Return the frames that came late since this was last asked; None where that cannot be told."""
