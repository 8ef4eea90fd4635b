"""Wide CSV of PsychoPy and Pavlovia: a row a pass of a loop, times in seconds, lists as Python or JavaScript writes them.

Our export names the columns: `sentence_key.rt` holds the times of all presses of a sentence, so that a word's reading time is
the difference between two. Of other studies the mapping says which columns are item and condition, with `rt` where times stand
(a list of presses in a row, or a press in each of several rows), and with [[responses]] where answers do.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import ColumnMapping, ResponseRule

from ..cell_values import parse_boolean, parse_number
from ..imported_sessions import (
    ImportedSession,
    ImportedTrial,
    build_reading_record,
    build_response_record,
    build_word_records,
    combine_records,
    has_reached_end,
    log_scattered_rows,
)
from ..losses import Losses
from ..outline import (
    build_whole_text_record,
    find_sentence_number,
    get_nth_value,
    is_late,
    read_response_record,
    read_timeout_record,
)
from ..sources import Source
from ..wide_csv import WideTable, read_wide_table

NAME = "psychopy"
MISSING_VALUES = ("", "None", "nan", "NaN", "undefined", "--")
PSYCHOPY_COLUMNS = re.compile(r"psychopyVersion|expName|\.thisRepN|\.thisTrialN|__participant")
PARTICIPANT_COLUMNS = ("participant", "__participant")
SESSION_COLUMNS = ("session", "__session")
DATE_COLUMNS = ("date", "__datetime")
Cells = Mapping[str, str]


def recognises(source: Source) -> bool:
    """Whether the header has columns that PsychoPy or Pavlovia adds."""
    return bool(PSYCHOPY_COLUMNS.search(source.head.partition("\n")[0]))


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of a file, one a participant, session and date; raises `study.DataError` with every fault."""
    mapping, losses = mapping or ColumnMapping(), Losses(source.name)
    if not source.text.strip():
        raise study.DataError(f"{source.name}: the file is empty; expected PsychoPy's data")
    table = read_wide_table(source.name, source.text, losses)
    rows = _prepare_sessions(table, mapping, source)
    faults: list[str] = []
    sessions = [
        _build_session(source, session_rows, mapping, losses, faults, is_cut=table.is_cut_off and n == len(rows) - 1)
        for n, session_rows in enumerate(rows)
    ]
    if not any(session.trials for session in sessions):
        some = ", ".join(table.columns[:12]) + (" ..." if len(table.columns) > 12 else "")
        faults.append(
            f"{source.name}: no row has an item; expected a column item, or a mapping that says which columns are item and "
            f"condition (the file has {len(table.columns)} columns and {len(table.rows)} rows: {some})"
        )
    if faults:
        raise study.DataError(faults)
    losses.report()
    return sessions


def _prepare_sessions(table: WideTable, mapping: ColumnMapping, source: Source) -> list[list[tuple[int, Cells]]]:
    """Return the rows of each session, with the mapping's repairs, and without the rows that it leaves out."""
    missing = {*MISSING_VALUES, *mapping.missing_values}
    filled_rows = [{k: v for k, v in row.items() if v not in missing} | {"": n} for n, row in table.rows]
    prepared_rows: list[tuple[int, Cells]] = [(row.pop(""), row) for row in mapping.prepare_rows(filled_rows, source.name)]
    sessions: dict[tuple[str | None, ...], list[tuple[int, Cells]]] = {}
    unnamed = []
    for line, row in prepared_rows:
        session_key = (
            mapping.get_text(row, "participant", *PARTICIPANT_COLUMNS),
            *(_get_first_cell(row, names) for names in (SESSION_COLUMNS, DATE_COLUMNS)),
        )
        if any(session_key):
            sessions.setdefault(session_key, []).append((line, row))
        else:
            unnamed.append((line, row))
    order = {line: n for n, session_rows in enumerate(sessions.values()) for line, _ in session_rows}
    log_scattered_rows(source.name, "sessions", (order[line] for line, _ in prepared_rows if line in order))
    if unnamed and len(sessions) > 1:
        raise study.DataError(
            f"{source.name}, line {unnamed[0][0]}: names no participant, session and date ({len(unnamed)} rows), and the file has "
            f"{len(sessions)} sessions; correct the file, or leave these rows out ([[exclude_rows]])"
        )
    return [sorted(session_rows + unnamed, key=lambda one: one[0]) for session_rows in sessions.values()] or [unnamed][
        : len(unnamed)
    ]


def _build_session(
    source: Source, rows: Sequence[tuple[int, Cells]], mapping: ColumnMapping, losses: Losses, faults: list[str], *, is_cut: bool
) -> ImportedSession:
    line, first = rows[0]
    hashes = {row["list_sha256"] for _, row in rows if "list_sha256" in row}
    if len(hashes) > 1:
        faults.append(f"{source.name}, line {line}: one session has {len(hashes)} lists of the study; expected one")
    trials = _number_trials(list(_build_trials(source, rows, mapping, losses)))
    exported_row = next((row for _, row in rows if "list_sha256" in row), {})
    participant = mapping.get_text(first, "participant", *PARTICIPANT_COLUMNS)
    if participant is None:
        participant = source.stem
        losses.add("no participant is named; the file's name stands for who took part", line)
    program_version, trial_count = _get_first_cell(first, ["psychopyVersion"]), parse_number(exported_row.get("of"))
    slot, refresh = parse_number(exported_row.get("slot")), parse_number(first.get("frameRate"))
    start_time = mapping.get_text(first, "started", "expStart")
    return ImportedSession(
        id=" ".join(filter(None, [participant, _get_first_cell(first, SESSION_COLUMNS), _get_first_cell(first, DATE_COLUMNS)])),
        participant=participant,
        source=NAME,
        trials=tuple(trials),
        complete=False if is_cut else has_reached_end(trials, trial_count),
        where=source.name,
        started=_convert_to_utc(start_time) if start_time else None,
        experiment=None if "list_name" in exported_row else mapping.constants.get("experiment"),
        list_name=exported_row.get("list_name") or mapping.constants.get("list"),
        slot=None if slot is None else int(slot),
        list_sha256=exported_row.get("list_sha256"),
        device=" on ".join(filter(None, [f"PsychoPy {program_version}" if program_version else None, first.get("OS")])) or None,
        refresh_hz=refresh,
    )


def _convert_to_utc(stamp: str) -> str | None:
    """Return PsychoPy's time with its zone, 2026-03-01 12h30.05.123456 +0100, in UTC; None where it does not say the zone."""
    parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)[ _](\d\d)h(\d\d)\.(\d\d)\.(\d+) ([+-]\d{4})", stamp)
    if not parts:
        return None
    day, hour, minute, second, fraction, zone = parts.groups()
    local_time = datetime.strptime(f"{day} {hour}:{minute}:{second}.{fraction[:6]} {zone}", "%Y-%m-%d %H:%M:%S.%f %z")
    return local_time.astimezone(UTC).isoformat(timespec="milliseconds")


def _build_trials(
    source: Source, rows: Sequence[tuple[int, Cells]], mapping: ColumnMapping, losses: Losses
) -> Iterator[ImportedTrial]:
    """Yield the trials; rows without an item (consent, instructions) are none."""
    item_rows = [(line, row) for line, row in rows if mapping.get_value(row, "item", "item") is not None]
    for _, group in groupby(item_rows, key=lambda one: _build_trial_key(one[1], mapping)):
        for lines in _split_repeated_trials(list(group), mapping):
            line, cells = lines[0][0], {k: v for _, row in reversed(lines) for k, v in row.items()}
            if "list_sha256" in cells:
                yield _build_exported_trial(source, line, cells, losses)
            else:
                yield _build_mapped_trial(source, line, cells, [row for _, row in lines], mapping, losses)


def _split_repeated_trials(lines: Sequence[tuple[int, Cells]], mapping: ColumnMapping) -> Iterator[list[tuple[int, Cells]]]:
    """Yield rows alike in item and condition apart where a second trial begins: a loop counts back, or a cell comes again."""
    current: list[tuple[int, Cells]] = []
    for line, row in lines:
        if current and _is_new_trial(row, [before for _, before in current], mapping):
            yield current
            current = []
        current.append((line, row))
    yield current


def _is_new_trial(row: Cells, current: Sequence[Cells], mapping: ColumnMapping) -> bool:
    counts = [(parse_number(row[c]), parse_number(current[-1].get(c))) for c in row if c.endswith(".thisN")]
    counts_back = any(now is not None and before is not None and now < before for now, before in counts)
    single_columns = {rule.columns["response"] for rule in mapping.find_response_rules(row)}
    if _parse_list(row.get(mapping.columns.get("rt", ""), "")) is not None:
        single_columns.add(mapping.columns["rt"])
    return counts_back or any(column in before for column in single_columns for before in current)


def _build_trial_key(row: Cells, mapping: ColumnMapping) -> tuple[Any, ...]:
    """Return what rows of one trial share: item and condition, and the position where there is one."""
    position = row.get("position") if "list_sha256" in row else mapping.get_value(row, "trial")
    return mapping.get_value(row, "item", "item"), mapping.get_value(row, "condition", "condition"), position


def _number_trials(trials: list[ImportedTrial]) -> list[ImportedTrial]:
    """Return the trials; those without a position of their own (-1) are numbered in the order of the file."""
    return [replace(one, position=n) if one.position < 0 else one for n, one in enumerate(trials)]


def _build_exported_trial(source: Source, line: int, cells: Cells, losses: Losses) -> ImportedTrial:
    """Return a trial of our export."""
    condition, records = _restore_id(cells["condition"]), []
    pair = "+" in condition
    for name in _list_screen_names(cells, ("context", "sentence")):
        presses = _read_times(cells.get(f"{name}_key.rt"), losses, line)
        if (text := cells.get(f"{name}_words")) is not None:
            # A space that does not break stands within a word.
            texts = [word.replace("\xa0", " ") for word in text.split(" ")]
            words = _build_words(texts, presses, losses, line)
            records.append(build_reading_record(words, sentence=find_sentence_number(name, pair=pair)))
        else:
            rt = presses[-1] if presses else None
            records.append(build_whole_text_record(name, rt, pair=pair, ended=bool(presses)))
    return ImportedTrial(
        position=int(float(cells["position"])),
        item=_restore_id(cells["item"]),
        condition=condition,
        where=f"{source.name}, line {line}",
        role=cells.get("role"),
        records=(*records, *_read_responses(cells, losses, line)),
    )


def _build_words(texts: Sequence[str | None], presses: Sequence[float], losses: Losses, line: int) -> tuple[WordRecord, ...]:
    """Return the words with the times between the presses, of which the first brings the first word."""
    if len(presses) != len(texts) + 1:
        losses.add(f"{len(presses)} presses for {len(texts)} words; expected one more than words; the sentence is left out", line)
        return ()
    return build_word_records(texts, (round(b - a, 6) for a, b in pairwise(presses)))


def _list_screen_names(cells: Cells, bases: Sequence[str]) -> list[str]:
    """Return the names of the screens of these kinds that a trial of our export had, in order."""
    return [
        has_column[1]
        for base in bases
        for column in cells
        if (has_column := re.fullmatch(rf"has_({base}_\d+)", column)) and parse_number(cells[column])
    ]


def _read_responses(cells: Cells, losses: Losses, line: int) -> Iterator[Record]:
    """Yield the answers of a trial of our export, whose columns say what was asked, and with which key or component."""
    cells = {column: _restore_id(cell) for column, cell in cells.items()}
    for name in _list_screen_names(cells, ("ask",)):
        rt = next((cells[column] for part in ("key", "slider", "text") if (column := f"{name}_{part}.rt") in cells), None)
        cell = next(
            (cells[column] for part in ("key.keys", "slider.response", "text.text") if (column := f"{name}_{part}") in cells), None
        )
        if cell is None:
            if is_late(cells, name):
                yield read_timeout_record(cells, name)
            continue
        response = _decode_response(cells, name, cell)
        if response is None:
            losses.add(f"{cells[f'{name}_name']} is answered with the key {cell}; left out", line)
        else:
            yield read_response_record(cells, name, response, _read_last_time(rt, losses, line))


def _decode_response(cells: Cells, name: str, cell: str) -> str | None:
    """Return what is recorded of an answer; None where it was given with another key."""
    answer_kind = cells[f"{name}_kind"]
    if answer_kind in ("slider", "entry"):
        return cell
    if answer_kind == "points":
        nth = _find_pressed_key(cell, "123456789")
        return None if nth is None else str(nth + 1)
    has_two_answers = f"{name}_value_3" not in cells
    return get_nth_value(cells, name, _find_pressed_key(cell, "fj" if has_two_answers else "123456789"))


def _find_pressed_key(cell: str, keys: str) -> int | None:
    """Return which of the keys was pressed last; keys of the number pad count as digits."""
    keys_pressed = _parse_list(cell)
    name = str(keys_pressed[-1] if keys_pressed else cell).removeprefix("num_").removesuffix(".0")
    return keys.index(name) if len(name) == 1 and name in keys else None


def _build_mapped_trial(
    source: Source, line: int, cells: Cells, rows: Sequence[Cells], mapping: ColumnMapping, losses: Losses
) -> ImportedTrial:
    """Return a trial as the mapping describes it."""
    position, condition = (parse_number(mapping.get_text(cells, "trial")), mapping.get_text(cells, "condition", "condition"))
    if condition is None:
        losses.add("the row of an item names no condition; it is called only", line)
    return ImportedTrial(
        position=-1 if position is None else int(position),
        item=mapping.get_text(cells, "item", "item") or "",
        condition=condition or "only",
        where=f"{source.name}, line {line}",
        role=mapping.get_text(cells, "role", "role"),
        paradigm=mapping.get_text(cells, "paradigm"),
        records=combine_records(
            _read_mapped_words(rows, mapping, losses, line), _read_mapped_responses(rows, mapping, losses, line)
        ),
    )


def _read_mapped_words(rows: Sequence[Cells], mapping: ColumnMapping, losses: Losses, line: int) -> tuple[WordRecord, ...]:
    column = mapping.columns.get("rt")
    word_rows = [row for row in rows if column in row]
    if column is None or not word_rows:
        return ()
    texts: list[str | None] = [mapping.get_text(row, "text") for row in word_rows]
    if len(word_rows) > 1 or _parse_list(word_rows[0][column]) is None:
        times = [parse_number(row[column]) for row in word_rows]
        for row, rt in zip(word_rows, times, strict=True):
            if rt is None:
                losses.add(f"a reading time is {row[column]!r}; it stays empty", line)
        return build_word_records(texts, [None if rt is None else _convert_to_ms(rt, mapping) for rt in times])
    presses = [_convert_to_ms(time, mapping) for time in _read_seconds(word_rows[0][column], losses, line)]
    words: Sequence[str | None] = (texts[0] or "").split() or [None] * len(presses)
    if len(presses) == len(words):  # the sentence appears with its first word
        presses = [0.0, *presses]
    return _build_words(words, presses, losses, line)


def _read_mapped_responses(rows: Sequence[Cells], mapping: ColumnMapping, losses: Losses, line: int) -> Iterator[Record]:
    """Yield the answers that the mapping describes, of each prompt the first that is there."""
    first: dict[str, tuple[ResponseRule, dict[str, Any]]] = {}
    for row in rows:
        for rule in mapping.find_response_rules(row):
            first.setdefault(rule.prompt_name, (rule, mapping.extract_response(row, rule)))
    for rule in mapping.responses:
        if rule.prompt_name not in first:
            losses.add(f"{rule.columns['response']} is empty; no {rule.prompt_name} there", line)
        elif first[rule.prompt_name][0] is rule:
            mapped_cells = first[rule.prompt_name][1]
            listed, rt = (_parse_list(mapped_cells["response"]), _read_times(mapped_cells.get("rt"), losses, line, mapping))
            response, correct = (
                str(listed[-1]) if listed else mapped_cells["response"],
                parse_boolean(mapped_cells.get("correct")),
            )
            yield build_response_record(
                rule.task, rule.prompt_name, response, correct, rt=rt[-1] if rt else None, side=mapped_cells.get("side")
            )


def _convert_to_ms(seconds: float, mapping: ColumnMapping | None = None) -> float:
    """Return a time in ms: PsychoPy's are in seconds, unless the mapping says otherwise."""
    if mapping is not None and "rt" in mapping.units:
        return mapping.convert_to_ms("rt", seconds)
    return round(seconds * 1000, 6)


def _read_times(cell: str | None, losses: Losses, line: int, mapping: ColumnMapping | None = None) -> list[float]:
    """Return the times in a cell, in ms."""
    return [_convert_to_ms(time, mapping) for time in _read_seconds(cell, losses, line)]


def _read_last_time(cell: str | None, losses: Losses, line: int) -> float | None:
    """Return the last time in a cell, in ms."""
    times = _read_times(cell, losses, line)
    return times[-1] if times else None


def _read_seconds(cell: str | None, losses: Losses, line: int) -> list[float]:
    if cell is None:
        return []
    listed = _parse_list(cell)
    times = [parse_number(str(one)) for one in (listed if listed is not None else [cell])]
    if any(time is None for time in times):
        losses.add(f"{cell[:60]!r} is not a time; expected seconds, or a list of them; it stays empty", line)
        return []
    return [time for time in times if time is not None]


def _parse_list(cell: str) -> list[Any] | None:
    """Return a list as Python or JSON writes it; None where the cell holds none. Nothing in it is run."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    for parse in (ast.literal_eval, json.loads):
        try:
            value = parse(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return value if isinstance(value, list) else None
    return None


def _restore_id(cell: str) -> str:
    """Return an id as it was exported: PsychoPy makes a number of one that looks like it."""
    return cell.removesuffix(".0") if re.fullmatch(r"\d+\.0", cell) else cell


def _get_first_cell(row: Cells, names: Iterable[str]) -> str | None:
    return next((row[name] for name in names if name in row), None)
