"""The page in real Chromium, with trusted keys, against the real server: what was done is what is stored."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study

pytestmark = pytest.mark.browser

ITEMS = """\
paradigm,phenomenon,item,condition,sentence
agreement,agreement,a-1,grammatical,The key to the cabinets [is] rusty.
agreement,agreement,a-1,ungrammatical,The key to the cabinets [are] rusty.
agreement,agreement,a-2,grammatical,The road past the farms [is] narrow.
agreement,agreement,a-2,ungrammatical,The road past the farms [are] narrow.
agreement,agreement,a-3,grammatical,The label on the bottles [is] torn.
agreement,agreement,a-3,ungrammatical,The label on the bottles [are] torn.
"""
STUDY = """\
name = "page"
title = "Reading sentences"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
ratio = { grammatical = 2, ungrammatical = 1 }
versions = 3
practice = ["She slept well."]
[procedure]
breaks = 1
[procedure.rating]
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
[online]
completion_code = "GARDEN-PATH-1"
"""
# What the page's own clock says about each key, noted apart from the code under test.
WITNESS = """
window.keys = [];
addEventListener('keydown', (e) => window.keys.push([e.code, e.timeStamp, e.repeat, e.isTrusted]), true);
"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        running = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield running
        running.close()


@dataclass
class Site:
    """A study served on a free port, and its database."""

    address: str
    database: Path
    folder: Path

    def events(self) -> list[dict[str, Any]]:
        with sqlite3.connect(self.database) as connection:
            rows = connection.execute("SELECT seq, visit, t, kind, trial, value FROM events ORDER BY seq").fetchall()
        names = ("seq", "visit", "t", "kind", "trial", "value")
        return [dict(zip(names, (*row[:5], json.loads(row[5])), strict=True)) for row in rows]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    for module in ("starlette", "uvicorn", "sqlalchemy", "jsonschema"):
        pytest.importorskip(module)
    import uvicorn

    from gardenpath.experiment import server, store

    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "study.toml").write_text(STUDY)
    stated = study.load(tmp_path / "study.toml")
    database = tmp_path / "data" / "study.sqlite"
    opened = server.open_store(stated, experiment.version_files(stated), store.sqlite_url(database))
    app = server.application(opened, stated, key=b"0" * 32)
    listener = server.listen("127.0.0.1", 0)
    running = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    yield Site(f"http://127.0.0.1:{listener.getsockname()[1]}/", database, database.parent)
    running.should_exit = True
    thread.join()
    opened.engine.dispose()


@dataclass
class Reader:
    """A participant at the keyboard, who reads what the page shows."""

    page: Any
    answers: list[int] = field(default_factory=list)
    sentences: list[list[str]] = field(default_factory=list)

    def press(self, key: str) -> None:
        self.page.wait_for_timeout(30)  # past the next frame: an earlier press would not count
        self.page.keyboard.press(key, delay=25)

    def shows(self, selector: str) -> bool:
        return bool(self.page.locator(selector).count())

    def begin(self) -> None:
        self.page.get_by_role("button", name="agree to take part").click()
        for _ in range(3):
            self.leave_text()

    def leave_text(self) -> None:
        before = self.page.locator(".sheet").text_content()
        self.press("Space")
        self.until(lambda: not self.shows(".sheet") or self.page.locator(".sheet").text_content() != before)

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end, self.page.locator("body").inner_text()
            self.page.wait_for_timeout(5)

    def word(self) -> str:
        return str(self.page.locator(".word").text_content())

    def read(self, between: Callable[[int], None] = lambda word: None) -> None:
        """Read one sentence, from the fixation mark to the rating."""
        self.page.locator(".fixation").wait_for()
        self.press("Space")
        self.page.locator(".fixation").wait_for(state="detached")
        words: list[str] = []
        while self.shows(".word"):
            words.append(self.word())
            between(len(words) - 1)
            self.press("Space")
            # Two successive words of these sentences never are the same.
            self.until(lambda: self.shows(".rating") or self.word() != words[-1])
        self.sentences.append(words)

    def rate(self, answer: int) -> None:
        self.page.locator(".rating").wait_for()
        self.press(str(answer))
        self.page.locator(".rating").wait_for(state="detached")
        self.answers.append(answer)

    def trials(self, count: int) -> None:
        for _ in range(count):
            self.until(lambda: self.shows(".sheet") or self.shows(".fixation"))
            if self.shows(".sheet"):
                self.leave_text()
            self.read()
            self.rate(1 + len(self.answers) % 7)

    def code(self) -> str:
        self.page.locator(".code").wait_for()
        return str(self.page.locator(".code").text_content())


@pytest.fixture
def reader(browser: Any, site: Site) -> Iterator[Reader]:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Security Policy" in message.text else None)
    page.add_init_script(WITNESS)
    page.goto(f"{site.address}?participant=P1")
    yield Reader(page)
    page.close()
    assert not faults


def test_a_whole_session_is_in_the_database_with_reading_times_from_key_to_key(site: Site, reader: Reader) -> None:
    assert not site.events(), "nothing is stored before consent"
    reader.begin()
    reader.trials(4)
    assert reader.code() == "GARDEN-PATH-1"

    events = site.events()
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert [event["kind"] for event in events[:2]] == ["visit", "consent"]
    assert events[-1]["kind"] == "end"
    assert sum(event["kind"] == "break" for event in events) == 1
    assert events[0]["value"]["isolated"] is True

    keys = reader.page.evaluate("window.keys")
    assert all(trusted and not repeat for _, _, repeat, trusted in keys)
    counted = [event["t"] for event in events if event["kind"] in ("start", "word", "response")]
    pressed = [t for _, t, _, _ in keys]
    assert set(counted) <= set(pressed), "each time is the time of a key press, unrounded"

    tables = experiment.collect(site.folder)
    readings = tables["readings"].sort_values(["trial", "word"])
    assert [list(group["text"]) for _, group in readings.groupby("trial")] == reader.sentences
    for trial, group in readings.groupby("trial"):
        ends = [e["t"] for e in events if e["trial"] == trial and e["kind"] in ("start", "word")]
        assert list(group["rt"]) == [after - before for before, after in pairwise(ends)]
        assert all(before in pressed for before in ends)
    assert (readings["flags"].fillna("") == "").all()
    assert (readings["rt_onset"] < readings["rt"]).mean() > 0.9, "a word is painted after the press that calls it"
    assert list(tables["responses"].sort_values("trial")["response"].astype(int)) == reader.answers
    assert tables["sessions"]["complete"].all()


def test_a_held_space_bar_reads_one_word_and_answers_nothing(site: Site, reader: Reader) -> None:
    reader.begin()
    keyboard = reader.page.keyboard
    reader.read()
    reader.rate(4)
    reader.leave_text()
    reader.page.locator(".fixation").wait_for()
    reader.press("Space")
    reader.page.wait_for_timeout(50)
    first = reader.word()
    keyboard.down("Space")
    for _ in range(20):
        keyboard.down("Space")  # a key that is down already repeats
    assert reader.word() not in (first, "+")
    second = reader.word()
    keyboard.up("Space")
    keyboard.press("Enter")
    keyboard.press("Shift+Space")
    assert reader.word() == second
    while not reader.word().endswith("."):
        reader.press("Space")
        reader.page.wait_for_timeout(30)
    keyboard.down("Space")
    reader.page.locator(".rating").wait_for()
    reader.press("6")
    assert reader.shows(".rating"), "the rating waits until the space bar is let go"
    keyboard.up("Space")
    reader.rate(5)
    reader.trials(2)
    reader.code()
    events = [event for event in site.events() if event["trial"] == 1]
    words = [event["value"] for event in events if event["kind"] == "word"]
    assert [word["word"] for word in words] == list(range(len(words)))
    assert sum(word.get("repeats", 0) for word in words) == 20
    ignored = [(event["value"]["reason"], event["value"]["code"]) for event in events if event["kind"] == "press"]
    assert ("other", "Enter") in ignored
    assert ("modifier", "Space") in ignored
    assert ("held", "Digit6") in ignored
    assert [event["value"]["response"] for event in events if event["kind"] == "response"] == [5]


def test_leaving_the_window_covers_the_sentence_and_coming_back_ends_no_word(site: Site, reader: Reader) -> None:
    reader.begin()

    def leave(word: int) -> None:
        if word != 1:
            return
        before = reader.word()
        reader.page.evaluate("window.dispatchEvent(new Event('blur')), window.dispatchEvent(new Event('focus')), null")
        reader.page.locator(".cover").wait_for()
        reader.press("Space")
        reader.page.locator(".cover").wait_for(state="detached")
        assert reader.word() == before

    reader.read(leave)
    reader.rate(4)
    reader.trials(3)
    reader.code()
    readings = experiment.collect(site.folder)["readings"]
    flagged = readings[readings["flags"].fillna("").str.contains("interrupted")]
    assert list(zip(flagged["trial"], flagged["word"], strict=True)) == [(0, 1)]
    reasons = [event["value"]["reason"] for event in site.events() if event["kind"] == "interruption"]
    assert reasons == ["blur", "focus"]


def test_a_reload_in_the_middle_of_a_sentence_begins_that_sentence_again(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(2)
    reader.until(lambda: reader.shows(".sheet") or reader.shows(".fixation"))
    if reader.shows(".sheet"):
        reader.leave_text()
    reader.page.locator(".fixation").wait_for()
    reader.press("Space")
    reader.press("Space")
    reader.page.reload()
    reader.trials(2)
    assert reader.code() == "GARDEN-PATH-1"
    events = site.events()
    assert len({event["visit"] for event in events}) == 2
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert [event["trial"] for event in events if event["kind"] == "trial_end"] == [0, 1, 2, 3]
    assert sum(event["kind"] == "consent" for event in events) == 1
    tables = experiment.collect(site.folder)
    assert not tables["readings"].duplicated(["session", "trial", "word"]).any()
    assert list(tables["responses"].sort_values("trial")["response"].astype(int)) == reader.answers


def test_nothing_is_lost_while_the_server_is_away(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(1)
    reader.page.route("**/events", lambda route: route.abort())
    reader.trials(3)
    reader.page.wait_for_timeout(200)
    assert not reader.shows(".code")
    reader.page.unroute("**/events")
    assert reader.code() == "GARDEN-PATH-1"
    responses = experiment.collect(site.folder)["responses"].sort_values("trial")
    assert list(responses["response"].astype(int)) == reader.answers


def test_nothing_is_sent_while_a_sentence_is_read(reader: Reader) -> None:
    reader.begin()
    reader.trials(1)
    reader.leave_text()
    reader.page.locator(".fixation").wait_for()
    reader.press("Space")
    reader.page.locator(".fixation").wait_for(state="detached")
    sent: list[str] = []
    reader.page.on("request", lambda request: sent.append(request.url))
    while reader.page.locator(".word").count():
        assert not sent
        reader.press("Space")
        reader.page.wait_for_timeout(30)
    reader.until(lambda: bool(sent))


def test_who_declines_leaves_no_event(site: Site, reader: Reader) -> None:
    reader.page.get_by_role("button", name="do not agree").click()
    reader.page.get_by_text("Nothing has been stored").wait_for()
    assert not site.events()


def test_who_has_finished_is_told_so(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(4)
    reader.code()
    reader.page.reload()
    reader.page.get_by_text("has finished").wait_for()
