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
from gardenpath.study.mapping import ColumnMapping, SurveyRule, is_empty, plain

from ..cell_values import as_number, stripped
from ..imported import ImportedSession, ImportedTrial, answer_given
from ..sources import Source, csv_cells

log = logging.getLogger("gardenpath")

NAME = "qualtrics"
IMPORT = '{"ImportId"'
OWN = ("StartDate", "EndDate", "ResponseId", "Finished", "Progress", "RecordedDate")
QUESTION = re.compile(r"Q\d+([._]\d+)*(_\d+)?")
PERSON = ("PROLIFIC_PID", "prolific_pid", "prolific_id", "participant", "participant_id", "ResponseId", "_recordId")
PREVIEW = ("Survey Preview", "Survey Test", "1", "2")
EXCEL = "xl/workbook.xml"


@dataclass(frozen=True)
class _Sheet:
    """An export: names of columns, their headings (question texts), what Qualtrics imports them as, and rows with their line."""

    names: tuple[str, ...]
    headings: tuple[str, ...]
    imports: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, Any]], ...]


@dataclass(frozen=True)
class _Asked:
    """A column with ratings, and what is said of it."""

    column: str
    task: str
    said: dict[str, str]


def recognises(source: Source) -> bool:
    """Whether the first line names a survey's own columns, or questions as Qualtrics numbers them."""
    if source.members:
        try:
            return EXCEL in source.members and _looks(_excel(source, most=1)[:1])
        except (study.MissingExtra, study.DataError):
            return True  # what is wrong with a workbook, reading it says
    return _looks(list(csv.reader(io.StringIO(source.head, newline="")))[:1])


def _looks(first: Sequence[Sequence[Any]]) -> bool:
    names = [str(name) for name in first[0]] if first else []
    return sum(name in OWN for name in names) > 2 or sum(bool(QUESTION.fullmatch(name)) for name in names) * 2 > len(
        names
    )


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return a session for each person; raises `study.DataError` where no column holds ratings."""
    mapping = mapping or ColumnMapping()
    sheet = _sheet(source, mapping)
    asked = _asked(source, sheet, mapping.survey or SurveyRule(headings=r"(?:.*\s[-–:]\s+)?(?P<sentence>.+)"), mapping)
    respondents = _without_previews(source, sheet.rows)
    _say_unread(source, sheet, asked, mapping)
    log.info(
        "%s: trials are numbered in the order of the columns, not as presented; the file has no times of ratings",
        source.name,
    )
    return [_session(source, line, row, asked, sheet, mapping) for line, row in respondents]


def _say_unread(source: Source, sheet: _Sheet, asked: Sequence[_Asked], mapping: ColumnMapping) -> None:
    """Say by which columns people are known, and which hold something and are not read."""
    names = [mapping.columns["participant"]] if "participant" in mapping.columns else PERSON
    rows = [row for _, row in sheet.rows]
    people = Counter(next((name for name in names if not mapping.lacks(row.get(name))), "line") for row in rows)
    known = ", ".join(f"{name} ({times} rows)" for name, times in people.items())
    log.info("%s: people are known by %s", source.name, known)
    used = {
        *OWN,
        *people,
        *mapping.columns.values(),
        *mapping.demographics.values(),
        *(one.column for one in asked),
        "Status",
    }
    unread = [n for n in sheet.names if n and n not in used and any(not mapping.lacks(row[n]) for row in rows)]
    if unread:
        log.info("%s: columns that are not read: %s", source.name, ", ".join(unread))


def _sheet(source: Source, mapping: ColumnMapping) -> _Sheet:
    lines = _excel(source) if source.members else csv_cells(source)
    lines = stripped(lines, source.name)
    numbered = [(n, cells) for n, cells in enumerate(lines, start=1) if any(not is_empty(cell) for cell in cells)]
    if len(numbered) < 2:
        raise study.DataError(f"{source.name}: the file holds no rows; expected headings and a row for each person")
    names = [plain(cell) if cell is not None else "" for cell in numbered[0][1]]
    faults = [
        f"{source.name}, line {n}: {len(cells)} cells, expected {len(names)} as in the first line; the file is cut short or damaged"
        for n, cells in numbered
        if len(cells) != len(names)
    ]
    faults += [
        f"{source.name}: column {n!r} occurs twice; expected once"
        for n in sorted({n for n in names if n and names.count(n) > 1})
    ]
    if faults:
        raise study.DataError(faults)
    body = numbered[1:]
    headings, imports = [""] * len(names), [""] * len(names)
    if _is_heading(body[0][1], names, mapping):
        headings = [html.unescape(re.sub(r"<[^>]+>", " ", str(cell or ""))).strip() for cell in body[0][1]]
        body = body[1:]
    if body and str(body[0][1][0] or "").startswith(IMPORT):
        imports = [str(cell or "") for cell in body[0][1]]
        body = body[1:]
    rows = mapping.prepare(({"": n, **dict(zip(names, cells, strict=True))} for n, cells in body), source.name)
    return _Sheet(tuple(names), tuple(headings), tuple(imports), tuple((row.pop(""), row) for row in rows))


def _is_heading(cells: Sequence[Any], names: Sequence[str], mapping: ColumnMapping) -> bool:
    """Whether the second line says what is asked: it does where no column of questions holds a number."""
    rated = re.compile(mapping.survey.columns) if mapping.survey else QUESTION
    return not any(
        as_number(cell) is not None for name, cell in zip(names, cells, strict=True) if rated.fullmatch(name)
    )


def _excel(source: Source, most: int | None = None) -> list[tuple[Any, ...]]:
    """Return the rows of the first sheet; dates as Qualtrics writes them."""
    openpyxl = study.errors.require("openpyxl", "import")
    try:
        sheet = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True).worksheets[0]
        rows = list(sheet.iter_rows(values_only=True, max_row=most))
    except (KeyError, ValueError, OSError) as error:
        raise study.DataError(f"{source.name}: not a whole workbook ({error}); download it again") from None
    return [tuple(cell.isoformat(" ") if isinstance(cell, datetime) else cell for cell in row) for row in rows]


def _asked(source: Source, sheet: _Sheet, rule: SurveyRule, mapping: ColumnMapping) -> list[_Asked]:
    named = re.compile(rule.columns)
    headed = re.compile(rule.headings) if rule.headings else None
    other = {*OWN, *mapping.columns.values(), *mapping.demographics.values()}
    rating_columns = []
    for name, heading in zip(sheet.names, sheet.headings, strict=True):
        by_name = named.fullmatch(name) if name and name not in other else None
        by_heading = headed.fullmatch(heading) if headed else None
        if by_name and (headed is None or by_heading):
            groups = {**by_name.groupdict(), **(by_heading.groupdict() if by_heading else {})}
            rating_columns.append(_Asked(name, rule.task, {k: v for k, v in groups.items() if v is not None}))
    if mapping.survey is None:
        rating_columns = [
            asked for asked in rating_columns if any(as_number(row[asked.column]) is not None for _, row in sheet.rows)
        ]
    lacking = [
        a
        for a in rating_columns
        if "sentence" not in a.said and not {"item", "condition"} <= {*a.said, *mapping.constants}
    ]
    if not rating_columns or lacking:
        what = f"column {lacking[0].column} names no item and condition" if lacking else "no column holds ratings"
        raise study.DataError(
            f"{source.name}: {what}; say in the mapping's [survey] what names and headings of columns say, by groups "
            f"(?P<item>...) and (?P<condition>...), or (?P<sentence>...); the first columns are {', '.join(sheet.names[:8])}"
        )
    return rating_columns


def _without_previews(source: Source, rows: Iterable[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    kept, previews = [], 0
    for line, row in rows:
        if plain(row.get("Status")) in PREVIEW:
            previews += 1
        else:
            kept.append((line, row))
    if previews:
        log.info("%s: left out %d rows that are previews or tests of the survey", source.name, previews)
    return kept


def _session(
    source: Source, line: int, row: dict[str, Any], asked: Sequence[_Asked], sheet: _Sheet, mapping: ColumnMapping
) -> ImportedSession:
    person = mapping.text(row, "participant", *PERSON)
    usual = f"{source.stem} line {line}"
    rated = [a for a in asked if not mapping.lacks(row[a.column])]
    versions = {a.said["version"] for a in rated if "version" in a.said}
    trials = tuple(_trial(source, line, n, row, a) for n, a in enumerate(rated))
    finished = plain(row.get("Finished", "1")).lower() in ("1", "true", "wahr")
    return ImportedSession(
        plain(row["ResponseId"]) if row.get("ResponseId") else person or usual,
        person or usual,
        NAME,
        trials,
        complete=finished,
        where=source.name,
        started=_utc(row.get("StartDate"), "StartDate", sheet),
        finished=_utc(row.get("EndDate"), "EndDate", sheet) if finished else None,
        experiment=mapping.text(row, "experiment")
        or next((a.said["experiment"] for a in asked if "experiment" in a.said), None),
        version=mapping.text(row, "version") or ("+".join(sorted(f"V{v}" for v in versions)) or None),
        demographics={
            field: plain(row[column])
            for field, column in mapping.demographics.items()
            if not mapping.lacks(row.get(column))
        },
    )


def _trial(source: Source, line: int, nth: int, row: dict[str, Any], asked: _Asked) -> ImportedTrial:
    said = asked.said
    prompt = said.get("prompt", asked.task)
    return ImportedTrial(
        nth,
        said.get("item", ""),
        said.get("condition", ""),
        f"{source.name}, line {line}, column {asked.column}",
        said.get("role"),
        said.get("paradigm"),
        records=(answer_given(asked.task, prompt, plain(row[asked.column])),),
        sentence=said.get("sentence"),
    )


def _utc(cell: Any, column: str, sheet: _Sheet) -> str | None:
    """Return a time as UTC, where the third line says of which zone it is."""
    import_details = dict(zip(sheet.names, sheet.imports, strict=True)).get(column, "")
    if is_empty(cell) or not import_details:
        return None
    try:
        zone = ZoneInfo(json.loads(import_details)["timeZone"])
        time = datetime.fromisoformat(str(cell)).replace(tzinfo=zone)
    except (json.JSONDecodeError, KeyError, ZoneInfoNotFoundError, ValueError):
        return None
    return time.astimezone(UTC).isoformat(timespec="milliseconds")
