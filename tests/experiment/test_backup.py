"""A backup of a running study holds one state of it, key included, and is the study again where it is restored."""

import threading
from pathlib import Path

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.server import backup
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.database import EVENTS, build_sqlite_url
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.sessions.pseudonyms import load_participant_key, load_secret

from ..conftest import run_here
from .conftest import BOTH, ROBOT_KEY, Running, new_database


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


def test_a_backup_is_a_folder_of_data_and_restores_to_the_same_study(
    running: Running, list_files: list[experiment.ListFile], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    robot, key = experiment.create_robot(list_files, seed=1), tmp_path / "data" / "participant.key"
    load_participant_key(key)
    experiment.run_robot_session(robot, experiment.HttpTransport(running.address, ROBOT_KEY), "r1")
    running.store.open_session(Arrival(participant="p"))
    url, copy = running.store.database.url, tmp_path / "copy"
    rows = backup.create_backup(url, key, copy)
    assert (rows["sessions"], rows["lists"]) == (2, len(list_files))
    assert {path.name: path.stat().st_mode & 0o777 for path in copy.iterdir()} == {
        "study.sqlite": 0o600, "participant.key": 0o600,
    }  # fmt: skip
    with pytest.raises(FileExistsError):
        backup.create_backup(url, key, copy)
    kind = "sqlite" if url.startswith("postgresql") else "postgresql"
    again = new_database(kind, tmp_path / "elsewhere", request)  # of the other kind
    backup.restore_backup(copy, again, tmp_path / "elsewhere" / "participant.key")
    assert (tmp_path / "elsewhere" / "participant.key").read_bytes() == key.read_bytes()
    restored = Store(again, create=False)
    assert list(restored.read_recorded_sessions()) == list(running.store.read_recorded_sessions())
    assert (restored.read_list_files(), restored.list_revisions()) == (
        running.store.read_list_files(),
        running.store.list_revisions(),
    )
    assert experiment.collect(copy)["readings"].equals(experiment.collect(url)["readings"])
    running.store.open_session(Arrival(participant="q"))  # it goes on as if nothing had been
    with pytest.raises(study.DataError, match="holds a study already"):
        backup.restore_backup(copy, again, key)
    restored.database.engine.dispose()


def test_a_backup_is_one_state_while_people_arrive(running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody arrives when the first table is copied: this state has one session, whatever comes."""
    copied, table = backup._read_rows, []

    def slowly(connection, one):  # type: ignore[no-untyped-def]
        if len(table) == 1:
            arriving = threading.Thread(target=running.store.open_session, args=[Arrival(participant="late")])
            arriving.start()
            arriving.join()
        table.append(one)
        return copied(connection, one)

    running.store.open_session(Arrival(participant="early"))
    monkeypatch.setattr(backup, "_read_rows", slowly)
    load_participant_key(tmp_path / "key")
    assert backup.create_backup(running.store.database.url, tmp_path / "key", tmp_path / "copy")["sessions"] == 1
    assert len(running.store.read_sessions()) == 2


def test_a_backup_that_reads_back_otherwise_is_none(running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that loses a row: of what is read back one row is left out."""
    running.store.open_session(Arrival(participant="p"))
    load_participant_key(tmp_path / "key")
    whole = backup._read_rows
    monkeypatch.setattr(
        backup,
        "_read_rows",
        lambda connection, table: (
            part[1:] if "/copy/" in connection.engine.url.database else part for part in whole(connection, table)
        ),
    )
    with pytest.raises(study.DataError, match="what was read back is not what was copied"):
        backup.create_backup(running.store.database.url, tmp_path / "key", tmp_path / "copy")
    assert list((tmp_path / "copy").iterdir()) == []
    monkeypatch.setattr(backup, "_read_rows", whole)
    with pytest.raises(FileNotFoundError, match="the key that hashed participants' ids"):
        backup.create_backup(running.store.database.url, tmp_path / "no key", tmp_path / "copy")


def test_the_commands_back_up_and_restore(study_folder: Path, list_files: list[experiment.ListFile]) -> None:
    store = Store(build_sqlite_url(study_folder / "data" / "study.sqlite"))
    store.publish_lists(list_files)
    store.open_session(Arrival(participant="p"))
    load_participant_key(study_folder / "data" / "participant.key")
    done = run_here("gardenpath backup study.toml --destination copy", study_folder)
    assert (done.code, done.printed) == (
        0, "copy: 1 session with 0 events backed up, and read back without a difference\n",
    )  # fmt: skip
    done = run_here("gardenpath backup study.toml --restore copy -o back", study_folder)
    assert (done.code, done.printed) == (0, "back: 1 session with 0 events restored\n")
    assert len(Store(f"sqlite:///{study_folder}/back/study.sqlite", create=False).read_sessions()) == 1
    for line, said in (
        ("gardenpath backup study.toml", "expected --destination FOLDER, or --restore FOLDER"),
        ("gardenpath backup study.toml --destination copy", "exists already"),
        ("gardenpath backup study.toml --restore copy", "holds a study already"),
        ("gardenpath backup study.toml --restore nothing -o new", "there is no such file"),
    ):
        done = run_here(line, study_folder)
        assert done.code != 0
        assert said in done.said


def test_health_says_whether_the_database_answers(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for closed in (False, True):
        running.store.set_closed(closed)
        told = httpx2.get(f"{running.address}health").json()
        assert (told["status"], told["closed"]) == ("ok", closed)
    with running.store.database.begin_writing() as connection:
        EVENTS.drop(connection)  # then what it needs is gone
        connection.exec_driver_sql("ALTER TABLE meta RENAME TO lost")
    assert httpx2.get(f"{running.address}health").status_code == 503


def test_of_two_processes_that_begin_at_once_one_makes_the_secret(tmp_path: Path) -> None:
    """The second has made its text when the first one's is there already."""
    path = tmp_path / "new" / "key"
    assert load_secret(path, lambda: load_secret(path, lambda: "first") and "second") == "first"
    assert [path.name for path in path.parent.iterdir()] == ["key"]
    assert path.stat().st_mode & 0o777 == 0o600
