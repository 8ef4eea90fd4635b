"""Events made by hand, for tests of what is made of them."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from gardenpath.experiment.scripts.script import TimelineStep, Walk
from gardenpath.study.events import Display, Event, Press, WordEnded, build_display, create_event
from gardenpath.study.screens import Text, Whole, Words


def event(seq: int, t: float, kind: str, step: int | None = None, screen: int | None = None, **value: Any) -> Event:
    return create_event(seq, 0, t, kind, step, screen, value)


def display(request: float = 0.0, frame: float | None = 5.0) -> Display:
    return build_display(request, frame, None if frame is None else frame + 16)


def press(repeats: int = 0, handler: float = 0.0) -> Press:
    return {"by": "key", "handler": handler, "repeats": repeats, "released": None, "trusted": True}


def word(seq: int, t: float, step: int, n: int, shown: Display | None = None, repeats: int = 0, **more: Any) -> Event:
    fields: dict[str, Any] = {"line": None, "column": None, "correct": None, "first": None, "press": press(repeats), **more}
    ended = WordEnded(word=n, display=shown or display(), **fields)
    return event(seq, t, "word", step, more.get("screen", 0), **ended)


def outcome(seq: int, t: float, step: int, screen: int, how: str, answer: Any = None, **more: Any) -> Event:
    fields: dict[str, Any] = {"side": None, "display": display(), "press": press(), "first": None, "pasted": None, **more}
    return event(seq, t, "outcome", step, screen, **{"outcome": how, "answer": answer, **fields})


def done(seq: int, step: int, t: float = 1.0) -> Event:
    return event(seq, t, "done", step, dropped_frames=None)


def passed(steps: Sequence[TimelineStep], seq: int = 0) -> list[Event]:
    """What the shortest session leaves: every screen ends, by its first button or answer, and no word is read."""
    stand, events = Walk(steps), list[Event]()
    while stand.location is not None:
        number, n = stand.location
        how, answer = _first(steps[number].step.screens[n])
        begun = [event(0, 1.0, "begin", number)] if n == 0 else []
        events += [*begun, outcome(0, 1.0, number, n, how, answer)]
        events += [done(0, number)] if stand.end_screen(how) else []
    return [dataclasses.replace(one, seq=seq + n) for n, one in enumerate(events)]


def _first(screen: Any) -> tuple[str, Any]:
    if isinstance(screen, Text):
        return screen.buttons[0].outcome if screen.buttons else "continued", None
    if isinstance(screen, (Words, Whole)):
        return "read", None
    told = screen.is_judged_by_player and screen.right
    return ("right", screen.right[0]) if told else ("answered", screen.answers[0].value)


MACHINE: dict[str, Any] = {
    **dict.fromkeys(("timer_ms", "width", "height", "pixel_ratio", "isolated", "keyboard", "monitor", "full_screen", "font")),
    "time_origin": 0.0,
    "device": "Chrome on Linux",
    "refresh_hz": 60.0,
    "software": {},
}
