"""magpie's CSV: a row a screen, lists joined by |, NA where a screen has no such value.

Reading times are the list `response_times` of the screen's `chunks`; they run from one mounting of a word to the next by the
computer's clock (Date.now), in whole ms. `response_time` is that of a whole screen, so answers after reading have none.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import ColumnMapping, Row

from ..cell_values import parse_boolean
from ..imported_sessions import (
    ImportedSession,
    ImportedTrial,
    build_response_record,
    build_word_records,
    combine_records,
    format_shared_session_fault,
    log_scattered_rows,
)
from ..losses import Losses
from ..sources import Source
from ..table.results import LINE_KEY, read_cells, read_response
from ..timestamps import format_utc_time

log = logging.getLogger("gardenpath")

NAME = "magpie"
MAGPIE_COLUMNS = ("response_time", "experiment_start_time", "experiment_duration")
PARTICIPANT_COLUMNS = ("prolific_pid", "worker_id", "participant")
ITEM_COLUMNS = ("item", "item_id", "itemID", "item_number")
CONDITION_COLUMNS = ("condition", "cond")


def recognises(source: Source) -> bool:
    """Whether the first line has the submission's number and what magpie adds to every row."""
    header = source.head.partition("\n")[0]
    return not source.members and "submission_id" in header and any(mark in header for mark in MAGPIE_COLUMNS)


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return a session for each submission; raises `study.DataError` where no row names an item."""
    mapping = mapping or ColumnMapping()
    mapping = replace(mapping, missing_values=("NA", "undefined", *mapping.missing_values))
    rows = mapping.prepare_rows(read_cells(source, mapping.separator), source.name)
    losses = Losses(source.name)
    faults: list[str] = []
    log_scattered_rows(source.name, "submissions", (row["submission_id"] for row in rows))
    submissions: dict[str, list[Row]] = {}
    for row in rows:
        submissions.setdefault(str(row["submission_id"]), []).append(row)
    sessions = [_build_session(source, id, submission_rows, mapping, losses, faults) for id, submission_rows in submissions.items()]
    if faults:
        raise study.DataError(faults)
    if not any(session.trials for session in sessions):
        columns = [name for name in rows[0] if name != LINE_KEY] if rows else []
        raise study.DataError(
            f"{source.name}: no row names the item it belongs to; name the columns in a mapping ([columns] item, condition); "
            f"the rows have {', '.join(columns)}"
        )
    losses.report()
    if nameless := sum(session.participant == session.id for session in sessions):
        log.info(
            "%s: %d of %d submissions do not say who took part; each counts as a participant of its own, unless the mapping names "
            "a column: [columns] participant",
            *(source.name, nameless, len(sessions)),
        )
    return sessions


def _build_session(
    source: Source, id: str, rows: Sequence[Row], mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> ImportedSession:
    first = rows[0]
    participants = dict.fromkeys(
        name for row in rows if (name := mapping.get_text(row, "participant", *PARTICIPANT_COLUMNS)) is not None
    )
    if len(participants) > 1:
        faults.append(format_shared_session_fault(f"{source.name}, line {first[LINE_KEY]}: submission {id}", participants))
    participant = next(iter(participants), f"submission {id}")
    trials = tuple(_build_trials(source, rows, mapping, losses, faults))
    return ImportedSession(
        f"submission {id}",
        participant,
        NAME,
        trials,
        complete=True,
        where=source.name,
        started=mapping.get_text(first, "started") or format_utc_time(first.get("experiment_start_time")),
        finished=mapping.get_text(first, "finished") or format_utc_time(first.get("experiment_end_time")),
        experiment=mapping.get_text(first, "experiment"),
        list_name=mapping.get_text(first, "list"),
    )


def _build_trials(
    source: Source, rows: Sequence[Row], mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> Iterator[ImportedTrial]:
    """Yield trials; a screen with the same item and condition as the one before it belongs to it."""
    current: ImportedTrial | None = None
    position = 0
    for row in rows:
        words = _read_words(source, row, mapping, losses, faults)
        records = combine_records(words, _read_responses(source, row, mapping, faults))
        if not records:
            continue
        item, condition = (mapping.get_text(row, "item", *ITEM_COLUMNS), mapping.get_text(row, "condition", *CONDITION_COLUMNS))
        if item is None or condition is None:
            losses.add(f"a screen names no {'item' if item is None else 'condition'}; left out", row[LINE_KEY])
            continue
        if current and current.is_continued_by(item, condition, records):
            current = replace(current, records=current.records + records)
            continue
        if current:
            yield current
            position += 1
        role, paradigm = mapping.get_text(row, "role"), mapping.get_text(row, "paradigm")
        where = f"{source.name}, line {row[LINE_KEY]}"
        current = ImportedTrial(position, item, condition, where, role, paradigm, records)
    if current:
        yield current


def _read_words(source: Source, row: Row, mapping: ColumnMapping, losses: Losses, faults: list[str]) -> tuple[WordRecord, ...]:
    times = mapping.get_text(row, "rt", "response_times")
    if times is None:
        return ()
    try:
        rts = [mapping.convert_to_ms("rt", float(time)) for time in times.split("|")]
    except ValueError:
        faults.append(f"{source.name}, line {row[LINE_KEY]}: reading times are {times!r}, expected numbers joined by |")
        return ()
    chunks = mapping.get_text(row, "text", "chunks")
    texts = chunks.split("|") if chunks else []
    if len(texts) != len(rts):
        losses.add(f"{len(rts)} reading times for {len(texts)} chunks; words are not named", row[LINE_KEY])
        return build_word_records([None] * len(rts), rts)
    return build_word_records(texts, rts)


def _read_responses(source: Source, row: Row, mapping: ColumnMapping, faults: list[str]) -> tuple[Record, ...]:
    """Return the answers of a screen: as the mapping states, or else its rating, its choice of an option, or its response."""
    if mapping.responses:
        mapped = [read_response(row, rule, mapping, source.name, faults) for rule in mapping.find_response_rules(row)]
        return tuple(one for one in mapped if one is not None)

    def cell(name: str) -> str | None:
        return None if mapping.is_missing(row.get(name)) else str(row[name])

    time = None if mapping.get_text(row, "rt", "response_times") else cell("response_time")
    response = mapping.get_text(row, "response", "response")
    is_rating = response is not None and response.replace(".", "", 1).isdigit()
    responses = {"rating": cell("rating"), "question": cell("choice")}
    if response is not None:
        responses["rating" if is_rating else "question"] = response
    rt, correct = (float(time) if time else None), parse_boolean(row.get("correct"))
    return tuple(
        build_response_record(task, task, cell_text, correct, rt=rt)
        for task, cell_text in responses.items()
        if cell_text is not None
    )
