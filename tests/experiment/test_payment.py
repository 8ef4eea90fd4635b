"""Whoever reaches the end is paid; whoever does not is told what to do, on every platform."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.sessions.recruitment import (
    PlatformParticipant,
    build_ending_page,
    build_return_url,
    complete_online_section,
    identify_participant,
)
from gardenpath.experiment.sessions.sessions import build_session_timeline
from gardenpath.study.config import OnlineSection

from .conftest import BOTH, Clock, Running, new_database, serve
from .made_events import event as made_event
from .made_events import passed

PROLIFIC = {"PROLIFIC_PID": "5f3c9a", "STUDY_ID": "66aa", "SESSION_ID": "77bb"}
SONA = "https://uni.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=x&survey_code={id}"


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


@pytest.fixture
def paying(
    example: study.Study, list_files: list[experiment.ListFile], tmp_path: Path, database_url: str, clock: Clock
) -> Iterator[Running]:
    online = dataclasses.replace(example.online, completion_url=SONA, review_code="REVIEW")
    stated = dataclasses.replace(example, online=online)
    yield from serve(stated, list_files[:1], tmp_path / "data", database_url, clock=clock)


class Visitor:
    """A participant at the API."""

    def __init__(self, running: Running, **who: Any) -> None:
        self.running, self.client = running, httpx2.Client(base_url=running.address)
        self.opened = self.client.post("api/sessions", json=who)
        self.payload = self.opened.json()

    def call(self, what: str, body: dict[str, Any], method: str = "POST") -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.payload['token']}"}
        return self.client.request(method, f"api/sessions/{self.payload['session']}/{what}", json=body, headers=headers)

    def read(self, steps: int | None = None) -> int:
        """End so many steps, or all."""
        record, file = self.running.store.read_recorded_session(self.payload["session"])
        every = passed(build_session_timeline(record.session, file))
        events = [vars(event) for event in every if steps is None or (event.step or 0) < steps]
        assert self.call("events", {"events": events}, "PUT").json() == {"stored": len(events), "rejected": []}
        return len(events)

    def finish(self) -> dict[str, Any]:
        return dict(self.call("complete", {"events": self.read()}).json())


def paid(running: Running) -> list[tuple[str, ...]]:
    return [tuple(payment.values()) for payment in running.store.list_payments()]


def test_prolific_gets_its_participants_back_with_the_code(paying: Running) -> None:
    visitor = Visitor(paying, **PROLIFIC)
    assert paid(paying) == [("prolific", "5f3c9a", "77bb", None, "running")]
    back = {"code": "GARDEN-PATH-1", "url": "https://app.prolific.com/submissions/complete?cc=GARDEN-PATH-1"}
    assert visitor.finish() == {**back, "rejected": []}
    assert visitor.call("complete", {"events": 1}).json() == {**back, "rejected": []}
    assert paid(paying) == [("prolific", "5f3c9a", "77bb", "GARDEN-PATH-1", "completed")]
    again = Visitor(paying, **PROLIFIC)
    assert (again.opened.status_code, again.payload["reason"]) == (409, "finished")
    assert {key: again.payload[key] for key in back} == back


def test_sona_is_told_who_finished(paying: Running) -> None:
    assert Visitor(paying, survey_code="4711 &x").finish()["url"] == SONA.replace("{id}", "4711%20%26x")


def test_who_is_late_or_fast_or_does_not_count_is_paid_all_the_same(paying: Running, clock: Clock) -> None:
    late = Visitor(paying, **PROLIFIC)
    clock.pass_minutes(23 * 60)
    paying.store.exclude_session(late.payload["session"], "answers at random")
    assert late.finish()["code"] == "GARDEN-PATH-1"
    (record,) = paying.store.read_recorded_sessions()
    assert (record.session.lease_expired, record.session.exclusion_reason) == (True, "answers at random")
    assert paid(paying)[0][-1] == "completed"


@pytest.mark.parametrize("reason", ["refused", "unsuitable"])
def test_refusal_and_an_unsuitable_device_leave_nothing_and_ask_to_return_the_submission(paying: Running, reason: str) -> None:
    visitor = Visitor(paying, **PROLIFIC)
    visitor.call("events", {"events": [vars(made_event(0, 1.0, "end"))]}, "PUT")
    answer = visitor.call("withdraw", {"reason": reason}).json()
    assert answer == {**visitor.payload["online"]["endings"][reason], "deleted": True, "scrubbed": True}
    assert (answer["code"], answer["url"]) == (None, None)
    assert "please return your submission" in answer["text"][-1]
    assert ([*paying.store.read_recorded_sessions()], paid(paying)) == ([], [])
    assert Visitor(paying, **PROLIFIC).opened.status_code == 201  # on a computer, or after a second thought


def test_withdrawal_deletes_bars_the_way_back_and_asks_to_return_the_submission(paying: Running) -> None:
    visitor = Visitor(paying, **PROLIFIC)
    visitor.read(8)  # the pages before, and three trials
    answer = visitor.call("withdraw", {"reason": "refused"}).json()  # too late to have refused
    assert answer["text"][0] == "You have withdrawn. Thank you for the time you gave."
    assert "please return your submission" in answer["text"][1]
    assert [*paying.store.read_recorded_sessions()] == []
    assert visitor.call("withdraw", {}).status_code == 404
    assert Visitor(paying, **PROLIFIC).payload["reason"] == "departed"


def test_who_withdraws_after_the_end_keeps_the_code(paying: Running) -> None:
    visitor = Visitor(paying, **PROLIFIC)
    visitor.finish()
    answer = visitor.call("withdraw", {"reason": "withdrawn"}).json()
    assert (answer["code"], answer["deleted"], [*paying.store.read_recorded_sessions()]) == ("GARDEN-PATH-1", True, [])
    assert len(answer["text"]) == 1


def test_the_page_knows_every_ending_before_it_needs_it(paying: Running) -> None:
    online = Visitor(paying, **PROLIFIC).payload["online"]
    assert (online["platform"], online["resume"], online["test"]) == ("prolific", None, False)
    assert online["endings"]["unsent"]["code"] == "REVIEW"
    assert Visitor(paying).payload["online"]["resume"]


def test_who_finds_no_place_is_told_kindly(paying: Running, clock: Clock) -> None:
    paying.store.set_closed()
    answer = Visitor(paying, **PROLIFIC)
    assert (answer.opened.status_code, answer.payload["reason"]) == (409, "closed")
    assert answer.payload["text"][0] == "Thank you for your interest. This study is closed."


def test_a_code_stands_in_an_address_as_text() -> None:
    online = OnlineSection("A&B", completion_url="https://x.example/?id={id}&code={code}")
    assert build_return_url(online, "link", "a/b?c", "A&B") == "https://x.example/?id=a%2Fb%3Fc&code=A%26B"
    assert build_return_url(online, "prolific", "", "A&B") == "https://app.prolific.com/submissions/complete?cc=A%26B"
    assert build_return_url(online, "link", "x", "OTHER") is None


@pytest.mark.parametrize("wrong", [3, "", "x" * 201, "a\nb", "a\0", "\ud800", ["x"], {"a": 1}, True])
def test_an_id_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="PROLIFIC_PID: expected 1 to 200 printable characters"):
        identify_participant({"PROLIFIC_PID": wrong})


def test_platforms_are_told_apart_by_their_parameters() -> None:
    assert identify_participant({"survey_code": "12", "SESSION_ID": "7"}) == PlatformParticipant("12", "sona", None)
    assert identify_participant({"participant": "anna"}) == PlatformParticipant("anna", "link", None)
    assert identify_participant({"participant": None, "STUDY_ID": "x"}) is None


@pytest.mark.parametrize("language", ["en", "de", "nl", "tr", "zh", "he"])
def test_every_ending_has_a_text_in_every_language(language: str, example: study.Study) -> None:
    english, said = (
        build_ending_page(complete_online_section(dataclasses.replace(example, language=one)), "full")
        for one in ("en", f"{language}-XX")
    )
    assert len(said.text) == 2
    assert (said == english) == (language == "en")
    own = dataclasses.replace(example, language=language, online=OnlineSection("C", texts={"full": "Come later."}))
    assert build_ending_page(complete_online_section(own), "full").text[0] == "Come later."
    with pytest.raises(study.DataError, match="fool is not known"):
        complete_online_section(dataclasses.replace(own, online=OnlineSection("C", texts={"fool": "Come later."})))
