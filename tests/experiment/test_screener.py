"""Who takes part by the answers to the screener: judged by the server, by quotas that no page knows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.platform_export import QUOTA_LOSS
from gardenpath.experiment.scripts.script import build_timeline, find_screener
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival, OpenedSession
from gardenpath.experiment.server.rules import Conflict, Refusal
from gardenpath.experiment.sessions.recruitment import PlatformParticipant
from gardenpath.study.config import ScreenerSection

from .conftest import BOTH, ROBOT_KEY, Clock, Running, new_database, serve
from .made_events import done
from .pages import ITEMS, stated
from .test_dashboard import text_of
from .test_payment import PROLIFIC, Visitor, paid

SCREENER = """\
[[procedure.screener]]
name = "native"
question = "Is English your first language?"
choices = ["yes", "no"]
accepted = ["yes"]
[[procedure.screener]]
name = "hand"
question = "Which hand do you write with?"
choices = ["left", "right"]
quotas = { left = 2, right = 1 }
"""
OUT = "https://app.prolific.com/submissions/complete?cc=SCREENED"


def plan_of(folder: Path, screener: str = SCREENER) -> study.Study:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(stated(procedure=screener) + 'screened_out_code = "SCREENED"\n')
    return study.load(folder)


@pytest.fixture(params=BOTH)
def screened(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Running]:
    plan = plan_of(tmp_path / "study")
    url = new_database(request.param, tmp_path, request)
    site = routes.SiteSettings(password="correct horse")
    yield from serve(plan, experiment.build_list_files(plan), tmp_path / "data", url, clock=clock, site=site)


def answer(native: str = "yes", hand: str = "left") -> dict[str, str]:
    return {"native": native, "hand": hand}


def come(running: Running, name: str) -> OpenedSession:
    return running.store.open_session(Arrival(name, PlatformParticipant(name, "prolific")))


def goes_on(running: Running, opened: OpenedSession, **given: str) -> bool:
    return running.store.judge_screener(opened.session.id, opened.token, answer(**given), "SCREENED") is None


def test_who_is_screened_out_is_told_at_once_leaves_no_data_and_cannot_try_again(screened: Running) -> None:
    visitor = Visitor(screened, **PROLIFIC)
    assert visitor.call("withdraw", {"reason": "screened_out"}).status_code == 400  # nobody screens oneself
    assert visitor.call("screener", {"answers": answer()}).json() == {"outcome": "accepted"}
    said = visitor.call("screener", {"answers": answer(native="no")}).json()
    assert (said["outcome"], said["code"], said["url"]) == ("screened_out", "SCREENED", OUT)
    assert "return" not in " ".join(said["text"])
    assert visitor.call("heartbeat", {}).status_code == 404
    assert ([*screened.store.read_recorded_sessions()], screened.store.count_screener_answers()) == ([], {})
    assert paid(screened) == [("prolific", "5f3c9a", "77bb", "SCREENED", "screened_out")]
    assert [*screened.store.count_departures().values()] == [{"screened_out": 1}]
    again = Visitor(screened, **PROLIFIC).payload
    assert (again["reason"], again["url"], again["text"]) == ("screened_out", OUT, said["text"])


def test_answers_that_are_none_are_refused_and_change_nothing(screened: Running) -> None:
    visitor = Visitor(screened, **PROLIFIC)
    for odd in (None, [], {}, {"native": "yes"}, answer(hand="both"), {**answer(), "more": "x"}, {"native": 1, "hand": []}):
        assert visitor.call("screener", {"answers": odd}).status_code == 400, odd
    assert visitor.call("screener", {"answers": answer()}).json() == {"outcome": "accepted"}


def test_quotas_count_who_is_there_or_has_finished(screened: Running, clock: Clock) -> None:
    first, second, third, fourth = (come(screened, name) for name in "abcd")
    assert goes_on(screened, first, hand="right")
    assert goes_on(screened, first, hand="right"), "asked again, one does not stand in one's own way"
    assert not goes_on(screened, second, hand="right")
    assert goes_on(screened, third)
    assert screened.store.count_screener_answers() == {("native", "yes"): 2, ("hand", "left"): 1, ("hand", "right"): 1}
    screened.store.exclude_session(first.session.id, "fell asleep")
    assert goes_on(screened, fourth, hand="right"), "the place of who does not count is free"
    clock.pass_minutes(61)
    assert screened.store.count_screener_answers() == {}, "as is that of who is silent"


def test_the_dashboard_says_how_far_quotas_are_filled(screened: Running) -> None:
    assert goes_on(screened, come(screened, "a"))
    with httpx2.Client(base_url=screened.address) as experimenter:
        experimenter.post("dashboard/login", data={"password": "correct horse"})
        page = text_of(experimenter.get("dashboard").text)
    assert "native yes 1 hand left 1 2 hand right 0 1" in page


def test_newcomers_are_told_when_no_answer_would_let_them_in(screened: Running) -> None:
    for name, hand in zip("abc", ("left", "left", "right"), strict=True):
        assert goes_on(screened, come(screened, name), hand=hand)
    with pytest.raises(Refusal, match="every answer that lets somebody in has its quota") as refused:
        come(screened, "d")
    assert refused.value.reason == "full"


def test_a_page_that_does_not_ask_gets_nowhere(screened: Running) -> None:
    files = screened.store.read_list_files()
    visitor = Visitor(screened, source="robot", key=ROBOT_KEY, participant="r")
    events = list(experiment.create_robot(files.values(), seed=1).simulate_events(visitor.payload, "r"))
    script = files[visitor.payload["list_sha256"]].script
    at, _ = find_screener(build_timeline(script, visitor.payload["order"])) or (0, None)
    before = [event for event in events if event["step"] is None or event["step"] < at][:-1]
    assert visitor.call("events", {"events": before}, "PUT").status_code == 200
    ended = next(event for event in events if event["step"] == at and event["kind"] == "outcome")
    for event in (ended, vars(done(ended["seq"], at)), vars(done(ended["seq"], at + 3))):
        refused = visitor.call("events", {"events": [event]}, "PUT")
        assert (refused.status_code, "screener" in refused.json()["error"]) == (409, True)
    given = ended["value"]["answer"]
    other = {**given, "hand": "left" if given["hand"] == "right" else "right"}
    assert visitor.call("screener", {"answers": other}).json() == {"outcome": "accepted"}
    assert visitor.call("events", {"events": [ended]}, "PUT").status_code == 409, "other answers than were judged"
    assert visitor.call("screener", {"answers": given}).json() == {"outcome": "accepted"}
    assert visitor.call("events", {"events": events}, "PUT").status_code == 200
    assert visitor.call("complete", {"events": len(events)}).json()["code"] == "GARDEN-PATH-1"
    assert screened.store.count_screener_answers()["hand", given["hand"]] == 1


def test_robots_answer_so_that_they_go_on_until_a_quota_is_full(screened: Running) -> None:
    robot = experiment.create_robot(screened.store.read_list_files().values(), seed=2)
    transport = experiment.HttpTransport(screened.address, ROBOT_KEY)
    codes = [experiment.run_robot_session(robot, transport, f"r{n}") for n in range(3)]
    about = experiment.collect(screened.store.database.url)["demographics"]
    hands = about[about["question"] == "hand"]["response"].value_counts().to_dict()
    assert codes.count("GARDEN-PATH-1") == sum(hands.values()) > 0
    assert hands.get("right", 0) <= 1
    assert hands.get("left", 0) <= 2
    assert set(about[about["question"] == "native"]["response"]) == {"yes"}


def test_pages_never_learn_what_is_accepted_and_quotas_change_no_revision(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    file = experiment.build_list_files(plan)[0]
    assert find_screener(build_timeline(file.script, ())) is not None
    assert _forms(file.player_script)["accepted"] == {}
    more = experiment.build_list_files(plan_of(tmp_path, SCREENER.replace("left = 2", "left = 9")))[0]
    assert more.sha256 == file.sha256


def _forms(shown: dict[str, Any]) -> dict[str, Any]:
    return next(screen for step in shown["front"] for screen in step["screens"] if screen["kind"] == "form")


def test_simulated_participants_give_accepted_answers(tmp_path: Path) -> None:
    files = experiment.build_list_files(plan_of(tmp_path / "study"))
    experiment.simulate(files, tmp_path / "data", participants=6, seed=1)
    about = experiment.collect(tmp_path / "data")["demographics"]
    assert set(about[about["question"] == "native"]["response"]) == {"yes"}
    assert set(about[about["question"] == "hand"]["response"]) == {"left", "right"}


def test_exports_say_what_of_a_screener_does_not_hold(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "study")
    for platform in ("jspsych", "jatos", "pcibex", "gorilla", "psychopy"):
        made = experiment.export(plan, platform, tmp_path / platform, orders=1)
        judged = platform in ("jspsych", "jatos")
        assert QUOTA_LOSS in made.losses
        assert any("Nobody is screened out" in said for said in made.losses) is not judged
    told = (tmp_path / "jspsych" / "study.js").read_text().removeprefix("window.gardenpathStudy = ").rstrip(";\n")
    assert _forms(json.loads(told)["lists"][0]["script"])["accepted"] == {"native": ["yes"], "hand": ["left", "right"]}


@pytest.mark.parametrize(
    ("stated_so", "said"),
    [
        ({}, "every answer is accepted"),
        ({"choices": ["a", "a"]}, "expected two or more different"),
        ({"accepted": ["c"]}, "accepted has 'c'; expected answers among a, b"),
        ({"accepted": ["a"], "quotas": {"b": 1}}, "quotas has 'b'; expected answers among a"),
        ({"quotas": {"a": 0}}, "quotas.a is 0; expected at least 1 place"),
    ],
)
def test_a_screener_that_decides_nothing_is_refused(stated_so: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ScreenerSection(**{"name": "one", "question": "?", "choices": ["a", "b"], **stated_so})


def test_a_question_is_asked_once(tmp_path: Path) -> None:
    twice = SCREENER + '[[procedure.demographics]]\nname = "hand"\nlabel = "Which hand?"\n'
    with pytest.raises(study.DataError, match="screener and demographics are named native, hand, hand"):
        plan_of(tmp_path, twice)


def test_a_study_without_a_screener_judges_nobody(running: Running) -> None:
    opened = running.store.open_session(Arrival())
    with pytest.raises(Conflict, match="the study has no screener"):
        running.store.judge_screener(opened.session.id, opened.token, {}, None)
