"""The API as it describes itself, fuzzed; and what hostile visitors send."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings

from gardenpath import experiment, study
from gardenpath.experiment.server import routes

from .conftest import BOTH, Running, new_database, serve
from .made_events import MACHINE
from .made_events import event as made_event

HOSTILE = (
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "'; DROP TABLE sessions; --",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "\ud800",
    "a\r\nSet-Cookie: x=1",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe",
    "x" * 5000,
)

JSON = {"content-type": "application/json"}


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


@pytest.fixture
def opened(running: Running) -> dict[str, Any]:
    payload: dict[str, Any] = httpx2.post(f"{running.address}api/sessions", json={}).json()
    return payload


@pytest.mark.slow
def test_no_request_that_the_description_suggests_breaks_the_server(running: Running, opened: dict[str, Any], full: bool) -> None:
    """Schemathesis makes requests, valid and not; every answer is one that the description has, and none is a failure."""
    schemathesis = pytest.importorskip("schemathesis", reason="the extra dev is not installed")
    address = running.address.rstrip("/")
    schema = schemathesis.openapi.from_url(f"{address}/api/openapi.json")
    seen: set[int] = set()
    for result in schema.get_all_operations():

        @given(case=result.ok().as_strategy())
        @settings(
            max_examples=40 if full else 20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
        )
        def answers(case: Any) -> None:
            if "session" in (case.path_parameters or {}):
                case.path_parameters["session"] = opened["session"]
                case.headers["Authorization"] = f"Bearer {opened['token']}"
            response = case.call(base_url=address)
            assert response.status_code < 500
            declared = case.operation.definition.raw["responses"]
            assert str(response.status_code) in declared
            seen.add(response.status_code)

        answers()
    assert {200, 201, 400} <= seen


def test_every_call_is_described_and_every_answer_fits(running: Running, opened: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    described = httpx2.get(f"{running.address}api/openapi.json").json()
    client = httpx2.Client(base_url=running.address)
    path = f"api/sessions/{opened['session']}"
    token = {"Authorization": f"Bearer {opened['token']}"}

    def fits(answer: httpx2.Response, call: str, method: str) -> None:
        said = described["paths"][call][method]["responses"][str(answer.status_code)]["content"]["application/json"]
        jsonschema.validate(answer.json(), {**said["schema"], "components": described["components"]})

    for tab in ("tab-of-anna", "tab-of-anna", None):  # new, the same again, and open in another tab
        fits(client.post("api/sessions", json={"participant": "anna", "tab": tab}), "/api/sessions", "post")
    fits(client.post("api/sessions", json={"preview": {"list_name": "E1-L1", "key": "x"}}), "/api/sessions", "post")
    fits(client.put(f"{path}/events", json={"events": []}, headers=token), "/api/sessions/{session}/events", "put")
    fits(client.put(f"{path}/events", json={"events": []}), "/api/sessions/{session}/events", "put")
    fits(client.post(f"{path}/heartbeat", json={}, headers=token), "/api/sessions/{session}/heartbeat", "post")
    fits(client.post(f"{path}/screener", json={"answers": {}}, headers=token), "/api/sessions/{session}/screener", "post")
    fits(client.post(f"{path}/complete", json={"events": 9}, headers=token), "/api/sessions/{session}/complete", "post")
    fits(client.get("health"), "/health", "get")
    fits(client.post(f"{path}/withdraw", json={}, headers=token), "/api/sessions/{session}/withdraw", "post")
    served = {
        "/api/openapi.json",
        "/health",
        "/api/sessions",
        *(f"/api/sessions/{{session}}/{call}" for call in ("events", "heartbeat", "screener", "complete", "withdraw")),
    }
    assert set(described["paths"]) == served


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused_or_stay_texts(running: Running, opened: dict[str, Any], text: str) -> None:
    body = {"participant": text}
    raw = json.dumps(body).encode()
    client = httpx2.Client(base_url=running.address)
    answers = [client.post("api/sessions", content=raw, headers=JSON)]
    for name in ("tab", "resume", "preview", "source"):
        answers.append(client.post("api/sessions", content=json.dumps({name: text}).encode(), headers=JSON))
    preview = {"preview": {"list_name": text, "trial": 0, "key": text}}
    answers.append(client.post("api/sessions", content=json.dumps(preview).encode(), headers=JSON))
    token = {"Authorization": f"Bearer {opened['token']}"}
    event = vars(made_event(0, 1.0, "visit", **{**MACHINE, "device": text}))
    answers.append(
        client.put(f"api/sessions/{opened['session']}/events", content=json.dumps({"events": [event]}).encode(), headers=token)
    )
    for answer in answers:
        assert answer.status_code in (200, 201, 400, 403), answer.text
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "path", ["../pyproject.toml", "..%2findex.html", "%2e%2e/store.py", "/etc/passwd", "a%00b", "%ff", "{{7*7}}"]
)
def test_no_path_leads_out_of_the_page(running: Running, path: str) -> None:
    import socket

    port = int(running.address.rsplit(":", 1)[1].rstrip("/"))
    for place in ("/static/", "/api/sessions/", "/dashboard/", "/"):
        with socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(f"GET {place}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: raw.recv(65536), b""))
        assert answer.split()[1] in (b"400", b"404", b"405"), answer[:200]


NUMBERS = {
    "seq": [10**30, 200_000, -1, 0.5],
    "visit": [10**30, 10_000],
    "step": [10**30, 100_000, 39_000],
    "t": [1e300, -1e300, 10**400],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in NUMBERS.items() for value in values])
def test_numbers_that_no_session_has_are_set_apart_and_what_has_no_number_is_refused(
    running: Running, opened: dict[str, Any], name: str, value: float
) -> None:
    event = {"seq": 0, "visit": 0, "t": 1.0, "kind": "begin", "step": 0, "screen": None, "value": {}, name: value}
    headers = {"Authorization": f"Bearer {opened['token']}"}
    path = f"{running.address}api/sessions/{opened['session']}/events"
    answer = httpx2.put(path, content=json.dumps({"events": [event]}), headers=headers)
    if name == "seq":
        assert answer.status_code == 400
    else:
        assert (answer.status_code, answer.json()["rejected"][0]["seq"]) == (200, 0)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused(running: Running, opened: dict[str, Any], number: str) -> None:
    event = '{"seq": 0, "visit": 0, "t": NUMBER, "kind": "end", "step": null, "screen": null, "value": {}}'
    raw = f'{{"events": [{event.replace("NUMBER", number)}]}}'
    headers = {"Authorization": f"Bearer {opened['token']}"}
    path = f"{running.address}api/sessions/{opened['session']}/events"
    assert httpx2.put(path, content=raw, headers=headers).status_code == 400


def test_a_value_of_any_size_is_cut_and_set_apart(running: Running, opened: dict[str, Any]) -> None:
    event = vars(made_event(0, 1.0, "visit", **{**MACHINE, "device": "y" * 20_001}))
    headers = {"Authorization": f"Bearer {opened['token']}"}
    answer = httpx2.put(f"{running.address}api/sessions/{opened['session']}/events", json={"events": [event]}, headers=headers)
    reason = "its value is over 20000 bytes"
    assert (answer.status_code, answer.json()["rejected"]) == (200, [{"seq": 0, "reason": reason}])
    record, _ = running.store.read_recorded_session(opened["session"])
    assert (record.rejected_events[0].reason, len(record.rejected_events[0].content)) == (reason, 2000)


def test_one_sessions_token_opens_no_other(running: Running, opened: dict[str, Any]) -> None:
    other = httpx2.post(f"{running.address}api/sessions", json={}).json()
    headers = {"Authorization": f"Bearer {opened['token']}"}
    for call, method in (("events", "PUT"), ("heartbeat", "POST"), ("complete", "POST"), ("withdraw", "POST")):
        body = {"events": 1} if call == "complete" else {"events": []}
        answer = httpx2.request(method, f"{running.address}api/sessions/{other['session']}/{call}", json=body, headers=headers)
        assert answer.status_code == 401
    assert len({opened["token"], other["token"], opened["session"], other["session"]}) == 4
    assert len(opened["token"]) >= 32


def test_the_page_and_not_the_visitor_is_told_the_list(running: Running, list_files: list[experiment.ListFile]) -> None:
    wanted = list_files[-1].name
    for body in ({"list_name": wanted}, {"preview": {"list_name": wanted, "trial": 0, "key": "0" * 32}}):
        httpx2.post(f"{running.address}api/sessions", json=body)
    assert wanted not in {record.session.list_name for record in running.store.read_recorded_sessions(previews=True)}


def test_who_asks_without_end_has_to_wait(example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    for running in serve(example, list_files, tmp_path, site=routes.SiteSettings(burst=5)):
        session = httpx2.post(f"{running.address}api/sessions", json={}).json()
        path = f"{running.address}api/sessions/{session['session']}/heartbeat"
        headers = {"Authorization": "Bearer guess"}
        answers = [httpx2.post(path, json={}, headers=headers) for _ in range(8)]
        assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 3
        assert int(answers[-1].headers["retry-after"]) in range(1, 12)


def test_arrivals_from_one_address_are_slowed_down_where_a_proxy_tells_them_apart(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path
) -> None:
    for running in serve(example, list_files, tmp_path, site=routes.SiteSettings(is_behind_proxy=True)):
        with httpx2.Client(base_url=running.address) as client:
            # A body that is none costs the server little and counts all the same; slow ones are given back meanwhile.
            answers = [client.post("api/sessions", content=b"{", headers=JSON).status_code]
            while answers[-1] == 400 and len(answers) < 5_000:
                answers.append(client.post("api/sessions", content=b"{", headers=JSON).status_code)
        assert len(answers) > 300
        assert answers[-1] == 429
