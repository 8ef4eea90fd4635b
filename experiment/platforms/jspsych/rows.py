"""The rows of jsPsych's data, whatever holds them: JSON of several forms, texts one after the other, CSV also where saved anew."""

import csv
import io
import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gardenpath import study
from gardenpath.study.mapping import Row

from ..cell_values import strip_cells
from ..page_rows import SESSION_COLUMN
from ..sources import Source

log = logging.getLogger("gardenpath")

JSPSYCH_MARKS = (b'"trial_type"', b'"time_elapsed"')
SEPARATORS = (",", ";", "\t")
PAGE_MARK = f'"{SESSION_COLUMN}"'.encode()


@dataclass(frozen=True)
class PlayerRun:
    """Rows of one run of a page, in order; `is_whole` is False where the text breaks off. The rest is known from JATOS alone."""

    rows: tuple[Row, ...]
    where: str
    is_whole: bool = True
    id: str | None = None
    participant: str | None = None
    started: str | None = None
    finished: str | None = None
    complete: bool | None = None


def recognises(source: Source) -> bool:
    """Whether rows have what every row of jsPsych has, or what every row of our own page has."""
    if source.members:
        return False
    return (
        all(mark in source.utf8_data for mark in JSPSYCH_MARKS)
        or PAGE_MARK in source.utf8_data
        or _find_separator(source.head) is not None
    )


def _find_separator(text: str) -> str | None:
    """Return what parts the columns of a CSV of jsPsych's, which another program may have saved again; None for another text."""
    for separator in SEPARATORS:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True), [])
        if {"trial_type", "time_elapsed"} <= {*header} or SESSION_COLUMN in header:
            return separator
    return None


def read_runs(source: Source) -> list[PlayerRun]:
    """Return the rows of a file, apart for each array of rows at its top level; what lies behind a break is lost and said so."""
    text = source.text.strip()
    if not text.startswith(("[", "{")):
        return [_read_csv_run(source)]
    values, broken = _parse_values(text)
    lists = [value for value in values if isinstance(value, list)]
    single = [value for value in values if isinstance(value, dict)]
    if broken is not None:
        log.warning("%s: cut short after %d rows (%s); the session counts as incomplete", source.name, _count_rows(values), broken)
    arrays = [*lists, *([single] if single else [])]
    rows = [[row for row in _flatten_rows(value) if isinstance(row, dict)] for value in arrays]
    return [
        PlayerRun(tuple(drop_repeated_rows(run_rows)), source.name, is_whole=broken is None or n < len(rows))
        for n, run_rows in enumerate(rows, start=1)
        if run_rows
    ]


def _parse_values(text: str) -> tuple[list[Any], str | None]:
    """Return the JSON values that follow one another in a text, and what is wrong with the rest, or None.

    Of an array that breaks off, the whole elements are returned.
    """
    decoder, position = json.JSONDecoder(), 0
    values: list[Any] = []
    while position < len(text):
        if text[position] in " \n\t\r,":
            position += 1
            continue
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            rest = _parse_values(text[position + 1 :])[0] if text[position] == "[" else []
            return ([*values, rest] if rest else values), f"line {error.lineno}: {error.msg}"
        values.append(value)
    return values, None


def _flatten_rows(value: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of an array, which may hold arrays of rows."""
    for row in value:
        if isinstance(row, list):
            yield from _flatten_rows(row)
        else:
            yield row


def _count_rows(values: Iterable[Any]) -> int:
    return sum(1 for _ in _flatten_rows(values))


def _read_csv_run(source: Source) -> PlayerRun:
    """Return the rows of a CSV; a last row that is cut short is left out."""
    separator = _find_separator(source.text) or ","
    lines = csv.reader(io.StringIO(source.text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        header, *body = strip_cells(list(filter(None, lines)), source.name)
    except csv.Error as error:
        raise study.DataError(
            f"{source.name}, line {lines.line_num}: {error}; look for a quote that opens and never closes"
        ) from error
    quoted = source.text.startswith('"') and not source.text.rstrip().endswith('"')
    is_whole = not body or (len(body[-1]) == len(header) and not quoted)
    if not is_whole:
        log.warning("%s: cut short in its last row; the session counts as incomplete", source.name)
        body = body[:-1]
    faults = [
        f"{source.name}, row {n}: {len(row)} cells, expected {len(header)} as in the header; the file is damaged"
        for n, row in enumerate(body, start=1)
        if len(row) != len(header)
    ]
    if faults:
        raise study.DataError(faults)
    return PlayerRun(tuple(dict(zip(header, row, strict=True)) for row in body if row != header), source.name, is_whole)


def drop_repeated_rows(rows: Iterable[Row]) -> list[Row]:
    """Return rows without those that were sent a second time, as a page does that sends each trial and at the end all."""
    seen, kept = set(), []
    for row in rows:
        key = json.dumps(row, sort_keys=True)
        if key not in seen:
            kept.append(row)
        seen.add(key)
    return kept
