"""gardenpath forget: delete a participant's data, or the platform's ids after payment."""

from pathlib import Path

import click

from . import options


@click.command("forget")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@options.study_file
@click.option("--payments", is_flag=True, help="Delete every platform's id, once everybody is paid.")
@options.database
@options.data_folder
def command(ids: tuple[str, ...], study_file: Path, payments: bool, database: str | None, out: Path | None) -> None:
    """Delete all that is stored of the participants ID, as the platform names them, or as the tables do.

    What stays is a keyed hash by which they are not let in again. Tables that were made before still hold their data.
    """
    from gardenpath import study

    if not ids and not payments:
        raise click.UsageError("nothing to forget: expected an ID before STUDY.toml, or --payments")
    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment.server import routes
    from gardenpath.experiment.server.store import Store
    from gardenpath.experiment.sessions import pseudonyms

    config = study.load(study_file)
    folder = out or config.folder / "data"
    key = routes.load_existing_key(folder / "participant.key")
    store = Store(database or f"sqlite:///{folder / 'study.sqlite'}", create=False)
    for participant_id in ids:
        try:
            number = store.forget_participant(pseudonyms.hash_participant(participant_id, key), participant_id)
        except KeyError as error:
            raise ValueError(
                f"{participant_id}: {error.args[0]}; expected an id of the platform, or of the table 'sessions'"
            ) from None
        click.echo(f"{participant_id}: {options.format_count(number, 'session')} deleted; tables made before still hold them")
    if payments:
        click.echo(f"{options.format_count(store.forget_payments(), 'payment')} deleted")
    store.scrubber.stop()
