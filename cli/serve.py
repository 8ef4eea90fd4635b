"""gardenpath serve: run a study online."""

import contextlib
from pathlib import Path

import click

from . import options


@click.command("serve")
@options.study_file
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option("--database", metavar="URL", help="Database [default: SQLite at data/study.sqlite beside STUDY.toml].")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Folder of the data [default: data/ beside STUDY.toml]."
)
def command(study_file: Path, host: str, port: int, database: str | None, out: Path | None) -> None:
    """Serve STUDY.toml to participants until interrupted; the data are in the database at every moment."""
    from gardenpath import experiment, study

    for module in ("starlette", "uvicorn", "sqlalchemy", "jsonschema"):
        study.require(module, "online")
    from gardenpath.experiment import server, store

    stated = study.load(study_file)
    versions = experiment.version_files(stated)
    folder = out or stated.folder / "data"
    listener = server.listen(host, port)
    address = f"http://{host}:{listener.getsockname()[1]}/"
    opened = server.open_store(stated, versions, database or store.sqlite_url(folder / "study.sqlite"))
    key = server.participant_key(folder / "participant.key")
    app = server.application(opened, stated, key=key)
    click.echo(f"{stated.name}: {len(versions)} versions")
    click.echo(f"  for participants  {address}")
    click.echo(f"  for Prolific      {address}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}")
    options.talk(f"data: {database or folder / 'study.sqlite'}; stop with Ctrl-C")
    with contextlib.suppress(KeyboardInterrupt):
        server.run(app, listener)
    begun, finished = opened.counts()
    options.talk(f"stopped; {finished} of {begun} sessions are complete, in {database or folder / 'study.sqlite'}")
