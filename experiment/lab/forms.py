"""A question about the participant: what is filled in, and what is wrong with it (experiment/web/src/form.ts)."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..procedures import Text
from ..sessions import Json
from .displays import Blank, Click, Input, Key, Typed

LONGEST_ANSWER = 200


def filled(blank: Blank, given: Input) -> Blank:
    """Return a blank after something was typed, erased, clicked or chosen."""
    text, choices = blank.given, blank.choices
    if isinstance(given, Typed) and not choices and len(text) < LONGEST_ANSWER:
        text += given.text
    elif isinstance(given, Key) and given.code == "Backspace":
        text = text[:-1] if not choices else ""
    elif choices and (n := _choice(choices, text, given)) is not None:
        text = choices[n]
    return replace(blank, given=text, fault="")


def _choice(choices: Sequence[str], marked: str, given: Input) -> int | None:
    """Return which choice is marked after a click, a number or an arrow; None where it is none of these."""
    if isinstance(given, Click):
        return given.answer
    if not isinstance(given, Key):
        return None
    if given.code.removeprefix("Digit").removeprefix("Numpad").isdigit():
        n = int(given.code[-1]) - 1
        return n if 0 <= n < len(choices) else None
    at = choices.index(marked) if marked else None
    if given.code == "ArrowDown":
        return 0 if at is None else min(at + 1, len(choices) - 1)
    if given.code == "ArrowUp":
        return len(choices) - 1 if at is None else max(at - 1, 0)
    return None


def digits(text: str) -> str:
    """Return text with the digits of every script as the ones of ASCII.

    >>> digits("٢٥")
    '25'
    """
    return "".join(str(unicodedata.digit(one)) if one.isdecimal() else one for one in text)


def field_fault(field: Json, answer: str, texts: Mapping[str, Text]) -> str:
    """Return what is wrong with an answer about the participant, in the study's language; nothing where it is "".

    >>> field_fault({"needed": False, "kind": "number", "low": 18, "high": None}, "17", {"not_a_number": "{low} to {high}"})
    '18 to 999'
    """
    if not answer:
        return str(texts["needed"]) if field["needed"] else ""
    if field["kind"] != "number":
        return ""
    low, high = 0 if field["low"] is None else field["low"], 999 if field["high"] is None else field["high"]
    if re.fullmatch(r"-?[0-9]{1,9}", answer) and low <= int(answer) <= high:
        return ""
    return str(texts["not_a_number"]).replace("{low}", str(low)).replace("{high}", str(high))
