"""Minimal pairs of any corpus: a table, or JSON objects one a line, with the grammatical and the ungrammatical sentence.

Their names are grammatical and ungrammatical, good and bad, sentence_good and sentence_bad, or good_sentence and bad_sentence.
Paradigm, phenomenon and the pair's number are taken from columns with a usual name, where there are some (`NAMES`); otherwise
paradigm and phenomenon are the file's name, and items are named by their row. Every other column is kept. The language is not
known ('und') unless a column says it. Two columns without a header are read when the format is named.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine
from .csv_and_jsonl import as_text, first_record, header, json_lines, records, table
from .pair_rows import OWN, pair, stem, take_identity, texts
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
# In small letters; of several that a file has, the first.
NAMES = {
    "paradigm": ("paradigm", "uid", "pid", "subcategory", "subcat"),
    "phenomenon": ("phenomenon", "linguistics_term", "category"),
    "number": ("pairid", "pair_id", "item", "id", "idx", "index"),
}
LANGUAGE = "und"


def recognises(text: str) -> bool:
    """Whether the first line, a header or an object, names the two sentences, in any letters."""
    return _sentences([*first_record(text)] or header(text, "\t,;")[0]) is not None


def _sentences(names: list[str]) -> tuple[str, str] | None:
    """Return the names of the grammatical and the ungrammatical sentence, or None."""
    small = {name.lower(): name for name in names}
    return next(((small[good], small[bad]) for good, bad in HEADERS if good in small and bad in small), None)


def read(text: str, file: str) -> Rows:
    """Return the rows of a file; items are named paradigm-number, or paradigm-row."""
    rows = Rows()
    found = list(_json(rows, text, file) if first_record(text) else _table(rows, text, file))
    known = {name.lower(): name for _, _, fields in found for name in fields}
    columns = {what: next((known[n] for n in names if n in known), "") for what, names in NAMES.items()}
    numbers = Counter((fields.get(columns["paradigm"]), fields.get(columns["number"])) for _, _, fields in found)
    if max(numbers.values(), default=1) > 1 or any(not number for _, number in numbers):
        del columns["number"]  # it is not the pair's
    for row, place, fields in found:
        _add(rows, place, fields, columns, row)
    return rows


def _json(rows: Rows, text: str, file: str) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    for place, record in json_lines(rows, text, file):
        yield place.line, place, {name: _cell(value) for name, value in record.items()}


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else as_text(value)


def _table(rows: Rows, text: str, file: str) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    shift, needed = 0, _sentences(header(text, "\t,;")[0])
    if needed is None:
        separator = max("\t,;", key=text.partition("\n")[0].count)
        shift, needed = 1, HEADERS[0]
        text = f"{separator.join(needed)}\n{text}"
    for row, place, cells in records(rows, text, file, needed, "\t,;"):
        yield row, SourceLine(file, place.line - shift), cells


def _add(rows: Rows, place: SourceLine, fields: dict[str, str], columns: Mapping[str, str], row: int) -> None:
    sentences = _sentences([*fields])
    if sentences is None or not all(fields[name] for name in sentences):
        return rows.fault(place, "a sentence is empty; expected two sentences")
    stated = {what: fields.get(column, "") for what, column in columns.items()}
    name = stated["paradigm"] or stem(place.file)
    paradigm, item, language = take_identity(fields, name, stated.get("number") or str(row), LANGUAGE)
    members = [
        Member(place, paradigm, item, condition, fields[sentence], language)
        for condition, sentence in zip((GRAMMATICAL, UNGRAMMATICAL), sentences, strict=True)
    ]
    ours = {columns["paradigm"], columns["phenomenon"], *sentences}
    extra = {column: text for column, text in fields.items() if column not in ours}
    return pair(rows, stated["phenomenon"] or paradigm, members, [(), ()], extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as a table, tabs between its columns: two columns, and where they say more, all that they say."""
    kept = minimal_pairs(materials)
    lines = [
        {**item.extra, "paradigm": item.paradigm, "phenomenon": phenomenon}
        | dict(zip(OWN[1:], (item.id, item.language), strict=True))
        | dict(zip(HEADERS[0], texts(item), strict=True))
        for item, phenomenon in kept
    ]
    if _say_nothing_else(materials):
        lines = [{name: line[name] for name in HEADERS[0]} for line in lines]
    return table(lines, HEADERS[0], "\t")


def _say_nothing_else(materials: Materials) -> bool:
    """Whether the pairs are those of one file of two columns, that has the paradigm's name."""
    kept = minimal_pairs(materials)
    return len({item.paradigm for item, _ in kept}) == 1 and all(
        (item.id, item.language, phenomenon, item.extra) == (f"{item.paradigm}-{row}", LANGUAGE, item.paradigm, {})
        for row, (item, phenomenon) in enumerate(kept, start=1)
    )


def loses(materials: Materials) -> list[str]:
    """Return what such a table cannot hold of these materials; two columns can be a file with the paradigm's name."""
    if not _say_nothing_else(materials):
        return losses(materials, write, read)
    lost = losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}")
    return ["names of paradigms, other than the file's name", *lost]
