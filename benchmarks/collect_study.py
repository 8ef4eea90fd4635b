"""What `collect` and the dashboard's download cost a large study: python benchmarks/collect_study.py [--sessions 1000]

A study of some 1,200 events a session is simulated a few times a version, and the runs are copied under other names into a SQLite
database of --folder. Each command is then a process of its own, of which CPU time an event and the most memory are printed.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from gardenpath import experiment, study
from gardenpath.experiment.server import database
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.session_folders import read_records

EXAMPLE = Path(__file__).parents[1] / "examples" / "minimal-pairs"
MEMORY, TIME = 1000, 20  # MB, microseconds an event


def made(folder: Path, sessions: int) -> tuple[str, int]:
    """Return the URL of a database of so many sessions, and how many events it has."""
    plan = Path(shutil.copytree(EXAMPLE, folder / "study")) / "study.toml"
    text = plan.read_text("utf-8").replace("experiments = 3", "experiments = 1").replace("items = 9", "items = 6")
    plan.write_text(text, "utf-8")
    versions = experiment.version_files(study.load(plan))
    experiment.simulate(versions, folder / "runs", participants=3 * len(versions), seed=1)
    url = database.sqlite_url(folder / "study.sqlite")
    store = Store(url)
    store.publish(versions)
    events = 0
    with store.database.writing() as connection:
        for session, own in rows(folder / "runs", sessions):
            connection.execute(database.SESSIONS.insert(), session)
            connection.execute(database.EVENTS.insert(), own)
            events += len(own)
    store.database.engine.dispose()
    return url, events


def rows(runs: Path, sessions: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield rows of the tables sessions and events."""
    simulated = [
        (asdict(record.session), [{**vars(event), "value": database.canonical(event.value)} for event in record.events])
        for record in read_records(runs)
    ]
    for n, (session, events) in enumerate(islice(cycle(simulated), sessions)):
        name = f"s-{n:016x}"
        server = {
            "token": name,
            "resume": name,
            "ordinal": 0,
            "platform": "link",
            "seen": session["finished"],
            "visits": 1,
        }
        own = {"id": name, "participant": f"{n:016x}", "slot": n, "order": json.dumps(session["order"])}
        yield {**session, **server, **own}, [{"session": name, **event} for event in events]


def measured(what: str, words: list[str], said: str, events: int) -> bool:
    """Run a command, print what it cost, and return whether that is within the goal."""
    with subprocess.Popen([sys.executable, "-m", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(said.encode())
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, what
    seconds = used.ru_utime + used.ru_stime
    micros, memory = 1e6 * seconds / events, used.ru_maxrss / 1000
    print(f"{what:28} {seconds:7.1f} CPU-s  {micros:5.1f} us an event  {memory:7.0f} MB at most")
    return memory < MEMORY and micros <= TIME


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, default=1000)
    options.add_argument("--folder", help="where the database and the tables lie; a temporary folder when left out")
    options.add_argument("--parquet", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place, multiprocessing.Pool(1) as apart:
        url, events = apart.apply(made, (Path(place), given.sessions))  # what made it is not in our own memory
        print(f"{given.sessions} sessions, {events} events")
        out = [*(["--parquet"] if given.parquet else []), "-o", f"{place}/tables"]
        met = [
            measured("collect", ["gardenpath.cli.main", "collect", url, *out], "", events),
            *(
                measured(
                    f"download of {kind}",
                    ["gardenpath.experiment.server.download", kind, f"{place}/{kind}.zip"],
                    url,
                    events,
                )
                for kind in ("tables", "events")
            ),
        ]
    print(f"goal: under {MEMORY} MB and {TIME} us an event: {'met' if all(met) else 'MISSED'}")


if __name__ == "__main__":
    main()
