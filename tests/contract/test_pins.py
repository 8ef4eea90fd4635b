"""Names, table schemas, help texts and a seeded study's tables are pinned: a change of a contract is seen in the diff.

`make pins` writes the pins anew.
"""

import hashlib
import importlib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gardenpath import analysis, experiment, study
from gardenpath.analysis.model_results import join_results
from gardenpath.cli.main import COMMANDS, cli

ROOT = Path(__file__).parents[2]
PINS = Path(__file__).parent / "pins"
SUBCOMMANDS = [["prolific", "sync"], *(["sweep", name] for name in ("prepare", "run", "status", "merge"))]


def hold(path: Path, now: str, update: bool) -> None:
    """Compare with the pinned text, or write it."""
    if update:
        path.write_text(now)
    assert path.read_text() == now, f"{path.relative_to(ROOT)} no longer holds; if the change is meant, run  make pins"


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-pins"))


def test_public_names(update: bool) -> None:
    packages = ("study", "stimuli", "experiment", "lmscore", "analysis")
    lines = [
        f"gardenpath.{package}.{name}"
        for package in packages
        for name in sorted(importlib.import_module(f"gardenpath.{package}").__all__)
    ]
    hold(PINS / "names.txt", "\n".join(lines) + "\n", update)


def test_table_schemas(update: bool) -> None:
    lines = []
    for table in study.TABLES.values():
        lines += [f"{table.name}: {table.row}; key {', '.join(table.key)}"]
        lines += [
            f"  {c.name} {c.type}{'?' if c.may_be_empty else ''} {c.meaning}" for c in (*table.columns, *table.dynamic_columns)
        ]
    hold(PINS / "tables.txt", "\n".join(lines) + "\n", update)


def test_help_texts_are_the_documentation_of_the_commands(update: bool) -> None:
    pages = ["# The commands\n\nWhat `gardenpath COMMAND --help` prints; a test keeps this page true.\n"]
    for words in [[], *([name] for name in COMMANDS), *SUBCOMMANDS]:
        said = CliRunner().invoke(cli, [*words, "--help"], prog_name="gardenpath", terminal_width=100)
        assert said.exit_code == 0, said.output
        pages.append(f"## {' '.join(['gardenpath', *words])}\n\n```text\n{said.output.rstrip()}\n```\n")
    hold(ROOT / "docs" / "commands.md", "\n".join(pages), update)


@pytest.mark.parametrize("words", [*([name] for name in COMMANDS), *SUBCOMMANDS], ids=" ".join)
def test_every_option_has_a_help_text(words: list[str]) -> None:
    command: click.Command | None = cli
    for name in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    assert command.help
    for option in command.params:
        assert not isinstance(option, click.Option) or option.help or option.hidden, f"{words} {option.name}"


def test_the_tables_of_a_seeded_study(list_files: list[experiment.ListFile], tmp_path: Path, update: bool) -> None:
    """Collected tables to the byte; results to six digits, since they come from an optimizer."""
    experiment.simulate(list_files, tmp_path / "data", participants=12, seed=1)
    tables = experiment.collect(tmp_path / "data")
    lines = []
    for name, table in tables.items():
        written = study.write(table, name, tmp_path, command="pin").read_bytes()
        lines.append(f"{name} {len(table)} rows sha256 {hashlib.sha256(written).hexdigest()}")
    results = analysis.analyse({name: tables[name] for name in ("readings", "responses", "sessions", "items")})
    for name in ("exclusions", "condition_means"):
        lines += [f"{name}:", results[name].to_csv(index=False, float_format="%.6g", lineterminator="\n").rstrip()]
    effects = join_results(results).query("unit == 'phenomenon'")[["model", "response", "term", "estimate", "se", "singular"]]
    lines += ["effects:", effects.to_csv(index=False, float_format="%.5g", lineterminator="\n").rstrip()]
    hold(PINS / "study.txt", "\n".join(lines) + "\n", update)
