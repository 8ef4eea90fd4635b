"""BLiMP's jsonl: one minimal pair a line (Warstadt et al. 2020, doi 10.1162/tacl_a_00321).

Every field but the sentences, the paradigm and its phenomenon is kept in the item's extra fields, and written back
with its JSON type. The critical region is the word after the prefix, where a pair has prefix fields that its
sentences confirm. An id that is not the paradigm's with the pair's number, and a language other than English, are kept
in fields of ours, `item_id` and `language`.
"""

from typing import Any

from ..items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Region, SourceLine
from .csv_and_jsonl import as_text, first_record, from_text, json_lines, lines_of_json
from .pair_rows import identity, number, pair, pairs, take_identity, texts
from .round_trip import losses
from .sentence_rows import Rows
from .word_regions import Member, warn

NAME = "blimp"
SUFFIX = ".jsonl"
NEEDED = ("sentence_good", "sentence_bad", "UID", "linguistics_term", "pairID")
HUB = "pair_id"  # the number as the copy on the Hugging Face hub has it
LANGUAGE = "en"


def recognises(text: str) -> bool:
    """Whether the first line is a JSON object with BLiMP's fields; other corpora have some of them, and are read as any pairs."""
    return {"sentence_good", "UID", "linguistics_term"} <= set(first_record(text))


def read(text: str, file: str) -> Rows:
    """Return the rows of a BLiMP file; items are named UID-pairID."""
    rows = Rows()
    for place, record in json_lines(rows, text, file):
        _add(rows, place, record)
    return rows


def _add(rows: Rows, place: SourceLine, record: dict[str, Any]) -> None:
    if HUB in record:
        record["pairID"] = str(record[HUB])
    missing = [key for key in NEEDED if not isinstance(record.get(key), str)]
    if missing:
        return rows.fault(place, f"{', '.join(missing)} missing or not a text; expected {', '.join(NEEDED)}")
    paradigm, item, language = take_identity(record, record["UID"], record["pairID"], LANGUAGE)
    members = [
        Member(place, paradigm, item, GRAMMATICAL, record["sentence_good"], language),
        Member(place, paradigm, item, UNGRAMMATICAL, record["sentence_bad"], language),
    ]
    extra = {key: as_text(value) for key, value in record.items() if key not in NEEDED}
    regions = [_critical(rows, member, record) for member in members]
    known = {} if HUB in record else {"pairID": record["pairID"]}
    return pair(rows, record["linguistics_term"], members, regions, known | extra)


def _critical(rows: Rows, member: Member, record: dict[str, Any]) -> tuple[Region, ...]:
    """Return the critical word where the pair has prefix fields and the sentence confirms them, else nothing.

    Some of BLiMP's files have a space before the word.
    """
    which = "good" if member.condition == GRAMMATICAL else "bad"
    prefix = record.get("one_prefix_prefix", record.get(f"two_prefix_prefix_{which}"))
    word = record.get(f"one_prefix_word_{which}", record.get("two_prefix_word"))
    if not isinstance(prefix, str) or not isinstance(word, str):
        return ()
    prefix, word = prefix.strip(), word.strip()
    if not prefix or not word:
        return ()
    if member.text.startswith(f"{prefix} {word}"):
        return (Region(CRITICAL, len(prefix) + 1, len(prefix) + 1 + len(word)),)
    message = f"{member.text!r} does not begin with the prefix {prefix!r} and the word {word!r}; no region is marked"
    warn(rows, member, "region-not-found", message)
    return ()


def write(materials: Materials) -> str:
    """Return minimal pairs as BLiMP lines."""
    minimal_pairs = pairs(materials)
    items = [item for item, _ in minimal_pairs]
    implied = [(item.paradigm, f"{item.paradigm}-{number(item, _key(item))}", LANGUAGE) for item in items]
    lines = []
    for (item, phenomenon), own_columns in zip(minimal_pairs, identity(items, implied), strict=True):
        line = {**_line(item, phenomenon), **own_columns}
        lines.append(line | {key: from_text(text) for key, text in item.extra.items() if key not in line})
    return lines_of_json(lines)


def _line(item: Item, term: str) -> dict[str, Any]:
    good, bad = texts(item)
    return {
        "sentence_good": good,
        "sentence_bad": bad,
        "linguistics_term": term,
        "UID": item.paradigm,
        **({HUB: from_text(number(item, HUB))} if _key(item) == HUB else {"pairID": number(item, "pairID")}),
    }


def _key(item: Item) -> str:
    return HUB if item.id == f"{item.paradigm}-{item.extra.get(HUB)}" else "pairID"


def loses(materials: Materials) -> list[str]:
    """Return what a BLiMP file cannot hold of these materials."""
    return losses(materials, write, read)
