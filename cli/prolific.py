"""gardenpath prolific: what a study and Prolific have to tell each other."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment.server.prolific_sync import SyncReport

TOKEN_VARIABLE = "GARDENPATH_PROLIFIC_TOKEN"


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
@options.data_folder
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
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise click.UsageError(f"no token: expected one of Prolific's settings (API tokens) in the variable {TOKEN_VARIABLE}")
    study.errors.require("sqlalchemy", "online")
    from gardenpath.experiment.server import prolific_sync as prolific
    from gardenpath.experiment.server.store import Store

    folder = out or study.load(study_file).folder / "data"
    store = Store(database or f"sqlite:///{folder / 'study.sqlite'}", create=False)
    known_submissions = [payment["submission"] for payment in store.list_payments() if payment["platform"] == "prolific"]
    amounts = {} if bonus is None else prolific.read_bonuses(bonus, known_submissions)
    client = prolific.ProlificClient(token, api or prolific.API_URL)
    _print_sync_result(prolific.synchronise_submissions(store, client, study_id, approves=approve))
    if bonus is None:
        return
    payment_log = folder / prolific.BONUS_FILENAME
    due = prolific.select_unpaid_bonuses(amounts, payment_log)
    summary = f"bonuses: {len(due)}, {sum(due.values())} of the study's currency in all"
    if len(due) < len(amounts):
        summary += f"; {len(amounts) - len(due)} more stand in {payment_log} as paid"
    if pay:
        prolific.pay_bonuses(client, study_id, due, payment_log)
    click.echo(f"{summary}; {'they are asked to be paid' if pay else 'pay them with --pay'}")


def _print_sync_result(result: "SyncReport") -> None:
    for description, submissions in (
        ("returned or out of time; their places are open again", result.released_submissions),
        ("approved", result.approved_submissions),
        ("finished here and waiting for approval (--approve)", result.submissions_to_approve),
        ("finished here, returned or out of time at Prolific; they count until you say otherwise", result.finished_but_returned),
        ("waiting for approval, but not finished here; look at them at Prolific", result.unfinished_awaiting_review),
        ("not among the submissions of this study at Prolific", result.unknown_to_prolific),
    ):
        if submissions:
            click.echo(f"{description}: {len(submissions)}\n  {' '.join(submissions)}")
