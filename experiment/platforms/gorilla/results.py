"""Gorilla's exports, a row an event: of Task Builder 2 with the columns of our spreadsheets, of both builders by a mapping.

Gorilla gives a file for each node of the experiment's tree: the files of one participant are joined. What is an answer and what a
word is told by the screens that our recipe names (context_1, sentence_1, ask_1 ...), or by the mapping: rows that have its `text`
or `word` are words, [[responses]] says which rows are answers. Times run on the screen's clock, in ms.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import ColumnMapping

from ..cell_values import parse_boolean, parse_number
from ..imported_sessions import (
    ImportedSession,
    ImportedTrial,
    build_reading_record,
    build_response_record,
    build_word_records,
    combine_records,
    format_shared_session_fault,
    has_reached_end,
)
from ..losses import Losses
from ..outline import (
    build_whole_text_record,
    find_sentence_number,
    is_late,
    list_asked_screens,
    read_response_record,
    read_timeout_record,
)
from ..sources import Source
from ..spreadsheet_damage import find_damage
from ..wide_csv import WideTable, read_wide_table

NAME = "gorilla"
log = logging.getLogger("gardenpath")
END_LINE = "END OF FILE"
SPREADSHEET_PREFIX = "Spreadsheet: "
PUBLIC_ID, PRIVATE_ID = "Participant Public ID", "Participant Private ID"
TIMESTAMP_COLUMNS = ("UTC Timestamp", "UTC Timestamp (ms)", "Local Timestamp")
# Damage to these loses when a session was, and nothing else.
TIME_COLUMNS = (*TIMESTAMP_COLUMNS, "UTC Date", "UTC Date and Time", "Local Date", "Local Date and Time")
SCREEN_COLUMNS = ("Screen", "Screen Name")
CLOCK_COLUMNS = ("Clock Time", "Absolute Clock Time")
REACTION_TIME_COLUMNS = ("Reaction Time", "Absolute Reaction Time")
# Rows of these kinds say what a participant did; others say what was shown, or how a screen was left.
ACTION_PATTERN = re.compile(r"response|continue|keyboard|click", re.I)
LOOKS_FOR_DAMAGE = True
# How our export names what is read.
TEXT_SCREEN_PATTERN = re.compile(r"(context|sentence)_\d+")
Cells = Mapping[str, str]
NumberedRow = tuple[int, Cells]


def recognises(source: Source) -> bool:
    """Whether the header names Gorilla's participants and events."""
    header = source.head.partition("\n")[0]
    return PRIVATE_ID in header and ("Event Index" in header or "Experiment ID" in header)


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of one node's file; raises `study.DataError` with every fault."""
    mapping, losses = mapping or ColumnMapping(), Losses(source.name)
    table = read_wide_table(source.name, _read_body(source, losses), losses)
    faults = _find_table_damage(source, table)
    if PRIVATE_ID not in table.columns:
        faults.append(f"{source.name}, line 1: no column {PRIVATE_ID!r}; expected a file that Gorilla gave to download")
    if faults:
        raise study.DataError(faults)
    sessions = [_build_session(source, rows, mapping, losses, faults) for rows in _split_by_participant(table, mapping, source)]
    if faults:
        raise study.DataError(faults)
    losses.report()
    return sessions


def join(sessions: Sequence[ImportedSession]) -> list[ImportedSession]:
    """Return one session for each participant, of all the nodes that their files tell of.

    A download that is given twice is not joined, so that it is found out.
    """
    sessions_by_id: dict[str, ImportedSession] = {}
    duplicates = []
    for session in sorted(sessions, key=lambda one: one.started or ""):
        before = sessions_by_id.setdefault(session.id, session)
        if before is session:
            continue
        if {_strip_location(t) for t in before.trials} & {_strip_location(t) for t in session.trials}:
            duplicates.append(session)
        else:
            sessions_by_id[session.id] = _join_sessions(before, session)
    return [*sessions_by_id.values(), *duplicates]


def _strip_location(trial: ImportedTrial) -> ImportedTrial:
    return replace(trial, where="", position=0)


def _join_sessions(first: ImportedSession, second: ImportedSession) -> ImportedSession:
    """Return the second node's trials after the first's, unless our export numbers them."""
    is_exported = first.list_sha256 or second.list_sha256
    after = 0 if is_exported else 1 + max((trial.position for trial in first.trials), default=-1)
    trials = [*first.trials, *(replace(trial, position=trial.position + after) for trial in second.trials)]
    base = first if first.trials else second
    return replace(
        base,
        trials=tuple(sorted(trials, key=lambda trial: trial.position)),
        complete=first.complete and second.complete if None not in (first.complete, second.complete) else None,
        started=first.started or second.started,
        finished=max(filter(None, [first.finished, second.finished]), default=None),
        demographics={**first.demographics, **second.demographics},
    )


def _read_body(source: Source, losses: Losses) -> str:
    """Return the text without the line that ends each of Gorilla's files, and say where it is not there."""
    text = source.text.rstrip("\n")
    if not text.strip():
        raise study.DataError(f"{source.name}: the file is empty; expected data of Gorilla")
    body, _, last = text.rpartition("\n")
    if last.strip('",;\t ') == END_LINE:
        return body + "\n"
    losses.add(
        f"there is no line {END_LINE!r} at the end: the download may be cut off, or the line was removed", text.count("\n") + 1
    )
    return source.text


def _find_table_damage(source: Source, table: WideTable) -> list[str]:
    """Return what a spreadsheet program has done to the file, except to times of day, which are not needed."""
    lines = [""] * (1 + max((n for n, _ in table.rows), default=1))
    for n, row in table.rows:
        lines[n - 1] = "\t".join(cell.replace("\n", " ") for name, cell in row.items() if name not in TIME_COLUMNS)
    return find_damage(Source(source.name, "\n".join(lines).encode()))


def _split_by_participant(table: WideTable, mapping: ColumnMapping, source: Source) -> list[list[NumberedRow]]:
    filled_rows: list[dict[str, Any]] = [{name: cell for name, cell in row.items() if cell} | {"": n} for n, row in table.rows]
    participants: dict[str, list[NumberedRow]] = {}
    for row in mapping.prepare_rows(filled_rows, source.name):
        line = row.pop("")
        participants.setdefault(row.get(PRIVATE_ID, ""), []).append((line, row))
    return list(participants.values())


def _build_session(
    source: Source, rows: Sequence[NumberedRow], mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> ImportedSession:
    line, first = rows[0]
    exported_row = next((row for _, row in rows if f"{SPREADSHEET_PREFIX}list_sha256" in row), {})
    hashes = {row[f"{SPREADSHEET_PREFIX}list_sha256"] for _, row in rows if f"{SPREADSHEET_PREFIX}list_sha256" in row}
    if len(hashes) > 1:
        faults.append(f"{source.name}, line {line}: one participant has {len(hashes)} lists of the study; expected one")
    participants = {mapping.get_text(row, "participant", PUBLIC_ID): n for n, row in rows}
    if len(participants) > 1:
        faults.append(format_shared_session_fault(f"{source.name}, line {line}: the session of one {PRIVATE_ID}", participants))
    trials = tuple(_build_trials(source, rows, mapping, losses))
    public, private = first.get(PUBLIC_ID, ""), first.get(PRIVATE_ID, "")
    if not public and "participant" not in mapping.columns:
        losses.add(f"no {PUBLIC_ID}; the private one stands for who took part", line)
    times = sorted(time for n, row in rows if (time := _read_event_time(row, losses, n)) is not None)
    status, trial_count = first.get("Participant Status"), parse_number(exported_row.get(f"{SPREADSHEET_PREFIX}of"))
    slot = parse_number(exported_row.get(f"{SPREADSHEET_PREFIX}slot"))
    is_at_end = has_reached_end(trials, trial_count)
    browser, system = (re.split(r"[ /][\d.]", first.get(f"Participant {what}", ""))[0] for what in ("Browser", "OS"))
    return ImportedSession(
        id=f"{first.get('Experiment ID', '')} {private}",
        participant=mapping.get_text(first, "participant") or (private if public in ("", "BLIND") else public),
        source=NAME,
        trials=trials,
        complete=is_at_end if status is None else status.casefold() == "complete" and is_at_end is not False,
        where=source.name,
        started=_format_iso_time(times[0]) if times else None,
        finished=_format_iso_time(times[-1]) if times else None,
        experiment=None if exported_row else mapping.constants.get("experiment"),
        list_name=exported_row.get(f"{SPREADSHEET_PREFIX}list_name") or mapping.constants.get("list"),
        slot=None if slot is None else int(slot),
        list_sha256=exported_row.get(f"{SPREADSHEET_PREFIX}list_sha256"),
        device=f"{browser} on {system}" if browser and system else None,
        demographics=dict(_read_demographics(rows)),
    )


def _format_iso_time(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")


def _read_event_time(row: Cells, losses: Losses, line: int) -> datetime | None:
    """Return when an event was, in UTC; None where a spreadsheet program has rounded its time stamp, or no time is there."""
    stamp = next((row[name] for name in TIMESTAMP_COLUMNS[:2] if name in row), None)
    if stamp is not None and re.fullmatch(r"\d{13}(\.\d+)?", stamp):
        return datetime.fromtimestamp(float(stamp) / 1000, UTC)
    day = next((row[name] for name in ("UTC Date and Time", "UTC Date") if name in row), "")
    if re.fullmatch(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", day):
        return datetime.strptime(day, "%d/%m/%Y %H:%M:%S").replace(tzinfo=UTC)
    if stamp is not None or day:
        losses.add(f"the time stamp {stamp or day} was rewritten by a spreadsheet program; its time is missing", line)
    return None


def _read_demographics(rows: Iterable[NumberedRow]) -> Iterator[tuple[str, str]]:
    """Yield the answers of a questionnaire; its own numbers for them (-quantised) are left out."""
    for _, row in rows:
        key = row.get("Question Key") or (row.get("Key") if "Question" in row else None)
        if key and "Response" in row and not key.endswith("-quantised") and "QUESTIONNAIRE" not in key:
            yield key, row["Response"]


def _build_trials(source: Source, rows: Sequence[NumberedRow], mapping: ColumnMapping, losses: Losses) -> Iterator[ImportedTrial]:
    """Yield the trials: rows with an item that follow each other in one row of the spreadsheet."""
    item_rows = [(line, row) for line, row in rows if mapping.get_value(row, "item", f"{SPREADSHEET_PREFIX}item") is not None]
    for n, (_, group) in enumerate(groupby(item_rows, key=lambda one: _build_trial_key(one[1], mapping))):
        lines = list(group)
        if f"{SPREADSHEET_PREFIX}list_sha256" in lines[0][1]:
            yield _build_exported_trial(source, lines, losses)
        else:
            yield _build_mapped_trial(source, lines, n, mapping, losses)


def _build_trial_key(row: Cells, mapping: ColumnMapping) -> tuple[Any, ...]:
    condition = mapping.get_value(row, "condition", f"{SPREADSHEET_PREFIX}condition")
    return (
        mapping.get_value(row, "item", f"{SPREADSHEET_PREFIX}item"),
        condition,
        row.get("Trial Number"),
        row.get("Spreadsheet Row"),
    )


def _build_exported_trial(source: Source, lines: Sequence[NumberedRow], losses: Losses) -> ImportedTrial:
    """Return a trial of our spreadsheets."""
    line, row = lines[0]
    cells = {name.removeprefix(SPREADSHEET_PREFIX): cell for name, cell in row.items() if name.startswith(SPREADSHEET_PREFIX)}
    screens = _group_by_screen(lines)
    pair = "+" in cells["condition"]
    shown_names = [column.removesuffix("_words") for column in cells]
    records = []
    for name in filter(TEXT_SCREEN_PATTERN.fullmatch, dict.fromkeys([*screens, *shown_names])):
        actions = screens.get(name, [])
        if f"{name}_words" in cells:
            words = _build_words(cells[f"{name}_words"].split("|"), actions, losses) if actions else ()
            records.append(build_reading_record(words, sentence=find_sentence_number(name, pair=pair)))
        else:
            rt = _read_reaction_time(actions[-1][1]) if actions else None
            records.append(build_whole_text_record(name, rt, pair=pair, ended=bool(actions)))
    for name in list_asked_screens(cells):
        # Of several answers on one screen the last one counts.
        row = screens[name][-1][1] if name in screens else {}
        if "Response" in row:
            records.append(read_response_record(cells, name, row["Response"], _read_reaction_time(row)))
        elif is_late(cells, name):
            records.append(read_timeout_record(cells, name))
    return ImportedTrial(
        position=int(cells["position"]),
        item=cells["item"],
        condition=cells["condition"],
        where=f"{source.name}, line {line}",
        role=cells.get("role"),
        records=tuple(records),
    )


def _group_by_screen(lines: Iterable[NumberedRow]) -> dict[str, list[NumberedRow]]:
    """Return what was done on each screen, in order."""
    screens: dict[str, list[NumberedRow]] = {}
    for line, row in lines:
        if ACTION_PATTERN.search(row.get("Response Type", row.get("Zone Type", ""))):
            name = next((row[column] for column in SCREEN_COLUMNS if column in row), "").strip().casefold()
            screens.setdefault(name, []).append((line, row))
    return screens


def _build_words(texts: Sequence[str], actions: Sequence[NumberedRow], losses: Losses) -> tuple[WordRecord, ...]:
    """Return the words with the times between presses, of which the first brings the first word unless it stood there at once."""
    line = actions[0][0]
    clocks = [_read_clock_time(row) for _, row in actions]
    if len(actions) == len(texts):
        reaction, first = _read_reaction_time(actions[0][1]), clocks[0]
        clocks = [None if reaction is None or first is None else first - reaction, *clocks]
    if len(clocks) != len(texts) + 1:
        losses.add(f"{len(actions)} presses for {len(texts)} words; expected as many or one more; the sentence is left out", line)
        return ()
    if None in clocks:
        losses.add("a press has no Clock Time; the reading times beside it stay empty", line)
    times = [None if a is None or b is None else round(b - a, 6) for a, b in pairwise(clocks)]
    return build_word_records(texts, times)


def _build_mapped_trial(
    source: Source, lines: Sequence[NumberedRow], position: int, mapping: ColumnMapping, losses: Losses
) -> ImportedTrial:
    """Return a trial as the mapping describes it."""
    line, row = lines[0]
    number, condition = (
        parse_number(mapping.get_text(row, "trial")),
        mapping.get_text(row, "condition", f"{SPREADSHEET_PREFIX}condition"),
    )
    if condition is None:
        losses.add("the row of an item names no condition; it is called only", line)
    return ImportedTrial(
        position=position if number is None else int(number),
        item=mapping.get_text(row, "item", f"{SPREADSHEET_PREFIX}item") or "",
        condition=condition or "only",
        where=f"{source.name}, line {line}",
        role=mapping.get_text(row, "role", f"{SPREADSHEET_PREFIX}role"),
        paradigm=mapping.get_text(row, "paradigm"),
        records=combine_records(_read_mapped_words(lines, mapping), _read_mapped_responses(lines, mapping)),
    )


def _read_mapped_words(lines: Iterable[NumberedRow], mapping: ColumnMapping) -> tuple[WordRecord, ...]:
    marks = [name for name in ("word", "text") if name in mapping.columns]
    word_rows = [row for _, row in lines if marks and mapping.get_value(row, marks[0]) is not None]
    times = [parse_number(mapping.get_text(row, "rt", *REACTION_TIME_COLUMNS)) for row in word_rows]
    texts = [mapping.get_text(row, "text") for row in word_rows]
    return build_word_records(texts, [None if rt is None else mapping.convert_to_ms("rt", rt) for rt in times])


def _read_mapped_responses(lines: Iterable[NumberedRow], mapping: ColumnMapping) -> Iterator[Record]:
    """Yield the answers that the mapping describes, of each prompt the last."""
    last = {
        rule.prompt_name: (rule, mapping.extract_response(row, rule))
        for _, row in lines
        for rule in mapping.find_response_rules(row)
    }
    for prompt in dict.fromkeys(rule.prompt_name for rule in mapping.responses):
        if prompt in last:
            rule, mapped_cells = last[prompt]
            rt = parse_number(mapped_cells.get("rt"))
            ms = None if rt is None else mapping.convert_to_ms("rt", rt)
            correct = parse_boolean(mapped_cells.get("correct"))
            yield build_response_record(rule.task, prompt, mapped_cells["response"], correct, rt=ms, side=mapped_cells.get("side"))


def _read_clock_time(row: Cells) -> float | None:
    return next((parse_number(row[name]) for name in CLOCK_COLUMNS if name in row), None)


def _read_reaction_time(row: Cells) -> float | None:
    return next((parse_number(row[name]) for name in REACTION_TIME_COLUMNS if name in row), None)
