"""Small studies of one task each, taken by robots in this process."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from gardenpath import experiment, study

STUDY = """
name = "small"
language = "{language}"
seed = 1
[materials]
files = ["items.csv"]
[design]
ratio = {{ grammatical = 1, ungrammatical = 1 }}
lists = 2
{design}
{procedure}
"""
HEADER = "paradigm,phenomenon,item,condition,sentence,alternatives,question,answer\n"
PAIRS = [("grammatical", "is"), ("ungrammatical", "are")]


def sentences(items: int = 4) -> str:
    """Minimal pairs of ten words with alternatives and a question."""
    beside = "x-x-x upon when sue thirds nor {} beg hi lace."
    return HEADER + "".join(
        f"p,f,i{n},{condition},The key near number {n} by door [{verb}] very old.,"
        f"{beside.format('hers')},Was it key {n}?,{'yes' if n % 2 else 'no'}\n"
        for n in range(items)
        for condition, verb in PAIRS
    )


def stated(folder: Path, procedure: str, *, design: str = "", items: str | None = None, language: str = "en") -> study.Study:
    """Write a study of these tasks and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.csv").write_text(sentences() if items is None else items)
    path = folder / "study.toml"
    path.write_text(STUDY.format(procedure=procedure, design=design, language=language))
    return study.load(path)


def tables(
    made: study.Study, *, participants: int = 2, seed: int = 1, effects: experiment.Effects | None = None
) -> dict[str, pd.DataFrame]:
    """Let robots take a study and return its tables."""
    folder = made.folder / "data"
    list_files = experiment.build_list_files(made)
    experiment.simulate(list_files, folder, participants=participants, seed=seed, effects=effects, replace=True)
    return experiment.collect(folder)


def events(made: study.Study) -> list[dict[str, Any]]:
    """Return the events of all sessions that robots have taken."""
    paths = sorted((made.folder / "data").rglob("events.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def trial_screens(made: study.Study, role: str = "target") -> list[tuple[Mapping[str, Any], ...]]:
    """Return the screens of each trial of a role in the first list, as a list file holds them."""
    file = experiment.build_list_files(made)[0]
    steps = file.script.trials
    return [
        steps[n].screens  # type: ignore[misc]
        for n, trial in enumerate(file.trial_list.trials)
        if trial.role == role
    ]
