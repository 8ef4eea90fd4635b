"""TurBLiMP: Turkish minimal pairs with cue words and a critical region (Başar et al. 2025, arXiv 2506.13487).

The base files stand between semicolons, the experimental ones between commas and have a subtype; each file is a
paradigm and is its name, without `augmented_`. An item is named by its row. A cue or a critical word becomes a region
where the sentence holds it once.
"""

from ..items import CRITICAL, CUE, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Place
from .cells import header, records, table
from .losses import losses
from .members import identity, own, pair, pairs, stem, texts
from .rows import Rows
from .wording import Member, kept, located, spelt

NAME = "turblimp"
SUFFIX = ".csv"
NEEDED = ("good_sentence", "bad_sentence", "good_cue", "bad_cue", "critical_region", "phenomenon")
TEXTS = ("good_sentence", "bad_sentence", "phenomenon")
LANGUAGE = "tr"


def recognises(text: str) -> bool:
    """Whether the first line names TurBLiMP's columns."""
    return set(NEEDED) <= set(header(text, ";,")[0])


def read(text: str, file: str) -> Rows:
    """Return the rows of a TurBLiMP file; items are named file-row."""
    rows = Rows()
    paradigm = stem(file).removeprefix("augmented_")
    for row, place, record in records(rows, text, file, NEEDED, ";,"):
        _add(rows, place, record, paradigm, row)
    return rows


def _add(rows: Rows, place: Place, record: dict[str, str], name: str, row: int) -> None:
    empty = [column for column in TEXTS if not record[column]]
    if empty:
        return rows.fault(place, f"{', '.join(empty)} is empty; expected text in each of {', '.join(TEXTS)}")
    paradigm, item, language = own(record, name, str(row), LANGUAGE)
    extra = {column: text for column, text in record.items() if column not in NEEDED}
    members, regions = [], []
    for condition, which in ((GRAMMATICAL, "good"), (UNGRAMMATICAL, "bad")):
        member = Member(place, paradigm, item, condition, record[f"{which}_sentence"], language)
        cue = located(rows, member, CUE, record[f"{which}_cue"])
        critical = located(rows, member, CRITICAL, record["critical_region"])
        extra[f"{which}_cue"] = kept(record[f"{which}_cue"], member.text, cue)
        extra["critical_region"] = extra.get("critical_region") or kept(
            record["critical_region"], member.text, critical
        )
        members.append(member)
        regions.append(tuple(sorted((*cue, *critical), key=lambda region: region.start)))
    return pair(rows, record["phenomenon"], members, regions, extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as a TurBLiMP table: with commas where an item has a subtype, else with semicolons."""
    kept = pairs(materials)
    items = [item for item, _ in kept]
    implied = [("", f"{item.paradigm}-{row}", LANGUAGE) for row, item in enumerate(items, start=1)]
    stated = identity(items, implied)
    lines = [{**_line(item, phenomenon), **own} for (item, phenomenon), own in zip(kept, stated, strict=True)]
    subtypes = any("subtype" in line for line in lines)
    return table(lines, NEEDED, "," if subtypes else ";")


def _line(item: Item, phenomenon: str) -> dict[str, str]:
    good, bad = texts(item)
    line = {"good_sentence": good, "bad_sentence": bad, "phenomenon": phenomenon}
    for column, name, condition in (
        ("good_cue", CUE, GRAMMATICAL),
        ("bad_cue", CUE, UNGRAMMATICAL),
        ("critical_region", CRITICAL, GRAMMATICAL),
    ):
        line[column] = spelt(item.sentences[condition], name, item.extra.get(column, ""), item.language)
    return {**item.extra, **line}


def loses(materials: Materials) -> list[str]:
    """Return what a TurBLiMP table cannot hold of these materials."""
    return losses(materials, write, read)
