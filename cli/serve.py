"""gardenpath serve: run a study online."""

import contextlib
import secrets
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import click

from . import options

SHORTEST_PASSWORD = 12
PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@click.command("serve")
@options.study_file
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@options.database
@options.data
@click.option("--address", metavar="URL", help="What participants type, where a proxy stands before the server.")
@click.option(
    "--trust-proxy", metavar="IP", help="Believe X-Forwarded-Proto and X-Forwarded-For of the proxy at this address."
)
@click.option(
    "--kiosk", is_flag=True, help="In the lab: everybody begins with a code, and nothing of them stays in the browser."
)
@click.option(
    "--kiosk-seconds",
    default=60,
    show_default=True,
    type=click.IntRange(15, 3600),
    help="So long the last page of a kiosk's session stands.",
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
) -> None:
    """Serve STUDY.toml to participants until interrupted; the data are in the database at every moment."""
    from gardenpath import experiment, study

    for module in ("starlette", "uvicorn", "sqlalchemy"):
        study.errors.require(module, "online")
    from gardenpath.experiment import recruitment
    from gardenpath.experiment.server import routes
    from gardenpath.experiment.server.database import sqlite_url

    plan = study.load(study_file)
    outer = urlsplit(address or "")
    if address and (outer.scheme not in ("http", "https") or not outer.hostname or outer.query or outer.fragment):
        raise click.UsageError(f"--address is {address!r}; expected one such as https://lab.example/study/")
    routes.check(plan)
    versions = experiment.version_files(plan)
    folder = out or plan.folder / "data"
    listener = routes.listen(host, port)
    url = database or sqlite_url(folder / "study.sqlite")
    key = routes.key_of(url, folder / "participant.key")
    opened = routes.open_store(plan, versions, url)
    password = routes.secret(folder / "dashboard.password", lambda: secrets.token_urlsafe(12))
    if len(password) < SHORTEST_PASSWORD:
        raise study.DataError(
            f"{folder / 'dashboard.password'}: the password has {len(password)} characters; expected {SHORTEST_PASSWORD} or "
            "more, since only its length keeps guessers out; delete the file for a new one"
        )
    site = routes.Site(outer.path, trust_proxy is not None, password, kiosk=kiosk_seconds if kiosk else None)
    app = routes.application(opened, plan, key=key, site=site)
    shown = f"{address.rstrip('/')}/" if address else f"http://{host}:{listener.getsockname()[1]}/"
    preview = urlencode({"preview": versions[0].name, "trial": 0, "key": routes.preview_key(key)})
    click.echo(f"{plan.name}: {len(versions)} versions")
    if kiosk:
        click.echo(f"  for the kiosk     {shown}")
        click.echo(f"  full screen       chromium --kiosk --incognito {shown}")
    else:
        click.echo(f"  for participants  {shown}")
        if plan.served.signed_links:
            click.echo(f"  for your own ids  gardenpath links IDS {study_file} --address {shown}")
        else:
            click.echo(f"  for Prolific      {shown}?{PROLIFIC}")
            click.echo(f"  for SONA          {shown}?survey_code=%SURVEY_CODE%")
            click.echo(f"  for your own ids  {shown}?participant=ID")
    click.echo(f"  to look at        {shown}?{preview}")
    click.echo(f"  dashboard         {shown}dashboard  (its password is in {folder / 'dashboard.password'})")
    if not address and not kiosk:
        options.talk(
            "these links are for this machine alone, for trying the study; for participants put a proxy with HTTPS before the "
            "server, and give --address and --trust-proxy (docs/online.md)"
        )
    if unstated := recruitment.unstated_code(plan):
        options.talk(unstated)
    where = "the database given" if database else folder / "study.sqlite"
    options.talk(f"data: {where}; stop with Ctrl-C")
    with contextlib.suppress(KeyboardInterrupt):
        routes.run(app, listener, proxy=trust_proxy)
    begun, finished = opened.counts()
    options.talk(f"stopped; {finished} of {begun} sessions are complete, in {where}")
