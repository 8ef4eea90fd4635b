"""CLiMP's csv: Chinese minimal pairs, one row a sentence (Xiang et al. 2021, doi 10.18653/v1/2021.eacl-main.242).

The header is `,0,1,2,3`: index, category, subcategory, sentence, and 1 for grammatical or 0; rows 2k and 2k + 1 are a
pair. One file (the ba construction) has the header `,0` and bare sentences, the grammatical one first; its paradigm
is the file's name. Items are named by the index of their first row. Chinese is not cut into words.
"""

from collections import defaultdict

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Place
from .cells import records, table
from .losses import losses
from .members import identity, number, own, pair, pairs, stem, texts
from .rows import Rows
from .wording import Member

NAME = "climp"
SUFFIX = ".csv"
COLUMNS = ("", "0", "1", "2", "3")
CONDITIONS = {"1": GRAMMATICAL, "0": UNGRAMMATICAL}
LANGUAGE = "zh"

Found = tuple[Place, dict[str, str]]


def recognises(text: str) -> bool:
    """Whether the first line is CLiMP's header of numbers."""
    first = text.partition("\n")[0].strip()
    return first == ",0" or f"{first},".startswith(",0,1,2,3,")


def read(text: str, file: str) -> Rows:
    """Return the rows of a CLiMP file; items are named subcategory-index."""
    rows = Rows()
    bare = text.partition("\n")[0].strip() == ",0"
    couples: dict[int, list[Found]] = defaultdict(list)
    for _, place, record in _bare(text, file) if bare else records(rows, text, file, COLUMNS, ","):
        if not record[""].isdigit() or record["3"] not in CONDITIONS:
            message = f"index {record['']!r} and label {record['3']!r}; expected a number, and 1 or 0"
            rows.fault(place, message)
        elif not all(record[column] for column in ("0", "1", "2")):
            rows.fault(place, "category, subcategory or sentence is empty; expected text in each")
        else:
            couples[int(record[""]) // 2].append((place, record))
    for index, couple in couples.items():
        _add(rows, index * 2, couple)
    return rows


def _bare(text: str, file: str) -> list[tuple[int, Place, dict[str, str]]]:
    """Return the sentences of a file that has nothing else, as rows of the full table."""
    name = stem(file)
    lines = [(at, line.strip()) for at, line in enumerate(text.split("\n")[1:], start=2) if line.strip()]
    return [
        (k, Place(file, at), dict(zip(COLUMNS, (str(k), name, name, line, str(1 - k % 2)), strict=True)))
        for k, (at, line) in enumerate(lines)
    ]


def _add(rows: Rows, index: int, couple: list[Found]) -> None:
    place, first = couple[0]
    paradigm, item, language = own(first, first["1"], str(index), LANGUAGE)
    labels = [record["3"] for _, record in couple]
    kinds = {(record["0"], record["1"]) for _, record in couple}
    if sorted(labels) != ["0", "1"] or len(kinds) > 1:
        message = f"rows {index} and {index + 1} have labels {', '.join(labels)} and {len(kinds)} paradigms; expected 1, 0 and one"
        return rows.fault(place, message, paradigm, item)
    members = [
        Member(where, paradigm, item, CONDITIONS[record["3"]], record["2"], language) for where, record in couple
    ]
    extra = {column: text for column, text in first.items() if column not in (*COLUMNS, *("item_id", "language"))}
    return pair(rows, first["0"], members, [(), ()], {"index": str(index), **extra})


def write(materials: Materials) -> str:
    """Return minimal pairs as a CLiMP table."""
    kept = pairs(materials)
    items = [item for item, _ in kept]
    numbers = [number(item, "index") for item in items]
    if not all(n.isdigit() and int(n) % 2 == 0 for n in numbers) or len(set(numbers)) < len(numbers):
        numbers = [str(2 * k) for k in range(len(items))]
    stated = identity(items, [(i.paradigm, f"{i.paradigm}-{n}", LANGUAGE) for i, n in zip(items, numbers, strict=True)])
    lines = []
    for (item, phenomenon), n, mine in zip(kept, numbers, stated, strict=True):
        good, bad = _row(item, phenomenon)
        lines += [{"": n, **good, **mine}, {"": str(int(n) + 1), **bad, **mine}]
    return table(lines, COLUMNS, ",")


def _row(item: Item, phenomenon: str) -> list[dict[str, str]]:
    rest = {key: text for key, text in item.extra.items() if key != "index"}
    return [
        {**rest, "0": phenomenon, "1": item.paradigm, "2": text, "3": label}
        for text, label in zip(texts(item), CONDITIONS, strict=True)
    ]


def loses(materials: Materials) -> list[str]:
    """Return what a CLiMP table cannot hold of these materials."""
    return losses(materials, write, read)
