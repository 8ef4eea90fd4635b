"""gardenpath new: begin a study."""

import shlex
from pathlib import Path

import click

from . import options


def list_study_kinds() -> list[str]:
    """Return the kinds of studies that can be begun."""
    from gardenpath.experiment.setup import new_studies

    return new_studies.list_study_kinds()


@click.command("new")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--kind", type=options.LazyChoice(list_study_kinds), required=True, help="What participants do.")
@click.option(
    "--language", metavar="TAG", help="What they read, as in de or zh (BCP 47).  [default: that of the items of --items, else en]"
)
@click.option(
    "--items",
    "table",
    metavar="ITEMS",
    type=click.Path(path_type=Path),
    help="A table of items that is there already (.csv, .xlsx ...): it is copied, and study.toml is made for it.",
)
def command(folder: Path, kind: str, language: str | None, table: Path | None) -> None:
    """Begin a study in a new FOLDER: study.toml, a table of items to fill, and a README with the next commands.

    What is written can be dealt, looked at and simulated at once.
    """
    from gardenpath.experiment.setup import new_studies

    study_files = new_studies.create_study(folder, kind, language=language, table=table)
    for path in study_files.paths:
        click.echo(path)
    for line in study_files.missing:
        options.print_notice(f"missing: {line}")
    options.print_notice(f"next:  cd {shlex.quote(str(folder))}  and  gardenpath design study.toml; README.md says what follows")
