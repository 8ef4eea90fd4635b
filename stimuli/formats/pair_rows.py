"""What the formats of minimal pairs share: a pair becomes two rows, and a pair's own names come back in writing."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..items import GRAMMATICAL, MINIMAL_PAIR, UNGRAMMATICAL, Item, Materials, Region
from .csv_and_jsonl import parse_json_value
from .sentence_rows import SentenceRow, SentenceRows
from .word_regions import SourceSentence

# Columns of ours, written only where the format itself would say otherwise.
OWN_COLUMNS = ("paradigm_id", "item_id", "language")


def add_pair(
    rows: SentenceRows,
    phenomenon: str,
    members: Sequence[SourceSentence],
    regions: Sequence[tuple[Region, ...]],
    extra: Mapping[str, str],
) -> None:
    """Add the rows of an item's members, with the fields that we have no place for."""
    filled = {name: text for name, text in extra.items() if text}
    for member, marked in zip(members, regions, strict=True):
        rows.rows.append(
            SentenceRow(
                member.source_line,
                member.paradigm,
                phenomenon,
                member.item,
                member.condition,
                member.text,
                marked,
                member.language,
                extra=filled,
            )
        )


def select_minimal_pairs(materials: Materials) -> list[tuple[Item, str]]:
    """Return each item that is a minimal pair, and its phenomenon."""
    phenomena = {p.id: p.phenomenon for p in materials.paradigms if p.is_minimal_pair()}
    return [(item, phenomena[item.paradigm]) for item in materials.items if item.paradigm in phenomena]


def get_pair_texts(item: Item) -> tuple[str, str]:
    """Return the grammatical and the ungrammatical sentence."""
    return item.sentences[GRAMMATICAL].text, item.sentences[UNGRAMMATICAL].text


def get_item_number(item: Item, key: str) -> str:
    """Return what a format calls the item: the field `key` that it was read with, else the id without the paradigm's."""
    field = item.extra.get(key, "")  # in a JSON format, a text that looks like a number has quotes
    return (
        field
        if item.id in (f"{item.paradigm}-{field}", f"{item.paradigm}-{parse_json_value(field)}")
        else item.id.removeprefix(f"{item.paradigm}-")
    )


def list_own_columns(items: Sequence[Item], implied: Sequence[tuple[str, str, str]]) -> list[dict[str, str]]:
    """Return, for each item, those of our columns that say another thing than what a reader would imply."""
    identities = [(item.paradigm, item.id, item.language) for item in items]
    needed = [k for k in range(len(OWN_COLUMNS)) if any(a[k] != b[k] for a, b in zip(identities, implied, strict=True))]
    return [{OWN_COLUMNS[k]: values[k] for k in needed} for values in identities]


def take_identity(record: dict[str, Any], paradigm: str, item: str, language: str) -> tuple[str, str, str]:
    """Take our columns out of a record and return paradigm, id and language, as stated there or as implied."""
    cells = [record.pop(name) if isinstance(record.get(name), str) else "" for name in OWN_COLUMNS]
    paradigm = cells[0] or paradigm
    return paradigm, cells[1] or f"{paradigm}-{item}", cells[2] or language


def get_file_stem(file: str) -> str:
    """Return the file's name without folder and suffix."""
    return Path(file).stem


def build_factors(conditions: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return one factor whose levels are the conditions: grammaticality where they are a minimal pair's."""
    levels = tuple(conditions)
    return dict(MINIMAL_PAIR) if set(levels) == {GRAMMATICAL, UNGRAMMATICAL} else {"condition": levels}


def find_condition_sets(members: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return the conditions that each item should have: its own, or those of an item that has these and more.

    >>> find_condition_sets({"i1": ("a", "b"), "i2": ("b",), "f1": ("filler",)})
    {'i1': ('a', 'b'), 'i2': ('a', 'b'), 'f1': ('filler',)}
    """
    sets = list(dict.fromkeys(tuple(dict.fromkeys(conditions)) for conditions in members.values()))
    whole: list[tuple[str, ...]] = []
    for candidate in sorted(sets, key=len, reverse=True):
        if not any(set(candidate) <= set(larger) for larger in whole):
            whole.append(candidate)
    return {item: next(w for w in whole if set(conditions) <= set(w)) for item, conditions in members.items()}
