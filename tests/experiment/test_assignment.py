"""Places are reserved, confirmed and released, on SQLite and on PostgreSQL alike."""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival, OpenedSession
from gardenpath.experiment.server.rules import Conflict, Refusal
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.sessions.assignment import SlotCounts, choose_list
from gardenpath.experiment.sessions.recruitment import PlatformParticipant

from .conftest import BOTH, Clock, new_database
from .made_events import event as made_event
from .made_events import passed

ListFiles = list[experiment.ListFile]


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


@pytest.fixture
def opened(example: study.Study, list_files: ListFiles, database_url: str, clock: Clock) -> Iterator[Store]:
    with store_with(example, list_files, database_url, clock) as store:
        yield store


@contextmanager
def store_with(example: study.Study, list_files: ListFiles, url: str, clock: Clock, **online: Any) -> Iterator[Store]:
    stated = dataclasses.replace(example, online=dataclasses.replace(example.online, **online))
    made = routes.open_store(stated, list_files, url, clock=clock)
    yield made
    made.database.engine.dispose()


def arrival(name: str | None = None, **more: Any) -> Arrival:
    return Arrival(name, PlatformParticipant(name, "link") if name else None, **{"tab": name and f"tab-of-{name}", **more})


def read(store: Store, session: OpenedSession) -> int:
    """Store events as short as the study takes them: each screen ends."""
    return store.append_events(session.session.id, session.token, passed(session.walk.steps))[0]


def finish(store: Store, session: OpenedSession) -> None:
    assert store.complete_session(session.session.id, session.token, read(store, session), "CODE")[:2] == ([], {})


def test_the_list_with_the_fewest_places_taken_is_chosen() -> None:
    filled = {"E1-L1": SlotCounts(3, 0), "E1-L2": SlotCounts(1, 1), "E1-L3": SlotCounts(0, 3)}
    assert choose_list(["E1-L1", "E1-L2", "E1-L3"], filled, None) == "E1-L2"
    assert choose_list(["E1-L1", "E1-L2", "E1-L3"], filled, 3) == "E1-L2"
    assert choose_list(["E1-L1", "E1-L3"], filled, 3) is None


def test_a_further_session_is_in_another_experiment_and_then_in_another_list() -> None:
    names = [f"E{e}-L{v}" for e in (1, 2) for v in (1, 2)]
    filled = {"E2-L1": SlotCounts(completed=9), "E2-L2": SlotCounts(completed=8)}
    assert choose_list(names, filled, None, ["E1-L1"]) == "E2-L2"
    assert choose_list(names, filled, None, ["E1-L1", "E2-L2"]) == "E1-L2"


@pytest.mark.slow
def test_every_list_ends_at_its_quota_though_a_third_of_the_arrivals_drop_out(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock, full: bool
) -> None:
    """Three lists of 100 places (40 without --full), eight arriving at a time, every third silent until its lease runs out."""
    three, quota = [file for file in list_files if file.name.startswith("E1-")], 100 if full else 40
    with store_with(example, three, database_url, clock, quota=quota) as store:
        fill(store, three, clock, quota)


def fill(store: Store, three: ListFiles, clock: Clock, quota: int) -> None:
    random, watch, late = Random(1), Lock(), list[OpenedSession]()
    taken: Counter[str] = Counter()
    begun = 0

    def arrive(number: int) -> OpenedSession | None:
        # The lock makes what is seen before and after belong to this arrival; the store has locks of its own.
        with watch:
            before = store.count_slots()
            try:
                session = store.open_session(arrival(f"person-{number}"))
            except Refusal:
                assert all(filled.taken_slots >= quota for filled in before.values())
                return None
            places = {file.name: before.get(file.name, SlotCounts()).taken_slots for file in three}
            assert places[session.session.list_name] == min(places.values())
            return session

    with ThreadPoolExecutor(8) as pool:
        while True:
            wave = [session for session in pool.map(arrive, range(begun, begun + 48)) if session]
            begun += 48
            staying = [session for session in wave if random.random() > 1 / 3]
            late += [session for session in wave if session not in staying]
            list(pool.map(lambda session: finish(store, session), staying))
            taken.update(session.session.list_name for session in staying)
            if not wave and all(filled.completed == quota for filled in store.count_slots().values()):
                break
            clock.pass_minutes(61)
    assert taken == {file.name: quota for file in three}
    assert len(late) > 0.6 * quota
    # Ten who were given up come back and finish: they count, they are paid, and they are told apart.
    for session in late[:10]:
        finish(store, session)
    counted = store.count_slots().values()
    assert sum(filled.completed for filled in counted) == 3 * quota + 10
    assert sum(filled.late for filled in counted) == 10
    assert sum(filled.count_over_quota(quota) for filled in counted) == 10
    with pytest.raises(Refusal, match="quota"):
        store.open_session(arrival("one-more"))


def test_arrivals_at_once_never_share_a_place_nor_pass_the_quota(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    with store_with(example, list_files, database_url, clock, quota=4) as store:

        def arrive(number: int, store: Store = store) -> str:
            try:
                return store.open_session(arrival(f"p{number}")).session.list_name
            except Refusal as error:
                return error.reason

        with ThreadPoolExecutor(12) as pool:
            came = Counter(pool.map(arrive, range(60)))
        assert came == {**{file.name: 4 for file in list_files}, "full": 60 - 4 * len(list_files)}


def test_a_place_is_released_when_its_lease_runs_out_and_renewed_by_every_sign_of_life(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    one = list_files[:1]
    with store_with(example, one, database_url, clock, quota=1) as store:
        first = store.open_session(arrival("anna"))
        for sign in (
            lambda: store.renew_lease(first.session.id, first.token),
            lambda: store.append_events(first.session.id, first.token, [made_event(0, 1.0, "end")]),
        ):
            clock.pass_minutes(50)
            sign()
            clock.pass_minutes(50)
            with pytest.raises(Refusal, match="quota"):
                store.open_session(arrival("bert"))
            sign()
        clock.pass_minutes(61)
        assert store.open_session(arrival("bert")).session.list_name == first.session.list_name


def test_who_is_late_can_still_finish_and_counts(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    with store_with(example, list_files[:1], database_url, clock, quota=1) as store:
        late = store.open_session(arrival("anna"))
        clock.pass_minutes(61)
        finish(store, store.open_session(arrival("bert")))
        finish(store, late)
        (filled,) = store.count_slots().values()
        assert (filled.completed, filled.late, filled.count_over_quota(1)) == (2, 1, 1)
        assert [record.session.finished is not None for record in store.read_recorded_sessions()] == [True, True]


def test_one_session_a_person_and_a_second_one_where_the_study_has_more(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    with store_with(example, list_files, database_url, clock, max_sessions=2) as store:
        first = store.open_session(arrival("anna"))
        assert store.open_session(arrival("anna")).session.id == first.session.id
        finish(store, first)
        second = store.open_session(arrival("anna"))
        assert second.session.list_name != first.session.list_name
        finish(store, second)
        with pytest.raises(Refusal, match="finished the study already"):
            store.open_session(arrival("anna"))


def test_who_comes_back_goes_on_and_too_late_is_told_so(opened: Store, clock: Clock) -> None:
    first = opened.open_session(arrival("anna"))
    events = passed(first.walk.steps)
    opened.append_events(first.session.id, first.token, events[:3])
    clock.pass_minutes(23 * 60)
    again = opened.open_session(arrival("anna"))
    assert (again.session, again.token) == (first.session, first.token)
    assert (again.visit, again.next_seq, again.walk.done_steps) == (1, 3, {0})
    clock.pass_minutes(24 * 60)
    with pytest.raises(Refusal, match="left too long ago") as refused:
        opened.open_session(arrival("anna"))
    assert refused.value.reason == "expired"
    opened.append_events(first.session.id, first.token, events[3:])  # what its page still holds is taken, and paid
    assert opened.complete_session(first.session.id, first.token, len(events), "CODE")[0] == []


def test_a_browser_without_an_id_resumes_by_its_token_until_it_has_finished(opened: Store) -> None:
    first = opened.open_session(arrival())
    opened.renew_lease(first.session.id, first.token, is_leaving=True)
    again = opened.open_session(arrival(resume_token=first.resume_token))
    assert (again.session.id, again.token == first.token) == (first.session.id, False)
    assert opened.open_session(arrival(resume_token="of-somebody-else")).session.id != first.session.id
    finish(opened, again)
    assert opened.open_session(arrival(resume_token=first.resume_token)).session.id != first.session.id


def test_a_second_tab_waits_until_the_first_is_silent_or_left(opened: Store, clock: Clock) -> None:
    first = opened.open_session(arrival("anna", tab="tab-one-1"))
    id, token = first.session.id, first.token
    assert opened.open_session(arrival("anna", tab="tab-one-1")).visit == 1
    with pytest.raises(Refusal) as refused:
        opened.open_session(arrival("anna", tab="tab-two-2"))
    assert (refused.value.reason, refused.value.wait_seconds) == ("open_elsewhere", 90.0)
    clock.pass_minutes(1)
    opened.renew_lease(id, token)
    clock.pass_minutes(1)
    with pytest.raises(Refusal):
        opened.open_session(arrival("anna", tab="tab-two-2"))
    clock.pass_minutes(0.6)
    second = opened.open_session(arrival("anna", tab="tab-two-2"))
    assert second.visit == 2
    with pytest.raises(Refusal, match="another tab"):
        opened.renew_lease(id, token)
    opened.renew_lease(id, second.token, is_leaving=True)
    assert opened.open_session(arrival("anna", tab="tab-one-1")).visit == 3


def test_a_session_that_does_not_count_opens_its_place_and_keeps_its_data(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    with store_with(example, list_files[:1], database_url, clock, quota=1) as store:
        first = store.open_session(Arrival("anna", PlatformParticipant("raw", "prolific", "submission-7")))
        finish(store, first)
        with pytest.raises(ValueError, match="the reason is empty"):
            store.exclude_session(first.session.id, " ")
        with pytest.raises(KeyError, match="'nobody' is not known"):
            store.exclude_session("nobody", "pilot")
        clock.pass_minutes(1)
        assert store.exclude_session("submission-7", "pressed keys\nat random") == first.session.id
        assert store.open_session(arrival("bert")).session.list_name == first.session.list_name
        assert [record.session.exclusion_reason for record in store.read_recorded_sessions()] == ["pressed keys at random", None]
        assert store.list_payments()[1]["status"] == "completed"
        store.include_session(first.session.id)
        assert store.count_slots()[first.session.list_name].taken_slots == 2


def test_a_closed_study_takes_nobody_new_and_lets_the_others_finish(opened: Store) -> None:
    first = opened.open_session(arrival("anna"))
    opened.set_closed()
    with pytest.raises(Refusal) as refused:
        opened.open_session(arrival("bert"))
    assert (refused.value.reason, opened.is_closed) == ("closed", True)
    finish(opened, opened.open_session(arrival("anna")))
    assert first.session.id
    opened.set_closed(False)
    assert opened.open_session(arrival("bert")).visit == 0


def test_previews_show_any_list_from_any_trial_and_take_no_place(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    with store_with(example, list_files[:1], database_url, clock, quota=1) as store:
        for _ in range(3):
            shown = store.open_session(arrival(preview=(list_files[0].name, 5)))
            assert (shown.session.source, shown.walk.location) == ("preview", (11, 0))
        assert store.complete_session(shown.session.id, shown.token, 0, "CODE")[0] == []
        assert store.open_session(arrival("anna")).session.slot == 0
        assert [record.session.source for record in store.read_recorded_sessions()] == ["server"]
        assert len([*store.read_recorded_sessions(previews=True)]) == 4
        with pytest.raises(Refusal, match="no list 'E9-L9'"):
            store.open_session(arrival(preview=("E9-L9", 0)))


def test_withdrawal_releases_the_place_and_takes_no_further_events(
    example: study.Study, list_files: ListFiles, database_url: str, clock: Clock
) -> None:
    with store_with(example, list_files[:1], database_url, clock, quota=1, withdrawal="keep") as store:
        first = store.open_session(arrival("anna"))
        store.withdraw_session(first.session.id, first.token, "withdrawn", None)
        with pytest.raises(Conflict, match="withdrawn"):
            store.append_events(first.session.id, first.token, [])
        assert store.open_session(arrival("bert")).session.list_name == first.session.list_name
        with pytest.raises(Refusal, match="withdrawn or was forgotten"):
            store.open_session(arrival("anna"))
