"""jsPsych's data, JSON or CSV: the self-paced-reading plugin, plugin-spr, and answers by key, button, slider or Likert scale.

Which item a row belongs to, only its own fields say (`item`, `condition`, or what the mapping names). Rows that follow one
another with the same item and condition are one trial.
"""

import csv
import io
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gardenpath import study

from .losses import Losses
from .mapping import AnswerRule, ColumnMapping, Row, is_empty, matches, plain
from .native import SESSION
from .sittings import Answer, Presented, ReadWord, Sitting
from .sources import Source
from .verdicts import truth

log = logging.getLogger("gardenpath")

NAME = "jspsych"
# Names under which studies keep who takes part, item and condition, in the order of preference.
PERSON = (
    "PROLIFIC_PID",
    "prolific_pid",
    "prolific_id",
    "participant_id",
    "participant",
    "subject_id",
    "subject",
    "workerId",
)
ITEM = ("item", "item_id", "itemID", "item_number")
CONDITION = ("condition", "cond")
TASKS = ("rating", "question", "choice")
ANSWERED = ("survey-likert", "html-button-response", "html-keyboard-response", "html-slider-response")
BLANK = "____"
MARKS = (b'"trial_type"', b'"time_elapsed"')
SEPARATORS = (",", ";", "\t")
OURS = f'"{SESSION}"'.encode()


@dataclass(frozen=True)
class Run:
    """Rows of one run of a page, in order; `whole` is False where the text breaks off. The rest is known from JATOS alone."""

    rows: tuple[Row, ...]
    where: str
    whole: bool = True
    id: str | None = None
    participant: str | None = None
    started: str | None = None
    finished: str | None = None
    complete: bool = True


def recognises(source: Source) -> bool:
    """Whether rows have what every row of jsPsych has, or what every row of our own page has."""
    if source.members:
        return False
    return all(mark in source.data for mark in MARKS) or OURS in source.data or _separator(source.head) is not None


def _separator(text: str) -> str | None:
    """Return what parts the columns of a CSV of jsPsych's, which another program may have saved again; None for another text."""
    for separator in SEPARATORS:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
        if {"trial_type", "time_elapsed"} <= {*header} or SESSION in header:
            return separator
    return None


def runs(source: Source) -> list[Run]:
    """Return the rows of a file, apart for each array of rows at its top level; what lies behind a break is lost and said so."""
    text = source.text.strip()
    if not text.startswith(("[", "{")):
        return [_csv(source)]
    values, broken = _values(text)
    lists = [value for value in values if isinstance(value, list)]
    single = [value for value in values if isinstance(value, dict)]
    if broken is not None:
        log.warning(
            "%s: cut short after %d rows (%s); the session counts as not complete", source.name, _count(values), broken
        )
    found = [*lists, *([single] if single else [])]
    rows = [[row for row in _flat(value) if isinstance(row, dict)] for value in found]
    return [
        Run(tuple(once(of)), source.name, whole=broken is None or n < len(rows))
        for n, of in enumerate(rows, start=1)
        if of
    ]


def read(source: Source, mapping: ColumnMapping | None) -> list[Sitting]:
    """Return the sittings of a file; without a participant's name in the rows each run is a participant of its own."""
    return sittings(runs(source), source, mapping or ColumnMapping(), NAME)


def sittings(found: Iterable[Run], source: Source, mapping: ColumnMapping, platform: str) -> list[Sitting]:
    """Return the sittings of these runs; raises `study.DataError` where their rows name no items."""
    losses = Losses(source.name, "row")
    made: list[Sitting] = []
    ran = list(found)
    for n, run in enumerate(ran, start=1):
        rows = mapping.prepare(run.rows, run.where)
        usual = run.participant or (source.stem if len(ran) == 1 else f"{source.stem}-{n}")
        for person, own in _people(rows, mapping, usual):
            for part in _restarts(own):
                made.append(_sitting(part, person, run, source.stem, mapping, losses, platform))
    if not any(sitting.presented for sitting in made):
        there = list(dict.fromkeys(name for run in ran for row in run.rows for name in row))
        raise study.DataError(
            f"{source.name}: no row names the item it belongs to; name the columns in a mapping ([columns] item, condition); "
            f"the rows have {', '.join(there[:20]) or 'nothing'}"
        )
    losses.report()
    return _told_apart(made)


def _values(text: str) -> tuple[list[Any], str | None]:
    """Return the JSON values that follow one another in a text, and what is wrong with the rest, or None.

    Of an array that breaks off, the whole elements are returned.
    """
    decoder, at = json.JSONDecoder(), 0
    values: list[Any] = []
    while at < len(text):
        if text[at] in " \n\t\r,":
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            rest = _values(text[at + 1 :])[0] if text[at] == "[" else []
            return ([*values, rest] if rest else values), f"line {error.lineno}: {error.msg}"
        values.append(value)
    return values, None


def _flat(value: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of an array, which may hold arrays of rows."""
    for row in value:
        if isinstance(row, list):
            yield from _flat(row)
        else:
            yield row


def _count(values: Iterable[Any]) -> int:
    return sum(1 for _ in _flat(values))


def _csv(source: Source) -> Run:
    """Return the rows of a CSV; a last row that is cut short is left out."""
    separator = _separator(source.text) or ","
    header, *body = [row for row in csv.reader(io.StringIO(source.text, newline=""), delimiter=separator) if row]
    quoted = source.text.startswith('"') and not source.text.rstrip().endswith('"')
    whole = not body or (len(body[-1]) == len(header) and not quoted)
    if not whole:
        log.warning("%s: cut short in its last row; the session counts as not complete", source.name)
        body = body[:-1]
    faults = [
        f"{source.name}, row {n}: {len(row)} cells, expected {len(header)} as in the header; the file is damaged"
        for n, row in enumerate(body, start=1)
        if len(row) != len(header)
    ]
    if faults:
        raise study.DataError(faults[:5])
    return Run(tuple(dict(zip(header, row, strict=True)) for row in body if row != header), source.name, whole)


def once(rows: Iterable[Row]) -> list[Row]:
    """Return rows without those that were sent a second time, as a page does that sends each trial and at the end all."""
    seen, kept = set(), []
    for row in rows:
        key = json.dumps(row, sort_keys=True)
        if key not in seen:
            kept.append(row)
        seen.add(key)
    return kept


def _people(rows: Iterable[Row], mapping: ColumnMapping, usual: str) -> list[tuple[str, list[Row]]]:
    people: dict[str, list[Row]] = {}
    for row in rows:
        people.setdefault(mapping.text(row, "participant", *PERSON) or usual, []).append(row)
    return list(people.items())


def _restarts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield rows apart for each time that trials were counted from the start: a page that was loaded again."""
    part: list[Row] = []
    for row in rows:
        if part and _index(row) <= _index(part[-1]):
            yield part
            part = []
        part.append(row)
    yield part


def _index(row: Row) -> float:
    try:
        return float(row.get("trial_index", "nan"))
    except (TypeError, ValueError):
        return float("nan")


def _sitting(
    rows: Sequence[Row], person: str, run: Run, file: str, mapping: ColumnMapping, losses: Losses, platform: str
) -> Sitting:
    first = rows[0]
    return Sitting(
        run.id or mapping.text(first, "session") or f"{file} {person}",
        person,
        platform,
        tuple(_presented(rows, run.where, mapping, losses)),
        complete=run.whole and run.complete,
        where=run.where,
        started=run.started or mapping.text(first, "started"),
        finished=run.finished or mapping.text(first, "finished"),
        experiment=mapping.text(first, "experiment"),
        version=mapping.text(first, "version"),
    )


def _told_apart(made: Sequence[Sitting]) -> list[Sitting]:
    """Number the sittings of one name."""
    times: Counter[str] = Counter()
    named = []
    for sitting in made:
        times[sitting.id] += 1
        nth = times[sitting.id]
        named.append(sitting if nth == 1 else replace(sitting, id=f"{sitting.id}-{nth}"))
    return named


def _presented(rows: Iterable[Row], where: str, mapping: ColumnMapping, losses: Losses) -> Iterator[Presented]:
    current: Presented | None = None
    trial = 0
    for n, row in enumerate(rows, start=1):
        try:
            words, answers = _words(row, mapping, losses, n), _answers(row, mapping)
        except ValueError as error:
            raise study.DataError(f"{where}, row {n}: {error}") from None
        if words is None and not answers:
            continue
        item, condition = mapping.text(row, "item", *ITEM), mapping.text(row, "condition", *CONDITION)
        if item is None or condition is None:
            kind = row.get("trial_type") or "row"
            losses.add(f"{kind} names no {'item' if item is None else 'condition'}; left out", n)
            continue
        place = f"{where}, row {n}"
        if current and (current.item, current.condition) == (item, condition) and not (words and current.words):
            current = replace(current, words=words or current.words, answers=current.answers + tuple(answers))
            continue
        if current:
            yield current
            trial += 1
        role, paradigm = mapping.text(row, "role", "role"), mapping.text(row, "paradigm", "paradigm")
        current = Presented(trial, item, condition, place, role, paradigm, words or (), tuple(answers))
    if current:
        yield current


def _words(row: Row, mapping: ColumnMapping, losses: Losses, n: int) -> tuple[ReadWord, ...] | None:
    """Return the words of a row of a self-paced reading plugin, or None for another row."""
    results, times = _json(row.get("results")), _json(row.get("rt"))
    if isinstance(results, list) and all(isinstance(one, dict) and "segment" in one for one in results):
        # plugin-spr: one result a key press; the first one belongs to the mask.
        segments = [one for one in results if one["segment"] != BLANK]
        return tuple(ReadWord(str(one["segment"]), _ms(one.get("rt"), mapping)) for one in segments)
    if not isinstance(times, list):
        return None
    # self-paced-reading: the first time is that of the mask, whose label is null.
    labels = _json(row.get("word"))
    texts = str(row["sentence"]).split() if not is_empty(row.get("sentence")) else None
    named = labels[1:] if isinstance(labels, list) and labels[:1] == [None] else labels
    if texts is None and isinstance(named, list):
        texts = named
    elif texts is not None and isinstance(named, list) and named != texts:
        losses.add("the plugin's labels differ from its sentence (as with line breaks); words are the sentence's", n)
    rts = times[1:] if isinstance(labels, list) and labels[:1] == [None] else times
    if texts is None or len(texts) != len(rts):
        losses.add(
            f"{len(rts)} times for {'no' if texts is None else len(texts)} words of a sentence; words are not named", n
        )
        return tuple(ReadWord(None, _ms(rt, mapping)) for rt in rts)
    return tuple(ReadWord(text, _ms(rt, mapping)) for text, rt in zip(texts, rts, strict=True))


def _ms(value: Any, mapping: ColumnMapping) -> float | None:
    if is_empty(value):
        return None
    if not _is_number(value):
        raise ValueError(f"a time is {value!r}, expected a number")
    return mapping.ms("rt", float(value))


def _json(cell: Any) -> Any:
    """Return what a cell holds: in a CSV, arrays and objects are JSON text."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except json.JSONDecodeError:
            return cell
    return cell


def _answers(row: Row, mapping: ColumnMapping) -> list[Answer]:
    """Return the answers of a row: as the mapping states, or else as the plugins that are known record them."""
    if mapping.answers:
        rules = [rule for rule in mapping.answers if matches(row, rule.where)]
        return [answer for rule in rules if (answer := _stated(row, rule, mapping))]
    response, kind = _json(row.get("response")), row.get("trial_type")
    if kind not in ANSWERED or is_empty(response):
        return []
    stated = row.get("task")
    known = stated if stated in TASKS else None
    rt = None if isinstance(_json(row.get("rt")), list) else _ms(row.get("rt"), mapping)
    correct = truth(row.get("correct"))
    if isinstance(response, dict):
        # Likert scales and buttons are counted from 0, ratings from 1.
        return [
            Answer(known or "rating", "rating" if name == "Q0" else name, int(value) + 1, rt, correct=correct)
            for name, value in response.items()
            if not is_empty(value)
        ]
    task = known or ("question" if correct is not None else "rating")
    if kind == "html-button-response" and _is_number(response):
        return [Answer(task, task, plain(int(response) + 1), rt, correct=correct)]
    if task == "rating" and not _is_number(response):
        return []  # a key that goes on
    return [Answer(task, task, plain(response), rt, correct=correct)]


def _stated(row: Row, rule: AnswerRule, mapping: ColumnMapping) -> Answer | None:
    cells = {ours: _json(row.get(theirs)) for ours, theirs in rule.columns.items()}
    if is_empty(cells["response"]) or isinstance(cells["response"], (list, dict)):
        return None
    side = None if is_empty(cells.get("side")) else plain(cells["side"])
    rt = _ms(cells.get("rt"), mapping)
    return Answer(rule.task, rule.asked, plain(cells["response"]), rt, side, truth(cells.get("correct")))


def _is_number(response: Any) -> bool:
    try:
        float(response)
    except (TypeError, ValueError):
        return False
    return True
