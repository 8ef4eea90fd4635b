"""gardenpath prolific: what a study and Prolific have to tell each other."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment.server.prolific_sync import Synced

TOKEN = "GARDENPATH_PROLIFIC_TOKEN"


@click.group("prolific")
def command() -> None:
    """Tell Prolific who is to be paid, and learn from it who has returned: gardenpath prolific sync."""


@command.command("sync")
@options.study_file
@click.option("--study", "study_id", required=True, metavar="ID", help="The study's id at Prolific (STUDY_ID).")
@click.option("--approve", is_flag=True, help="Approve, and so pay, whoever waits for it and has finished here.")
@click.option("--bonus", type=click.Path(path_type=Path), help="CSV of bonuses: submission, amount.")
@click.option("--pay", is_flag=True, help="Pay the bonuses; without it they are only added up.")
@options.database
@options.data
@click.option("--api", hidden=True, help="Address of the API.")
def sync(
    study_file: Path,
    study_id: str,
    approve: bool,
    bonus: Path | None,
    pay: bool,
    database: str | None,
    out: Path | None,
    api: str | None,
) -> None:
    """Compare the sessions of STUDY.toml with Prolific's submissions, by an API token in GARDENPATH_PROLIFIC_TOKEN.

    Places of submissions that were returned or ran out are opened at once. Nobody is paid without --approve or --pay, and
    nobody is ever rejected.
    """
    from gardenpath import study

    if pay and bonus is None:
        raise click.UsageError("--pay pays the bonuses of a file: expected --bonus FILE.csv")
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise click.UsageError(f"no token: expected one of Prolific's settings (API tokens) in the variable {TOKEN}")
    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment.server import prolific_sync as prolific
    from gardenpath.experiment.server.store import Store

    folder = out or study.load(study_file).folder / "data"
    store = Store(database or f"sqlite:///{folder / 'study.sqlite'}", create=False)
    known = [payment["submission"] for payment in store.payments() if payment["platform"] == "prolific"]
    amounts = {} if bonus is None else prolific.read_bonuses(bonus, known)
    there = prolific.Prolific(token, api or prolific.API)
    _tell(prolific.sync(store, there, study_id, approve=approve))
    if bonus is None:
        return
    ledger = folder / prolific.LEDGER
    due = prolific.unpaid(amounts, ledger)
    said = f"bonuses: {len(due)}, {sum(due.values())} of the study's currency in all"
    if len(due) < len(amounts):
        said += f"; {len(amounts) - len(due)} more stand in {ledger} as paid"
    if pay:
        prolific.pay(there, study_id, due, ledger)
    click.echo(f"{said}; {'they are asked to be paid' if pay else 'pay them with --pay'}")


def _tell(made: "Synced") -> None:
    for what, submissions in (
        ("returned or out of time; their places are open again", made.released),
        ("approved", made.approved),
        ("finished here and waiting for approval (--approve)", made.to_approve),
        (
            "finished here, returned or out of time at Prolific; they count until you say otherwise",
            made.finished_yet_gone,
        ),
        ("waiting for approval, but not finished here; look at them at Prolific", made.unfinished_yet_waiting),
        ("not among the submissions of this study at Prolific", made.unknown_there),
    ):
        if submissions:
            click.echo(f"{what}: {len(submissions)}\n  {' '.join(submissions)}")
