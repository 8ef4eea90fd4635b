"""The gate of tables: each one is checked against its schema on its way in and out.

A table on disk is a CSV file (UTF-8, header; TRUE and FALSE, which R and pandas read as such; an apostrophe before texts that a
spreadsheet would take for formulas) or Parquet.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .csv_rows import read_csv_rows
from .errors import DataError, require
from .files import read_text, refuse_overwrite, write_atomically, write_sidecar
from .psych_ds import format_data_file_ending
from .renamed_names import describe_renamed_table, read_renamings
from .schemas import FACTOR_MEANING, MAIN_PRODUCERS, MEASURE_MEANING, TABLES, Column, Table

if TYPE_CHECKING:
    import pandas as pd

TABLE_FORMATS = ("parquet", "csv")
MAX_LISTED_ROWS = 5  # so many rows are named in one fault; the rest is counted
# What to do where a table is absent that a reader may not know how to make.
SOURCE_HINTS = {"items": "; data of another platform give it with  gardenpath collect --materials"}


_BOOLEAN_WORDS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


def check(frame: "pd.DataFrame", name: str, *, where: str = "") -> "pd.DataFrame":
    """Return `frame` with the declared columns, order and types of table `name`; behind them those on request, and factors.

    Raises `DataError` with every fault: missing, doubled and unknown columns, cells of the wrong type,
    empty cells where none may be, and rows that share a key. `where` names the source in the messages.

    >>> import pandas as pd
    >>> check(pd.DataFrame({"paradigm": ["npi"], "condition": ["a"], "factor": ["f"]}), "conditions")
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: table conditions: column 'level' is missing; expected paradigm, condition, factor, level
    """

    import pandas as pd

    table = TABLES[name]
    where = where or f"table {name}"
    frame = frame.assign(**{column: None for column in table.added_columns if column not in frame})
    faults = _find_column_faults(frame, table, where)
    if faults:
        raise DataError(faults)
    typed = {}
    for column in (*table.columns, *table.find_dynamic_columns(map(str, frame.columns))):
        typed[column.name], wrong = _convert_column(frame[column.name], column)
        faults += [f"{where}: {fault}" for fault in wrong]
    typed |= {column.name: _convert_column(frame[column.name], column)[0] for column in _describe_factors(frame, name)}
    if faults:
        raise DataError(faults)
    result = pd.DataFrame(typed, index=frame.index).reset_index(drop=True)
    twice = result[result.duplicated(list(table.key), keep=False)]
    if len(twice):
        shown = twice.head(2)
        values = ", ".join(f"{k}={shown.iloc[0][k]}" for k in table.key)
        raise DataError(
            f"{where}: {len(twice)} rows share a key with another, first {_format_line_numbers(shown.index)} ({values}); "
            f"expected one row for each {' x '.join(table.key)}"
        )
    return result


def list_factors(frame: "pd.DataFrame", name: str) -> list[str]:
    """Return the columns of a table that are factors of the study or measures of its participants, in order: those that are not
    declared, where it may have some.

    >>> import pandas as pd
    >>> list_factors(pd.DataFrame(columns=["participant", "trial", "attractor"]), "region_times")
    ['attractor']
    """
    declared = TABLES[name].column_names
    return [str(column) for column in frame.columns if column not in declared] if TABLES[name].has_factors else []


def _describe_factors(frame: "pd.DataFrame", name: str) -> list[Column]:
    """Return the columns that are factors, which are texts, and the measures of participants, which are numbers or categories."""
    import pandas as pd

    columns = []
    for factor in list_factors(frame, name):
        dtype = frame[factor].dtype
        is_number = pd.api.types.is_numeric_dtype(dtype)
        is_measure = is_number or isinstance(dtype, pd.CategoricalDtype)
        columns.append(Column(factor, "float" if is_number else "string", MEASURE_MEANING if is_measure else FACTOR_MEANING, True))
    return columns


def _find_column_faults(frame: "pd.DataFrame", table: Table, where: str) -> list[str]:
    columns = [str(column) for column in frame.columns]
    old = [(one.old, one.new) for one in read_renamings("column") if one.where == table.name]
    if renamed := [f"{where}: column {a!r} is now {b!r}" for a, b in old if a in columns and b not in columns]:
        return renamed
    expected = ", ".join(table.column_names)
    faults = [f"column {c!r} is missing; expected {expected}" for c in table.column_names if c not in columns]
    faults += [
        f"column {c!r} is there {columns.count(c)} times; expected once" for c in dict.fromkeys(columns) if columns.count(c) > 1
    ]
    known = {
        *table.column_names,
        *list_factors(frame, table.name),
        *(column.name for column in table.find_dynamic_columns(columns)),
    }
    faults += [f"column {c!r} is not known; expected {expected}" for c in dict.fromkeys(columns) if c not in known]
    return [f"{where}: {fault}" for fault in faults]


def _convert_column(cells: "pd.Series", column: Column) -> "tuple[pd.Series, list[str]]":
    # Numbers as text are slow to make, and no number is an empty text.
    import pandas as pd

    numeric = pd.api.types.is_numeric_dtype(cells)
    texts = None if numeric else cells.astype("string")
    empty = cells.isna().to_numpy() if texts is None else (texts == "").to_numpy(bool, na_value=True)
    wrong = np.zeros(len(cells), bool)
    values: Any
    if column.type == "string":
        values = cells.astype("string") if texts is None else texts
        values = values.mask(empty) if empty.any() else values
    elif column.type == "bool":
        known = cells if pd.api.types.is_bool_dtype(cells) else cells.astype("string").str.lower().map(_BOOLEAN_WORDS)
        values = known.astype("boolean")
        wrong = values.isna().to_numpy() & ~empty
    elif column.type == "int" and pd.api.types.is_integer_dtype(cells):
        values = cells.astype("Int64")
    else:
        numbers = (cells if numeric else pd.to_numeric(cells.mask(empty), errors="coerce")).astype("float64")
        wrong = numbers.isna().to_numpy() & ~empty
        if column.type == "int":
            fractional = (numbers.notna() & (numbers % 1 != 0)).to_numpy()
            wrong |= fractional
            numbers = numbers.mask(fractional)
        values = numbers.astype("Int64" if column.type == "int" else "float64")
    faults = []
    if wrong.any():
        got = cells[wrong].iloc[0]
        faults.append(f"column {column.name!r}, {_format_line_numbers(cells.index[wrong])}: {str(got)!r}, expected {column.type}")
    if not column.may_be_empty and empty.any():
        faults.append(f"column {column.name!r}, {_format_line_numbers(cells.index[empty])}: empty, expected {column.type}")
    if not column.may_be_empty and column.type in ("int", "bool") and not empty.any() and not wrong.any():
        values = values.astype("int64" if column.type == "int" else "bool")
    return values, faults


def _format_line_numbers(index: Iterable[object]) -> str:
    """Name rows as lines of a CSV file with a header, counting from 1."""
    lines = [str(int(str(i)) + 2) for i in index]
    more = f" and {len(lines) - MAX_LISTED_ROWS} more" if len(lines) > MAX_LISTED_ROWS else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:MAX_LISTED_ROWS])}{more}"


def find_table_file(source: str | Path, name: str) -> Path:
    """Return the file of table `name`: `source` itself, or in a folder `<name>.parquet` if there is one, else `<name>.csv`.

    Where neither is there, the folder may be the data of an archived study (`bundle`), whose files have longer names.

    >>> find_table_file("results", "accuracy").as_posix()
    'results'
    """
    path = Path(source)
    if not path.is_dir():
        return path
    named = next((p for form in TABLE_FORMATS if (p := path / f"{name}.{form}").exists()), None)
    return named or next(iter(sorted(path.glob(f"study-*_{format_data_file_ending(name)}"))), path / f"{name}.csv")


def find_tables(folder: str | Path) -> dict[str, Path]:
    """Return the file of each table in a study's folder, by name: in tables/, scores/ or results/, the first that has it.

    Raises `DataError` where a folder has a table under an old name, and not those that have its rows now.

    >>> find_tables("no-study-here")
    {}
    """
    names = dict.fromkeys(step.folder for step in MAIN_PRODUCERS)
    folders = [path for name in names if (path := Path(folder) / name).is_dir()]
    files = ((name, find_table_file(table_folder, name)) for name in TABLES for table_folder in folders)
    found: dict[str, Path] = {}
    for name, path in files:
        if path.exists():
            found.setdefault(name, path)
    missing = [name for name in TABLES if name not in found]
    if faults := [fault for table_folder in folders for fault in _find_renamed_tables(table_folder, missing)]:
        raise DataError(faults)
    return found


def _find_renamed_tables(folder: str | Path, missing: Iterable[str]) -> list[str]:
    """Return a line for each file of a table with an old name whose rows stand in one that is missing."""
    renamings = [one for one in read_renamings("table") if {*one.new_tables} & {*missing}]
    files = ((one, find_table_file(folder, one.old)) for one in renamings)
    return [describe_renamed_table(one, path) for one, path in files if path.exists()]


def take_tables(tables: "Mapping[str, pd.DataFrame]", *names: str) -> "list[pd.DataFrame]":
    """Return these of the tables; raises `DataError` naming those that are missing and the commands that write them.

    Tables that were put together of several frames, so that labels of rows repeat, are checked, since rows may repeat too.

    >>> take_tables({}, "items")
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: table items is missing; gardenpath collect writes it
    """
    faults = [f"table {name} is missing; {_describe_producer(name)}" for name in names if name not in tables]
    if faults:
        raise DataError(faults)
    taken = {name: tables[name] for name in names}
    return [f if f.index.is_unique else check(f.reset_index(drop=True), name) for name, f in taken.items()]


def _describe_producer(name: str) -> str:
    producer = TABLES[name].producer
    return f"gardenpath {producer.command} writes it" if producer else f"expected {TABLES[name].row} in each row"


def refuse_existing_tables(folder: str | Path, command: str, force: bool) -> None:
    """Raise `FileExistsError` where a folder has a table that a command would write, unless `force`."""
    names = [table.name for table in TABLES.values() if table.producer is not None and table.producer.command == command]
    refuse_overwrite([Path(folder) / f"{name}.{form}" for name in names for form in TABLE_FORMATS], force)


def select_filled(
    tables: "Mapping[str, pd.DataFrame]", folder: str | Path, *, is_whole_run: bool = False
) -> "dict[str, pd.DataFrame]":
    """Return the tables that have rows: of results no others are written.

    Those that lie in the folder from a run before, and have no rows now, are deleted with their sidecars. Of a command whose every
    run is a whole (`is_whole_run`) so are its tables that this run did not make; others add to a folder, model by model.

    >>> import pandas as pd
    >>> tables = {"accuracy": pd.DataFrame(), "pairs": pd.DataFrame({"item": ["i1"]})}
    >>> [*select_filled(tables, "no-folder-here")]
    ['pairs']
    """
    filled = {name: frame for name, frame in tables.items() if len(frame)}
    producers = {TABLES[name].producer for name in tables} - {None}
    made = {*tables, *(table.name for table in TABLES.values() if is_whole_run and table.producer in producers)}
    for name in made - {*filled}:
        for form in TABLE_FORMATS:
            for file in (f"{name}.{form}", f"{name}.{form}.meta.json"):
                (Path(folder) / file).unlink(missing_ok=True)
    return filled


def _has_no_rows(source: str | Path, name: str) -> bool:
    """Whether a folder has results of the command that writes a table, so that the table is not there for having no rows."""
    producer, folder = TABLES[name].producer, Path(source)
    if producer is None or producer.folder != "results" or not folder.is_dir():
        return False
    return any(find_table_file(folder, table.name).exists() for table in TABLES.values() if table.producer == producer)


def read(source: str | Path, name: str) -> "pd.DataFrame":
    """Return table `name`, checked, from a CSV or Parquet file or from a folder that holds `<name>.csv|.parquet`.

    Results without rows have no file: a table that is not there beside others of the same command is empty.

    >>> import pandas as pd
    >>> import tempfile
    >>> frame = pd.DataFrame({"paradigm": ["npi"], "condition": ["a"], "factor": ["licensor"], "level": ["no"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write(frame, "conditions", folder, command="by hand")
    ...     read(folder, "conditions").loc[0, "level"]
    'no'
    """

    import pandas as pd

    path = find_table_file(source, name)
    if not path.exists():
        if faults := _find_renamed_tables(source, [name]):
            raise DataError(faults)
        if _has_no_rows(source, name):
            return check(pd.DataFrame(columns=TABLES[name].column_names), name)
        raise FileNotFoundError(
            f"{path}: there is no such file; expected the table '{name}' ({TABLES[name].row}){SOURCE_HINTS.get(name, '')}"
        )
    if path.suffix == ".parquet":
        require("pyarrow", "parquet")
        return check(pd.read_parquet(path), name, where=str(path))
    return check(unescape_formulas(read_csv(path, _detect_separator(path))), name, where=str(path))


def _detect_separator(path: Path) -> str:
    """Return what separates cells in a header: a comma as we write it, or what a spreadsheet has put in its place."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline()
    return max(",;\t", key=header.count)


# What makes a spreadsheet take a text for a formula; an apostrophe before it keeps it a text, as where one is typed.
_FORMULA_PATTERN = re.compile(r"'*[=+\-@\t\r]")
_NUMBER_PATTERN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NEEDS_QUOTES_PATTERN = re.compile(r'[",\r\n]')


def escape_formula(text: str) -> str:
    """Return a cell of a CSV file that no spreadsheet takes for a formula; numbers stay as they are.

    >>> escape_formula("=1+1"), escape_formula("-animate"), escape_formula("-1.5"), escape_formula("it's")
    ("'=1+1", "'-animate", '-1.5', "it's")
    """
    return f"'{text}" if _FORMULA_PATTERN.match(text) and not _NUMBER_PATTERN.fullmatch(text) else text


def _format_cell(text: str) -> str:
    """Return a text as a cell of a CSV file."""
    text = escape_formula(text)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES_PATTERN.search(text) else text


def escape_formulas(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose texts no spreadsheet takes for formulas."""
    return _map_texts(frame, escape_formula)


def unescape_formulas(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table as it was before `escape_formulas`.

    >>> import pandas as pd
    >>> unescape_formulas(escape_formulas(pd.DataFrame({"level": ["+", "'-", "a"]})))["level"].tolist()
    ['+', "'-", 'a']
    """
    return _map_texts(frame, lambda text: text[1:] if text.startswith("'") and _FORMULA_PATTERN.match(text) else text, "'")


def _map_texts(frame: "pd.DataFrame", change: Callable[[str], str], prefix: str = "") -> "pd.DataFrame":
    """Return a table with its texts changed, those that begin so."""
    import pandas as pd

    changed = {}
    for column_number, kind in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(kind):
            continue
        cells = frame.iloc[:, column_number]
        if prefix and isinstance(kind, pd.StringDtype) and not cells.str.startswith(prefix).any():
            continue
        texts = {text: change(text) for text in cells.dropna().unique() if isinstance(text, str)}
        if any(text != made for text, made in texts.items()):
            changed[column_number] = cells.map(texts, na_action="ignore")
    if not changed:
        return frame
    columns = [changed.get(column_number, frame.iloc[:, column_number]) for column_number in range(frame.shape[1])]
    return pd.concat(columns, axis=1)


def read_csv(path: str | Path, separator: str = ",") -> "pd.DataFrame":
    """Return a CSV file as text cells, whatever its line ends; doubled columns keep their doubled names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "cells.csv").write_bytes(b"word,n\\r\\nthe,01\\r\\n")
    ...     read_csv(f"{folder}/cells.csv").loc[0].tolist()
    ['the', '01']
    """

    import pandas as pd

    text = read_text(path)
    if not text.strip():
        raise DataError(f"{path}: the file is empty; expected a header line and rows")
    if (plain := _read_plain_csv(text, separator)) is not None:
        return plain
    try:
        rows = [row for _, row in read_csv_rows(io.StringIO(text, newline=""), separator) if row]
    except ValueError as error:
        raise DataError(f"{path}, {error}") from error
    header, body = rows[0], rows[1:]
    broken = [i for i, row in enumerate(body) if len(row) != len(header)]
    if broken:
        raise DataError(
            f"{path}, {_format_line_numbers(broken)}: {len(body[broken[0]])} cells, expected {len(header)} as in the header; "
            "put a cell that holds the separator in double quotes"
        )
    return pd.DataFrame(body, columns=header)


def _read_plain_csv(text: str, separator: str) -> "pd.DataFrame | None":
    """Return what pandas reads, five times as fast, where nothing is quoted and every line has as many cells; None elsewhere.

    pandas ends a text at a null character, fills short rows up, and takes cells of any length.
    """
    import pandas as pd

    if '"' in text or "\0" in text:
        return None
    lines = text.removesuffix("\n").split("\n")
    header = lines[0].split(separator)
    even = {line.count(separator) for line in lines} == {len(header) - 1}
    if not even or len(header) < 2 or len(lines) < 2 or max(map(len, lines)) > csv.field_size_limit():
        return None
    del lines
    cells = pd.read_csv(
        io.BytesIO(text.encode("utf-8")),  # a quarter of what StringIO takes
        sep=separator,
        header=None,
        skiprows=1,
        names=range(len(header)),
        dtype=str,
        na_filter=False,
        quoting=csv.QUOTE_NONE,
        skip_blank_lines=False,
    )
    return cells.set_axis(header, axis=1)


def write_data_dictionary(tables: "Mapping[str, pd.DataFrame]", folder: str | Path) -> Path:
    """Write what every column of these tables means to `<folder>/data-dictionary.csv` and return its path.

    >>> import pandas as pd
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data_dictionary({"conditions": pd.DataFrame()}, folder).name
    'data-dictionary.csv'
    """
    path = Path(folder) / "data-dictionary.csv"
    with write_atomically(path) as temporary:
        temporary.write_text(format_data_dictionary(tables), encoding="utf-8")
    return path


def format_data_dictionary(tables: "Mapping[str, pd.DataFrame]") -> str:
    """Return the data dictionary of these tables as CSV: table, its row, column, type, meaning with unit, empty cells, key.

    >>> import pandas as pd
    >>> print(format_data_dictionary({"conditions": pd.DataFrame()}).splitlines()[1])
    conditions,a factor's level in a condition,paradigm,string,paradigm,no,yes
    """
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["table", "row", "column", "type", "meaning", "may_be_empty", "key"])
    for name, frame in tables.items():
        table = TABLES[name]
        for column in list_columns(frame, name):
            yes_no_cells = ["yes" if holds else "no" for holds in (column.may_be_empty, column.name in table.key)]
            lines.writerow([table.name, table.row, column.name, column.type, column.meaning, *yes_no_cells])
    return text.getvalue()


def list_columns(frame: "pd.DataFrame", name: str) -> tuple[Column, ...]:
    """Return what the columns of a table are: those declared, those on request, factors and measures of participants.

    >>> import pandas as pd
    >>> [column.name for column in list_columns(pd.DataFrame(), "conditions")]
    ['paradigm', 'condition', 'factor', 'level']
    """
    table = TABLES[name]
    return (*table.columns, *table.find_dynamic_columns(map(str, frame.columns)), *_describe_factors(frame, name))


def format_csv(frame: "pd.DataFrame", name: str) -> str:
    """Return a table as `write` writes it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"paradigm": ["npi"], "condition": ["a"], "factor": ["licensor"], "level": ["no"]})
    >>> format_csv(frame, "conditions")
    'paradigm,condition,factor,level\\nnpi,a,licensor,no\\n'
    """
    checked = check(frame, name)
    stream = io.StringIO(newline="")
    _begin_csv(stream, checked)(checked)
    return stream.getvalue()


def write(
    frame: "pd.DataFrame",
    name: str,
    folder: str | Path,
    *,
    command: str,
    inputs: Iterable[str | Path] = (),
    seed: int | None = None,
    notes: Mapping[str, object] | None = None,
    parquet: bool = False,
) -> Path:
    """Check `frame`, write it whole to `<folder>/<name>.csv` (or `.parquet`) with its sidecar, and return the path.

    >>> import pandas as pd
    >>> import tempfile
    >>> frame = pd.DataFrame({"paradigm": ["npi"], "condition": ["a"], "factor": ["licensor"], "level": ["no"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(frame, "conditions", folder, command="by hand").name
    'conditions.csv'
    """
    written = write_parts([{name: frame}], folder, command=command, inputs=inputs, seed=seed, notes=notes, parquet=parquet)
    return next(iter(written))


def write_parts(
    parts: "Iterable[Mapping[str, pd.DataFrame]]",
    folder: str | Path,
    *,
    command: str,
    inputs: Iterable[str | Path] = (),
    seed: int | None = None,
    notes: Mapping[str, object] | None = None,
    parquet: bool = False,
    force: bool = True,
    dictionary: bool = False,
) -> dict[Path, int]:
    """Write tables that come in parts as `write` does, all of them or none, and return the number of rows of each file.

    One part at a time is in memory. Raises `FileExistsError` for tables that are there already, unless `force`.
    With `format_data_dictionary` their data dictionary is written as well.

    >>> import pandas as pd
    >>> import tempfile
    >>> one, two = (pd.DataFrame({"paradigm": [p], "condition": ["a"], "factor": ["f"], "level": ["no"]}) for p in "pq")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list(write_parts([{"conditions": one}, {"conditions": two}], folder, command="by hand").values())
    [2]
    """
    rows: dict[Path, int] = {}
    add: dict[Path, Callable[[pd.DataFrame], None]] = {}
    first: dict[str, pd.DataFrame] = {}
    with ExitStack() as stack:
        for part in parts:
            paths = {name: Path(folder) / f"{name}.{'parquet' if parquet else 'csv'}" for name in part}
            refuse_overwrite([path for path in paths.values() if path not in rows], force)
            for name, path in paths.items():
                checked = check(part[name], name)
                if path not in rows:
                    temporary = stack.enter_context(write_atomically(path))
                    if parquet:
                        add[path] = stack.enter_context(_open_parquet(temporary, checked))
                    else:
                        stream = stack.enter_context(temporary.open("w", encoding="utf-8", newline=""))
                        add[path] = _begin_csv(stream, checked)
                    first[name], rows[path] = checked.head(0), 0
                add[path](checked)
                rows[path] += len(checked)
    for path in rows:
        write_sidecar(path, command=command, inputs=inputs, seed=seed, notes=notes)
    if dictionary:
        write_data_dictionary(first, folder)
    return rows


def _begin_csv(stream: io.TextIOBase, first: "pd.DataFrame") -> "Callable[[pd.DataFrame], None]":
    """Return what adds rows to a CSV file of a table with the columns of `first`, which it begins."""

    import pandas as pd

    stream.write(",".join(map(_format_cell, first.columns)) + "\n")

    def add(frame: "pd.DataFrame") -> None:
        # As pandas writes them, in a third of the time: a text is looked at once.
        columns = []
        for _, cells in _map_texts(_capitalise_booleans(frame), _format_cell).items():
            own = cells.to_numpy(object, na_value="").tolist()
            columns.append(list(map(str, own)) if pd.api.types.is_numeric_dtype(cells) else own)
        stream.writelines(f"{line}\n" for line in map(",".join, zip(*columns, strict=True)))

    return add


@contextmanager
def _open_parquet(path: Path, first: "pd.DataFrame") -> "Iterator[Callable[[pd.DataFrame], None]]":
    """Give what adds rows to a Parquet file of a table with the columns of `first`."""
    pyarrow, parquet = require("pyarrow", "parquet"), require("pyarrow.parquet", "parquet")
    schema = pyarrow.Schema.from_pandas(first, preserve_index=False)
    with parquet.ParquetWriter(path, schema) as file:

        def add(frame: "pd.DataFrame") -> None:
            if len(frame):  # no group of no rows
                file.write_table(pyarrow.Table.from_pandas(frame, schema, preserve_index=False))

        yield add


def _capitalise_booleans(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with TRUE and FALSE as text."""
    booleans = frame.select_dtypes(["bool", "boolean"])
    return frame.assign(**{str(name): cells.map({True: "TRUE", False: "FALSE"}) for name, cells in booleans.items()})
