"""What a session shows: types alone, from which the schema and the page's types are generated (events.py: what it leaves behind).

A list's trials are expanded to screens once, in Python (experiment/scripts/script.py), and stored in its list file. A screen
is what a player runs without giving control back; it ends with one named outcome. Players, the server, robots, exports and the
tables' reader know kinds of screens, never tasks.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Discriminator

from .config import DeviceSection, DisplaySection, FieldSection

ResponseValue = str | int
Side = Literal["left", "right", "upper", "lower"]
SKIP_STEP = "skip"  # an outcome that leads here skips what is left of its step

# How a screen can end; `read`, `answered` and `continued` are plain. A player that knows the right answers says right or wrong.
Outcome = Literal[
    "continued",
    "read",
    "answered",
    "right",
    "wrong",
    "timeout",
    "interrupted",
    "accepted",
    "declined",
    "unsuitable",
    "screened_out",
]
JUDGED_OUTCOMES: tuple[Outcome, ...] = ("right", "wrong", "timeout")


# ------------------------------------------------------------------------------------------------------------ flow


@dataclass(frozen=True)
class After:
    """Show a screen only where an earlier one of its step ended so; a screen that was not shown did not end."""

    screen: int
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Share:
    """Run a step only where the share of judged screens that ended right over a block lies below `below`.

    A block of which nothing was judged has the share 0; one that did not run leads to no further round.
    """

    block: str
    below: float


@dataclass(frozen=True)
class Exit:
    """Where an outcome leads if not to the next screen: past the rest of the step (`skip`), or out of the study by an ending."""

    outcome: Outcome
    to: str


# ------------------------------------------------------------------------------------------------------------ screens


@dataclass(frozen=True)
class Nothing:
    """Nothing stands above a prompt."""

    kind: Literal["nothing"] = "nothing"


@dataclass(frozen=True)
class Passage:
    """A text that stands above a prompt."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Stimulus:
    """A sentence of the trial that stands above a prompt, by its number among those shown."""

    text: str
    sentence: int = 0
    kind: Literal["sentence"] = "sentence"


Above = Annotated[Nothing | Passage | Stimulus, Discriminator("kind")]


@dataclass(frozen=True, kw_only=True)
class _Screen:
    """What all screens have: the task they belong to and the name under which the study knows it; pages have the task `page`."""

    name: str
    task: str = "page"
    when: After | None = None
    exits: tuple[Exit, ...] = ()


@dataclass(frozen=True)
class Button:
    """A button of a page and the outcome that it gives."""

    label: str
    outcome: Outcome


@dataclass(frozen=True, kw_only=True)
class Text(_Screen):
    """A page of paragraphs, plain text; the first button is the one to go on with, by the space bar where `space` holds.

    `aside` is a button that leads out and stands apart; `lab` are the paragraphs that a lab shows instead, where they differ.
    """

    paragraphs: tuple[str, ...]
    heading: str = ""
    buttons: tuple[Button, ...] = ()
    aside: Button | None = None
    space: bool = True
    lab: tuple[str, ...] | None = None
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Pace:
    """Timed presentation: how long each word stands and how long nothing stands after it, ms; frames are round(ms x Hz / 1000)."""

    word: float
    pause: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Words(_Screen):
    """A sentence word by word: the space bar shows each next word, or time does where there is a `pace`.

    `gaps` stand between the words: a space each, or nothing. `breaks` are the words, by number, that begin a further line, where
    the sentence stands on lines. `reminder` is said after a key that takes nobody on.
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    arrangement: Literal["centred", "moving_window", "cumulative"] = "centred"
    fixation: str = "+"
    hint: str = ""
    reminder: str = ""
    pace: Pace | None = None
    breaks: tuple[int, ...] = ()
    sentence: int = 0
    kind: Literal["words"] = "words"


@dataclass(frozen=True, kw_only=True)
class Whole(_Screen):
    """A text that is read at once; `sentence` says which of the trial's sentences it is, None for a context."""

    text: str
    hint: str = ""
    sentence: int | None = None
    kind: Literal["whole"] = "whole"


@dataclass(frozen=True)
class Answer:
    """One of several answers: what it says, what is recorded, its keys and the side on which it stands.

    A key is a code of a keyboard's place ("KeyF", "ArrowLeft"), or a digit, whichever key of the layout types it.
    """

    label: str
    value: ResponseValue
    keys: tuple[str, ...]
    side: Side | None = None


@dataclass(frozen=True, kw_only=True)
class _QuestionScreen(_Screen):
    """What screens that ask have: a prompt, what stands above it, and ms after which no answer is taken.

    `right` are the answers that count as right, where any do; they leave the server only where
    `is_judged_by_player` holds.
    """

    prompt: str
    above: Above = field(default_factory=Nothing)
    deadline: float | None = None
    right: tuple[ResponseValue, ...] = ()
    is_judged_by_player: bool = False

    def is_right(self, answer: object) -> bool:
        """Return whether an answer is one of the right ones."""
        return answer in self.right


@dataclass(frozen=True, kw_only=True)
class Answers(_QuestionScreen):
    """A choice of answers: the `points` of a scale with two labelled ends, short ones in a `row`, or both sentences of a pair."""

    answers: tuple[Answer, ...]
    arrangement: Literal["points", "row", "pair", "stacked_pair"] = "row"
    low: str = ""
    high: str = ""
    kind: Literal["answers"] = "answers"

    def find_side(self, value: object) -> Side | None:
        """Return where the answer that is recorded as this value stands; None where it has no side, or there is no such answer."""
        return next((answer.side for answer in self.answers if answer.value == value), None)


@dataclass(frozen=True, kw_only=True)
class Slider(_QuestionScreen):
    """A slider over whole numbers, which has to be moved before one can go on; the lab has a hint of its own."""

    low: str
    high: str
    least: int = 0
    most: int = 100
    hint: str = ""
    lab_hint: str = ""
    button: str = ""
    kind: Literal["slider"] = "slider"


OUTER_MARKS = " .,;:!?…\"'“”„‚‘’«»()[]-–—。、！？「」؟،"  # that may stand around a typed answer


@dataclass(frozen=True, kw_only=True)
class Entry(_QuestionScreen):
    """A text that is typed, ended by Enter or by a button; an empty one is asked for again with `missing`, and with `not_positive`,
    where that says something, one that is no number above 0 in digits, with a point before decimals.
    """

    button: str
    missing: str
    not_positive: str = ""
    longest: int = 200
    kind: Literal["entry"] = "entry"

    def is_right(self, answer: object) -> bool:
        """Return whether a typed text is a right one, whatever its capitals, and the spaces and marks around it."""
        return _fold_text(str(answer)) in {_fold_text(str(one)) for one in self.right}


def _fold_text(text: str) -> str:
    """Return a typed text without what two people may type differently of one answer.

    >>> _fold_text(" The  Baker. "), _fold_text("l'Été!"), _fold_text("50")
    ('the baker', "l'été", '50')
    """
    words = unicodedata.normalize("NFKC", text).casefold().split()
    return " ".join(words).strip(OUTER_MARKS)


def is_positive_number(text: str) -> bool:
    """Return whether a typed text is a number above 0 in digits, with a point before decimals.

    >>> [is_positive_number(text) for text in ("12", "0.5", ".5", "0", "-1", "1e3", "12,5", "many")]
    [True, True, True, False, False, False, False, False]
    """
    return re.fullmatch(r"[0-9]*\.?[0-9]+", text) is not None and float(text) > 0


@dataclass(frozen=True, kw_only=True)
class Form(_Screen):
    """Questions about the participant: what is wrong with an answer is said with `missing` or `no_number` ({low}, {high}).

    One that can end with `screened_out` decides who takes part: by the answers that are `accepted` of each field, which leave the
    server only where the player has to judge.
    """

    heading: str
    note: str
    fields: tuple[FieldSection, ...]
    button: str
    missing: str
    no_number: str
    accepted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind: Literal["form"] = "form"


@dataclass(frozen=True)
class Pair:
    """A word and its alternative; `side` is where the word stands."""

    word: str
    alternative: str
    side: Literal["left", "right"]


@dataclass(frozen=True, kw_only=True)
class WordPairs(_Screen):
    """Maze: two words side by side, of which one goes on with the sentence. It ends right where no wrong word was chosen.

    After a wrong choice the screen ends (`redo` False), or `error` is shown and the right choice goes on, once the keys have been
    dead for `delay` ms; then `again` is shown.
    """

    pairs: tuple[Pair, ...]
    hint: str = ""
    redo: bool = False
    delay: float = 0.0
    error: str = ""
    again: str = ""
    sentence: int = 0
    kind: Literal["word_pairs"] = "word_pairs"


Screen = Annotated[Text | Words | Whole | Answers | Slider | Entry | Form | WordPairs, Discriminator("kind")]
AskingScreen = Answers | Slider | Entry  # what ends with an answer to a prompt
SCREEN_KINDS = ("text", "words", "whole", "answers", "slider", "entry", "form", "word_pairs")


# ------------------------------------------------------------------------------------------------------------ a script


@dataclass(frozen=True)
class Step:
    """What is resumed as a whole: a page, or a trial. `trial` is its number among the list's trials, None for a page."""

    name: str
    screens: tuple[Screen, ...]
    trial: int | None = None
    block: str = ""
    when: Share | None = None


@dataclass(frozen=True)
class Interlude:
    """Steps that come before the trial at presented position `before`."""

    before: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Asset:
    """A file that screens show, by name and hash."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Script:
    """All that a list's sessions show, position-free: a session is the front steps, the trials in its order with the interludes
    between them, and the end steps, numbered from 0.

    Nothing is recorded before the step `consent` (its number) has ended. `texts` are what players say outside of screens; `lab`
    holds those of the lab.
    """

    language: str
    direction: Literal["ltr", "rtl"]
    device: DeviceSection
    consent: int | None
    front: tuple[Step, ...]
    trials: tuple[Step, ...]
    interludes: tuple[Interlude, ...]
    end: tuple[Step, ...]
    texts: Mapping[str, str]
    lab: Mapping[str, str]
    display: DisplaySection = field(default_factory=DisplaySection)
    assets: tuple[Asset, ...] = ()
