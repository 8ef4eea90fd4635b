"""How fast the server answers at 500 live sessions, beside a bare application: python benchmarks/server_load.py [--seconds 20]

Each session sends the events of a trial every eight seconds and a heartbeat every thirty, as the page does; the latencies are
those of the clients. The bare application is ASGI alone: it writes the same rows to the same tables of a SQLite file of its own, a
transaction a request, each on the disk before it answers, and checks nothing. The two, each in a process of its own and on the disk
of --folder, take turns, so that whatever else the machine does slows both; the goal is a ratio of their 99th percentiles. Then 32
clients send without a pause, which gives the most requests a second.

With --processes N only that is measured, of N server processes on one database: SQLite's file, or PostgreSQL by
--database postgresql://user@host/name.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn

from gardenpath import experiment, study
from gardenpath.experiment.server import database

GOAL_RATIO = 3.0  # times the bare application's 99th percentile
TURNS = 4
TRIAL_SECONDS, HEARTBEAT_SECONDS = 8.0, 30.0  # s
EXAMPLE_FOLDER = Path(__file__).parents[1] / "examples" / "minimal-pairs"
Json = dict[str, Any]


class Client:
    """One connection that is kept, as a browser keeps it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None
        self.used = 0.0
        self.session: Json = {}
        self.batches: list[list[Json]] = []  # the next one last

    async def send_request(self, method: str, path: str, body: Json) -> tuple[float, Json]:
        """Return the seconds until the answer was there, and the answer."""
        # The server closes connections that are idle for five seconds; a browser opens another then.
        if self.reader is None or time.perf_counter() - self.used > 3:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        raw = json.dumps(body).encode()
        head = f"{method} /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(raw)}\r\n"
        token = f"Authorization: Bearer {self.session['token']}\r\n" if self.session else ""
        start = time.perf_counter()
        self.writer.write(f"{head}{token}\r\n".encode() + raw)
        response_head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        response = json.loads(await self.reader.readexactly(int(response_head.partition("content-length: ")[2].split()[0])))
        self.used = time.perf_counter()
        duration = self.used - start
        assert response_head.split()[1] in ("200", "201"), (response_head, response)
        return duration, response

    async def open_session(self, robot: experiment.Robot, name: str, trials: int) -> float:
        """Open a session and prepare what will be sent, a trial at a time."""
        duration, self.session = await self.send_request("POST", "api/sessions", {"participant": name})
        batch: list[Json] = []
        for event in robot.simulate_events(self.session, name):
            batch.append(event)
            if event["kind"] == "done":
                self.batches.append(batch)
                batch = []
            if len(self.batches) == trials:
                break
        self.batches.reverse()
        return duration

    def copy_to_port(self, port: int) -> "Client":
        """Return a client that sends the same to another server."""
        other = Client(port)
        other.session, other.batches = self.session, self.batches[:]
        return other

    async def send_events(self) -> float:
        """Send the events of the next trial."""
        path = f"api/sessions/{self.session['session']}/events"
        return (await self.send_request("PUT", path, {"events": self.batches.pop()}))[0]

    async def send_heartbeat(self) -> float:
        """Send a heartbeat."""
        return (await self.send_request("POST", f"api/sessions/{self.session['session']}/heartbeat", {}))[0]

    async def imitate_page(self, end: float, times: list[float]) -> None:
        """Behave as the page does until `end`."""
        await asyncio.sleep(random.random() * TRIAL_SECONDS)
        next_heartbeat = time.perf_counter() + random.random() * HEARTBEAT_SECONDS
        while time.perf_counter() < end and self.batches:
            times.append(await self.send_events())
            if time.perf_counter() > next_heartbeat:
                times.append(await self.send_heartbeat())
                next_heartbeat += HEARTBEAT_SECONDS
            await asyncio.sleep(TRIAL_SECONDS * (0.5 + random.random()))

    async def send_continuously(self, end: float, times: list[float]) -> None:
        """Send without a pause until `end`."""
        while time.perf_counter() < end and self.batches:
            times.append(await self.send_events())


async def measure_servers(servers: dict[str, tuple[int, int]], robot: experiment.Robot, sessions: int, seconds: float) -> float:
    """Print what was measured of servers, by their ports and processes; return the ratio of the 99th percentiles."""
    gardenpath_clients = [Client(servers["gardenpath"][0]) for _ in range(sessions)]
    arrivals = []
    for n, client in enumerate(gardenpath_clients):
        arrivals.append(await client.open_session(robot, f"load-{n}", 10 + round(2 * seconds / TRIAL_SECONDS)))
    print_latencies("arrivals, one after the other", arrivals, sum(arrivals))
    bare_clients = [client.copy_to_port(servers["bare"][0]) for client in gardenpath_clients]
    await bare_clients[0].send_request("POST", "sessions", {})
    times: dict[str, list[float]] = {"gardenpath": [], "bare": []}
    before = {name: read_cpu_seconds(process) for name, (_, process) in servers.items()}
    for turn in range(TURNS):
        for name, clients in (("gardenpath", gardenpath_clients), ("bare", bare_clients)):
            end = time.perf_counter() + seconds / TURNS
            await asyncio.gather(*(client.imitate_page(end, times[name]) for client in clients))
        print(f"turn {turn + 1} of {TURNS}; {os.getloadavg()[0]:.1f} processes wanted to run, on {os.cpu_count()} cores")
    for name, (_, process) in servers.items():
        used = 1000 * (read_cpu_seconds(process) - before[name]) / len(times[name])
        print(f"{name + ', computing':34} {used:.2f} CPU-ms a request")
    percentiles_99 = {
        name: print_latencies(f"{sessions} live sessions, {name}", durations, seconds) for name, durations in times.items()
    }
    for name, clients in (("gardenpath", gardenpath_clients), ("bare", bare_clients)):
        continuous_times: list[float] = []
        start = time.perf_counter()
        await asyncio.gather(*(client.send_continuously(start + 5, continuous_times) for client in clients[:32]))
        print_latencies(f"32 without a pause, {name}", continuous_times, time.perf_counter() - start)
    return percentiles_99["gardenpath"] / percentiles_99["bare"]


async def measure_throughput(servers: list[tuple[int, int]], robot: experiment.Robot, seconds: float) -> None:
    """Print how many requests a second servers of one study answer, each to as many of 32 clients."""
    clients = [Client(servers[n % len(servers)][0]) for n in range(32)]
    for n, client in enumerate(clients):
        await client.open_session(robot, f"load-{n}", 400)
    before = sum(read_cpu_seconds(process) for _, process in servers)
    times: list[float] = []
    start = time.perf_counter()
    await asyncio.gather(*(client.send_continuously(start + seconds, times) for client in clients))
    print_latencies(f"32 without a pause, {len(servers)} server(s)", times, time.perf_counter() - start)
    used = 1000 * (sum(read_cpu_seconds(process) for _, process in servers) - before) / len(times)
    print(f"{'computing':34} {used:.2f} CPU-ms a request, {os.getloadavg()[0]:.1f} processes wanted to run")


@contextmanager
def serve_study(arguments: list[str]) -> Iterator[tuple[int, int]]:
    """Serve a study from a process of its own; give its port and its process."""
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield (next(int(line.rpartition(":")[2].strip("/\n")) for line in server.stdout if "participants" in line), server.pid)
        finally:
            server.terminate()


def read_cpu_seconds(process: int) -> float:
    """Return the seconds that a process has computed (Linux)."""
    cells = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")


class BareApplication:
    """An ASGI application that writes what it is sent to the tables of a study, and nothing else."""

    def __init__(self, path: str, study: str) -> None:
        self.study = study
        self.database, self.lock = (sqlite3.connect(path, check_same_thread=False, isolation_level=None), threading.Lock())
        self.database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON")

    def write_events(self, session: str, events: list[Json]) -> None:
        rows = [(session, *list(event.values())[:-1], json.dumps(event["value"])) for event in events]
        with self.lock:
            self.database.execute("BEGIN IMMEDIATE")
            self.database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            seen = datetime.now(UTC).isoformat(timespec="milliseconds")
            self.database.execute("UPDATE sessions SET seen = ? WHERE id = ?", (seen, session))
            self.database.execute("COMMIT")

    async def __call__(self, scope: Json, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message["body"], message.get("more_body", False)
        if scope["path"] == "/sessions":  # the same ones, with which it begins
            self.database.execute("ATTACH ? AS study", (self.study,))
            self.database.execute("INSERT INTO sessions SELECT * FROM study.sessions")
        else:
            await asyncio.to_thread(self.write_events, scope["path"].split("/")[3], json.loads(raw).get("events", []))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})


@contextmanager
def serve_bare_application(path: Path, study: Path) -> Iterator[tuple[int, int]]:
    """Serve the bare application from a process of its own; give its port and its process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        process = multiprocessing.get_context("fork").Process(target=run_bare_application, args=(path, study, listener))
        process.start()
        assert process.pid is not None
        yield listener.getsockname()[1], process.pid
        process.terminate()
        process.join()


def run_bare_application(path: Path, study: Path, listener: socket.socket) -> None:
    uvicorn.Server(
        uvicorn.Config(BareApplication(str(path), str(study)), access_log=False, log_level="warning", lifespan="off")
    ).run(sockets=[listener])


def print_latencies(label: str, times: list[float], seconds: float) -> float:
    """Print rate and latencies; return the 99th percentile."""
    percentile_99 = statistics.quantiles(times, n=100)[98]
    print(
        f"{label:34} {len(times):6} requests {len(times) / seconds:7.1f} /s   median {1000 * statistics.median(times):7.1f} ms   "
        f"99th percentile {1000 * percentile_99:7.1f} ms"
    )
    return percentile_99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--folder", help="where the database lies; a temporary folder when left out")
    parser.add_argument("--processes", type=int, help="measure so many server processes on one database")
    parser.add_argument("--database", default="", help="with --processes: PostgreSQL, by its address")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary_folder:
        folder = Path(shutil.copytree(EXAMPLE_FOLDER, Path(temporary_folder) / "study"))
        robot = experiment.create_robot(experiment.build_list_files(study.load(folder)), seed=1)
        database.Database(database.build_sqlite_url(Path(temporary_folder) / "bare.sqlite")).engine.dispose()  # the same tables
        call = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(folder / "study.toml"), "--port", "0"]
        if arguments.processes:
            call += ["--database", arguments.database] if arguments.database else []
            with ExitStack() as stack:
                servers = [stack.enter_context(serve_study(call)) for _ in range(arguments.processes)]
                asyncio.run(measure_throughput(servers, robot, arguments.seconds))
            return
        with (
            serve_bare_application(Path(temporary_folder) / "bare.sqlite", folder / "data" / "study.sqlite") as bare,
            serve_study(call) as study_server,
        ):
            ratio = asyncio.run(
                measure_servers({"gardenpath": study_server, "bare": bare}, robot, arguments.sessions, arguments.seconds)
            )
    print(
        f"goal: 99th percentile at most {GOAL_RATIO:g} times the bare application's at {arguments.sessions} live sessions: "
        f"{ratio:.2f}, {'met' if ratio <= GOAL_RATIO else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
