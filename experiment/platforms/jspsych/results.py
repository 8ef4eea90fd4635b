"""jsPsych's data, JSON or CSV: the self-paced-reading plugin, plugin-spr, and answers by key, button, slider or Likert scale.

Which item a row belongs to, only its own fields say (`item`, `condition`, or what the mapping names). Rows that follow one
another with the same item and condition are one trial.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gardenpath import study
from gardenpath.study.mapping import AnswerRule, ColumnMapping, Row, is_empty, plain
from gardenpath.study.screens import Record, WordRecord

from ..cell_values import as_number, truth
from ..imported import ImportedSession, ImportedTrial, answer_given, numbered, records_of, timed
from ..losses import Losses
from ..sources import Source
from .rows import Run, runs
from .rows import recognises as recognises

log = logging.getLogger("gardenpath")
NAME = "jspsych"
# Names under which studies keep who takes part (in any case, with _ or without), item and condition, in the order of preference.
PERSON = (
    *(
        "prolific_pid",
        "prolific_id",
        "participant_id",
        "participant",
        "participant_number",
        "subject_id",
        "subject",
        "subj",
    ),
    *("worker_id", "sona_id", "ppt"),
)
RUN = "run_id"  # of one run of a page, by some hosts; each is a participant of its own where nobody is named
ITEM = ("item", "item_id", "itemID", "item_number")
CONDITION = ("condition", "cond")
TASKS = ("rating", "question", "choice")
ANSWERED = ("survey-likert", "html-button-response", "html-keyboard-response", "html-slider-response")
BLANK = "____"


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of a file; a file of one run whose rows name no participant is a participant of its own."""
    return sessions(runs(source), source, mapping or ColumnMapping(), NAME)


def sessions(file_runs: Iterable[Run], source: Source, mapping: ColumnMapping, platform: str) -> list[ImportedSession]:
    """Return the sessions of these runs; raises `study.DataError` where their rows name no items, or do not tell people apart."""
    losses = Losses(source.name, "row")
    made: list[ImportedSession] = []
    unnamed: set[str] = set()
    ran = list(file_runs)
    for n, run in enumerate(ran, start=1):
        rows = mapping.prepare(run.rows, run.where)
        usual = run.participant or (source.stem if len(ran) == 1 else f"{source.stem}-{n}")
        unnamed.add(usual)
        for person, person_rows in _people(rows, mapping, usual, run):
            for part in _restarts(person_rows):
                made.append(_session(part, person, run, source.stem, mapping, losses, platform))
    if not any(session.trials for session in made):
        columns = list(dict.fromkeys(name for run in ran for row in run.rows for name in row))
        if not columns:
            raise study.DataError(
                f"{source.name}: contains no row of data; expected jsPsych's, one for each page shown"
            )
        raise study.DataError(
            f"{source.name}: no row names the item it belongs to; name the columns in a mapping ([columns] item, condition); "
            f"the rows have {', '.join(columns[:20])}"
        )
    losses.report()
    if nameless := sum(session.participant in unnamed for session in made):
        log.info(
            "%s: %d of %d sessions do not say in their rows who took part; they are known by %s",
            *(source.name, nameless, len(made), "their run" if platform == NAME else "their worker or study result"),
        )
    return numbered(made)


def _people(rows: Sequence[Row], mapping: ColumnMapping, usual: str, run: Run) -> list[tuple[str, list[Row]]]:
    """Return the rows of each person; raises `study.DataError` where several ran the page and nothing says who."""
    columns = _naming(rows, mapping, run)

    def name(row: Row) -> str | None:
        return mapping.text(row, "participant", *columns)

    people: dict[str, list[Row]] = {}
    # A name that only some rows of a run hold, as the answer to a first page, is that of the others too.
    whole = all(name(row) is not None for row in rows)
    parts = [[row] for row in rows] if whole else list(_restarts(rows)) if run.participant is None else [list(rows)]
    for part in parts:
        names = {said for row in part if (said := name(row)) is not None}
        if len(names) > 1 or (not names and len(parts) > 1):
            raise study.DataError(_unnamed(run, parts, mapping, columns))
        people.setdefault(next(iter(names), usual), []).extend(part)
    return list(people.items())


def _naming(rows: Sequence[Row], mapping: ColumnMapping, run: Run) -> list[str]:
    """Return the columns that usually name people; raises `study.DataError` where a later one tells more of them apart."""
    if "participant" in mapping.columns:
        return []
    filled = {column for row in rows for column, cell in row.items() if not mapping.lacks(cell)}
    known = {column: column.lower().replace("_", "").replace(" ", "") for column in sorted(filled)}
    columns = [column for name in (*PERSON, RUN) for column, said in known.items() if said == name.replace("_", "")]
    for other in columns[1:]:
        pairs = {(mapping.text(row, "", columns[0]), mapping.text(row, "", other)) for row in rows}
        both = [pair for pair in pairs if None not in pair]
        if known[other] != "runid" and len(both) > len({one for one, _ in both}):
            raise study.DataError(
                f"{run.where}: columns {columns[0]} and {other} tell people apart differently ({len({a for a, _ in both})} and "
                f"{len({b for _, b in both})} of them); state which names them in the mapping: [columns] participant"
            )
    return columns


def _unnamed(run: Run, parts: Sequence[Sequence[Row]], mapping: ColumnMapping, columns: Sequence[str]) -> str:
    """Return the question who ran the page, with the columns that may say it."""
    said = [{name: {plain(row.get(name)) for row in part} for name in part[0]} for part in parts]
    differ = [
        name
        for name in said[0]
        if all(len(of.get(name, ())) == 1 for of in said) and len({*map(str, (of[name] for of in said))}) > 1
    ]
    may = f" (columns that differ from run to run: {', '.join(differ[:8])})" if differ else ""
    what = f"{' and '.join(columns)} name some rows of them alone" if columns else "no column known here says by whom"
    return (
        f"{run.where}: holds {len(parts)} runs of the page, and {what}; name the column in the mapping: [columns] participant"
        f"{may}, or give each run a file of its own"
    )


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
    number = as_number(row.get("trial_index", row.get("time_elapsed")))
    return float("nan") if number is None else number


def _session(
    rows: Sequence[Row], person: str, run: Run, file: str, mapping: ColumnMapping, losses: Losses, platform: str
) -> ImportedSession:
    first = rows[0]
    return ImportedSession(
        run.id or mapping.text(first, "session") or f"{file} {person}",
        person,
        platform,
        tuple(_trials(rows, run.where, mapping, losses)),
        complete=run.complete if run.whole else False,
        where=run.where,
        started=run.started or mapping.text(first, "started"),
        finished=run.finished or mapping.text(first, "finished"),
        experiment=mapping.text(first, "experiment"),
        version=mapping.text(first, "version"),
    )


def _trials(rows: Iterable[Row], where: str, mapping: ColumnMapping, losses: Losses) -> Iterator[ImportedTrial]:
    current: ImportedTrial | None = None
    position = 0
    for n, row in enumerate(rows, start=1):
        try:
            words, answers = _words(row, mapping, losses, n), _answers(row, mapping)
        except ValueError as error:
            raise study.DataError(f"{where}, row {n}: {error}") from None
        item, condition = mapping.text(row, "item", *ITEM), mapping.text(row, "condition", *CONDITION)
        # What was not answered is a trial all the same.
        unanswered = (
            row.get("trial_type") in ANSWERED and is_empty(row.get("response")) and None not in (item, condition)
        )
        if words is None and not answers and not unanswered:
            if item is not None and condition is not None:
                kind = row.get("trial_type") or "a row"
                losses.add(f"{kind} names an item and holds no words and no answer known here; left out", n)
            continue
        if item is None or condition is None:
            kind = row.get("trial_type") or "row"
            losses.add(f"{kind} names no {'item' if item is None else 'condition'}; left out", n)
            continue
        if unanswered:
            losses.add(f"{row['trial_type']} has no response; it stays empty", n)
        place = f"{where}, row {n}"
        records = records_of(words or (), answers)
        if current and current.goes_on(item, condition, records):
            current = replace(current, records=current.records + records)
            continue
        if current:
            yield current
            position += 1
        role, paradigm = mapping.text(row, "role", "role"), mapping.text(row, "paradigm", "paradigm")
        current = ImportedTrial(position, item, condition, place, role, paradigm, records)
    if current:
        yield current


def _words(row: Row, mapping: ColumnMapping, losses: Losses, n: int) -> tuple[WordRecord, ...] | None:
    """Return the words of a row of a self-paced reading plugin, or None for another row."""
    results, times = _json(row.get("results")), _json(row.get("rt"))
    if isinstance(results, list) and all(isinstance(one, dict) and "segment" in one for one in results):
        # plugin-spr: one result a key press; the first one belongs to the mask.
        segments = [one for one in results if one["segment"] != BLANK]
        return timed([str(one["segment"]) for one in segments], [_ms(one.get("rt"), mapping) for one in segments])
    if not isinstance(times, list):
        return None
    # self-paced-reading: the first time is that of the mask, whose label is null.
    labels = _json(row.get("word"))
    texts: list[str | None] | None = [*str(row["sentence"]).split()] if not is_empty(row.get("sentence")) else None
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
        texts = [None] * len(rts)
    return timed(texts, [_ms(rt, mapping) for rt in rts])


def _ms(value: Any, mapping: ColumnMapping) -> float | None:
    if is_empty(value):
        return None
    if as_number(value) is None:
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


def _answers(row: Row, mapping: ColumnMapping) -> list[Record]:
    """Return the answers of a row: as the mapping states, or else as the plugins that are known record them."""
    if mapping.answers:
        return [answer for rule in mapping.rules(row) if (answer := _mapped_answer(row, rule, mapping))]
    response, kind = _json(row.get("response")), row.get("trial_type")
    if kind not in ANSWERED or is_empty(response):
        return []
    known = row["task"] if row.get("task") in TASKS else None
    rt = None if isinstance(_json(row.get("rt")), list) else _ms(row.get("rt"), mapping)
    correct = truth(row.get("correct"))
    if isinstance(response, dict):
        # Likert scales and buttons are counted from 0, ratings from 1.
        return [
            answer_given(known or "rating", "rating" if name == "Q0" else name, int(value) + 1, correct, rt=rt)
            for name, value in response.items()
            if not is_empty(value)
        ]
    task = known or ("question" if correct is not None else "rating")
    if kind == "html-button-response" and as_number(response) is not None:
        return [answer_given(task, task, plain(int(response) + 1), correct, rt=rt)]
    if task == "rating" and as_number(response) is None:
        return []  # a key that goes on
    return [answer_given(task, task, plain(response), correct, rt=rt)]


def _mapped_answer(row: Row, rule: AnswerRule, mapping: ColumnMapping) -> Record | None:
    said = {ours: _json(cell) for ours, cell in mapping.said(row, rule).items()}
    if isinstance(said["response"], (list, dict)):
        return None
    side = None if "side" not in said else plain(said["side"])
    rt = _ms(said.get("rt"), mapping)
    return answer_given(rule.task, rule.asked, plain(said["response"]), truth(said.get("correct")), rt=rt, side=side)
