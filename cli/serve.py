"""gardenpath serve: run a study online."""

import contextlib
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment.server.database import Database
    from gardenpath.experiment.server.study_identity import Decision
    from gardenpath.study import Study

MIN_PASSWORD_LENGTH = 12
PROLIFIC_QUERY = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@click.command("serve")
@options.study_file
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one.")
@options.database
@options.data_folder
@click.option("--address", metavar="URL", help="What participants type, where a proxy stands before the server.")
@click.option("--trust-proxy", metavar="IP", help="Believe X-Forwarded-Proto and X-Forwarded-For of the proxy at this address.")
@click.option("--kiosk", is_flag=True, help="In the lab: everybody begins with a code, and nothing of them stays in the browser.")
@click.option(
    "--kiosk-seconds",
    default=60,
    show_default=True,
    type=click.IntRange(15, 3600),
    help="So long the last page of a kiosk's session stands.",
)
@click.option(
    "--study-id",
    type=click.Choice(["keep", "new"]),
    help="Of a copied folder: the same study as the one it was copied from, or a new one; asked for where it is not stated.",
)
def command(
    study_file: Path,
    host: str,
    port: int,
    database: str | None,
    out: Path | None,
    address: str | None,
    trust_proxy: str | None,
    kiosk: bool,
    kiosk_seconds: int,
    study_id: "Decision | None",
) -> None:
    """Serve STUDY.toml to participants until interrupted; the data are in the database at every moment."""
    from gardenpath import experiment, study

    for module in ("starlette", "uvicorn", "sqlalchemy"):
        study.errors.require(module, "online")
    from gardenpath.experiment.server import routes
    from gardenpath.experiment.server.database import Database, build_sqlite_url
    from gardenpath.experiment.server.migrations import upgrade_database
    from gardenpath.experiment.sessions import recruitment

    config = study.load(study_file)
    public_address = urlsplit(address or "")
    if address and (
        public_address.scheme not in ("http", "https")
        or not public_address.hostname
        or public_address.query
        or public_address.fragment
    ):
        raise click.UsageError(f"--address is {address!r}; expected one such as https://lab.example/study/")
    routes.check_online_study(config)
    list_files = experiment.build_list_files(config)
    folder = out or config.folder / "data"
    listener = routes.bind_socket(host, port)
    url = database or build_sqlite_url(folder / "study.sqlite")
    if backup := upgrade_database(url, folder):
        options.print_notice(f"the database was of an earlier gardenpath and is upgraded; as it was it lies in {backup}")
    _claim_database(Database(url), config, study_id)
    key = routes.find_participant_key(url, folder / "participant.key")
    store = routes.open_store(config, list_files, url)
    password = routes.load_secret(folder / "dashboard.password", lambda: secrets.token_urlsafe(12))
    if len(password) < MIN_PASSWORD_LENGTH:
        raise study.DataError(
            f"{folder / 'dashboard.password'}: the password has {len(password)} characters; expected {MIN_PASSWORD_LENGTH} or "
            "more, since only its length keeps guessers out; delete the file for a new one"
        )
    site = routes.SiteSettings(
        public_address.path, trust_proxy is not None, password, kiosk_seconds=kiosk_seconds if kiosk else None
    )
    app = routes.create_application(store, config, key=key, site=site)
    shown_address = f"{address.rstrip('/')}/" if address else f"http://{host}:{listener.getsockname()[1]}/"
    preview = urlencode({"preview": list_files[0].name, "trial": 0, "key": routes.compute_preview_key(key)})
    click.echo(f"{config.name}: {len(list_files)} lists")
    if kiosk:
        click.echo(f"  for the kiosk     {shown_address}")
        click.echo(f"  full screen       chromium --kiosk --incognito {shown_address}")
    else:
        click.echo(f"  for participants  {shown_address}")
        if config.required_online.signed_links:
            click.echo(f"  for your own ids  gardenpath links IDS {study_file} --address {shown_address}")
        else:
            click.echo(f"  for Prolific      {shown_address}?{PROLIFIC_QUERY}")
            click.echo(f"  for SONA          {shown_address}?survey_code=%SURVEY_CODE%")
            click.echo(f"  for your own ids  {shown_address}?participant=ID")
    click.echo(f"  to look at        {shown_address}?{preview}")
    click.echo(f"  dashboard         {shown_address}dashboard  (its password is in {folder / 'dashboard.password'})")
    if not address and not kiosk:
        options.print_notice(
            "these links are for this machine alone, for trying the study; for participants put a proxy with HTTPS before the "
            "server, and give --address and --trust-proxy (docs/online.md)"
        )
    if code_warning := recruitment.describe_placeholder_code(config):
        options.print_notice(code_warning)
    location = "the database given" if database else folder / "study.sqlite"
    options.print_notice(f"data: {location}; stop with Ctrl-C")
    with contextlib.suppress(KeyboardInterrupt):
        routes.run_server(app, listener, proxy=trust_proxy)
    begun_count, finished_count = store.count_sessions()
    options.print_notice(f"stopped; {finished_count} of {begun_count} sessions are complete, in {location}")


def _claim_database(database: "Database", config: "Study", decision: "Decision | None") -> None:
    """Make sure that the database is this study's; of a copied folder ask whose it is where somebody sits at the terminal."""
    from gardenpath.experiment.server.study_identity import CopiedStudy, claim_database

    try:
        claim_database(database, config, decision)
    except CopiedStudy as error:
        if not sys.stdin.isatty():
            raise
        options.print_notice(str(error))
        answer: Decision = click.prompt("Same study (keep), or a new one (new)?", type=click.Choice(["keep", "new"]))
        claim_database(database, config, answer)
    finally:
        database.engine.dispose()
