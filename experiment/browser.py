"""A robot at the keyboard of a real browser: trusted key presses in Chromium, through the page itself."""

import shutil
import time
from collections.abc import Iterator
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
        script = [e for e in machine.events(answer.value.json(), name) if e["kind"] in ("start", "word", "response")]
        code = _Reader(page, pace, pictures).run(iter(script))
        browser.close()
    return code


class _Reader:
    """Presses what the script says whenever the page asks for it."""

    def __init__(self, page: Any, pace: float, pictures: Path | None) -> None:
        self.page, self.pace, self.pictures = page, pace, pictures
        self.pictured: set[str] = set()

    def run(self, script: Iterator[Json]) -> str:
        """Go through the page to the completion code."""
        self.page.locator(".sheet").wait_for()
        self._picture("consent")
        self.page.locator(".sheet button").first.click()
        while (shown := self._state())[0] != "code":
            self._picture(shown[0])
            if shown[0] in ("fixation", "word", "rating"):
                self._act(next(script), shown)
            else:
                self._press("Space", 300, shown)
        self._picture("code")
        return shown[1]

    def _act(self, event: Json, shown: tuple[str, str]) -> None:
        value = event["value"]
        key = str(value["response"]) if event["kind"] == "response" else "Space"
        self._press(key, value["handler"] - value["request"], shown)

    def _press(self, key: str, wait: float, shown: tuple[str, str]) -> None:
        """Press a key after `wait` ms of the robot's time, until the page shows something else."""
        self.page.wait_for_timeout(max(50.0, wait / self.pace - HOLD))
        end = time.monotonic() + PATIENCE
        while True:
            self.page.keyboard.press(key, delay=HOLD)
            for _ in range(100):
                if self._state() != shown:
                    return
                self.page.wait_for_timeout(4)
            if time.monotonic() > end:
                raise ValueError(f"the page still shows {shown} after {PATIENCE} s; expected it to go on after {key}")

    def _state(self) -> tuple[str, str]:
        """Return what is shown: its kind, and what tells it from the next of that kind."""
        state: list[str] = self.page.evaluate(
            """() => {
              for (const kind of ["code", "rating", "fixation", "word", "sheet"]) {
                const shown = document.querySelector("." + kind);
                if (shown) return [kind, shown.textContent];
              }
              return ["nothing", ""];
            }"""
        )
        if state[0] == "nothing":
            self.page.wait_for_timeout(5)
            return self._state()
        return state[0], state[1]

    def _picture(self, kind: str) -> None:
        if self.pictures is not None and kind not in self.pictured:
            self.pictured.add(kind)
            self.pictures.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(self.pictures / f"{kind}.png"))
