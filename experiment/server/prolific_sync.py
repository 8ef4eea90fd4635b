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

API = "https://api.prolific.com/api/v1"
PAGE = 100  # submissions
MOST_BONUSES = 200  # in one payment
GONE = ("RETURNED", "TIMED OUT")
LEDGER = "prolific-bonuses.csv"


class Prolific:
    """Prolific's API; every call raises `ValueError` with what Prolific said where it refuses, `OSError` where it is away."""

    def __init__(self, token: str, api: str = API) -> None:
        httpx = study.errors.require("httpx2", "online")
        self._error = httpx.HTTPError
        self._client = httpx.Client(
            base_url=f"{api.rstrip('/')}/", headers={"Authorization": f"Token {token}"}, timeout=60
        )

    def submissions(self, study_id: str) -> dict[str, str]:
        """Return the status of each submission of a study, in capitals."""
        return {str(one["id"]): re.sub("[_-]", " ", str(one["status"]).upper()) for one in self._listed(study_id)}

    def _listed(self, study_id: str) -> Iterator[Mapping[str, Any]]:
        page = 1
        while True:
            answer = self._call("GET", "submissions/", params={"study": study_id, "page": page, "page_size": PAGE})
            yield from answer["results"]
            if not ((answer.get("_links") or {}).get("next") or {}).get("href"):
                return
            page += 1

    def approve(self, submission: str) -> None:
        """Approve a submission, which pays it; asking again changes nothing."""
        self._call("POST", f"submissions/{submission}/transition/", json={"action": "APPROVE"})

    def set_up_bonuses(self, study_id: str, amounts: Mapping[str, Decimal]) -> str:
        """Set up bonuses in the study's currency and return the payment's id; nothing is paid by it."""
        lines = "".join(f"{submission},{amount}\n" for submission, amount in amounts.items())
        answer = self._call("POST", "submissions/bonus-payments/", json={"study_id": study_id, "csv_bonuses": lines})
        return str(answer["id"])

    def pay_bonuses(self, payment: str) -> None:
        """Pay bonuses that were set up; asking again pays again."""
        self._call("POST", f"bulk-bonus-payments/{payment}/pay/")

    def _call(self, method: str, path: str, **more: Any) -> Any:
        try:
            answer = self._client.request(method, path, **more)
        except self._error as error:
            raise OSError(
                f"{self._client.base_url}: {error or type(error).__name__}; nothing is known of its answer"
            ) from None
        if answer.status_code == 401:
            raise ValueError(
                "Prolific does not know the token; expected one made in its settings, of the study's workspace"
            )
        if not answer.is_success:
            raise ValueError(f"Prolific refuses {method} {path}: {answer.status_code} {answer.text[:300]}")
        try:
            return answer.json() if answer.content else {}
        except ValueError:
            return {}  # of what is only to be done the answer is a sentence, or nothing


@dataclass
class Synced:
    """What was done and what is left to look at, by submission."""

    released: list[str] = field(default_factory=list)
    approved: list[str] = field(default_factory=list)
    to_approve: list[str] = field(default_factory=list)
    finished_yet_gone: list[str] = field(default_factory=list)
    unfinished_yet_waiting: list[str] = field(default_factory=list)
    unknown_there: list[str] = field(default_factory=list)


def sync(store: Store, api: Prolific, study_id: str, *, approve: bool) -> Synced:
    """Open the places of submissions that were returned or ran out, and note who is approved; return what was done.

    With `approve` those are approved, and so paid, who wait for it and have finished here, whatever their data look like. Nobody
    is rejected, and who finished here and returned there keeps the place: that is for the experimenter to decide.
    """
    theirs, made = api.submissions(study_id), Synced()
    for payment in store.payments():
        submission = payment["submission"]
        if payment["platform"] != "prolific" or submission is None:
            continue
        there, finished = theirs.get(submission), payment["status"] in ("completed", "approved")
        if there is None:
            made.unknown_there.append(submission)
        elif there in GONE and finished:
            made.finished_yet_gone.append(submission)
        elif there in GONE:
            if store.release(submission, f"Prolific: {there.lower()}"):
                made.released.append(submission)
        elif there == "APPROVED" and payment["status"] == "completed":
            store.note_payment(submission, "approved")
        elif there == "AWAITING REVIEW" and not finished:
            made.unfinished_yet_waiting.append(submission)
        elif there == "AWAITING REVIEW" and not approve:
            made.to_approve.append(submission)
        elif there == "AWAITING REVIEW":
            api.approve(submission)
            store.note_payment(submission, "approved")
            made.approved.append(submission)
    return made


def read_bonuses(path: Path, known: Sequence[str]) -> dict[str, Decimal]:
    """Return the bonuses of a CSV file with the columns submission and amount; raises `DataError` with every fault."""
    rows = study.table_files.read_csv(path)
    if list(rows.columns) != ["submission", "amount"]:
        raise study.DataError(f"{path}: columns {', '.join(rows.columns)}; expected submission, amount")
    amounts: dict[str, Decimal] = {}
    faults = []
    for line, (submission, amount) in enumerate(rows.itertuples(index=False), start=2):
        if submission not in known:
            faults.append(
                f"{path}, line {line}: submission {submission!r} is none of this study's; expected one of payments.csv"
            )
        elif submission in amounts:
            faults.append(f"{path}, line {line}: submission {submission!r} is there twice; expected one bonus each")
        elif not re.fullmatch(r"\d+(\.\d{1,2})?", amount) or not Decimal(amount):
            faults.append(
                f"{path}, line {line}: amount {amount!r}; expected units of the study's currency, such as 1.50"
            )
        else:
            amounts[submission] = Decimal(amount)
    if faults:
        raise study.DataError(faults)
    return amounts


def unpaid(amounts: Mapping[str, Decimal], ledger: Path) -> dict[str, Decimal]:
    """Return the bonuses of submissions for which the ledger has none."""
    paid = set(study.table_files.read_csv(ledger)["submission"]) if ledger.exists() else set()
    return {submission: amount for submission, amount in amounts.items() if submission not in paid}


def pay(api: Prolific, study_id: str, amounts: Mapping[str, Decimal], ledger: Path) -> None:
    """Pay bonuses; the ledger has each before it is paid, since Prolific pays again whenever it is asked again."""
    waiting = list(amounts.items())
    while waiting:
        part, waiting = dict(waiting[:MOST_BONUSES]), waiting[MOST_BONUSES:]
        payment = api.set_up_bonuses(study_id, part)
        _enter(ledger, payment, part)
        try:
            api.pay_bonuses(payment)
        except (OSError, ValueError) as error:
            raise type(error)(
                f"{error}\nwhether payment {payment} was made has to be looked up at Prolific; if it was not, delete its lines "
                f"from {ledger} and pay again"
            ) from None


def _enter(ledger: Path, payment: str, amounts: Mapping[str, Decimal]) -> None:
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    if not ledger.exists():
        lines.writerow(["submission", "amount", "payment", "time"])
        ledger.touch(mode=0o600)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    lines.writerows([submission, amount, payment, now] for submission, amount in amounts.items())
    with ledger.open("a", encoding="utf-8") as stream:
        stream.write(text.getvalue())
