"""RuBLiMP: Russian minimal pairs from corpora (Taktasheva et al. 2024, doi 10.18653/v1/2024.emnlp-main.522).

The words that differ, `source_word` and `target_word`, become the critical regions where the sentence holds them
once. Every other column is kept in the item's extra fields.
"""

from ..items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Place
from .cells import header, records, table
from .losses import losses
from .members import identity, number, own, pair, pairs, texts
from .rows import Rows
from .wording import Member, kept, located, spelt

NAME = "rublimp"
SUFFIX = ".csv"
NEEDED = ("id", "source_sentence", "target_sentence", "source_word", "target_word", "phenomenon", "PID")
COLUMNS = (*NEEDED[:5], "level", "phenomenon", "PID", "subtype", "domain", "tree_depth")
TEXTS = ("id", "source_sentence", "target_sentence", "phenomenon", "PID")
LANGUAGE = "ru"


def recognises(text: str) -> bool:
    """Whether the first line names RuBLiMP's columns."""
    return set(NEEDED) <= set(header(text, ",;\t")[0])


def read(text: str, file: str) -> Rows:
    """Return the rows of a RuBLiMP file; items are named PID-id."""
    rows = Rows()
    for _, place, record in records(rows, text, file, NEEDED):
        _add(rows, place, record)
    return rows


def _add(rows: Rows, place: Place, record: dict[str, str]) -> None:
    empty = [column for column in TEXTS if not record[column]]
    if empty:
        return rows.fault(place, f"{', '.join(empty)} is empty; expected text in each of {', '.join(TEXTS)}")
    paradigm, item, language = own(record, record["PID"], record["id"], LANGUAGE)
    extra = {column: text for column, text in record.items() if column == "id" or column not in NEEDED}
    members, regions = [], []
    for condition, which in ((GRAMMATICAL, "source"), (UNGRAMMATICAL, "target")):
        member = Member(place, paradigm, item, condition, record[f"{which}_sentence"], language)
        critical = located(rows, member, CRITICAL, record[f"{which}_word"])
        extra[f"{which}_word"] = kept(record[f"{which}_word"], member.text, critical)
        members.append(member)
        regions.append(critical)
    return pair(rows, record["phenomenon"], members, regions, extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as a RuBLiMP table."""
    kept = pairs(materials)
    items = [item for item, _ in kept]
    implied = [(item.paradigm, f"{item.paradigm}-{number(item, 'id')}", LANGUAGE) for item in items]
    stated = identity(items, implied)
    lines = [{**_line(item, phenomenon), **own} for (item, phenomenon), own in zip(kept, stated, strict=True)]
    return table(lines, COLUMNS, ",")


def _line(item: Item, phenomenon: str) -> dict[str, str]:
    source, target = texts(item)
    line = {"id": number(item, "id"), "source_sentence": source, "target_sentence": target}
    for column, condition in (("source_word", GRAMMATICAL), ("target_word", UNGRAMMATICAL)):
        line[column] = spelt(item.sentences[condition], CRITICAL, item.extra.get(column, ""), item.language)
    return {**item.extra, **line, "phenomenon": phenomenon, "PID": item.paradigm}


def loses(materials: Materials) -> list[str]:
    """Return what a RuBLiMP table cannot hold of these materials."""
    return losses(materials, write, read)
