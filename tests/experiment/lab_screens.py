"""A reader without a window: a screen of the lab whose time is simulated, and on which every display is answered."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gardenpath.experiment.players.lab.displays import (
    AnswerDisplay,
    Blank,
    Click,
    Display,
    Focus,
    FrameTimes,
    Input,
    Key,
    Page,
    Pair,
    TypedCharacter,
    Word,
)
from gardenpath.study.screens import Answers, Slider

FRAME = 1000 / 60
Misdeed = Callable[["Reader"], None]


@dataclass
class Reader:
    """Answers what is shown, each key `pace` ms after the frame; `misdeeds` are done once, at the display of that number."""

    pace: float = 200.0
    refresh: float | None = 60.0
    misdeeds: dict[int, Misdeed] = field(default_factory=dict)
    digit: int = 5
    typed: str = "31"
    clock: float = 1000.0
    displays: list[Display] = field(default_factory=list)
    presses: list[Key] = field(default_factory=list)
    queue: deque[Input] = field(default_factory=deque)
    painted: FrameTimes | None = None
    answered: bool = True

    def now(self) -> float:
        return self.clock

    def prepare(self, displays: Sequence[Display]) -> None:
        pass

    def show(self, display: Display) -> FrameTimes:
        # A slider that moved and a field that was typed into are the displays that they were.
        again = bool(self.displays) and _same(display, self.displays[-1])
        self.displays.append(display)
        request = self.clock
        self.clock = (request // FRAME + 1) * FRAME
        self.painted = FrameTimes(request, self.clock)
        self.answered = again
        if (misdeed := self.misdeeds.pop(len(self.displays) - 1, None)) is not None:
            misdeed(self)
        return self.painted

    def wait(self, patience: float | None = None) -> Input | None:
        assert self.painted is not None
        self.painted.next_frame = self.painted.frame + FRAME
        if not self.queue and not self.answered:
            self.answered = True
            self.answer(self.displays[-1])
        if patience is not None and (not self.queue or self.queue[0].t > self.clock + patience):
            self.clock += patience
            return None
        assert self.queue, f"nothing happens on {self.displays[-1]}"
        return self._given()

    def hold_display(self, frames: int) -> Input | None:
        assert self.painted is not None
        end = self.painted.frame + (frames - 0.5) * FRAME
        if self.queue and self.queue[0].t < end:
            return self._given()
        self.clock = end
        return None

    def _given(self) -> Input:
        given = self.queue.popleft()
        self.clock = max(self.clock, given.t)
        if isinstance(given, Key) and given.is_down:
            self.presses.append(given)
        return given

    def count_dropped_frames(self) -> int | None:
        return 0

    # what a reader does

    def press(self, code: str, *, held: float = 50.0, after: float | None = None) -> None:
        """Press a key and let it go."""
        self.down(code, after=after)
        self.up(code, after=held)

    def _next(self, after: float) -> float:
        return (self.queue[-1].t if self.queue else self.clock) + after

    def down(self, code: str, *, after: float | None = None) -> None:
        t = self._next(self.pace if after is None else after)
        self.queue.append(Key(code, t, t + 0.5))

    def up(self, code: str, *, after: float = 50.0) -> None:
        t = self._next(after)
        self.queue.append(Key(code, t, t + 0.5, is_down=False))

    def leave(self, seconds: float = 1.0) -> None:
        self.queue.append(Focus("blur", self._next(50)))
        self.queue.append(Focus("focus", self._next(1000 * seconds)))

    def click(self, answer: int, at: float = 0.0) -> None:
        self.queue.append(Click(answer, self._next(self.pace), at))

    def write(self, text: str) -> None:
        for one in text:
            self.queue.append(TypedCharacter(one, self._next(60)))

    def answer(self, display: Display) -> None:
        match display:
            case Page(answers=(first, *_)):
                self.press(_code(first.keys[0]))
            case Page():
                self.press("Space")
            case AnswerDisplay(screen=Slider()):
                self.press("ArrowRight")
                self.press("Space")
            case AnswerDisplay(screen=Answers(arrangement="points")):
                self.press(f"Digit{self.digit}")
            case AnswerDisplay(screen=Answers() as screen):
                self.press(_code(screen.answers[0].keys[0]))
            case Pair():
                self.press("KeyJ" if display.left.startswith("~") else "KeyF")
            case Blank(choices=()):
                self.write(self.typed)
                self.press("Enter")
            case Blank():
                self.press("ArrowDown")
                self.press("Enter")
            case _:
                self.press("Space")

    def words(self) -> list[str]:
        """Every word shown in the middle of the screen, in order."""
        return [one.text for one in self.displays if isinstance(one, Word) and one.text and not (one.is_mark or one.hint)]

    def of(self, kind: type[Any]) -> list[Any]:
        return [one for one in self.displays if isinstance(one, kind)]


def _same(display: Display, before: Display) -> bool:
    if isinstance(display, Blank):
        return isinstance(before, Blank) and before.label == display.label
    return isinstance(display, AnswerDisplay) and isinstance(before, AnswerDisplay) and isinstance(display.screen, Slider)


def _code(key: str) -> str:
    """Where the key of an answer stands."""
    return f"Digit{key}" if key.isdigit() else key
