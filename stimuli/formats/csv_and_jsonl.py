"""Tables and lines of JSON as text: each record with the place it was read from, and back to text."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..findings import Finding
from ..items import Item, SourceLine
from .sentence_rows import SentenceRows

DOUBLED_QUOTES_PATTERN = r'(?:(?<=^)|(?<={0}))""(?!"|{0}|$)(.*?[^"])""(?={0}|$)'  # a cell ""..."", as some of BLiMP-NL's files have
JSON_START_CHARACTERS = '{["-0123456789tfnNI'  # what a JSON value begins with; most texts begin with none of them
MAX_CELL_LINES = 20  # lines that a quoted cell may run over; a quote that is never closed ends there and is a fault


def read_header(text: str, separators: str) -> tuple[list[str], str]:
    """Return the names in the first line, and the one of the separators that is between them."""
    first = text.partition("\n")[0]
    separator = max(separators, key=first.count)
    return [name.strip().strip('"') for name in first.split(separator)], separator


def read_table_rows(
    rows: SentenceRows, text: str, file: str, needed: Sequence[str], separators: str = ",;\t", *, quoted: bool = True
) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    """Yield number, place and cells of each row of a table, the cells without the spaces around them.

    A broken row becomes a fault and is counted all the same, so that the other rows keep their numbers.
    """
    names, separator = read_header(text, separators)
    missing = [name for name in needed if name not in names]
    if missing:
        rows.add_fault(SourceLine(file, 1), f"column {', '.join(map(repr, missing))} is missing; expected {', '.join(needed)}")
        return
    double = sorted({name for name in names if name and names.count(name) > 1})
    if double:
        rows.add_fault(SourceLine(file, 1), f"column {', '.join(map(repr, double))} is there twice; expected once")
        return
    for row, (line, cells, mended) in enumerate(_split_rows(text.split("\n"), separator, len(names), quoted), start=1):
        source_line = SourceLine(file, line)
        if mended:
            message = 'a cell has doubled quotes at both ends, ""...""; read as one in quotes, "..."'
            rows.findings.append(Finding("quotes-doubled", "warning", file, line, "", "", "", message))
        if cells is None:
            rows.add_fault(
                source_line, 'the quotes of a cell are not closed; expected " at both ends of a cell, and a quote inside as ""'
            )
        elif len(cells) != len(names):
            rows.add_fault(source_line, f"{len(cells)} cells, expected {len(names)} ({', '.join(names)})")
        else:
            yield row, source_line, {name: cell.strip() for name, cell in zip(names, cells, strict=True)}


def _split_rows(lines: Sequence[str], separator: str, width: int, quoted: bool) -> Iterator[tuple[int, list[str] | None, bool]]:
    """Yield line number and cells of each row after the first, and whether its quotes were doubled.

    A broken quote costs its own line only.
    """
    at = 1
    doubled = re.compile(DOUBLED_QUOTES_PATTERN.format(re.escape(separator)))
    while at < len(lines):
        size, cells = 1, _split_cells(lines[at], separator, quoted)
        mended = _split_cells(doubled.sub(r'"\1"', lines[at]), separator, quoted) if cells is None else None
        if mended and len(mended) == width:
            cells = mended
        while cells is None and size < MAX_CELL_LINES and at + size < len(lines):
            size += 1
            longer = _split_cells("\n".join(lines[at : at + size]), separator, quoted)
            cells = longer if longer and len(longer) == width else None
        if lines[at].strip():
            yield at + 1, cells, cells is mended and cells is not None
        at += size if cells else 1


def _split_cells(line: str, separator: str, quoted: bool) -> list[str] | None:
    if not quoted or '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error:
        return None


def format_table(lines: Sequence[Mapping[str, str]], first: Sequence[str], separator: str, *, quoted: bool = True) -> str:
    """Return a table of the columns `first` and then every other column that a line has."""
    names = list(dict.fromkeys([*first, *(name for line in lines for name in line)]))
    if not quoted:
        plain = ([" ".join(cell.split()) for cell in (line.get(n, "") for n in names)] for line in lines)
        return "".join(separator.join(cells) + "\n" for cells in (names, *plain))
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, names, restval="", delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()


def merge_free_columns(cells: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return an item's free columns from those of each condition: by name where all agree, else by name and condition.

    >>> merge_free_columns({"a": {"source": "corpus", "norm": "3"}, "b": {"source": "corpus", "norm": "4"}})
    {'source': 'corpus', 'norm (a)': '3', 'norm (b)': '4'}
    """
    columns: dict[str, str] = {}
    for name in next(iter(cells.values()), {}):
        if len({of_condition[name] for of_condition in cells.values()}) == 1:
            columns[name] = next(iter(cells.values()))[name]
        else:
            columns |= {f"{name} ({condition})": of_condition[name] for condition, of_condition in cells.items()}
    return {name: cell for name, cell in columns.items() if cell}


def is_of_other_condition(column: str, item: Item, condition: str) -> bool:
    """Whether a free column of an item is that of another condition."""
    return any(column.endswith(f" ({other})") for other in item.sentences if other != condition)


def read_json_lines(rows: SentenceRows, text: str, file: str) -> Iterator[tuple[SourceLine, dict[str, Any]]]:
    """Yield place and record of each line that holds a JSON object; every other line that is not blank is a fault."""
    for number, line in enumerate(text.split("\n"), start=1):
        source_line = SourceLine(file, number)
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            rows.add_fault(source_line, f"not valid JSON: {error.msg} at character {error.pos}")
            continue
        if isinstance(record, dict):
            yield source_line, record
        else:
            rows.add_fault(source_line, f"{line.strip()[:40]!r} is not a JSON object; expected {{...}}")


def format_json_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return one JSON object a line."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_first_object(text: str) -> dict[str, Any]:
    """Return the JSON object in the first line, or an empty one where there is none."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return {}
    try:
        record = json.loads(first)
    except json.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def format_json_value(value: Any) -> str:
    """Return a JSON value as the text that an item's extra fields hold; `parse_json_value` gives the value back.

    >>> [format_json_value(v) for v in (True, 3, "three", "3")]
    ['true', '3', 'three', '"3"']
    """
    if isinstance(value, str) and parse_json_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def parse_json_value(text: str) -> Any:
    """Return the JSON value that a text is written as, or the text itself.

    >>> [parse_json_value(t) for t in ('true', '3', 'three', '"3"', '3.10')]
    [True, 3, 'three', '3', '3.10']
    """
    if text[:1] not in JSON_START_CHARACTERS:
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if json.dumps(value, ensure_ascii=False) == text else text
