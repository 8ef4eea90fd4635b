"""A session belongs to the tab that lives: nobody else writes to it, ends it, or comes as somebody else."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.sessions.recruitment import compute_signature

from ..conftest import run_here
from .conftest import BOTH, Clock, Running, new_database, serve
from .made_events import event as made_event
from .test_payment import Visitor

FIRST, SECOND = "tab-of-the-first", "tab-of-the-second"


@pytest.fixture
def site(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, clock: Clock, request: pytest.FixtureRequest
) -> Iterator[Running]:
    url = new_database(getattr(request, "param", "sqlite"), tmp_path, request)
    yield from serve(example, list_files[:1], tmp_path / "data", url, clock=clock)


@pytest.mark.parametrize("site", BOTH, indirect=True)
@pytest.mark.parametrize("tab", [SECOND, None])
def test_nobody_gets_the_token_of_a_tab_that_lives(site: Running, tab: str | None) -> None:
    first = Visitor(site, participant="anna", tab=FIRST)
    for _ in range(2):
        thief = Visitor(site, participant="anna", tab=tab)
        assert (thief.opened.status_code, thief.payload["reason"]) == (409, "open_elsewhere")
        assert "token" not in thief.payload
    again = Visitor(site, participant="anna", tab=FIRST)  # a reload
    assert (again.payload["token"], again.payload["visit"]) == (first.payload["token"], 1)


def test_who_came_without_a_tab_is_another_one_the_next_time(site: Running) -> None:
    first = Visitor(site, participant="anna")
    assert Visitor(site, participant="anna").payload["reason"] == "open_elsewhere"
    assert first.call("heartbeat", {"leaving": True}).status_code == 200
    assert Visitor(site, participant="anna").opened.status_code == 200


def test_a_tab_from_which_the_session_was_taken_can_neither_write_nor_withdraw(site: Running, clock: Clock) -> None:
    first = Visitor(site, participant="anna", tab=FIRST)
    event = {"events": [vars(made_event(0, 1.0, "end"))]}
    assert first.call("events", event, "PUT").status_code == 200
    clock.pass_minutes(1.6)
    second = Visitor(site, participant="anna", tab=SECOND)
    assert (second.opened.status_code, second.payload["next_seq"]) == (200, 1)
    assert second.payload["token"] != first.payload["token"]
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("events", event, "PUT"),
        ("heartbeat", {}, "POST"),
        ("complete", {"events": 1}, "POST"),
        ("withdraw", {}, "POST"),
    ]
    for call in calls:
        said = first.call(*call)
        assert (said.status_code, said.json()["reason"]) == (409, "open_elsewhere")
        assert "another tab" in said.json()["text"][0]
    third = Visitor(site, participant="anna", tab=FIRST)
    assert third.payload["reason"] == "open_elsewhere"
    assert second.call("withdraw", {}).json()["deleted"]


@pytest.fixture
def signed(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, clock: Clock) -> Iterator[Running]:
    stated = dataclasses.replace(example, online=dataclasses.replace(example.required_online, signed_links=True))
    yield from serve(stated, list_files[:1], tmp_path / "data", clock=clock)


def test_where_links_are_signed_an_id_alone_opens_nothing(signed: Running) -> None:
    of_anna = compute_signature("anna", b"key")
    for who in (
        {},
        {"participant": "anna"},
        {"participant": "anna", "signature": None},
        {"participant": "bert", "signature": of_anna},
        {"PROLIFIC_PID": "anna"},
        {"participant": "anna", "signature": "\u00e9" * 32},
    ):
        refused = Visitor(signed, **who)
        assert (refused.opened.status_code, refused.payload["reason"]) == (403, "unsigned")
        assert refused.payload["text"]
    assert Visitor(signed, participant="anna", signature=of_anna).opened.status_code == 201


def test_the_command_prints_links_that_open_the_study(study_folder: Path) -> None:
    path = study_folder / "study.toml"
    (study_folder / "ids.txt").write_text("P 01\n\nM\u00fcller\n")
    line = "gardenpath links ids.txt study.toml --address https://lab.example/reading/"
    refused = run_here(line, study_folder)
    assert (refused.code, "online.signed_links is false" in refused.said) == (2, True)
    path.write_text(path.read_text().replace("[online]", "[online]\nsigned_links = true"))
    ran = run_here(line, study_folder)
    assert ran.code == 0, ran.said
    heading, first, second = ran.printed.splitlines()
    assert heading == "participant,link"
    key = bytes.fromhex((study_folder / "data" / "participant.key").read_text())
    for printed, id, written in ((first, "P 01", "P+01"), (second, "M\u00fcller", "M%C3%BCller")):
        asked = f"participant={written}&signature={compute_signature(id, key)}"
        assert printed == f"{id},https://lab.example/reading/?{asked}"
