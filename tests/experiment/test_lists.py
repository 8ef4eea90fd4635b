"""Readers take several short lists, leave some and are rejected: what each item has in the end is counted one by one."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from gardenpath import experiment, study
from gardenpath.analysis.measuring.reliability import compute_choice_agreement
from gardenpath.experiment.platforms.platform_export import export
from gardenpath.experiment.players.lab import reservations
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.dashboard import Dashboard
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.routes import open_store
from gardenpath.experiment.server.rules import Refusal
from gardenpath.experiment.sessions.sessions import Session
from gardenpath.experiment.simulation.browser_robot import CHROMIUM_ARGUMENTS, run_session_on_page

from .conftest import BOTH, ROBOT_KEY, Clock, Running, new_database, serve

READERS, PARADIGMS, PAIRS, EACH = 3, 6, 2, 3
STUDY = """
name = "choices"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
trial = "pair"
short_lists = {{ items_per_list = {each}, ratings_per_item = {readers} }}
[[design.attention]]
kind = "nonsense"
sentence = ["The dog barks loudly.", "Barks dog loudly the."]
expected_responses = {{ better = ["first"] }}
[procedure]
debriefing = "Thank you. Open the link again for more."
[procedure.tasks.better]
kind = "choice"
[procedure.target]
show = "with_task"
ask = ["better"]
[online]
completion_code = "C0DE"
max_sessions = {sessions}
"""
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def stated(folder: Path, *, sessions: int = 4, readers: int = READERS, more: str = "") -> study.Study:
    rows = [
        f"p{p},f,p{p}-{n},{condition},The cat {p} of {n} {verb}."
        for p in range(PARADIGMS)
        for n in range(PAIRS)
        for condition, verb in (("grammatical", "sleeps"), ("ungrammatical", "sleep"))
    ]
    (folder / "items.csv").write_text("\n".join(["paradigm,phenomenon,item,condition,sentence", *rows]) + "\n")
    (folder / "study.toml").write_text(STUDY.format(each=EACH, readers=readers, sessions=sessions) + more)
    return study.load(folder)


def items_of(session: Session, file: experiment.ListFile) -> list[tuple[str, str]]:
    """The pairs that a session shows, with the condition on the first side."""
    trials = [file.trial_list.trials[n] for n in session.order]
    return [(trial.item.id, trial.shown_sentences[0][0]) for trial in trials if trial.role == "target"]


@pytest.fixture(params=BOTH)
def served(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[tuple[Running, experiment.ListFile]]:
    made = stated(tmp_path)
    [file] = experiment.build_list_files(made)
    for running in serve(made, [file], tmp_path / "data", new_database(request.param, tmp_path, request), clock=clock):
        yield running, file


def test_every_pair_gets_its_judgments_though_readers_leave_and_are_rejected(
    served: tuple[Running, experiment.ListFile], clock: Clock
) -> None:
    running, file = served
    store, random, robot = running.store, Random(1), experiment.create_robot([file], seed=1)
    transport = experiment.HttpTransport(running.address, ROBOT_KEY)
    told, left, rejected = Counter[str](), 0, 0
    for reader in range(32):
        name = f"reader-{reader}"
        for _ in range(6):
            # A reader who left a list goes on with it, or with another one where that was too long ago.
            fate = random.choice(["finishes", "leaves", "leaves", "is rejected"]) if reader < 16 else "finishes"
            try:
                session = transport.begin_session(name)
            except ValueError as error:
                told[str(error).partition("'reason': '")[2].partition("'")[0]] += 1
                break
            if fate == "leaves":
                transport.send_events(session, list(islice(robot.simulate_events(session, name), 12)))
                left += 1
                clock.pass_minutes(61 if random.random() < 0.5 else 60 * 25)
                continue
            events = list(robot.simulate_events(session, name))
            transport.send_events(session, events)
            transport.finish_session(session, session["next_seq"] + len(events))
            if fate == "is rejected":
                store.exclude_session(session["session"], "pressed the first button always")
                rejected += 1
    assert left > 5
    assert rejected > 5
    assert set(told) == {"finished", "full"}, "by four lists or none left, and newcomers"

    planned = PARADIGMS * PAIRS * READERS
    sessions = store.read_sessions()
    counting = [session for session in sessions if session.finished and not session.exclusion_reason]
    judged = Counter(item for session in counting for item, _ in items_of(session, file))
    late = Counter(item for session in counting if session.lease_expired for item, _ in items_of(session, file))
    assert all(judged[item] - late[item] <= READERS <= judged[item] for item in judged)
    assert len(judged) == PARADIGMS * PAIRS
    on_time = Counter(place for session in counting if not session.lease_expired for place in items_of(session, file))
    assert all(1 <= times <= 2 for place, times in on_time.items() if not late[place[0]])
    # Nobody meets a pair twice, in whatever became of a session.
    by_reader = Counter((session.participant, item) for session in sessions for item, _ in items_of(session, file))
    assert set(by_reader.values()) == {1}
    assert max(Counter(session.participant for session in sessions).values()) == 4
    assert max(Counter(session.slot % len(file.trial_list.short_lists) for session in sessions).values()) > 1

    tables = experiment.collect(store.database.url)
    counts = tables["judgment_counts"].groupby("item")[["n_planned", "n_judgments"]].sum()
    assert counts["n_planned"].to_dict() == dict.fromkeys(judged, READERS)
    assert counts["n_judgments"].to_dict() == judged
    assert counts["n_planned"].sum() == planned
    better = tables["responses"].query("role == 'target' and task == 'choice'")
    agreed = compute_choice_agreement(better[better["session"].isin([s.id for s in counting])], tables["items"])
    assert {"majority_strict", "individual"} < set(agreed)
    assert len(agreed) == PARADIGMS + 1


def test_the_dashboard_counts_lists_as_places(tmp_path: Path, clock: Clock) -> None:
    made = stated(tmp_path)
    files = experiment.build_list_files(made)
    for running in serve(made, files, tmp_path / "data", clock=clock):
        store = running.store
        store.open_session(Arrival("anna", source="robot"))
        board = Dashboard(store, made, store.database.url, "a long password", "key", lambda request: True)
        [row] = board.build_values()["rows"]
    assert (row.quota, row.slot_counts.live, len(files[0].trial_list.short_lists)) == (12, 1, 12)


def test_a_page_gets_its_own_list_and_no_other_sentence(tmp_path: Path, clock: Clock) -> None:
    made = stated(tmp_path)
    for running in serve(made, experiment.build_list_files(made), tmp_path / "data", clock=clock):
        session = experiment.HttpTransport(running.address, ROBOT_KEY).begin_session("anna")
    assert session["order"] == [0, 1, 2, 3]
    assert len({trial["trial"] for trial in session["script"]["trials"]}) == EACH + 1


def test_who_has_left_the_last_list_is_given_neither_another_nor_the_code(tmp_path: Path, clock: Clock) -> None:
    made = stated(tmp_path, sessions=1)
    store = open_store(made, experiment.build_list_files(made), build_sqlite_url(tmp_path / "study.sqlite"), clock=clock)
    store.open_session(Arrival("anna"))
    clock.pass_minutes(60 * 25)
    with pytest.raises(Refusal) as refused:
        store.open_session(Arrival("anna"))
    assert refused.value.reason == "expired"


def test_robots_of_a_simulation_take_several_lists(tmp_path: Path) -> None:
    files = experiment.build_list_files(stated(tmp_path))
    taken = experiment.simulate(files, tmp_path / "sim", participants=6, seed=1, sessions=3)
    tables = experiment.collect(tmp_path / "sim")
    assert taken == len(tables["sessions"]) == 12 == len(files[0].trial_list.short_lists)
    assert max(tables["sessions"].groupby("participant").size()) == 3
    targets = tables["responses"].query("role == 'target'")
    assert not targets.duplicated(["participant", "item"]).any()
    assert (tables["judgment_counts"]["n_planned"] == tables["judgment_counts"]["n_judgments"]).all()
    first, second = (of["rt"].tolist() for _, of in islice(targets.groupby("session"), 2))
    assert first != second
    # Of a participant more than there is room for, nobody is shown anything twice.
    assert experiment.simulate(files, tmp_path / "one", participants=1, seed=1, sessions=9) <= PARADIGMS * PAIRS // EACH


def test_the_lab_deals_the_next_list_that_shares_nothing(tmp_path: Path) -> None:
    made = stated(tmp_path)
    [file] = experiment.build_list_files(made)
    folder, had = tmp_path / "lab", list[str]()
    for n in range(3):
        session = reservations.reserve_slot(folder, [file], "P01", now=NOW + timedelta(minutes=n))
        reservations.finish_session(folder, session, now=NOW + timedelta(minutes=n))
        had += [item for item, _ in items_of(session, file)]
    assert len(set(had)) == len(had)
    slots = [reservations.reserve_slot(folder, [file], f"P{n}", now=NOW).slot for n in range(10, 19)]
    assert len(set(slots)) == 9
    with pytest.raises(ValueError, match="every list is taken or shows what P20 has judged already"):
        reservations.reserve_slot(folder, [file], "P20", now=NOW)
    again = reservations.reserve_slot(folder, [file], "P21", now=NOW + timedelta(minutes=61))
    assert again.slot == 12 + min(slots), "the first that was left"


@pytest.mark.parametrize("platform", ["jspsych", "jatos", "pcibex", "gorilla", "psychopy"])
def test_exports_hold_each_list_once(platform: str, tmp_path: Path) -> None:
    made = stated(tmp_path)
    exported = export(made, platform, tmp_path / "out")
    assert (exported.list_count, exported.order_count, exported.slot_count) == (1, 12, 12)
    assert any(sentence.startswith("Lists go out in turn") for sentence in exported.losses)
    assert exported.slot_rule.startswith("Assignment n runs short list n")
    with pytest.raises(ValueError, match=r"orders is 3 beside design.short_lists; expected none"):
        export(made, platform, tmp_path / "other", 3)


def test_a_quota_beside_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(study.DataError, match=r"online.quota is 5 beside design.short_lists; expected none"):
        stated(tmp_path, more="quota = 5\n")


@pytest.mark.browser
@pytest.mark.slow
def test_who_opens_the_link_again_in_the_same_browser_gets_the_next_list(tmp_path: Path, chromium: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    made = stated(tmp_path, sessions=2)
    files = experiment.build_list_files(made)
    robot = experiment.create_robot(files, seed=1)
    for running in serve(made, files, tmp_path / "data"):
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=list(CHROMIUM_ARGUMENTS))
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            for _ in range(2):
                with page.expect_response("**/api/sessions") as answer:
                    page.goto(f"{running.address}?participant=anna&source=robot&key={ROBOT_KEY}")
                assert run_session_on_page(robot, page, answer.value.json(), "anna", pace=8) == "C0DE"
                page.wait_for_function("() => document.body.innerText.includes('Open the link again')")
            page.reload()
            page.wait_for_function("() => document.body.innerText.includes('C0DE')")
            browser.close()
        sessions = running.store.read_sessions()
    first, second = ({item for item, _ in items_of(session, files[0])} for session in sessions)
    assert first.isdisjoint(second)
    assert len({session.participant for session in sessions}) == 1
