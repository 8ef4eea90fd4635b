"""gardenpath backup: copy a study's data while it runs, and restore them."""

from pathlib import Path

import click

from . import options


@click.command("backup")
@options.study_file
@click.option("--destination", type=click.Path(path_type=Path), help="New folder of the backup.")
@click.option("--restore", "backup", type=click.Path(path_type=Path), help="Backup to restore to an empty database.")
@options.database
@options.data_folder
def command(study_file: Path, destination: Path | None, backup: Path | None, database: str | None, out: Path | None) -> None:
    """Copy the data of STUDY.toml, with the key of ids, while the study runs; the copy is read back and compared.

    A backup is a folder of data: `gardenpath collect BACKUP` makes tables of it, `gardenpath serve STUDY.toml -o BACKUP` goes on
    with it. It holds platforms' ids and answers: keep it where the data may be kept.
    """
    from gardenpath import study

    if (destination is None) == (backup is None):
        raise click.UsageError("expected --destination FOLDER, or --restore FOLDER")
    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment.server import backup as backups

    folder = out or study.load(study_file).folder / "data"
    url, key = database or f"sqlite:///{folder / backups.DATABASE_FILENAME}", folder / backups.KEY_FILENAME
    if destination is not None:
        rows = backups.create_backup(url, key, destination)
        outcome, location = "backed up, and read back without a difference", destination
    else:
        assert backup is not None
        folder.mkdir(parents=True, exist_ok=True)
        rows = backups.restore_backup(backup, url, key)
        outcome, location = "restored", Path("the database given") if database else folder
    summary = f"{options.format_count(rows['sessions'], 'session')} with {options.format_count(rows['events'], 'event')}"
    click.echo(f"{location}: {summary} {outcome}")
