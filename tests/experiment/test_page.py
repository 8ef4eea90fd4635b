"""The page in real Chromium, with trusted keys, against the real server: what was done is what is stored."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment

from .pages import Reader, Site, browser, opened, served, stated  # noqa: F401

pytestmark = pytest.mark.browser


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path, stated()) as running:
        yield running


@pytest.fixture
def reader(browser: Any, site: Site) -> Iterator[Reader]:  # noqa: F811
    with opened(browser, f"{site.address}?participant=P1") as someone:
        yield someone


def test_a_whole_session_is_in_the_database_with_reading_times_from_key_to_key(site: Site, reader: Reader) -> None:
    reader.at("device")
    assert not site.events(), "nothing is stored before consent"
    reader.begin()
    reader.trials(4)
    assert reader.code() == "GARDEN-PATH-1"

    events = site.events()
    assert [event["seq"] for event in events] == list(range(len(events)))
    step = ["begin", "outcome", "done"]
    assert [event["kind"] for event in events[:7]] == ["visit", *step, *step], "what came before consent follows on it"
    assert [event["value"]["outcome"] for event in events[:7] if event["kind"] == "outcome"] == ["continued", "accepted"]
    assert events[-1]["kind"] == "end"
    done = [event["step"] for event in events if event["kind"] == "done"]
    assert done == list(range(len(done))), "each step once, pages and the break among them"
    assert len(done) == 2 + 3 + 4 + 2, "front, instructions, sentences, the end of practice and a break"
    assert events[0]["value"]["isolated"] is True
    assert events[0]["value"]["keyboard"] is True

    keys = reader.page.evaluate("window.keys")
    assert all(trusted and not repeat for _, _, repeat, trusted in keys)
    counted = [event for event in events if event["kind"] in ("word", "outcome") and event["trial"] is not None]
    assert {event["value"]["press"]["by"] for event in counted if event["value"]["press"]} == {"key"}
    pressed = [t for code, t, _, _ in keys if not code.endswith(" up")]
    assert {event["t"] for event in counted} <= {*pressed}, "each time is the time of a key press, unrounded"
    let_go = {event["value"]["press"]["released"] for event in counted if event["value"]["press"]}
    assert let_go <= {t for code, t, _, _ in keys if code.endswith(" up")}, "and so is each release"

    tables = experiment.collect(site.folder)
    readings = tables["readings"].sort_values(["trial", "word"])
    assert [list(group["text"]) for _, group in readings.groupby("trial")] == reader.sentences
    for trial, group in readings.groupby("trial"):
        ends = [e["t"] for e in events if e["trial"] == trial and e["kind"] == "word"]
        assert list(group["rt"]) == [after - before for before, after in pairwise(ends)]
        assert all(before in pressed for before in ends)
    assert (readings["quality_flags"].fillna("") == "").all()
    assert (readings["rt_onset"] < readings["rt"]).mean() > 0.9, "a word is painted after the press that calls it"
    assert list(tables["responses"].sort_values("trial")["response"].astype(int)) == reader.answers
    assert tables["sessions"]["complete"].all()


def test_a_held_space_bar_reads_one_word_and_answers_nothing(site: Site, reader: Reader) -> None:
    reader.begin()
    keyboard = reader.page.keyboard
    reader.read()
    reader.rate(4)
    reader.skip_text()
    reader.go()
    reader.page.wait_for_timeout(50)
    first = reader.word()
    keyboard.down("Space")
    for _ in range(20):
        keyboard.down("Space")  # a key that is down already repeats
    reader.until(lambda: reader.word() not in (first, "+"))
    second = reader.word()
    keyboard.up("Space")
    keyboard.press("Enter")
    keyboard.press("Shift+Space")
    assert reader.word() == second
    while not reader.word().endswith("."):
        reader.go()
        reader.page.wait_for_timeout(30)
    keyboard.down("Space")
    reader.at("acceptability")
    reader.press("6")
    assert reader.name() == "acceptability", "the rating waits until the space bar is let go"
    keyboard.up("Space")
    reader.rate(5)
    reader.trials(2)
    reader.code()
    events = [event for event in site.events() if event["trial"] == 1]
    words = [event["value"] for event in events if event["kind"] == "word"]
    assert [word["word"] for word in words] == list(range(-1, len(words) - 1))
    assert sum(word["press"]["repeats"] for word in words) == 20
    ignored = [(event["value"]["reason"], event["value"]["code"]) for event in events if event["kind"] == "press"]
    assert ("other", "Enter") in ignored
    assert ("modifier", "Space") in ignored
    assert ("held", "Digit6") in ignored
    ended = [(event["value"]["outcome"], event["value"]["answer"]) for event in events if event["kind"] == "outcome"]
    assert ended == [("read", None), ("answered", 5)]


def test_leaving_the_window_covers_the_sentence_and_coming_back_ends_no_word(site: Site, reader: Reader) -> None:
    reader.begin()

    def leave(word: int) -> None:
        if word != 1:
            return
        before = reader.word()
        reader.page.evaluate("window.dispatchEvent(new Event('blur')), window.dispatchEvent(new Event('focus')), null")
        reader.at("cover")
        reader.go()
        assert (reader.screen(), reader.word()) == ("word", before)

    reader.read(leave)
    reader.rate(4)
    reader.trials(3)
    reader.code()
    readings = experiment.collect(site.folder)["readings"]
    flagged = readings[readings["quality_flags"].fillna("").str.contains("interrupted")]
    assert list(zip(flagged["trial"], flagged["word"], strict=True)) == [(0, 1)]
    reasons = [event["value"]["reason"] for event in site.events() if event["kind"] == "interruption"]
    assert reasons == ["blur", "focus"]


def test_a_window_whose_size_changes_within_a_sentence_is_covered(site: Site, reader: Reader) -> None:
    reader.consent()
    reader.page.set_viewport_size({"width": 1000, "height": 640})  # on a page of text nobody minds
    reader.skip_text()

    def drag(word: int) -> None:
        if word != 1:
            return
        before = reader.word()
        for width in (980, 940, 900):
            reader.page.set_viewport_size({"width": width, "height": 640})
        reader.at("cover")
        reader.go()
        assert (reader.screen(), reader.word()) == ("word", before)

    reader.read(drag)
    reader.rate(4)
    reader.trials(3)
    reader.code()
    readings = experiment.collect(site.folder)["readings"]
    flagged = readings[readings["quality_flags"].fillna("").str.contains("interrupted")]
    assert list(zip(flagged["trial"], flagged["word"], strict=True)) == [(0, 1)]
    reasons = [event["value"]["reason"] for event in site.events() if event["kind"] == "interruption"]
    assert reasons == ["resize"]


def test_a_wrong_key_in_practice_is_explained(reader: Reader) -> None:
    reader.begin()
    reader.go()
    reader.press("Enter")
    reader.page.get_by_text("Only the space bar takes you on").wait_for()


def test_nothing_is_sent_while_a_sentence_is_read(reader: Reader) -> None:
    reader.begin()
    reader.trials(1)
    reader.skip_text()
    reader.go()
    sent: list[str] = []
    reader.page.on("request", lambda request: sent.append(request.url))
    while reader.screen() == "word":
        assert not sent
        reader.go()
        reader.page.wait_for_timeout(30)
    reader.until(lambda: bool(sent))


def test_nothing_is_asked_of_anybody_but_the_study(browser: Any, site: Site) -> None:  # noqa: F811
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.address}?participant=P1")
    reader = Reader(page)
    reader.begin()
    reader.trials(4)
    reader.code()
    context.close()
    assert asked
    assert all(url.startswith((site.address, "data:")) for url in asked)
