"""What is typed or chosen in answer to a question, and what is wrong with it.

As on the page (../web/src/form.ts); both are held to ../judging.json.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gardenpath import study
from gardenpath.study.graphemes import split_graphemes
from gardenpath.study.screens import Entry, Form, Script, is_positive_number

from .displays import Blank, Click, Input, Key, TypedCharacter

# Written with an input method, which composes characters beside the cursor; this window has none.
INPUT_METHOD_LANGUAGES = ("ja", "ko", "zh")


def check_typing(script: Script, where: str) -> None:
    """Raise `study.DataError` where the lab's window could not take what participants are to type.

    That is free text in a language that needs an input method; what a form asks can be put in other letters, a number in digits.
    """
    between = (step for interlude in script.interludes for step in interlude.steps)
    steps = (*script.front, *script.trials, *between, *script.end)
    screens = (screen for step in steps for screen in step.screens)
    names = sorted({screen.name for screen in screens if isinstance(screen, Entry) and not screen.not_positive})
    if names and script.language.lower().partition("-")[0] in INPUT_METHOD_LANGUAGES:
        raise study.DataError(
            f"{where}: {', '.join(names)} asks for typed text in {script.language!r}, which needs an input method, and "
            "the lab's window does not have one: run the study in a browser in the lab, with  gardenpath serve --kiosk"
        )


def fill_blank(blank: Blank, action: Input, number: int | None = None) -> Blank:
    """Return a blank after something was typed, erased, clicked or chosen; `number` is the one on the key."""
    text, choices = blank.text, blank.choices
    if isinstance(action, TypedCharacter) and not choices and len(text) < blank.max_length:
        text += action.text
    elif isinstance(action, Key) and action.code == "Backspace":
        text = "".join(split_graphemes(text)[:-1]) if not choices else ""
    elif choices and (n := _find_choice(choices, text, action, number)) is not None:
        text = choices[n]
    return replace(blank, text=text, fault="")


def _find_choice(choices: Sequence[str], marked_choice: str, action: Input, number: int | None) -> int | None:
    """Return which choice is marked after a click, a number or an arrow; None where it is none of these."""
    if isinstance(action, Click):
        return action.answer
    if not isinstance(action, Key):
        return None
    if number is not None:
        return number - 1 if number <= len(choices) else None
    index = choices.index(marked_choice) if marked_choice else None
    if action.code == "ArrowDown":
        return 0 if index is None else min(index + 1, len(choices) - 1)
    if action.code == "ArrowUp":
        return len(choices) - 1 if index is None else max(index - 1, 0)
    return None


def standardise_digits(text: str) -> str:
    """Return text with the digits of every script as the ones of ASCII.

    >>> standardise_digits("٢٥")
    '25'
    """
    return "".join(str(unicodedata.digit(one)) if one.isdecimal() else one for one in text)


def build_stored_answers(fields: Iterable[study.config.FieldSection], answers: Mapping[str, str]) -> dict[str, str | int]:
    """Return the answers as they are stored: empty ones are left out, numbers are numbers.

    >>> fields = study.config.FieldSection("age", "Age", "number"), study.config.FieldSection("job", "Job")
    >>> build_stored_answers(fields, {"age": "31", "job": ""})
    {'age': 31}
    """
    answered_fields = [(field, answer) for field in fields if (answer := answers[field.name])]
    return {field.name: int(answer) if field.kind == "number" else answer for field, answer in answered_fields}


def find_entry_fault(answer: str, screen: Entry) -> str:
    """Return what is wrong with a typed answer, in the study's language; nothing where it is ""."""
    if not answer:
        return screen.missing
    return screen.not_positive if screen.not_positive and not is_positive_number(answer) else ""


def find_field_fault(field: study.config.FieldSection, answer: str, form: Form) -> str:
    """Return what is wrong with an answer about the participant, in the study's language; nothing where it is ""."""
    if not answer:
        return form.missing if field.required else ""
    if field.kind != "number":
        return ""
    low, high = 0 if field.min is None else field.min, 999 if field.max is None else field.max
    if re.fullmatch(r"-?[0-9]{1,9}", answer) and low <= int(answer) <= high:
        return ""
    return form.no_number.replace("{low}", str(low)).replace("{high}", str(high))
