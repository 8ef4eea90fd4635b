"""SLING's jsonl: Chinese minimal pairs, one a line (Song et al. 2022, doi 10.18653/v1/2022.emnlp-main.305).

Its files spell their keys in small and in capital letters, so keys are read in any; every other field is kept in the
item's extra fields with its JSON type. Chinese is not cut into words.
"""

from typing import Any

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Place
from .cells import as_text, first_record, from_text, json_lines
from .losses import losses
from .members import number, own, pair, pair_lines, texts
from .rows import Rows
from .wording import Member

NAME = "sling"
SUFFIX = ".jsonl"
NEEDED = ("sentence_good", "sentence_bad", "phenomenon", "paradigm")
NUMBER = "pair_ID"
LANGUAGE = "zh"


def recognises(text: str) -> bool:
    """Whether the first line is a JSON object with SLING's fields, in capitals or not."""
    return {*NEEDED, NUMBER.lower()} <= {key.lower() for key in first_record(text)}


def read(text: str, file: str) -> Rows:
    """Return the rows of a SLING file; items are named paradigm-pair_ID."""
    rows = Rows()
    for place, record in json_lines(rows, text, file):
        _add(rows, place, {_key(key): value for key, value in record.items()})
    return rows


def _key(key: str) -> str:
    return NUMBER if key.lower() == NUMBER.lower() else key.lower() if key.lower() in NEEDED else key


def _add(rows: Rows, place: Place, record: dict[str, Any]) -> None:
    missing = [key for key in NEEDED if not isinstance(record.get(key), str)]
    missing += [NUMBER] * (NUMBER not in record)
    if missing:
        return rows.fault(place, f"{', '.join(missing)} missing or not a text; expected {', '.join((*NEEDED, NUMBER))}")
    paradigm, item, language = own(record, record["paradigm"], as_text(record[NUMBER]), LANGUAGE)
    members = [
        Member(place, paradigm, item, GRAMMATICAL, record["sentence_good"], language),
        Member(place, paradigm, item, UNGRAMMATICAL, record["sentence_bad"], language),
    ]
    extra = {key: as_text(value) for key, value in record.items() if key not in NEEDED}
    return pair(rows, record["phenomenon"], members, [(), ()], extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as SLING lines."""
    return pair_lines(materials, _line, key=lambda item: NUMBER, language=LANGUAGE)


def _line(item: Item, phenomenon: str) -> dict[str, Any]:
    good, bad = texts(item)
    return {
        "sentence_good": good,
        "sentence_bad": bad,
        "phenomenon": phenomenon,
        "paradigm": item.paradigm,
        NUMBER: from_text(number(item, NUMBER)),
    }


def loses(materials: Materials) -> list[str]:
    """Return what a SLING file cannot hold of these materials."""
    return losses(materials, write, read)
