"""What a session leaves behind: its events as players send them, and the records that are made of them.

Events stay as they came, so their values are dictionaries with typed keys. From these types the schema and the page's types are
generated, with those of study/screens.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Unpack, get_args

from pydantic import ConfigDict, Discriminator, Field, with_config
from typing_extensions import TypedDict  # pydantic wants this one under Python 3.12

from .screens import Outcome, Side

Json = dict[str, Any]

# Nothing is guessed: a field too many, or a number in the clothes of a text, is a fault.
_strict = with_config(ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))
_Number = Annotated[int, Field(ge=0)]


# ------------------------------------------------------------------------------------------------------------ values of events


@_strict
class Display(TypedDict):
    """When a display was asked for, the frame that painted it and the frame after that, ms; null where it has not come."""

    request: float
    frame: float | None
    frame2: float | None


@_strict
class Press(TypedDict):
    """How a display was ended: `handler` is when the program saw it, `repeats` how many auto-repeats of a held key were ignored,
    `released` when the press before was let go (null where it was not), `trusted` whether it came from a person's device.
    """

    by: Literal["key", "button", "touch"]
    handler: float
    repeats: int | None
    released: float | None
    trusted: bool | None


@_strict
class Visit(TypedDict):
    """The machine, in the first event of each visit; `time_origin` is ms since 1970 at t = 0, `timer_ms` the clock's smallest step.

    `monitor`, `full_screen`, `font` and `software` (versions by name) come from the lab.
    """

    time_origin: float
    device: str
    refresh_hz: float | None
    timer_ms: float | None
    width: float | None
    height: float | None
    pixel_ratio: float | None
    isolated: bool | None
    keyboard: bool | None
    monitor: str | None
    full_screen: bool | None
    font: str | None
    software: Mapping[str, str]


@_strict
class Began(TypedDict):
    """A step begins."""


@_strict
class WordEnded(TypedDict):
    """The display of a word, or of what stands before the first (-1), ended at the event's t; without a press, by time.

    `line` and `column` are its position where sentences stand on lines; in Maze `correct` says whether the first choice was right,
    and `first` when it was made, ms.
    """

    word: int
    line: int | None
    column: int | None
    display: Display
    press: Press | None
    correct: bool | None
    first: float | None


Answered = str | int | Mapping[str, str | int] | None


@_strict
class Ended(TypedDict):
    """A screen ended with an outcome at the event's t; without a display where words had displays of their own.

    `answer` is what was answered (of a form, its answers by name); `side` is where the chosen answer stood; `first` is when the
    first key of a typed answer came, ms; `pasted` is how often text was pasted.
    """

    outcome: Outcome
    answer: Answered
    side: Side | None
    display: Display | None
    press: Press | None
    first: float | None
    pasted: int | None


IgnoredReason = Literal["early", "held", "repeat", "modifier", "other"]


@_strict
class Ignored(TypedDict):
    """A key press that ended nothing."""

    reason: IgnoredReason
    code: str


@_strict
class Interruption(TypedDict):
    """The window was left or came back, or changed; `escape`: in the lab, the question whether to stop."""

    reason: Literal["blur", "focus", "hidden", "visible", "resize", "escape"]


@_strict
class Done(TypedDict):
    """A step is done; `dropped_frames` came late while its sentences were read, null where that is not known."""

    dropped_frames: int | None


@_strict
class Over(TypedDict):
    """The session is over."""


EventValue = Visit | Began | WordEnded | Ended | Ignored | Interruption | Done | Over


def build_display(request: float, frame: float | None, frame2: float | None) -> Display:
    """Return the times of a display."""
    return {"request": request, "frame": frame, "frame2": frame2}


def build_word_ended(
    word: int,
    display: Display,
    press: Press | None = None,
    line_position: tuple[int | None, int | None] = (None, None),
    correct: bool | None = None,
    first: float | None = None,
) -> WordEnded:
    """Return how a word ended; `line_position` is its line and its column."""
    line, column = line_position
    return {"word": word, "line": line, "column": column, "display": display, "press": press, "correct": correct, "first": first}


class AnswerFields(TypedDict, total=False):
    """What `Ended` says of an answer; None where it is not given."""

    answer: Answered
    side: Side | None
    first: float | None
    pasted: int | None


def build_ended(
    outcome: Outcome, *, display: Display | None = None, press: Press | None = None, **answer_fields: Unpack[AnswerFields]
) -> Ended:
    """Return how a screen ended."""
    return {
        "outcome": outcome,
        "answer": answer_fields.get("answer"),
        "side": answer_fields.get("side"),
        "display": display,
        "press": press,
        "first": answer_fields.get("first"),
        "pasted": answer_fields.get("pasted"),
    }


# ------------------------------------------------------------------------------------------------------------ events


@dataclass  # events are made by the million: frozen, they take three times as long to make
class _Event:
    """What all events have: `seq` numbers them over the session, `t` is in ms on the clock of one visit.

    `step` and `screen` say where in the session; they are None where the kind of event has none.
    """

    seq: _Number
    visit: _Number
    t: float


@_strict
@dataclass
class VisitEvent(_Event):
    kind: Literal["visit"]
    step: None
    screen: None
    value: Visit


@_strict
@dataclass
class BeganEvent(_Event):
    kind: Literal["begin"]
    step: _Number
    screen: None
    value: Began


@_strict
@dataclass
class WordEndedEvent(_Event):
    kind: Literal["word"]
    step: _Number
    screen: _Number
    value: WordEnded


@_strict
@dataclass
class EndedEvent(_Event):
    kind: Literal["outcome"]
    step: _Number
    screen: _Number
    value: Ended


@_strict
@dataclass
class IgnoredEvent(_Event):
    kind: Literal["press"]
    step: _Number | None
    screen: _Number | None
    value: Ignored


@_strict
@dataclass
class InterruptionEvent(_Event):
    kind: Literal["interruption"]
    step: _Number | None
    screen: _Number | None
    value: Interruption


@_strict
@dataclass
class DoneEvent(_Event):
    kind: Literal["done"]
    step: _Number
    screen: None
    value: Done


@_strict
@dataclass
class OverEvent(_Event):
    kind: Literal["end"]
    step: None
    screen: None
    value: Over


Event = Annotated[
    VisitEvent | BeganEvent | WordEndedEvent | EndedEvent | IgnoredEvent | InterruptionEvent | DoneEvent | OverEvent,
    Discriminator("kind"),
]
EVENT_TYPES: Mapping[str, type[Any]] = {
    get_args(event_type.__annotations__["kind"])[0]: event_type for event_type in get_args(get_args(Event)[0])
}


def create_event(
    seq: int, visit: int, t: float, kind: str, step: int | None, screen: int | None, value: Mapping[str, Any]
) -> Event:
    """Return the event of a kind, unchecked; raises `KeyError` for a kind that there is not."""
    event: Event = EVENT_TYPES[kind](seq, visit, t, kind, step, screen, value)
    return event


# ------------------------------------------------------------------------------------------------------------ records


@dataclass(unsafe_hash=True)  # nobody changes it; not frozen as events are not
class WordRecord:
    """A word that was read, times in ms: `rt` from the press before, `rt_onset` from the frame that painted the word.

    `word` is its number in the sentence, from 0; `text` and `region` are there where only another platform's file says them.
    """

    word: int
    rt: float | None
    rt_onset: float | None = None
    rt_first: float | None = None
    correct: bool | None = None
    line: int | None = None
    duration: float | None = None
    flags: tuple[str, ...] = ()
    text: str | None = None
    region: str | None = None


@dataclass(frozen=True)
class Record:
    """A screen as it was run: its outcome, the answer with its side, times in ms from the frame that painted it, and its words.

    `task` is the kind of the screen's task, `name` the screen's own; `sentence` is which of the trial's sentences was read, None
    for a context, and where something was asked. Without an outcome the screen was left, or a file does not say how it ended.
    """

    task: str
    name: str
    outcome: str | None
    answer: str | int | float | Mapping[str, str | int] | None = None
    side: str | None = None
    rt: float | None = None
    rt_first: float | None = None
    words: tuple[WordRecord, ...] = ()
    sentence: int | None = None
