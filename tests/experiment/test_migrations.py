"""Databases of before are upgraded with all they hold: the fixture is one that `serve` of commit d716be1 left (schema 6).

In it two robots have finished, anna is halfway, one of dora's events was set apart, bert was screened out, and carla withdrew.
"""

import gzip
import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pandas as pd
import pytest
import sqlalchemy as sa

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import (
    SCHEMA_VERSION,
    Database,
    OutdatedProcess,
    build_sqlite_url,
    connect_engine,
    read_schema,
)
from gardenpath.experiment.server.migrations import migrate_list_file_7, upgrade_database
from gardenpath.experiment.server.store import Store

from .conftest import BOTH, new_database, serve

BEFORE = Path(__file__).parent / "fixtures" / "schema-6"
MOMENT = datetime(2026, 11, 26, 4, 31, tzinfo=UTC)  # after the last of its events
OLD_PLACES = "CREATE UNIQUE INDEX place ON sessions (version, slot) WHERE source != 'preview'"


@pytest.fixture
def stated(tmp_path: Path) -> study.Study:
    folder = Path(shutil.copytree(BEFORE, tmp_path / "study"))
    return study.load(folder)


def read_sql() -> str:
    return gzip.decompress((BEFORE / "study.sql.gz").read_bytes()).decode()


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database as it was; PostgreSQL gets the tables and rows of SQLite's."""
    url = new_database(request.param, tmp_path, request)
    if request.param == "sqlite":
        path = Path(url.removeprefix("sqlite:///"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(read_sql())
        return url
    made = tmp_path / "made.sqlite"
    with closing(sqlite3.connect(made)) as connection:
        connection.executescript(read_sql())
    source, target = connect_engine(build_sqlite_url(made)), connect_engine(url)
    found = sa.MetaData()
    found.reflect(source)
    for table in found.tables.values():
        table.indexes.clear()
    found.tables["events"].c.t.type = sa.Double()
    with source.connect() as old, target.begin() as new:
        found.create_all(new)
        for table in found.sorted_tables:
            if rows := [dict(row) for row in old.execute(sa.select(table)).mappings()]:
                new.execute(table.insert(), rows)
        new.exec_driver_sql(OLD_PLACES)
    source.dispose()
    target.dispose()
    return url


def count_rows(url: str) -> dict[str, int]:
    engine = connect_engine(url)
    found = sa.MetaData()
    with engine.connect() as connection:
        found.reflect(connection)
        counts = {name: connection.scalar(sa.select(sa.func.count()).select_from(t)) for name, t in found.tables.items()}
    engine.dispose()
    return {name: int(count or 0) for name, count in counts.items()}


def test_all_rows_stay_and_lists_are_those_that_are_built_today(url: str, tmp_path: Path, stated: study.Study) -> None:
    before = count_rows(url)
    backup = upgrade_database(url, tmp_path / "kept")
    assert backup is not None
    after = count_rows(url)
    names = {"versions": "lists", "apart": "rejected_events"}
    assert after == {names.get(name, name): count for name, count in before.items()}
    assert (after["events"], after["sessions"], after["rejected_events"]) == (395, 4, 1)
    assert count_rows(build_sqlite_url(backup)) == before, "the backup is the database as it was"
    assert read_schema(connect_engine(build_sqlite_url(backup))) == 6
    store = Store(url, create=False)
    built = {file.sha256: file.name for file in experiment.build_list_files(stated)}
    assert {sha256: file.name for sha256, file in store.read_list_files().items()} == built
    sessions = store.read_sessions()
    assert {session.list_sha256 for session in sessions} == {*built}
    assert all(built[session.list_sha256] == session.list_name for session in sessions)
    assert store.count_departures() == {"E1-L2": {"screened_out": 1, "withdrawn": 1}}
    assert upgrade_database(url, tmp_path / "kept") is None, "once is enough"


def test_lists_of_a_study_with_nearly_everything_are_those_that_are_built_today() -> None:
    """RSVP, a slider, completions, questions with deadlines, blocks, attention items, factors between participants and items."""
    folder = BEFORE / "odd"
    old = json.loads(gzip.decompress((folder / "lists.json.gz").read_bytes()))
    built = {file.name: file.text for file in experiment.build_list_files(study.load(folder))}
    migrated = [migrate_list_file_7(text, name) for name, text in old.items()]
    assert {file.name: file.text for file in migrated} == built
    assert len(built) == 4


def test_what_participants_meet_has_not_changed_by_the_upgrade(
    url: str, tmp_path: Path, stated: study.Study, caplog: pytest.LogCaptureFixture
) -> None:
    upgrade_database(url, tmp_path / "kept")
    caplog.set_level(logging.WARNING)
    files = experiment.build_list_files(stated)
    for _ in range(2):
        [revision] = routes.open_store(stated, files, url, clock=lambda: MOMENT).list_revisions()
        assert (revision["number"], revision["changed"]) == (1, [])
        assert None not in revision["hashes"].values()
    assert not caplog.records
    text = stated.path.read_text().replace('title = "Reading"', 'title = "Reading again"')
    stated.path.write_text(text)
    changed = study.load(stated.path)
    revisions = routes.open_store(changed, experiment.build_list_files(changed), url).list_revisions()
    assert [sorted(revision["changed"]) for revision in revisions] == [[], ["materials", "texts"]]


def test_a_page_from_before_the_upgrade_goes_on_to_the_code(url: str, tmp_path: Path, stated: study.Study) -> None:
    anna = json.loads((BEFORE / "anna.json").read_text())
    upgrade_database(url, tmp_path / "kept")
    files = experiment.build_list_files(stated)
    running = serve(stated, files, tmp_path / "data", url)
    with httpx2.Client(base_url=next(running).address) as client:
        path, headers = anna["path"], anna["headers"]
        assert client.post(f"{path}/heartbeat", json={"leaving": False}, headers=headers).status_code == 200
        sent = client.put(f"{path}/events", json={"events": anna["rest"]}, headers=headers)
        assert (sent.status_code, sent.json()["stored"]) == (200, anna["all"])
        done = client.post(f"{path}/complete", json={"events": anna["all"]}, headers=headers)
        assert (done.status_code, done.json()["code"]) == (200, "CODE-1")
    with pytest.raises(StopIteration):
        next(running)


def test_tables_are_those_that_collect_made_before(url: str, tmp_path: Path) -> None:
    source = url if "://" in url and not url.startswith("sqlite") else url.removeprefix("sqlite:///")
    before = count_rows(url)
    found = experiment.collect(source)
    assert count_rows(url) == before, "collect upgrades a copy"
    for name in ("readings", "responses"):
        old = pd.read_csv(BEFORE / f"{name}.csv")
        new = found[name].reset_index(drop=True)
        assert len(old) == len(new)
        assert new["list"].to_list() == old["version"].str.replace("V", "L").to_list()
        key = ["participant", "session", "trial", "item", "condition", "rt", "rt_first"]
        key += ["word", "text"] if name == "readings" else ["task", "response"]
        mine, theirs = (table[key].astype("object").where(table[key].notna(), None) for table in (new, old))
        pd.testing.assert_frame_equal(mine.astype(str), theirs.astype(str))
    assert found["sessions"]["complete"].sum() == 2


@pytest.fixture
def old_store(url: str, tmp_path: Path) -> Store:
    upgrade_database(url, tmp_path / "kept")
    return Store(url, create=False)


def test_of_two_processes_the_older_writes_nothing_any_more(
    old_store: Store, url: str, stated: study.Study, tmp_path: Path
) -> None:
    running = serve(stated, experiment.build_list_files(stated), tmp_path / "data", url)
    with httpx2.Client(base_url=next(running).address) as client:
        newer = connect_engine(url)
        with newer.begin() as connection:
            connection.exec_driver_sql(f"UPDATE meta SET schema = {SCHEMA_VERSION + 1}")
        newer.dispose()
        for call in (old_store.set_closed, old_store.count_sessions):
            with pytest.raises(OutdatedProcess, match="upgraded by a newer gardenpath"):
                call()
        opened = client.post("api/sessions", json={})
        assert (opened.status_code, opened.json()["error"]) == (503, "the server is being upgraded; send it again")
        assert client.get("health").status_code == 503
    with pytest.raises(StopIteration):
        next(running)
    with pytest.raises(study.DataError, match=f"has schema {SCHEMA_VERSION + 1}, of a newer gardenpath than this"):
        Store(url, create=False)


def test_processes_that_begin_at_once_upgrade_it_once(url: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: upgrade_database(url, tmp_path / str(n)), range(4)))
    assert read_schema(connect_engine(url)) == SCHEMA_VERSION
    assert count_rows(url)["events"] == 395


def test_a_step_that_fails_leaves_all_as_it_was(url: str, tmp_path: Path) -> None:
    engine = connect_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE versions SET content = '{\"schema\": 1}' WHERE name = 'E1-V2'")
    engine.dispose()
    before = count_rows(url)
    with pytest.raises(study.DataError, match=r"list E1-V2 in the database: its schema is 1; expected 2 in this database"):
        upgrade_database(url, tmp_path / "kept")
    assert count_rows(url) == before
    assert read_schema(connect_engine(url)) == 6


KILLED = """
import sys
from pathlib import Path
from gardenpath.experiment.server import migrations

def wait(connection):
    print("reached", flush=True)
    sys.stdin.read()

migrations.MIGRATIONS = {**migrations.MIGRATIONS, 7: wait}
migrations.upgrade_database(sys.argv[1], Path(sys.argv[2]))
"""


def test_a_process_that_is_killed_within_a_step_leaves_all_as_it_was(url: str, tmp_path: Path) -> None:
    before = count_rows(url)
    call = [sys.executable, "-c", KILLED, url, str(tmp_path / "first")]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.kill()
    assert (read_schema(connect_engine(url)), count_rows(url)) == (6, before)
    assert upgrade_database(url, tmp_path / "second") is not None
    assert read_schema(connect_engine(url)) == SCHEMA_VERSION
    assert count_rows(url)["events"] == 395


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (5, "expected 6 or more; collect its data"),
        (6, "gardenpath serve  upgrades it, after a backup"),
        (99, "of a newer gardenpath"),
    ],
)
def test_other_schemas_are_refused_with_what_to_do(schema: int, message: str, url: str, tmp_path: Path) -> None:
    engine = connect_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE meta SET schema = {schema}")
    engine.dispose()
    with pytest.raises(study.DataError, match=message):
        Database(url, create=False)
    if schema != 6:
        with pytest.raises(study.DataError, match=message):
            upgrade_database(url, tmp_path / "kept")
        assert not (tmp_path / "kept").exists()
