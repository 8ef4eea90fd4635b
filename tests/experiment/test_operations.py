"""What an operator meets: a full disk, a clock that is set, a server that was away, and strangers' pages."""

import contextlib
import logging
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.backup import create_backup
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.leases import SteadyClock
from gardenpath.experiment.server.store import Store

from .conftest import BOTH, Clock, Running, new_database, serve


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 30 MB, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=30m", "none", folder], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path: Path) -> None:
    """Write to a file until its disk is full."""
    with path.open("ab") as file, contextlib.suppress(OSError):
        while True:
            os.write(file.fileno(), b"x" * 4096)


def test_health_fails_while_nothing_can_be_stored(
    small_disk: Path, example: study.Study, list_files: list[experiment.ListFile]
) -> None:
    running = serve(example, list_files, small_disk)
    site = next(running)
    with httpx2.Client(base_url=site.address) as client:
        healthy = client.get("health").json()
        assert healthy["status"] == "ok"
        assert 20 <= healthy["free_disk_mb"] <= 31
        assert healthy["write_ms"] > 0
        rubbish = small_disk / "rubbish"
        rubbish.write_bytes(b"x" * 15_000_000)
        answer = client.get("health")
        assert answer.status_code == 503
        assert "MB are left, expected 20" in answer.json()["error"]
        fill(rubbish)
        answer = client.get("health")
        assert (answer.status_code, answer.json()["error"]) in (
            (503, "the disk is full"),
            (503, "the disk is nearly full: 0 MB are left, expected 20"),
        )
        rubbish.unlink()
        assert client.get("health").status_code == 200
    with pytest.raises(StopIteration):
        next(running)


def test_health_tells_the_last_backup(running: Running, database_url: str, tmp_path: Path) -> None:
    address = f"{running.address}health"
    assert httpx2.get(address).json()["backed_up"] is None
    create_backup(database_url, tmp_path / "participant.key", tmp_path / "backup")
    told = datetime.fromisoformat(httpx2.get(address).json()["backed_up"])
    assert abs(datetime.now(UTC) - told) < timedelta(minutes=5)


def test_a_clock_that_is_set_changes_no_time_and_is_named(caplog: pytest.LogCaptureFixture) -> None:
    wall, passed = Clock(), [0.0]
    clock = SteadyClock(wall, lambda: passed[0])
    began = clock()
    wall.pass_minutes(10)
    passed[0] += 600
    assert clock() - began == timedelta(minutes=10)
    wall.pass_minutes(-120)
    passed[0] += 60
    wall.pass_minutes(1)
    assert clock() - began == timedelta(minutes=11)
    assert clock() - began == timedelta(minutes=11)
    [said] = [record.getMessage() for record in caplog.records]
    assert said.startswith("the machine's clock was set back by 120.0 minutes")
    wall.pass_minutes(180)
    assert clock() - began == timedelta(minutes=11)
    assert "set forward by 60.0 minutes" in caplog.records[-1].getMessage()


@pytest.mark.parametrize("minutes", [300, -300], ids=["away or forward", "back"])
def test_after_a_pause_leases_are_renewed(
    minutes: float, example: study.Study, list_files: list[experiment.ListFile], database_url: str, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:  # fmt: skip
    store = routes.open_store(example, list_files, database_url, clock=clock)
    early = store.open_session(Arrival("early"))
    clock.pass_minutes(20 * 60)
    late = store.open_session(Arrival("late"))
    assert {summary.id: summary.state for summary in store.list_summaries(0, 9)} == {
        early.session.id: "dropped",
        late.session.id: "running",
    }
    clock.pass_minutes(minutes)
    caplog.set_level(logging.WARNING)
    again = routes.open_store(example, list_files, database_url, clock=clock)
    states = {summary.id: summary.state for summary in again.list_summaries(0, 9)}
    assert states == {early.session.id: "dropped", late.session.id: "running"}, "who had left before the pause has"
    assert "1 leases were renewed" in caplog.text
    assert ("the clock was set back" in caplog.text) == (minutes < 0)
    caplog.clear()
    routes.open_store(example, list_files, database_url, clock=clock)
    assert not caplog.records, "and once"


def test_a_restart_without_a_pause_changes_nothing(
    example: study.Study, list_files: list[experiment.ListFile], database_url: str, clock: Clock
) -> None:
    store = routes.open_store(example, list_files, database_url, clock=clock)
    store.open_session(Arrival("anna"))
    clock.pass_minutes(2)
    before = store.list_summaries(0, 9)
    assert Store(database_url, clock=clock).renew_leases_after_pause() == 0
    assert store.list_summaries(0, 9) == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "application/json", "sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "application/json; charset=utf-8", "sec-fetch-site": "same-origin"}, 201),
        ({"content-type": "application/json"}, 201),
    ],
)
def test_a_page_of_another_site_opens_no_session(headers: dict[str, str], status: int, running: Running) -> None:
    answer = httpx2.post(f"{running.address}api/sessions", content=b"{}", headers=headers)
    assert answer.status_code == status
    assert len(running.store.read_sessions()) == (status == 201)


def test_a_number_of_many_digits_is_refused_in_our_words(running: Running) -> None:
    body = b'{"participant": ' + b"9" * 900_000 + b"}"
    answer = httpx2.post(f"{running.address}api/sessions", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (400, "the body holds a number of 900000 digits; expected at most 4000")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "https://behind-a-proxy.example"}, 303),
        ({}, 303),
    ],
)
def test_the_login_takes_no_form_of_another_site(
    headers: dict[str, str], status: int, example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path
) -> None:
    running = serve(
        example,
        list_files,
        tmp_path / "data",
        build_sqlite_url(tmp_path / "study.sqlite"),
        site=routes.SiteSettings(password="right"),
    )
    address = next(running).address
    answer = httpx2.post(f"{address}dashboard/login", data={"password": "right"}, headers=headers, follow_redirects=False)
    assert answer.status_code == status
    assert ("set-cookie" in answer.headers) == (status == 303)
    with pytest.raises(StopIteration):
        next(running)
