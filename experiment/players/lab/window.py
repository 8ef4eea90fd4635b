"""The PsychoPy window: the one file that imports PsychoPy, and does so when a session begins."""

import gc
import math
import os
import platform
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from gardenpath import study
from gardenpath.study.config import DeviceSection
from gardenpath.study.events import Json, Visit
from gardenpath.study.screens import Script, WordPairs, Words

from ...scripts.list_files import ListFile
from .displays import AnswerDisplay, Click, Display, Focus, FrameTimes, Input, Key, TypedCharacter
from .layout import BACKGROUND_COLOR, BoxMark, Mark, Rect, build_marks, draw_picture, fit_rect, join_lines
from .typesetting import choose_typeface

# So long before the next frame nothing new is looked at, s: time to draw what a key asks for.
FRAME_MARGIN = 0.004
POLL_INTERVAL = 0.0005
# Keys that PsychoPy has no name for.
UNNAMED_KEYS = {134: "lwindows", 135: "rwindows"} if sys.platform == "linux" else {}
KEY_CODES = {
    "space": "Space", "return": "Enter", "num_enter": "NumpadEnter", "escape": "Escape", "backspace": "Backspace",
    "left": "ArrowLeft", "right": "ArrowRight", "up": "ArrowUp", "down": "ArrowDown", "tab": "Tab",
    "pageup": "PageUp", "pagedown": "PageDown", "home": "Home", "end": "End",
    "lshift": "ShiftLeft", "rshift": "ShiftRight", "lctrl": "ControlLeft", "rctrl": "ControlRight",
    "lalt": "AltLeft", "ralt": "AltRight", "loption": "AltLeft", "roption": "AltRight",
    "lcommand": "MetaLeft", "rcommand": "MetaRight", "lwindows": "MetaLeft", "rwindows": "MetaRight",
}  # fmt: skip


def convert_key_name(name: str) -> str:
    """Return what the page calls the key that PsychoPy calls `name`, by its place on a US keyboard.

    >>> convert_key_name("f"), convert_key_name("num_3"), convert_key_name("space"), convert_key_name("f2")
    ('KeyF', 'Numpad3', 'Space', 'F2')
    """
    if name in KEY_CODES:
        return KEY_CODES[name]
    if name.startswith("num_"):
        return f"Numpad{name[4:].capitalize()}"
    if len(name) == 1:
        return f"Digit{name}" if name.isdigit() else f"Key{name.upper()}"
    return name.capitalize()


def decode_character(cooked: float) -> str:
    """Return the character that psychtoolbox says a key types with the layout and the modifiers of that moment; "" for none.

    >>> decode_character(51.0), decode_character(0.0), decode_character(27.0)
    ('3', '', '')
    """
    character = chr(int(cooked)) if cooked > 0 else ""
    return character if character.isprintable() else ""


def estimate_refresh_rate(flips: Sequence[float]) -> float | None:
    """Return the refresh rate in Hz from the times of flips, s; None where they did not wait for a refresh.

    >>> estimate_refresh_rate([0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    100.0
    """
    intervals = [after - before for before, after in pairwise(flips)]
    median = statistics.median(intervals)
    steady = sum(abs(one - median) < 0.1 * median for one in intervals) > 0.8 * len(intervals)
    return round(1 / median, 3) if steady and 30 <= 1 / median <= 600 else None


def count_missed_refreshes(interval: float, period: float) -> int:
    """Return how many refreshes passed between two flips without a new frame.

    >>> [count_missed_refreshes(interval, 16.7) for interval in (16.7, 20.0, 33.4, 50.0)]
    [0, 0, 1, 2]
    """
    return max(0, round(interval / period) - 1)


def check_machine() -> None:
    """Raise where this machine cannot run a session, saying what to install; nothing is opened or written before."""
    if sys.version_info >= (3, 13):
        raise study.MissingExtra(
            f"PsychoPy does not run on Python {platform.python_version()}; expected 3.11 or 3.12: make an environment with one "
            "of these, and  pip install 'gardenpath[lab]'  there"
        )
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        wayland = " (Wayland alone will not do: its keys are not time-stamped for PsychoPy)" if _is_wayland() else ""
        raise OSError(
            f"there is no screen: DISPLAY is not set{wayland}; run this at the lab machine in an X11 session, "
            "or for a trial without a screen as  xvfb-run gardenpath lab ..."
        )
    study.errors.require("psychopy", "lab")
    try:
        study.errors.require("psychtoolbox", "lab").GetSecs()
    except study.MissingExtra as error:
        cause = str(error.__cause__)
        if "lib" not in cause:
            raise
        raise study.MissingExtra(
            f"psychtoolbox, which time-stamps the keys, does not load: {cause}; "
            "install what it lacks (Debian: libportaudio2, with the sound libraries that it brings)"
        ) from None
    _silence_psychopy()
    try:
        from psychopy import visual  # noqa: F401
        from psychtoolbox import hid

        keyboards = hid.get_keyboard_indices()[0] if sys.platform != "win32" else [0]
    except ImportError as error:
        raise study.MissingExtra(
            f"PsychoPy cannot be loaded: {error}; install the whole extra: pip install 'gardenpath[lab]'"
        ) from None
    except Exception as error:
        raise OSError(
            f"PsychoPy cannot open a screen ({type(error).__name__}: {_get_first_line(error)}); expected a running X server at "
            f"DISPLAY={os.environ.get('DISPLAY', '')} and OpenGL (Debian: libgl1 libglx-mesa0 libgl1-mesa-dri libglu1-mesa)"
        ) from None
    if not keyboards:
        raise OSError("psychtoolbox finds no keyboard; expected one that is plugged in (and not a remote desktop's)")


def _is_wayland() -> bool:
    return bool(os.environ.get("WAYLAND_DISPLAY"))


def _get_first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _silence_psychopy() -> None:
    """Keep PsychoPy's warnings about sound and the like from the terminal."""
    from psychopy import logging

    logging.console.setLevel(logging.CRITICAL)


class Window:
    """A screen of PsychoPy with hardware-stamped keys; `size` in px, or the whole screen where it is None."""

    def __init__(self, file: ListFile, *, size: tuple[int, int] | None, screen: int = 0, font: str | None = None) -> None:
        from psychopy import core, logging, visual
        from psychopy.hardware import keyboard

        script = file.script
        texts = {file.title, *_find_strings(asdict(script))}
        self._face = choose_typeface(texts, script.language, script.direction, font, script.display.font)
        self._visual, self._clock = visual, core
        self._window = visual.Window(
            size or (1024, 768),
            fullscr=size is None,
            screen=screen,
            units="pix",
            color=BACKGROUND_COLOR,
            allowGUI=size is not None,
            checkTiming=False,
            title=file.title,
        )
        self._screen_number = screen
        self._keyboard = keyboard.Keyboard(backend="ptb")
        if self._keyboard.getBackend() != "ptb":
            self.close()
            raise OSError("psychtoolbox cannot read the keyboard; install it again: pip install 'gardenpath[lab]'")
        self._origin: float = logging.defaultClock.getTime()
        self.time_origin = 1000 * time.time()
        self._default_clock = logging.defaultClock
        self._queue: deque[Input] = deque()
        self._key_names, self._flush_type = {**UNNAMED_KEYS, **keyboard.keyNames}, keyboard._ptb_flush_type
        self._has_focus = True
        self._current_marks: tuple[Mark, ...] = ()
        self._painted: FrameTimes | None = None
        self._stimulus: Any = None
        self._prepared_pictures: dict[Display, tuple[tuple[Mark, ...], Any]] = {}
        self._widths: dict[tuple[str, float], float] = {}
        self._last_flip: float | None = None
        self._flips = 0  # of the display shown last
        self._dropped_frames = 0
        width, height = (float(one) for one in self._window.size)
        self._check_screen()
        self._check_size(script.device)
        try:
            self.rect: Rect = _fit_script_rect(script, width, height, self._measure_width)
        except ValueError:
            self.close()
            raise
        self._listen()
        self.refresh = self._measure_refresh_rate()
        # Nothing made so far is looked at again by the collector, which would hold up a frame.
        gc.collect()
        gc.freeze()

    def _check_screen(self) -> None:
        """PsychoPy takes the last screen for one that is not there."""
        number = len(self._window.winHandle.display.get_screens())
        if self._screen_number >= number:
            self.close()
            known = "0 alone" if number == 1 else f"0 to {number - 1}"
            raise ValueError(f"--screen {self._screen_number}: there is no such screen; expected {known}")

    def _check_size(self, needs: DeviceSection) -> None:
        width, height = self._window.size
        if width < needs.min_width or height < needs.min_height:
            self.close()
            raise ValueError(
                f"the window is {width} x {height} px; the study needs {needs.min_width} x {needs.min_height} "
                "(procedure.device): use a larger screen, or --window WIDTHxHEIGHT"
            )

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def describe_machine(self) -> Visit:
        """Return what the event `describe_machine` says of this machine."""
        width, height = (int(one) for one in self._window.size)
        return Visit(
            time_origin=self.time_origin,
            device=f"PsychoPy on {platform.system()}",
            refresh_hz=self.refresh,
            timer_ms=0.001,  # what a time is rounded to; the clock itself is finer
            width=width,
            height=height,
            pixel_ratio=float(self._window.getContentScaleFactor()),
            isolated=None,
            keyboard=True,
            monitor=self._describe_monitor(),
            full_screen=bool(self._window.fullscr),
            font=self._face.family,
            software={
                "gardenpath": version("gardenpath"),
                "python": platform.python_version(),
                "system": platform.platform(),
                **{name: version(name) for name in ("psychopy", "psychtoolbox", "pyglet")},
            },
        )

    def _describe_monitor(self) -> str:
        screens = self._window.winHandle.display.get_screens()
        shown = screens[self._screen_number]
        return f"screen {self._screen_number} of {len(screens)}, {shown.width} x {shown.height} px at {shown.x}, {shown.y}"

    # ------------------------------------------------------------------------------------------------- frames

    def now(self) -> float:
        """Return the time, ms since the window was opened."""
        return self._convert_to_ms(self._default_clock.getTime())

    def _convert_to_ms(self, seconds: float) -> float:
        return float(1000 * (seconds - self._origin))

    def _measure_refresh_rate(self) -> float | None:
        """Return the refresh rate in Hz over 60 frames; None where flips do not wait for a refresh, as under Xvfb."""
        return estimate_refresh_rate([self._window.flip() for _ in range(70)][10:])

    @property
    def _period(self) -> float:
        return 1 / (self.refresh or 60.0)

    def _flip(self) -> float:
        """Show what is drawn on the next frame and return its time; frames that were missed in between are counted."""
        if self._stimulus is not None:
            self._stimulus.draw()
        flipped: float = self._window.flip()
        if self._last_flip is not None:
            self._dropped_frames += count_missed_refreshes(flipped - self._last_flip, self._period)
        self._last_flip = flipped
        self._flips += 1
        if self._painted is not None and self._painted.next_frame is None:
            self._painted.next_frame = self._convert_to_ms(flipped)
        return self._convert_to_ms(flipped)

    def count_dropped_frames(self) -> int | None:
        """Return the frames that came late since this was last asked; None where the refresh rate is not known."""
        dropped, self._dropped_frames = self._dropped_frames, 0
        return dropped if self.refresh is not None else None

    # ------------------------------------------------------------------------------------------------- what is shown

    def prepare(self, displays: Sequence[Display]) -> None:
        """Make everything that these displays show."""
        self._prepared_pictures = {display: self._draw_picture(display) for display in displays}
        for _, stimulus in self._prepared_pictures.values():
            stimulus.draw()  # the first time takes longest
        self._window.clearBuffer()
        self._last_flip = None

    def show(self, display: Display) -> FrameTimes:
        """Show a display on the next frame."""
        if (made := self._prepared_pictures.get(display)) is None:
            made = self._draw_picture(display)
            self._last_flip = None
        self._current_marks, self._stimulus = made
        self._show_mouse(isinstance(display, AnswerDisplay) or bool(getattr(display, "answers", ())))
        request = self.now()
        self._painted, self._flips = FrameTimes(request, self._flip()), 1
        return self._painted

    def _draw_picture(self, display: Display) -> tuple[tuple[Mark, ...], Any]:
        """Return the marks of a display, and one stimulus that shows them all: a word costs one rectangle a frame."""
        drawn_marks = build_marks(display, self.rect)
        image, middle = draw_picture(drawn_marks, self._face)
        return drawn_marks, self._visual.ImageStim(self._window, image, pos=middle, size=image.size)

    def _show_mouse(self, is_visible: bool) -> None:
        """Show the mouse where it can answer, and nowhere else."""
        if self._window.mouseVisible != is_visible:
            self._window.mouseVisible = is_visible

    def _measure_width(self, text: str, size: float) -> float:
        """Return how wide a text is, px."""
        width = self._widths.get((text, size))
        if width is None:
            width = self._widths[text, size] = self._face.measure_width(text, size)
        return width

    # ------------------------------------------------------------------------------------------------- what comes back

    def wait(self, patience: float | None = None) -> Input | None:
        """Return what happens next, oldest first; None when nothing did for so many ms. Frames go on meanwhile."""
        end = math.inf if patience is None else self.now() + patience
        return self._wait_until(lambda: self.now() >= end)

    def hold_display(self, frames: int) -> Input | None:
        """Return what happens while the display shown last stands for so many frames; None when nothing does.

        Frames are counted by flips; where these do not wait for a refresh, by the clock.
        """
        assert self._painted is not None
        end = self._painted.frame + 1000 * frames * self._period
        return self._wait_until(lambda: self._flips >= frames if self.refresh else self.now() >= end)

    def _wait_until(self, is_over: Callable[[], bool]) -> Input | None:
        while not self._queue:
            self._collect()
            if self._queue:
                break
            if is_over():
                return None
            due = -math.inf if self._last_flip is None else self._last_flip + self._period - FRAME_MARGIN
            if self._default_clock.getTime() < due:
                time.sleep(POLL_INTERVAL)
                continue
            self._flip()
        return self._queue.popleft()

    def _collect(self) -> None:
        """Take over the keys that went down or up, from the device: PsychoPy leaves out taps, and what a key types."""
        events = []
        for buffer in self._keyboard.device._buffers.values():
            while buffer.dev.flush(flush_type=self._flush_type):
                events.append(buffer.dev.queue_get_event()[0])
        if self._has_focus:
            handler, started = self.now(), self._default_clock.getLastResetTime()
            keys = [self._build_key(event, self._convert_to_ms(event["Time"] - started), handler) for event in events]
            self._queue.extend(sorted(keys, key=lambda key: key.t))

    def _build_key(self, event: Json, t: float, handler: float) -> Key:
        number, down = int(event["Keycode"]), bool(event["Pressed"])
        name = convert_key_name(self._key_names.get(number, f"unknown{number}"))
        return Key(name, t, handler, down, decode_character(event["CookedKey"]) if down else "")

    def _listen(self) -> None:
        """Take what is typed and clicked, and when the window is left and comes back."""

        def on_text(text: str) -> None:
            if self._has_focus and text.isprintable():
                self._queue.append(TypedCharacter(text, self.now()))

        def on_mouse_press(x: float, y: float, button: int, modifiers: int) -> None:
            self._queue_click(x, y)

        def on_deactivate() -> None:
            self._collect()
            self._has_focus = False
            self._queue.append(Focus("blur", self.now()))

        def on_activate() -> None:
            if not self._has_focus:
                self._collect()
                self._has_focus = True
                self._queue.append(Focus("focus", self.now()))

        def on_close() -> bool:
            now = self.now()
            self._queue.extend([Key("Escape", now, now), Key("Escape", now, now, is_down=False)])
            return True

        self._window.winHandle.push_handlers(on_text, on_mouse_press, on_deactivate, on_activate, on_close)

    def _queue_click(self, x: float, y: float) -> None:
        """Queue a click on an answer; x and y are from the lower left corner, in px of the window."""
        scale = self._window.getContentScaleFactor()
        x, y = scale * x - self._window.size[0] / 2, scale * y - self._window.size[1] / 2
        for mark in self._current_marks:
            if not isinstance(mark, BoxMark) or mark.answer is None:
                continue
            slack = max(0.0, self.rect.size - mark.height / 2)  # a thin bar is hard to hit
            if abs(x - mark.x) <= mark.width / 2 and abs(y - mark.y) <= mark.height / 2 + slack:
                self._queue.append(Click(mark.answer, self.now(), x / mark.width + 0.5))
                return


def _fit_script_rect(script: Script, width: float, height: float, measure: Callable[[str, float], float]) -> Rect:
    """Return a room for the words that are shown alone and in pairs, and for the lines of sentences; texts are broken instead."""
    screens = [screen for step in script.trials for screen in step.screens]
    words = [screen for screen in screens if isinstance(screen, Words)]
    centred_words = {word for screen in words if screen.arrangement == "centred" for word in screen.words}
    pairs = [pair for screen in screens if isinstance(screen, WordPairs) for pair in screen.pairs]
    paired_words = {word for pair in pairs for word in (pair.word, pair.alternative)}
    sentences = [join_lines(one.words, one.gaps, one.breaks) for one in words if one.arrangement != "centred"]
    return fit_rect(
        width, height, script.direction, sorted(centred_words), measure, sorted(paired_words), sentences, script.display
    )


def _find_strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _find_strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _find_strings(one)
