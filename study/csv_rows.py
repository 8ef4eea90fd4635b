"""Rows of CSV text, where a quote that is never closed, or a cell too long to be one, is named and not taken for text."""

import csv
from collections.abc import Iterable, Iterator


def read_csv_rows(lines: Iterable[str], separator: str = ",", *, skip_blanks: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line (from 1) where each row begins, and its cells.

    `lines` keep their line ends; `skip_blanks` passes over blanks that follow a separator. Raises `ValueError`, which begins with
    the line, where a broken quote takes the lines behind it for one cell, or a cell is longer than the `csv` module's limit.

    >>> list(read_csv_rows(['a,b\\n', '1,"2\\n', '3"\\n']))
    [(1, ['a', 'b']), (2, ['1', '2\\n3'])]
    >>> list(read_csv_rows(['a,b\\n', '1,"2\\n', '3,4\\n']))
    Traceback (most recent call last):
    ValueError: line 2: a quote opens a cell that runs on to line 3; close it, or double a quote that is text ("")
    """
    taken: list[str] = []

    def iterate_taken_lines() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    reader = csv.reader(iterate_taken_lines(), delimiter=separator, skipinitialspace=skip_blanks)
    header: list[str] = []
    start = 1
    while True:
        taken.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ValueError(
                f"line {start}: a cell is not closed, or is longer than {csv.field_size_limit():,} characters ({error}); "
                "expected a shorter cell; look for a quote that opens and never closes"
            ) from error
        if cells is None:
            return
        if len(taken) > 1 and _has_unclosed_quote(taken, cells, header, separator, skip_blanks):
            raise ValueError(
                f"line {start}: a quote opens a cell that runs on to line {reader.line_num}; "
                'close it, or double a quote that is text ("")'
            )
        yield start, cells
        header = header or cells
        start = reader.line_num + 1


def _has_unclosed_quote(taken: list[str], cells: list[str], header: list[str], separator: str, skip_blanks: bool) -> bool:
    """Whether a row of several lines is no proper CSV, or holds a line that is a row itself and shares a cell with this one."""
    try:
        list(csv.reader(taken, delimiter=separator, skipinitialspace=skip_blanks, strict=True))
    except csv.Error:
        return True
    before = cells[: next((n for n, cell in enumerate(cells) if "\n" in cell or "\r" in cell), 0)]
    rows = (line.rstrip("\r\n").split(separator) for line in taken[1:])
    return any(len(row) == len(header) and any(a and a == b for a, b in zip(row, before, strict=False)) for row in rows)
