"""What `collect` and the dashboard's download cost a large study: python benchmarks/collect_study.py [--sessions 1000]

A study of some 1,200 events a session is simulated a few times a list, and the runs are copied under other names into a SQLite
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
from gardenpath.experiment.sessions.session_folders import read_recorded_sessions

EXAMPLE_FOLDER = Path(__file__).parents[1] / "examples" / "minimal-pairs"
MAX_MEMORY_MB, MAX_MICROSECONDS = 1000, 20  # MB, microseconds an event


def build_database(folder: Path, sessions: int) -> tuple[str, int]:
    """Return the URL of a database of so many sessions, and how many events it has."""
    study_path = Path(shutil.copytree(EXAMPLE_FOLDER, folder / "study")) / "study.toml"
    text = study_path.read_text("utf-8").replace("experiments = 3", "experiments = 1").replace("items = 9", "items = 6")
    study_path.write_text(text, "utf-8")
    list_files = experiment.build_list_files(study.load(study_path))
    experiment.simulate(list_files, folder / "runs", participants=3 * len(list_files), seed=1)
    url = database.build_sqlite_url(folder / "study.sqlite")
    store = Store(url)
    store.publish_lists(list_files)
    events = 0
    with store.database.begin_writing() as connection:
        for session, event_rows in build_rows(folder / "runs", sessions):
            connection.execute(database.SESSIONS.insert(), session)
            connection.execute(database.EVENTS.insert(), event_rows)
            events += len(event_rows)
    store.database.engine.dispose()
    return url, events


def build_rows(runs: Path, sessions: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield rows of the tables sessions and events."""
    simulated = [
        (asdict(record.session), [{**vars(event), "value": database.format_canonical_json(event.value)} for event in record.events])
        for record in read_recorded_sessions(runs)
    ]
    for n, (session, events) in enumerate(islice(cycle(simulated), sessions)):
        name = f"s-{n:016x}"
        server_columns = {"token": name, "resume": name, "ordinal": 0, "platform": "link", "seen": session["finished"], "visits": 1}
        copied_columns = {"id": name, "participant": f"{n:016x}", "slot": n, "order": json.dumps(session["order"])}
        yield {**session, **server_columns, **copied_columns}, [{"session": name, **event} for event in events]


def measure_command(label: str, arguments: list[str], stdin_text: str, events: int) -> bool:
    """Run a command, print what it cost, and return whether that is within the goal."""
    with subprocess.Popen([sys.executable, "-m", *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(stdin_text.encode())
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, label
    seconds = usage.ru_utime + usage.ru_stime
    micros, memory = 1e6 * seconds / events, usage.ru_maxrss / 1000
    print(f"{label:28} {seconds:7.1f} CPU-s  {micros:5.1f} us an event  {memory:7.0f} MB at most")
    return memory < MAX_MEMORY_MB and micros <= MAX_MICROSECONDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--folder", help="where the database and the tables lie; a temporary folder when left out")
    parser.add_argument("--parquet", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder, multiprocessing.Pool(1) as pool:
        url, events = pool.apply(build_database, (Path(folder), arguments.sessions))  # what made it is not in our own memory
        print(f"{arguments.sessions} sessions, {events} events")
        out = [*(["--parquet"] if arguments.parquet else []), "-o", f"{folder}/tables"]
        goals_met = [
            measure_command("collect", ["gardenpath.cli.main", "collect", url, *out], "", events),
            *(
                measure_command(
                    f"download of {kind}", ["gardenpath.experiment.server.download", kind, f"{folder}/{kind}.zip"], url, events
                )
                for kind in ("tables", "events")
            ),
        ]
    print(f"goal: under {MAX_MEMORY_MB} MB and {MAX_MICROSECONDS} us an event: {'met' if all(goals_met) else 'MISSED'}")


if __name__ == "__main__":
    main()
