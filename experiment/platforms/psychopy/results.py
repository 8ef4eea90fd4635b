"""Wide CSV of PsychoPy and Pavlovia: a row a pass of a loop, times in seconds, lists as Python or JavaScript writes them.

Our export names the columns: `sentence_key.rt` holds the times of all presses of a sentence, so that a word's reading time is
the difference between two. Of other studies the mapping says which columns are item and condition, with `rt` where times stand
(a list of presses in a row, or a press in each of several rows), and with [[answers]] where answers do.
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
from gardenpath.study.mapping import AnswerRule, ColumnMapping
from gardenpath.study.screens import Record, WordRecord

from ..cell_values import as_number, truth
from ..imported import (
    ImportedSession,
    ImportedTrial,
    answer_given,
    reached_end,
    records_of,
    say_scattered,
    timed,
    words_read,
)
from ..losses import Losses
from ..outline import answered, late, nth_value, read_at_once, sentence_of, timeout
from ..sources import Source
from ..widecsv import Wide, wide

NAME = "psychopy"
LACKING = ("", "None", "nan", "NaN", "undefined", "--")
MARKS = re.compile(r"psychopyVersion|expName|\.thisRepN|\.thisTrialN|__participant")
WHO = ("participant", "__participant")
SESSION = ("session", "__session")
DATE = ("date", "__datetime")
Cells = Mapping[str, str]


def recognises(source: Source) -> bool:
    """Whether the header has columns that PsychoPy or Pavlovia adds."""
    return bool(MARKS.search(source.head.partition("\n")[0]))


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of a file, one a participant, session and date; raises `study.DataError` with every fault."""
    mapping, losses = mapping or ColumnMapping(), Losses(source.name)
    if not source.text.strip():
        raise study.DataError(f"{source.name}: the file is empty; expected PsychoPy's data")
    table = wide(source.name, source.text, losses)
    rows = _prepared(table, mapping, source)
    faults: list[str] = []
    sessions = [
        _session(source, of, mapping, losses, faults, cut=table.cut_off and n == len(rows) - 1)
        for n, of in enumerate(rows)
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


def _prepared(table: Wide, mapping: ColumnMapping, source: Source) -> list[list[tuple[int, Cells]]]:
    """Return the rows of each session, with the mapping's repairs, and without the rows that it leaves out."""
    missing = {*LACKING, *mapping.missing}
    filled = [{k: v for k, v in row.items() if v not in missing} | {"": n} for n, row in table.rows]
    ready: list[tuple[int, Cells]] = [(row.pop(""), row) for row in mapping.prepare(filled, source.name)]
    sessions: dict[tuple[str | None, ...], list[tuple[int, Cells]]] = {}
    unnamed = []
    for line, row in ready:
        who = mapping.text(row, "participant", *WHO), *(_first(row, names) for names in (SESSION, DATE))
        if any(who):
            sessions.setdefault(who, []).append((line, row))
        else:
            unnamed.append((line, row))
    order = {line: n for n, of in enumerate(sessions.values()) for line, _ in of}
    say_scattered(source.name, "sessions", (order[line] for line, _ in ready if line in order))
    if unnamed and len(sessions) > 1:
        raise study.DataError(
            f"{source.name}, line {unnamed[0][0]}: names no participant, session and date ({len(unnamed)} rows), and the file has "
            f"{len(sessions)} sessions; correct the file, or leave these rows out ([[leave_out]])"
        )
    return [sorted(of + unnamed, key=lambda one: one[0]) for of in sessions.values()] or [unnamed][: len(unnamed)]


def _session(
    source: Source,
    rows: Sequence[tuple[int, Cells]],
    mapping: ColumnMapping,
    losses: Losses,
    faults: list[str],
    *,
    cut: bool,
) -> ImportedSession:
    line, first = rows[0]
    shas = {row["version_sha256"] for _, row in rows if "version_sha256" in row}
    if len(shas) > 1:
        faults.append(f"{source.name}, line {line}: one session has {len(shas)} versions of the study; expected one")
    trials = _renumbered(list(_trials(source, rows, mapping, losses)))
    shown = next((row for _, row in rows if "version_sha256" in row), {})
    participant = mapping.text(first, "participant", *WHO)
    if participant is None:
        participant = source.stem
        losses.add("no participant is named; the file's name stands for who took part", line)
    version, of = _first(first, ["psychopyVersion"]), as_number(shown.get("of"))
    slot, refresh = as_number(shown.get("slot")), as_number(first.get("frameRate"))
    begun = mapping.text(first, "started", "expStart")
    return ImportedSession(
        id=" ".join(filter(None, [participant, _first(first, SESSION), _first(first, DATE)])),
        participant=participant,
        source=NAME,
        trials=tuple(trials),
        complete=False if cut else reached_end(trials, of),
        where=source.name,
        started=_utc(begun) if begun else None,
        experiment=None if "version" in shown else mapping.constants.get("experiment"),
        version=shown.get("version") or mapping.constants.get("version"),
        slot=None if slot is None else int(slot),
        version_sha256=shown.get("version_sha256"),
        device=" on ".join(filter(None, [f"PsychoPy {version}" if version else None, first.get("OS")])) or None,
        refresh_hz=refresh,
    )


def _utc(stamp: str) -> str | None:
    """Return PsychoPy's time with its zone, 2026-03-01 12h30.05.123456 +0100, in UTC; None where it does not say the zone."""
    parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)[ _](\d\d)h(\d\d)\.(\d\d)\.(\d+) ([+-]\d{4})", stamp)
    if not parts:
        return None
    day, hour, minute, second, fraction, zone = parts.groups()
    moment = datetime.strptime(f"{day} {hour}:{minute}:{second}.{fraction[:6]} {zone}", "%Y-%m-%d %H:%M:%S.%f %z")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _trials(
    source: Source, rows: Sequence[tuple[int, Cells]], mapping: ColumnMapping, losses: Losses
) -> Iterator[ImportedTrial]:
    """Yield the trials; rows without an item (consent, instructions) are none."""
    shown = [(line, row) for line, row in rows if mapping.value(row, "item", "item") is not None]
    for _, group in groupby(shown, key=lambda one: _trial_key(one[1], mapping)):
        for lines in _apart(list(group), mapping):
            line, cells = lines[0][0], {k: v for _, row in reversed(lines) for k, v in row.items()}
            if "version_sha256" in cells:
                yield _ours(source, line, cells, losses)
            else:
                yield _theirs(source, line, cells, [row for _, row in lines], mapping, losses)


def _apart(lines: Sequence[tuple[int, Cells]], mapping: ColumnMapping) -> Iterator[list[tuple[int, Cells]]]:
    """Yield rows alike in item and condition apart where a second trial begins: a loop counts back, or a cell comes again."""
    current: list[tuple[int, Cells]] = []
    for line, row in lines:
        if current and _begins(row, [before for _, before in current], mapping):
            yield current
            current = []
        current.append((line, row))
    yield current


def _begins(row: Cells, current: Sequence[Cells], mapping: ColumnMapping) -> bool:
    counts = [(as_number(row[c]), as_number(current[-1].get(c))) for c in row if c.endswith(".thisN")]
    back = any(now is not None and before is not None and now < before for now, before in counts)
    once = {rule.columns["response"] for rule in mapping.rules(row)}
    if _list(row.get(mapping.columns.get("rt", ""), "")) is not None:
        once.add(mapping.columns["rt"])
    return back or any(column in before for column in once for before in current)


def _trial_key(row: Cells, mapping: ColumnMapping) -> tuple[Any, ...]:
    """Return what rows of one trial share: item and condition, and the position where there is one."""
    position = row.get("position") if "version_sha256" in row else mapping.value(row, "trial")
    return mapping.value(row, "item", "item"), mapping.value(row, "condition", "condition"), position


def _renumbered(trials: list[ImportedTrial]) -> list[ImportedTrial]:
    """Return the trials; those without a position of their own (-1) are numbered in the order of the file."""
    return [replace(one, position=n) if one.position < 0 else one for n, one in enumerate(trials)]


def _ours(source: Source, line: int, cells: Cells, losses: Losses) -> ImportedTrial:
    """Return a trial of our export."""
    condition, records = _id(cells["condition"]), []
    pair = "+" in condition
    for name in _screen_names(cells, ("context", "sentence")):
        presses = _times(cells.get(f"{name}_key.rt"), losses, line)
        if (text := cells.get(f"{name}_words")) is not None:
            # A space that does not break stands within a word.
            texts = [word.replace("\xa0", " ") for word in text.split(" ")]
            words = _words(texts, presses, losses, line)
            records.append(words_read(words, sentence=sentence_of(name, pair=pair)))
        else:
            rt = presses[-1] if presses else None
            records.append(read_at_once(name, rt, pair=pair, ended=bool(presses)))
    return ImportedTrial(
        position=int(float(cells["position"])),
        item=_id(cells["item"]),
        condition=condition,
        where=f"{source.name}, line {line}",
        role=cells.get("role"),
        records=(*records, *_answers(cells, losses, line)),
    )


def _words(texts: Sequence[str | None], presses: Sequence[float], losses: Losses, line: int) -> tuple[WordRecord, ...]:
    """Return the words with the times between the presses, of which the first brings the first word."""
    if len(presses) != len(texts) + 1:
        losses.add(
            f"{len(presses)} presses for {len(texts)} words; expected one more than words; the sentence is left out",
            line,
        )
        return ()
    return timed(texts, (round(b - a, 6) for a, b in pairwise(presses)))


def _screen_names(cells: Cells, bases: Sequence[str]) -> list[str]:
    """Return the names of the screens of these kinds that a trial of our export had, in order."""
    return [
        has_column[1]
        for base in bases
        for column in cells
        if (has_column := re.fullmatch(rf"has_({base}_\d+)", column)) and as_number(cells[column])
    ]


def _answers(cells: Cells, losses: Losses, line: int) -> Iterator[Record]:
    """Yield the answers of a trial of our export, whose columns say what was asked, and with which key or component."""
    cells = {column: _id(cell) for column, cell in cells.items()}
    for name in _screen_names(cells, ("ask",)):
        rt = next(
            (cells[column] for part in ("key", "slider", "text") if (column := f"{name}_{part}.rt") in cells), None
        )
        cell = next(
            (
                cells[column]
                for part in ("key.keys", "slider.response", "text.text")
                if (column := f"{name}_{part}") in cells
            ),
            None,
        )
        if cell is None:
            if late(cells, name):
                yield timeout(cells, name)
            continue
        response = _response(cells, name, cell)
        if response is None:
            losses.add(f"{cells[f'{name}_name']} is answered with the key {cell}; left out", line)
        else:
            yield answered(cells, name, response, _press(rt, losses, line))


def _response(cells: Cells, name: str, cell: str) -> str | None:
    """Return what is recorded of an answer; None where it was given with another key."""
    kind = cells[f"{name}_kind"]
    if kind in ("slider", "entry"):
        return cell
    if kind == "points":
        nth = _pressed(cell, "123456789")
        return None if nth is None else str(nth + 1)
    two = f"{name}_value_3" not in cells
    return nth_value(cells, name, _pressed(cell, "fj" if two else "123456789"))


def _pressed(cell: str, keys: str) -> int | None:
    """Return which of the keys was pressed last; keys of the number pad count as digits."""
    keys_pressed = _list(cell)
    name = str(keys_pressed[-1] if keys_pressed else cell).removeprefix("num_").removesuffix(".0")
    return keys.index(name) if len(name) == 1 and name in keys else None


def _theirs(
    source: Source, line: int, cells: Cells, rows: Sequence[Cells], mapping: ColumnMapping, losses: Losses
) -> ImportedTrial:
    """Return a trial as the mapping describes it."""
    position, condition = as_number(mapping.text(cells, "trial")), mapping.text(cells, "condition", "condition")
    if condition is None:
        losses.add("the row of an item names no condition; it is called only", line)
    return ImportedTrial(
        position=-1 if position is None else int(position),
        item=mapping.text(cells, "item", "item") or "",
        condition=condition or "only",
        where=f"{source.name}, line {line}",
        role=mapping.text(cells, "role", "role"),
        paradigm=mapping.text(cells, "paradigm"),
        records=records_of(_their_words(rows, mapping, losses, line), _mapped_answers(rows, mapping, losses, line)),
    )


def _their_words(rows: Sequence[Cells], mapping: ColumnMapping, losses: Losses, line: int) -> tuple[WordRecord, ...]:
    column = mapping.columns.get("rt")
    read = [row for row in rows if column in row]
    if column is None or not read:
        return ()
    texts: list[str | None] = [mapping.text(row, "text") for row in read]
    if len(read) > 1 or _list(read[0][column]) is None:
        times = [as_number(row[column]) for row in read]
        for row, rt in zip(read, times, strict=True):
            if rt is None:
                losses.add(f"a reading time is {row[column]!r}; it stays empty", line)
        return timed(texts, [None if rt is None else _ms(rt, mapping) for rt in times])
    presses = [_ms(time, mapping) for time in _seconds(read[0][column], losses, line)]
    words: Sequence[str | None] = (texts[0] or "").split() or [None] * len(presses)
    if len(presses) == len(words):  # the sentence appears with its first word
        presses = [0.0, *presses]
    return _words(words, presses, losses, line)


def _mapped_answers(rows: Sequence[Cells], mapping: ColumnMapping, losses: Losses, line: int) -> Iterator[Record]:
    """Yield the answers that the mapping describes, of each prompt the first that is there."""
    first: dict[str, tuple[AnswerRule, dict[str, Any]]] = {}
    for row in rows:
        for rule in mapping.rules(row):
            first.setdefault(rule.asked, (rule, mapping.said(row, rule)))
    for rule in mapping.answers:
        if rule.asked not in first:
            losses.add(f"{rule.columns['response']} is empty; no {rule.asked} there", line)
        elif first[rule.asked][0] is rule:
            said = first[rule.asked][1]
            listed, rt = _list(said["response"]), _times(said.get("rt"), losses, line, mapping)
            response, correct = str(listed[-1]) if listed else said["response"], truth(said.get("correct"))
            yield answer_given(
                rule.task, rule.asked, response, correct, rt=rt[-1] if rt else None, side=said.get("side")
            )


def _ms(seconds: float, mapping: ColumnMapping | None = None) -> float:
    """Return a time in ms: PsychoPy's are in seconds, unless the mapping says otherwise."""
    if mapping is not None and "rt" in mapping.units:
        return mapping.ms("rt", seconds)
    return round(seconds * 1000, 6)


def _times(cell: str | None, losses: Losses, line: int, mapping: ColumnMapping | None = None) -> list[float]:
    """Return the times in a cell, in ms."""
    return [_ms(time, mapping) for time in _seconds(cell, losses, line)]


def _press(cell: str | None, losses: Losses, line: int) -> float | None:
    """Return the last time in a cell, in ms."""
    times = _times(cell, losses, line)
    return times[-1] if times else None


def _seconds(cell: str | None, losses: Losses, line: int) -> list[float]:
    if cell is None:
        return []
    listed = _list(cell)
    times = [as_number(str(one)) for one in (listed if listed is not None else [cell])]
    if any(time is None for time in times):
        losses.add(f"{cell[:60]!r} is not a time; expected seconds, or a list of them; it stays empty", line)
        return []
    return [time for time in times if time is not None]


def _list(cell: str) -> list[Any] | None:
    """Return a list as Python or JSON writes it; None where the cell holds none. Nothing in it is run."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    for read in (ast.literal_eval, json.loads):
        try:
            value = read(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return value if isinstance(value, list) else None
    return None


def _id(cell: str) -> str:
    """Return an id as it was exported: PsychoPy makes a number of one that looks like it."""
    return cell.removesuffix(".0") if re.fullmatch(r"\d+\.0", cell) else cell


def _first(row: Cells, names: Iterable[str]) -> str | None:
    return next((row[name] for name in names if name in row), None)
