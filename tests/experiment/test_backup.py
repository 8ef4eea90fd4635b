"""A backup of a running study holds one state of it, key included, and is the study again where it is restored."""

import threading
from pathlib import Path

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.pseudonyms import participant_key, secret
from gardenpath.experiment.server import backup
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.database import EVENTS, sqlite_url
from gardenpath.experiment.server.store import Store

from ..conftest import run_here
from .conftest import BOTH, ROBOT_KEY, Running, new_database


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


def test_a_backup_is_a_folder_of_data_and_restores_to_the_same_study(
    running: Running, versions: list[experiment.VersionFile], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    robot, key = experiment.robot(versions, seed=1), tmp_path / "data" / "participant.key"
    participant_key(key)
    experiment.take(robot, experiment.HttpTransport(running.address, ROBOT_KEY), "r1")
    running.store.open(Arrival(participant="p"))
    url, copy = running.store.database.url, tmp_path / "copy"
    rows = backup.back_up(url, key, copy)
    assert (rows["sessions"], rows["versions"]) == (2, len(versions))
    assert {path.name: path.stat().st_mode & 0o777 for path in copy.iterdir()} == {
        "study.sqlite": 0o600, "participant.key": 0o600,
    }  # fmt: skip
    with pytest.raises(FileExistsError):
        backup.back_up(url, key, copy)
    kind = "sqlite" if url.startswith("postgresql") else "postgresql"
    again = new_database(kind, tmp_path / "elsewhere", request)  # of the other kind
    backup.restore(copy, again, tmp_path / "elsewhere" / "participant.key")
    assert (tmp_path / "elsewhere" / "participant.key").read_bytes() == key.read_bytes()
    restored = Store(again, create=False)
    assert list(restored.records()) == list(running.store.records())
    assert (restored.files(), restored.revisions()) == (running.store.files(), running.store.revisions())
    assert experiment.collect(copy)["readings"].equals(experiment.collect(url)["readings"])
    running.store.open(Arrival(participant="q"))  # it goes on as if nothing had been
    with pytest.raises(study.DataError, match="holds a study already"):
        backup.restore(copy, again, key)
    restored.database.engine.dispose()


def test_a_backup_is_one_state_while_people_arrive(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody arrives when the first table is copied: this state has one session, whatever comes."""
    copied, table = backup._rows, []

    def slowly(connection, one):  # type: ignore[no-untyped-def]
        if len(table) == 1:
            arriving = threading.Thread(target=running.store.open, args=[Arrival(participant="late")])
            arriving.start()
            arriving.join()
        table.append(one)
        return copied(connection, one)

    running.store.open(Arrival(participant="early"))
    monkeypatch.setattr(backup, "_rows", slowly)
    participant_key(tmp_path / "key")
    assert backup.back_up(running.store.database.url, tmp_path / "key", tmp_path / "copy")["sessions"] == 1
    assert len(running.store.sessions()) == 2


def test_a_backup_that_reads_back_otherwise_is_none(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that loses a row: of what is read back one row is left out."""
    running.store.open(Arrival(participant="p"))
    participant_key(tmp_path / "key")
    whole = backup._rows
    monkeypatch.setattr(
        backup,
        "_rows",
        lambda connection, table: (
            part[1:] if "/copy/" in connection.engine.url.database else part for part in whole(connection, table)
        ),
    )
    with pytest.raises(study.DataError, match="what was read back is not what was copied"):
        backup.back_up(running.store.database.url, tmp_path / "key", tmp_path / "copy")
    assert list((tmp_path / "copy").iterdir()) == []
    monkeypatch.setattr(backup, "_rows", whole)
    with pytest.raises(FileNotFoundError, match="the key that hashed participants' ids"):
        backup.back_up(running.store.database.url, tmp_path / "no key", tmp_path / "copy")


def test_the_commands_back_up_and_restore(study_folder: Path, versions: list[experiment.VersionFile]) -> None:
    store = Store(sqlite_url(study_folder / "data" / "study.sqlite"))
    store.publish(versions)
    store.open(Arrival(participant="p"))
    participant_key(study_folder / "data" / "participant.key")
    done = run_here("gardenpath backup study.toml --to copy", study_folder)
    assert (done.code, done.printed) == (
        0, "copy: 1 session with 0 events backed up, and read back without a difference\n",
    )  # fmt: skip
    done = run_here("gardenpath backup study.toml --restore copy -o back", study_folder)
    assert (done.code, done.printed) == (0, "back: 1 session with 0 events restored\n")
    assert len(Store(f"sqlite:///{study_folder}/back/study.sqlite", create=False).sessions()) == 1
    for line, said in (
        ("gardenpath backup study.toml", "expected --to FOLDER, or --restore FOLDER"),
        ("gardenpath backup study.toml --to copy", "exists already"),
        ("gardenpath backup study.toml --restore copy", "holds a study already"),
        ("gardenpath backup study.toml --restore nothing -o new", "there is no such file"),
    ):
        done = run_here(line, study_folder)
        assert done.code != 0
        assert said in done.said


def test_health_says_whether_the_database_answers(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    assert httpx2.get(f"{running.address}health").json() == {"status": "ok", "closed": False}
    running.store.close()
    assert httpx2.get(f"{running.address}health").json() == {"status": "ok", "closed": True}
    with running.store.database.writing() as connection:
        EVENTS.drop(connection)  # then what it needs is gone
        connection.exec_driver_sql("ALTER TABLE meta RENAME TO lost")
    assert httpx2.get(f"{running.address}health").status_code == 503


def test_of_two_processes_that_begin_at_once_one_makes_the_secret(tmp_path: Path) -> None:
    """The second has made its text when the first one's is there already."""
    path = tmp_path / "new" / "key"
    assert secret(path, lambda: secret(path, lambda: "first") and "second") == "first"
    assert [path.name for path in path.parent.iterdir()] == ["key"]
    assert path.stat().st_mode & 0o777 == 0o600
