"""Qualtrics' wide exports, CSV or xlsx: a row a person, a column a question, two or three lines of headings.

Which columns hold ratings, and of which sentences, the mapping's [survey] says; without one, columns whose heading ends in a
sentence of the materials. Cells are empty where a person did not get a question, as in the other list's half of a matrix.
"""

import csv
import html
import io
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gardenpath import study
from gardenpath.study.mapping import ColumnMapping, SurveyRule, format_cell, is_empty_cell

from ..cell_values import parse_number, strip_cells
from ..imported_sessions import ImportedSession, ImportedTrial, build_response_record
from ..sources import Source, read_csv_cells

log = logging.getLogger("gardenpath")

NAME = "qualtrics"
IMPORT_PREFIX = '{"ImportId"'
SURVEY_COLUMNS = ("StartDate", "EndDate", "ResponseId", "Finished", "Progress", "RecordedDate")
QUESTION_PATTERN = re.compile(r"Q\d+([._]\d+)*(_\d+)?")
PARTICIPANT_COLUMNS = ("PROLIFIC_PID", "prolific_pid", "prolific_id", "participant", "participant_id", "ResponseId", "_recordId")
PREVIEW_STATUSES = ("Survey Preview", "Survey Test", "1", "2")
EXCEL_MEMBER = "xl/workbook.xml"


@dataclass(frozen=True)
class _Sheet:
    """An export: names of columns, their headings (question texts), what Qualtrics imports them as, and rows with their line."""

    names: tuple[str, ...]
    headings: tuple[str, ...]
    imports: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, Any]], ...]


@dataclass(frozen=True)
class _RatingColumn:
    """A column with ratings, and what is said of it."""

    column: str
    task: str
    groups: dict[str, str]


def recognises(source: Source) -> bool:
    """Whether the first line names a survey's own columns, or questions as Qualtrics numbers them."""
    if source.members:
        try:
            return EXCEL_MEMBER in source.members and _has_survey_names(_read_excel_rows(source, max_rows=1)[:1])
        except (study.MissingExtra, study.DataError):
            return True  # what is wrong with a workbook, reading it says
    return _has_survey_names(list(csv.reader(io.StringIO(source.head, newline="")))[:1])


def _has_survey_names(first: Sequence[Sequence[Any]]) -> bool:
    names = [str(name) for name in first[0]] if first else []
    return sum(name in SURVEY_COLUMNS for name in names) > 2 or sum(
        bool(QUESTION_PATTERN.fullmatch(name)) for name in names
    ) * 2 > len(names)


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return a session for each person; raises `study.DataError` where no column holds ratings."""
    mapping = mapping or ColumnMapping()
    sheet = _read_sheet(source, mapping)
    rating_columns = _find_rating_columns(
        source, sheet, mapping.survey or SurveyRule(headings=r"(?:.*\s[-–:]\s+)?(?P<sentence>.+)"), mapping
    )
    respondents = _drop_previews(source, sheet.rows)
    _log_unread_columns(source, sheet, rating_columns, mapping)
    log.info("%s: trials are numbered in the order of the columns, not as presented; the file has no times of ratings", source.name)
    return [_build_session(source, line, row, rating_columns, sheet, mapping) for line, row in respondents]


def _log_unread_columns(source: Source, sheet: _Sheet, rating_columns: Sequence[_RatingColumn], mapping: ColumnMapping) -> None:
    """Say by which columns people are known, and which hold something and are not read."""
    names = [mapping.columns["participant"]] if "participant" in mapping.columns else PARTICIPANT_COLUMNS
    rows = [row for _, row in sheet.rows]
    identifier_counts = Counter(next((name for name in names if not mapping.is_missing(row.get(name))), "line") for row in rows)
    known = ", ".join(f"{name} ({times} rows)" for name, times in identifier_counts.items())
    log.info("%s: people are known by %s", source.name, known)
    used = {
        *SURVEY_COLUMNS,
        *identifier_counts,
        *mapping.columns.values(),
        *mapping.demographics.values(),
        *(one.column for one in rating_columns),
        "Status",
    }
    unread = [n for n in sheet.names if n and n not in used and any(not mapping.is_missing(row[n]) for row in rows)]
    if unread:
        log.info("%s: columns that are not read: %s", source.name, ", ".join(unread))


def _read_sheet(source: Source, mapping: ColumnMapping) -> _Sheet:
    lines = _read_excel_rows(source) if source.members else read_csv_cells(source)
    lines = strip_cells(lines, source.name)
    numbered = [(n, cells) for n, cells in enumerate(lines, start=1) if any(not is_empty_cell(cell) for cell in cells)]
    if len(numbered) < 2:
        raise study.DataError(f"{source.name}: the file holds no rows; expected headings and a row for each person")
    names = [format_cell(cell) if cell is not None else "" for cell in numbered[0][1]]
    faults = [
        f"{source.name}, line {n}: {len(cells)} cells, expected {len(names)} as in the first line; the file is cut short or damaged"
        for n, cells in numbered
        if len(cells) != len(names)
    ]
    faults += [
        f"{source.name}: column {n!r} occurs twice; expected once" for n in sorted({n for n in names if n and names.count(n) > 1})
    ]
    if faults:
        raise study.DataError(faults)
    body = numbered[1:]
    headings, imports = [""] * len(names), [""] * len(names)
    if _is_heading(body[0][1], names, mapping):
        headings = [html.unescape(re.sub(r"<[^>]+>", " ", str(cell or ""))).strip() for cell in body[0][1]]
        body = body[1:]
    if body and str(body[0][1][0] or "").startswith(IMPORT_PREFIX):
        imports = [str(cell or "") for cell in body[0][1]]
        body = body[1:]
    rows = mapping.prepare_rows(({"": n, **dict(zip(names, cells, strict=True))} for n, cells in body), source.name)
    return _Sheet(tuple(names), tuple(headings), tuple(imports), tuple((row.pop(""), row) for row in rows))


def _is_heading(cells: Sequence[Any], names: Sequence[str], mapping: ColumnMapping) -> bool:
    """Whether the second line says what is asked: it does where no column of questions holds a number."""
    rated = re.compile(mapping.survey.columns) if mapping.survey else QUESTION_PATTERN
    return not any(parse_number(cell) is not None for name, cell in zip(names, cells, strict=True) if rated.fullmatch(name))


def _read_excel_rows(source: Source, max_rows: int | None = None) -> list[tuple[Any, ...]]:
    """Return the rows of the first sheet; dates as Qualtrics writes them."""
    openpyxl = study.errors.require("openpyxl", "import")
    try:
        sheet = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True).worksheets[0]
        rows = list(sheet.iter_rows(values_only=True, max_row=max_rows))
    except (KeyError, ValueError, OSError) as error:
        raise study.DataError(f"{source.name}: not a whole workbook ({error}); download it again") from None
    return [tuple(cell.isoformat(" ") if isinstance(cell, datetime) else cell for cell in row) for row in rows]


def _find_rating_columns(source: Source, sheet: _Sheet, rule: SurveyRule, mapping: ColumnMapping) -> list[_RatingColumn]:
    name_pattern = re.compile(rule.columns)
    heading_pattern = re.compile(rule.headings) if rule.headings else None
    other_columns = {*SURVEY_COLUMNS, *mapping.columns.values(), *mapping.demographics.values()}
    rating_columns = []
    for name, heading in zip(sheet.names, sheet.headings, strict=True):
        by_name = name_pattern.fullmatch(name) if name and name not in other_columns else None
        by_heading = heading_pattern.fullmatch(heading) if heading_pattern else None
        if by_name and (heading_pattern is None or by_heading):
            groups = {**by_name.groupdict(), **(by_heading.groupdict() if by_heading else {})}
            rating_columns.append(_RatingColumn(name, rule.task, {k: v for k, v in groups.items() if v is not None}))
    if mapping.survey is None:
        rating_columns = [
            rating_column
            for rating_column in rating_columns
            if any(parse_number(row[rating_column.column]) is not None for _, row in sheet.rows)
        ]
    incomplete = [
        a for a in rating_columns if "sentence" not in a.groups and not {"item", "condition"} <= {*a.groups, *mapping.constants}
    ]
    if not rating_columns or incomplete:
        what = f"column {incomplete[0].column} names no item and condition" if incomplete else "no column holds ratings"
        raise study.DataError(
            f"{source.name}: {what}; say in the mapping's [survey] what names and headings of columns say, by groups "
            f"(?P<item>...) and (?P<condition>...), or (?P<sentence>...); the first columns are {', '.join(sheet.names[:8])}"
        )
    return rating_columns


def _drop_previews(source: Source, rows: Iterable[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    kept, previews = [], 0
    for line, row in rows:
        if format_cell(row.get("Status")) in PREVIEW_STATUSES:
            previews += 1
        else:
            kept.append((line, row))
    if previews:
        log.info("%s: left out %d rows that are previews or tests of the survey", source.name, previews)
    return kept


def _build_session(
    source: Source, line: int, row: dict[str, Any], rating_columns: Sequence[_RatingColumn], sheet: _Sheet, mapping: ColumnMapping
) -> ImportedSession:
    participant = mapping.get_text(row, "participant", *PARTICIPANT_COLUMNS)
    default_name = f"{source.stem} line {line}"
    rated = [a for a in rating_columns if not mapping.is_missing(row[a.column])]
    list_numbers = {a.groups["list"] for a in rated if "list" in a.groups}
    trials = tuple(_build_trial(source, line, n, row, a) for n, a in enumerate(rated))
    finished = format_cell(row.get("Finished", "1")).lower() in ("1", "true", "wahr")
    return ImportedSession(
        format_cell(row["ResponseId"]) if row.get("ResponseId") else participant or default_name,
        participant or default_name,
        NAME,
        trials,
        complete=finished,
        where=source.name,
        started=_convert_to_utc(row.get("StartDate"), "StartDate", sheet),
        finished=_convert_to_utc(row.get("EndDate"), "EndDate", sheet) if finished else None,
        experiment=mapping.get_text(row, "experiment")
        or next((a.groups["experiment"] for a in rating_columns if "experiment" in a.groups), None),
        list_name=mapping.get_text(row, "list") or ("+".join(sorted(f"L{v}" for v in list_numbers)) or None),
        demographics={
            field: format_cell(row[column])
            for field, column in mapping.demographics.items()
            if not mapping.is_missing(row.get(column))
        },
    )


def _build_trial(source: Source, line: int, nth: int, row: dict[str, Any], rating_column: _RatingColumn) -> ImportedTrial:
    groups = rating_column.groups
    prompt = groups.get("prompt", rating_column.task)
    return ImportedTrial(
        nth,
        groups.get("item", ""),
        groups.get("condition", ""),
        f"{source.name}, line {line}, column {rating_column.column}",
        groups.get("role"),
        groups.get("paradigm"),
        records=(build_response_record(rating_column.task, prompt, format_cell(row[rating_column.column])),),
        sentence=groups.get("sentence"),
    )


def _convert_to_utc(cell: Any, column: str, sheet: _Sheet) -> str | None:
    """Return a time as UTC, where the third line says of which zone it is."""
    import_details = dict(zip(sheet.names, sheet.imports, strict=True)).get(column, "")
    if is_empty_cell(cell) or not import_details:
        return None
    try:
        zone = ZoneInfo(json.loads(import_details)["timeZone"])
        time = datetime.fromisoformat(str(cell)).replace(tzinfo=zone)
    except (json.JSONDecodeError, KeyError, ZoneInfoNotFoundError, ValueError):
        return None
    return time.astimezone(UTC).isoformat(timespec="milliseconds")
