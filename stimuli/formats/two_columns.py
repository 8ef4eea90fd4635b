"""Two columns: the grammatical and the ungrammatical sentence of each pair, and nothing else.

The header names them: grammatical and ungrammatical, good and bad, sentence_good and sentence_bad, or good_sentence
and bad_sentence. A file without a header is read when the format is named. Paradigm and phenomenon are the file's
name, items are named by their row, and the language is not known ('und').
"""

from ..items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine
from .csv_and_jsonl import header, records, table
from .pair_rows import pair, stem, texts
from .pair_rows import pairs as minimal_pairs
from .round_trip import losses
from .sentence_rows import Rows
from .word_regions import Member

NAME = "pairs"
SUFFIX = ".tsv"
HEADERS = (
    (GRAMMATICAL, UNGRAMMATICAL),
    ("good", "bad"),
    ("sentence_good", "sentence_bad"),
    ("good_sentence", "bad_sentence"),
)
LANGUAGE = "und"


def recognises(text: str) -> bool:
    """Whether the first line is a header of two columns, in either order and in any letters."""
    return _named(text) is not None


def _named(text: str) -> tuple[str, str] | None:
    """Return the header's names of the grammatical and the ungrammatical column, or None."""
    names = header(text, "\t,;")[0]
    for good, bad in HEADERS:
        if sorted(name.lower() for name in names) == sorted((good, bad)):
            return next(n for n in names if n.lower() == good), next(n for n in names if n.lower() == bad)
    return None


def read(text: str, file: str) -> Rows:
    """Return the rows of a file of two columns; items are named file-row."""
    rows = Rows()
    named = _named(text)
    shift = 0
    if named is None:
        separator = max("\t,;", key=text.partition("\n")[0].count)
        named, shift = HEADERS[0], 1
        text = f"{separator.join(named)}\n{text}"
    paradigm = stem(file)
    for row, place, record in records(rows, text, file, named, "\t,;"):
        place = SourceLine(file, place.line - shift)
        if not all(record.values()):
            rows.fault(place, "a sentence is empty; expected two sentences")
            continue
        names = zip((GRAMMATICAL, UNGRAMMATICAL), named, strict=True)
        members = [Member(place, paradigm, f"{paradigm}-{row}", c, record[name], LANGUAGE) for c, name in names]
        pair(rows, paradigm, members, [(), ()], {})
    return rows


def write(materials: Materials) -> str:
    """Return minimal pairs as two columns, a tab between them."""
    lines = [dict(zip(HEADERS[0], texts(item), strict=True)) for item, _ in minimal_pairs(materials)]
    return table(lines, HEADERS[0], "\t")


def loses(materials: Materials) -> list[str]:
    """Return what two columns cannot hold of these materials; a file of one paradigm can be named after it."""
    one = len(materials.paradigms) == 1
    lost = losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}" if one else "materials.tsv")
    return ["names of paradigms, other than the file's name", *lost]
