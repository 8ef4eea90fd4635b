"""Benchmarks that are a row a seed: what the file has is not computed again, and a call that is cut short goes on."""

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

Row = dict[str, object]


def run_seeds(
    about: str | None,
    columns: Sequence[str],
    responses: Iterable[str],
    run: Callable[[str, int], Row],
    describe: Callable[[pd.DataFrame], str],
    *,
    seeds: int,
) -> None:
    """Add the rows of the seeds that are not in the file yet, each as soon as it is there; then print what was found."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("response", nargs="?", choices=[*responses])
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.response and not arguments.summary:
        there = read_rows(arguments.out, columns)
        done = {*there.loc[there["response"] == arguments.response, "seed"]}
        with arguments.out.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns)
            if arguments.out.stat().st_size == 0:
                writer.writeheader()
            for seed in (one for one in range(1, arguments.seeds + 1) if one not in done):
                writer.writerow(run(arguments.response, seed))
                file.flush()
                if seed % 20 == 0:
                    print(f"{arguments.response}: {seed} of {arguments.seeds}", file=sys.stderr)
    for response, rows in read_rows(arguments.out, columns).groupby("response", sort=False):
        print(f"{response}: {describe(rows)}")


def read_rows(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows that are there."""
    is_there = path.exists() and path.stat().st_size > 0
    return pd.read_csv(path) if is_there else pd.DataFrame(columns=list(columns))
