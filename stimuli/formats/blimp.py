"""BLiMP's jsonl: one minimal pair a line (Warstadt et al. 2020, doi 10.1162/tacl_a_00321)."""

import json
from typing import Any

from ..items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Materials, Place, Region
from .rows import Row, Rows

NAME = "blimp"
SUFFIX = ".jsonl"
NEEDED = ("sentence_good", "sentence_bad", "UID", "linguistics_term", "pairID")


def recognises(text: str) -> bool:
    """Whether the first line is a JSON object with BLiMP's sentence fields."""
    first = text.partition("\n")[0]
    return first.lstrip().startswith("{") and '"sentence_good"' in first and '"UID"' in first


def read(text: str, file: str) -> Rows:
    """Return the rows of a BLiMP file; items are named UID-pairID."""
    rows = Rows()
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            _add(rows, Place(file, number), line)
    return rows


def _add(rows: Rows, place: Place, line: str) -> None:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        return rows.fault(place, f"not valid JSON: {error.msg} at character {error.pos}")
    missing = [key for key in NEEDED if not isinstance(record.get(key), str)]
    if missing:
        return rows.fault(place, f"{', '.join(missing)} missing or not a text; expected {', '.join(NEEDED)}")
    for condition, member in ((GRAMMATICAL, "good"), (UNGRAMMATICAL, "bad")):
        rows.rows.append(
            Row(
                place,
                record["UID"],
                record["linguistics_term"],
                f"{record['UID']}-{record['pairID']}",
                condition,
                record[f"sentence_{member}"],
                _critical(record, member),
            )
        )
    return None


def _critical(record: dict[str, Any], member: str) -> tuple[Region, ...]:
    """Return the critical word where the pair has prefix fields and the sentence bears them out, else nothing."""
    prefix = record.get("one_prefix_prefix", record.get(f"two_prefix_prefix_{member}"))
    word = record.get(f"one_prefix_word_{member}", record.get("two_prefix_word"))
    if not prefix or not word or not record[f"sentence_{member}"].startswith(f"{prefix} {word}"):
        return ()
    return (Region(CRITICAL, len(prefix) + 1, len(prefix) + 1 + len(word)),)


def write(materials: Materials) -> str:
    """Return minimal pairs as BLiMP lines."""
    phenomena = {p.id: p.phenomenon for p in materials.paradigms}
    return "".join(
        json.dumps(
            {
                "sentence_good": item.sentences[GRAMMATICAL].text,
                "sentence_bad": item.sentences[UNGRAMMATICAL].text,
                "linguistics_term": phenomena[item.paradigm],
                "UID": item.paradigm,
                "pairID": item.id.removeprefix(f"{item.paradigm}-"),
            },
            ensure_ascii=False,
        )
        + "\n"
        for item in materials.items
        if GRAMMATICAL in item.sentences and UNGRAMMATICAL in item.sentences
    )


def loses(materials: Materials) -> list[str]:
    """Return what a BLiMP file cannot hold of these materials."""
    lost = [f"paradigm {p.id}: not a minimal pair" for p in materials.paradigms if not p.is_minimal_pair()]
    marked = sum(bool(s.regions) for item in materials.items for s in item.sentences.values())
    if marked:
        lost.append(f"regions of {marked} sentences")
    other = sorted({item.language for item in materials.items} - {"en"})
    return lost + [f"language {language}" for language in other]
