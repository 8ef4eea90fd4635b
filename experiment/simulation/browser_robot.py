"""A robot at the keyboard of a real browser: trusted key presses in Chromium, through the page itself."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gardenpath import study
from gardenpath.study.screens import Answers, Entry, Form, Slider, Text, Whole, WordPairs, Words

from ..sessions.sessions import Json
from ..tasks import SimulatedResponse
from .robots import Robot, SimulatedScreen

# What a page shows: its kind, its name, and the number of this change of the page.
PageState = tuple[str, str, int]
BLANK_STATE: PageState = ("", "", 0)

# The first is Chromium without windows: the same pages for a tenth of the processor time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MAX_PAGE_MS = 300  # ms; longer no robot looks at a page of text
KEY_HOLD_MS = 25  # ms that a key is held; shorter taps can be lost
PAGE_TIMEOUT_S = 30  # s that the page may take to show what follows
# s after which a key is pressed once more; sooner, a slow page would take both presses, the second for its next screen
RETRY_AFTER_S = 5
# Waits for the frame that paints what is there: an earlier press does not count. In a window behind others none comes.
WAIT_FOR_PAINT_SCRIPT = """new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done()));
  setTimeout(done, 2000);
})"""
# What is shown, the uppermost: its kind, its name and its number; of the last page the completion code. Nothing is null.
READ_STATE_SCRIPT = """() => {
  const code = document.querySelector(".code");
  if (code) return ["code", code.textContent, 0];
  const shown = [...document.querySelectorAll("[data-screen]")].pop();
  return shown ? [shown.dataset.screen, shown.dataset.name ?? "", Number(shown.dataset.step)] : null;
}"""
# Waits until something else is shown, at most so many ms, and gives what is: asking again and again costs three processes more.
WAIT_FOR_CHANGE_SCRIPT = """([before, ms]) => new Promise((done) => {
  const shown = SHOWN;
  const now = () => shown() ?? before;
  const same = () => String(now()) === String(before);
  if (!same()) return done(now());
  const observer = new MutationObserver(() => same() || finish());
  const finish = () => { observer.disconnect(); done(now()); };
  observer.observe(document, { subtree: true, childList: true, attributes: true });
  setTimeout(finish, ms);
})"""
# No request of the browser's own: it need not reach anything but the study.
CHROMIUM_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def run_session_in_browser(
    robot: Robot, address: str, name: str, *, key: str, chromium: str, pace: float = 1.0, pictures: Path | None = None
) -> str:
    """Let a robot take a whole session in Chromium and return the completion code.

    `key` is the experimenter's, which stands in the preview links. The robot reads `pace` times as fast as it would; with
    `pictures`, a screenshot of each kind and name of page is kept there.
    """
    playwright = study.errors.require("playwright.sync_api", "browser")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(CHROMIUM_ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        with page.expect_response("**/api/sessions") as response:
            page.goto(f"{address}?{urlencode({'participant': name, 'source': 'robot', 'key': key})}")
        code = run_session_on_page(robot, page, response.value.json(), name, pace=pace, pictures=pictures)
        browser.close()
    return code


def run_session_on_page(
    robot: Robot, page: Any, session: Json, name: str, *, pace: float = 1.0, pictures: Path | None = None
) -> str:
    """Let a robot take a session, of which this is the payload, at a page that is open; return the completion code."""
    return _PageRobot(page, pace, pictures).run(robot.simulate_screens(session, name))


def wait_for_change(page: Any, before: PageState, seconds: float, read_script: str = READ_STATE_SCRIPT) -> PageState:
    """Return what the page shows when it is no longer what it was `before`, or after so many seconds."""
    kind, name, number = page.evaluate(WAIT_FOR_CHANGE_SCRIPT.replace("SHOWN", read_script), [before, 1000 * seconds])
    return kind, name, number


class _PageRobot:
    """Does what a robot does whenever the page asks for it."""

    def __init__(self, page: Any, pace: float, pictures: Path | None) -> None:
        self.page, self.pace, self.pictures = page, pace, pictures
        self.saved_pictures: set[str] = set()

    def run(self, simulated_screens: Iterator[SimulatedScreen]) -> str:
        """Go through the page to the completion code."""
        for simulated_screen in simulated_screens:
            page_state = self._wait_for_state(lambda state: state[0] not in ("message", "cover", "withdraw"))
            self._save_screenshot(f"{simulated_screen.screen.kind}-{simulated_screen.screen.name}")
            _SCREEN_HANDLERS[simulated_screen.screen.kind](self, simulated_screen.screen, simulated_screen.response, page_state)
        code = self._wait_for_state(lambda state: state[0] == "code")[1]
        self._save_screenshot("code")
        return code

    def leave_text(self, screen: Text, response: SimulatedResponse, page_state: PageState) -> None:
        """Leave a page of text with its first button, or by the space bar."""
        if screen.space:
            self._press_key("Space", min(response.times_ms[0], MAX_PAGE_MS), page_state)
        else:
            self._click_button(page_state)

    def read_words(self, screen: Words, response: SimulatedResponse, page_state: PageState) -> None:
        """Read word by word; timed words go on by themselves."""
        for n, ms in enumerate(response.times_ms[:1] if screen.pace else response.times_ms):
            if n == 1:
                self._save_screenshot(f"{screen.kind}-{screen.name}-word")
            page_state = self._press_key("Space", ms, page_state)
        if screen.pace:
            name, since = screen.name, page_state[2]
            self._wait_for_state(lambda state: state[0] not in ("word", "") or state[1] != name or state[2] < since)

    def read_whole_text(self, screen: Whole, response: SimulatedResponse, page_state: PageState) -> None:
        """Read a text at once."""
        self._press_key("Space", response.times_ms[0], page_state)

    def choose_answer(self, screen: Answers, response: SimulatedResponse, page_state: PageState) -> None:
        """Choose an answer by its first key, in time or not at all."""
        if self._wait_out_deadline(screen, response, page_state):
            return
        key = next(one.keys[0] for one in screen.answers if one.value == response.answer)
        self._press_key(key, response.times_ms[0], page_state)

    def move_slider(self, screen: Slider, response: SimulatedResponse, page_state: PageState) -> None:
        """Move the slider and go on."""
        if not self._wait_out_deadline(screen, response, page_state):
            self.page.locator(".slider").fill(str(response.answer))
            self._press_key("Space", response.times_ms[0], page_state)

    def type_entry(self, screen: Entry, response: SimulatedResponse, page_state: PageState) -> None:
        """Type an answer and press Enter."""
        if not self._wait_out_deadline(screen, response, page_state):
            first = min(response.times_ms[0] if response.first_key_ms is None else response.first_key_ms, response.times_ms[0])
            self._wait(first)
            self.page.keyboard.type(str(response.answer))
            self._press_key("Enter", response.times_ms[0] - first, page_state)

    def fill_form(self, screen: Form, response: SimulatedResponse, page_state: PageState) -> None:
        """Fill in a form."""
        answers: Any = response.answer
        for form_field in screen.fields:
            element = self.page.get_by_label(form_field.label, exact=True)
            answer = str(answers[form_field.name])
            if form_field.kind == "choice":
                element.select_option(answer)
            else:
                element.fill(answer)
        self._click_button(page_state)

    def choose_words(self, screen: WordPairs, response: SimulatedResponse, page_state: PageState) -> None:
        """Choose word by word; a wrong choice ends it, or is corrected."""
        keys = {"left": ("KeyF", "KeyJ"), "right": ("KeyJ", "KeyF")}
        page_state = self._press_key("Space", response.times_ms[0], page_state)
        self._save_screenshot(f"{screen.kind}-{screen.name}-pair")
        for n, (pair, ms) in enumerate(zip(screen.pairs, response.times_ms[1:], strict=True)):
            right, wrong = keys[pair.side]
            if n in response.wrong_pairs:
                page_state = self._press_key(wrong, ms, page_state)
                if not screen.redo:
                    return
                page_state = self._wait_for_next_state(page_state) if screen.delay else page_state
            page_state = self._press_key(right, 300 if n in response.wrong_pairs else ms, page_state)

    def _wait_out_deadline(self, screen: Answers | Slider | Entry, response: SimulatedResponse, page_state: PageState) -> bool:
        """Whether no answer comes before the deadline; then wait until the page goes on."""
        if screen.deadline is None or response.times_ms[0] <= screen.deadline:
            return False
        self._wait_for_next_state(page_state)
        return True

    def _press_key(self, key: str, wait: float, page_state: PageState) -> PageState:
        """Press a key after `wait` ms of the robot's time, until the page shows something else; return what."""
        self._wait(wait)
        return self._repeat_until_change(page_state, lambda: self.page.keyboard.press(key, delay=KEY_HOLD_MS))

    def _click_button(self, page_state: PageState) -> PageState:
        return self._repeat_until_change(page_state, lambda: self.page.locator("button.first").click())

    def _wait(self, ms: float) -> None:
        self.page.wait_for_timeout(max(50.0, ms / self.pace - KEY_HOLD_MS))

    def _repeat_until_change(self, before: PageState, repeat: Callable[[], None]) -> PageState:
        """Act until the page shows something else, and return what."""
        end = time.monotonic() + PAGE_TIMEOUT_S
        while time.monotonic() < end:
            self.page.evaluate(WAIT_FOR_PAINT_SCRIPT)
            repeat()
            if (state := wait_for_change(self.page, before, RETRY_AFTER_S)) != before:
                return state
        raise ValueError(f"the page still shows {before} after {PAGE_TIMEOUT_S} s; expected it to go on")

    def _wait_for_next_state(self, before: PageState) -> PageState:
        return self._wait_for_state(lambda state: state != before)

    def _wait_for_state(self, is_expected: Callable[[PageState], bool]) -> PageState:
        """Wait until what the page shows is as expected, and return it."""
        end = time.monotonic() + PAGE_TIMEOUT_S
        state = BLANK_STATE
        while (remaining := end - time.monotonic()) > 0:
            state = wait_for_change(self.page, state, remaining)
            if state != BLANK_STATE and is_expected(state):
                return state
        raise ValueError(f"the page shows {state} after {PAGE_TIMEOUT_S} s; expected something else")

    def _save_screenshot(self, name: str) -> None:
        """Keep a picture of the first page of a name."""
        if self.pictures is not None and name not in self.saved_pictures:
            self.saved_pictures.add(name)
            self.pictures.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(self.pictures / f"{name}.png"))


_SCREEN_HANDLERS: Mapping[str, Callable[[_PageRobot, Any, SimulatedResponse, PageState], None]] = {
    "text": _PageRobot.leave_text,
    "words": _PageRobot.read_words,
    "whole": _PageRobot.read_whole_text,
    "answers": _PageRobot.choose_answer,
    "slider": _PageRobot.move_slider,
    "entry": _PageRobot.type_entry,
    "form": _PageRobot.fill_form,
    "word_pairs": _PageRobot.choose_words,
}
