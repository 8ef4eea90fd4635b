"""gardenpath forget: delete a participant's data, or the platform's ids after payment."""

from pathlib import Path

import click

from . import options


@click.command("forget")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@options.study_file
@click.option("--payments", is_flag=True, help="Delete every platform's id, once everybody is paid.")
@options.database
@options.data
def command(ids: tuple[str, ...], study_file: Path, payments: bool, database: str | None, out: Path | None) -> None:
    """Delete all that is stored of the participants ID, as the platform names them, or as the tables do.

    What stays is a keyed hash by which they are not let in again. Tables that were made before still hold their data.
    """
    from gardenpath import study

    if not ids and not payments:
        raise click.UsageError("nothing to forget: expected an ID before STUDY.toml, or --payments")
    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment import pseudonyms
    from gardenpath.experiment.server import routes
    from gardenpath.experiment.server.store import Store

    plan = study.load(study_file)
    folder = out or plan.folder / "data"
    key = routes.known_key(folder / "participant.key")
    opened = Store(database or f"sqlite:///{folder / 'study.sqlite'}", create=False)
    for id in ids:
        try:
            number = opened.forget(pseudonyms.hash_participant(id, key), id)
        except KeyError as error:
            raise ValueError(
                f"{id}: {error.args[0]}; expected an id of the platform, or of the table 'sessions'"
            ) from None
        click.echo(f"{id}: {options.count(number, 'session')} deleted; tables made before still hold them")
    if payments:
        click.echo(f"{options.count(opened.forget_payments(), 'payment')} deleted")
    opened.scrubber.stop()
