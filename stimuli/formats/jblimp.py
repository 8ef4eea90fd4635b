"""JBLiMP: Japanese minimal pairs from journal articles, as jsonl or as its raw csv.

Someya and Oseki 2023, doi 10.18653/v1/2023.findings-eacl.117. Every other field is kept in the item's extra fields;
jsonl is written, with the JSON types of jsonl. Where a paradigm's name stands under two phenomena of a file, the
phenomenon is added to it. Japanese is not cut into words.
"""

from collections import defaultdict
from typing import Any

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Place
from .cells import as_text, first_record, from_text, header, json_lines, records
from .losses import losses
from .members import number, own, pair, pair_lines, texts
from .rows import Rows
from .wording import Member

NAME = "jblimp"
SUFFIX = ".jsonl"
NEEDED = ("good_sentence", "bad_sentence", "phenomenon", "paradigm")
NUMBER = "ID"
LANGUAGE = "ja"


def recognises(text: str) -> bool:
    """Whether the first line is a JSON object or a header with JBLiMP's fields."""
    return {*NEEDED, NUMBER} <= set(first_record(text) or header(text, ",;\t")[0])


def read(text: str, file: str) -> Rows:
    """Return the rows of a JBLiMP file; items are named paradigm-ID."""
    rows = Rows()
    found = (
        json_lines(rows, text, file)
        if text.lstrip().startswith("{")
        else ((place, record) for _, place, record in records(rows, text, file, (*NEEDED, NUMBER)))
    )
    whole = [(place, record) for place, record in found if _whole(rows, place, record)]
    phenomena = defaultdict(set)
    for _, record in whole:
        phenomena[record["paradigm"]].add(record["phenomenon"])
    for place, record in whole:
        name = record["paradigm"]
        _add(rows, place, record, name if len(phenomena[name]) == 1 else f"{name} ({record['phenomenon']})")
    return rows


def _whole(rows: Rows, place: Place, record: dict[str, Any]) -> bool:
    missing = [key for key in NEEDED if not isinstance(record.get(key), str) or not record[key]]
    missing += [NUMBER] * (record.get(NUMBER) in (None, ""))
    if missing:
        rows.fault(place, f"{', '.join(missing)} missing or not a text; expected {', '.join((*NEEDED, NUMBER))}")
    return not missing


def _add(rows: Rows, place: Place, record: dict[str, Any], name: str) -> None:
    paradigm, item, language = own(record, name, as_text(record[NUMBER]), LANGUAGE)
    members = [
        Member(place, paradigm, item, GRAMMATICAL, record["good_sentence"], language),
        Member(place, paradigm, item, UNGRAMMATICAL, record["bad_sentence"], language),
    ]
    extra = {key: as_text(value) for key, value in record.items() if key not in NEEDED and value != ""}
    pair(rows, record["phenomenon"], members, [(), ()], extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as JBLiMP lines."""
    return pair_lines(materials, _line, key=lambda item: NUMBER, language=LANGUAGE)


def _line(item: Item, phenomenon: str) -> dict[str, Any]:
    good, bad = texts(item)
    return {
        NUMBER: from_text(number(item, NUMBER)),
        "good_sentence": good,
        "bad_sentence": bad,
        "phenomenon": phenomenon,
        "paradigm": item.paradigm.removesuffix(f" ({phenomenon})"),
    }


def loses(materials: Materials) -> list[str]:
    """Return what a JBLiMP file cannot hold of these materials."""
    return losses(materials, write, read)
