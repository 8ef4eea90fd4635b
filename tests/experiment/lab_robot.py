"""A participant at a lab machine: a screen of Xvfb that is looked at, and keys that xdotool holds and lets go."""

import os
import shutil
import subprocess
import sys
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
from gardenpath.experiment import folders, sessions
from gardenpath.experiment.lab.steps import steps

CODES = {"space": "Space", "Return": "Enter", "f": "KeyF", "j": "KeyJ", "x": "KeyX", "Escape": "Escape"}
PATIENCE = 60.0  # s; a busy machine is no fault of the code


@dataclass
class Screen:
    """A screen without a monitor."""

    name: str

    def look(self) -> Any:
        """Return what stands on it."""
        from PIL import ImageGrab

        return ImageGrab.grab(xdisplay=self.name)


@contextmanager
def xvfb(size: str = "1024x768x24") -> Iterator[Screen]:
    """A screen of its own; without Xvfb, xdotool or PsychoPy a test is skipped, in CI it fails."""
    missing = [name for name in ("Xvfb", "xdotool", "xwininfo") if shutil.which(name) is None]
    missing += [name for name in ("psychopy", "psychtoolbox", "pyglet") if find_spec(name) is None]
    if missing:
        reason = f"{', '.join(missing)} not installed"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp", "-noreset"]
    running = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as number:
        name = f":{number.readline().strip()}"
    try:
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

    def press(self, key: str, *, held: float = 0.05) -> None:
        """Press a key on what is shown now, and let it go after so many s."""
        self.await_change()
        self.do(f"sleep {0.06 + 0.1 * self.pace.random():.3f}")
        self.seen = self.screen.look().tobytes()
        self.send(key, held=held)

    def send(self, key: str, *, held: float = 0.05) -> None:
        """Press a key, whatever is shown."""
        self.sent.append((CODES.get(key, f"Digit{key}"), time.perf_counter()))
        self.do(f"keydown {key}")
        self.do(f"sleep {held}")
        self.do(f"keyup {key}")

    def look_away(self) -> None:
        """Go to another window, press a key there, and come back to a covered sentence."""
        environment = {**os.environ, "DISPLAY": self.screen.name}
        ours = subprocess.run(
            ["xdotool", "getwindowfocus"], capture_output=True, text=True, env=environment, check=True
        )
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

    def leave(self) -> None:
        assert self.hands.stdin is not None
        self.hands.stdin.close()
        self.hands.wait()


def gardenpath(*arguments: str | Path, screen: str = "") -> subprocess.Popen[str]:
    """Start the program."""
    environment = {**os.environ, "DISPLAY": screen}
    command = [sys.executable, "-m", "gardenpath.cli.main", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True, env=environment)


def plan(data: Path, typed: str = "31") -> list[tuple[str, list[str]]]:
    """Return the keys that lead through what is left of the one session in a data folder, screen by screen."""
    (path,) = data.glob("*/session.json")
    record = next(iter(folders.read_records(data)))
    session = study.structure(sessions.Session, study.read_json(path), where=str(path))
    file = folders.read_files(data)[session.version_sha256]
    done = [event.trial for event in record.events if event.kind == "trial_end" and event.trial is not None]
    visit = max((event.visit + 1 for event in record.events), default=0)
    left: list[tuple[str, list[str]]] = []
    for step in steps(sessions.payload(session, file, token="", visit=visit, next_seq=0, done=done)):
        if step.kind == "consent":
            left.append(("consent", ["f"]))
        elif step.trial is not None:
            words = step.trial["sentences"][0]["words"]
            left += [("start", ["space"]), *(("word", ["space"]) for _ in words)]
            left.append(("rating", [str(1 + step.trial["trial"] % 7)]))
        elif step.kind == "demographics":
            left.append(("form", [*typed, "Return"]))
        else:
            left.append((step.kind, ["space"]))
    return [*left, ("debriefing", ["space"])]


def timed(events: list[sessions.Event]) -> list[tuple[str | None, float]]:
    """Return code (where it is recorded) and time in s of every key press in the events, by time."""
    kinds = ("consent", "instructions", "break", "start", "word", "response", "press", "demographics")
    found = [(event.value.get("code"), event.t / 1000) for event in events if event.kind in kinds]
    return sorted(found, key=lambda press: press[1])
