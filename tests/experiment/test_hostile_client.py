"""A client that sends what it likes: nothing fails, its own session alone is touched, and what is set apart is named."""

import copy
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gardenpath import experiment, study
from gardenpath.experiment.scripts.script import build_timeline
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.sessions.event_tables import build_session_tables
from gardenpath.experiment.sessions.event_validation import validate_events
from gardenpath.experiment.sessions.session_folders import read_recorded_sessions, write_recorded_session
from gardenpath.experiment.sessions.sessions import (
    RecordedSession,
    RejectedEvent,
    build_payload,
    build_session_timeline,
    open_session,
    replay_session_events,
    validate_session_events,
)
from gardenpath.study.config import FieldSection
from gardenpath.study.events import EVENT_TYPES, Event, create_event
from gardenpath.study.screens import Entry, Form, Pace, Pair, Slider, Step, WordPairs

from .task_studies import stated

Json = dict[str, Any]
STUDY = """
[procedure.target]
show = "centred"
ask = ["good"]
[procedure.tasks.good]
kind = "rating"
prompt = "Good?"
low = "no"
high = "yes"
[online]
completion_code = "CODE"
"""
# What stands in place of each field; or it is gone, or another stands beside it.
JUNK = (None, -1, 999, float("inf"), "half \ud83d, zero \0", {"x": []})
GONE, MORE = object(), object()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> study.Study:
    return stated(tmp_path_factory.mktemp("hostile"), STUDY)


@pytest.fixture(scope="module")
def file(made: study.Study) -> experiment.ListFile:
    """A list with every kind of screen: one way of reading and of asking in each trial, questions at the end."""
    of = experiment.build_list_files(made)[0]
    trials = [replace(step, screens=every_kind(n, step)) for n, step in enumerate(of.script.trials)]
    fields = (
        FieldSection("age", "Age?", "number", min=18, max=99),
        FieldSection("hand", "Hand?", "choice", ["left", "right"]),
        FieldSection("more", "More?"),
    )
    form = Form(name="form", heading="", note="", fields=fields, button="Go", missing="?", no_number="?")
    return replace(of, script=replace(of.script, trials=tuple(trials), end=(Step("form", (form,)), *of.script.end)))


def every_kind(n: int, step: Step) -> tuple[Any, ...]:
    words, rating = step.screens
    pairs = tuple(Pair(word, "other", "left") for word in words.words)  # type: ignore[union-attr]
    reading = (words, WordPairs(name="maze", task="maze", pairs=pairs, redo=True), replace(words, task="rsvp", pace=Pace(200.0)))
    asking = (
        rating,
        Slider(name="slider", task="rating", prompt="?", low="", high="", button="Go"),
        Entry(name="entry", task="completion", prompt="?", button="Go", missing="?"),
    )
    return reading[n % 3], asking[n % 3]


@pytest.fixture
def store(made: study.Study, file: experiment.ListFile, tmp_path: Path) -> Iterator[Store]:
    opened = routes.open_store(made, [file], build_sqlite_url(tmp_path / "study.sqlite"))
    yield opened
    opened.database.engine.dispose()


def paths(value: object, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each place in an event that has a name."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield (*at, name)
        yield from paths(inner, (*at, name))


def mutations(event: Json, full: bool) -> Iterator[tuple[tuple[str, ...], object]]:
    """What to change in events of this kind: each place, and what stands there then; without --full two things each, in turn."""
    for n, path in enumerate(paths(event)):
        for m, junk in enumerate((*JUNK, GONE, MORE)):
            if full or (m - n) % 4 == 0:
                yield path, junk


def mutated(event: Json, path: Sequence[str], junk: object) -> Json | None:
    changed = inner = copy.deepcopy(event)
    *outer, name = path
    for part in outer:
        inner = inner[part]
        if inner is None:
            return None
    if junk is GONE:
        del inner[name]
    else:
        inner["unheard of" if junk is MORE else name] = None if junk is MORE else junk
    return changed


@pytest.fixture
def client(store: Store, made: study.Study) -> Any:
    testclient = pytest.importorskip("starlette.testclient", reason="the extra online is not installed")
    app = routes.create_application(store, made, key=b"key")
    return testclient.TestClient(app, base_url="http://localhost", client=("127.0.0.1", 1))


class Client:
    """A session at the API, whose answers are never those of a fault."""

    def __init__(self, client: Any, name: str) -> None:
        self.client = client
        self.payload = self.call("POST", "", {"participant": name})[1]

    def call(self, method: str, what: str, body: object) -> tuple[int, Any]:
        headers = {"content-type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.payload['token']}"} if what else {}
        path = f"/api/sessions{what and '/' + self.payload['session']}{what}"
        answer = self.client.request(method, path, content=json.dumps(body).replace("Infinity", "1e999"), headers=headers)
        assert answer.status_code in (200, 201, 400, 409), answer.text
        return answer.status_code, answer.json()

    def events(self, machine: experiment.Robot) -> list[Json]:
        return list(machine.simulate_events(self.payload, self.payload["session"]))


def test_every_field_of_every_kind_of_event_changed_harms_nobody_else(
    client: Any, store: Store, file: experiment.ListFile, full: bool, caplog: pytest.LogCaptureFixture
) -> None:
    machine = experiment.create_robot([file], seed=1)
    kinds = {screen.kind: screen for step in file.script.trials for screen in step.screens}
    waiting: dict[tuple[str, str], Iterator[Any]] = {}
    spent: set[tuple[str, str]] = set()
    sessions = 0
    while not waiting or spent < set(waiting):
        one, sessions = Client(client, f"hostile-{sessions}"), sessions + 1
        steps = build_timeline(file.script, one.payload["order"])
        events = one.events(machine)
        trial = next(placed.number for placed in steps if placed.position == 0)
        for kind, value in (("press", {"reason": "early", "code": "Space"}), ("interruption", {"reason": "blur"})):
            more = {"kind": kind, "step": trial, "screen": 0, "value": value}
            events.append({**more, "seq": len(events), "visit": 0, "t": 1e6})
        rest = []
        for event in events:
            screen = "" if event["screen"] is None else steps[event["step"]].step.screens[event["screen"]].kind
            left = waiting.setdefault((event["kind"], screen), mutations(event, full))
            path, junk = next(left, (None, None))
            changed = None if path is None else mutated(event, path, junk)
            if path is None:
                spent.add((event["kind"], screen))
            if changed is None or path == ("seq",):  # without its number nothing of a request is taken
                rest.append(event)
            if changed is not None:
                one.call("PUT", "/events", {"events": [changed]})
        one.call("PUT", "/events", {"events": rest})
        one.call("POST", "/complete", {"events": len(events)})
    assert {screen for _, screen in spent} == {"", "text", "form", *kinds}
    assert {kind for kind, _ in spent} == set(EVENT_TYPES)
    for n in range(2):
        one = Client(client, f"honest-{n}")
        events = one.events(machine)
        assert one.call("PUT", "/events", {"events": events}) == (200, {"stored": len(events), "rejected": []})
        assert one.call("POST", "/complete", {"events": len(events)})[1] == {"code": "CODE", "url": None, "rejected": []}
    tables = experiment.collect(store.database.url)
    assert "report" not in caplog.text, "what is set apart leaves sessions that become tables"
    assert len(tables["sessions"]) == sessions + 2
    whole = tables["sessions"].tail(2)
    assert whole["complete"].all()
    assert whole["n_trials"].tolist() == [len(file.trial_list.trials)] * 2
    words = sum(
        len(getattr(screen, "words", getattr(screen, "pairs", ()))) for step in file.script.trials for screen in step.screens
    )
    assert tables["readings"]["session"].isin(whole["session"]).sum() == 2 * words


def taken(file: experiment.ListFile, name: str = "r") -> RecordedSession:
    """A session as a robot takes it."""
    session = open_session(file, 0, id=f"s-{name}", participant=name, started="2026", source="server")
    shown = build_payload(session, file, replay_session_events(session, file), token="", visit=0, next_seq=0)
    events = experiment.create_robot([file], seed=1).simulate_events(shown, name)
    return RecordedSession(replace(session, finished="2027"), tuple(create_event(**event) for event in events))


@pytest.fixture(scope="module")
def pair(file: experiment.ListFile) -> tuple[RecordedSession, RecordedSession, dict[str, pd.DataFrame]]:
    """A session to be put in disorder, another one, and the tables of that."""
    other = taken(file, "other")
    return taken(file, "hostile"), other, build_session_tables([other], {file.sha256: file})


def numbered(events: Sequence[Event]) -> tuple[Event, ...]:
    return tuple(replace(event, seq=n) for n, event in enumerate(events))


def same(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame], session: str) -> None:
    for name in ("readings", "responses", "sessions", "demographics"):
        left, right = (made[name][made[name]["session"] == session].reset_index(drop=True) for made in (one, other))
        pd.testing.assert_frame_equal(left, right, check_dtype=False)


def test_words_and_answers_that_come_twice_are_named_with_the_code_and_make_no_rows(
    client: Any, store: Store, file: experiment.ListFile
) -> None:
    one = Client(client, "anna")
    events = one.events(experiment.create_robot([file], seed=1))
    at = [n for n, event in enumerate(events) if event["kind"] in ("word", "outcome") and event["screen"] is not None]
    twice = [*at[5:9:3], at[-2]]
    for n in sorted(twice, reverse=True):
        events.insert(n + 1, dict(events[n]))
    events = [{**event, "seq": n} for n, event in enumerate(events)]
    again = [n + i + 1 for i, n in enumerate(sorted(twice))]
    assert one.call("PUT", "/events", {"events": events})[0] == 200
    named = one.call("POST", "/complete", {"events": len(events)})[1]
    assert [entry["seq"] for entry in named["rejected"]] == again
    assert named["code"] == "CODE"
    once = numbered([create_event(**event) for event in events if event["seq"] not in again])
    (record,) = store.read_recorded_sessions()
    same(
        build_session_tables([record], store.read_list_files()),
        build_session_tables([replace(record, events=once)], store.read_list_files()),
        record.session.id,
    )


@given(edits=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 999), st.integers(0, 999)), min_size=1, max_size=8))
@settings(max_examples=12)
def test_events_in_any_disorder_become_tables_and_nobody_elses_change(
    file: experiment.ListFile,
    pair: tuple[RecordedSession, RecordedSession, dict[str, pd.DataFrame]],
    edits: list[tuple[int, int, int]],
) -> None:
    """Events are lost, doubled, moved, given to other steps, begun again and retimed; times stay those of neighbouring words."""
    hostile, other, alone = pair
    events = list(hostile.events)
    for how, a, b in edits:
        a, b = a % len(events), b % len(events)
        if how < 2:
            events.insert(b, events[a])
        elif how < 4:
            events.insert(b, events.pop(a))
        elif how == 4 and len(events) > 1:
            del events[a]
        elif how == 5:
            events[a] = replace(events[a], t=events[b].t)
        elif how == 6:
            events[a] = replace(events[a], visit=events[a].visit + 1)
        elif events[a].step is not None and events[b].step is not None:
            events[a] = replace(events[a], step=events[b].step)
    record = replace(hostile, events=numbered(events))
    tables = build_session_tables([record, other], {file.sha256: file})
    assert len(tables["sessions"]) == 2
    same(tables, alone, "s-other")
    read = tables["readings"][tables["readings"]["session"] == "s-hostile"]
    assert not (read["rt"] < 0).any()
    assert (
        validate_events(
            build_session_timeline(record.session, file), validate_session_events(record, file).valid_events
        ).rejection_reasons
        == {}
    ), "what is known is known again"


def test_a_session_that_cannot_become_tables_is_set_aside_and_named(
    file: experiment.ListFile, caplog: pytest.LogCaptureFixture
) -> None:
    """Files that were changed by hand: values that no server takes."""
    good, files = taken(file, "good"), {file.sha256: file}

    def broken(kind: str, **value: object) -> RecordedSession:
        n = next(n for n, event in enumerate(good.events) if event.kind == kind)
        changed = replace(good.events[n], value={**good.events[n].value, **value})
        made = replace(good, events=(*good.events[:n], changed, *good.events[n + 1 :]))
        return replace(made, session=replace(good.session, id=f"s-{kind}", participant=kind))

    tables = build_session_tables([broken("visit", refresh_hz="fast"), good, broken("word", word=None)], files)
    same(tables, build_session_tables([good], files), "s-good")
    assert tables["sessions"]["session"].tolist() == ["s-good"]
    for id, why in (("s-visit", "'fast'"), ("s-word", "TypeError")):
        assert re.search(f"session {id} is set aside: .*{why}", caplog.text)
    with pytest.raises(study.DataError, match="no session can become tables"):
        build_session_tables([broken("word", word=None)], files)


@pytest.mark.parametrize("how", ["steps done of which no screen ended", "consent declined", "the last step left out"])
def test_the_code_comes_at_the_end_of_the_script_alone(client: Any, file: experiment.ListFile, how: str) -> None:
    one = Client(client, "anna")
    events = one.events(experiment.create_robot([file], seed=1))
    if how == "consent declined":
        at = next(n for n, event in enumerate(events) if event["value"].get("outcome") == "accepted")
        events = [*events[:at], {**events[at], "value": {**events[at]["value"], "outcome": "declined"}}]
    elif how == "the last step left out":
        last = max(event["step"] for event in events if event["step"] is not None)
        events = [event for event in events if event["step"] != last]
    else:
        events = [event for event in events if event["kind"] in ("begin", "done")]
    events = [{**event, "seq": n} for n, event in enumerate(events)]
    assert one.call("PUT", "/events", {"events": events})[0] == 200
    status, said = one.call("POST", "/complete", {"events": len(events)})
    assert (status, "the code comes at the end" in said["error"], "code" in said) == (409, True, False)


def test_what_was_set_apart_goes_into_a_folder_and_back_and_no_event_counts_as_lost(
    file: experiment.ListFile, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record = taken(file)
    apart = (RejectedEvent(len(record.events), "word 999; expected one from -1 to 9", '{"word": 999}'),)
    more = replace(record, rejected_events=apart, events=(*record.events, replace(record.events[-1], seq=len(record.events) + 1)))
    write_recorded_session(tmp_path, more, file)
    assert list(read_recorded_sessions(tmp_path)) == [more]
    assert experiment.collect(tmp_path)["sessions"]["complete"].tolist() == [True]
    assert f"1 event is set apart; first number {apart[0].seq}: word 999" in caplog.text
