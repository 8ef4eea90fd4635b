"""CPU-seconds and memory of the commands for which people wait: python benchmarks/commands.py [FOLDER]

demo     align, analyse and report on the demo (made by `gardenpath demo` in FOLDER/demo where it is not there)
nl       analyse and align on a study of BLiMP-NL's size: 84 paradigms of 9 items, 90 participants, 22,680 ratings, 267,420 words
         read, of which align models 196,520
blimp    check on 67,000 generated pairs
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

EXAMPLE_FOLDER = Path(__file__).parents[1] / "examples" / "minimal-pairs"
ALIGN_TABLES = ["align*", "lag_profile", "collinearity", "surprisal_effects", "held_out_clusters", "delta_*", "rating_correlations"]
EXAMPLE_COPIES = 7  # of the example's 12 paradigms


def measure_command(folder: Path, *arguments: str) -> tuple[float, float]:
    """Return CPU-seconds and peak memory (MB) of a command of its own process."""
    call = [sys.executable, "-m", "gardenpath.cli.main", *arguments]
    with subprocess.Popen(call, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # check ends with 1 where it finds faults
        raise SystemExit(f"{' '.join(call)}: exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def print_fastest_run(name: str, folder: Path, *arguments: str, times: int, removed: Sequence[str] = ()) -> None:
    """Print the least of several runs; `removed` are results that are removed first."""
    runs = []
    for _ in range(times):
        for pattern in removed:
            for path in folder.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        runs.append(measure_command(folder, *arguments))
    seconds, memory = min(runs)
    print(f"{name:8} gardenpath {' '.join(arguments):75} {seconds:6.1f} CPU-s {memory:6.0f} MB", flush=True)


def demo(folder: Path, times: int) -> None:
    """Time what comes after the demo's sessions."""
    if not (folder / "demo").exists():
        measure_command(folder, "demo")
    study_folder, out = folder / "demo", ("--study", "study.toml", "-o", "results")
    print_fastest_run(
        "demo",
        study_folder,
        "align",
        "tables",
        "scores",
        *out,
        times=times,
        removed=[f"results/{name}.csv*" for name in ALIGN_TABLES],
    )
    print_fastest_run("demo", study_folder, "report", "study.toml", "-o", "report.html", "--force", times=times)
    print_fastest_run(
        "demo", study_folder, "analyse", "tables", "--study", "study.toml", "-o", "again", times=times, removed=["again"]
    )


def nl(folder: Path, times: int) -> None:
    """Time a study of the example's kind, seven times as large."""
    study_folder = folder / "nl"
    if not study_folder.exists():
        study_folder.mkdir(parents=True)
        with (EXAMPLE_FOLDER / "items.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with (study_folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            for k in range(EXAMPLE_COPIES):
                suffixes = dict.fromkeys(("paradigm", "item"), f"_{k}") | {"phenomenon": f"_{k // 2}"}
                for row in rows:
                    changed = {name: row[name] + suffix for name, suffix in suffixes.items()}
                    new_sentence = row["sentence"].rstrip(".") + f"{k}."  # nobody may read a sentence twice
                    writer.writerow(row | changed | {"sentence": new_sentence})
        shutil.copy(EXAMPLE_FOLDER / "study.toml", study_folder)
        measure_command(study_folder, "design", "study.toml")
        measure_command(study_folder, "simulate", "study.toml", "--participants", "90", "--seed", "1", "-o", "data")
        measure_command(study_folder, "collect", "data", "-o", "tables")
    if not (study_folder / "scores").exists():
        measure_command(study_folder, "score", "items.csv", "--model", "pocket", "-o", "scores")
    for arguments in (["analyse", "tables"], ["align", "tables", "scores"]):
        out = f"{arguments[0]}-results"  # each into a folder of its own, so that align finds no ratings to correlate
        print_fastest_run("nl", study_folder, *arguments, "--study", "study.toml", "-o", out, times=times, removed=[out])


def blimp(folder: Path, times: int) -> None:
    """Time the checks of BLiMP's 67 paradigms of 1,000 pairs."""
    if not (folder / "blimp.jsonl").exists():
        measure_command(folder, "generate", "en/blimp.toml", "-n", "1000", "--seed", "1", "-o", "blimp.jsonl")
    print_fastest_run("blimp", folder, "check", "blimp.jsonl", times=times)


def main() -> None:
    """Print a line a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/commands"))
    parser.add_argument("--only", choices=["demo", "nl", "blimp"])
    parser.add_argument("--times", type=int, default=3, help="runs of each, of which the least is printed")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(time.strftime("%Y-%m-%d"), f"{os.cpu_count()} CPUs, Python {sys.version.split()[0]}")
    for part in (demo, nl, blimp):
        if arguments.only in (None, part.__name__):
            part(arguments.folder.resolve(), arguments.times)


if __name__ == "__main__":
    main()
