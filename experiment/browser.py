"""A robot at the keyboard of a real browser: trusted key presses in Chromium, through the page itself."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gardenpath import study
from gardenpath.study.screens import Answers, Entry, Form, Slider, Text, Whole, WordPairs, Words

from .robots import Did, Robot
from .sessions import Json
from .tasks import Act

# What a page shows: its kind, its name, and the number of this change of the page.
State = tuple[str, str, int]
NOTHING: State = ("", "", 0)

# The first is Chromium without windows: the same pages for a tenth of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PAGE = 300  # ms; longer no robot looks at a page of text
HOLD = 25  # ms that a key is held; shorter taps can be lost
PATIENCE = 30  # s that the page may take to show what follows
AGAIN = 5  # s after which a key is pressed once more; sooner, a slow page would take both presses, the second for its next screen
# Waits for the frame that paints what is there: an earlier press does not count. In a window behind others none comes.
PAINTED = """new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done()));
  setTimeout(done, 2000);
})"""
# What is shown, the uppermost: its kind, its name and its number; of the last page the completion code. Nothing is null.
SHOWN = """() => {
  const code = document.querySelector(".code");
  if (code) return ["code", code.textContent, 0];
  const shown = [...document.querySelectorAll("[data-screen]")].pop();
  return shown ? [shown.dataset.screen, shown.dataset.name ?? "", Number(shown.dataset.step)] : null;
}"""
# Waits until something else is shown, at most so many ms, and gives what is: asking again and again costs three processes more.
CHANGED = """([before, ms]) => new Promise((done) => {
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
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def take_in_browser(
    machine: Robot,
    address: str,
    name: str,
    *,
    key: str,
    chromium: str,
    pace: float = 1.0,
    pictures: Path | None = None,
) -> str:
    """Let a robot take a whole session in Chromium and return the completion code.

    `key` is the experimenter's, which stands in the preview links. The robot reads `pace` times as fast as it would; with
    `pictures`, a screenshot of each kind and name of page is kept there.
    """
    playwright = study.errors.require("playwright.sync_api", "browser")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        with page.expect_response("**/api/sessions") as answer:
            page.goto(f"{address}?{urlencode({'participant': name, 'source': 'robot', 'key': key})}")
        code = take_page(machine, page, answer.value.json(), name, pace=pace, pictures=pictures)
        browser.close()
    return code


def take_page(
    machine: Robot, page: Any, session: Json, name: str, *, pace: float = 1.0, pictures: Path | None = None
) -> str:
    """Let a robot take a session, of which this is the payload, at a page that is open; return the completion code."""
    return _Reader(page, pace, pictures).run(machine.acts(session, name))


def changed(page: Any, before: State, seconds: float, shown: str = SHOWN) -> State:
    """Return what the page shows when it is no longer what it was `before`, or after so many seconds."""
    kind, name, number = page.evaluate(CHANGED.replace("SHOWN", shown), [before, 1000 * seconds])
    return kind, name, number


class _Reader:
    """Does what a robot does whenever the page asks for it."""

    def __init__(self, page: Any, pace: float, pictures: Path | None) -> None:
        self.page, self.pace, self.pictures = page, pace, pictures
        self.pictured: set[str] = set()

    def run(self, acts: Iterator[Did]) -> str:
        """Go through the page to the completion code."""
        for did in acts:
            shown = self._at(lambda state: state[0] not in ("message", "cover", "withdraw"))
            self._picture(f"{did.screen.kind}-{did.screen.name}")
            _DO[did.screen.kind](self, did.screen, did.act, shown)
        code = self._at(lambda state: state[0] == "code")[1]
        self._picture("code")
        return code

    def text(self, screen: Text, act: Act, shown: State) -> None:
        """Leave a page of text with its first button, or by the space bar."""
        if screen.space:
            self._press("Space", min(act.ms[0], PAGE), shown)
        else:
            self._click(shown)

    def words(self, screen: Words, act: Act, shown: State) -> None:
        """Read word by word; timed words go on by themselves."""
        for n, ms in enumerate(act.ms[:1] if screen.pace else act.ms):
            if n == 1:
                self._picture(f"{screen.kind}-{screen.name}-word")
            shown = self._press("Space", ms, shown)
        if screen.pace:
            name, since = screen.name, shown[2]
            self._at(lambda state: state[0] not in ("word", "") or state[1] != name or state[2] < since)

    def whole(self, screen: Whole, act: Act, shown: State) -> None:
        """Read a text at once."""
        self._press("Space", act.ms[0], shown)

    def answers(self, screen: Answers, act: Act, shown: State) -> None:
        """Choose an answer by its first key, in time or not at all."""
        if self._late(screen, act, shown):
            return
        key = next(one.keys[0] for one in screen.answers if one.value == act.answer)
        self._press(key, act.ms[0], shown)

    def slider(self, screen: Slider, act: Act, shown: State) -> None:
        """Move the slider and go on."""
        if not self._late(screen, act, shown):
            self.page.locator(".slider").fill(str(act.answer))
            self._press("Space", act.ms[0], shown)

    def entry(self, screen: Entry, act: Act, shown: State) -> None:
        """Type an answer and press Enter."""
        if not self._late(screen, act, shown):
            first = min(act.ms[0] if act.first is None else act.first, act.ms[0])
            self._wait(first)
            self.page.keyboard.type(str(act.answer))
            self._press("Enter", act.ms[0] - first, shown)

    def form(self, screen: Form, act: Act, shown: State) -> None:
        """Fill in a form."""
        answers: Any = act.answer
        for asked in screen.fields:
            field = self.page.get_by_label(asked.label, exact=True)
            answer = str(answers[asked.name])
            if asked.kind == "choice":
                field.select_option(answer)
            else:
                field.fill(answer)
        self._click(shown)

    def word_pairs(self, screen: WordPairs, act: Act, shown: State) -> None:
        """Choose word by word; a wrong choice ends it, or is corrected."""
        keys = {"left": ("KeyF", "KeyJ"), "right": ("KeyJ", "KeyF")}
        shown = self._press("Space", act.ms[0], shown)
        self._picture(f"{screen.kind}-{screen.name}-pair")
        for n, (pair, ms) in enumerate(zip(screen.pairs, act.ms[1:], strict=True)):
            right, wrong = keys[pair.side]
            if n in act.wrong:
                shown = self._press(wrong, ms, shown)
                if not screen.redo:
                    return
                shown = self._past(shown) if screen.delay else shown
            shown = self._press(right, 300 if n in act.wrong else ms, shown)

    def _late(self, screen: Answers | Slider | Entry, act: Act, shown: State) -> bool:
        """Whether no answer comes before the deadline; then wait until the page goes on."""
        if screen.deadline is None or act.ms[0] <= screen.deadline:
            return False
        self._past(shown)
        return True

    def _press(self, key: str, wait: float, shown: State) -> State:
        """Press a key after `wait` ms of the robot's time, until the page shows something else; return what."""
        self._wait(wait)
        return self._until(shown, lambda: self.page.keyboard.press(key, delay=HOLD))

    def _click(self, shown: State) -> State:
        return self._until(shown, lambda: self.page.locator("button.first").click())

    def _wait(self, ms: float) -> None:
        self.page.wait_for_timeout(max(50.0, ms / self.pace - HOLD))

    def _until(self, shown: State, act: Callable[[], None]) -> State:
        """Act until the page shows something else, and return what."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.page.evaluate(PAINTED)
            act()
            if (state := changed(self.page, shown, AGAIN)) != shown:
                return state
        raise ValueError(f"the page still shows {shown} after {PATIENCE} s; expected it to go on")

    def _past(self, shown: State) -> State:
        return self._at(lambda state: state != shown)

    def _at(self, holds: Callable[[State], bool]) -> State:
        """Wait until what the page shows is as expected, and return it."""
        end = time.monotonic() + PATIENCE
        state = NOTHING
        while (left := end - time.monotonic()) > 0:
            state = changed(self.page, state, left)
            if state != NOTHING and holds(state):
                return state
        raise ValueError(f"the page shows {state} after {PATIENCE} s; expected something else")

    def _picture(self, name: str) -> None:
        """Keep a picture of the first page of a name."""
        if self.pictures is not None and name not in self.pictured:
            self.pictured.add(name)
            self.pictures.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(self.pictures / f"{name}.png"))


_DO: Mapping[str, Callable[[_Reader, Any, Act, State], None]] = {
    "text": _Reader.text,
    "words": _Reader.words,
    "whole": _Reader.whole,
    "answers": _Reader.answers,
    "slider": _Reader.slider,
    "entry": _Reader.entry,
    "form": _Reader.form,
    "word_pairs": _Reader.word_pairs,
}
