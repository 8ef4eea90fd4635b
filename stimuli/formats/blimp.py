"""BLiMP's jsonl: one minimal pair a line (Warstadt et al. 2020, doi 10.1162/tacl_a_00321).

Every field but the sentences, the paradigm and its phenomenon is kept in the item's extra fields, and written back
with its JSON type. The critical region is the word after the prefix, where a pair has prefix fields that its
sentences confirm. An id that is not the paradigm's with the pair's number, and a language other than English, are kept
in fields of ours, `item_id` and `language`.
"""

from typing import Any

from ..items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Region, SourceLine
from .csv_and_jsonl import format_json_lines, format_json_value, parse_json_value, read_first_object, read_json_lines
from .pair_rows import add_pair, get_item_number, get_pair_texts, list_own_columns, select_minimal_pairs, take_identity
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence, add_warning

NAME = "blimp"
SUFFIX = ".jsonl"
REQUIRED_FIELDS = ("sentence_good", "sentence_bad", "UID", "linguistics_term", "pairID")
HUB_NUMBER_FIELD = "pair_id"  # the number as the copy on the Hugging Face hub has it
LANGUAGE = "en"


def recognises(text: str) -> bool:
    """Whether the first line is a JSON object with BLiMP's fields; other corpora have some of them, and are read as any pairs."""
    return {"sentence_good", "UID", "linguistics_term"} <= set(read_first_object(text))


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a BLiMP file; items are named UID-pairID."""
    rows = SentenceRows()
    for source_line, record in read_json_lines(rows, text, file):
        _add_pair(rows, source_line, record)
    return rows


def _add_pair(rows: SentenceRows, source_line: SourceLine, record: dict[str, Any]) -> None:
    if HUB_NUMBER_FIELD in record:
        record["pairID"] = str(record[HUB_NUMBER_FIELD])
    missing = [key for key in REQUIRED_FIELDS if not isinstance(record.get(key), str)]
    if missing:
        return rows.add_fault(source_line, f"{', '.join(missing)} missing or not a text; expected {', '.join(REQUIRED_FIELDS)}")
    paradigm, item, language = take_identity(record, record["UID"], record["pairID"], LANGUAGE)
    members = [
        SourceSentence(source_line, paradigm, item, GRAMMATICAL, record["sentence_good"], language),
        SourceSentence(source_line, paradigm, item, UNGRAMMATICAL, record["sentence_bad"], language),
    ]
    extra = {key: format_json_value(value) for key, value in record.items() if key not in REQUIRED_FIELDS}
    regions = [_find_critical_region(rows, member, record) for member in members]
    known = {} if HUB_NUMBER_FIELD in record else {"pairID": record["pairID"]}
    return add_pair(rows, record["linguistics_term"], members, regions, known | extra)


def _find_critical_region(rows: SentenceRows, member: SourceSentence, record: dict[str, Any]) -> tuple[Region, ...]:
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
    add_warning(rows, member, "region-not-found", message)
    return ()


def write(materials: Materials) -> str:
    """Return minimal pairs as BLiMP lines."""
    minimal_pairs = select_minimal_pairs(materials)
    items = [item for item, _ in minimal_pairs]
    implied = [(item.paradigm, f"{item.paradigm}-{get_item_number(item, _choose_number_field(item))}", LANGUAGE) for item in items]
    lines = []
    for (item, phenomenon), own_columns in zip(minimal_pairs, list_own_columns(items, implied), strict=True):
        line = {**_build_line(item, phenomenon), **own_columns}
        lines.append(line | {key: parse_json_value(text) for key, text in item.extra.items() if key not in line})
    return format_json_lines(lines)


def _build_line(item: Item, term: str) -> dict[str, Any]:
    good, bad = get_pair_texts(item)
    return {
        "sentence_good": good,
        "sentence_bad": bad,
        "linguistics_term": term,
        "UID": item.paradigm,
        **(
            {HUB_NUMBER_FIELD: parse_json_value(get_item_number(item, HUB_NUMBER_FIELD))}
            if _choose_number_field(item) == HUB_NUMBER_FIELD
            else {"pairID": get_item_number(item, "pairID")}
        ),
    }


def _choose_number_field(item: Item) -> str:
    return HUB_NUMBER_FIELD if item.id == f"{item.paradigm}-{item.extra.get(HUB_NUMBER_FIELD)}" else "pairID"


def list_losses(materials: Materials) -> list[str]:
    """Return what a BLiMP file cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
