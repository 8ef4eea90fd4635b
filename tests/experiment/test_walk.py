"""The walk through a script is held to experiment/players/walk.json, as the page's is (players/web/tests/walk.test.ts)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment
from gardenpath.experiment.scripts.script import TimelineStep, Walk, build_timeline, replay_events
from gardenpath.study.config import DeviceSection
from gardenpath.study.events import Event, create_event
from gardenpath.study.screens import After, Exit, Interlude, Pace, Script, Share, Step, Text, Words

PLAYERS = Path(experiment.__file__).parent / "players"
STATED: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads((PLAYERS / "walk.json").read_text("utf-8"))


def _screen(stated: Mapping[str, Any]) -> Text | Words:
    when = stated.get("when")
    flow: dict[str, Any] = {"name": "screen", "exits": tuple(Exit(**one) for one in stated.get("exits", ()))}
    flow["when"] = when and After(when["screen"], tuple(when["outcomes"]))
    if stated.get("kind") == "words":
        return Words(words=(), gaps=(), pace=stated["pace"] and Pace(**stated["pace"]), **flow)
    return Text(paragraphs=(), **flow)


def _step(stated: Mapping[str, Any], trial: int | None = None) -> Step:
    screens, when = tuple(map(_screen, stated["screens"])), stated.get("when")
    return Step("step", screens, stated.get("trial", trial), stated.get("block", ""), when and Share(**when))


def steps_of(case: Mapping[str, Any]) -> tuple[TimelineStep, ...]:
    """Return the steps of a case, what is not stated filled in."""
    stated = case["script"]
    interludes = tuple(Interlude(one["before"], tuple(map(_step, one["steps"]))) for one in stated["interludes"])
    made = Script(
        language="en",
        direction="ltr",
        device=DeviceSection(),
        consent=None,
        front=tuple(map(_step, stated["front"])),
        trials=tuple(_step(one, n) for n, one in enumerate(stated["trials"])),
        interludes=interludes,
        end=tuple(map(_step, stated["end"])),
        texts={},
        lab={},
    )
    return build_timeline(made, case["order"])


def run(case: Mapping[str, Any]) -> dict[str, Any]:
    """Walk a case, in one go and again over the events that a player would leave at each moment; return where it led."""
    steps = steps_of(case)
    done, tallies = case.get("done", []), case.get("tallies", {})
    stand = Walk(steps, done, {block: (right, of) for block, (right, of) in tallies.items()})
    events = [_event("begin", number, None) for number in done] + [_event("done", number, None) for number in done]
    visited = []
    for outcome in case["outcomes"]:
        assert stand.location is not None, "an outcome more than screens"
        number, n = stand.location
        visited.append([number, n])
        if n == 0:
            events.append(_event("begin", number, None))
        events.append(_event("outcome", number, n, outcome))
        if stand.end_screen(outcome):
            events.append(_event("done", number, None))
        if not tallies:
            again = replay_events(steps, events)
            assert (again.done_steps, again.tallies, again.ending) == (stand.done_steps, stand.tallies, stand.ending)
            assert stand.location is None or again.location == (stand.location[0], 0), "what resumes is a step"
    return {
        "positions": [placed.position for placed in steps],
        "visited": visited,
        "next": stand.location and list(stand.location),
        "left_done": sorted(stand.done_steps),
        "left_tallies": {block: list(tally) for block, tally in stand.tallies.items()},
        "ending": stand.ending,
    }


def _event(kind: str, step: int, screen: int | None, outcome: str | None = None) -> Event:
    return create_event(0, 0, 0.0, kind, step, screen, {"outcome": outcome} if outcome else {})


@pytest.mark.parametrize("case", STATED["cases"], ids=lambda case: case["name"])
def test_a_script_is_walked_as_stated(case: Mapping[str, Any]) -> None:
    got = run(case)
    assert got == {key: case[key] for key in got}


@pytest.mark.parametrize("case", STATED["resumed"], ids=lambda case: case["name"])
def test_a_session_that_was_broken_off_goes_on_as_stated(case: Mapping[str, Any]) -> None:
    steps = steps_of(case)
    there = replay_events(steps, [_event(*event) for event in case["events"]])
    told = Walk(steps, there.done_steps, there.tallies, there.outcomes)  # what a player is told of it
    for stand in (there, told):
        assert (stand.location, stand.is_interrupted) == (tuple(case["at"]), bool(case["interrupted"]))
        assert {str(n): outcome for n, outcome in stand.outcomes.items()} == case["interrupted"]
        visited = []
        for outcome in case["outcomes"]:
            assert stand.location is not None, "an outcome more than screens"
            visited.append(list(stand.location))
            stand.end_screen(outcome)
            assert not stand.is_interrupted
        assert (visited, stand.location) == (case["visited"], None)
        assert sorted(stand.done_steps) == case["left_done"]
        assert {block: list(tally) for block, tally in stand.tallies.items()} == case["left_tallies"]
