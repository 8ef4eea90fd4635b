"""Minimal pairs of any corpus: a table, or JSON objects one a line, with the grammatical and the ungrammatical sentence.

Their names are grammatical and ungrammatical, good and bad, sentence_good and sentence_bad, or good_sentence and bad_sentence.
Paradigm, phenomenon and the pair's number are taken from columns with a usual name, where there are some (`COLUMN_NAMES`);
otherwise paradigm and phenomenon are the file's name, and items are named by their row. Every other column is kept. The language is
not known ('und') unless a column says it. Two columns without a header are read when the format is named.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..items import GRAMMATICAL, UNGRAMMATICAL, Materials, SourceLine
from .csv_and_jsonl import format_json_value, format_table, read_first_object, read_header, read_json_lines, read_table_rows
from .pair_rows import OWN_COLUMNS, add_pair, get_file_stem, get_pair_texts, select_minimal_pairs, take_identity
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence

NAME = "pairs"
SUFFIX = ".tsv"
SENTENCE_COLUMNS = (
    (GRAMMATICAL, UNGRAMMATICAL),
    ("good", "bad"),
    ("sentence_good", "sentence_bad"),
    ("good_sentence", "bad_sentence"),
)
# In small letters; of several that a file has, the first.
COLUMN_NAMES = {
    "paradigm": ("paradigm", "uid", "pid", "subcategory", "subcat"),
    "phenomenon": ("phenomenon", "linguistics_term", "category"),
    "number": ("pairid", "pair_id", "item", "id", "idx", "index"),
}
LANGUAGE = "und"


def recognises(text: str) -> bool:
    """Whether the first line, a header or an object, names the two sentences, in any letters."""
    return _find_sentence_columns([*read_first_object(text)] or read_header(text, "\t,;")[0]) is not None


def _find_sentence_columns(names: list[str]) -> tuple[str, str] | None:
    """Return the names of the grammatical and the ungrammatical sentence, or None."""
    small = {name.lower(): name for name in names}
    return next(((small[good], small[bad]) for good, bad in SENTENCE_COLUMNS if good in small and bad in small), None)


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a file; items are named paradigm-number, or paradigm-row."""
    rows = SentenceRows()
    found = list(_read_json(rows, text, file) if read_first_object(text) else _read_table(rows, text, file))
    known = {name.lower(): name for _, _, fields in found for name in fields}
    columns = {what: next((known[n] for n in names if n in known), "") for what, names in COLUMN_NAMES.items()}
    numbers = Counter((fields.get(columns["paradigm"]), fields.get(columns["number"])) for _, _, fields in found)
    if max(numbers.values(), default=1) > 1 or any(not number for _, number in numbers):
        del columns["number"]  # it is not the pair's
    for row, source_line, fields in found:
        _add_pair(rows, source_line, fields, columns, row)
    return rows


def _read_json(rows: SentenceRows, text: str, file: str) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    for source_line, record in read_json_lines(rows, text, file):
        yield source_line.line, source_line, {name: _format_cell(value) for name, value in record.items()}


def _format_cell(value: Any) -> str:
    return value if isinstance(value, str) else format_json_value(value)


def _read_table(rows: SentenceRows, text: str, file: str) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    shift, needed = 0, _find_sentence_columns(read_header(text, "\t,;")[0])
    if needed is None:
        separator = max("\t,;", key=text.partition("\n")[0].count)
        shift, needed = 1, SENTENCE_COLUMNS[0]
        text = f"{separator.join(needed)}\n{text}"
    for row, source_line, cells in read_table_rows(rows, text, file, needed, "\t,;"):
        yield row, SourceLine(file, source_line.line - shift), cells


def _add_pair(rows: SentenceRows, source_line: SourceLine, fields: dict[str, str], columns: Mapping[str, str], row: int) -> None:
    sentences = _find_sentence_columns([*fields])
    if sentences is None or not all(fields[name] for name in sentences):
        return rows.add_fault(source_line, "a sentence is empty; expected two sentences")
    stated = {what: fields.get(column, "") for what, column in columns.items()}
    name = stated["paradigm"] or get_file_stem(source_line.file)
    paradigm, item, language = take_identity(fields, name, stated.get("number") or str(row), LANGUAGE)
    members = [
        SourceSentence(source_line, paradigm, item, condition, fields[sentence], language)
        for condition, sentence in zip((GRAMMATICAL, UNGRAMMATICAL), sentences, strict=True)
    ]
    own_columns = {columns["paradigm"], columns["phenomenon"], *sentences}
    extra = {column: text for column, text in fields.items() if column not in own_columns}
    return add_pair(rows, stated["phenomenon"] or paradigm, members, [(), ()], extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as a table, tabs between its columns: two columns, and where they say more, all that they say."""
    kept = select_minimal_pairs(materials)
    lines = [
        {**item.extra, "paradigm": item.paradigm, "phenomenon": phenomenon}
        | dict(zip(OWN_COLUMNS[1:], (item.id, item.language), strict=True))
        | dict(zip(SENTENCE_COLUMNS[0], get_pair_texts(item), strict=True))
        for item, phenomenon in kept
    ]
    if _is_two_column_file(materials):
        lines = [{name: line[name] for name in SENTENCE_COLUMNS[0]} for line in lines]
    return format_table(lines, SENTENCE_COLUMNS[0], "\t")


def _is_two_column_file(materials: Materials) -> bool:
    """Whether the pairs are those of one file of two columns, that has the paradigm's name."""
    kept = select_minimal_pairs(materials)
    return len({item.paradigm for item, _ in kept}) == 1 and all(
        (item.id, item.language, phenomenon, item.extra) == (f"{item.paradigm}-{row}", LANGUAGE, item.paradigm, {})
        for row, (item, phenomenon) in enumerate(kept, start=1)
    )


def list_losses(materials: Materials) -> list[str]:
    """Return what such a table cannot hold of these materials; two columns can be a file with the paradigm's name."""
    if not _is_two_column_file(materials):
        return find_round_trip_losses(materials, write, read)
    lost = find_round_trip_losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}")
    return ["names of paradigms, other than the file's name", *lost]
