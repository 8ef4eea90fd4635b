"""Completion and cloze: a text is typed after a fragment, or above which it stands, cut where the study says."""

from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.sessions.records import find_outcome_fault
from gardenpath.study.events import build_ended

from .task_studies import events, stated, tables, trial_screens

TYPED = '[procedure.target]\nshow = "{show}"\nask = ["ending"]\n[procedure.tasks.ending]\nkind = "completion"\n'
ABOVE = TYPED.format(show="with_task")


def test_a_typed_text_is_a_response_with_the_time_of_its_first_key(tmp_path: Path) -> None:
    made = stated(tmp_path, ABOVE)
    responses = tables(made)["responses"]
    assert set(responses["task"]) == {"completion"}
    assert set(responses["prompt"]) == {"ending"}
    assert set(responses["outcome"]) == {"answered"}
    assert responses["response"].str.len().gt(0).all()
    assert responses["correct"].isna().all()
    assert (responses["rt_first"] < responses["rt"]).all()
    assert (responses["rt_first"] > 700).all()
    typed = [e["value"] for e in events(made) if e["kind"] == "outcome" and e["value"]["pasted"] is not None]
    assert [value["pasted"] for value in typed] == [0] * len(responses)


SHOWN = {
    "the whole sentence": ("", "The key near number 0 by door is very old."),
    "up to a region": ('fragment_end = "critical"', "The key near number 0 by door"),
    "with a blank": ('blank_region = "critical"', "The key near number 0 by door _____ very old."),
}


@pytest.mark.parametrize(("setting", "expected"), SHOWN.values(), ids=SHOWN.keys())
def test_the_fragment_stands_above_as_the_study_cuts_it(tmp_path: Path, setting: str, expected: str) -> None:
    shown = [screens[0].above.text.replace(" are ", " is ") for screens in trial_screens(stated(tmp_path, ABOVE + setting))]
    assert sorted(shown) == [expected.replace("0", str(n)) for n in range(4)]


def test_a_fragment_that_was_read_before_does_not_stand_above(tmp_path: Path) -> None:
    words, entry = trial_screens(stated(tmp_path, TYPED.format(show="centred")))[0]
    assert words.kind == "words"
    assert (entry.kind, entry.above.kind, entry.prompt) == ("entry", "nothing", "How does the sentence go on?")


REFUSED = {
    "both cuts": (ABOVE + 'fragment_end = "a"\nblank_region = "b"', "expected one of them"),
    "no such region": (ABOVE + 'fragment_end = "verb"', "item i0: its sentence has no region 'verb'"),
    "cut and read before": (TYPED.format(show="centred") + 'blank_region = "critical"', 'expected show = "with_task"'),
    "no room": (ABOVE + "max_length = 0", "max_length is 0"),
}


@pytest.mark.parametrize(("procedure", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_shown_is_refused(tmp_path: Path, procedure: str, message: str) -> None:
    with pytest.raises(study.DataError, match=message):
        experiment.build_list_files(stated(tmp_path, procedure))


def test_an_empty_text_is_no_answer_and_a_long_one_is_none(tmp_path: Path) -> None:
    (entry,) = trial_screens(stated(tmp_path, ABOVE + "max_length = 5"))[0]
    assert find_outcome_fault(entry, build_ended("answered", answer="dog")) is None
    for text in ("", "  ", "elephant"):
        assert "expected a text" in str(find_outcome_fault(entry, build_ended("answered", answer=text)))


def test_an_attention_item_expects_a_text(tmp_path: Path) -> None:
    design = (
        '[[design.attention]]\nkind = "instruction"\nsentence = "Please type the word yes."\n'
        'expected_responses = { ending = ["yes", "Yes"] }\n'
    )
    found = tables(stated(tmp_path, ABOVE, design=design), effects=experiment.Effects(attention=1))["responses"]
    expected = found[found["role"] == "attention"]
    assert set(expected["response"]) <= {"yes", "Yes"}
    assert expected["correct"].all()
