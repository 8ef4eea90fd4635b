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
@click.option("--address", metavar="URL", required=True, help="What participants type, such as https://lab.example/study/.")
@click.option(
    "--database",
    metavar="URL",
    envvar="GARDENPATH_DATABASE",
    help="Database, also from GARDENPATH_DATABASE [default: SQLite at data/study.sqlite beside STUDY.toml].",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder of the data [default: data/ beside STUDY.toml].")
def command(ids: Path, study_file: Path, address: str, database: str | None, out: Path | None) -> None:
    """Print a signed link for each id of the file IDS, one a line, as CSV (online.signed_links)."""
    from gardenpath import study

    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment.server import routes
    from gardenpath.experiment.server.database import build_sqlite_url
    from gardenpath.experiment.sessions import recruitment

    config = study.load(study_file)
    if not config.required_online.signed_links:
        raise ValueError(f"{study_file}: online.signed_links is false, so no signature would be asked for; set it to true")
    participant_ids = [line.strip() for line in study.files.read_text(ids).splitlines() if line.strip()]
    if not participant_ids:
        raise ValueError(f"{ids}: holds no ids; expected one a line")
    folder = out or config.folder / "data"
    key = routes.find_participant_key(database or build_sqlite_url(folder / "study.sqlite"), folder / "participant.key")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["participant", "link"])
    for participant_id in participant_ids:
        query = urlencode({"participant": participant_id, "signature": recruitment.compute_signature(participant_id, key)})
        writer.writerow([participant_id, f"{address.rstrip('/')}/?{query}"])
