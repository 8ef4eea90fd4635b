"""A participant at a real page: a study served on a free port, Chromium, and a reader with trusted keys."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from json import dumps, loads
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.scripts.script import build_timeline
from gardenpath.experiment.simulation.browser_robot import (
    RETRY_AFTER_S,
    WAIT_FOR_PAINT_SCRIPT,
    run_session_on_page,
    wait_for_change,
)

from .conftest import ROBOT_KEY, serve

ITEMS = """\
paradigm,phenomenon,item,condition,sentence
agreement,agreement,a-1,grammatical,The key to the cabinets [is] rusty.
agreement,agreement,a-1,ungrammatical,The key to the cabinets [are] rusty.
agreement,agreement,a-2,grammatical,The road past the farms [is] narrow.
agreement,agreement,a-2,ungrammatical,The road past the farms [are] narrow.
agreement,agreement,a-3,grammatical,The label on the bottles [is] torn.
agreement,agreement,a-3,ungrammatical,The label on the bottles [are] torn.
"""
DESIGN = """\
ratio = { grammatical = 2, ungrammatical = 1 }
lists = 3
practice = ["She slept well."]
"""
RATING = """\
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
"""
# Words that come by themselves, with the rating after them.
FAST = RATING + '[procedure.tasks.fast]\nkind = "rsvp"\nword_duration = 300\npause_duration = 50\n'
# What is shown, the uppermost: its kind, its name, and its number.
SHOWN = """() => {
  const shown = [...document.querySelectorAll("[data-screen]")].pop();
  return shown ? [shown.dataset.screen, shown.dataset.name ?? "", Number(shown.dataset.step)] : null;
}"""
NOTHING = ("", "", 0)
# What the page's own clock says about each key, noted apart from the code under test.
WITNESS = """
window.keys = [];
addEventListener('keydown', (e) => window.keys.push([e.code, e.timeStamp, e.repeat, e.isTrusted]), true);
addEventListener('keyup', (e) => window.keys.push([`${e.code} up`, e.timeStamp, e.repeat, e.isTrusted]), true);
"""


def stated(
    design: str = DESIGN,
    procedure: str = "breaks = 1\n",
    tasks: str = RATING,
    show: str = "centred",
    ask: Sequence[str] = ("acceptability",),
    language: str = "en",
) -> str:
    """Return the text of a study.toml; `procedure` and `tasks` stand before and after what is shown of targets and asked."""
    return f"""\
name = "page"
title = "Reading sentences"
language = "{language}"
seed = 1
[materials]
files = ["items.csv"]
[design]
{design}
[procedure]
{procedure}
[procedure.target]
show = "{show}"
ask = {dumps(ask)}
{tasks}
[online]
completion_code = "GARDEN-PATH-1"
"""


@dataclass
class Site:
    """A study served on a free port, and its database."""

    address: str
    database: Path
    folder: Path
    list_files: list[experiment.ListFile]

    def events(self) -> list[dict[str, Any]]:
        """Return what is stored, by number; `trial` is the presented position of the trial that an event belongs to."""
        with sqlite3.connect(self.database) as connection:
            columns = 'session, list_sha256, "order", seq, visit, t, kind, step, screen, value'
            query = f"SELECT {columns} FROM events JOIN sessions ON session = id ORDER BY seq"
            rows = connection.execute(query).fetchall()
        names = ("seq", "visit", "t", "kind", "step", "screen", "value")
        files = {file.sha256: file for file in self.list_files}
        placed = {session: build_timeline(files[sha256].script, loads(order)) for session, sha256, order, *_ in rows}
        return [
            dict(zip(names, (*row[:6], loads(row[6])), strict=True))
            | {"trial": None if row[4] is None else placed[session][row[4]].position}
            for session, _, _, *row in rows
        ]

    def sessions(self) -> int:
        with sqlite3.connect(self.database) as connection:
            return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])


@contextmanager
def served(
    folder: Path, text: str, items: str = ITEMS, change: Callable[[experiment.ListFile], experiment.ListFile] = lambda file: file
) -> Iterator[Site]:
    """Serve a study of this study.toml and these items, its lists changed."""
    for module in ("starlette", "uvicorn", "sqlalchemy", "jsonschema"):
        pytest.importorskip(module)
    name = "items.jsonl" if items.startswith("{") else "items.csv"
    (folder / name).write_text(items)
    (folder / "study.toml").write_text(text.replace("items.csv", name))
    read = study.load(folder / "study.toml")
    list_files = [change(file) for file in experiment.build_list_files(read)]
    for running in serve(read, list_files, folder / "data"):
        yield Site(running.address, folder / "data" / "study.sqlite", folder / "data", list_files)


@contextmanager
def opened(browser: Any, address: str, scripts: tuple[str, ...] = (), **options: Any) -> Iterator["Reader"]:
    """Open the page in a context of its own, after these scripts; faults on the page are faults of the test."""
    context = browser.new_context(**options)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Security Policy" in message.text else None)
    for script in (WITNESS, *scripts):
        page.add_init_script(script)
    page.goto(address)
    yield Reader(page)
    context.close()
    assert not faults


def robot_takes(robot: experiment.Robot, site: Site, name: str, browser: Any, *, pace: float) -> str:
    """As `experiment.take_in_browser`, in a browser that runs already."""
    with closing(browser.new_context()) as context:
        page = context.new_page()
        with page.expect_response("**/api/sessions") as answer:
            page.goto(f"{site.address}?{urlencode({'participant': name, 'source': 'robot', 'key': ROBOT_KEY})}")
        return run_session_on_page(robot, page, answer.value.json(), name, pace=pace)


@dataclass
class Reader:
    """A participant at the keyboard, who reads what the page shows."""

    page: Any
    answers: list[int] = field(default_factory=list)
    sentences: list[list[str]] = field(default_factory=list)

    def state(self) -> tuple[str, str, int]:
        """What is shown, the uppermost: its kind, its name, and its number."""
        kind, name, number = self.page.evaluate(SHOWN) or NOTHING
        return kind, name, number

    def screen(self) -> str:
        return self.state()[0]

    def name(self) -> str:
        return self.state()[1]

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 15
        while not holds():
            assert time.monotonic() < end, (self.state(), self.page.locator("body").inner_text())
            self.page.wait_for_timeout(10)

    def at(self, *screens: str) -> str:
        """Wait for one of these kinds or names; return which."""
        state, end = NOTHING, time.monotonic() + 15
        while not (found := [one for one in state[:2] if one in screens]):
            assert time.monotonic() < end, (state, self.page.locator("body").inner_text())
            state = wait_for_change(self.page, state, 15, SHOWN)
        return found[0]

    def press(self, key: str) -> None:
        self.page.evaluate(WAIT_FOR_PAINT_SCRIPT)  # an earlier press would not count
        self.page.keyboard.press(key, delay=25)

    def go(self, key: str = "Space") -> None:
        """Press a key and wait until the page shows something else."""
        before, end = self.state(), time.monotonic() + 30
        while time.monotonic() < end:
            self.press(key)
            if wait_for_change(self.page, before, RETRY_AFTER_S, SHOWN) != before:
                return
        raise AssertionError((before, self.page.locator("body").inner_text()))

    def consent(self) -> None:
        if self.at("device", "consent") == "device":
            self.go()
        self.page.locator("button.first").click()
        self.until(lambda: self.state()[:2] not in (("text", "consent"), ("", "")))

    def begin(self) -> None:
        self.consent()
        self.skip_text()

    def skip_text(self) -> str:
        """Leave pages of text; return what comes then."""
        self.until(lambda: self.screen() != "")
        while self.screen() == "text":
            self.go()
        return self.screen()

    def word(self) -> str:
        return str(self.page.locator(".word").text_content())

    def read(self, between: Callable[[int], None] = lambda word: None) -> None:
        """Read one sentence, from the fixation mark in the middle of the screen to the task, or all of it at once."""
        whole = self.at("start", "whole") == "whole"
        words = str(self.page.locator(".stimulus").text_content()).split() if whole else []
        self.go()
        while self.screen() == "word":
            words.append(self.word())
            between(len(words) - 1)
            self.go()
        self.sentences.append(words)

    def rate(self, answer: int) -> None:
        self.at("acceptability")
        self.go(str(answer))
        self.answers.append(answer)

    def trials(self, count: int) -> None:
        for _ in range(count):
            self.skip_text()
            self.read()
            self.rate(1 + len(self.answers) % 7)

    def code(self) -> str:
        self.page.locator(".code").wait_for()
        return str(self.page.locator(".code").text_content())


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        arguments.append("--disable-features=SpareRendererForSitePerProcess")  # a test kills a tab's process
        running = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield running
        running.close()
