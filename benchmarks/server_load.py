"""How fast the server answers at 500 live sessions, on SQLite: python benchmarks/server_load.py [--seconds 20]

Each session sends the events of a trial every eight seconds and a heartbeat every thirty, as the page does; the latencies are
those of the clients. Then 32 clients send without a pause, which gives the most requests a second. The server is `gardenpath
serve` in a process of its own, on the disk of --folder.
"""

import argparse
import asyncio
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gardenpath import experiment, study

GOAL = 0.1  # s, 99th percentile
TRIAL, HEARTBEAT = 8.0, 30.0  # s
EXAMPLE = Path(__file__).parents[1] / "examples" / "minimal-pairs"
Json = dict[str, Any]


class Client:
    """One connection that is kept, as a browser keeps it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None
        self.used = 0.0
        self.session: Json = {}
        self.batches: list[list[Json]] = []

    async def call(self, method: str, path: str, body: Json) -> tuple[float, Json]:
        """Return the seconds until the answer was there, and the answer."""
        # The server closes connections that are idle for five seconds; a browser opens another then.
        if self.reader is None or time.perf_counter() - self.used > 3:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        raw = json.dumps(body).encode()
        head = f"{method} /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(raw)}\r\n"
        token = f"Authorization: Bearer {self.session['token']}\r\n" if self.session else ""
        begun = time.perf_counter()
        self.writer.write(f"{head}{token}\r\n".encode() + raw)
        said = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        answer = json.loads(await self.reader.readexactly(int(said.partition("content-length: ")[2].split()[0])))
        self.used = time.perf_counter()
        took = self.used - begun
        assert said.split()[1] in ("200", "201"), (said, answer)
        return took, answer

    async def open(self, machine: experiment.Robot, name: str) -> float:
        """Open a session and prepare what will be sent, a trial at a time."""
        took, self.session = await self.call("POST", "api/sessions", {"participant": name})
        batch: list[Json] = []
        for event in machine.events(self.session, name):
            batch.append(event)
            if event["kind"] == "trial_end":
                self.batches.append(batch)
                batch = []
        self.batches.reverse()
        return took

    async def send(self) -> float:
        """Send the events of the next trial."""
        path = f"api/sessions/{self.session['session']}/events"
        return (await self.call("PUT", path, {"events": self.batches.pop()}))[0]

    async def beat(self) -> float:
        """Send a heartbeat."""
        return (await self.call("POST", f"api/sessions/{self.session['session']}/heartbeat", {}))[0]

    async def live(self, end: float, times: list[float]) -> None:
        """Behave as the page does until `end`."""
        await asyncio.sleep(random.random() * TRIAL)
        beat = time.perf_counter() + random.random() * HEARTBEAT
        while time.perf_counter() < end and self.batches:
            times.append(await self.send())
            if time.perf_counter() > beat:
                times.append(await self.beat())
                beat += HEARTBEAT
            await asyncio.sleep(TRIAL * (0.5 + random.random()))

    async def hurry(self, end: float, times: list[float]) -> None:
        """Send without a pause until `end`."""
        while time.perf_counter() < end and self.batches:
            times.append(await self.send())


async def measure(port: int, machine: experiment.Robot, sessions: int, seconds: float) -> bool:
    clients = [Client(port) for _ in range(sessions)]
    arrivals = []
    for n, client in enumerate(clients):
        arrivals.append(await client.open(machine, f"load-{n}"))
    told("arrivals, one after the other", arrivals, sum(arrivals))
    times: list[float] = []
    begun = time.perf_counter()
    await asyncio.gather(*(client.live(begun + seconds, times) for client in clients))
    high = told(f"{sessions} live sessions", times, seconds)
    most: list[float] = []
    begun = time.perf_counter()
    await asyncio.gather(*(client.hurry(begun + 5, most) for client in clients[:32]))
    told("32 clients without a pause", most, time.perf_counter() - begun)
    return high < GOAL


def told(what: str, times: list[float], seconds: float) -> float:
    """Print rate and latencies; return the 99th percentile."""
    high = statistics.quantiles(times, n=100)[98]
    print(
        f"{what:32} {len(times):6} requests {len(times) / seconds:7.1f} /s   median {1000 * statistics.median(times):7.1f} ms   "
        f"99th percentile {1000 * high:7.1f} ms"
    )
    return high


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, default=500)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--folder", help="where the database lies; a temporary folder when left out")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        folder = Path(shutil.copytree(EXAMPLE, Path(place) / "study"))
        machine = experiment.robot(experiment.version_files(study.load(folder)), seed=1)
        call = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(folder / "study.toml"), "--port", "0"]
        with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                port = next(
                    int(line.rpartition(":")[2].strip("/\n")) for line in server.stdout if "participants" in line
                )
                met = asyncio.run(measure(port, machine, given.sessions, given.seconds))
            finally:
                server.terminate()
    print(
        f"goal: 99th percentile under {1000 * GOAL:.0f} ms at {given.sessions} live sessions: {'met' if met else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
