"""Excel workbooks: the one sheet with cells as a table in text, whatever its format is."""

import csv
import io
import re
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

from gardenpath import study

DECIMALS_PATTERN = re.compile(r"0\.(0+)")


def is_workbook(path: str | Path) -> bool:
    """Whether a file is an Excel workbook by its name."""
    return Path(path).suffix.lower() == ".xlsx" and Path(path).is_file()


def read_workbook_text(path: str | Path) -> str:
    """Return the sheet of a workbook as a table with commas, a line for each of its rows; several filled sheets are refused."""
    openpyxl = study.errors.require("openpyxl", "import")
    try:
        study.files.open_zip(Path(path).read_bytes(), str(path)).close()
        book = openpyxl.load_workbook(path, data_only=True)
    except study.DataError:
        raise
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise study.DataError(f"{path}: not a whole Excel workbook ({error}); save it again") from None
    tables = {sheet.title: [[_format_cell(cell) for cell in row] for row in sheet.iter_rows()] for sheet in book.worksheets}
    filled = {title: rows for title, rows in tables.items() if any(any(row) for row in rows)}
    if len(filled) > 1:
        raise study.DataError(
            f"{path}: the sheets {', '.join(filled)} all hold cells; expected one; save each that you need in a file of its own"
        )
    rows: list[list[str]] = next(iter(filled.values()), [[]])
    width = max((i for i, cell in enumerate(rows[0], start=1) if cell), default=0)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        # Columns beyond the header are empty but for slips, which the format's reader names.
        writer.writerow(row[: width if not any(row[width:]) else None] if any(row) else [])
    return stream.getvalue()


def _format_cell(cell: Any) -> str:
    """Return what a cell shows, on one line: a number with the decimals that it is shown with, a date in ISO 8601."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and (decimals := DECIMALS_PATTERN.fullmatch(cell.number_format)):
        return f"{value:.{len(decimals[1])}f}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).splitlines())
