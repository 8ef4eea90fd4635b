"""A trial's screens under the names that they have on other platforms: context_1, sentence_1, ask_1, page_1.

A name stands for the same prompt in all trials of a study, so that a platform's display or routine shows one thing. What is
asked goes out in columns after that name, the same on every platform, and what was answered is told by them when it comes back:

ask_1_kind                      points, row, pair, slider or entry
ask_1_task, ask_1_name          what the tables call it
ask_1_prompt, ask_1_above       what is shown
ask_1_low, ask_1_high           labels of the ends, of the numbers from ask_1_least to ask_1_most (points, slider)
ask_1_label_1, ask_1_value_1    each answer as it is shown, and as it is recorded (row, pair)
ask_1_side_1                    where it stands: left, right, upper or lower
ask_1_deadline                  ms after which no answer is taken
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gardenpath.study.events import Record
from gardenpath.study.screens import Answers, AskingScreen, Form, Screen, Script, Slider, Step, Text, Whole, Words

from ..scripts.list_files import ListFile
from .imported_sessions import build_response_record

ScreenKey = tuple[str, str]
NamedScreen = tuple[str, Any]  # a screen under its name


@dataclass(frozen=True)
class Outline:
    """All screens that some trial of a study shows, in an order that every trial keeps."""

    keys: tuple[ScreenKey, ...]

    @classmethod
    def from_files(cls, files: Sequence[ListFile]) -> "Outline":
        """Return the outline of a study's trials."""
        return cls.from_steps([step for file in files for step in file.script.trials])

    @classmethod
    def from_steps(cls, steps: Iterable[Step]) -> "Outline":
        """Return the outline of these steps."""
        keys: list[ScreenKey] = []
        for step in steps:
            index = 0
            for key in map(_build_screen_key, step.screens):
                if key not in keys[index:]:
                    keys.insert(index, key)
                index = keys.index(key, index) + 1
        return cls(tuple(keys))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(f"{base}_{1 + sum(other == base for other, _ in self.keys[:n])}" for n, (base, _) in enumerate(self.keys))

    def name_screens(self, step: Step) -> list[NamedScreen]:
        """Return the screens of a trial under their names."""
        named_screens, index = [], 0
        for screen in step.screens:
            n = self.keys.index(_build_screen_key(screen), index)
            named_screens.append((self.names[n], screen))
            index = n + 1
        return named_screens


def _build_screen_key(screen: Screen) -> ScreenKey:
    """Return what tells a screen apart from others of a trial: what it is for and, of prompts and pages, its name."""
    if isinstance(screen, Text):
        return "page", screen.name
    if isinstance(screen, Whole) and screen.sentence is None:
        return "context", ""
    return ("ask", screen.name) if isinstance(screen, AskingScreen | Form) else ("sentence", "")


def require_asking(screen: Screen) -> AskingScreen:
    """Return a screen that asks as what it is; forms and mazes are refused before anything is written."""
    assert isinstance(screen, AskingScreen), screen.kind
    return screen


def order_from_left(screen: AskingScreen) -> AskingScreen:
    """Return a screen with its answers in the order in which they stand, the one on the left first: F is its key, J the other's."""
    if not isinstance(screen, Answers):
        return screen
    return replace(screen, answers=tuple(sorted(screen.answers, key=lambda one: one.side == "right")))


def identify_answer_kind(screen: AskingScreen) -> str:
    """Return how a screen that asks is answered: by points, a row, a pair, a slider or an entry."""
    if isinstance(screen, Answers):
        return "pair" if screen.arrangement == "stacked_pair" else screen.arrangement
    return screen.kind


def build_recorded_columns(name: str, screen: AskingScreen) -> dict[str, Any]:
    """Return the columns by which what was answered is told when it comes back."""
    columns: dict[str, Any] = {"kind": identify_answer_kind(screen), "task": screen.task, "name": screen.name}
    if screen.deadline is not None:
        columns["deadline"] = f"{screen.deadline:g}"
    if isinstance(screen, Slider):
        columns |= {"least": screen.least, "most": screen.most}
    elif isinstance(screen, Answers) and screen.arrangement == "points":
        columns |= {"least": screen.answers[0].value, "most": screen.answers[-1].value}
    elif isinstance(screen, Answers):
        for n, one in enumerate(screen.answers, start=1):
            columns[f"value_{n}"] = one.value
            if identify_answer_kind(screen) == "row":
                columns[f"label_{n}"] = one.label
            if one.side is not None:
                columns[f"side_{n}"] = one.side
    return {f"{name}_{column}": cell for column, cell in columns.items()}


def build_shown_columns(name: str, screen: AskingScreen) -> dict[str, Any]:
    """Return the columns that say what is shown of a screen that asks."""
    columns = {"prompt": screen.prompt, "above": getattr(screen.above, "text", "")}
    if isinstance(screen, Slider) or (isinstance(screen, Answers) and screen.arrangement == "points"):
        columns |= {"low": screen.low, "high": screen.high}
    elif isinstance(screen, Answers) and identify_answer_kind(screen) == "pair":
        columns |= {f"label_{n}": one.label for n, one in enumerate(screen.answers, start=1)}
    return {f"{name}_{column}": cell for column, cell in columns.items()}


def join_words(screen: Words) -> str:
    """Return the sentence of a screen of words, as it is shown at once."""
    return "".join(word + gap for word, gap in zip(screen.words, (*screen.gaps, ""), strict=True))


def list_paragraphs(steps: Iterable[Step]) -> list[str]:
    """Return the paragraphs of these pages."""
    return [one for step in steps for screen in step.screens if isinstance(screen, Text) for one in screen.paragraphs]


def group_front_pages(script: Script) -> dict[str, list[Step]]:
    """Return the pages before the first trial, consent and the rest; those that turn devices away no other platform knows."""
    pages = [step for step in script.front if not any(isinstance(s, Text) and s.aside for s in step.screens)]
    return {"consent": [s for s in pages if s.name == "consent"], "rest": [s for s in pages if s.name != "consent"]}


# ---------------------------------------------------------------------------------------------------------- back


def list_asked_screens(cells: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of what a row of an export says was asked."""
    names = [column.removesuffix("_kind") for column in cells if column.startswith("ask_") and column.endswith("_kind")]
    yield from sorted((name for name in names if cells[f"{name}_kind"]), key=lambda name: int(name.split("_")[1]))


def read_response_record(cells: Mapping[str, str], name: str, response: str, rt: float | None) -> Record:
    """Return what was answered to a screen, with the side on which that stood."""
    values = [cells[f"{name}_value_{n}"] for n in range(1, 1 + _count_columns(cells, f"{name}_value_"))]
    side = cells.get(f"{name}_side_{values.index(response) + 1}") if response in values else None
    return build_response_record(cells[f"{name}_task"], cells[f"{name}_name"], response, rt=rt, side=side or None)


def get_nth_value(cells: Mapping[str, str], name: str, nth: int | None) -> str | None:
    """Return the value of the n-th answer, from 0; None where there is none."""
    return None if nth is None or nth < 0 else cells.get(f"{name}_value_{nth + 1}") or None


def is_late(cells: Mapping[str, str], name: str, rt: float | None = None) -> bool:
    """Whether no answer was taken: there was a deadline, and none came, or one after it."""
    deadline = cells.get(f"{name}_deadline")
    return bool(deadline) and float(deadline or 0) > 0 and (rt is None or rt > float(deadline or 0))


def read_timeout_record(cells: Mapping[str, str], name: str) -> Record:
    """Return that no answer came in time."""
    return Record(cells[f"{name}_task"], cells[f"{name}_name"], "timeout")


def find_sentence_number(name: str, *, pair: bool) -> int:
    """Return which of a trial's sentences a screen of this name shows."""
    return int(name.partition("_")[2]) - 1 if pair else 0


def build_whole_text_record(name: str, rt: float | None, *, pair: bool, ended: bool = True) -> Record:
    """Return that a text was read at once, or left where it has not `ended`."""
    base = name.partition("_")[0]
    sentence = None if base == "context" else find_sentence_number(name, pair=pair)
    return Record("whole", base, "read" if ended else None, rt=rt, sentence=sentence)


def _count_columns(cells: Mapping[str, Any], start: str) -> int:
    return sum(1 for column, cell in cells.items() if column.startswith(start) and cell not in ("", None))
