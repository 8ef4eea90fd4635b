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
from gardenpath.experiment.recruitment import Person
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival, Opened
from gardenpath.experiment.server.assignment import Filled, choose
from gardenpath.experiment.server.rules import Conflict, Refused
from gardenpath.experiment.server.store import Store

from .conftest import BOTH, Clock, new_database
from .made_events import event as made_event
from .made_events import passed

Versions = list[experiment.VersionFile]


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path, request)


@pytest.fixture
def opened(example: study.Study, versions: Versions, database_url: str, clock: Clock) -> Iterator[Store]:
    with store_with(example, versions, database_url, clock) as store:
        yield store


@contextmanager
def store_with(example: study.Study, versions: Versions, url: str, clock: Clock, **online: Any) -> Iterator[Store]:
    stated = dataclasses.replace(example, online=dataclasses.replace(example.online, **online))
    made = routes.open_store(stated, versions, url, clock=clock)
    yield made
    made.database.engine.dispose()


def arrival(name: str | None = None, **more: Any) -> Arrival:
    return Arrival(name, Person(name, "link") if name else None, **{"tab": name and f"tab-of-{name}", **more})


def read(store: Store, session: Opened) -> int:
    """Store events as short as the study takes them: each screen ends."""
    return store.append(session.session.id, session.token, passed(session.stand.steps))[0]


def finish(store: Store, session: Opened) -> None:
    assert store.complete(session.session.id, session.token, read(store, session), "CODE")[:2] == ([], {})


def test_the_version_with_the_fewest_places_taken_is_chosen() -> None:
    filled = {"E1-V1": Filled(3, 0), "E1-V2": Filled(1, 1), "E1-V3": Filled(0, 3)}
    assert choose(["E1-V1", "E1-V2", "E1-V3"], filled, None) == "E1-V2"
    assert choose(["E1-V1", "E1-V2", "E1-V3"], filled, 3) == "E1-V2"
    assert choose(["E1-V1", "E1-V3"], filled, 3) is None


def test_a_further_session_is_in_another_experiment_and_then_in_another_version() -> None:
    names = [f"E{e}-V{v}" for e in (1, 2) for v in (1, 2)]
    filled = {"E2-V1": Filled(completed=9), "E2-V2": Filled(completed=8)}
    assert choose(names, filled, None, ["E1-V1"]) == "E2-V2"
    assert choose(names, filled, None, ["E1-V1", "E2-V2"]) == "E1-V2"


@pytest.mark.slow
def test_every_version_ends_at_its_quota_though_a_third_of_the_arrivals_drop_out(
    example: study.Study, versions: Versions, database_url: str, clock: Clock, full: bool
) -> None:
    """Three versions of 100 places (40 without --full), eight arriving at a time, every third silent until its lease runs out."""
    three, quota = [file for file in versions if file.name.startswith("E1-")], 100 if full else 40
    with store_with(example, three, database_url, clock, quota=quota) as store:
        fill(store, three, clock, quota)


def fill(store: Store, three: Versions, clock: Clock, quota: int) -> None:
    random, watch, late = Random(1), Lock(), list[Opened]()
    taken: Counter[str] = Counter()
    begun = 0

    def arrive(number: int) -> Opened | None:
        # The lock makes what is seen before and after belong to this arrival; the store has locks of its own.
        with watch:
            before = store.filled()
            try:
                session = store.open(arrival(f"person-{number}"))
            except Refused:
                assert all(filled.places >= quota for filled in before.values())
                return None
            places = {file.name: before.get(file.name, Filled()).places for file in three}
            assert places[session.session.version] == min(places.values())
            return session

    with ThreadPoolExecutor(8) as pool:
        while True:
            wave = [session for session in pool.map(arrive, range(begun, begun + 48)) if session]
            begun += 48
            staying = [session for session in wave if random.random() > 1 / 3]
            late += [session for session in wave if session not in staying]
            list(pool.map(lambda session: finish(store, session), staying))
            taken.update(session.session.version for session in staying)
            if not wave and all(filled.completed == quota for filled in store.filled().values()):
                break
            clock.pass_minutes(61)
    assert taken == {file.name: quota for file in three}
    assert len(late) > 0.6 * quota
    # Ten who were given up come back and finish: they count, they are paid, and they are told apart.
    for session in late[:10]:
        finish(store, session)
    counted = store.filled().values()
    assert sum(filled.completed for filled in counted) == 3 * quota + 10
    assert sum(filled.late for filled in counted) == 10
    assert sum(filled.over(quota) for filled in counted) == 10
    with pytest.raises(Refused, match="quota"):
        store.open(arrival("one-more"))


def test_arrivals_at_once_never_share_a_place_nor_pass_the_quota(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    with store_with(example, versions, database_url, clock, quota=4) as store:

        def arrive(number: int, store: Store = store) -> str:
            try:
                return store.open(arrival(f"p{number}")).session.version
            except Refused as error:
                return error.reason

        with ThreadPoolExecutor(12) as pool:
            came = Counter(pool.map(arrive, range(60)))
        assert came == {**{file.name: 4 for file in versions}, "full": 60 - 4 * len(versions)}


def test_a_place_is_released_when_its_lease_runs_out_and_renewed_by_every_sign_of_life(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    one = versions[:1]
    with store_with(example, one, database_url, clock, quota=1) as store:
        first = store.open(arrival("anna"))
        for sign in (
            lambda: store.heartbeat(first.session.id, first.token),
            lambda: store.append(first.session.id, first.token, [made_event(0, 1.0, "end")]),
        ):
            clock.pass_minutes(50)
            sign()
            clock.pass_minutes(50)
            with pytest.raises(Refused, match="quota"):
                store.open(arrival("bert"))
            sign()
        clock.pass_minutes(61)
        assert store.open(arrival("bert")).session.version == first.session.version


def test_who_is_late_can_still_finish_and_counts(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    with store_with(example, versions[:1], database_url, clock, quota=1) as store:
        late = store.open(arrival("anna"))
        clock.pass_minutes(61)
        finish(store, store.open(arrival("bert")))
        finish(store, late)
        (filled,) = store.filled().values()
        assert (filled.completed, filled.late, filled.over(1)) == (2, 1, 1)
        assert [record.session.finished is not None for record in store.records()] == [True, True]


def test_one_session_a_person_and_a_second_one_where_the_study_has_more(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    with store_with(example, versions, database_url, clock, sessions=2) as store:
        first = store.open(arrival("anna"))
        assert store.open(arrival("anna")).session.id == first.session.id
        finish(store, first)
        second = store.open(arrival("anna"))
        assert second.session.version != first.session.version
        finish(store, second)
        with pytest.raises(Refused, match="finished the study already"):
            store.open(arrival("anna"))


def test_who_comes_back_goes_on_and_too_late_is_told_so(opened: Store, clock: Clock) -> None:
    first = opened.open(arrival("anna"))
    events = passed(first.stand.steps)
    opened.append(first.session.id, first.token, events[:3])
    clock.pass_minutes(23 * 60)
    again = opened.open(arrival("anna"))
    assert (again.session, again.token) == (first.session, first.token)
    assert (again.visit, again.next_seq, again.stand.done) == (1, 3, {0})
    clock.pass_minutes(24 * 60)
    with pytest.raises(Refused, match="left too long ago") as refused:
        opened.open(arrival("anna"))
    assert refused.value.reason == "expired"
    opened.append(first.session.id, first.token, events[3:])  # what its page still holds is taken, and paid
    assert opened.complete(first.session.id, first.token, len(events), "CODE")[0] == []


def test_a_browser_without_an_id_resumes_by_its_token_until_it_has_finished(opened: Store) -> None:
    first = opened.open(arrival())
    opened.heartbeat(first.session.id, first.token, leaving=True)
    again = opened.open(arrival(resume=first.resume))
    assert (again.session.id, again.token == first.token) == (first.session.id, False)
    assert opened.open(arrival(resume="of-somebody-else")).session.id != first.session.id
    finish(opened, again)
    assert opened.open(arrival(resume=first.resume)).session.id != first.session.id


def test_a_second_tab_waits_until_the_first_is_silent_or_left(opened: Store, clock: Clock) -> None:
    first = opened.open(arrival("anna", tab="tab-one-1"))
    id, token = first.session.id, first.token
    assert opened.open(arrival("anna", tab="tab-one-1")).visit == 1
    with pytest.raises(Refused) as refused:
        opened.open(arrival("anna", tab="tab-two-2"))
    assert (refused.value.reason, refused.value.wait) == ("open_elsewhere", 90.0)
    clock.pass_minutes(1)
    opened.heartbeat(id, token)
    clock.pass_minutes(1)
    with pytest.raises(Refused):
        opened.open(arrival("anna", tab="tab-two-2"))
    clock.pass_minutes(0.6)
    second = opened.open(arrival("anna", tab="tab-two-2"))
    assert second.visit == 2
    with pytest.raises(Refused, match="another tab"):
        opened.heartbeat(id, token)
    opened.heartbeat(id, second.token, leaving=True)
    assert opened.open(arrival("anna", tab="tab-one-1")).visit == 3


def test_a_session_that_does_not_count_opens_its_place_and_keeps_its_data(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    with store_with(example, versions[:1], database_url, clock, quota=1) as store:
        first = store.open(Arrival("anna", Person("raw", "prolific", "submission-7")))
        finish(store, first)
        with pytest.raises(ValueError, match="the reason is empty"):
            store.exclude(first.session.id, " ")
        with pytest.raises(KeyError, match="'nobody' is not known"):
            store.exclude("nobody", "pilot")
        clock.pass_minutes(1)
        assert store.exclude("submission-7", "pressed keys\nat random") == first.session.id
        assert store.open(arrival("bert")).session.version == first.session.version
        assert [record.session.excluded for record in store.records()] == ["pressed keys at random", None]
        assert store.payments()[1]["status"] == "completed"
        store.include(first.session.id)
        assert store.filled()[first.session.version].places == 2


def test_a_closed_study_takes_nobody_new_and_lets_the_others_finish(opened: Store) -> None:
    first = opened.open(arrival("anna"))
    opened.close()
    with pytest.raises(Refused) as refused:
        opened.open(arrival("bert"))
    assert (refused.value.reason, opened.closed) == ("closed", True)
    finish(opened, opened.open(arrival("anna")))
    assert first.session.id
    opened.close(False)
    assert opened.open(arrival("bert")).visit == 0


def test_previews_show_any_version_from_any_trial_and_take_no_place(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    with store_with(example, versions[:1], database_url, clock, quota=1) as store:
        for _ in range(3):
            shown = store.open(arrival(preview=(versions[0].name, 5)))
            assert (shown.session.source, shown.stand.at) == ("preview", (11, 0))
        assert store.complete(shown.session.id, shown.token, 0, "CODE")[0] == []
        assert store.open(arrival("anna")).session.slot == 0
        assert [record.session.source for record in store.records()] == ["server"]
        assert len([*store.records(previews=True)]) == 4
        with pytest.raises(Refused, match="no version 'E9-V9'"):
            store.open(arrival(preview=("E9-V9", 0)))


def test_withdrawal_releases_the_place_and_takes_no_further_events(
    example: study.Study, versions: Versions, database_url: str, clock: Clock
) -> None:
    with store_with(example, versions[:1], database_url, clock, quota=1, withdrawal="keep") as store:
        first = store.open(arrival("anna"))
        store.withdraw(first.session.id, first.token, "withdrawn", None)
        with pytest.raises(Conflict, match="withdrawn"):
            store.append(first.session.id, first.token, [])
        assert store.open(arrival("bert")).session.version == first.session.version
        with pytest.raises(Refused, match="withdrawn or was forgotten"):
            store.open(arrival("anna"))
