"""The experimenter's page: behind a password, true to the counts, silent about results."""

import csv
import dataclasses
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival, OpenedSession
from gardenpath.experiment.server.dashboard import build_histogram, format_payments_csv
from gardenpath.experiment.server.database import SESSIONS
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.sessions.recruitment import PlatformParticipant
from gardenpath.experiment.sessions.sessions import build_payload
from gardenpath.study.config import RewardSection
from gardenpath.study.events import create_event

from .conftest import Clock, Running, serve
from .made_events import event as made_event
from .made_events import passed, word

PASSWORD = "correct horse"


def watched(
    example: study.Study, list_files: list[experiment.ListFile], folder: Path, clock: Clock, **online: Any
) -> Iterator[Running]:
    stated = dataclasses.replace(example, online=dataclasses.replace(example.online, **online))
    yield from serve(stated, list_files[:3], folder, site=routes.SiteSettings(password=PASSWORD), clock=clock)


@pytest.fixture
def board(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, clock: Clock) -> Iterator[Running]:
    reward = RewardSection(4.5, "GBP", 20)
    yield from watched(example, list_files, tmp_path / "data", clock, quota=3, reward=reward)


@pytest.fixture
def visitor(board: Running) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=board.address, timeout=60) as client:  # a download starts a process
        yield client


@pytest.fixture
def experimenter(visitor: httpx2.Client) -> httpx2.Client:
    answer = visitor.post("dashboard/login", data={"password": PASSWORD})
    assert answer.status_code == 303
    return visitor


def read(store: Store, opened: OpenedSession, seed: int = 1, trials: int | None = None) -> None:
    """Send what a robot does; of so many trials where it stops early."""
    robot = experiment.create_robot([opened.file], seed=seed)
    shown = build_payload(opened.session, opened.file, opened.walk, token="", visit=opened.visit, next_seq=opened.next_seq)
    events = [create_event(**event) for event in robot.simulate_events(shown, opened.session.id)]
    if trials is not None:
        step = next(placed.number for placed in opened.walk.steps if placed.position == trials - 1)
        last = next(event.seq for event in events if event.kind == "done" and event.step == step)
        events = events[: last + 1]
    store.append_events(opened.session.id, opened.token, events)


def finish(store: Store, opened: OpenedSession) -> None:
    read(store, opened)
    count = len(next(r for r in store.read_recorded_sessions() if r.session.id == opened.session.id).events)
    assert store.complete_session(opened.session.id, opened.token, count, "C")[0] == []


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def proof(page: str) -> str:
    found = re.search(r'name="proof" value="(\w+)"', page)
    assert found
    return found.group(1)


@pytest.mark.parametrize("path", ["dashboard", "dashboard/tables.zip", "dashboard/events.zip", "dashboard/payments.csv"])
def test_nothing_is_shown_without_the_password(visitor: httpx2.Client, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 401
    assert 'type="password"' in answer.text
    assert visitor.get(path, headers={"Cookie": "gardenpath-dashboard=x"}).status_code == 401


def test_wrong_passwords_are_slowed_down_and_the_right_one_always_gets_in(visitor: httpx2.Client) -> None:
    tries = [visitor.post("dashboard/login", data={"password": f"guess {n}"}).status_code for n in range(40)]
    assert tries == [403] * 5 + [429] * 35
    assert visitor.post("dashboard/login", data={"password": PASSWORD}).status_code == 303
    assert visitor.get("dashboard").status_code == 200


def test_a_form_with_too_many_fields_or_bytes_is_refused_plainly(visitor: httpx2.Client) -> None:
    fields = visitor.post("dashboard/login", data={f"field{n}": "x" for n in range(21)})
    assert (fields.status_code, "more than 20 fields" in fields.json()["error"]) == (400, True)
    long = visitor.post("dashboard/login", data={"password": "x" * 1_000_001})
    assert (long.status_code, "over 1000000 bytes" in long.json()["error"]) == (413, True)


def test_a_page_lists_fifty_sessions_and_reads_each_finished_one_once(
    experimenter: httpx2.Client, board: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = board.store.open_session(Arrival())
    finish(board.store, opened)
    table = SESSIONS.c
    with board.store.database.begin_writing() as connection:
        row = connection.execute(sa.select(SESSIONS)).one()._asdict()
        copies = [{**row, "id": f"s-{n:016x}", "participant": f"p-{n}", "slot": n + 1} for n in range(119)]
        connection.execute(SESSIONS.insert(), copies)
        rows = connection.execute(sa.select(table.id).order_by(table.started.desc(), table.id)).scalars().all()
    read_ones: list[str] = []
    record = board.store.read_recorded_session
    monkeypatch.setattr(board.store, "read_recorded_session", lambda id: (read_ones.append(id), record(id))[1])
    pages = [experimenter.get(f"dashboard?page={n}") for n in (1, 2, 3, 1)]
    assert [id for page in pages for id in re.findall(r"<code>(s-\w+)</code>", page.text)] == [*rows, *rows[:50]]
    assert read_ones == rows
    assert "Completed 120" in text_of(pages[2].text)
    assert "page 3 of 3, 120 sessions" in text_of(pages[2].text)
    assert re.findall(r'rel="(\w+)" href="([^"]+)"', pages[1].text)[-2:] == [
        ("prev", "dashboard?page=1#sessions"),
        ("next", "dashboard?page=3#sessions"),
    ]
    for odd in ("0", "99", "-1", "x", "9" * 30):
        assert experimenter.get("dashboard", params={"page": odd}).status_code == 200


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(visitor: httpx2.Client) -> None:
    cookie = visitor.post("dashboard/login", data={"password": PASSWORD}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    page = visitor.get("dashboard")
    assert page.status_code == 200
    assert "form-action 'self'" in page.headers["content-security-policy"]
    assert "script-src" not in page.headers["content-security-policy"]
    visitor.post("dashboard/logout", data={"proof": proof(page.text)})
    assert visitor.get("dashboard").status_code == 401


def test_forms_of_another_page_do_nothing(experimenter: httpx2.Client, board: Running) -> None:
    for act in ("close", "open", "exclude", "include"):
        assert experimenter.post(f"dashboard/{act}", data={"proof": "0" * 64}).status_code == 403
    assert not board.store.is_closed


def test_without_a_password_there_is_no_dashboard(running: Running) -> None:
    assert httpx2.get(f"{running.address}dashboard").status_code == 404


def test_the_counts_are_those_of_the_sessions(experimenter: httpx2.Client, board: Running, clock: Clock) -> None:
    store = board.store
    first, second, third, fourth = (store.open_session(Arrival(name, PlatformParticipant(name, "link"))) for name in "abcd")
    read(store, first, trials=2)
    clock.pass_minutes(30)
    finish(store, second)
    store.withdraw_session(third.session.id, third.token, "withdrawn", None)
    clock.pass_minutes(45)
    fifth = store.open_session(Arrival("e"))
    clock.pass_minutes(15)
    finish(store, fourth)
    text = text_of(experimenter.get("dashboard").text)
    assert "Completed 2 of 9 1 late" in text
    assert "Running 1 with a slot" in text
    assert "Dropped 1 silent" in text
    assert "Left 1 1 withdrawn" in text
    assert "Median time 60.0 min" in text  # of 30 and 90 minutes
    assert "Pay an hour 4.50 GBP declared: 4.50 GBP for 20 min, 13.50 an hour" in text
    assert f"{first.session.id} {first.session.list_name} dropped 2/" in text
    assert f"{fifth.session.id} {fifth.session.list_name} running 0/" in text


def test_no_condition_and_no_answer_is_on_the_page(experimenter: httpx2.Client, board: Running) -> None:
    finish(board.store, board.store.open_session(Arrival()))
    page = experimenter.get("dashboard").text
    (record,) = board.store.read_recorded_sessions()
    file = board.store.read_list_files()[record.session.list_sha256]
    said = {condition for trial in file.trial_list.trials for condition, _ in trial.shown_sentences} - {"practice"}
    assert said == {"grammatical", "ungrammatical"}
    assert not [word for word in (*said, "rating", "critical") if word in page]


def test_a_session_is_marked_and_counted_again_from_the_page(experimenter: httpx2.Client, board: Running) -> None:
    session = board.store.open_session(Arrival()).session.id
    form = {"proof": proof(experimenter.get("dashboard").text)}
    hostile = "<script>alert(1)</script> & 'more'"
    answer = experimenter.post("dashboard/exclude", data={**form, "session": session, "reason": hostile})
    assert (answer.status_code, answer.headers["location"]) == (303, "../dashboard")
    page = experimenter.get("dashboard").text
    assert "<script" not in page
    assert "does not count: &lt;script&gt;alert(1)&lt;/script&gt; &amp; &#39;more&#39;" in page
    assert sum(filled.taken_slots for filled in board.store.count_slots().values()) == 0
    experimenter.post("dashboard/include", data={**form, "session": session})
    assert sum(filled.taken_slots for filled in board.store.count_slots().values()) == 1
    unknown = experimenter.post("dashboard/exclude", data={**form, "session": "<b>", "reason": "x"})
    assert unknown.status_code == 400
    assert "session &#39;&lt;b&gt;&#39; is not known" in unknown.text


def test_the_study_is_closed_and_reopened_from_the_page(experimenter: httpx2.Client, board: Running) -> None:
    form = {"proof": proof(experimenter.get("dashboard").text)}
    experimenter.post("dashboard/close", data=form)
    assert "closed for newcomers" in experimenter.get("dashboard").text
    assert httpx2.post(f"{board.address}api/sessions", json={}).json()["reason"] == "closed"
    experimenter.post("dashboard/open", data=form)
    assert httpx2.post(f"{board.address}api/sessions", json={}).status_code == 201


def test_preview_links_open_their_list(experimenter: httpx2.Client, board: Running) -> None:
    page = experimenter.get("dashboard").text
    links = re.findall(r'href="\./\?preview=([\w-]+)&amp;trial=0&amp;key=(\w+)"', page)
    assert len(links) == 3
    for list_name, key in links:
        asked = {"preview": {"list_name": list_name, "trial": 2, "key": key}}
        shown = httpx2.post(f"{board.address}api/sessions", json=asked).json()
        assert (shown["done"], shown["online"]["test"]) == ([*range(7)], True)
    wrong = {"preview": {"list_name": links[0][0], "trial": 0, "key": "0" * 32}}
    assert httpx2.post(f"{board.address}api/sessions", json=wrong).status_code == 403
    assert board.store.count_sessions() == (0, 0)


def test_downloads_are_what_collect_makes(experimenter: httpx2.Client, board: Running, tmp_path: Path) -> None:
    assert experimenter.get("dashboard/tables.zip").status_code == 404
    finish(board.store, board.store.open_session(Arrival()))
    expected = experiment.collect(board.folder)
    tables = zipfile.ZipFile(io.BytesIO(experimenter.get("dashboard/tables.zip").content))
    assert {name for name in tables.namelist() if name.endswith(".csv")} == {
        "data-dictionary.csv",
        *(f"{name}.csv" for name in expected),
    }
    (tmp_path / "readings.csv").write_bytes(tables.read("readings.csv"))
    assert study.read(tmp_path, "readings").equals(expected["readings"])
    columns = [*csv.DictReader(io.StringIO(tables.read("data-dictionary.csv").decode()))]
    assert {(row["table"], row["column"]) for row in columns} == {
        (name, column) for name, table in expected.items() for column in table.columns
    }
    events = zipfile.ZipFile(io.BytesIO(experimenter.get("dashboard/events.zip").content))
    events.extractall(tmp_path / "events")
    again = experiment.collect(tmp_path / "events")
    assert all(again[name].equals(table) for name, table in expected.items())


def test_payments_open_no_formula_in_a_spreadsheet(board: Running) -> None:
    board.store.open_session(Arrival("a", PlatformParticipant('=HYPERLINK("https://x.example")', "link")))
    assert format_payments_csv(board.store).splitlines()[1] == 'link,"\'=HYPERLINK(""https://x.example"")",,,running'


def test_flags_tell_what_to_look_at(experimenter: httpx2.Client, board: Running) -> None:
    store = board.store
    opened = store.open_session(Arrival("anna", source="robot", tab="tab"))
    opened = store.open_session(Arrival("anna", tab="tab"))
    away = [made_event(n, float(n), "interruption", reason="blur" if n % 2 else "focus") for n in range(12)]
    first = next(placed.number for placed in opened.walk.steps if placed.position == 0)
    ends = passed(opened.walk.steps, 12)
    at = next(n for n, event in enumerate(ends, 1) if (event.kind, event.step) == ("begin", first))
    fast = [word(0, 100.0 + 50 * n, first, n - 1) for n in range(3)]
    every = [*away, *ends[:at], *fast, word(0, 300.0, first, 999), *ends[at:]]
    events = [dataclasses.replace(one, seq=n) for n, one in enumerate(every)]
    store.append_events(opened.session.id, opened.token, events)
    assert store.complete_session(opened.session.id, opened.token, len(events), "C")[0] == []
    text = text_of(experimenter.get("dashboard").text)
    assert "robot loaded 2 times left the window 6 times 1 event set apart 100% of words under 100 ms" in text


def test_a_histogram_counts_everybody_once() -> None:
    random = Random(1)
    minutes = [random.lognormvariate(3, 0.4) for _ in range(300)] + [600.0]
    bars = build_histogram(minutes)
    assert sum(bar.number for bar in bars) == 301
    assert len(bars) <= 15
    for bar in bars[:-1]:
        assert bar.number == sum(bar.low <= value < bar.high for value in minutes)
    assert build_histogram([]) == []
    assert [(bar.low, bar.number) for bar in build_histogram([7.2])] == [(7, 1)]


@pytest.mark.browser
def test_the_page_fits_a_desk_and_a_phone(board: Running, clock: Clock, chromium: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    finish(board.store, board.store.open_session(Arrival()))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 800})
            faults: list[str] = []
            page.on("console", lambda message, faults=faults: faults.append(f"{message.type}: {message.text}"))
            page.goto(f"{board.address}dashboard")
            page.get_by_label("Password").fill(PASSWORD)
            with page.expect_navigation():
                page.get_by_role("button", name="Open").click()
            assert page.get_by_role("heading", name="Sessions").is_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert [fault for fault in faults if fault.startswith("error") and "401" not in fault] == []
        browser.close()


@pytest.mark.browser
def test_with_one_session_the_page_is_a_screen_high(board: Running, chromium: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    finish(board.store, board.store.open_session(Arrival()))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{board.address}dashboard")
        page.get_by_label("Password").fill(PASSWORD)
        with page.expect_navigation():
            page.get_by_role("button", name="Open").click()
        assert page.get_by_role("heading", name="Durations").is_visible()
        page.screenshot(path=tmp_path / "one.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollHeight") <= 900
        browser.close()
