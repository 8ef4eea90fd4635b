"""Two hundred robots (twenty without --full) on a bad line, and servers that are killed under them: what is stored is what they did."""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.store import Store

from .conftest import new_database

AT_ONCE, KILLS = 16, 4
Json = dict[str, Any]


class Server:
    """`gardenpath serve` as a process of its own, on a port that stays the same."""

    def __init__(self, folder: Path, url: str) -> None:
        with routes.bind_socket("127.0.0.1", 0) as free:
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(folder / "study.toml")]
        self.words = [*command, "--port", str(self.port), "--database", url]

    def begin(self) -> None:
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def wait(self) -> None:
        assert self.process.stdout is not None
        assert any("dashboard" in line for line in iter(self.process.stdout.readline, ""))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def killed_now_and_then(folder: Path, url: str, processes: int, robots: int, finished: list[str]) -> Iterator[list[int]]:
    """Servers of one study, of which one is killed and begun again each time another fifth of the robots have finished; gives
    their ports. All begin at once.
    """
    servers, over = [Server(folder, url) for _ in range(processes)], threading.Event()
    for server in servers:
        server.begin()
    for server in servers:
        server.wait()

    def kill() -> None:
        for n in range(1, KILLS + 1):
            while len(finished) < n * robots / (KILLS + 1) and not over.wait(0.02):
                pass
            servers[n % processes].kill()
            servers[n % processes].begin()
            servers[n % processes].wait()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield [server.port for server in servers]
    finally:
        over.set()
        killer.join()
        for server in servers:
            server.kill()


class Lost(Exception):
    """No answer came."""


class BadLine:
    """A connection on which requests, answers or both get lost, come twice, or fail; each request goes to any of the servers."""

    def __init__(self, ports: list[int], chance: random.Random) -> None:
        self.clients = [httpx2.Client(base_url=f"http://127.0.0.1:{port}/", timeout=30) for port in ports]
        self.chance = chance

    def call(self, method: str, path: str, body: Json, token: str = "") -> httpx2.Response:
        """Call until an answer comes that is none of a broken server."""
        patience = time.monotonic() + 120
        while True:
            try:
                answer = self._once(method, path, body, token)
            except (Lost, httpx2.NetworkError, httpx2.TimeoutException, httpx2.RemoteProtocolError):
                time.sleep(self.chance.random() * 0.05)
                assert time.monotonic() < patience, "the server does not come back"
                continue
            if answer.status_code < 500:
                return answer

    def _once(self, method: str, path: str, body: Json, token: str) -> httpx2.Response:
        what = self.chance.random()
        if what < 0.08:
            raise Lost  # on the way there
        time.sleep(0.02 * self.chance.random() if what < 0.2 else 0)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = self.chance.choice(self.clients).request(method, path, json=body, headers=headers)
        if 0.2 < what < 0.28:
            raise Lost  # on the way back
        if 0.28 < what < 0.36:
            answer = self.chance.choice(self.clients).request(method, path, json=body, headers=headers)
        return answer


def take(machine: experiment.Robot, ports: list[int], name: str) -> list[Json]:
    """Take a session over a bad line as the page does, with reloads, and return what was done."""
    chance = random.Random(f"faults-{name}")
    line = BadLine(ports, chance)
    who = {"participant": name, "tab": f"tab-{name}"}
    payload = line.call("POST", "api/sessions", who).json()
    path, token = f"api/sessions/{payload['session']}", payload["token"]
    done = list(machine.simulate_events(payload, name))
    waiting: list[list[Json]] = []
    batch: list[Json] = []
    for n, event in enumerate(done):
        batch.append(event)
        if event["kind"] in ("done", "end"):
            waiting.append(batch)
            batch = []
            chance.shuffle(waiting)
            while waiting and chance.random() < 0.8:
                stored = line.call("PUT", f"{path}/events", {"events": waiting.pop()}, token)
                assert stored.status_code == 200, stored.text
            if chance.random() < 0.05:
                again = line.call("POST", "api/sessions", who).json()
                assert again["session"] == payload["session"]
                for later in done[n + 1 :]:
                    later["visit"] = again["visit"]
    while True:
        answer = line.call("POST", f"{path}/complete", {"events": len(done)}, token)
        if answer.status_code == 200:
            assert answer.json()["code"] == "GARDEN-PATH-1"
            return done
        missing = set(answer.json()["missing"])
        assert missing == {event["seq"] for events in waiting for event in events}
        line.call("PUT", f"{path}/events", {"events": [done[seq] for seq in missing]}, token)
        waiting = []


def as_bytes(events: list[Json]) -> bytes:
    return "\n".join(json.dumps(event, sort_keys=True, ensure_ascii=False) for event in events).encode()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "processes"), [("sqlite", 1), ("postgresql", 2)])
def test_what_is_stored_is_what_the_robots_did_byte_for_byte(
    study_folder: Path, tmp_path: Path, request: pytest.FixtureRequest, kind: str, processes: int, full: bool
) -> None:
    """With two processes every request goes to either, which is more than a proxy asks of them."""
    robots, database_url = 200 if full else 20, new_database(kind, tmp_path, request)
    path = study_folder / "study.toml"
    path.write_text(path.read_text().replace("items = 9", "items = 3"))
    machine = experiment.create_robot(experiment.build_list_files(study.load(path)), seed=7)
    finished: list[str] = []
    done: dict[str, list[Json]] = {}

    def robot(number: int) -> None:
        done[f"robot-{number}"] = take(machine, ports, f"robot-{number}")
        finished.append(f"robot-{number}")

    with killed_now_and_then(study_folder, database_url, processes, robots, finished) as ports, ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(robot, range(robots)))
    key = routes.load_existing_key(study_folder / "data" / "participant.key")
    store = Store(database_url, create=False)
    records = {record.session.participant: record for record in store.read_recorded_sessions()}
    assert len(records) == len(done) == robots
    for name, events in done.items():
        record = records[routes.hash_participant(name, key)]
        assert record.session.finished is not None
        assert as_bytes([vars(event) for event in record.events]) == as_bytes(events)
    assert {payment["status"] for payment in store.list_payments()} == {"completed"}
    reloaded = sum(any(event["visit"] != events[0]["visit"] for event in events) for events in done.values())
    assert reloaded > robots / 4
    store.database.engine.dispose()
