"""Completion of a fragment, and cloze (Taylor 1953, doi 10.1177/107769905303000401): a text is typed.

The fragment is the item's sentence, read before (`show`) or standing above the prompt (`show = "with_task"`). There it may be cut:
`until` names the region before which it ends, `blank` the region that is replaced by a line, as in a cloze test; so the sentences
of another experiment can be normed as they are. A cloze test is nothing else: its blank may as well be written in the sentences.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.stimuli import Sentence
from gardenpath.study.screens import Entry, Stimulus

from ..standard_texts import Texts
from .moment import Act, Moment, Reader
from .recording import response as rows

KINDS = ("completion",)
SHOWS = False
NEEDS: tuple[str, ...] = ()
GIVES = None
BLANK = "_____"

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


@dataclass(frozen=True)
class Settings:
    """Without a prompt of its own it has the standard one; an answer has `longest` characters at most."""

    kind: Literal["completion"]
    prompt: str = ""
    until: str = ""
    blank: str = ""
    longest: int = 200

    def __post_init__(self) -> None:
        if self.until and self.blank:
            raise ValueError(f"until is {self.until!r} and blank {self.blank!r}; expected one of them")
        if not 1 <= self.longest <= 500:
            raise ValueError(f"longest is {self.longest}; expected 1 to 500 characters")


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains what to type."""
    return str(texts["completion"]["instructions"])


def screens(settings: Settings, moment: Moment) -> Iterator[Entry]:
    """Yield the one screen on which a text is typed."""
    said = moment.texts["completion"]
    above = moment.above
    if settings.until or settings.blank:
        if not isinstance(above, Stimulus):
            raise ValueError(f'{moment.name} cuts the sentence, which is read before; expected show = "with_task"')
        above = Stimulus(_fragment(moment.trial.shown[0][1], settings))
    yield Entry(
        name=moment.name,
        task="completion",
        prompt=settings.prompt or said["prompt"],
        above=above,
        right=moment.expected(),
        button=moment.texts["session"]["go_on"],
        missing=said["missing"],
        longest=settings.longest,
    )


def _fragment(sentence: Sentence, settings: Settings) -> str:
    """Return the sentence up to a region, or with a line in its place."""
    region = sentence.region(settings.until or settings.blank)
    if region is None:
        raise ValueError(f"its sentence has no region {settings.until or settings.blank!r}, at which it is to be cut")
    before = sentence.text[: region.start]
    return before.rstrip() if settings.until else before + BLANK + sentence.text[region.end :]


def act(screen: Entry, reader: Reader) -> Act:
    """Type a word of the sentence, or what an attention item expects."""
    words = [word.text.strip(".,?!") for word in reader.trial.shown[0][1].words()]
    answer = reader.random.choice(words)
    if screen.right and reader.random.random() < reader.attends:
        answer = str(reader.random.choice(screen.right))
    first = 800 + 1500 * reader.random.random()
    return Act((first + 150 * len(answer) + 300,), answer[: screen.longest], first=first)
