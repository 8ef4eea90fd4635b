"""Platforms' ids stand in one table that can be deleted; who leaves is forgotten."""

import os
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import EVENTS, build_sqlite_url, metadata
from gardenpath.experiment.server.store import Store

from .conftest import BOTH, ROBOT_KEY, Running, new_database, serve
from .made_events import MACHINE
from .made_events import event as made_event
from .test_payment import PROLIFIC, Visitor

PERSON, SUBMISSION = "person-5f3c9a-prolific", "submission-77bb"
WHO = {"PROLIFIC_PID": PERSON, "SESSION_ID": SUBMISSION}


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


def tables_with(running: Running, text: str) -> set[str]:
    """The tables in which a text stands anywhere."""
    with running.store.database.engine.connect() as connection:
        return {
            table.name
            for table in metadata.sorted_tables
            if any(text in str(value) for row in connection.execute(sa.select(table)) for value in row)
        }


def on_disk(running: Running, text: str) -> bool:
    running.store.database.engine.dispose()
    return any(text.encode() in path.read_bytes() for path in running.folder.glob("study.sqlite*"))


def test_raw_ids_stand_in_the_payments_alone_and_go_with_them(running: Running) -> None:
    Visitor(running, **WHO).finish()
    assert tables_with(running, PERSON) == tables_with(running, SUBMISSION) == {"payments"}
    (record,) = running.store.read_recorded_sessions()
    assert record.session.participant == routes.hash_participant(PERSON, b"key")
    assert running.store.forget_payments() == 1
    assert tables_with(running, PERSON) == set()
    assert not on_disk(running, PERSON)
    assert not on_disk(running, SUBMISSION)
    # The hash still knows who took part.
    assert Visitor(running, **WHO).payload["reason"] == "finished"


ROBOT = {"source": "robot", "key": ROBOT_KEY}


def test_no_address_and_no_user_agent_is_stored(running: Running) -> None:
    agent = {"User-Agent": "Mozilla/5.0 unmistakable", "X-Forwarded-For": "203.0.113.77", "Referer": "https://app.example/"}
    httpx2.post(f"{running.address}api/sessions", json={**ROBOT, **WHO}, headers=agent).raise_for_status()
    for text in ("unmistakable", "203.0.113.77", "127.0.0.1", "app.example"):
        assert tables_with(running, text) == set()


def unmistakable(running: Running, **who: str) -> Visitor:
    """Somebody whose first event is known anywhere."""
    visitor = Visitor(running, **who)
    event = made_event(0, 1.0, "visit", **{**MACHINE, "device": "Unmistakable on Linux"})
    assert visitor.call("events", {"events": [vars(event)]}, "PUT").status_code == 200
    return visitor


def left(visitor: Visitor) -> tuple[bool, bool]:
    said = visitor.call("withdraw", {}).json()
    return said["deleted"], said["scrubbed"]


def test_what_somebody_reads_leaves_the_files_once_the_reading_ends_and_the_answer_says_so(running: Running) -> None:
    visitor, other = unmistakable(running, **WHO), Visitor(running, participant="other")
    with running.store.database.begin_reading() as reading:
        assert reading.scalar(sa.select(sa.func.count()).select_from(EVENTS)) == 1
        assert left(visitor) == (True, False)
        other.read(3)  # whoever writes does not wait
        assert running.store.scrubber.thread is not None
        assert running.store.scrubber.thread.is_alive()
    running.store.scrubber.thread.join(timeout=60)
    assert not running.store.scrubber.thread.is_alive()
    assert not on_disk(running, "Unmistakable")


def test_a_download_keeps_nobodys_data_in_the_files(running: Running) -> None:
    first, second = unmistakable(running), unmistakable(running)
    records = running.store.read_recorded_sessions()
    assert next(records).session.id == first.payload["session"]
    assert left(second) == (True, True)
    assert not list(records), "who has withdrawn meanwhile is not among them"


def test_what_could_not_be_removed_is_removed_at_the_next_start(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened = serve(example, list_files[:1], tmp_path / "data")
    running = next(opened)
    reader = Store(running.store.database.url).database
    visitor = unmistakable(running)
    with reader.begin_reading() as reading:
        assert reading.scalar(sa.select(sa.func.count()).select_from(EVENTS)) == 1
        assert left(visitor) == (True, False)
        assert next(opened, None) is None  # the server stops
        assert "still in the database's files" in caplog.text
    reader.engine.dispose()
    for again in serve(example, list_files[:1], tmp_path / "data"):
        again.address  # noqa: B018
    assert not on_disk(again, "Unmistakable")


def test_who_withdraws_is_gone_from_the_files(running: Running) -> None:
    visitor = unmistakable(running, **WHO)
    session = visitor.payload["session"]
    assert left(visitor) == (True, True)
    assert tables_with(running, session) == {"payments"}  # which says whom not to pay, until it is deleted
    running.store.forget_payments()
    for text in (session, "Unmistakable"):
        assert not on_disk(running, text)
        assert tables_with(running, text) == set()


def test_forgetting_deletes_and_leaves_a_hash_that_bars_the_way(running: Running) -> None:
    Visitor(running, **WHO).finish()
    Visitor(running, **PROLIFIC)
    hashed = routes.hash_participant(PERSON, b"key")
    assert running.store.forget_participant(hashed) == 1
    assert tables_with(running, PERSON) == set()
    assert tables_with(running, hashed) == {"departed"}
    assert not on_disk(running, PERSON)
    assert running.store.forget_participant(hashed) == 0
    assert Visitor(running, **WHO).payload["reason"] == "departed"
    assert len([*running.store.read_recorded_sessions()]) == 1
    with pytest.raises(KeyError, match="nobody by this name"):
        running.store.forget_participant(routes.hash_participant("somebody else", b"key"))


def test_the_command_forgets_by_the_platforms_id_or_the_tables(study_folder: Path) -> None:
    stated = study.load(study_folder)
    url = f"sqlite:///{study_folder / 'data' / 'study.sqlite'}"
    key = routes.load_participant_key(study_folder / "data" / "participant.key")
    opened = routes.open_store(stated, experiment.build_list_files(stated), url)
    from gardenpath.experiment.server.arrivals import Arrival
    from gardenpath.experiment.sessions.recruitment import PlatformParticipant

    for name in ("anna", "bert", "cleo"):
        opened.open_session(Arrival(routes.hash_participant(name, key), PlatformParticipant(name, "link")))
    anonymous = opened.open_session(Arrival()).session

    def forget(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-m", "gardenpath.cli.main", "forget", *words, str(study_folder / "study.toml")]
        return subprocess.run(call, capture_output=True, text=True, env={**os.environ, **environment})

    elsewhere = forget("anna", GARDENPATH_DATABASE="sqlite:////nowhere/x.sqlite")
    assert "sqlite:////nowhere/x.sqlite: there is no such file" in elsewhere.stderr

    assert forget("anna", anonymous.participant).returncode == 0
    assert len([*opened.read_recorded_sessions()]) == 2
    assert forget(routes.hash_participant("bert", key)).stdout.endswith("1 session deleted; tables made before still hold them\n")
    nobody = forget("nobody")
    assert (nobody.returncode, nobody.stderr.splitlines()) == (
        2,
        ["nobody: nobody by this name has taken part; expected an id of the platform, or of the table 'sessions'"],
    )
    assert forget("--payments").stdout == "1 payment deleted\n"
    assert forget().returncode == 2
    assert [record.session.participant for record in opened.read_recorded_sessions()] == [routes.hash_participant("cleo", key)]


def test_nobody_else_on_the_machine_can_read_the_files_of_the_database(tmp_path: Path) -> None:
    opened = Store(build_sqlite_url(tmp_path / "data" / "study.sqlite"))
    opened.set_closed()
    files = [*(tmp_path / "data").iterdir()]
    assert {path.name for path in files} >= {"study.sqlite", "study.sqlite-wal"}
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    opened.database.engine.dispose()
