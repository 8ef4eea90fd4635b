"""Gorilla's exports, a row an event: of Task Builder 2 with the columns of our spreadsheets, of both builders by a mapping.

Gorilla gives a file for each node of the experiment's tree: the files of one participant are joined. What is an answer and what a
word is told by the screens that our recipe names (context_1, sentence_1, ask_1 ...), or by the mapping: rows that have its `text`
or `word` are words, [[answers]] says which rows are answers. Times run on the screen's clock, in ms.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

from gardenpath import study
from gardenpath.study.mapping import ColumnMapping
from gardenpath.study.screens import Record, WordRecord

from ..cell_values import as_number, truth
from ..damages import damage
from ..imported import ImportedSession, ImportedTrial, answer_given, reached_end, records_of, shared, timed, words_read
from ..losses import Losses
from ..outline import answered, asked, late, read_at_once, sentence_of, timeout
from ..sources import Source
from ..widecsv import Wide, wide

NAME = "gorilla"
log = logging.getLogger("gardenpath")
END = "END OF FILE"
SHEET = "Spreadsheet: "
PUBLIC, PRIVATE = "Participant Public ID", "Participant Private ID"
STAMPS = ("UTC Timestamp", "UTC Timestamp (ms)", "Local Timestamp")
# Damage to these loses when a session was, and nothing else.
TIMES = (*STAMPS, "UTC Date", "UTC Date and Time", "Local Date", "Local Date and Time")
SCREEN = ("Screen", "Screen Name")
CLOCK = ("Clock Time", "Absolute Clock Time")
REACTION = ("Reaction Time", "Absolute Reaction Time")
# Rows of these kinds say what a participant did; others say what was shown, or how a screen was left.
DONE = re.compile(r"response|continue|keyboard|click", re.I)
LOOKS_FOR_DAMAGE = True
# How our export names what is read.
TEXTS = re.compile(r"(context|sentence)_\d+")
Cells = Mapping[str, str]
Row = tuple[int, Cells]


def recognises(source: Source) -> bool:
    """Whether the header names Gorilla's participants and events."""
    header = source.head.partition("\n")[0]
    return PRIVATE in header and ("Event Index" in header or "Experiment ID" in header)


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of one node's file; raises `study.DataError` with every fault."""
    mapping, losses = mapping or ColumnMapping(), Losses(source.name)
    table = wide(source.name, _body(source, losses), losses)
    faults = _damage(source, table)
    if PRIVATE not in table.columns:
        faults.append(f"{source.name}, line 1: no column {PRIVATE!r}; expected a file that Gorilla gave to download")
    if faults:
        raise study.DataError(faults)
    sessions = [_session(source, rows, mapping, losses, faults) for rows in _participants(table, mapping, source)]
    if faults:
        raise study.DataError(faults)
    losses.report()
    return sessions


def join(sessions: Sequence[ImportedSession]) -> list[ImportedSession]:
    """Return one session for each participant, of all the nodes that their files tell of.

    A download that is given twice is not joined, so that it is found out.
    """
    joined: dict[str, ImportedSession] = {}
    twice = []
    for session in sorted(sessions, key=lambda one: one.started or ""):
        before = joined.setdefault(session.id, session)
        if before is session:
            continue
        if {_bare(t) for t in before.trials} & {_bare(t) for t in session.trials}:
            twice.append(session)
        else:
            joined[session.id] = _together(before, session)
    return [*joined.values(), *twice]


def _bare(trial: ImportedTrial) -> ImportedTrial:
    return replace(trial, where="", position=0)


def _together(first: ImportedSession, second: ImportedSession) -> ImportedSession:
    """Return the second node's trials after the first's, unless our export numbers them."""
    ours = first.version_sha256 or second.version_sha256
    after = 0 if ours else 1 + max((trial.position for trial in first.trials), default=-1)
    trials = [*first.trials, *(replace(trial, position=trial.position + after) for trial in second.trials)]
    shown = first if first.trials else second
    return replace(
        shown,
        trials=tuple(sorted(trials, key=lambda trial: trial.position)),
        complete=first.complete and second.complete if None not in (first.complete, second.complete) else None,
        started=first.started or second.started,
        finished=max(filter(None, [first.finished, second.finished]), default=None),
        demographics={**first.demographics, **second.demographics},
    )


def _body(source: Source, losses: Losses) -> str:
    """Return the text without the line that ends each of Gorilla's files, and say where it is not there."""
    text = source.text.rstrip("\n")
    if not text.strip():
        raise study.DataError(f"{source.name}: the file is empty; expected data of Gorilla")
    body, _, last = text.rpartition("\n")
    if last.strip('",;\t ') == END:
        return body + "\n"
    losses.add(
        f"there is no line {END!r} at the end: the download may be cut off, or the line was removed",
        text.count("\n") + 1,
    )
    return source.text


def _damage(source: Source, table: Wide) -> list[str]:
    """Return what a spreadsheet program has done to the file, except to times of day, which are not needed."""
    lines = [""] * (1 + max((n for n, _ in table.rows), default=1))
    for n, row in table.rows:
        lines[n - 1] = "\t".join(cell.replace("\n", " ") for name, cell in row.items() if name not in TIMES)
    return damage(Source(source.name, "\n".join(lines).encode()))


def _participants(table: Wide, mapping: ColumnMapping, source: Source) -> list[list[Row]]:
    filled: list[dict[str, Any]] = [
        {name: cell for name, cell in row.items() if cell} | {"": n} for n, row in table.rows
    ]
    participants: dict[str, list[Row]] = {}
    for row in mapping.prepare(filled, source.name):
        line = row.pop("")
        participants.setdefault(row.get(PRIVATE, ""), []).append((line, row))
    return list(participants.values())


def _session(
    source: Source, rows: Sequence[Row], mapping: ColumnMapping, losses: Losses, faults: list[str]
) -> ImportedSession:
    line, first = rows[0]
    shown = next((row for _, row in rows if f"{SHEET}version_sha256" in row), {})
    shas = {row[f"{SHEET}version_sha256"] for _, row in rows if f"{SHEET}version_sha256" in row}
    if len(shas) > 1:
        faults.append(
            f"{source.name}, line {line}: one participant has {len(shas)} versions of the study; expected one"
        )
    people = {mapping.text(row, "participant", PUBLIC): n for n, row in rows}
    if len(people) > 1:
        faults.append(shared(f"{source.name}, line {line}: the session of one {PRIVATE}", people))
    trials = tuple(_trials(source, rows, mapping, losses))
    public, private = first.get(PUBLIC, ""), first.get(PRIVATE, "")
    if not public and "participant" not in mapping.columns:
        losses.add(f"no {PUBLIC}; the private one stands for who took part", line)
    times = sorted(time for n, row in rows if (time := _when(row, losses, n)) is not None)
    status, of = first.get("Participant Status"), as_number(shown.get(f"{SHEET}of"))
    slot = as_number(shown.get(f"{SHEET}slot"))
    reached = reached_end(trials, of)
    browser, system = (re.split(r"[ /][\d.]", first.get(f"Participant {what}", ""))[0] for what in ("Browser", "OS"))
    return ImportedSession(
        id=f"{first.get('Experiment ID', '')} {private}",
        participant=mapping.text(first, "participant") or (private if public in ("", "BLIND") else public),
        source=NAME,
        trials=trials,
        complete=reached if status is None else status.casefold() == "complete" and reached is not False,
        where=source.name,
        started=_iso(times[0]) if times else None,
        finished=_iso(times[-1]) if times else None,
        experiment=None if shown else mapping.constants.get("experiment"),
        version=shown.get(f"{SHEET}version") or mapping.constants.get("version"),
        slot=None if slot is None else int(slot),
        version_sha256=shown.get(f"{SHEET}version_sha256"),
        device=f"{browser} on {system}" if browser and system else None,
        demographics=dict(_about(rows)),
    )


def _iso(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")


def _when(row: Cells, losses: Losses, line: int) -> datetime | None:
    """Return when an event was, in UTC; None where a spreadsheet program has rounded its time stamp, or no time is there."""
    stamp = next((row[name] for name in STAMPS[:2] if name in row), None)
    if stamp is not None and re.fullmatch(r"\d{13}(\.\d+)?", stamp):
        return datetime.fromtimestamp(float(stamp) / 1000, UTC)
    day = next((row[name] for name in ("UTC Date and Time", "UTC Date") if name in row), "")
    if re.fullmatch(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", day):
        return datetime.strptime(day, "%d/%m/%Y %H:%M:%S").replace(tzinfo=UTC)
    if stamp is not None or day:
        losses.add(f"the time stamp {stamp or day} was rewritten by a spreadsheet program; its time is missing", line)
    return None


def _about(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Yield the answers of a questionnaire; its own numbers for them (-quantised) are left out."""
    for _, row in rows:
        key = row.get("Question Key") or (row.get("Key") if "Question" in row else None)
        if key and "Response" in row and not key.endswith("-quantised") and "QUESTIONNAIRE" not in key:
            yield key, row["Response"]


def _trials(source: Source, rows: Sequence[Row], mapping: ColumnMapping, losses: Losses) -> Iterator[ImportedTrial]:
    """Yield the trials: rows with an item that follow each other in one row of the spreadsheet."""
    shown = [(line, row) for line, row in rows if mapping.value(row, "item", f"{SHEET}item") is not None]
    for n, (_, group) in enumerate(groupby(shown, key=lambda one: _trial_key(one[1], mapping))):
        lines = list(group)
        if f"{SHEET}version_sha256" in lines[0][1]:
            yield _ours(source, lines, losses)
        else:
            yield _theirs(source, lines, n, mapping, losses)


def _trial_key(row: Cells, mapping: ColumnMapping) -> tuple[Any, ...]:
    condition = mapping.value(row, "condition", f"{SHEET}condition")
    return mapping.value(row, "item", f"{SHEET}item"), condition, row.get("Trial Number"), row.get("Spreadsheet Row")


def _ours(source: Source, lines: Sequence[Row], losses: Losses) -> ImportedTrial:
    """Return a trial of our spreadsheets."""
    line, row = lines[0]
    cells = {name.removeprefix(SHEET): cell for name, cell in row.items() if name.startswith(SHEET)}
    screens = _screens(lines)
    pair = "+" in cells["condition"]
    shown = [column.removesuffix("_words") for column in cells]
    records = []
    for name in filter(TEXTS.fullmatch, dict.fromkeys([*screens, *shown])):
        done = screens.get(name, [])
        if f"{name}_words" in cells:
            words = _words(cells[f"{name}_words"].split("|"), done, losses) if done else ()
            records.append(words_read(words, sentence=sentence_of(name, pair=pair)))
        else:
            rt = _reaction(done[-1][1]) if done else None
            records.append(read_at_once(name, rt, pair=pair, ended=bool(done)))
    for name in asked(cells):
        # Of several answers on one screen the last one counts.
        row = screens[name][-1][1] if name in screens else {}
        if "Response" in row:
            records.append(answered(cells, name, row["Response"], _reaction(row)))
        elif late(cells, name):
            records.append(timeout(cells, name))
    return ImportedTrial(
        position=int(cells["position"]),
        item=cells["item"],
        condition=cells["condition"],
        where=f"{source.name}, line {line}",
        role=cells.get("role"),
        records=tuple(records),
    )


def _screens(lines: Iterable[Row]) -> dict[str, list[Row]]:
    """Return what was done on each screen, in order."""
    screens: dict[str, list[Row]] = {}
    for line, row in lines:
        if DONE.search(row.get("Response Type", row.get("Zone Type", ""))):
            name = next((row[column] for column in SCREEN if column in row), "").strip().casefold()
            screens.setdefault(name, []).append((line, row))
    return screens


def _words(texts: Sequence[str], done: Sequence[Row], losses: Losses) -> tuple[WordRecord, ...]:
    """Return the words with the times between presses, of which the first brings the first word unless it stood there at once."""
    line = done[0][0]
    clocks = [_clock(row) for _, row in done]
    if len(done) == len(texts):
        reaction, first = _reaction(done[0][1]), clocks[0]
        clocks = [None if reaction is None or first is None else first - reaction, *clocks]
    if len(clocks) != len(texts) + 1:
        losses.add(
            f"{len(done)} presses for {len(texts)} words; expected as many or one more; the sentence is left out", line
        )
        return ()
    if None in clocks:
        losses.add("a press has no Clock Time; the reading times beside it stay empty", line)
    times = [None if a is None or b is None else round(b - a, 6) for a, b in pairwise(clocks)]
    return timed(texts, times)


def _theirs(
    source: Source, lines: Sequence[Row], position: int, mapping: ColumnMapping, losses: Losses
) -> ImportedTrial:
    """Return a trial as the mapping describes it."""
    line, row = lines[0]
    number, condition = as_number(mapping.text(row, "trial")), mapping.text(row, "condition", f"{SHEET}condition")
    if condition is None:
        losses.add("the row of an item names no condition; it is called only", line)
    return ImportedTrial(
        position=position if number is None else int(number),
        item=mapping.text(row, "item", f"{SHEET}item") or "",
        condition=condition or "only",
        where=f"{source.name}, line {line}",
        role=mapping.text(row, "role", f"{SHEET}role"),
        paradigm=mapping.text(row, "paradigm"),
        records=records_of(_their_words(lines, mapping), _mapped_answers(lines, mapping)),
    )


def _their_words(lines: Iterable[Row], mapping: ColumnMapping) -> tuple[WordRecord, ...]:
    marks = [name for name in ("word", "text") if name in mapping.columns]
    read = [row for _, row in lines if marks and mapping.value(row, marks[0]) is not None]
    times = [as_number(mapping.text(row, "rt", *REACTION)) for row in read]
    texts = [mapping.text(row, "text") for row in read]
    return timed(texts, [None if rt is None else mapping.ms("rt", rt) for rt in times])


def _mapped_answers(lines: Iterable[Row], mapping: ColumnMapping) -> Iterator[Record]:
    """Yield the answers that the mapping describes, of each prompt the last."""
    last = {rule.asked: (rule, mapping.said(row, rule)) for _, row in lines for rule in mapping.rules(row)}
    for prompt in dict.fromkeys(rule.asked for rule in mapping.answers):
        if prompt in last:
            rule, said = last[prompt]
            rt = as_number(said.get("rt"))
            ms = None if rt is None else mapping.ms("rt", rt)
            correct = truth(said.get("correct"))
            yield answer_given(rule.task, prompt, said["response"], correct, rt=ms, side=said.get("side"))


def _clock(row: Cells) -> float | None:
    return next((as_number(row[name]) for name in CLOCK if name in row), None)


def _reaction(row: Cells) -> float | None:
    return next((as_number(row[name]) for name in REACTION if name in row), None)
