"""The lines of an Ibex or PCIbex results file: rows under column comments that change, or one JSON array a submission.

A comment `# 13. Reading time.` says what column 13 is from here on; the columns after it are those of the comments that
follow, and there are no others. Of rows that come in groups ("The lines below this comment are in groups of 2") each
place in the group has columns of its own. Text is escaped as in addresses (%2C for a comma).
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gardenpath import study

from ..losses import Losses
from ..sources import Source

ESCAPE_PATTERN = re.compile(r"(?:%[0-9A-F]{2})+")
RECEPTION_COLUMNS = ("Time results were received", "Results reception time")
ADDRESS_COLUMN = "MD5 hash of participant's IP address"
HEADING_PATTERN = re.compile(r"^\"?# (?:Results on |1\. (?:Time results were received|Results reception time))", re.M)
RAW_RESULTS_PATTERN = re.compile(r"^\[(?:false|true),\d+,\[\"", re.M)
COLUMN_PATTERN = re.compile(r"(?:Col\. )?(\d+)[.:] (.*?)\.?$")


@dataclass(frozen=True)
class ResultLine:
    """A row: its number in the file, the submission it stands in, and its cells by the name of their column."""

    number: int
    submission: int
    cells: dict[str, str]

    @property
    def session_key(self) -> tuple[int, str, str]:
        """What tells sessions apart: the submission, and time and hash where submissions stand without a heading."""
        received = next((self.cells[name] for name in RECEPTION_COLUMNS if name in self.cells), "")
        return self.submission, received, self.cells.get(ADDRESS_COLUMN, "")


@dataclass
class ResultsFile:
    """A file as read: its rows, what the headings say of each submission, and whether the end is cut off."""

    rows: list[ResultLine] = field(default_factory=list)
    user_agents: dict[int, str] = field(default_factory=dict)
    reception_times: dict[int, datetime] = field(default_factory=dict)
    is_cut_off: bool = False


@dataclass
class _Columns:
    """The columns in force: of every row, or of each place in a group of rows."""

    formats: list[list[str]] = field(default_factory=lambda: [[]])
    is_grouped: bool = False
    format_index: int = 0

    def read_comment(self, text: str) -> str | None:
        """Take in a comment, whatever it says; return what is wrong with it, or None."""
        if text.startswith("Columns below this comment"):
            self.formats, self.is_grouped = [[]], False
        elif text.startswith("The lines below this comment are in groups of"):
            self.formats, self.is_grouped, self.format_index = [], True, 0
        elif self.is_grouped and re.match(r"Line \d+:", text):
            self.formats.append([])
        elif column := COLUMN_PATTERN.match(text):
            if self.is_grouped and not text.startswith("Col."):  # the groups are over
                self.formats, self.is_grouped, self.format_index = [self.formats[0]], False, 0
            known, number = self.formats[-1], int(column[1])
            if number > len(known) + 1:
                return f"the comments name column {number} after column {len(known)}; one is missing: export the results again"
            del known[number - 1 :]
            known.append(column[2])
        return None

    def get_next_columns(self) -> list[str]:
        names = self.formats[self.format_index]
        self.format_index = (self.format_index + 1) % len(self.formats)
        return names


def read_results(source: Source, losses: Losses) -> ResultsFile:
    """Return the rows of a file; raises `study.DataError` with every row that cannot be read."""
    parsed, columns, faults, submission = ResultsFile(), _Columns(), [], 0
    text = source.text
    lines = text.split("\n")
    last = max((n for n, line in enumerate(lines, start=1) if line.strip()), default=0)
    for number, line in enumerate(lines, start=1):
        where = f"{source.name}, line {number}"
        is_cut = number == last and not text.endswith("\n")
        if not line.strip(', "'):
            continue
        if line.startswith(("#", '"#')):
            comment = line.strip(',"').removeprefix("#").strip().replace('""', '"')
            submission += comment.startswith("Results on ")
            if fault := columns.read_comment(comment):
                faults.append(f"{where}: {fault}")
                break
            _read_heading(parsed, submission, comment)
        elif line.startswith("["):
            try:
                parsed.rows += _read_raw_submission(number, submission, line)
            except ValueError:
                if number != last:
                    faults.append(f"{where}: not a submission in JSON; expected [false, counter, columns, rows]")
                else:
                    losses.add("the submission is cut off; left out", number)
            submission += 1
        else:
            names, cells = columns.get_next_columns(), line.split(",")
            if not names:
                faults.append(f"{where}: a row before any comment that names its columns; export the results again")
                break
            if len(cells) < _count_needed_cells(names) and is_cut:
                losses.add("the row is cut off; left out, and its session counts as incomplete", number)
                parsed.is_cut_off = True
            elif (sign := _find_wrong_separator(line, names)) is not None:
                faults.append(
                    f"{source.name}, line {number}: the columns are separated by {sign}, expected commas: a spreadsheet program "
                    "has saved the file; download it again"
                )
                break
            elif len(cells) < _count_needed_cells(names):
                faults.append(f"{where}: {len(cells)} cells; expected {_count_needed_cells(names)} as the comments above say")
            else:
                if len(cells) > len(names) and any(cells[len(names) :]):
                    losses.add("the row has more cells than the comments above it name; the rest is left out", number)
                cells_by_column = {name: _unescape(cell).strip() for name, cell in reversed(list(zip(names, cells, strict=False)))}
                parsed.rows.append(ResultLine(number, submission, cells_by_column))
    faults += _find_rewritten_times(source, parsed)
    if not parsed.rows and not faults:
        faults.append(f"{source.name}: contains no results; expected rows under '# 1. Results reception time.'")
    if faults:
        raise study.DataError(faults)
    return parsed


def _unescape(text: str) -> str:
    """Return a text with its escapes undone; Ibex escapes commas and line breaks alone, so that what is no escape stays.

    >>> _unescape("Yes%2C 50%de")
    'Yes, 50%de'
    """
    return ESCAPE_PATTERN.sub(_decode_escape, text)


def _decode_escape(escape: re.Match[str]) -> str:
    try:
        return bytes.fromhex(escape[0].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return escape[0]


def _count_needed_cells(names: list[str]) -> int:
    """Return how many cells a row must have: an element's own columns after Comments stand in its own rows alone."""
    return names.index("Comments") + 1 if "Comments" in names else len(names)


def _find_wrong_separator(line: str, names: list[str]) -> str | None:
    """Return what parts the cells of a row where it is no comma."""
    signs = {";": "semicolons", "\t": "tabs"}
    return next((sign_name for sign, sign_name in signs.items() if line.count(sign) + 1 >= _count_needed_cells(names)), None)


def _read_heading(parsed: ResultsFile, submission: int, comment: str) -> None:
    if comment.startswith("USER AGENT: "):
        parsed.user_agents[submission] = comment.removeprefix("USER AGENT: ")
    elif comment.startswith("Results on "):
        with suppress(ValueError):  # a heading of another server; its rows have the time too
            reception_time = datetime.strptime(comment.rstrip("."), "Results on %A %B %d %Y %H:%M:%S UTC")
            parsed.reception_times[submission] = reception_time.replace(tzinfo=UTC)


def _read_raw_submission(number: int, submission: int, line: str) -> Iterator[ResultLine]:
    """Yield the rows of a submission in raw_results; raises `ValueError` where it is none."""
    array = json.loads(line)
    if not (isinstance(array, list) and len(array) >= 4 and isinstance(array[2], list) and isinstance(array[3], list)):
        raise ValueError
    names = [name.removesuffix(".") for name in array[2]]
    for row in array[3]:
        yield ResultLine(
            number, submission, {names[column]: _unescape(_format_value(value)).strip() for column, value in reversed(row)}
        )


def _format_value(value: object) -> str:
    """Return a value as the other form of the file writes it."""
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _find_rewritten_times(source: Source, parsed: ResultsFile) -> list[str]:
    """Return a fault where a spreadsheet program has rewritten the times by which sessions are told apart."""
    damaged = [row for row in parsed.rows if row.session_key[1] and not re.fullmatch(r"\d{9,}(\.\d+)?", row.session_key[1])]
    if not damaged:
        return []
    time_cell = damaged[0].session_key[1]
    return [
        f"{source.name}, line {damaged[0].number}: the reception time is {time_cell!r} ({len(damaged)} rows); "
        "expected seconds such "
        "as 1545819607. A spreadsheet program has rewritten it, and sessions cannot be told apart: download the file again"
    ]
