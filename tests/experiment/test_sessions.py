"""A session's payload holds what the page needs, and events are held against one schema."""

import dataclasses
from typing import Any

import pytest

from gardenpath import experiment
from gardenpath.experiment.sessions import check_events, event_schema, open_session, payload
from gardenpath.stimuli import Item, Ordering, Question, Sentence, Trial

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
    assert sent["trials"][5]["condition"] == file.version.trials[order[5]].condition
    [sentence] = sent["trials"][5]["sentences"]
    assert " ".join(sentence["words"]) == shown.text
    assert {*sentence["gaps"]} == {" "}


def _payload(trial: Trial, file: experiment.VersionFile) -> dict[str, Any]:
    """What the page is sent of a version with this trial alone."""
    version = dataclasses.replace(file.version, trials=(trial,), ordering=Ordering())
    file = dataclasses.replace(file, version=version)
    session = open_session(file, 0, id="s", participant="p", started="x", source="server")
    [sent] = payload(session, file, token="t", visit=0, next_seq=0, done=())["trials"]
    return dict(sent)


QUESTION = Question("Did he sing?", {"a": "yes", "b": "no"})
ITEM = Item(
    "i", "p", {"a": Sentence("He sang."), "b": Sentence("He slept.")}, context="It was late.", question=QUESTION
)


def test_a_question_is_sent_where_it_is_asked_and_its_answer_for_practice_alone(
    versions: list[experiment.VersionFile],
) -> None:
    shown = (("a", ITEM.sentences["a"]),)
    asked = Trial("target", ITEM, shown, ("question", "rating"))
    sent = _payload(asked, versions[0])
    assert sent["tasks"] == ["question", "rating"]
    assert sent["context"] == "It was late."
    assert sent["question"] == {"text": "Did he sing?", "choices": ["yes", "no"], "answer": None}
    assert _payload(dataclasses.replace(asked, role="practice"), versions[0])["question"]["answer"] == "yes"
    assert _payload(dataclasses.replace(asked, prompts=("rating",)), versions[0])["question"] is None


def test_both_sentences_of_a_pair_are_sent_in_the_order_of_their_sides(versions: list[experiment.VersionFile]) -> None:
    pair = tuple((name, ITEM.sentences[name]) for name in ("b", "a"))
    sent = _payload(Trial("target", ITEM, pair, ("choice",)), versions[0])
    assert sent["condition"] == "b+a"
    assert [(s["condition"], s["words"]) for s in sent["sentences"]] == [
        ("b", ["He", "slept."]),
        ("a", ["He", "sang."]),
    ]


def test_words_stand_apart_only_where_the_author_wrote_a_space(versions: list[experiment.VersionFile]) -> None:
    chinese = Sentence("他 在家睡覺。", segmentation=((0, 1), (2, 3), (3, 4), (4, 7)))
    item = Item("z", "p", {"a": chinese}, language="zh")
    [sentence] = _payload(Trial("target", item, (("a", chinese),)), versions[0])["sentences"]
    assert sentence == {"condition": "a", "words": ["他", "在", "家", "睡覺。"], "gaps": [" ", "", ""]}


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


def test_what_is_refused_is_what_the_whole_schema_refuses(versions: list[experiment.VersionFile]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the extra online is not installed")
    whole = jsonschema.Draft202012Validator(event_schema())
    session = open_session(versions[0], 0, id="s", participant="p", started="x", source="server")
    sent = payload(session, versions[0], token="t", visit=0, next_seq=0, done=())
    events = [*experiment.robot(versions, seed=1).events(sent, "r")][:60]
    kinds = event_schema()["properties"]["kind"]["enum"]
    changed = [event | {"kind": kind} for event in events for kind in [*kinds, "other", 3, ["word"], None]]
    changed += [event | {key: value} for event in events for key in event for value in (None, 1, "x", {}, [])]
    changed += [{key: event[key] for key in event if key != gone} for event in events for gone in event]
    refused = 0
    for event in [*events, *changed, 3, [], None]:  # type: ignore[list-item]
        fits = whole.is_valid(event)
        refused += not fits
        if fits:
            check_events([event])
        else:
            with pytest.raises(ValueError, match="events/0"):
                check_events([event])
    assert refused > 500
