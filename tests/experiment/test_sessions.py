"""A session's payload holds what the page needs, and events are held against one schema."""

import pytest

from gardenpath import experiment
from gardenpath.experiment.sessions import check_events, open_session, payload

EVENT = {
    "seq": 0,
    "visit": 0,
    "t": 1.5,
    "kind": "word",
    "trial": 3,
    "value": {"word": 0, "request": 1, "frame": 2, "handler": 3},
}


def test_the_payload_presents_the_order_of_the_slot(versions: list[experiment.VersionFile]) -> None:
    file = versions[1]
    session = open_session(file, 4, id="s", participant="p", started="2026-01-01T00:00:00.000+00:00", source="server")
    sent = payload(session, file, token="t", visit=0, next_seq=0, done=())
    order = file.version.order(4)
    assert [t["item"] for t in sent["trials"]] == [file.version.trials[i].item.id for i in order]
    shown = file.version.trials[order[5]].shown[0][1]
    assert " ".join(sent["trials"][5]["words"]) == shown.text


def test_breaks_part_the_trials_after_practice_into_equal_blocks(versions: list[experiment.VersionFile]) -> None:
    session = open_session(versions[0], 0, id="s", participant="p", started="x", source="server")
    sent = payload(session, versions[0], token="t", visit=0, next_seq=0, done=())
    assert [t["trial"] for t in sent["trials"] if t["break_before"]] == [3 + 18]


def test_an_event_of_the_schema_is_accepted() -> None:
    assert check_events([EVENT])[0] == experiment.Event(**EVENT)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "wrod"}, "events/0/kind"),
        ({"trial": None}, "events/0/trial"),
        ({"seq": -1}, "events/0/seq"),
        ({"value": {"word": 0}}, "events/0/value"),
        ({"extra": 1}, "events/0: Additional properties"),
    ],
)
def test_another_event_is_refused_with_its_place(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_events([EVENT | change])
