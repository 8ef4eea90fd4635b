"""What cannot be of a person is named in tables and on the dashboard, stays in the data, and is left out where that is declared."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.analysis.cleaning.exclusions import apply_study_exclusions
from gardenpath.experiment.scripts.list_files import ListFile
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.store import Store
from gardenpath.experiment.sessions import plausibility
from gardenpath.experiment.sessions.plausibility import SESSION_FLAGS
from gardenpath.experiment.sessions.quality import compute_session_quality
from gardenpath.experiment.sessions.sessions import build_payload
from gardenpath.study.events import create_event

from .conftest import serve

ROOT = Path(__file__).parents[2]
Json = dict[str, Any]
Change = Callable[[list[Json]], list[Json]]


def words_of(events: list[Json]) -> list[Json]:
    return [event for event in events if event["kind"] == "word"]


def change_times(events: list[Json]) -> list[Json]:
    for event in events:
        if event["seq"] > 40:
            event["t"] += 9e11
    return events


def zero_times(events: list[Json]) -> list[Json]:
    return [{**event, "t": 0.0} for event in events]


def drop_presses(events: list[Json]) -> list[Json]:
    for event in words_of(events)[5:9]:
        event["value"]["press"] = None
    return events


def distrust_presses(events: list[Json]) -> list[Json]:
    for event in words_of(events):
        event["value"]["press"]["trusted"] = False
    return events


def set_clock_back(events: list[Json]) -> list[Json]:
    for event in events:
        if event["seq"] > len(events) // 2:
            event["t"] -= 60_000
    return events


def repeat_step(events: list[Json]) -> list[Json]:
    first = next(event for event in events if event["kind"] == "begin")
    at = events.index(first)
    again = [*events[: at + 1], *({**first} for _ in range(30)), *events[at + 1 :]]
    return [{**event, "seq": seq} for seq, event in enumerate(again)]


CASES: dict[str, tuple[Change, str]] = {
    "as they are": (lambda events: events, ""),
    "9e11 ms": (change_times, "clock_step impossible_time"),
    "all zero": (zero_times, "impossible_time"),
    "no press": (drop_presses, "no_press"),
    "a script's keys": (distrust_presses, "untrusted_press"),
    "a clock set back": (set_clock_back, "clock_step"),
    "a step begun thirty times": (repeat_step, "repeated_step"),
}


@pytest.fixture
def store(example: study.Study, list_files: list[ListFile], tmp_path: Path) -> Store:
    return routes.open_store(example, list_files, build_sqlite_url(tmp_path / "study.sqlite"))


def take(store: Store, list_files: list[ListFile], name: str, change: Change) -> str:
    opened = store.open_session(Arrival(participant=name))
    payload = build_payload(opened.session, opened.file, opened.walk, token="", visit=0, next_seq=0)
    machine = experiment.create_robot(list_files, seed=1)
    events = change([dict(event) for event in machine.simulate_events(payload, name)])
    store.append_events(opened.session.id, opened.token, [create_event(**event) for event in events])
    store.complete_session(opened.session.id, opened.token, len(events), "C")
    return opened.session.id


@pytest.mark.parametrize("case", CASES)
def test_each_is_named_and_stays(case: str, store: Store, list_files: list[ListFile], tmp_path: Path) -> None:
    change, flags = CASES[case]
    session = take(store, list_files, "anna", change)
    tables = experiment.collect(tmp_path / "study.sqlite")
    row = tables["sessions"].set_index("session").loc[session]
    assert ("" if pd.isna(row["session_flags"]) else row["session_flags"]) == flags
    assert len(tables["readings"]) > 100, "nothing is dropped"
    of_words = {flag for flags in tables["readings"]["quality_flags"].dropna() for flag in flags.split()}
    assert {*flags.split()} - {"clock_step", "repeated_step"} == of_words
    quality = compute_session_quality(*store.read_recorded_session(session))
    assert " ".join(quality.flags) == flags
    assert all(flag in SESSION_FLAGS for flag in quality.flags)


def test_the_dashboard_says_it_in_words(store: Store, example: study.Study, list_files: list[ListFile], tmp_path: Path) -> None:
    take(store, list_files, "anna", distrust_presses)
    running = serve(example, list_files, tmp_path, store.database.url, site=routes.SiteSettings(password="right"))
    with httpx2.Client(base_url=next(running).address, follow_redirects=True) as client:
        page = client.post("dashboard/login", data={"password": "right"})
        assert (page.status_code, "keys that a script made" in page.text) == (200, True)
    with pytest.raises(StopIteration):
        next(running)


def test_they_are_left_out_where_that_is_declared(store: Store, list_files: list[ListFile], tmp_path: Path) -> None:
    for n in range(4):
        take(store, list_files, f"good {n}", CASES["as they are"][0])
    bad = take(store, list_files, "bad", distrust_presses)
    tables = experiment.collect(tmp_path / "study.sqlite")

    def count(**rules: Any) -> tuple[int, set[str]]:
        settings = study.AnalysisSection(exclude=replace(study.AnalysisSection().exclude, **rules))
        readings, *_ = apply_study_exclusions(tables, settings)
        return len(readings), set(readings["session"])

    assert bad in count()[1], "without a rule nothing goes"
    assert bad not in count(session_flags=["untrusted_press"])[1]
    assert count(session_flags=["clock_step"]) == count()
    n_all, _ = count()
    n_kept, sessions = count(flags=["untrusted_press"])
    assert bad not in sessions
    assert n_kept < n_all


@pytest.mark.parametrize(("typed", "written"), [("a\x00b", "a\\x00b"), ("é\u0085\x1b[31m", "é\\x85\\x1b[31m"), ("a\nb", "a\\x0ab")])
def test_control_characters_are_written_out(typed: str, written: str) -> None:
    from gardenpath.experiment.tasks import escape_controls

    assert escape_controls(typed) == written


def test_the_documentation_names_each_flag_and_its_bounds() -> None:
    page = (ROOT / "docs" / "page.md").read_text("utf-8")
    section = page.partition("## What cannot be\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", section, re.MULTILINE))
    assert list(rows) == list(SESSION_FLAGS)
    assert (plausibility.MAX_WORD_MS, "more than an hour" in rows["impossible_time"]) == (3_600_000, True)
    assert (plausibility.MAX_STEP_BACK_MS, "more than a second before" in rows["clock_step"]) == (1_000, True)
    assert (plausibility.MAX_STEP_FORWARD_MS, "more than a day after" in rows["clock_step"]) == (86_400_000, True)
    assert f"more than {plausibility.MAX_BEGINS} times" in rows["repeated_step"]
