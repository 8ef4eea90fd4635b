"""What lab and page both say of keys and forms: every case of judging.json, which web/tests/judging.test.ts runs as well."""

import json
from importlib.resources import files
from typing import Any

import pytest

from gardenpath.experiment.players.lab import key_presses
from gardenpath.experiment.players.lab.displays import Key
from gardenpath.experiment.players.lab.form_answers import (
    build_stored_answers,
    find_entry_fault,
    find_field_fault,
    standardise_digits,
)
from gardenpath.experiment.tasks.answer_options import build_answers, build_scale_points, get_sides
from gardenpath.experiment.texts.standard_texts import get_direction
from gardenpath.study.config import FieldSection
from gardenpath.study.screens import Answer, Entry, Form

CASES = json.loads((files("gardenpath.experiment.players") / "judging.json").read_text("utf-8"))
# What a modifier key is called in "with"; the right Alt key is AltGr on many layouts.
CALLED = {"Control": "Control", "Alt": "Alt", "AltGraph": "Alt", "Meta": "Meta", "Shift": "Shift"}


def wanted(shown: Any) -> tuple[Answer, ...]:
    """The answers of a display; pages and words have one, the space bar."""
    if shown == "nothing":
        return ()
    if shown == "space":
        return (Answer("", "space", ("Space",)),)
    if "points" in shown:
        return build_scale_points(shown["points"])
    stacked, right_to_left = "upper" in shown["sides"], shown["sides"][0] == "right"
    return build_answers(shown["answers"], shown["answers"], "rtl" if right_to_left else "ltr", stacked=stacked)


def field(kind: str, name: str = "asked", **more: Any) -> FieldSection:
    """A question about the participant."""
    return FieldSection(name, "", kind, ["left", "right"] if kind == "choice" else [], **more)


def modifiers(down: key_presses.KeyState, but: str) -> set[str]:
    """The modifiers that the lab takes to be down, besides a key itself."""
    return {
        code.removesuffix("Left").removesuffix("Right")
        for code in down.keys_down
        if code in key_presses.MODIFIER_KEYS | key_presses.SHIFT_KEYS and code != but
    }


@pytest.mark.parametrize("case", CASES["keys"], ids=lambda case: case["name"])
def test_every_press_has_its_verdict(case: Any) -> None:
    down, given, frame = key_presses.KeyState(), (), 0.0
    for step in case["steps"]:
        if "show" in step:
            given, frame = wanted(step["show"]), step["frame"]
        elif "left" in step:
            down.release_all()
        elif "up" in step:
            down.release_key(Key(step["up"], step["t"], step["t"], is_down=False))
        else:
            key = Key(step["down"], step["t"], step["t"] + 0.5, character=step["key"] if len(step["key"]) == 1 else "")
            assert modifiers(down, key.code) == {CALLED[one] for one in step.get("with", [])}, step
            assert (key.code in down.keys_down) == step.get("repeat", False), step
            reason = down.judge_press(key, [name for answer in given for name in answer.keys], frame)
            assert (reason or "accept") == step["is"], step
            if reason is None:
                press = down.accept_press(key)
                answer = next(one for one in given if not press.key_names.isdisjoint(one.keys))
                assert (answer.value, press.release_time) == (step["answer"], step["released"]), step


@pytest.mark.parametrize("case", CASES["sides"], ids=lambda case: f"{case['language']}, {case['arrangement']}")
def test_the_first_answer_stands_where_reading_begins(case: Any) -> None:
    assert get_direction(case["language"]) == case["direction"]
    assert get_sides(get_direction(case["language"]), stacked=case["arrangement"] == "stacked") == tuple(case["sides"])


@pytest.mark.parametrize(("given", "expected"), CASES["digits"])
def test_digits_of_every_script_are_those_of_ascii(given: str, expected: str) -> None:
    assert standardise_digits(given) == expected


@pytest.mark.parametrize("case", CASES["faults"], ids=lambda case: f"{case['kind']} {case['given']!r}")
def test_what_is_wrong_with_an_answer_is_said(case: Any) -> None:
    form = Form(name="form", heading="", note="", fields=(), button="", missing="needed", no_number="{low} to {high}")
    of = field(case["kind"], min=case["min"], max=case["max"], required=case["required"])
    assert find_field_fault(of, case["given"], form) == (case["fault"] or "")


@pytest.mark.parametrize("case", CASES["typed"], ids=lambda case: f"{case['not_positive']} {case['given']!r}")
def test_what_is_wrong_with_a_typed_answer_is_said(case: Any) -> None:
    screen = Entry(name="entry", prompt="", button="", missing="needed", not_positive=case["not_positive"])
    assert find_entry_fault(case["given"], screen) == (case["fault"] or "")


@pytest.mark.parametrize("case", CASES["stored"])
def test_empty_answers_are_left_out_and_numbers_are_numbers(case: Any) -> None:
    fields = [field(kind, name) for name, kind in case["kinds"].items()]
    assert build_stored_answers(fields, case["given"]) == case["stored"]
