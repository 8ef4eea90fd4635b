"""Readers of the norming are not let into the main study, and do not count where they came in all the same."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.collection.previous_participants import read_previous_participants
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.routes import open_store
from gardenpath.experiment.sessions.pseudonyms import hash_participant
from gardenpath.experiment.sessions.recruitment import PlatformParticipant

from .conftest import Running, serve
from .test_payment import Visitor

OTHER_KEY = "ab" * 32


@pytest.fixture
def earlier(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path) -> Path:
    """The data of an earlier study, with a key of its own, in which `5f` has begun."""
    folder = tmp_path / "norming" / "data"
    folder.mkdir(parents=True)
    (folder / "participant.key").write_text(OTHER_KEY)
    store = open_store(example, list_files, build_sqlite_url(folder / "study.sqlite"))
    store.open_session(Arrival(hash_participant("5f", bytes.fromhex(OTHER_KEY)), PlatformParticipant("5f", "prolific"), "server"))
    store.database.engine.dispose()
    return folder


@pytest.fixture
def main(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, earlier: Path) -> Iterator[Running]:
    online = dataclasses.replace(example.online, excluded_participants=["norming/data"])
    stated = dataclasses.replace(example, online=online, path=tmp_path / "study.toml")
    yield from serve(stated, list_files[:1], tmp_path / "main")


def test_who_took_part_before_is_not_let_in_and_others_are(main: Running) -> None:
    previous = Visitor(main, PROLIFIC_PID="5f", STUDY_ID="1", SESSION_ID="2")
    assert (previous.opened.status_code, previous.payload["reason"]) == (409, "excluded")
    assert "earlier part of this research" in previous.payload["text"][0]
    assert "return your submission" in previous.payload["text"][1]
    assert main.store.list_payments() == []
    assert Visitor(main, PROLIFIC_PID="5e", STUDY_ID="1", SESSION_ID="3").opened.status_code == 201
    assert Visitor(main).opened.status_code == 201


def test_who_had_begun_before_may_go_on(main: Running, earlier: Path) -> None:
    key = b"key"  # of the server of these tests
    main.store.open_session(Arrival(hash_participant("5f", key), PlatformParticipant("5f", "prolific"), "server", tab="a" * 8))
    assert Visitor(main, PROLIFIC_PID="5f", STUDY_ID="1", SESSION_ID="2", tab="a" * 8).opened.status_code == 200


def test_a_session_of_theirs_does_not_count(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, earlier: Path
) -> None:
    """The keys differ, and the database still has the ids; without these nobody could be told."""
    folder, key = tmp_path / "data", "cd" * 32
    folder.mkdir()
    (folder / "participant.key").write_text(key)
    store = open_store(example, list_files, build_sqlite_url(folder / "study.sqlite"))
    for id in ("5e", "5f"):
        store.open_session(Arrival(hash_participant(id, bytes.fromhex(key)), PlatformParticipant(id, "prolific"), "server"))
    sessions = experiment.collect(folder, excluded_participants=[earlier])["sessions"].set_index("participant")["exclusion_reason"]
    assert sessions[hash_participant("5f", bytes.fromhex(key))] == f"took part in {earlier}"
    assert sessions.isna().sum() == 1
    store.forget_payments()
    with pytest.raises(study.DataError, match="have different keys of participants' ids"):
        experiment.collect(folder, excluded_participants=[earlier])
    (earlier / "participant.key").write_text(key)
    assert experiment.collect(folder, excluded_participants=[earlier])["sessions"]["exclusion_reason"].isna().all()
    store.database.engine.dispose()


def test_ids_of_a_platform_are_known_again(tmp_path: Path, earlier: Path) -> None:
    rows = [f"{who},1,a,{n},300" for who in ("5f", "5e") for n in (1, 2)]
    (tmp_path / "answers.csv").write_text("\n".join(["subj,item,cond,pos,RT", *rows]) + "\n")
    columns = {"participant": "subj", "item": "item", "condition": "cond", "word": "pos", "rt": "RT"}
    mapping = "[columns]\n" + "".join(f'{name} = "{column}"\n' for name, column in columns.items())
    (tmp_path / "map.toml").write_text(mapping)
    tables = experiment.collect(
        tmp_path / "answers.csv", platform="table", mapping=tmp_path / "map.toml", excluded_participants=[earlier]
    )
    assert tables["sessions"].set_index("participant")["exclusion_reason"].notna().to_dict() == {"5e": False, "5f": True}


def test_tables_do_in_place_of_data_and_no_sessions_are_a_fault(tmp_path: Path, earlier: Path) -> None:
    tables = experiment.collect(earlier)
    study.table_files.write(tables["sessions"], "sessions", earlier.parent / "tables", command="by hand")
    [one] = read_previous_participants(["norming/tables"], tmp_path)
    assert (one.has_participant("5f"), one.has_participant("5e")) == (True, False)  # by the key in data/ beside them
    (tmp_path / "empty").mkdir()
    with pytest.raises(study.DataError, match="holds no sessions"):
        read_previous_participants(["empty"], tmp_path)
