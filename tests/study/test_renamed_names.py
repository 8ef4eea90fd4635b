"""A study, a file or a command line in the words of before gets one message with the new ones; every row of renamed.csv holds."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
import pandas as pd
import pytest

from gardenpath import study
from gardenpath.cli.main import cli
from gardenpath.experiment.tasks import TASKS
from gardenpath.lmscore.sweeps.settings import Sweep
from gardenpath.stimuli.norming import NormingSettings, read_norming_settings
from gardenpath.stimuli.selection.settings import Division, Selection
from gardenpath.study import table_files
from gardenpath.study.mapping import ColumnMapping
from gardenpath.study.renamed_names import Renaming, describe_renamed_keys, read_renamings

from ..conftest import run_here

FILES: dict[str, list[type]] = {
    "study.toml": [study.Study],
    "norm.toml": [NormingSettings],
    "mapping": [ColumnMapping],
    "sweep.toml": [Sweep],
    "selection": [Selection, Division],
}
OLD = """name = "s"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
versions = 2
share = { comprehension = 0.5 }
[[design.attention]]
kind = "nonsense"
sentence = "Dog a."
responses = { rating = ["1"] }
[ordering]
fillers_between = 1
[procedure.tasks.fast]
kind = "rsvp"
word = 200
[analysis.exclude]
accuracy = 0.7
"""
NEW = [
    ("design.versions", "design.lists"),
    ("design.share", "design.task_shares"),
    ("design.attention.0.responses", "design.attention.0.expected_responses"),
    ("ordering.fillers_between", "ordering.min_fillers_between"),
    ("procedure.tasks.fast.word", "procedure.tasks.fast.word_duration"),
    ("analysis.exclude.accuracy", "analysis.exclude.min_accuracy"),
]


def test_an_old_study_gets_one_message_with_all_its_new_names(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(OLD)
    with pytest.raises(study.DataError) as error:
        study.load(path)
    assert {*error.value.faults} == {f"{path}: key {old!r} is now {new!r}" for old, new in NEW}
    assert run_here("gardenpath check study.toml", tmp_path).said.count("is now") == len(NEW)


def test_a_key_of_a_section_that_was_renamed_too_is_named_with_both_new_names() -> None:
    """`design.lists` was a table, which is `design.short_lists` now."""
    assert describe_renamed_keys({"design": {"lists": {"items": 4, "readers": 20}}}, "study.toml") == [
        "key 'design.lists' is now 'design.short_lists'",
        "key 'design.lists.items' is now 'design.short_lists.items_per_list'",
        "key 'design.lists.readers' is now 'design.short_lists.ratings_per_item'",
    ]


def test_renamed_it_is_a_study(tmp_path: Path) -> None:
    text = OLD
    for old, new in NEW:
        text = text.replace(f"\n{old.rsplit('.', 1)[1]} = ", f"\n{new.rsplit('.', 1)[1]} = ")
    (tmp_path / "study.toml").write_text(text)
    assert study.load(tmp_path).analysis.exclude.min_accuracy == 0.7


def test_other_files_name_their_new_keys_too(tmp_path: Path) -> None:
    path = tmp_path / "norm.toml"
    path.write_text('task = "cloze"\nper_item = 10\n')
    with pytest.raises(study.DataError, match="key 'per_item' is now 'responses_per_sentence'"):
        read_norming_settings(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("design study.toml --despite-errors", "--despite-errors is now --ignore-errors"),
        ("collect data --from jatos -o t", "--from is now --platform"),
        ("export study.toml --to jatos -o t", "--to is now --platform"),
        ("sweep plan sweep.toml", "sweep plan is now sweep prepare"),
    ],
)
def test_an_old_option_or_command_is_told_its_new_name(tmp_path: Path, line: str, said: str) -> None:
    done = run_here(f"gardenpath {line}", tmp_path)
    assert done.code == 2
    assert done.said.splitlines()[-1] == f"Error: {said}"


def list_keys(kind: Any, section: list[str]) -> set[str]:
    """The keys of a section of a file."""
    if not section:
        return {f.name for f in fields(kind)} if is_dataclass(kind) else set()
    hints = get_type_hints(kind, include_extras=False) if is_dataclass(kind) else {}
    found = set[str]()
    for name, hint in hints.items():
        if section[0] in (name, "*"):
            rest = section[2:] if section[1:2] == ["*"] else section[1:]
            for one in find_dataclasses(hint):
                found |= list_keys(one, rest)
    return found


def find_dataclasses(hint: Any) -> list[type]:
    own = [hint] if is_dataclass(hint) and isinstance(hint, type) else []
    return own + [one for part in get_args(hint) for one in find_dataclasses(part)]


def keys_of(renaming: Renaming) -> set[str]:
    file, _, section = renaming.where.partition(" ")
    parts = section.split(".") if section else []
    if parts[:2] == ["procedure", "tasks"]:
        kind = section.partition("[kind=")[2].rstrip("]")
        return {f.name for task in TASKS if kind in task.KINDS for f in fields(task.Settings)}
    parts = ["short_lists" if p == "lists" else "random_sample" if p == "drawn_at_random" else p for p in parts]
    return set[str]().union(*(list_keys(kind, parts) for kind in FILES[file]))


KEYS = [one for one in read_renamings("key") if one.where != "mapping columns"]  # names of our columns, not keys of a section


@pytest.mark.parametrize("renaming", KEYS, ids=lambda one: f"{one.where} {one.old}")
def test_a_renamed_key_is_there_under_its_new_name_alone(renaming: Renaming) -> None:
    known = keys_of(renaming)
    assert known
    if " " not in renaming.new:
        assert renaming.new in known
    reused = {(one.where, one.new) for one in read_renamings("key")}
    assert renaming.old not in known or (renaming.where, renaming.old) in reused


@pytest.mark.parametrize("renaming", read_renamings("option"), ids=lambda one: f"{one.where} {one.old}")
def test_a_renamed_option_is_there_under_its_new_name_alone(renaming: Renaming) -> None:
    command = cli.get_command(click.Context(cli), renaming.where)
    assert command is not None
    commands = [command, *(command.commands.values() if isinstance(command, click.Group) else [])]
    known = {name for one in commands for option in one.params for name in (*option.opts, *option.secondary_opts)}
    assert renaming.new in known
    assert renaming.old not in known


@pytest.mark.parametrize("renaming", read_renamings("column"), ids=lambda one: f"{one.where} {one.old}")
def test_a_renamed_column_is_there_under_its_new_name_alone(renaming: Renaming) -> None:
    table = study.TABLES[renaming.where]
    known = {*table.column_names, *(column.name for column in table.dynamic_columns)}
    assert renaming.new in known
    assert renaming.old not in known or renaming.old in {one.new for one in read_renamings("column")}


@pytest.mark.parametrize("renaming", read_renamings("table"), ids=lambda one: one.old)
def test_a_renamed_table_is_there_under_its_new_name_alone(renaming: Renaming) -> None:
    assert {*renaming.new_tables} <= {*study.TABLES}
    assert renaming.old not in study.TABLES


def test_results_of_before_are_told_the_tables_that_have_their_rows_now(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        'name = "s"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n[design]\nlists = 2\n'
    )
    (tmp_path / "results").mkdir()
    for name in ("phenomenon_models", "sensitivity"):
        (tmp_path / "results" / f"{name}.csv").write_text("phenomenon,measure,estimate\nnpi,z,0.5\n")
    with pytest.raises(study.DataError) as error:
        study.read(tmp_path / "results", "multiverse")
    place = tmp_path / "results" / "sensitivity.csv"
    again = "run  gardenpath multiverse  again"
    assert error.value.faults == [f"{place}: the table sensitivity is now multiverse, with a model_id; {again}"]
    done = run_here("gardenpath report study.toml -o report.html", tmp_path)
    assert done.code == 1
    assert "phenomenon_models is now effects and models, where unit is phenomenon; run  gardenpath analyse  again" in done.said
    assert "sensitivity is now multiverse" in done.said
    for name in ("effects", "models", "multiverse"):  # analysed again, into the same folder
        study.write(pd.DataFrame(columns=study.TABLES[name].column_names), name, tmp_path / "results", command="")
    assert {*table_files.find_tables(tmp_path)} == {"effects", "models", "multiverse"}


def test_a_table_of_before_is_told_its_new_names(tmp_path: Path) -> None:
    (tmp_path / "coverage.csv").write_text("experiment,paradigm,item,condition,planned,judgments\nE1,p,i1,a,2,1\n")
    with pytest.raises(study.DataError) as error:
        study.read(tmp_path, "judgment_counts")
    assert [fault.partition(": ")[2] for fault in error.value.faults] == [
        "the table coverage is now judgment_counts; name the file judgment_counts.csv"
    ]
    (tmp_path / "coverage.csv").rename(tmp_path / "judgment_counts.csv")
    with pytest.raises(study.DataError) as error:
        study.read(tmp_path, "judgment_counts")
    assert [fault.partition(": ")[2] for fault in error.value.faults] == [
        "column 'judgments' is now 'n_judgments'",
        "column 'planned' is now 'n_planned'",
    ]
