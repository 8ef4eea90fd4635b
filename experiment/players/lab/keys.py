"""Which key presses count, as on the page (../web/src/guards.ts); both are held to ../judging.json."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from .displays import Key

MODIFIERS = frozenset(["ControlLeft", "ControlRight", "AltLeft", "AltRight", "MetaLeft", "MetaRight"])
SHIFTS = frozenset(["ShiftLeft", "ShiftRight"])


@dataclass(frozen=True)
class Press:
    """The press, or the click, that ended a display."""

    code: str
    t: float
    handler: float
    released: float | None
    answer: int | None = None
    at: float = 0.0
    names: frozenset[str] = frozenset()

    @property
    def by(self) -> Literal["key", "button"]:
        return "key" if self.answer is None else "button"


def digit(key: Key, shift: bool) -> int | None:
    """Return the number from 1 to 9 on a key of the top row or the keypad; None for any other key.

    What the key types comes first, so that a layout may move its digits; then where it stands, without Shift: for layouts that
    type digits with Shift (French) or in another script (Arabic), and for a keypad without NumLock.

    >>> digit(Key("Digit3", 0, 0, typed="3"), shift=False), digit(Key("Digit3", 0, 0, typed="#"), shift=True)
    (3, None)
    """
    if re.fullmatch("[1-9]", key.typed):
        return int(key.typed)
    place = re.fullmatch("(?:Digit|Numpad)([1-9])", key.code)
    return int(place[1]) if place and not shift else None


def names(key: Key, shift: bool) -> frozenset[str]:
    """Return what a display may want a press as: the key's place, and the number that it is.

    The space bar with Shift is wanted nowhere.
    """
    if key.code == "Space":
        return frozenset() if shift else frozenset(["Space"])
    number = digit(key, shift)
    return frozenset([key.code] if number is None else [key.code, str(number)])


class Keys:
    """Which keys are down: a key, or the space bar, that was not let go ends no display."""

    def __init__(self) -> None:
        self.down: dict[str, float] = {}
        self._blocking: set[str] = set()
        self._last: tuple[str, float | None] = ("", None)

    def judge(self, key: Key, wanted: Collection[str], frame: float) -> str | None:
        """Return why a press does not count on a display that wants these keys, None where it does.

        "modifier" is a key pressed with Ctrl, Alt or Meta, or the space bar with Shift; a modifier itself is a key like any other.
        """
        repeats = key.code in self.down
        self.down.setdefault(key.code, key.t)
        if repeats:
            return "repeat"
        if key.code in MODIFIERS | SHIFTS:
            return "other"
        if MODIFIERS & self.down.keys() or (key.code == "Space" and self._shift):
            return "modifier"
        if self.names(key).isdisjoint(wanted):
            return "other"
        if self._blocking & {key.code, "Space"}:
            return "held"
        return "early" if key.t < frame else None

    def accept(self, key: Key) -> Press:
        press = Press(key.code, key.t, key.handler, self.released, names=self.names(key))
        self._blocking.add(key.code)
        self._last = key.code, None
        return press

    def names(self, key: Key) -> frozenset[str]:
        """Return what a display may want a press as, with the keys that are down."""
        return names(key, self._shift)

    def digit(self, key: Key) -> int | None:
        """Return the number on a key, with the keys that are down."""
        return digit(key, self._shift)

    @property
    def _shift(self) -> bool:
        return bool(SHIFTS & self.down.keys())

    def up(self, key: Key) -> None:
        self.down.pop(key.code, None)
        self._blocking.discard(key.code)
        if self._last == (key.code, None):
            self._last = key.code, key.t

    def let_go(self) -> None:
        """Forget which keys are down: their release may go to another window."""
        self.down.clear()
        self._blocking.clear()

    @property
    def held(self) -> bool:
        """Whether a key that ended a display is still down."""
        return bool(self._blocking)

    @property
    def released(self) -> float | None:
        """When the press that was accepted last was let go."""
        return self._last[1]
