"""gardenpath links: a signed link for each participant with an id of one's own."""

import csv
import sys
from pathlib import Path
from urllib.parse import urlencode

import click

from . import options


@click.command("links")
@click.argument("ids", type=click.Path(path_type=Path))
@options.study_file
@click.option(
    "--address", metavar="URL", required=True, help="What participants type, such as https://lab.example/study/."
)
@click.option(
    "--database",
    metavar="URL",
    envvar="GARDENPATH_DATABASE",
    help="Database, also from GARDENPATH_DATABASE [default: SQLite at data/study.sqlite beside STUDY.toml].",
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Folder of the data [default: data/ beside STUDY.toml]."
)
def command(ids: Path, study_file: Path, address: str, database: str | None, out: Path | None) -> None:
    """Print a signed link for each id of the file IDS, one a line, as CSV (online.signed_links)."""
    from gardenpath import study

    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment import recruitment
    from gardenpath.experiment.server import routes
    from gardenpath.experiment.server.database import sqlite_url

    plan = study.load(study_file)
    if not plan.served.signed_links:
        raise ValueError(
            f"{study_file}: online.signed_links is false, so no signature would be asked for; set it to true"
        )
    people = [line.strip() for line in study.files.read_text(ids).splitlines() if line.strip()]
    if not people:
        raise ValueError(f"{ids}: holds no ids; expected one a line")
    folder = out or plan.folder / "data"
    key = routes.key_of(database or sqlite_url(folder / "study.sqlite"), folder / "participant.key")
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(["participant", "link"])
    for id in people:
        asked = urlencode({"participant": id, "signature": recruitment.signature(id, key)})
        lines.writerow([id, f"{address.rstrip('/')}/?{asked}"])
