"""Which key presses count, as on the page (experiment/web/src/guards.ts, keys.ts)."""

from dataclasses import dataclass

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

    @property
    def by(self) -> str:
        return "key" if self.answer is None else "button"


class Keys:
    """Which keys are down: a key, or the space bar, that was not let go ends no display."""

    def __init__(self) -> None:
        self.down: dict[str, float] = {}
        self._blocking: set[str] = set()
        self._last: tuple[str, float | None] = ("", None)

    def judge(self, key: Key, wanted: bool, frame: float) -> str | None:
        """Return why a press does not count, None where it does."""
        repeats = key.code in self.down
        self.down.setdefault(key.code, key.t)
        if repeats:
            return "repeat"
        if MODIFIERS & self.down.keys() and key.code not in MODIFIERS:
            return "modifier"
        if key.code == "Space" and SHIFTS & self.down.keys():
            return "modifier"
        if not wanted:
            return "other"
        if self._blocking & {key.code, "Space"}:
            return "held"
        return "early" if key.t < frame else None

    def accept(self, key: Key) -> Press:
        press = Press(key.code, key.t, key.handler, self.released)
        self._blocking.add(key.code)
        self._last = key.code, None
        return press

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
