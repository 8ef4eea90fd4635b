"""The API answers as docs/api.md says, over real HTTP."""

import contextlib
import json
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import is_disk_full
from gardenpath.experiment.sessions.sessions import Session

from .conftest import BOTH, ROBOT_KEY, Running, new_database, serve
from .made_events import outcome, word
from .pages import FAST, served, stated


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


@pytest.fixture
def client(running: Running) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=running.address) as client:
        yield client


def opened(client: httpx2.Client, participant: str | None = None) -> tuple[str, dict[str, str], dict[str, object]]:
    tab = None if participant is None else f"tab-of-{participant}"
    payload = client.post("api/sessions", json={"participant": participant, "tab": tab}).json()
    return f"api/sessions/{payload['session']}", {"Authorization": f"Bearer {payload['token']}"}, payload


def end(seq: int, t: float = 1.0) -> dict[str, object]:
    return {"seq": seq, "visit": 0, "t": t, "kind": "end", "step": None, "screen": None, "value": {}}


def test_robots_take_sessions_and_all_their_events_are_stored(running: Running, list_files: list[experiment.ListFile]) -> None:
    robot = experiment.create_robot(list_files, seed=1)
    transport = experiment.HttpTransport(running.address, ROBOT_KEY)
    assert experiment.run_robot_session(robot, transport, "r1") == "GARDEN-PATH-1"
    payload = running.store.read_recorded_sessions().__next__()
    session = payload.session
    expected = list(robot.simulate_events(_payload(list_files, session), "r1"))
    assert [vars(event) for event in payload.events] == expected


def _payload(list_files: list[experiment.ListFile], session: Session) -> dict[str, object]:
    from gardenpath.experiment.sessions.sessions import build_payload, replay_session_events

    file = next(file for file in list_files if file.name == session.list_name)
    return build_payload(session, file, replay_session_events(session, file), token="", visit=0, next_seq=0)


def test_arrivals_at_once_are_dealt_evenly_with_slots_of_their_own(running: Running) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: httpx2.post(f"{running.address}api/sessions", json={}).raise_for_status(), range(36)))
    sessions = [record.session for record in running.store.read_recorded_sessions()]
    assert Counter(session.list_name for session in sessions) == {f"E{e}-L{v}": 4 for e in (1, 2, 3) for v in (1, 2, 3)}
    assert len({(session.list_name, session.slot) for session in sessions}) == 36
    assert len({session.order for session in sessions}) == 36


def test_sending_twice_is_harmless_and_changing_is_refused(client: httpx2.Client) -> None:
    path, token, _ = opened(client)
    for _ in range(2):
        assert client.put(f"{path}/events", json={"events": [end(0), end(1)]}, headers=token).json() == {
            "stored": 2,
            "rejected": [],
        }
    changed = client.put(f"{path}/events", json={"events": [end(1, t=2.0)]}, headers=token)
    assert (changed.status_code, changed.json()["error"]) == (
        409,
        "event 1 is stored already and differs; events are never changed",
    )


def test_the_code_comes_once_every_event_is_stored_and_every_trial_has_ended(
    client: httpx2.Client, list_files: list[experiment.ListFile]
) -> None:
    path, token, payload = opened(client)
    events = list(experiment.create_robot(list_files, seed=1).simulate_events(payload, "r"))
    held = [event for event in events if event["seq"] not in (1, 30)]
    client.put(f"{path}/events", json={"events": held}, headers=token)
    early = client.post(f"{path}/complete", json={"events": len(events)}, headers=token)
    assert (early.status_code, early.json()["missing"]) == (409, [1, 30])
    client.put(f"{path}/events", json={"events": events}, headers=token)
    done = client.post(f"{path}/complete", json={"events": len(events)}, headers=token)
    assert done.json() == {"code": "GARDEN-PATH-1", "url": None, "rejected": []}


def test_who_had_begun_to_see_timed_words_is_not_shown_them_again(tmp_path: Path) -> None:
    with served(tmp_path, stated(tasks=FAST, show="fast")) as site, httpx2.Client(base_url=site.address) as client:
        path, token, payload = opened(client, "anna")
        events = list(experiment.create_robot(site.list_files, seed=1).simulate_events(payload, "anna"))
        shown = next(event for event in events if event["value"].get("word") == 1)
        client.put(f"{path}/events", json={"events": events[: shown["seq"] + 1]}, headers=token)
        _, _, again = opened(client, "anna")
    assert (payload["outcomes"], again["outcomes"]) == ({}, {"0": "interrupted"})
    assert again["done"] == list(range(shown["step"]))


def test_nobody_gets_the_code_without_reading(client: httpx2.Client) -> None:
    path, token, _ = opened(client)
    client.put(f"{path}/events", json={"events": [end(0)]}, headers=token)
    answer = client.post(f"{path}/complete", json={"events": 1}, headers=token)
    assert answer.status_code == 409
    assert answer.json()["error"] == "the session is at step 0 (device); the code comes at the end"


def test_what_the_script_does_not_know_is_stored_apart_and_named(client: httpx2.Client) -> None:
    path, token, _ = opened(client)
    read, rating = word(0, 3.0, 5, 0), "an answer of 99 to acceptability; expected a whole number from 1 to 7"
    for seq, (event, reason) in enumerate(
        (
            (outcome(0, 3.0, 5, 1, "answered", 99), rating),  # the first trial's rating
            (outcome(0, 3.0, 500, 0, "answered", 1), "step 500; expected one from 0 to 45"),
            (outcome(0, 3.0, 5, 9, "answered", 1), "screen 9; expected one from 0 to 1"),
            (outcome(0, 3.0, 5, 1, "right", 1), "the outcome 'right' of a screen of kind answers; expected answered"),
            (word(0, 3.0, 5, 999), "word 999; expected one from -1 to"),
            (replace(read, screen=1), "a word on a screen of kind answers"),
            (replace(read, t=float("inf")), "t: Input should be a finite number"),
            (replace(read, value={**read.value, "first": -1.7e308}), "a number of its value is over 1000000000000000"),
            (replace(read, value={**read.value, "sentence": 1}), "value/sentence: Extra inputs are not permitted"),
        )
    ):
        sent = json.dumps({"events": [{**vars(event), "seq": seq}]}).replace("Infinity", "1e999")
        for _ in range(2):  # again is harmless
            said = client.put(f"{path}/events", content=sent, headers=token)
            assert said.status_code == 200
            assert said.json()["stored"] == seq + 1
            (named,) = said.json()["rejected"]
            assert named["seq"] == seq
            assert named["reason"].startswith(reason)
    changed = client.put(f"{path}/events", json={"events": [vars(word(4, 3.0, 5, 998))]}, headers=token)
    assert (changed.status_code, "event 4 is stored already and differs" in changed.text) == (409, True)


def test_a_participant_who_comes_back_resumes_and_one_who_finished_is_refused(
    client: httpx2.Client, running: Running, list_files: list[experiment.ListFile]
) -> None:
    path, token, first = opened(client, "anna")
    client.put(f"{path}/events", json={"events": [end(0)]}, headers=token)
    _, _, again = opened(client, "anna")
    assert (again["session"], again["visit"], again["next_seq"]) == (first["session"], 1, 1)
    client.post(f"{path}/heartbeat", json={"leaving": True}, headers=token)
    experiment.run_robot_session(
        experiment.create_robot(list_files, seed=1), experiment.HttpTransport(running.address, ROBOT_KEY), "anna"
    )
    again = client.post("api/sessions", json={"participant": "anna"})
    assert (again.status_code, again.json()["reason"], again.json()["code"]) == (409, "finished", "GARDEN-PATH-1")


BROKEN = {
    "no token": ("PUT", "events", {}, b'{"events": []}', 401),
    "another token": ("PUT", "events", {"Authorization": "Bearer x"}, b'{"events": []}', 401),
    "not JSON": ("PUT", "events", None, b"{", 400),
    "not UTF-8": ("PUT", "events", None, b'{"events": "\xff"}', 400),
    "not an object": ("PUT", "events", None, b"[]", 400),
    "not a list": ("PUT", "events", None, b'{"events": 3}', 400),
    "too large": ("PUT", "events", None, b" " * 1_000_001, 413),
    "no number": ("POST", "complete", None, b'{"events": "all"}', 400),
    "true is no number": ("POST", "complete", None, b'{"events": true}', 400),
}


@pytest.mark.parametrize(("method", "call", "headers", "body", "status"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_request_gets_one_sentence(
    client: httpx2.Client, method: str, call: str, headers: dict[str, str] | None, body: bytes, status: int
) -> None:
    path, token, _ = opened(client)
    answer = client.request(method, f"{path}/{call}", content=body, headers=token if headers is None else headers)
    assert answer.status_code == status
    assert "\n" not in answer.json()["error"]


def test_an_address_that_is_none_is_answered_in_the_same_form(client: httpx2.Client) -> None:
    answer = client.get("api/nope")
    assert (answer.status_code, "error" in answer.json()) == (404, True)


def test_an_unknown_session_is_not_found(client: httpx2.Client) -> None:
    answer = client.put("api/sessions/none/events", json={"events": []}, headers={"Authorization": "Bearer x"})
    assert answer.status_code == 404


def test_every_answer_forbids_foreign_scripts_and_isolates_the_page(client: httpx2.Client) -> None:
    headers = client.get("api/nothing").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port} on 127.0.0.1: .* give another with --port"):
            routes.bind_socket("127.0.0.1", port)


def test_a_class_behind_one_address_gets_in(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    for running in serve(example, list_files[:1], tmp_path, site=routes.SiteSettings(is_behind_proxy=True)):
        with httpx2.Client(base_url=running.address) as client:
            said = [client.post("api/sessions", json={"participant": f"p{n}"}).status_code for n in range(100)]
    assert said == [201] * 100


def test_a_full_disk_is_called_that_and_the_page_may_try_again(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path
) -> None:
    def fill(connection: sa.Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")

    for running in serve(example, list_files[:1], tmp_path):
        sa.event.listen(running.store.database.engine, "begin", fill)
        answers = [httpx2.post(f"{running.address}api/sessions", json={}) for _ in range(40)]
    full = next(answer for answer in answers if answer.status_code != 201)
    assert (full.status_code, full.json()["error"].partition(";")[0]) == (503, "the disk of the server is full")
    assert "retry-after" in full.headers


def test_postgresqls_full_disk_is_known_too() -> None:
    psycopg = pytest.importorskip("psycopg")
    assert is_disk_full(sa.exc.OperationalError("INSERT", {}, psycopg.errors.DiskFull()))
    assert not is_disk_full(sa.exc.OperationalError("INSERT", {}, psycopg.errors.SerializationFailure()))


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "GET / HT",
        "POST /dashboard/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\np=",
        "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ],
)
def test_a_connection_that_sends_no_whole_request_is_dropped(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, sent: str, caplog: pytest.LogCaptureFixture
) -> None:
    for running in serve(example, list_files[:1], tmp_path, site=routes.SiteSettings(password="x" * 12), patience=0.3):
        port = int(running.address.rsplit(":", 1)[1].rstrip("/"))
        with socket.create_connection(("127.0.0.1", port), timeout=20) as slow, httpx2.Client() as quick:
            slow.sendall(sent.encode())
            assert quick.get(running.address).status_code == 200
            with contextlib.suppress(ConnectionResetError):
                assert slow.recv(1000) == b""
            assert quick.get(running.address).status_code == 200, "who is quick is not dropped"
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
