"""The page as a kiosk in real Chromium: participants one after the other at one machine, each with a code of their own."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.texts.standard_texts import Texts, get_direction, list_languages

from .conftest import serve
from .pages import ITEMS, Reader, Site, browser, opened, stated  # noqa: F401
from .test_serve import serving

pytestmark = pytest.mark.browser

SECONDS = 60


@contextmanager
def kiosk(folder: Path, text: str) -> Iterator[Site]:
    """Serve a study of this study.toml as a kiosk."""
    for module in ("starlette", "uvicorn", "sqlalchemy", "jsonschema"):
        pytest.importorskip(module)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(text)
    read = study.load(folder / "study.toml")
    list_files = experiment.build_list_files(read)
    site = routes.SiteSettings(password="pass word", kiosk_seconds=SECONDS)
    for running in serve(read, list_files, folder / "data", site=site):
        yield Site(running.address, folder / "data" / "study.sqlite", folder / "data", list_files)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with kiosk(tmp_path, stated()) as running:
        yield running


@pytest.fixture
def reader(browser: Any, site: Site) -> Iterator[Reader]:  # noqa: F811
    with opened(browser, site.address) as someone:
        yield someone


def _enter(reader: Reader, code: str) -> None:
    assert reader.at("kiosk") == "kiosk"
    reader.page.keyboard.type(code)
    reader.page.keyboard.press("Enter")


def _resume(reader: Reader, code: str) -> None:
    _enter(reader, code)
    reader.until(lambda: reader.screen() not in ("kiosk", ""))


def _said(reader: Reader, text: str) -> None:
    reader.page.get_by_text(text).wait_for()


def _next(reader: Reader) -> None:
    """Leave the last page of a session."""
    reader.at("over")
    with reader.page.expect_navigation():
        reader.press("Enter")
    reader.at("kiosk")


def _stored(page: Any) -> dict[str, Any]:
    """All that the browser keeps of this origin: names of databases with their keys, both storages, cookies, caches."""
    found: dict[str, Any] = page.evaluate(
        """async () => {
          const databases = {};
          for (const { name } of await indexedDB.databases()) {
            const opened = await new Promise((done) => (indexedDB.open(name).onsuccess = (e) => done(e.target.result)));
            const asked = opened.transaction("events").objectStore("events").getAllKeys();
            databases[name] = (await new Promise((done) => (asked.onsuccess = () => done(asked.result)))).length;
            opened.close();
          }
          return { databases, local: { ...localStorage }, session: { ...sessionStorage }, caches: await caches.keys() };
        }"""
    )
    return {**found, "cookies": page.context.cookies()}


NOTHING = {"databases": {}, "local": {}, "session": {}, "caches": [], "cookies": []}


def _column(site: Site, query: str) -> list[Any]:
    with sqlite3.connect(site.database) as connection:
        return [row[0] for row in connection.execute(query)]


def test_two_participants_one_after_the_other_leave_nothing_in_the_browser(site: Site, reader: Reader) -> None:
    reader.at("kiosk")
    assert reader.page.title() == "Reading sentences"
    assert _stored(reader.page) == NOTHING
    for code in ("P01", "P02"):
        reader.answers.clear()
        _enter(reader, code)
        reader.begin()
        assert _stored(reader.page)["databases"], "events are on disk while the session runs"
        reader.trials(4)
        reader.at("over")
        _said(reader, "Your answers have been stored. Nothing of them is left in this browser.")
        assert not reader.page.locator(".code, a").count(), "no code of the study, and no way out of the kiosk"
        reader.press("Space")
        assert reader.screen() == "over", "who goes on reading does not skip the page"
        assert _stored(reader.page) == NOTHING
        _next(reader)
        assert _stored(reader.page) == NOTHING
        assert reader.page.locator("#code").input_value() == ""
    assert _column(site, "SELECT source FROM sessions") == ["lab", "lab"]
    hashes = {routes.hash_participant(code, b"key") for code in ("P01", "P02")}
    assert set(_column(site, "SELECT participant FROM sessions")) == hashes
    assert set(_column(site, "SELECT id FROM payments")) == {"P01", "P02"}
    assert set(_column(site, "SELECT list_name FROM sessions")) == {"E1-L1", "E1-L2"}, "the places are those of any session"
    tables = experiment.collect(site.folder)
    assert tables["sessions"]["complete"].all()
    assert len(tables["responses"]) == 8


def test_a_reload_asks_for_the_code_and_goes_on_at_the_next_sentence(site: Site, reader: Reader) -> None:
    _enter(reader, "P01")
    reader.begin()
    reader.trials(2)
    reader.page.reload()
    assert reader.at("kiosk") == "kiosk"
    kept = _stored(reader.page)
    assert kept["session"] == {}
    assert all(re.fullmatch(r"gardenpath \w+ tab", name) for name in kept["local"]), "no token"
    tokens = _column(site, "SELECT token FROM sessions")
    assert not any(token in json.dumps(kept) for token in tokens)

    _enter(reader, "P02")
    assert reader.at("device") == "device", "another code is another person"
    assert site.sessions() == 2
    reader.page.reload()

    _resume(reader, " P01 ")
    reader.trials(2)
    reader.at("over")
    assert site.sessions() == 2
    assert len(set(_column(site, "SELECT visit FROM events"))) == 2
    done = [event["trial"] for event in site.events() if event["kind"] == "done" and event["trial"] is not None]
    assert done == [0, 1, 2, 3]
    assert _stored(reader.page) == NOTHING


def test_a_code_whose_session_is_finished_is_refused_in_a_sentence(site: Site, reader: Reader) -> None:
    _enter(reader, "P01")
    reader.begin()
    reader.trials(4)
    _next(reader)
    _enter(reader, "P01")
    _said(reader, "You have taken part in this study already")
    assert reader.screen() == "kiosk"
    assert "GARDEN-PATH-1" not in reader.page.locator("body").inner_text()
    assert _stored(reader.page) == NOTHING
    reader.page.keyboard.press("Delete")
    _enter(reader, "P03")
    assert reader.at("device") == "device"


def test_without_a_code_no_session_begins(site: Site, reader: Reader) -> None:
    for typed in ("", "   "):
        _enter(reader, typed)
        _said(reader, "Please enter the code.")
    assert site.sessions() == 0
    for body in ({}, {"source": "server"}, {"source": "server", "participant": "P1"}, {"source": "lab"}):
        assert httpx2.post(f"{site.address}api/sessions", json=body).status_code == 400
    assert site.sessions() == 0


def test_the_code_of_a_session_that_runs_elsewhere_opens_nothing(
    site: Site,
    reader: Reader,
    browser: Any,  # noqa: F811
) -> None:
    _enter(reader, "P01")
    reader.begin()
    with opened(browser, site.address) as other:
        _enter(other, "P01")
        _said(other, "is open on another computer")
        assert other.screen() == "kiosk"
    second = Reader(reader.page.context.new_page())
    second.page.goto(f"{site.address}?participant=P01")
    _said(second, "open in another window of this browser")
    second.page.close()
    reader.page.bring_to_front()
    reader.trials(4)
    reader.at("over")


def test_without_the_server_at_the_end_the_answers_stay_until_they_are_sent(site: Site, reader: Reader) -> None:
    _enter(reader, "P01")
    reader.begin()
    reader.trials(3)
    reader.page.context.set_offline(True)
    reader.trials(1)
    _said(reader, "Your answers are kept on this computer")
    reader.page.evaluate("const now = performance.now.bind(performance); performance.now = () => now() + 120000; null")
    reader.page.wait_for_timeout(1000)
    assert not reader.page.locator("button, .code").count(), "no file and no code on a machine that others use"
    (events,) = _stored(reader.page)["databases"].values()
    assert events > 0
    reader.page.context.set_offline(False)
    reader.at("over")
    assert _stored(reader.page) == NOTHING
    responses = experiment.collect(site.folder)["responses"].sort_values("trial")
    assert list(responses["response"].astype(int)) == reader.answers


def test_what_one_session_left_unsent_survives_the_next_and_is_sent_with_its_code(site: Site, reader: Reader) -> None:
    _enter(reader, "P01")
    reader.begin()
    reader.trials(2)
    reader.page.context.route("**/events", lambda route: route.abort())
    reader.trials(1)
    reader.page.reload()
    _said(reader, "have not reached the server yet")
    reader.page.context.unroute("**/events")
    first = list(reader.answers)

    reader.answers.clear()
    _enter(reader, "P02")
    reader.begin()
    reader.trials(4)
    _next(reader)
    _said(reader, "have not reached the server yet")

    reader.answers = first
    _resume(reader, "P01")
    reader.trials(1)
    _next(reader)
    assert _stored(reader.page) == NOTHING
    assert not reader.page.get_by_text("have not reached the server yet").count()
    tables = experiment.collect(site.folder)
    responses = tables["responses"].set_index("participant").loc[routes.hash_participant("P01", b"key")]
    assert list(responses.sort_values("trial")["response"].astype(int)) == first


def _withdraw(reader: Reader) -> None:
    reader.consent()
    reader.page.get_by_role("button", name="Withdraw from the study").click()
    reader.page.get_by_role("button", name="Yes, I withdraw").click()


def _refuse(reader: Reader) -> None:
    reader.at("device")
    reader.go()
    reader.page.get_by_role("button", name="I do not agree").click()


def _unsuitable(reader: Reader) -> None:
    reader.at("device")
    reader.page.get_by_role("button", name="I have no keyboard here").click()


@pytest.mark.parametrize(
    ("leave", "text"),
    [
        (_withdraw, "You have withdrawn."),
        (_refuse, "You did not agree to take part"),
        (_unsuitable, "does not work on this device"),
    ],
)
def test_who_leaves_leaves_nothing_behind(site: Site, reader: Reader, leave: Callable[[Reader], None], text: str) -> None:
    _enter(reader, "P01")
    leave(reader)
    reader.at("over")
    _said(reader, text)
    assert not reader.page.get_by_text("recruitment platform").count()
    assert site.sessions() == 0
    assert _stored(reader.page) == NOTHING
    _next(reader)
    _enter(reader, "P02")
    assert reader.at("device") == "device"


AWAY = "The server cannot be reached at the moment. Please tell the experimenter."


def test_between_sessions_the_page_waits_for_the_server(site: Site, reader: Reader) -> None:
    reader.at("kiosk")
    reader.page.context.set_offline(True)
    _enter(reader, "P01")
    _said(reader, AWAY)
    assert _stored(reader.page) == NOTHING
    reader.page.context.set_offline(False)
    reader.page.keyboard.press("Enter")
    _refuse(reader)
    reader.at("over")
    reader.page.context.set_offline(True)
    reader.press("Enter")
    _said(reader, AWAY)
    with reader.page.expect_navigation():
        reader.page.context.set_offline(False)
    assert reader.at("kiosk") == "kiosk"


def test_who_withdraws_is_gone_only_when_the_server_has_heard_of_it(site: Site, reader: Reader) -> None:
    _enter(reader, "P01")
    reader.begin()
    reader.trials(2)
    reader.at("break")
    reader.page.context.set_offline(True)
    reader.page.get_by_role("button", name="Withdraw from the study").click()
    reader.page.get_by_role("button", name="Yes, I withdraw").click()
    _said(reader, "The server cannot be reached")
    assert (reader.screen(), site.sessions()) == ("message", 1)
    reader.page.context.set_offline(False)
    reader.at("over")
    assert site.sessions() == 0
    assert _stored(reader.page) == NOTHING


def test_the_start_comes_back_by_itself(site: Site, browser: Any) -> None:  # noqa: F811
    sooner = f"const later = setTimeout; window.setTimeout = (act, ms) => later(act, ms === {SECONDS * 1000} ? 300 : ms);"
    with opened(browser, site.address, (sooner,)) as reader:
        _enter(reader, "P01")
        with reader.page.expect_navigation():
            _refuse(reader)
        assert reader.at("kiosk") == "kiosk"


def test_the_start_screen_closes_a_dashboard_left_open_in_the_browser(site: Site, reader: Reader) -> None:
    page = reader.page
    page.goto(f"{site.address}dashboard")
    page.locator("input[name=password]").fill("pass word")
    page.keyboard.press("Enter")
    page.get_by_text("At a glance").or_(page.locator(".cards")).first.wait_for()
    page.goto(site.address)
    reader.at("kiosk")
    assert page.context.cookies() == []
    page.goto(f"{site.address}dashboard")
    page.locator("input[name=password]").wait_for()


@pytest.mark.parametrize("language", list_languages())
def test_the_start_screen_speaks_the_language_of_the_study(
    language: str,
    tmp_path: Path,
    browser: Any,  # noqa: F811
) -> None:
    texts = Texts(language)["endings"]
    with kiosk(tmp_path, stated(language=language)) as site, opened(browser, site.address) as reader:
        reader.at("kiosk")
        assert reader.page.locator("label").text_content() == texts["kiosk_code"]
        assert reader.page.locator("button").text_content() == texts["kiosk_start"]
        assert reader.page.locator("html").get_attribute("lang") == language
        assert reader.page.locator("html").get_attribute("dir") == get_direction(language)


def test_a_study_whose_title_is_markup_shows_it_as_text(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    title = "</script><b>Reading</b>"
    text = stated().replace("Reading sentences", title)
    with kiosk(tmp_path, text) as site, opened(browser, site.address) as reader:
        reader.at("kiosk")
        assert reader.page.locator("h1").text_content() == title
        assert reader.page.locator("b").count() == 0


def test_the_command_says_where_the_kiosk_is_and_opens_it(study_folder: Path) -> None:
    with serving(study_folder, "--kiosk", "--kiosk-seconds", "20") as (lines, address):
        links = {line[2:18].strip(): line[20:] for line in lines[1:]}
        assert links["for the kiosk"] == address
        assert links["full screen"] == f"chromium --kiosk --incognito {address}"
        assert not any("PROLIFIC_PID" in line or "participant=" in line for line in lines)
        assert '"seconds": 20' in httpx2.get(address).text
        query = links["to look at"].partition("?")[2]
        list_name, key = re.fullmatch(r"preview=(.*)&trial=0&key=(\w+)", query).groups()  # type: ignore[union-attr]
        asked = {"preview": {"list_name": list_name, "trial": 0, "key": key}}
        assert httpx2.post(f"{address}api/sessions", json=asked).status_code == 201


def test_lab_and_web_fill_one_study_together(study_folder: Path) -> None:
    with serving(study_folder) as (_, web), serving(study_folder, "--kiosk") as (_, lab):
        for n in range(6):
            address, source = ((web, "server"), (lab, "lab"))[n % 2]
            body = {"participant": f"P{n}", "source": source}
            assert httpx2.post(f"{address}api/sessions", json=body).status_code == 201
    with sqlite3.connect(study_folder / "data" / "study.sqlite") as connection:
        taken = connection.execute("SELECT list_name, count(*) FROM sessions GROUP BY list_name").fetchall()
        places = connection.execute("SELECT count(DISTINCT list_name || slot) FROM sessions").fetchone()
    assert max(n for _, n in taken) - min(n for _, n in taken) <= 1
    assert places == (6,)
