"""`gardenpath prolific sync` against a stand-in for Prolific's API, written after its documentation.

The stand-in does what https://docs.prolific.com/api-reference says of four calls (read in November 2026): submissions come in pages,
approving is idempotent, paying bonuses is not. It is not Prolific, and nobody was paid.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gardenpath import experiment
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.database import SESSIONS, build_sqlite_url
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.sessions.recruitment import PlatformParticipant

from ..conftest import Ran, run_here

STATUSES = {
    "done": "AWAITING REVIEW",
    "paid": "APPROVED",
    "left": "RETURNED",
    "slow": "TIMED-OUT",
    "odd": "RETURNED",
    "early": "AWAITING REVIEW",
    "reading": "ACTIVE",
}
FINISHED = ("done", "paid", "odd", "elsewhere")


class StandIn(ThreadingHTTPServer):
    """Two submissions a page, whatever page size is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses, self.payments, self.paid = dict(STATUSES), [], []
        self.failing = False

    payments: list[str]
    paid: list[str]


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def log_message(self, *_: Any) -> None: ...

    def _answer(self, status: int, body: Any) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _known(self) -> bool:
        if self.headers["authorization"] == "Token secret":
            return True
        self._answer(401, {"error": {"title": "Authentication credentials were not provided."}})
        return False

    def do_GET(self) -> None:
        place, asked = urlsplit(self.path), parse_qs(urlsplit(self.path).query)
        if not self._known():
            return
        if place.path != "/api/v1/submissions/" or asked["study"] != ["66aa"]:
            self._answer(404, {"error": {"title": "Not found"}})
            return
        page, listed = int(asked["page"][0]), list(self.server.statuses.items())
        results = [{"id": id, "status": status, "study_id": "66aa"} for id, status in listed[2 * page - 2 : 2 * page]]
        following = f"http://elsewhere.example/?page={page + 1}" if len(listed) > 2 * page else None
        self._answer(200, {"results": results, "_links": {"next": {"href": following}}, "meta": {"count": len(listed)}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"] or 0))
        if not self._known():
            return
        body, words = json.loads(raw or "{}"), self.path.strip("/").split("/")[2:]
        match words:
            case ["submissions", "bonus-payments"]:
                self.server.payments.append(body["csv_bonuses"])
                self._answer(201, {"id": str(len(self.server.payments) - 1), "total_amount": 1.0})
            case ["submissions", id, "transition"]:
                assert body == {"action": "APPROVE"}
                self.server.statuses[id] = "APPROVED"
                self._answer(200, {"id": id, "status": "APPROVED"})
            case ["bulk-bonus-payments", id, "pay"]:
                self.server.paid.append(self.server.payments[int(id)])
                if self.server.failing:
                    self.close_connection = True
                    self.connection.close()  # paid, but nobody hears of it
                else:
                    self._answer(202, "Bonuses will be paid")


@pytest.fixture
def prolific() -> Iterator[StandIn]:
    with StandIn() as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def store(study_folder: Path, list_files: list[experiment.ListFile]) -> Store:
    """Everybody of Prolific, and one whose submission is of another study."""
    opened = Store(build_sqlite_url(study_folder / "data" / "study.sqlite"))
    opened.publish_lists(list_files)
    for id in (*STATUSES, "elsewhere"):
        session = opened.open_session(Arrival(f"hash-{id}", PlatformParticipant(f"person-{id}", "prolific", id))).session
        if id in FINISHED:  # as `complete` leaves it, which the tests of payment run
            with opened.database.begin_writing() as connection:
                connection.execute(SESSIONS.update().where(SESSIONS.c.id == session.id).values(finished=session.started))
            opened.note_payment_status(id, "completed")
    return opened


def synced(folder: Path, server: StandIn, *more: str) -> Ran:
    api = f"http://127.0.0.1:{server.server_address[1]}/api/v1"
    return run_here(f"gardenpath prolific sync study.toml --study 66aa --api {api} {' '.join(more)}", folder)


def excluded(store: Store) -> dict[str, str | None]:
    return {session.participant.removeprefix("hash-"): session.exclusion_reason for session in store.read_sessions()}


def test_returned_places_open_and_nobody_is_paid_unasked(
    study_folder: Path, store: Store, prolific: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDENPATH_PROLIFIC_TOKEN", "secret")
    done = synced(study_folder, prolific)
    assert done.code == 0, done.said
    assert done.printed.splitlines() == [
        "returned or out of time; their places are open again: 2", "  left slow",
        "finished here and waiting for approval (--approve): 1", "  done",
        "finished here, returned or out of time at Prolific; they count until you say otherwise: 1", "  odd",
        "waiting for approval, but not finished here; look at them at Prolific: 1", "  early",
        "not among the submissions of this study at Prolific: 1", "  elsewhere",
    ]  # fmt: skip
    out = {name: why for name, why in excluded(store).items() if why}
    assert out == {"left": "Prolific: returned", "slow": "Prolific: timed out"}
    assert prolific.statuses == STATUSES
    done = synced(study_folder, prolific, "--approve")
    assert done.printed.splitlines()[:2] == ["approved: 1", "  done"]
    assert prolific.statuses == {**STATUSES, "done": "APPROVED"}
    status = {payment["submission"]: payment["status"] for payment in store.list_payments()}
    assert [name for name, how in status.items() if how == "approved"] == ["done", "paid"]


def test_a_bonus_is_paid_once_even_where_no_answer_comes(
    study_folder: Path, store: Store, prolific: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDENPATH_PROLIFIC_TOKEN", "secret")
    table = study_folder / "bonus.csv"
    table.write_text("submission,amount\ndone,1.50\npaid,2\n")
    said = synced(study_folder, prolific, "--bonus", "bonus.csv").printed.splitlines()[-1]
    assert said == "bonuses: 2, 3.50 of the study's currency in all; pay them with --pay"
    assert prolific.payments == []
    assert "they are asked to be paid" in synced(study_folder, prolific, "--bonus", "bonus.csv", "--pay").printed
    table.write_text("submission,amount\ndone,1.50\npaid,2\nodd,0.25\n")
    prolific.failing = True
    failed = synced(study_folder, prolific, "--bonus", "bonus.csv", "--pay")
    assert failed.code == 2
    assert "whether payment 1 was made has to be looked up at Prolific" in failed.said
    prolific.failing = False
    again = synced(study_folder, prolific, "--bonus", "bonus.csv", "--pay")
    assert "3 more stand in" in again.printed
    assert prolific.paid == ["done,1.50\npaid,2\n", "odd,0.25\n"]
    assert (study_folder / "data" / "prolific-bonuses.csv").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_done_is_said_and_nothing_is_paid(
    study_folder: Path, store: Store, prolific: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GARDENPATH_PROLIFIC_TOKEN", raising=False)
    assert "GARDENPATH_PROLIFIC_TOKEN" in synced(study_folder, prolific).said
    monkeypatch.setenv("GARDENPATH_PROLIFIC_TOKEN", "wrong")
    wrong = synced(study_folder, prolific)
    assert "Prolific does not know the token" in wrong.said
    assert "wrong" not in wrong.said
    monkeypatch.setenv("GARDENPATH_PROLIFIC_TOKEN", "secret")
    (study_folder / "bonus.csv").write_text("submission,amount\nnobody,1\ndone,1\ndone,2\npaid,-3\nodd,0\n")
    faulty = synced(study_folder, prolific, "--bonus", "bonus.csv", "--pay")
    for said in ("line 2: submission 'nobody' is none", "line 4: submission 'done' is there twice", "amount '-3'", "amount '0'"):
        assert said in faulty.said
    assert "expected --bonus" in synced(study_folder, prolific, "--pay").said
    other = run_here(
        f"gardenpath prolific sync study.toml --study 99 --api http://127.0.0.1:{prolific.server_address[1]}/api/v1", study_folder
    )
    assert "Prolific refuses GET submissions/: 404" in other.said
    assert (prolific.payments, prolific.statuses) == ([], STATUSES)
