"""magpie's CSV: a row a screen, lists joined by |, NA where a screen has no such value.

Reading times are the list `response_times` of the screen's `chunks`; they run from one mounting of a word to the next by the
computer's clock (Date.now), in whole ms. `response_time` is that of a whole screen, so answers after reading have none.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gardenpath import study
from gardenpath.study.mapping import ColumnMapping, Row
from gardenpath.study.screens import Record, WordRecord

from ..cell_values import truth
from ..epochs import utc
from ..imported import ImportedSession, ImportedTrial, answer_given, records_of, say_scattered, shared, timed
from ..losses import Losses
from ..sources import Source
from ..table.results import LINE, answer, cells

log = logging.getLogger("gardenpath")

NAME = "magpie"
MARKS = ("response_time", "experiment_start_time", "experiment_duration")
PERSON = ("prolific_pid", "worker_id", "participant")
ITEM = ("item", "item_id", "itemID", "item_number")
CONDITION = ("condition", "cond")


def recognises(source: Source) -> bool:
    """Whether the first line has the submission's number and what magpie adds to every row."""
    header = source.head.partition("\n")[0]
    return not source.members and "submission_id" in header and any(mark in header for mark in MARKS)


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return a session for each submission; raises `study.DataError` where no row names an item."""
    mapping = mapping or ColumnMapping()
    mapping = replace(mapping, missing=("NA", "undefined", *mapping.missing))
    rows = mapping.prepare(cells(source, mapping.separator), source.name)
    losses = Losses(source.name)
    faults: list[str] = []
    say_scattered(source.name, "submissions", (row["submission_id"] for row in rows))
    submissions: dict[str, list[Row]] = {}
    for row in rows:
        submissions.setdefault(str(row["submission_id"]), []).append(row)
    sessions = [_session(source, id, of, mapping, losses, faults) for id, of in submissions.items()]
    if faults:
        raise study.DataError(faults)
    if not any(session.trials for session in sessions):
        columns = [name for name in rows[0] if name != LINE] if rows else []
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


def _session(
    source: Source, id: str, rows: Sequence[Row], mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> ImportedSession:
    first = rows[0]
    people = dict.fromkeys(name for row in rows if (name := mapping.text(row, "participant", *PERSON)) is not None)
    if len(people) > 1:
        faults.append(shared(f"{source.name}, line {first[LINE]}: submission {id}", people))
    person = next(iter(people), f"submission {id}")
    trials = tuple(_trials(source, rows, mapping, losses, faults))
    return ImportedSession(
        f"submission {id}",
        person,
        NAME,
        trials,
        complete=True,
        where=source.name,
        started=mapping.text(first, "started") or utc(first.get("experiment_start_time")),
        finished=mapping.text(first, "finished") or utc(first.get("experiment_end_time")),
        experiment=mapping.text(first, "experiment"),
        version=mapping.text(first, "version"),
    )


def _trials(
    source: Source, rows: Sequence[Row], mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> Iterator[ImportedTrial]:
    """Yield trials; a screen with the same item and condition as the one before it belongs to it."""
    current: ImportedTrial | None = None
    position = 0
    for row in rows:
        words = _words(source, row, mapping, losses, faults)
        records = records_of(words, _answers(source, row, mapping, faults))
        if not records:
            continue
        item, condition = mapping.text(row, "item", *ITEM), mapping.text(row, "condition", *CONDITION)
        if item is None or condition is None:
            losses.add(f"a screen names no {'item' if item is None else 'condition'}; left out", row[LINE])
            continue
        if current and current.goes_on(item, condition, records):
            current = replace(current, records=current.records + records)
            continue
        if current:
            yield current
            position += 1
        role, paradigm = mapping.text(row, "role"), mapping.text(row, "paradigm")
        where = f"{source.name}, line {row[LINE]}"
        current = ImportedTrial(position, item, condition, where, role, paradigm, records)
    if current:
        yield current


def _words(
    source: Source, row: Row, mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> tuple[WordRecord, ...]:
    times = mapping.text(row, "rt", "response_times")
    if times is None:
        return ()
    try:
        rts = [mapping.ms("rt", float(time)) for time in times.split("|")]
    except ValueError:
        faults.append(f"{source.name}, line {row[LINE]}: reading times are {times!r}, expected numbers joined by |")
        return ()
    chunks = mapping.text(row, "text", "chunks")
    texts = chunks.split("|") if chunks else []
    if len(texts) != len(rts):
        losses.add(f"{len(rts)} reading times for {len(texts)} chunks; words are not named", row[LINE])
        return timed([None] * len(rts), rts)
    return timed(texts, rts)


def _answers(source: Source, row: Row, mapping: ColumnMapping, faults: list[str]) -> tuple[Record, ...]:
    """Return the answers of a screen: as the mapping states, or else its rating, its choice of an option, or its response."""
    if mapping.answers:
        mapped = [answer(row, rule, mapping, source.name, faults) for rule in mapping.rules(row)]
        return tuple(one for one in mapped if one is not None)

    def cell(name: str) -> str | None:
        return None if mapping.lacks(row.get(name)) else str(row[name])

    time = None if mapping.text(row, "rt", "response_times") else cell("response_time")
    response = mapping.text(row, "response", "response")
    is_rating = response is not None and response.replace(".", "", 1).isdigit()
    said = {"rating": cell("rating"), "question": cell("choice")}
    if response is not None:
        said["rating" if is_rating else "question"] = response
    rt, correct = (float(time) if time else None), truth(row.get("correct"))
    return tuple(
        answer_given(task, task, cell_text, correct, rt=rt) for task, cell_text in said.items() if cell_text is not None
    )
