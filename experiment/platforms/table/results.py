"""A plain long table: one row for each word read, or for each rating, with a mapping that says what its columns are."""

import csv
import logging
import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from gardenpath import study
from gardenpath.study.mapping import ANSWER, TIMES, AnswerRule, ColumnMapping, Row, matches
from gardenpath.study.screens import Record, WordRecord

from ..cell_values import as_number, stripped, truth
from ..imported import (
    NOWHERE,
    Counting,
    ImportedSession,
    ImportedTrial,
    answer_given,
    records_of,
    say_scattered,
    shared,
)
from ..sources import Source, csv_cells

log = logging.getLogger("gardenpath")

NAME = "table"
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
LINE = "\0line"  # a key that no column has: the line of a row, for messages


def recognises(source: Source) -> bool:
    """Any text may be a table; what it holds, only a mapping can say."""
    return bool(source.data.strip()) and not source.members


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of a long table; words keep the positions that it states, counted from 0."""
    if mapping is None:
        raise study.DataError(f"{source.name}: a table needs a mapping that names its columns; see docs/import.md")
    rows = cells(source, mapping.separator)
    _check_columns(source, list(rows[0])[1:], mapping)
    rows = mapping.prepare(rows, source.name)
    faults: list[str] = []
    texts = any(mapping.text(row, "text") is not None for row in rows)
    count = counting(source.name, rows, mapping, texts=texts)
    sessions = [
        _session(source.name, name, sat, mapping, faults, count)
        for name, sat in _by(rows, mapping, "session", "participant")
    ]
    if "trial" not in mapping.columns:
        sat = [tuple(mapping.text(row, name) for name in ("session", "participant")) for row in rows]
        say_scattered(source.name, "sessions", sat)
        read = [tuple(mapping.text(row, name) for name in ("item", "condition")) for row in rows]
        say_scattered(source.name, "trials", zip(sat, read, strict=True))
        log.info(
            "%s: holds no trial; trials are numbered in the order of the file, perhaps not as presented", source.name
        )
    if faults:
        raise study.DataError(faults)
    return sessions


def cells(source: Source, separator: str = ",") -> list[Row]:
    """Return the rows of a delimited text; separator "space" is any run of blanks, with R's quotes and names of rows."""
    if separator == "space":
        lines = [
            next(csv.reader([line], delimiter=" ", skipinitialspace=True), []) for line in source.text.splitlines()
        ]
    else:
        lines = csv_cells(source, separator)
    lines = stripped(filter(None, lines), source.name)
    if len(lines) < 2 or not source.text.strip():
        raise study.DataError(f"{source.name}: the file holds no rows; expected a header line and rows")
    header, body = lines[0], lines[1:]
    if separator == "space" and all(len(row) == len(header) + 1 for row in body):
        body = [row[1:] for row in body]
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    faults = [f"{source.name}: column {n!r} occurs {header.count(n)} times; expected once" for n in twice if n]
    faults += [
        f"{source.name}, line {line}: {len(row)} cells, expected {len(header)} as in the header; "
        "the file is cut short, or a cell holds the separator and no quotes"
        for line, row in enumerate(body, start=2)
        if len(row) != len(header)
    ]
    if faults:
        raise study.DataError(faults)
    return [{LINE: line, **dict(zip(header, row, strict=True))} for line, row in enumerate(body, start=2)]


def _check_columns(source: Source, header: Sequence[str], mapping: ColumnMapping) -> None:
    needed = ["participant", "item", "condition"]
    if not mapping.answers:
        needed += ["response"] if "response" in mapping.columns else ["rt"] if _by_region(mapping) else ["word", "rt"]
    mapped = {*mapping.columns, *mapping.constants}
    faults = [f"columns: {c!r} is missing; expected {', '.join(needed)}" for c in needed if c not in mapped]
    if "participant" not in mapped and {"word", "rt"} <= mapped:
        faults.append("of words with their mean reading times over readers, say so in the mapping:  means = true")
    taken = [mapping.columns.get("response"), *(rule.columns["response"] for rule in mapping.answers if not rule.where)]
    twice = sorted({column for column in taken if column is not None and taken.count(column) > 1})
    faults += [f"column {c!r} is the response of two answers; one column gives one answer" for c in twice]
    faults += absent_columns(source, header, mapping)
    if faults:
        raise study.DataError(f"{source.name}: {fault}" for fault in faults)


def absent_columns(source: Source, header: Sequence[str], mapping: ColumnMapping) -> list[str]:
    """Return a fault for each column that the mapping names and the file does not have."""
    named = {*mapping.columns.values(), *mapping.carry, *chain(*mapping.joined.values())} - mapping.joined.keys()
    for where in (rule.where for part in (mapping.regions, mapping.leave_out, mapping.repairs) for rule in part):
        named |= {*where}
    for repair in mapping.repairs:
        named |= {*repair.set}
    for rule in mapping.answers:
        named |= {*rule.where, *rule.columns.values()}
    absent = sorted(named - {*header})
    return [f"column {c!r} is missing; the file has {', '.join(header)}{_otherwise(source, c)}" for c in absent]


def _by_region(mapping: ColumnMapping) -> bool:
    """Whether rows are words of which the table names the region and no position."""
    names_regions = "region" in mapping.columns or bool(mapping.regions)
    return names_regions and "rt" in mapping.columns and not {"word", "response"} & mapping.columns.keys()


def _otherwise(source: Source, column: str) -> str:
    """Return which separator the first line seems to have, where the column is in it but not to be had by the stated one."""
    header = source.text.partition("\n")[0]
    for separator, name in SEPARATORS.items():
        if column in next(csv.reader([header], delimiter=separator)):
            return f' (separated by {name}? state  separator = "{separator if separator != chr(9) else chr(92) + "t"}")'
    return ""


def _by(rows: Sequence[Row], mapping: ColumnMapping, *names: str) -> list[tuple[str, list[Row]]]:
    """Return rows by the first of our columns that there is, in the order of the file."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        key = next((v for name in names if (v := mapping.text(row, name)) is not None), "")
        grouped.setdefault(key, []).append(row)
    return list(grouped.items())


def counting(where: str, rows: Sequence[Row], mapping: ColumnMapping, *, texts: bool = False) -> Counting:
    """Return how the file numbers words; raises `DataError` where its smallest number does not say it, nor the mapping.

    Of a file with `texts` the materials may say it later.
    """
    if mapping.first_word is not None or "word" not in mapping.columns:
        return Counting(mapping.first_word or 0, stated=True)
    read = (row for row in rows if not any(rule.where and matches(row, rule.where) for rule in mapping.answers))
    first = min((n for row in read if (n := as_number(mapping.text(row, "word"))) is not None), default=0)
    if first not in (0, 1) and not texts:
        raise study.DataError(
            f"{where}: positions of words (column {mapping.columns['word']!r}) begin at {first:g}; state in the mapping which "
            "number the first word of a sentence has:  first_word = 1  or  first_word = 0"
        )
    if first in (0, 1):
        log.info("%s: positions of words begin at %d, which is taken for each sentence's first word", where, first)
    return Counting(int(first), stated=False)


def _session(
    where: str, name: str, rows: Sequence[Row], mapping: ColumnMapping, faults: list[str], counting: Counting
) -> ImportedSession:
    first = rows[0]
    people = {mapping.text(row, "participant"): row for row in reversed(rows)}
    if len(people) > 1:
        faults.append(shared(f"{where}, line {first[LINE]}: session {name}", people))
    trials: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        place = [mapping.text(row, column) for column in ("trial", "item", "condition")]
        empty = [column for column in ("item", "condition", "participant") if mapping.text(row, column) is None]
        if empty:
            faults.append(f"{where}, line {row[LINE]}: {' and '.join(empty)} empty; expected its name")
        else:
            trials.setdefault(tuple(cell or "" for cell in place), []).append(row)
    imported = tuple(
        _trial(where, n, trial, mapping, faults, counting.first) for n, trial in enumerate(trials.values())
    )
    return ImportedSession(
        name,
        mapping.text(first, "participant") or "",
        NAME,
        imported,
        complete=True,
        where=where,
        started=mapping.text(first, "started"),
        finished=mapping.text(first, "finished"),
        experiment=mapping.text(first, "experiment"),
        version=mapping.text(first, "version"),
        device=mapping.text(first, "device"),
        counting=counting,
    )


def _trial(
    where: str, nth: int, rows: Sequence[Row], mapping: ColumnMapping, faults: list[str], first_word: int
) -> ImportedTrial:
    first = rows[0]
    answers, read_rows = [], []
    for row in rows:
        rules = [rule for rule in mapping.answers if rule.where and matches(row, rule.where)]
        answers += [record for rule in rules if (record := answer(row, rule, mapping, where, faults))]
        read_rows += [] if rules else [row]
    answers += _repeated(read_rows, mapping, where, faults)
    words = (
        _words(where, read_rows, mapping, faults, first_word)
        if "word" in mapping.columns or _by_region(mapping)
        else ()
    )
    if "response" in mapping.columns:
        column_rule = AnswerRule({name: mapping.columns[name] for name in ANSWER if name in mapping.columns})
        answers += [record for row in read_rows if (record := answer(row, column_rule, mapping, where, faults))]
    _refuse_second(where, first, answers, mapping, faults)
    trial = mapping.text(first, "trial")
    number = nth if trial is None else _number(trial, f"{where}, line {first[LINE]}: trial", faults)
    return ImportedTrial(
        nth if number is None else int(number),
        mapping.text(first, "item") or "",
        mapping.text(first, "condition") or "",
        f"{where}, line {first[LINE]}",
        mapping.text(first, "role"),
        mapping.text(first, "paradigm"),
        records_of(words, answers),
    )


def _refuse_second(where: str, row: Row, answers: Sequence[Record], mapping: ColumnMapping, faults: list[str]) -> None:
    asked = Counter((record.task, record.name) for record in answers)
    who, item = mapping.text(row, "participant"), mapping.text(row, "item")
    faults += [
        f"{where}, line {row[LINE]}: participant {who} answers {name} ({task}) of item {item} {times} times in one trial; name the "
        "column that tells trials or prompts apart ([columns] trial, prompt), or correct the file"
        for (task, name), times in asked.items()
        if times > 1
    ]


def answer(row: Row, rule: AnswerRule, mapping: ColumnMapping, where: str, faults: list[str]) -> Record | None:
    """Return the answer that a rule finds in a row; None where the response is empty, and no column says how the screen ended."""

    def cell(name: str) -> str | None:
        value = row.get(rule.columns.get(name, ""))
        return mapping.constants.get(name) if value is None or mapping.lacks(value) else str(value)

    response, outcome = cell("response"), cell("outcome")
    if response is None and outcome is None:
        return None
    place = f"{where}, line {row[LINE]}"
    correct = _truth(cell("correct"), place, faults)
    times: dict[str, Any] = {name: _time(cell(name), name, place, mapping, faults) for name in ("rt", "rt_first")}
    task = cell("task") or rule.task
    if task == "rating" and response is not None:
        _number(response, f"{place}: the rating", faults)
    prompt = cell("prompt") or rule.prompt or task
    if response is None or outcome == "timeout" or (correct is None and outcome is not None):
        return Record(task, prompt, outcome, response, cell("side"), **times)
    return answer_given(task, prompt, response, correct, side=cell("side"), **times)


def _repeated(rows: Sequence[Row], mapping: ColumnMapping, where: str, faults: list[str]) -> list[Record]:
    """Return answers that every row of a trial repeats; rows that disagree are a fault."""
    records = []
    for rule in mapping.answers:
        if rule.where or not rows:
            continue
        repeated = {a for row in rows if (a := answer(row, rule, mapping, where, faults))}
        if len(repeated) > 1:
            said = " and ".join(sorted(repr(str(a.answer)) for a in repeated))
            faults.append(
                f"{where}, line {rows[0][LINE]}: the rows of one trial answer {rule.asked} by {said}; expected one"
            )
        records += [*repeated][:1]
    return records


def _words(
    where: str, rows: Sequence[Row], mapping: ColumnMapping, faults: list[str], first_word: int
) -> tuple[WordRecord, ...]:
    """Return the words at the positions that the file states; where it names regions alone, at none (`NOWHERE`)."""
    # Where the same rows hold an answer, that is what these are of.
    of_words = "response" not in mapping.columns
    placed: dict[int | str | None, WordRecord] = {}
    for row in rows:
        line = f"{where}, line {row[LINE]}"
        regions = [rule.name for rule in mapping.regions if matches(row, rule.where)]
        region = regions[-1] if regions else mapping.text(row, "region")
        position = NOWHERE
        if "word" in mapping.columns:
            number = _number(mapping.text(row, "word") or "", f"{line}: the word's position", faults)
            if number is None:
                continue
            position = int(number) - first_word
            if number != int(number) or position < 0:
                faults.append(f"{line}: the word's position is {number:g}, expected a whole number from {first_word}")
                continue
        elif mapping.text(row, "rt") is None:
            continue
        place = region if position == NOWHERE else position
        if place in placed:
            what = f"region {region}" if position == NOWHERE else f"position {position + first_word}"
            faults.append(
                f"{line}: participant {mapping.text(row, 'participant')} reads {what} of item "
                f"{mapping.text(row, 'item')} a second time; correct the file, or declare a repair in the mapping"
            )
        times = {
            name: _time(mapping.text(row, name), name, line, mapping, faults)
            for name in TIMES
            if of_words or name != "rt_first"
        }
        shown_on = None if (said := mapping.text(row, "line")) is None else _number(said, f"{line}: line", faults)
        flags = (mapping.text(row, "flag") or "").split()
        placed[place] = WordRecord(
            position,
            text=mapping.text(row, "text"),
            flags=tuple(flags),
            region=region,
            line=None if shown_on is None else int(shown_on),
            correct=_truth(mapping.text(row, "correct"), line, faults) if of_words else None,
            **times,
        )
    return tuple(sorted(placed.values(), key=lambda word: word.word))


def _truth(text: str | None, where: str, faults: list[str]) -> bool | None:
    """Return whether something was right; None where the cell is empty, or says neither, which is a fault."""
    value = None if text is None else truth(text)
    if text is not None and value is None:
        faults.append(f"{where}: correct is {text!r}; expected true or false, yes or no, 1 or 0")
    return value


def _time(text: str | None, name: str, where: str, mapping: ColumnMapping, faults: list[str]) -> float | None:
    """Return a time in ms; None where the cell is empty, or no number, which is a fault."""
    value = None if text is None else _number(text, f"{where}: {name}", faults)
    return None if value is None else mapping.ms(name, value)


def _number(text: str, what: str, faults: list[str]) -> float | None:
    """Return a number, or None and a fault."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    more = f'; for a missing value state  missing = ["{text}"]' if text in ("NA", "NaN", "nan", ".", "-") else ""
    faults.append(f"{what} is {text!r}, expected a number{more}")
    return None
