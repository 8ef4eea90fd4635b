"""docs/papers.md names commands, tables, functions and keys that are there, for as many results as the papers have."""

import re
import shlex
from dataclasses import fields

import click
import pytest

from gardenpath import analysis, study
from gardenpath.cli.main import cli

from ..conftest import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text("utf-8")
ROWS = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| where")]
CODE = [code for *_, by in ROWS for code in re.findall(r"`([^`]+)`", by)]


def test_every_result_has_a_row() -> None:
    sections = [part.count("\n| ") - 1 for part in PAGE.split("\n## ")[1:]]
    assert sections == [29, 14, 13, 12]


@pytest.mark.parametrize("line", sorted({code for code in CODE if code.startswith("gardenpath ")}))
def test_a_command_of_the_page_is_one(line: str) -> None:
    name, *words = shlex.split(line)[1:]
    group = click.Context(cli, **cli.context_settings)
    command = cli.get_command(group, name)
    assert command is not None
    with click.Context(command, parent=group, resilient_parsing=True) as context:
        _, rest, _ = command.make_parser(context).parse_args(words)
    assert not [word for word in rest if word.startswith("-")]


@pytest.mark.parametrize("by", sorted({by for *_, by in ROWS}))
def test_a_table_of_the_page_is_one(by: str) -> None:
    for named in re.findall(r"tables? ((?:`\w+`(?:, | and )?)+)", by):
        assert set(re.findall(r"`(\w+)`", named)) <= set(study.TABLES)


def test_functions_and_keys_of_the_page_are_there() -> None:
    keys = {field.name for field in fields(study.AnalysisSection)}
    for code in CODE:
        if match := re.match(r"analysis\.(\w+)", code):
            assert match[1] in keys or hasattr(analysis, match[1]), code
