"""Tables of other labs as tables of our own: a mapping file says what their columns are, as it does of results."""

import csv
import io
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gardenpath import study
from gardenpath.study.csv_rows import read_csv_rows
from gardenpath.study.mapping import ColumnMapping, Row, read_mapping

from . import marked_csv

log = logging.getLogger("gardenpath")

LINE_COLUMN = "(line)"  # no column is called so
DEFAULT_ROLE = "target"  # of items that no role is stated of


def apply_mapping(text: str, file: str, mapping: str | Path | ColumnMapping) -> str:
    """Return a table under our names, each row on the line on which it begins in the file.

    Columns that the mapping does not name keep their own. Several columns that make a sentence are its regions, named as the
    mapping says (`critical = "Reg2"`) or after their columns; items of a role other than target become a paradigm of that name.
    Raises `study.DataError` with every fault.

    >>> mapping = ColumnMapping({"item": "nr", "condition": "cond", "sentence": "text"}, {"paradigm": "rc", "phenomenon": "rc"})
    >>> print(apply_mapping("nr;cond;text;cloze\\n1;a;The dog [barks].;0.4\\n", "x.csv", mapping))
    item,condition,sentence,cloze,paradigm,phenomenon
    1,a,The dog [barks].,0.4,rc,rc
    <BLANKLINE>
    """
    asked = mapping if isinstance(mapping, ColumnMapping) else read_mapping(mapping, names=None)
    if text.lstrip().startswith("{"):
        raise study.DataError(f"{file}: JSON; a mapping names the columns of a table (CSV, tabs, xlsx)")
    header, rows = _read_table(text, file, asked)
    parts = asked.joined.get(asked.columns.get("sentence", ""), ())
    named = {source_column: own for own, source_column in asked.columns.items() if source_column in parts}  # critical = "Region3"
    if len(parts) > 1:  # regions, not cells joined by points
        joined = {name: of for name, of in asked.joined.items() if name != asked.columns["sentence"]}
        columns = {own: source_column for own, source_column in asked.columns.items() if source_column not in parts}
        asked = replace(asked, joined=joined, columns={**columns, "sentence": parts[0]})
    ready = asked.prepare_rows(rows, file)
    there = {*header, *asked.joined}
    asked = replace(asked, columns={name: of for name, of in asked.columns.items() if of in there})
    if absent := [name for name in parts if name not in header]:
        raise study.DataError(f"{file}: no column {', '.join(map(repr, absent))} for the sentence; found {', '.join(header)}")
    taken = {*asked.columns.values(), *parts, *(name for of in asked.joined.values() for name in of)}
    free = {name for name in header if name not in taken and name not in asked.columns}
    own = marked_csv.REQUIRED_COLUMNS + marked_csv.OPTIONAL_COLUMNS
    # What cannot be a free column, since its name is nearly one of ours, or is that of a column that the mapping gives.
    lost = [
        name for name in header if name not in taken and (name not in free or (name not in own and marked_csv.suggest_column(name)))
    ]
    if lost:
        log.warning("%s: columns not taken, whose names are nearly ours: %s; map those that you need", file, ", ".join(lost))
    called = {source_column: name for name, source_column in asked.columns.items()}
    names = [called.get(name, name) for name in header if name in called or (name in free and name not in lost)]
    # A column made of several, or of regions, is in no header.
    names = [*dict.fromkeys([*names, *asked.columns, *asked.constants, *(["paradigm", "phenomenon"] if asked.roles else [])])]
    lines = [_format_line(names)]
    at = 2
    for row in ready:
        cells = {name: asked.get_text(row, name, name) or "" for name in names}
        if len(parts) > 1:
            cells["sentence"] = " ".join(_format_region(named.get(name, name), str(row[name])) for name in parts if row[name])
        role = asked.find_role(cells.get("item", ""), cells.get("condition", ""))
        if role not in (None, DEFAULT_ROLE):
            cells |= {"paradigm": str(role), "phenomenon": str(role), **({"factors": ""} if "factors" in cells else {})}
        lines += ["\n" * (row[LINE_COLUMN] - at), _format_line([cells[name] for name in names])]
        at = max(at, row[LINE_COLUMN]) + lines[-1].count("\n")
    return "".join(lines)


def _read_table(text: str, file: str, mapping: ColumnMapping) -> tuple[list[str], list[Row]]:
    """Return the header and the rows of a table, each with its line; what is wrong with a row is a fault."""
    if mapping.separator == "space":
        found = [(n, line.split()) for n, line in enumerate(text.splitlines(), 1)]
    else:
        first = text.partition("\n")[0]
        counted = max(",;\t", key=first.count)  # as it is for tables without a mapping
        separator = mapping.separator if mapping.separator != "," else counted
        try:
            found = list(read_csv_rows((line[0] for line in marked_csv.LINE_PATTERN.finditer(text)), separator))
        except ValueError as error:
            raise study.DataError(f"{file}, {error}") from None
    filled = [(line, [cell.strip() for cell in cells]) for line, cells in found if any(map(str.strip, cells))]
    if not filled:
        raise study.DataError(f"{file}: an empty file; expected a table with a header")
    header = filled[0][1]
    faults = [
        f"{file}, line {line}: {len(cells)} cells, expected {len(header)} ({', '.join(header)})"
        for line, cells in filled[1:]
        if len(cells) != len(header)
    ]
    faults += [f"{file}: column {name!r} is there twice; expected once" for name in {*header} if header.count(name) > 1]
    if faults:
        raise study.DataError(faults)
    return header, [{**dict(zip(header, cells, strict=True)), LINE_COLUMN: line} for line, cells in filled[1:]]


def _format_region(name: str, text: str) -> str:
    """Return the text of a region, marked."""
    return f"[{name}|{''.join(f'{chr(92)}{c}' if c in marked_csv.MARKUP_CHARACTERS else c for c in text)}]"


def _format_line(cells: Sequence[str]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()
