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

from .cell_values import stripped
from .losses import Losses

DELIMITERS = ",\t;"
# A cell has so many lines at most; without an end a quote would swallow the file.
LINES = 60
# Wider lines are read as proper CSV alone.
WIDEST = 800


@dataclass(frozen=True)
class Wide:
    """The columns of a table and its rows, each with the line that it begins on; `cut_off` where the last line is not whole."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    cut_off: bool


def wide(file: str, text: str, losses: Losses) -> Wide:
    """Return the table in a text; raises `study.DataError` with every line that cannot be cut into cells."""
    header, _, body = text.partition("\n")
    delimiter = max(DELIMITERS, key=header.count)
    names = next(csv.reader([header], delimiter=delimiter, skipinitialspace=True), [])
    ended = header.endswith(delimiter)  # as PsychoPy ends every line
    while names and not names[-1]:
        names.pop()
    if len(names) < 2:
        raise study.DataError(
            f"{file}, line 1: {header[:60]!r} names no columns; expected a header with commas between them"
        )
    lines = body.split("\n")
    last = max((n for n, line in enumerate(lines) if line.strip()), default=-1)
    rows: list[tuple[int, list[str]]] = []
    faults, cut, n = [], False, 0
    while n <= last:
        taken, cells = _next(lines, n, len(names) + ended, delimiter)
        where = n + 2
        if cells is not None:
            rows.append((where, cells))
        elif lines[n].strip() and n + taken > last and not text.endswith("\n"):
            losses.add("the line is cut off; left out, and its session counts as incomplete", where)
            cut = True
        elif lines[n].strip():
            cell_count = lines[n].count(delimiter) + 1
            faults.append(
                f"{file}, line {where}: cannot be cut into the header's {len(names)} cells (it has {cell_count} between commas)"
            )
        n += taken
    if faults:
        raise study.DataError(faults)
    names, *bare = stripped([names, *(cells for _, cells in rows)], file)
    if twice := [name for name, times in Counter(names).items() if name and times > 1]:
        raise study.DataError(f"{file}, line 1: column {name!r} occurs more than once; expected once" for name in twice)
    return Wide(
        tuple(names),
        tuple((line, dict(zip(names, cells, strict=False))) for (line, _), cells in zip(rows, bare, strict=True)),
        cut,
    )


def _next(lines: Sequence[str], start: int, width: int, delimiter: str) -> tuple[int, list[str] | None]:
    """Return how many lines the row beginning at `start` takes, and its cells; one line and None where it has none."""
    for taken in range(1, min(LINES, len(lines) - start) + 1):
        text = "\n".join(lines[start : start + taken])
        cells = _cells(text, width, delimiter)
        if cells is not None:
            return taken, cells
        if text.count('"') == 0:
            break
    return 1, None


def _cells(text: str, width: int, delimiter: str) -> list[str] | None:
    """Return the cells of a row, or None."""
    cells = _by_rule(text, delimiter)
    if cells is not None and len(cells) > width and not any(cells[width:]):
        return cells[:width]
    return cells if cells is not None and len(cells) == width else _undoubled(text.split(delimiter), width, delimiter)


def _by_rule(text: str, delimiter: str) -> list[str] | None:
    """Return the cells of a row of proper CSV, or None."""
    try:
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


# How strictly quotes are taken: in pairs within each cell, none at the beginning of a cell that needs none, no two cells
# taken for one that could be apart; then in pairs; then anyhow.
STRICT, PAIRED, ANYHOW = 0, 1, 2


def _undoubled(pieces: Sequence[str], width: int, delimiter: str) -> list[str] | None:
    """Return the one way to join pieces into `width` cells, as strictly as there is any; None without one, or with several."""
    if len(pieces) < width or width > WIDEST or not any('"' in piece for piece in pieces):
        return None
    for rule in (STRICT, PAIRED, ANYHOW):
        ways = _ways(tuple(pieces), width, delimiter, rule)
        if ways:
            return list(ways[0]) if len(ways) == 1 else None
    return None


def _ways(pieces: tuple[str, ...], width: int, delimiter: str, rule: int) -> list[tuple[str, ...]]:
    """Return the first two ways of joining pieces into so many cells."""

    @cache
    def of(start: int, cells: int) -> tuple[tuple[str, ...], ...]:
        left = len(pieces) - start
        if cells == 0 or left < cells:
            return ((),) if cells == left == 0 else ()
        ways: list[tuple[str, ...]] = []
        for end, cell in _begins(pieces, start, left - cells + 1, delimiter, rule):
            ways += [(cell, *rest) for rest in of(end, cells - 1)]
            if len(ways) > 1:
                break
        return tuple(ways[:2])

    return list(of(0, width))


def _begins(pieces: Sequence[str], start: int, most: int, delimiter: str, rule: int) -> Iterator[tuple[int, str]]:
    """Yield the cells that can begin with this piece, with the piece after each."""
    first = pieces[start]
    quoted = len(first) > 1 and first[0] == first[-1] == '"' and "\n" in first
    if _in_pairs(first, rule) and (rule != STRICT or quoted or not first.startswith('"')):
        yield start + 1, first[1:-1] if quoted else first
    if not first.startswith('"'):
        return
    for end in range(start + 1, start + most):
        joined = delimiter.join(pieces[start : end + 1])
        if rule == STRICT and f'"{delimiter}"' in joined:
            return
        if joined.endswith('"') and _in_pairs(joined, rule):
            yield end + 1, joined[1:-1]


def _in_pairs(text: str, rule: int) -> bool:
    return rule == ANYHOW or text.count('"') % 2 == 0
