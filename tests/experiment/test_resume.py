"""Nothing is lost: tabs are killed, reloaded and opened twice, and the network goes, in real Chromium."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study

from .pages import FAST, Reader, Site, browser, opened, served, stated  # noqa: F401

pytestmark = pytest.mark.browser


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path, stated()) as running:
        yield running


@pytest.fixture
def reader(browser: Any, site: Site) -> Iterator[Reader]:  # noqa: F811
    with opened(browser, f"{site.address}?participant=P1") as someone:
        yield someone


def _crash(page: Any) -> Any:
    """Kill the tab's process, so that no handler of the page runs any more; return a fresh tab of the same browser."""
    session = page.context.browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    other = page.context.new_page()  # in a process of its own: there is no spare one
    crashed: list[bool] = []
    page.on("crash", lambda _: crashed.append(True))
    for process in processes:
        if process["type"] == "renderer":
            os.kill(process["id"], signal.SIGKILL)
    for _ in range(100):
        other.wait_for_timeout(20)
        if crashed:
            return other
    raise AssertionError("the tab did not crash")


def _break_off(reader: Reader, words: int) -> None:
    """Read the first words of the next sentence."""
    reader.skip_text()
    reader.at("start")
    for _ in range(words + 1):
        reader.go()


def test_a_killed_tab_loses_no_press_that_was_done(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(1)
    away = True
    reader.page.context.route("**/events", lambda route: route.abort() if away else route.continue_())
    reader.trials(1)
    _break_off(reader, words=3)
    before = site.events()
    fresh = _crash(reader.page)
    assert max(event["trial"] or 0 for event in before) == 0, "the server has nothing of the last trials"

    away = False
    reader.page = fresh
    reader.page.goto(f"{site.address}?participant=P1")
    reader.trials(2)
    assert reader.code() == "GARDEN-PATH-1"
    events = site.events()
    assert [event["seq"] for event in events] == list(range(len(events)))
    kept = [event for event in events if event["visit"] == 0 and event["trial"] == 2]
    assert [event["kind"] for event in kept] == ["begin", "word", "word", "word", "word"]
    assert [event["value"]["word"] for event in kept[1:]] == [-1, 0, 1, 2]
    tables = experiment.collect(site.folder)
    assert list(tables["responses"].sort_values("trial")["response"].astype(int)) == reader.answers
    assert tables["sessions"]["n_aborted_trials"].tolist() == [1]


def test_a_reload_in_the_middle_of_a_sentence_begins_that_sentence_again(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(2)
    _break_off(reader, words=1)
    reader.page.reload()
    reader.trials(2)
    assert reader.code() == "GARDEN-PATH-1"
    events = site.events()
    assert len({event["visit"] for event in events}) == 2
    assert [event["seq"] for event in events] == list(range(len(events)))
    done = [event["step"] for event in events if event["kind"] == "done"]
    assert done == list(range(len(done))), "no page and no sentence twice"
    begun = [event["trial"] for event in events if event["kind"] == "begin" and event["trial"] is not None]
    assert begun == [0, 1, 2, 2, 3], "the broken sentence again"
    tables = experiment.collect(site.folder)
    readings = tables["readings"]
    assert not readings.duplicated(["session", "trial", "word"]).any()
    flagged = readings["quality_flags"].fillna("").str.contains("seen_before")
    assert (flagged == (readings["trial"] == 2)).all()
    assert [list(group["text"]) for _, group in readings.groupby("trial")] == reader.sentences
    assert list(tables["responses"].sort_values("trial")["response"].astype(int)) == reader.answers


def test_timed_words_that_were_broken_off_are_not_shown_again(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    """Once by a reload in the middle of them, and once by a crash at the question after them."""
    with served(tmp_path, stated(procedure="", tasks=FAST, show="fast")) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for trial in range(4):
                reader.skip_text()
                reader.at("start")
                reader.go()
                if trial == 1:
                    reader.until(lambda: reader.word() not in ("", "The"))
                    reader.page.reload()
                elif trial == 2:
                    reader.at("acceptability")
                    reader.page = _crash(reader.page)
                    reader.page.goto(f"{site.address}?participant=P1")
                else:
                    reader.rate(4)
            assert reader.code() == "GARDEN-PATH-1"
        events = site.events()
        tables = experiment.collect(site.folder)
    begun = [event["trial"] for event in events if event["kind"] == "begin" and event["trial"] is not None]
    assert begun == [0, 1, 2, 3]
    ends = [(event["trial"], event["value"]["outcome"]) for event in events if event["kind"] == "outcome"]
    assert [end for end in ends if end[0] == 2] == [(2, "read"), (2, "interrupted")]
    assert {end for end in ends if end[0] == 1} == {(1, "interrupted")}
    words = {(event["trial"], event["visit"]) for event in events if event["kind"] == "word"}
    assert words == {(0, 0), (1, 0), (2, 1), (3, 2)}, "each in one visit"
    readings = tables["readings"]
    assert ((readings["quality_flags"] == "interrupted") == readings["trial"].isin([1, 2])).all()
    assert set(readings["trial"]) == {0, 1, 2, 3}
    assert sorted(tables["responses"]["trial"]) == [0, 3]
    assert tables["sessions"][["complete", "n_aborted_trials"]].values.tolist() == [[True, 0]]


def _kept(page: Any) -> set[str]:
    """The sessions of which this browser keeps events."""
    keys = """async () => {
      const [{ name }] = await indexedDB.databases();
      const opened = await new Promise((done) => (indexedDB.open(name).onsuccess = (e) => done(e.target.result)));
      const asked = opened.transaction("events").objectStore("events").getAllKeys();
      const keys = await new Promise((done) => (asked.onsuccess = () => done(asked.result)));
      opened.close();
      return keys.map(([session]) => session);
    }"""
    return set(page.evaluate(keys))


def test_what_another_person_left_at_this_computer_is_forgotten_once_nobody_can_go_on_with_it(site: Site, reader: Reader) -> None:
    context = reader.page.context
    reader.begin()
    context.route("**/events", lambda route: route.abort())
    reader.trials(1)
    (left,) = _kept(reader.page)
    reader.page.close()
    for person, hours in (("P2", 23), ("P3", 25)):
        later = Reader(context.new_page())
        later.page.add_init_script(f"const now = Date.now; Date.now = () => now() + {hours} * 3_600_000;")
        later.page.goto(f"{site.address}?participant={person}")
        later.begin()
        assert (left in _kept(later.page)) == (hours < 24)
        later.page.close()


def test_a_visitor_without_any_id_is_known_again(site: Site, browser: Any) -> None:  # noqa: F811
    with opened(browser, site.address) as reader:
        reader.begin()
        reader.trials(2)
        reader.page.reload()
        reader.trials(2)
        assert reader.code() == "GARDEN-PATH-1"
        assert site.sessions() == 1
        reader.page.reload()
        assert reader.at("device") == "device", "the next person at this computer begins anew"
        assert site.sessions() == 2


def test_nothing_is_lost_while_the_server_is_away(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(1)
    reader.page.context.set_offline(True)
    reader.trials(3)
    reader.page.wait_for_timeout(200)
    assert not reader.page.locator(".code").count()
    reader.page.context.set_offline(False)
    assert reader.code() == "GARDEN-PATH-1"
    responses = experiment.collect(site.folder)["responses"].sort_values("trial")
    assert list(responses["response"].astype(int)) == reader.answers


def test_a_second_tab_waits_until_the_first_is_closed(site: Site, reader: Reader) -> None:
    reader.begin()
    reader.trials(1)
    second = Reader(reader.page.context.new_page())
    second.page.goto(f"{site.address}?participant=P1")
    second.page.get_by_text("open in another tab").wait_for()
    reader.page.bring_to_front()
    reader.trials(1)
    reader.page.close()
    second.page.bring_to_front()
    second.at("break", "start")
    second.trials(2)
    assert second.code() == "GARDEN-PATH-1"
    assert site.sessions() == 1


def test_another_browser_of_the_same_person_is_refused(site: Site, reader: Reader, browser: Any) -> None:  # noqa: F811
    reader.begin()
    with opened(browser, f"{site.address}?participant=P1") as other:
        other.page.get_by_text("open in another tab").wait_for()
    reader.trials(4)
    assert reader.code() == "GARDEN-PATH-1"


def test_after_two_minutes_without_the_server_there_is_a_file_to_keep(site: Site, reader: Reader, tmp_path: Path) -> None:
    reader.begin()
    reader.page.route("**/events", lambda route: route.abort())
    reader.trials(4)
    reader.at("message")
    reader.page.evaluate("const now = performance.now.bind(performance); performance.now = () => now() + 120000; null")
    with reader.page.expect_download() as download:
        reader.page.get_by_role("button", name="Keep my answers").click()
    path = tmp_path / "kept.json"
    download.value.save_as(path)
    reader.page.unroute("**/events")
    reader.page.get_by_text("GARDEN-PATH-1").wait_for()
    kept = json.loads(path.read_text())
    assert kept["events"] == [{key: value for key, value in event.items() if key != "trial"} for event in site.events()]


def test_who_reaches_the_end_and_gets_no_code_has_a_file_for_the_researchers(reader: Reader) -> None:
    reader.begin()
    said = {"error": "the session is at step 3 (instructions); the code comes at the end"}
    reader.page.route("**/complete", lambda route: route.fulfill(status=409, json=said))
    reader.trials(4)
    reader.page.get_by_text("they will look at it by hand").wait_for()
    assert reader.page.get_by_role("button", name="Keep my answers").is_visible()


def test_who_has_finished_has_the_code_again(reader: Reader) -> None:
    reader.begin()
    reader.trials(4)
    reader.code()
    reader.page.reload()
    reader.page.get_by_text("You have taken part in this study already").wait_for()
    assert reader.code() == "GARDEN-PATH-1"


def test_a_visitor_whose_token_is_too_old_begins_anew(site: Site, browser: Any) -> None:  # noqa: F811
    with opened(browser, site.address) as reader:
        reader.begin()
        reader.trials(1)
        reader.page.evaluate(
            """() => {
              const key = Object.keys(localStorage).find((name) => /^gardenpath \\w+ resume$/.test(name));
              const [until, token] = localStorage.getItem(key).split(" ");
              if (until < Date.now() + 23 * 3600e3) throw new Error(until);
              localStorage.setItem(key, `${Date.now() - 1} ${token}`);
            }"""
        )
        reader.page.reload()
        assert reader.at("device") == "device"
        assert site.sessions() == 2


# The disk takes 230 ms to say that it has written.
SLOW = """
const { set } = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, "oncomplete");
Object.defineProperty(IDBTransaction.prototype, "oncomplete", {
  set(done) { set.call(this, (event) => setTimeout(() => done(event), 230)); },
});
"""


def test_a_word_ends_only_when_the_press_before_it_is_on_disk(site: Site, browser: Any) -> None:  # noqa: F811
    with opened(browser, f"{site.address}?participant=P1", (SLOW,)) as reader:
        reader.begin()
        reader.at("start")
        reader.page.wait_for_timeout(600)
        for rest in (130, 600, 130, 600):  # the fixation mark and three words, two and two in a row
            reader.page.keyboard.press("Space", delay=20)
            reader.page.wait_for_timeout(rest)
        if reader.state()[0] == "word":
            pytest.skip("the machine is too busy to show words within 130 ms, so that a press came before its word")
        reader.rate(4)
        reader.trials(3)
        reader.code()
        keys = [t for code, t, _, _ in reader.page.evaluate("window.keys") if code == "Space"]
    presses = [e for e in site.events() if e["trial"] == 0 and e["kind"] == "word"]
    assert [e["t"] for e in presses] == [t for t in keys if presses[0]["t"] <= t <= presses[-1]["t"]]
    assert len(presses) == 4
    shown = presses[2]["value"]["display"]["request"]  # of the word that the second press called
    assert shown - presses[0]["value"]["press"]["handler"] >= 220, "the next word waited for the disk, its press did not"


NOTHING = (
    "IDBFactory.prototype.open = () => { throw new Error('not here'); };",
    "Object.defineProperty(window, 'localStorage', { get() { throw new Error('nor here'); } });",
)


def test_a_browser_that_keeps_nothing_takes_part_all_the_same(site: Site, browser: Any) -> None:  # noqa: F811
    with opened(browser, f"{site.address}?participant=P1", NOTHING) as reader:
        reader.begin()
        reader.trials(4)
        assert reader.code() == "GARDEN-PATH-1"


def test_a_preview_begins_at_its_trial_and_counts_for_nothing(site: Site, browser: Any) -> None:  # noqa: F811
    from gardenpath.experiment.server.routes import compute_preview_key

    with opened(browser, f"{site.address}?preview=E1-L2&trial=2&key={compute_preview_key(b'key')}") as reader:
        assert reader.skip_text() == "start"
        assert reader.page.locator(".preview").text_content() == "Preview: nothing of this counts"
        reader.trials(2)
        reader.code()
    with pytest.raises(study.DataError, match="no sessions"):
        experiment.collect(site.folder)
