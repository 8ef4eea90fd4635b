"""Who cannot or does not want to take part leaves fairly, in real Chromium: nothing is stored that may not be."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment

from .pages import Reader, Site, browser, opened, served, stated  # noqa: F401

pytestmark = pytest.mark.browser

ABOUT = """\
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
min = 18
max = 99
required = true

[[procedure.demographics]]
name = "languages"
label = "Which languages did you speak as a child?"

[[procedure.demographics]]
name = "hand"
label = "Which hand do you write with?"
kind = "choice"
choices = ["left", "right"]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path, stated(procedure="breaks = 1\n" + ABOUT)) as running:
        yield running


@pytest.fixture
def reader(browser: Any, site: Site) -> Iterator[Reader]:  # noqa: F811
    with opened(browser, f"{site.address}?PROLIFIC_PID=P1") as someone:
        yield someone


def _left(reader: Reader, text: str, site: Site) -> None:
    """The last page says so, and asks to return the submission; nothing is stored."""
    reader.page.get_by_text(text).wait_for()
    assert "return your submission" in reader.page.locator("#stage").inner_text()
    assert not site.events()
    assert site.sessions() == 0


def test_who_declines_leaves_nothing(site: Site, reader: Reader) -> None:
    reader.at("device")
    reader.go()
    reader.page.get_by_role("button", name="do not agree").click()
    _left(reader, "nothing has been stored", site)


def test_who_has_no_keyboard_leaves_nothing(site: Site, reader: Reader) -> None:
    reader.at("device")
    reader.page.get_by_role("button", name="I have no keyboard").click()
    _left(reader, "does not work on this device", site)


@pytest.mark.parametrize(
    "options",
    [
        {"viewport": {"width": 1000, "height": 700}, "is_mobile": True, "has_touch": True},
        {"viewport": {"width": 640, "height": 480}, "screen": {"width": 640, "height": 480}},
    ],
    ids=["touch alone", "a small screen"],
)
def test_a_device_that_does_not_do_is_turned_away_before_anything_is_asked(
    site: Site,
    browser: Any,  # noqa: F811
    options: dict[str, Any],
) -> None:
    with opened(browser, f"{site.address}?PROLIFIC_PID=P2", **options) as reader:
        _left(reader, "does not work on this device", site)


def test_a_window_that_is_too_small_can_be_made_larger(site: Site, browser: Any) -> None:  # noqa: F811
    small, screen = {"width": 640, "height": 480}, {"width": 1280, "height": 800}
    with opened(browser, f"{site.address}?PROLIFIC_PID=P2", viewport=small, screen=screen) as reader:
        reader.page.get_by_text("at least 800 × 480 pixels").wait_for()
        reader.page.set_viewport_size(screen)
        reader.at("device")


def test_withdrawal_in_a_break_deletes_what_was_sent(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(2)
    reader.at("break")
    reader.page.get_by_role("button", name="Withdraw").click()
    reader.page.get_by_role("button", name="No, I go on").click()
    assert reader.at("break") == "break"
    assert site.events()
    reader.page.get_by_role("button", name="Withdraw").click()
    reader.page.get_by_role("button", name="Yes, I withdraw").click()
    reader.page.get_by_text("You have withdrawn").wait_for()
    assert not site.events()
    kept = "indexedDB.databases().then((all) => Promise.all(all.map(({ name }) => new Promise((done) => {"
    kept += "const asked = indexedDB.open(name); asked.onsuccess = () => { const rows = asked.result.transaction('events')"
    kept += ".objectStore('events').count(); rows.onsuccess = () => done(rows.result); }; }))))"
    assert reader.page.evaluate(kept) == [0]
    reader.page.reload()
    reader.page.get_by_text("You have left this study").wait_for()


def test_every_page_of_text_has_a_way_out(reader: Reader) -> None:
    reader.consent()
    pages = 0
    while reader.screen() == "text":
        assert reader.page.get_by_role("button", name="Withdraw").is_visible()
        pages += 1
        reader.go()
    assert pages == 3


def test_questions_about_the_participant_are_read_by_their_labels_and_checked(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(4)
    reader.at("form")
    assert reader.page.locator(".field").first.input_value() == "", "the last key answers the last sentence and no more"
    submit = reader.page.get_by_role("button", name="Continue")
    submit.click()
    age = reader.page.get_by_label("How old are you?")
    assert age.get_attribute("aria-invalid") == "true"
    assert reader.page.evaluate("document.activeElement.id") == age.get_attribute("id")
    age.fill("seven")
    submit.click()
    assert reader.page.get_by_role("alert").first.text_content() == "Please enter a whole number from 18 to 99."
    age.fill("31")
    reader.page.get_by_label("Which hand do you write with?").select_option("left")
    submit.click()
    reader.code()
    tables = experiment.collect(site.folder)
    answers = tables["demographics"]
    assert list(zip(answers["question"], answers["response"], strict=True)) == [("age", "31"), ("hand", "left")]
    assert "languages" not in set(answers["question"]), "what is left empty has no row"


def test_consent_stands_with_its_time_and_its_text_in_the_list_that_ran(site: Site, reader: Reader) -> None:
    reader.at("device")
    reader.go()
    reader.at("consent")
    read = [one.text_content() for one in reader.page.locator(".sheet p").all()]
    reader.begin()
    reader.trials(1)
    reader.until(lambda: any(event["kind"] == "done" and event["trial"] == 0 for event in site.events()))
    events = site.events()
    consent = next(event for event in events if event["value"].get("outcome") == "accepted")
    with sqlite3.connect(site.database) as connection:
        [sha256] = connection.execute("SELECT list_sha256 FROM sessions").fetchone()
    file = next(file for file in site.list_files if file.sha256 == sha256)
    assert consent["step"] == file.script.consent
    [screen] = file.script.front[consent["step"]].screens
    assert list(screen.paragraphs) == read
    given = (events[0]["value"]["time_origin"] + consent["t"]) / 1000
    assert 0 <= time.time() - given < 300
