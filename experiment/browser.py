"""A robot at the keyboard of a real browser: trusted key presses in Chromium, through the page itself."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gardenpath import study

from .robots import Robot
from .sessions import Json

NAMES = ("chromium", "chromium-browser", "google-chrome")
HOLD = 25  # ms that a key is held; shorter taps can be lost
PATIENCE = 20  # s that the page may take to show what follows
# No request of the browser's own: it need not reach anything but the study.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def take_in_browser(
    machine: Robot, address: str, name: str, *, chromium: str, pace: float = 1.0, pictures: Path | None = None
) -> str:
    """Let a robot take a whole session in Chromium and return the completion code.

    It reads `pace` times as fast as it would; with `pictures`, a screenshot of each kind of page is kept there.
    """
    playwright = study.require("playwright.sync_api", "dev")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        with page.expect_response("**/api/sessions") as answer:
            page.goto(f"{address}?{urlencode({'participant': name, 'source': 'robot'})}")
        code = take_page(machine, page, answer.value.json(), name, pace=pace, pictures=pictures)
        browser.close()
    return code


def take_page(
    machine: Robot, page: Any, session: Json, name: str, *, pace: float = 1.0, pictures: Path | None = None
) -> str:
    """Let a robot take a session, of which this is the payload, at a page that is open; return the completion code."""
    kinds = ("start", "word", "reading", "response", "demographics")
    script = [event for event in machine.events(session, name) if event["kind"] in kinds]
    return _Reader(page, pace, pictures, session).run(iter(script))


class _Reader:
    """Does what the script says whenever the page asks for it."""

    def __init__(self, page: Any, pace: float, pictures: Path | None, session: Json) -> None:
        self.page, self.pace, self.pictures, self.session = page, pace, pictures, session
        self.pictured: set[str] = set()

    def run(self, script: Iterator[Json]) -> str:
        """Go through the page to the completion code."""
        while (shown := self._state())[0] != "code":
            self._picture(shown[0])
            if shown[0] == "consent":
                self._until(shown, lambda: self.page.locator(".sheet button.first").click())
            elif shown[0] in ("start", "word", "sentence", "context", "rating", "slider", "question", "choice", "form"):
                self._act(next(script), shown)
            else:
                self._press("Space", 300, shown)
        self._picture("code")
        return shown[1]

    def _act(self, event: Json, shown: tuple[str, str]) -> None:
        value = event["value"]
        if shown[0] == "form":
            self._fill(value["answers"])
            self._until(shown, lambda: self.page.locator("button.first").click())
            return
        if shown[0] == "slider":
            self.page.locator(".slider").fill(str(value["response"]))
        self._press(self._key(event, shown[0]), value["handler"] - value["request"], shown)

    def _key(self, event: Json, screen: str) -> str:
        value = event["value"]
        if screen == "choice":
            return "f" if value["side"] in ("left", "upper") else "j"
        if screen == "question":
            choices = self.session["trials"][event["trial"]]["question"]["choices"]
            return str(choices.index(value["response"]) + 1)
        if screen == "rating":
            yes_no = self.session["procedure"]["rating"]["kind"] == "yes_no"
            return str(2 - value["response"] if yes_no else value["response"])
        return "Space"

    def _fill(self, answers: Json) -> None:
        for asked in self.session["procedure"]["demographics"]:
            field = self.page.get_by_label(asked["label"], exact=True)
            answer = str(answers[asked["name"]])
            if asked["kind"] == "choice":
                field.select_option(answer)
            else:
                field.fill(answer)

    def _press(self, key: str, wait: float, shown: tuple[str, str]) -> None:
        """Press a key after `wait` ms of the robot's time, until the page shows something else."""
        self.page.wait_for_timeout(max(50.0, wait / self.pace - HOLD))
        self._until(shown, lambda: self.page.keyboard.press(key, delay=HOLD))

    def _until(self, shown: tuple[str, str], act: Callable[[], None]) -> None:
        """Act until the page shows something else."""
        end = time.monotonic() + PATIENCE
        while True:
            act()
            for _ in range(100):
                if self._state() != shown:
                    return
                self.page.wait_for_timeout(4)
            if time.monotonic() > end:
                raise ValueError(f"the page still shows {shown} after {PATIENCE} s; expected it to go on")

    def _state(self) -> tuple[str, str]:
        """Return what is shown, the uppermost: its kind, and its number; of the last page the completion code."""
        while True:
            state: list[str] | None = self.page.evaluate(
                """() => {
                  const code = document.querySelector(".code");
                  if (code) return ["code", code.textContent];
                  const shown = [...document.querySelectorAll("[data-screen]")].pop();
                  return shown ? [shown.dataset.screen, shown.dataset.step] : null;
                }"""
            )
            if state:
                return state[0], state[1]
            self.page.wait_for_timeout(5)

    def _picture(self, kind: str) -> None:
        if self.pictures is not None and kind not in self.pictured:
            self.pictured.add(kind)
            self.pictures.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(self.pictures / f"{kind}.png"))
