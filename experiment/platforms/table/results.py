"""A plain long table: one row for each word read, or for each rating, with a mapping that says what its columns are."""

import csv
import logging
import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import RESPONSE_COLUMNS, TIME_COLUMNS, ColumnMapping, ResponseRule, Row, is_matching_row

from ..cell_values import parse_boolean, parse_number, strip_cells
from ..imported_sessions import (
    NO_POSITION,
    ImportedSession,
    ImportedTrial,
    WordNumbering,
    build_response_record,
    combine_records,
    format_shared_session_fault,
    log_scattered_rows,
)
from ..sources import Source, read_csv_cells

log = logging.getLogger("gardenpath")

NAME = "table"
SEPARATOR_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
LINE_KEY = "\0line"  # a key that no column has: the line of a row, for messages


def recognises(source: Source) -> bool:
    """Any text may be a table; what it holds, only a mapping can say."""
    return bool(source.data.strip()) and not source.members


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of a long table; words keep the positions that it states, counted from 0."""
    if mapping is None:
        raise study.DataError(f"{source.name}: a table needs a mapping that names its columns; see docs/import.md")
    rows = read_cells(source, mapping.separator)
    _check_columns(source, list(rows[0])[1:], mapping)
    rows = mapping.prepare_rows(rows, source.name)
    faults: list[str] = []
    has_texts = any(mapping.get_text(row, "text") is not None for row in rows)
    word_numbering = infer_word_numbering(source.name, rows, mapping, has_texts=has_texts)
    sessions = [
        _build_session(source.name, name, session_cells, mapping, faults, word_numbering)
        for name, session_cells in _group_rows(rows, mapping, "session", "participant")
    ]
    if "trial" not in mapping.columns:
        session_cells = [tuple(mapping.get_text(row, name) for name in ("session", "participant")) for row in rows]
        log_scattered_rows(source.name, "sessions", session_cells)
        trial_cells = [tuple(mapping.get_text(row, name) for name in ("item", "condition")) for row in rows]
        log_scattered_rows(source.name, "trials", zip(session_cells, trial_cells, strict=True))
        log.info("%s: holds no trial; trials are numbered in the order of the file, perhaps not as presented", source.name)
    if faults:
        raise study.DataError(faults)
    return sessions


def read_cells(source: Source, separator: str = ",") -> list[Row]:
    """Return the rows of a delimited text; separator "space" is any run of blanks, with R's quotes and names of rows."""
    if separator == "space":
        lines = [next(csv.reader([line], delimiter=" ", skipinitialspace=True), []) for line in source.text.splitlines()]
    else:
        lines = read_csv_cells(source, separator)
    lines = strip_cells(filter(None, lines), source.name)
    if len(lines) < 2 or not source.text.strip():
        raise study.DataError(f"{source.name}: the file holds no rows; expected a header line and rows")
    header, body = lines[0], lines[1:]
    if separator == "space" and all(len(row) == len(header) + 1 for row in body):
        body = [row[1:] for row in body]
    duplicates = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    faults = [f"{source.name}: column {n!r} occurs {header.count(n)} times; expected once" for n in duplicates if n]
    faults += [
        f"{source.name}, line {line}: {len(row)} cells, expected {len(header)} as in the header; "
        "the file is cut short, or a cell holds the separator and no quotes"
        for line, row in enumerate(body, start=2)
        if len(row) != len(header)
    ]
    if faults:
        raise study.DataError(faults)
    return [{LINE_KEY: line, **dict(zip(header, row, strict=True))} for line, row in enumerate(body, start=2)]


def _check_columns(source: Source, header: Sequence[str], mapping: ColumnMapping) -> None:
    needed = ["participant", "item", "condition"]
    if not mapping.responses:
        needed += ["response"] if "response" in mapping.columns else ["rt"] if _has_regions_alone(mapping) else ["word", "rt"]
    mapped = {*mapping.columns, *mapping.constants}
    faults = [f"columns: {c!r} is missing; expected {', '.join(needed)}" for c in needed if c not in mapped]
    if "participant" not in mapped and {"word", "rt"} <= mapped:
        faults.append("of words with their mean reading times over readers, say so in the mapping:  rows_are_means = true")
    response_columns = [
        mapping.columns.get("response"),
        *(rule.columns["response"] for rule in mapping.responses if not rule.where),
    ]
    duplicates = sorted({column for column in response_columns if column is not None and response_columns.count(column) > 1})
    faults += [f"column {c!r} is the response of two answers; one column gives one answer" for c in duplicates]
    faults += find_absent_columns(source, header, mapping)
    if faults:
        raise study.DataError(f"{source.name}: {fault}" for fault in faults)


def find_absent_columns(source: Source, header: Sequence[str], mapping: ColumnMapping) -> list[str]:
    """Return a fault for each column that the mapping names and the file does not have."""
    named_columns = {*mapping.columns.values(), *mapping.fill_down, *chain(*mapping.joined.values())} - mapping.joined.keys()
    for where in (rule.where for part in (mapping.regions, mapping.exclude_rows, mapping.repairs) for rule in part):
        named_columns |= {*where}
    for repair in mapping.repairs:
        named_columns |= {*repair.set}
    for rule in mapping.responses:
        named_columns |= {*rule.where, *rule.columns.values()}
    absent = sorted(named_columns - {*header})
    return [f"column {c!r} is missing; the file has {', '.join(header)}{_suggest_separator(source, c)}" for c in absent]


def _has_regions_alone(mapping: ColumnMapping) -> bool:
    """Whether rows are words of which the table names the region and no position."""
    names_regions = "region" in mapping.columns or bool(mapping.regions)
    return names_regions and "rt" in mapping.columns and not {"word", "response"} & mapping.columns.keys()


def _suggest_separator(source: Source, column: str) -> str:
    """Return which separator the first line seems to have, where the column is in it but not to be had by the stated one."""
    header = source.text.partition("\n")[0]
    for separator, name in SEPARATOR_NAMES.items():
        if column in next(csv.reader([header], delimiter=separator)):
            return f' (separated by {name}? state  separator = "{separator if separator != chr(9) else chr(92) + "t"}")'
    return ""


def _group_rows(rows: Sequence[Row], mapping: ColumnMapping, *names: str) -> list[tuple[str, list[Row]]]:
    """Return rows by the first of our columns that there is, in the order of the file."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        key = next((v for name in names if (v := mapping.get_text(row, name)) is not None), "")
        grouped.setdefault(key, []).append(row)
    return list(grouped.items())


def infer_word_numbering(where: str, rows: Sequence[Row], mapping: ColumnMapping, *, has_texts: bool = False) -> WordNumbering:
    """Return how the file numbers words; raises `DataError` where its smallest number does not say it, nor the mapping.

    Of a file with `has_texts` the materials may say it later.
    """
    if mapping.first_word_position is not None or "word" not in mapping.columns:
        return WordNumbering(mapping.first_word_position or 0, is_stated=True)
    word_rows = (row for row in rows if not any(rule.where and is_matching_row(row, rule.where) for rule in mapping.responses))
    first = min((n for row in word_rows if (n := parse_number(mapping.get_text(row, "word"))) is not None), default=0)
    if first not in (0, 1) and not has_texts:
        raise study.DataError(
            f"{where}: positions of words (column {mapping.columns['word']!r}) begin at {first:g}; state in the mapping which "
            "number the first word of a sentence has:  first_word_position = 1  or  first_word_position = 0"
        )
    if first in (0, 1):
        log.info("%s: positions of words begin at %d, which is taken for each sentence's first word", where, first)
    return WordNumbering(int(first), is_stated=False)


def _build_session(
    where: str, name: str, rows: Sequence[Row], mapping: ColumnMapping, faults: list[str], word_numbering: WordNumbering
) -> ImportedSession:
    first = rows[0]
    participants = {mapping.get_text(row, "participant"): row for row in reversed(rows)}
    if len(participants) > 1:
        faults.append(format_shared_session_fault(f"{where}, line {first[LINE_KEY]}: session {name}", participants))
    trials: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        trial_key = [mapping.get_text(row, column) for column in ("trial", "item", "condition")]
        empty = [column for column in ("item", "condition", "participant") if mapping.get_text(row, column) is None]
        if empty:
            faults.append(f"{where}, line {row[LINE_KEY]}: {' and '.join(empty)} empty; expected its name")
        else:
            trials.setdefault(tuple(cell or "" for cell in trial_key), []).append(row)
    imported = tuple(
        _build_trial(where, n, trial, mapping, faults, word_numbering.first_number) for n, trial in enumerate(trials.values())
    )
    return ImportedSession(
        name,
        mapping.get_text(first, "participant") or "",
        NAME,
        imported,
        complete=True,
        where=where,
        started=mapping.get_text(first, "started"),
        finished=mapping.get_text(first, "finished"),
        experiment=mapping.get_text(first, "experiment"),
        list_name=mapping.get_text(first, "list"),
        device=mapping.get_text(first, "device"),
        word_numbering=word_numbering,
    )


def _build_trial(
    where: str, nth: int, rows: Sequence[Row], mapping: ColumnMapping, faults: list[str], first_word: int
) -> ImportedTrial:
    first = rows[0]
    responses, word_rows = [], []
    for row in rows:
        rules = [rule for rule in mapping.responses if rule.where and is_matching_row(row, rule.where)]
        responses += [record for rule in rules if (record := read_response(row, rule, mapping, where, faults))]
        word_rows += [] if rules else [row]
    responses += _read_repeated_responses(word_rows, mapping, where, faults)
    words = (
        _read_words(where, word_rows, mapping, faults, first_word)
        if "word" in mapping.columns or _has_regions_alone(mapping)
        else ()
    )
    if "response" in mapping.columns:
        column_rule = ResponseRule({name: mapping.columns[name] for name in RESPONSE_COLUMNS if name in mapping.columns})
        responses += [record for row in word_rows if (record := read_response(row, column_rule, mapping, where, faults))]
    _check_repeated_responses(where, first, responses, mapping, faults)
    trial = mapping.get_text(first, "trial")
    number = nth if trial is None else _read_number(trial, f"{where}, line {first[LINE_KEY]}: trial", faults)
    return ImportedTrial(
        nth if number is None else int(number),
        mapping.get_text(first, "item") or "",
        mapping.get_text(first, "condition") or "",
        f"{where}, line {first[LINE_KEY]}",
        mapping.get_text(first, "role"),
        mapping.get_text(first, "paradigm"),
        combine_records(words, responses),
    )


def _check_repeated_responses(where: str, row: Row, responses: Sequence[Record], mapping: ColumnMapping, faults: list[str]) -> None:
    prompt_counts = Counter((record.task, record.name) for record in responses)
    participant, item = mapping.get_text(row, "participant"), mapping.get_text(row, "item")
    faults += [
        f"{where}, line {row[LINE_KEY]}: participant {participant} answers {name} ({task}) of item {item} {times} "
        "times in one trial; name the "
        "column that tells trials or prompts apart ([columns] trial, prompt), or correct the file"
        for (task, name), times in prompt_counts.items()
        if times > 1
    ]


def read_response(row: Row, rule: ResponseRule, mapping: ColumnMapping, where: str, faults: list[str]) -> Record | None:
    """Return the answer that a rule finds in a row; None where the response is empty, and no column says how the screen ended."""

    def cell(name: str) -> str | None:
        value = row.get(rule.columns.get(name, ""))
        return mapping.constants.get(name) if value is None or mapping.is_missing(value) else str(value)

    response, outcome = cell("response"), cell("outcome")
    if response is None and outcome is None:
        return None
    location = f"{where}, line {row[LINE_KEY]}"
    correct = _read_boolean(cell("correct"), location, faults)
    times: dict[str, Any] = {name: _read_time(cell(name), name, location, mapping, faults) for name in ("rt", "rt_first")}
    task = cell("task") or rule.task
    if task == "rating" and response is not None:
        _read_number(response, f"{location}: the rating", faults)
    prompt = cell("prompt") or rule.prompt or task
    if response is None or outcome == "timeout" or (correct is None and outcome is not None):
        return Record(task, prompt, outcome, response, cell("side"), **times)
    return build_response_record(task, prompt, response, correct, side=cell("side"), **times)


def _read_repeated_responses(rows: Sequence[Row], mapping: ColumnMapping, where: str, faults: list[str]) -> list[Record]:
    """Return answers that every row of a trial repeats; rows that disagree are a fault."""
    records = []
    for rule in mapping.responses:
        if rule.where or not rows:
            continue
        repeated = {a for row in rows if (a := read_response(row, rule, mapping, where, faults))}
        if len(repeated) > 1:
            responses = " and ".join(sorted(repr(str(a.answer)) for a in repeated))
            faults.append(
                f"{where}, line {rows[0][LINE_KEY]}: the rows of one trial answer {rule.prompt_name} by {responses}; expected one"
            )
        records += [*repeated][:1]
    return records


def _read_words(
    where: str, rows: Sequence[Row], mapping: ColumnMapping, faults: list[str], first_word: int
) -> tuple[WordRecord, ...]:
    """Return the words at the positions that the file states; where it names regions alone, at none (`NOWHERE`)."""
    # Where the same rows hold an answer, that is what these are of.
    has_word_columns = "response" not in mapping.columns
    words_by_key: dict[int | str | None, WordRecord] = {}
    for row in rows:
        line = f"{where}, line {row[LINE_KEY]}"
        regions = [rule.name for rule in mapping.regions if is_matching_row(row, rule.where)]
        region = regions[-1] if regions else mapping.get_text(row, "region")
        position = NO_POSITION
        if "word" in mapping.columns:
            number = _read_number(mapping.get_text(row, "word") or "", f"{line}: the word's position", faults)
            if number is None:
                continue
            position = int(number) - first_word
            if number != int(number) or position < 0:
                faults.append(f"{line}: the word's position is {number:g}, expected a whole number from {first_word}")
                continue
        elif mapping.get_text(row, "rt") is None:
            continue
        word_key = region if position == NO_POSITION else position
        if word_key in words_by_key:
            what = f"region {region}" if position == NO_POSITION else f"position {position + first_word}"
            faults.append(
                f"{line}: participant {mapping.get_text(row, 'participant')} reads {what} of item "
                f"{mapping.get_text(row, 'item')} a second time; correct the file, or declare a repair in the mapping"
            )
        times = {
            name: _read_time(mapping.get_text(row, name), name, line, mapping, faults)
            for name in TIME_COLUMNS
            if has_word_columns or name != "rt_first"
        }
        line_number = (
            None if (line_cell := mapping.get_text(row, "line")) is None else _read_number(line_cell, f"{line}: line", faults)
        )
        flags = (mapping.get_text(row, "quality_flags") or "").split()
        words_by_key[word_key] = WordRecord(
            position,
            text=mapping.get_text(row, "text"),
            flags=tuple(flags),
            region=region,
            line=None if line_number is None else int(line_number),
            correct=_read_boolean(mapping.get_text(row, "correct"), line, faults) if has_word_columns else None,
            **times,
        )
    return tuple(sorted(words_by_key.values(), key=lambda word: word.word))


def _read_boolean(text: str | None, where: str, faults: list[str]) -> bool | None:
    """Return whether something was right; None where the cell is empty, or says neither, which is a fault."""
    value = None if text is None else parse_boolean(text)
    if text is not None and value is None:
        faults.append(f"{where}: correct is {text!r}; expected true or false, yes or no, 1 or 0")
    return value


def _read_time(text: str | None, name: str, where: str, mapping: ColumnMapping, faults: list[str]) -> float | None:
    """Return a time in ms; None where the cell is empty, or no number, which is a fault."""
    value = None if text is None else _read_number(text, f"{where}: {name}", faults)
    return None if value is None else mapping.convert_to_ms(name, value)


def _read_number(text: str, what: str, faults: list[str]) -> float | None:
    """Return a number, or None and a fault."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    more = f'; for a missing value state  missing_values = ["{text}"]' if text in ("NA", "NaN", "nan", ".", "-") else ""
    faults.append(f"{what} is {text!r}, expected a number{more}")
    return None
