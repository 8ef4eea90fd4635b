"""What a study and Prolific have to tell each other: who returned, who is approved, who gets a bonus.

After Prolific's API for researchers, https://docs.prolific.com/api-reference, as it was in November 2026.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from gardenpath import study

from .store import Store

API_URL = "https://api.prolific.com/api/v1"
SUBMISSIONS_PER_PAGE = 100  # submissions
MAX_BONUSES = 200  # in one payment
GONE_STATUSES = ("RETURNED", "TIMED OUT")
BONUS_FILENAME = "prolific-bonuses.csv"


class ProlificClient:
    """Prolific's API; every call raises `ValueError` with what Prolific said where it refuses, `OSError` where it is away."""

    def __init__(self, token: str, api: str = API_URL) -> None:
        httpx = study.errors.require("httpx2", "online")
        self._error = httpx.HTTPError
        self._client = httpx.Client(base_url=f"{api.rstrip('/')}/", headers={"Authorization": f"Token {token}"}, timeout=60)

    def fetch_submission_statuses(self, study_id: str) -> dict[str, str]:
        """Return the status of each submission of a study, in capitals."""
        return {str(one["id"]): re.sub("[_-]", " ", str(one["status"]).upper()) for one in self._fetch_submissions(study_id)}

    def _fetch_submissions(self, study_id: str) -> Iterator[Mapping[str, Any]]:
        page = 1
        while True:
            response = self._send_request(
                "GET", "submissions/", params={"study": study_id, "page": page, "page_size": SUBMISSIONS_PER_PAGE}
            )
            yield from response["results"]
            if not ((response.get("_links") or {}).get("next") or {}).get("href"):
                return
            page += 1

    def approve_submission(self, submission: str) -> None:
        """Approve a submission, which pays it; asking again changes nothing."""
        self._send_request("POST", f"submissions/{submission}/transition/", json={"action": "APPROVE"})

    def set_up_bonuses(self, study_id: str, amounts: Mapping[str, Decimal]) -> str:
        """Set up bonuses in the study's currency and return the payment's id; nothing is paid by it."""
        lines = "".join(f"{submission},{amount}\n" for submission, amount in amounts.items())
        response = self._send_request("POST", "submissions/bonus-payments/", json={"study_id": study_id, "csv_bonuses": lines})
        return str(response["id"])

    def pay_bonuses(self, payment: str) -> None:
        """Pay bonuses that were set up; asking again pays again."""
        self._send_request("POST", f"bulk-bonus-payments/{payment}/pay/")

    def _send_request(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = self._client.request(method, path, **options)
        except self._error as error:
            raise OSError(f"{self._client.base_url}: {error or type(error).__name__}; nothing is known of its answer") from None
        if response.status_code == 401:
            raise ValueError("Prolific does not know the token; expected one made in its settings, of the study's workspace")
        if not response.is_success:
            raise ValueError(f"Prolific refuses {method} {path}: {response.status_code} {response.text[:300]}")
        try:
            return response.json() if response.content else {}
        except ValueError:
            return {}  # of what is only to be done the answer is a sentence, or nothing


@dataclass
class SyncReport:
    """What was done and what is left to look at, by submission."""

    released_submissions: list[str] = field(default_factory=list)
    approved_submissions: list[str] = field(default_factory=list)
    submissions_to_approve: list[str] = field(default_factory=list)
    finished_but_returned: list[str] = field(default_factory=list)
    unfinished_awaiting_review: list[str] = field(default_factory=list)
    unknown_to_prolific: list[str] = field(default_factory=list)


def synchronise_submissions(store: Store, client: ProlificClient, study_id: str, *, approves: bool) -> SyncReport:
    """Open the places of submissions that were returned or ran out, and note who is approved; return what was done.

    With `approves` those are approved, and so paid, who wait for it and have finished here, whatever their data look like. Nobody
    is rejected, and who finished here and returned there keeps the place: that is for the experimenter to decide.
    """
    statuses, report = client.fetch_submission_statuses(study_id), SyncReport()
    for payment in store.list_payments():
        submission = payment["submission"]
        if payment["platform"] != "prolific" or submission is None:
            continue
        status, is_finished = statuses.get(submission), payment["status"] in ("completed", "approved")
        if status is None:
            report.unknown_to_prolific.append(submission)
        elif status in GONE_STATUSES and is_finished:
            report.finished_but_returned.append(submission)
        elif status in GONE_STATUSES:
            if store.release_slot(submission, f"Prolific: {status.lower()}"):
                report.released_submissions.append(submission)
        elif status == "APPROVED" and payment["status"] == "completed":
            store.note_payment_status(submission, "approved")
        elif status == "AWAITING REVIEW" and not is_finished:
            report.unfinished_awaiting_review.append(submission)
        elif status == "AWAITING REVIEW" and not approves:
            report.submissions_to_approve.append(submission)
        elif status == "AWAITING REVIEW":
            client.approve_submission(submission)
            store.note_payment_status(submission, "approved")
            report.approved_submissions.append(submission)
    return report


def read_bonuses(path: Path, submissions: Sequence[str]) -> dict[str, Decimal]:
    """Return the bonuses of a CSV file with the columns submission and amount; raises `DataError` with every fault."""
    rows = study.table_files.read_csv(path)
    if list(rows.columns) != ["submission", "amount"]:
        raise study.DataError(f"{path}: columns {', '.join(rows.columns)}; expected submission, amount")
    amounts: dict[str, Decimal] = {}
    faults = []
    for line, (submission, amount) in enumerate(rows.itertuples(index=False), start=2):
        if submission not in submissions:
            faults.append(f"{path}, line {line}: submission {submission!r} is none of this study's; expected one of payments.csv")
        elif submission in amounts:
            faults.append(f"{path}, line {line}: submission {submission!r} is there twice; expected one bonus each")
        elif not re.fullmatch(r"\d+(\.\d{1,2})?", amount) or not Decimal(amount):
            faults.append(f"{path}, line {line}: amount {amount!r}; expected units of the study's currency, such as 1.50")
        else:
            amounts[submission] = Decimal(amount)
    if faults:
        raise study.DataError(faults)
    return amounts


def select_unpaid_bonuses(amounts: Mapping[str, Decimal], bonus_file: Path) -> dict[str, Decimal]:
    """Return the bonuses of submissions for which the ledger has none."""
    paid = set(study.table_files.read_csv(bonus_file)["submission"]) if bonus_file.exists() else set()
    return {submission: amount for submission, amount in amounts.items() if submission not in paid}


def pay_bonuses(client: ProlificClient, study_id: str, amounts: Mapping[str, Decimal], bonus_file: Path) -> None:
    """Pay bonuses; the ledger has each before it is paid, since Prolific pays again whenever it is asked again."""
    waiting = list(amounts.items())
    while waiting:
        part, waiting = dict(waiting[:MAX_BONUSES]), waiting[MAX_BONUSES:]
        payment = client.set_up_bonuses(study_id, part)
        _append_bonuses(bonus_file, payment, part)
        try:
            client.pay_bonuses(payment)
        except (OSError, ValueError) as error:
            raise type(error)(
                f"{error}\nwhether payment {payment} was made has to be looked up at Prolific; if it was not, delete its lines "
                f"from {bonus_file} and pay again"
            ) from None


def _append_bonuses(bonus_file: Path, payment: str, amounts: Mapping[str, Decimal]) -> None:
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    if not bonus_file.exists():
        lines.writerow(["submission", "amount", "payment", "time"])
        bonus_file.touch(mode=0o600)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    lines.writerows([submission, amount, payment, now] for submission, amount in amounts.items())
    with bonus_file.open("a", encoding="utf-8") as stream:
        stream.write(text.getvalue())
