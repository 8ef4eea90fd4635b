"""A session's payload holds what a player needs and no more, and events are held against one schema."""

import json
from typing import Any

import pytest

from gardenpath import experiment
from gardenpath.experiment.sessions import session_schema
from gardenpath.experiment.sessions.sessions import build_payload, check_events, open_session, replay_session_events
from gardenpath.study.events import EVENT_TYPES, create_event

from .made_events import word

EVENT = vars(word(0, 1.5, 3, 0))


def _sent(file: experiment.ListFile, slot: int = 0) -> dict[str, Any]:
    session = open_session(file, slot, id="s", participant="p", started="x", source="server")
    return build_payload(session, file, replay_session_events(session, file), token="t", visit=0, next_seq=0)


def test_the_payload_holds_the_order_of_the_slot_and_each_trial_once(list_files: list[experiment.ListFile]) -> None:
    file = list_files[1]
    sent = _sent(file, 4)
    assert sent["order"] == file.trial_list.order_trials(4)
    assert len(sent["script"]["trials"]) == len(file.trial_list.trials)
    for trial, step in zip(file.trial_list.trials, sent["script"]["trials"], strict=True):
        assert step["screens"][0]["words"] == tuple(trial.shown_sentences[0][1].text.split())
    assert (sent["done"], sent["tallies"], sent["outcomes"], sent["list_sha256"]) == ([], {}, {}, file.sha256)


def test_an_event_of_the_schema_is_accepted() -> None:
    assert check_events([EVENT])[0] == create_event(**EVENT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "wrod"}, "events/0: .*'visit', 'begin', 'word'"),
        ({"step": None}, "events/0/step"),
        ({"seq": -1}, "events/0/seq"),
        ({"value": {"word": 0}}, "events/0/value"),
        ({"extra": 1}, "events/0/extra"),
        ({"t": float("nan")}, "events/0/t"),
        ({"t": "1"}, "events/0/t"),
    ],
)
def test_another_event_is_refused_with_its_place(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_events([EVENT | change])


def test_the_committed_schema_is_that_of_the_types() -> None:
    assert json.loads(session_schema.format_session_schema()) == session_schema.read_session_schema(), (
        "python -c 'from gardenpath.experiment.sessions import session_schema; print(session_schema.format_session_schema(), end=\"\")' > experiment/sessions/screens.schema.json"
    )


def test_a_list_files_script_is_what_the_schema_says(list_files: list[experiment.ListFile]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the extra online is not installed")
    whole = {**session_schema.read_session_schema(), "$ref": "#/$defs/Script"}
    for name in ("properties", "required", "additionalProperties", "type"):
        whole.pop(name)
    jsonschema.Draft202012Validator(whole).validate(json.loads(list_files[0].text)["script"])


def test_what_is_refused_is_what_the_schema_refuses(list_files: list[experiment.ListFile]) -> None:
    """The server checks events by their types; the published schema has to say the same of each."""
    jsonschema = pytest.importorskip("jsonschema", reason="the extra online is not installed")
    whole = {"$defs": session_schema.read_session_schema()["$defs"], "$ref": "#/$defs/Event"}
    validator = jsonschema.Draft202012Validator(whole)
    events = [*experiment.create_robot(list_files, seed=1).simulate_events(_sent(list_files[0]), "r")][:40]
    changed = [event | {"kind": kind} for event in events for kind in [*EVENT_TYPES, "other", 3, ["word"], None]]
    changed += [event | {key: value} for event in events for key in event for value in (None, 1, "x", {}, [])]
    changed += [{key: event[key] for key in event if key != gone} for event in events for gone in event]
    refused = 0
    for event in [*events, *changed, 3, [], None]:  # type: ignore[list-item]
        fits = validator.is_valid(event)
        refused += not fits
        if fits:
            check_events([event])
        else:
            with pytest.raises(ValueError, match="events/0"):
                check_events([event])
    assert refused > 500
