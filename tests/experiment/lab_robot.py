"""A participant at a lab machine: a screen of Xvfb that is looked at, and keys that xdotool holds and lets go."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gardenpath import study
from gardenpath.experiment.sessions import session_folders, sessions

from .conftest import needs_font

CODES = {"space": "Space", "Return": "Enter", "Escape": "Escape", "Right": "ArrowRight", ".": "Period"}
KEYSYMS = {".": "period"}  # what xdotool calls a key that is no letter, digit or name of one
PATIENCE = 60.0  # s; a busy machine is no fault of the code
AGAIN = 3.0  # s after which who sees the last page still there presses once more
NAPS = 40  # the program naps some twenty times a frame: after so many it knows when what is seen came


@dataclass
class Screen:
    """A screen without a monitor."""

    name: str

    def look(self) -> Any:
        """Return what stands on it."""
        from PIL import ImageGrab

        return ImageGrab.grab(xdisplay=self.name)


# The last import writes PsychoPy's first settings into a new home: two programs that began so at once would read half a file.
OPEN = "import psychtoolbox, pyglet; pyglet.window.Window(visible=False).close(); from psychopy import monitors"


def no_window(screen: str) -> str | None:
    """Return why PsychoPy cannot open a window on a screen, or None: which library it is that is not there, mostly."""
    call, environment = [sys.executable, "-c", OPEN], {**os.environ, "DISPLAY": screen}
    with (Path(tempfile.gettempdir()) / "gardenpath-lab.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        opened = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    return opened.stderr.strip().rpartition("\n")[2] if opened.returncode else None


@contextmanager
def xvfb(size: str = "1024x768x24") -> Iterator[Screen]:
    """A screen of its own; where what the lab's window needs is not installed, or does not load, a test is skipped."""
    missing = [name for name in ("Xvfb", "xdotool", "xwininfo") if shutil.which(name) is None]
    missing += [name for name in ("psychopy", "psychtoolbox", "pyglet") if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    needs_font("en", "a")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp", "-noreset"]
    running = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as number:
        name = f":{number.readline().strip()}"
    try:
        if (cause := no_window(name)) is not None:
            pytest.skip(f"no window can be opened: {cause}")
        yield Screen(name)
    finally:
        running.terminate()
        running.wait()


@dataclass
class Participant:
    """Presses keys, each when the screen has changed since the last; `sent` holds (code, s on the sender's clock)."""

    screen: Screen
    program: subprocess.Popen[str]
    pace: Random = field(default_factory=lambda: Random(1))
    sent: list[tuple[str, float]] = field(default_factory=list)
    seen: bytes = b""

    def __enter__(self) -> "Participant":
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def __post_init__(self) -> None:
        environment = {**os.environ, "DISPLAY": self.screen.name}
        self.hands = subprocess.Popen(["xdotool", "-"], stdin=-1, stdout=-1, text=True, env=environment)

    def do(self, command: str) -> None:
        """Let xdotool do something, and wait until the screen's server has it."""
        assert self.hands.stdin is not None
        assert self.hands.stdout is not None
        self.hands.stdin.write(f"{command}\ngetmouselocation\n")
        self.hands.stdin.flush()
        self.hands.stdout.readline()

    def await_change(self) -> None:
        """Wait until something else stands on the screen than at the last press."""
        end = time.monotonic() + PATIENCE
        while True:
            shown = self.screen.look()
            if shown.getcolors(2) is None and shown.tobytes() != self.seen:
                return
            assert self.program.poll() is None, self.said()
            assert time.monotonic() < end, f"nothing changes after {self.sent[-1:]}"
            self.do("sleep 0.02")

    def press(self, key: str, *, held: float = 0.05, wait: float | None = None) -> None:
        """Press a key on what is shown now, `wait` s after it came, and let it go after so many s."""
        self.await_change()
        enough = self._naps() + NAPS
        self.do(f"sleep {0.06 + 0.1 * self.pace.random() if wait is None else wait:.3f}")
        # On a busy machine a frame is seen before the program comes to read its time: a press by then would be too early.
        while self._naps() < enough and self.program.poll() is None:
            self.do("sleep 0.01")
        self.seen = self.screen.look().tobytes()
        self.send(key, held=held)

    def send(self, key: str, *, held: float = 0.05) -> None:
        """Press a key, whatever is shown."""
        code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
        self.sent.append((CODES.get(key, code), time.perf_counter()))
        named = KEYSYMS.get(key, key)
        self.do(f"keydown {named}")
        self.do(f"sleep {held}")
        self.do(f"keyup {named}")

    def _naps(self) -> int:
        """Return how often the program has waited by itself."""
        try:
            status = Path(f"/proc/{self.program.pid}/status").read_text()
        except FileNotFoundError:
            return 0
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    def look_away(self) -> None:
        """Go to another window, press a key there, and come back to a covered sentence."""
        environment = {**os.environ, "DISPLAY": self.screen.name}
        ours = subprocess.run(["xdotool", "getwindowfocus"], capture_output=True, text=True, env=environment, check=True)
        root = subprocess.run(["xwininfo", "-root"], capture_output=True, text=True, env=environment, check=True)
        self.await_change()
        self.seen = self.screen.look().tobytes()
        self.do(f"windowfocus {root.stdout.split()[3]}")
        self.await_change()
        self.do("key y")
        self.do(f"windowfocus {ours.stdout.strip()}")

    def said(self) -> str:
        self.program.kill()
        return str(self.program.communicate())

    def end(self) -> str:
        """Press the space bar on the last page until the program ends; return what it said."""
        self.press("space")
        for _ in range(round(PATIENCE / AGAIN)):
            try:
                said, errors = self.program.communicate(timeout=AGAIN)
            except subprocess.TimeoutExpired:
                self.do("key space")
            else:
                assert self.program.returncode == 0, errors
                return said
        raise AssertionError(f"the last page does not end: {self.said()}")

    def leave(self) -> None:
        """Go away; a program that still runs is ended, so that its window covers nobody else's."""
        assert self.hands.stdin is not None
        self.hands.stdin.close()
        self.hands.wait()
        if self.program.poll() is None:
            self.said()


def gardenpath(*arguments: str | Path, screen: str = "") -> subprocess.Popen[str]:
    """Start the program."""
    environment = {**os.environ, "DISPLAY": screen}
    command = [sys.executable, "-m", "gardenpath.cli.main", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True, env=environment)


@dataclass
class Part:
    """A screen of the session and the keys that lead through it; of timed words, the one that starts them."""

    screen: Any
    keys: list[str]

    @property
    def name(self) -> str:
        return str(self.screen.name)


def plan(data: Path, typed: str = "31") -> list[Part]:
    """Return the keys that lead through what is left of the one session in a data folder, screen by screen."""
    (path,) = data.glob("*/session.json")
    record = next(iter(session_folders.read_recorded_sessions(data)))
    session = study.config.parse_dataclass(sessions.Session, study.files.read_json(path), where=str(path))
    file = session_folders.read_stored_list_files(data)[session.list_sha256]
    stand = sessions.replay_session_events(session, file, record.events)
    left = []
    while stand.location is not None:
        number, n = stand.location
        placed = stand.steps[number]
        screen = placed.step.screens[n]
        keys, outcome = _keys(screen, placed.position or 0, typed)
        left.append(Part(screen, keys))
        stand.end_screen(outcome)
    return left


def _keys(screen: Any, position: int, typed: str) -> tuple[list[str], str]:
    match screen.kind:
        case "text":
            return (["space"], "continued") if screen.space else (["f"], screen.buttons[0].outcome)
        case "words":
            return ["space"] * (1 if screen.pace else 1 + len(screen.words)), "read"
        case "whole":
            return ["space"], "read"
        case "word_pairs":
            return ["space", *("f" if pair.side == "left" else "j" for pair in screen.pairs)], "right"
        case "answers":
            number = position % len(screen.answers)
            told = screen.is_judged_by_player and screen.right
            right = screen.answers[number].value in screen.right
            return [screen.answers[number].keys[-1]], ("right" if right else "wrong") if told else "answered"
        case "slider":
            return ["Right", "space"], "answered"
        case _:
            return [*typed, "Return"], "answered"


def timed(events: list[sessions.Event]) -> list[tuple[str | None, float]]:
    """Return code (where it is recorded) and time in s of every key press in the events, by time."""
    pressed = [event for event in events if event.kind == "press" or event.value.get("press") is not None]
    return sorted(((event.value.get("code"), event.t / 1000) for event in pressed), key=lambda press: press[1])
