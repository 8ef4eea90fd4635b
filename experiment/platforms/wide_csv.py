"""Wide tables as PsychoPy writes them: a cell with a comma stands in quotes, and quotes within it are not doubled.

Such a line is not CSV. It is cut so that it has as many cells as the header, each with its quotes in pairs; where that can be
done in more than one way, or in none, the line is a fault.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from gardenpath import study

from .cell_values import strip_cells
from .losses import Losses

DELIMITERS = ",\t;"
# A cell has so many lines at most; without an end a quote would swallow the file.
MAX_CELL_LINES = 60
# Wider lines are read as proper CSV alone.
MAX_JOINED_WIDTH = 800


@dataclass(frozen=True)
class WideTable:
    """The columns of a table and its rows, each with the line that it begins on; `is_cut_off` where the last line is not whole."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    is_cut_off: bool


def read_wide_table(file: str, text: str, losses: Losses) -> WideTable:
    """Return the table in a text; raises `study.DataError` with every line that cannot be cut into cells."""
    header, _, body = text.partition("\n")
    delimiter = max(DELIMITERS, key=header.count)
    names = next(csv.reader([header], delimiter=delimiter, skipinitialspace=True), [])
    has_final_delimiter = header.endswith(delimiter)  # as PsychoPy ends every line
    while names and not names[-1]:
        names.pop()
    if len(names) < 2:
        raise study.DataError(f"{file}, line 1: {header[:60]!r} names no columns; expected a header with commas between them")
    lines = body.split("\n")
    last = max((n for n, line in enumerate(lines) if line.strip()), default=-1)
    rows: list[tuple[int, list[str]]] = []
    faults, is_cut_off, n = [], False, 0
    while n <= last:
        line_count, cells = _read_row(lines, n, len(names) + has_final_delimiter, delimiter)
        where = n + 2
        if cells is not None:
            rows.append((where, cells))
        elif lines[n].strip() and n + line_count > last and not text.endswith("\n"):
            losses.add("the line is cut off; left out, and its session counts as incomplete", where)
            is_cut_off = True
        elif lines[n].strip():
            cell_count = lines[n].count(delimiter) + 1
            faults.append(
                f"{file}, line {where}: cannot be cut into the header's {len(names)} cells (it has {cell_count} between commas)"
            )
        n += line_count
    if faults:
        raise study.DataError(faults)
    names, *stripped_rows = strip_cells([names, *(cells for _, cells in rows)], file)
    if duplicates := [name for name, times in Counter(names).items() if name and times > 1]:
        raise study.DataError(f"{file}, line 1: column {name!r} occurs more than once; expected once" for name in duplicates)
    return WideTable(
        tuple(names),
        tuple((line, dict(zip(names, cells, strict=False))) for (line, _), cells in zip(rows, stripped_rows, strict=True)),
        is_cut_off,
    )


def _read_row(lines: Sequence[str], start: int, width: int, delimiter: str) -> tuple[int, list[str] | None]:
    """Return how many lines the row beginning at `start` takes, and its cells; one line and None where it has none."""
    for line_count in range(1, min(MAX_CELL_LINES, len(lines) - start) + 1):
        text = "\n".join(lines[start : start + line_count])
        cells = _split_row(text, width, delimiter)
        if cells is not None:
            return line_count, cells
        if text.count('"') == 0:
            break
    return 1, None


def _split_row(text: str, width: int, delimiter: str) -> list[str] | None:
    """Return the cells of a row, or None."""
    cells = _split_proper_csv(text, delimiter)
    if cells is not None and len(cells) > width and not any(cells[width:]):
        return cells[:width]
    return cells if cells is not None and len(cells) == width else _join_pieces(text.split(delimiter), width, delimiter)


def _split_proper_csv(text: str, delimiter: str) -> list[str] | None:
    """Return the cells of a row of proper CSV, or None."""
    try:
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


# How strictly quotes are taken: in pairs within each cell, none at the beginning of a cell that needs none, no two cells
# taken for one that could be apart; then in pairs; then anyhow.
STRICT_QUOTES, PAIRED_QUOTES, ANY_QUOTES = 0, 1, 2


def _join_pieces(pieces: Sequence[str], width: int, delimiter: str) -> list[str] | None:
    """Return the one way to join pieces into `width` cells, as strictly as there is any; None without one, or with several."""
    if len(pieces) < width or width > MAX_JOINED_WIDTH or not any('"' in piece for piece in pieces):
        return None
    for rule in (STRICT_QUOTES, PAIRED_QUOTES, ANY_QUOTES):
        ways = _find_joinings(tuple(pieces), width, delimiter, rule)
        if ways:
            return list(ways[0]) if len(ways) == 1 else None
    return None


def _find_joinings(pieces: tuple[str, ...], width: int, delimiter: str, rule: int) -> list[tuple[str, ...]]:
    """Return the first two ways of joining pieces into so many cells."""

    @cache
    def join_from(start: int, cells: int) -> tuple[tuple[str, ...], ...]:
        left = len(pieces) - start
        if cells == 0 or left < cells:
            return ((),) if cells == left == 0 else ()
        ways: list[tuple[str, ...]] = []
        for end, cell in _find_first_cells(pieces, start, left - cells + 1, delimiter, rule):
            ways += [(cell, *rest) for rest in join_from(end, cells - 1)]
            if len(ways) > 1:
                break
        return tuple(ways[:2])

    return list(join_from(0, width))


def _find_first_cells(pieces: Sequence[str], start: int, max_pieces: int, delimiter: str, rule: int) -> Iterator[tuple[int, str]]:
    """Yield the cells that can begin with this piece, with the piece after each."""
    first = pieces[start]
    is_quoted = len(first) > 1 and first[0] == first[-1] == '"' and "\n" in first
    if _has_allowed_quotes(first, rule) and (rule != STRICT_QUOTES or is_quoted or not first.startswith('"')):
        yield start + 1, first[1:-1] if is_quoted else first
    if not first.startswith('"'):
        return
    for end in range(start + 1, start + max_pieces):
        joined = delimiter.join(pieces[start : end + 1])
        if rule == STRICT_QUOTES and f'"{delimiter}"' in joined:
            return
        if joined.endswith('"') and _has_allowed_quotes(joined, rule):
            yield end + 1, joined[1:-1]


def _has_allowed_quotes(text: str, rule: int) -> bool:
    return rule == ANY_QUOTES or text.count('"') % 2 == 0
