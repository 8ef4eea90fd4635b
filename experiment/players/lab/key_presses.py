"""Which key presses count, as on the page (../web/src/guards.ts); both are held to ../judging.json."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.events import IgnoredReason

from .displays import Key

MODIFIER_KEYS = frozenset(["ControlLeft", "ControlRight", "AltLeft", "AltRight", "MetaLeft", "MetaRight"])
SHIFT_KEYS = frozenset(["ShiftLeft", "ShiftRight"])


@dataclass(frozen=True)
class Press:
    """The press, or the click, that ended a display."""

    code: str
    t: float
    handler: float
    release_time: float | None
    answer: int | None = None
    slider_share: float = 0.0
    key_names: frozenset[str] = frozenset()

    @property
    def input_device(self) -> Literal["key", "button"]:
        return "key" if self.answer is None else "button"


def find_digit(key: Key, shift: bool) -> int | None:
    """Return the number from 1 to 9 on a key of the top row or the keypad; None for any other key.

    What the key types comes first, so that a layout may move its digits; then where it stands, without Shift: for layouts that
    type digits with Shift (French) or in another script (Arabic), and for a keypad without NumLock.

    >>> find_digit(Key("Digit3", 0, 0, character="3"), shift=False), find_digit(Key("Digit3", 0, 0, character="#"), shift=True)
    (3, None)
    """
    if re.fullmatch("[1-9]", key.character):
        return int(key.character)
    match = re.fullmatch("(?:Digit|Numpad)([1-9])", key.code)
    return int(match[1]) if match and not shift else None


def list_key_names(key: Key, shift: bool) -> frozenset[str]:
    """Return what a display may want a press as: the key's place, and the number that it is.

    The space bar with Shift is wanted nowhere.
    """
    if key.code == "Space":
        return frozenset() if shift else frozenset(["Space"])
    number = find_digit(key, shift)
    return frozenset([key.code] if number is None else [key.code, str(number)])


class KeyState:
    """Which keys are down: a key, or the space bar, that was not let go ends no display."""

    def __init__(self) -> None:
        self.keys_down: dict[str, float] = {}
        self._blocking_keys: set[str] = set()
        self._last_accepted: tuple[str, float | None] = ("", None)

    def judge_press(self, key: Key, wanted: Collection[str], frame: float) -> IgnoredReason | None:
        """Return why a press does not count on a display that wants these keys, None where it does.

        "modifier" is a key pressed with Ctrl, Alt or Meta, or the space bar with Shift; a modifier itself is a key like any other.
        """
        is_repeat = key.code in self.keys_down
        self.keys_down.setdefault(key.code, key.t)
        if is_repeat:
            return "repeat"
        if key.code in MODIFIER_KEYS | SHIFT_KEYS:
            return "other"
        if MODIFIER_KEYS & self.keys_down.keys() or (key.code == "Space" and self._has_shift):
            return "modifier"
        if self.list_key_names(key).isdisjoint(wanted):
            return "other"
        if self._blocking_keys & {key.code, "Space"}:
            return "held"
        return "early" if key.t < frame else None

    def accept_press(self, key: Key) -> Press:
        press = Press(key.code, key.t, key.handler, self.release_time, key_names=self.list_key_names(key))
        self._blocking_keys.add(key.code)
        self._last_accepted = key.code, None
        return press

    def list_key_names(self, key: Key) -> frozenset[str]:
        """Return what a display may want a press as, with the keys that are down."""
        return list_key_names(key, self._has_shift)

    def find_digit(self, key: Key) -> int | None:
        """Return the number on a key, with the keys that are down."""
        return find_digit(key, self._has_shift)

    @property
    def _has_shift(self) -> bool:
        return bool(SHIFT_KEYS & self.keys_down.keys())

    def release_key(self, key: Key) -> None:
        self.keys_down.pop(key.code, None)
        self._blocking_keys.discard(key.code)
        if self._last_accepted == (key.code, None):
            self._last_accepted = key.code, key.t

    def release_all(self) -> None:
        """Forget which keys are down: their release may go to another window."""
        self.keys_down.clear()
        self._blocking_keys.clear()

    @property
    def has_held_key(self) -> bool:
        """Whether a key that ended a display is still down."""
        return bool(self._blocking_keys)

    @property
    def release_time(self) -> float | None:
        """When the press that was accepted last was let go."""
        return self._last_accepted[1]
