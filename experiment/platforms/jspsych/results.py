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
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import ColumnMapping, ResponseRule, Row, format_cell, is_empty_cell

from ..cell_values import parse_boolean, parse_number
from ..imported_sessions import (
    ImportedSession,
    ImportedTrial,
    build_response_record,
    build_word_records,
    combine_records,
    number_repeated_ids,
)
from ..losses import Losses
from ..sources import Source
from .rows import PlayerRun, read_runs
from .rows import recognises as recognises

log = logging.getLogger("gardenpath")
NAME = "jspsych"
# Names under which studies keep who takes part (in any case, with _ or without), item and condition, in the order of preference.
PARTICIPANT_COLUMNS = (
    *("prolific_pid", "prolific_id", "participant_id", "participant", "participant_number", "subject_id", "subject", "subj"),
    *("worker_id", "sona_id", "ppt"),
)
RUN_COLUMN = "run_id"  # of one run of a page, by some hosts; each is a participant of its own where nobody is named
ITEM_COLUMNS = ("item", "item_id", "itemID", "item_number")
CONDITION_COLUMNS = ("condition", "cond")
RESPONSE_TASKS = ("rating", "question", "choice")
RESPONSE_PLUGINS = ("survey-likert", "html-button-response", "html-keyboard-response", "html-slider-response")
MASK_SEGMENT = "____"


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions of a file; a file of one run whose rows name no participant is a participant of its own."""
    return build_sessions(read_runs(source), source, mapping or ColumnMapping(), NAME)


def build_sessions(file_runs: Iterable[PlayerRun], source: Source, mapping: ColumnMapping, platform: str) -> list[ImportedSession]:
    """Return the sessions of these runs; raises `study.DataError` where their rows name no items, or do not tell people apart."""
    losses = Losses(source.name, "row")
    built: list[ImportedSession] = []
    unnamed: set[str] = set()
    run_list = list(file_runs)
    for n, run in enumerate(run_list, start=1):
        rows = mapping.prepare_rows(run.rows, run.where)
        default_name = run.participant or (source.stem if len(run_list) == 1 else f"{source.stem}-{n}")
        unnamed.add(default_name)
        for participant, participant_rows in _split_by_participant(rows, mapping, default_name, run):
            for part in _split_at_restarts(participant_rows):
                built.append(_build_session(part, participant, run, source.stem, mapping, losses, platform))
    if not any(session.trials for session in built):
        columns = list(dict.fromkeys(name for run in run_list for row in run.rows for name in row))
        if not columns:
            raise study.DataError(f"{source.name}: contains no row of data; expected jsPsych's, one for each page shown")
        raise study.DataError(
            f"{source.name}: no row names the item it belongs to; name the columns in a mapping ([columns] item, condition); "
            f"the rows have {', '.join(columns[:20])}"
        )
    losses.report()
    if nameless := sum(session.participant in unnamed for session in built):
        log.info(
            "%s: %d of %d sessions do not say in their rows who took part; they are known by %s",
            *(source.name, nameless, len(built), "their run" if platform == NAME else "their worker or study result"),
        )
    return number_repeated_ids(built)


def _split_by_participant(
    rows: Sequence[Row], mapping: ColumnMapping, default_name: str, run: PlayerRun
) -> list[tuple[str, list[Row]]]:
    """Return the rows of each person; raises `study.DataError` where several ran the page and nothing says who."""
    columns = _find_participant_columns(rows, mapping, run)

    def name(row: Row) -> str | None:
        return mapping.get_text(row, "participant", *columns)

    participants: dict[str, list[Row]] = {}
    # A name that only some rows of a run hold, as the answer to a first page, is that of the others too.
    names_every_row = all(name(row) is not None for row in rows)
    parts = (
        [[row] for row in rows] if names_every_row else list(_split_at_restarts(rows)) if run.participant is None else [list(rows)]
    )
    for part in parts:
        names = {found_name for row in part if (found_name := name(row)) is not None}
        if len(names) > 1 or (not names and len(parts) > 1):
            raise study.DataError(_format_unnamed_fault(run, parts, mapping, columns))
        participants.setdefault(next(iter(names), default_name), []).extend(part)
    return list(participants.items())


def _find_participant_columns(rows: Sequence[Row], mapping: ColumnMapping, run: PlayerRun) -> list[str]:
    """Return the columns that usually name people; raises `study.DataError` where a later one tells more of them apart."""
    if "participant" in mapping.columns:
        return []
    filled = {column for row in rows for column, cell in row.items() if not mapping.is_missing(cell)}
    known = {column: column.lower().replace("_", "").replace(" ", "") for column in sorted(filled)}
    columns = [
        column
        for name in (*PARTICIPANT_COLUMNS, RUN_COLUMN)
        for column, standard_name in known.items()
        if standard_name == name.replace("_", "")
    ]
    for other in columns[1:]:
        pairs = {(mapping.get_text(row, "", columns[0]), mapping.get_text(row, "", other)) for row in rows}
        both = [pair for pair in pairs if None not in pair]
        if known[other] != "runid" and len(both) > len({one for one, _ in both}):
            raise study.DataError(
                f"{run.where}: columns {columns[0]} and {other} tell people apart differently ({len({a for a, _ in both})} and "
                f"{len({b for _, b in both})} of them); state which names them in the mapping: [columns] participant"
            )
    return columns


def _format_unnamed_fault(run: PlayerRun, parts: Sequence[Sequence[Row]], mapping: ColumnMapping, columns: Sequence[str]) -> str:
    """Return the question who ran the page, with the columns that may say it."""
    column_values = [{name: {format_cell(row.get(name)) for row in part} for name in part[0]} for part in parts]
    differing = [
        name
        for name in column_values[0]
        if all(len(values.get(name, ())) == 1 for values in column_values)
        and len({*map(str, (values[name] for values in column_values))}) > 1
    ]
    may = f" (columns that differ from run to run: {', '.join(differing[:8])})" if differing else ""
    what = f"{' and '.join(columns)} name some rows of them alone" if columns else "no column known here says by whom"
    return (
        f"{run.where}: holds {len(parts)} runs of the page, and {what}; name the column in the mapping: [columns] participant"
        f"{may}, or give each run a file of its own"
    )


def _split_at_restarts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield rows apart for each time that trials were counted from the start: a page that was loaded again."""
    part: list[Row] = []
    for row in rows:
        if part and _get_trial_index(row) <= _get_trial_index(part[-1]):
            yield part
            part = []
        part.append(row)
    yield part


def _get_trial_index(row: Row) -> float:
    number = parse_number(row.get("trial_index", row.get("time_elapsed")))
    return float("nan") if number is None else number


def _build_session(
    rows: Sequence[Row], participant: str, run: PlayerRun, file: str, mapping: ColumnMapping, losses: Losses, platform: str
) -> ImportedSession:
    first = rows[0]
    return ImportedSession(
        run.id or mapping.get_text(first, "session") or f"{file} {participant}",
        participant,
        platform,
        tuple(_build_trials(rows, run.where, mapping, losses)),
        complete=run.complete if run.is_whole else False,
        where=run.where,
        started=run.started or mapping.get_text(first, "started"),
        finished=run.finished or mapping.get_text(first, "finished"),
        experiment=mapping.get_text(first, "experiment"),
        list_name=mapping.get_text(first, "list"),
    )


def _build_trials(rows: Iterable[Row], where: str, mapping: ColumnMapping, losses: Losses) -> Iterator[ImportedTrial]:
    current: ImportedTrial | None = None
    position = 0
    for n, row in enumerate(rows, start=1):
        try:
            words, responses = _read_words(row, mapping, losses, n), _read_responses(row, mapping)
        except ValueError as error:
            raise study.DataError(f"{where}, row {n}: {error}") from None
        item, condition = (mapping.get_text(row, "item", *ITEM_COLUMNS), mapping.get_text(row, "condition", *CONDITION_COLUMNS))
        # What was not answered is a trial all the same.
        is_unanswered = (
            row.get("trial_type") in RESPONSE_PLUGINS and is_empty_cell(row.get("response")) and None not in (item, condition)
        )
        if words is None and not responses and not is_unanswered:
            if item is not None and condition is not None:
                kind = row.get("trial_type") or "a row"
                losses.add(f"{kind} names an item and holds no words and no answer known here; left out", n)
            continue
        if item is None or condition is None:
            kind = row.get("trial_type") or "row"
            losses.add(f"{kind} names no {'item' if item is None else 'condition'}; left out", n)
            continue
        if is_unanswered:
            losses.add(f"{row['trial_type']} has no response; it stays empty", n)
        location = f"{where}, row {n}"
        records = combine_records(words or (), responses)
        if current and current.is_continued_by(item, condition, records):
            current = replace(current, records=current.records + records)
            continue
        if current:
            yield current
            position += 1
        role, paradigm = mapping.get_text(row, "role", "role"), mapping.get_text(row, "paradigm", "paradigm")
        current = ImportedTrial(position, item, condition, location, role, paradigm, records)
    if current:
        yield current


def _read_words(row: Row, mapping: ColumnMapping, losses: Losses, n: int) -> tuple[WordRecord, ...] | None:
    """Return the words of a row of a self-paced reading plugin, or None for another row."""
    results, times = _parse_json(row.get("results")), _parse_json(row.get("rt"))
    if isinstance(results, list) and all(isinstance(one, dict) and "segment" in one for one in results):
        # plugin-spr: one result a key press; the first one belongs to the mask.
        segments = [one for one in results if one["segment"] != MASK_SEGMENT]
        return build_word_records(
            [str(one["segment"]) for one in segments], [_convert_to_ms(one.get("rt"), mapping) for one in segments]
        )
    if not isinstance(times, list):
        return None
    # self-paced-reading: the first time is that of the mask, whose label is null.
    labels = _parse_json(row.get("word"))
    texts: list[str | None] | None = [*str(row["sentence"]).split()] if not is_empty_cell(row.get("sentence")) else None
    named = labels[1:] if isinstance(labels, list) and labels[:1] == [None] else labels
    if texts is None and isinstance(named, list):
        texts = named
    elif texts is not None and isinstance(named, list) and named != texts:
        losses.add("the plugin's labels differ from its sentence (as with line breaks); words are the sentence's", n)
    rts = times[1:] if isinstance(labels, list) and labels[:1] == [None] else times
    if texts is None or len(texts) != len(rts):
        losses.add(f"{len(rts)} times for {'no' if texts is None else len(texts)} words of a sentence; words are not named", n)
        texts = [None] * len(rts)
    return build_word_records(texts, [_convert_to_ms(rt, mapping) for rt in rts])


def _convert_to_ms(value: Any, mapping: ColumnMapping) -> float | None:
    if is_empty_cell(value):
        return None
    if parse_number(value) is None:
        raise ValueError(f"a time is {value!r}, expected a number")
    return mapping.convert_to_ms("rt", float(value))


def _parse_json(cell: Any) -> Any:
    """Return what a cell holds: in a CSV, arrays and objects are JSON text."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except json.JSONDecodeError:
            return cell
    return cell


def _read_responses(row: Row, mapping: ColumnMapping) -> list[Record]:
    """Return the answers of a row: as the mapping states, or else as the plugins that are known record them."""
    if mapping.responses:
        return [answer for rule in mapping.find_response_rules(row) if (answer := _read_mapped_response(row, rule, mapping))]
    response, kind = _parse_json(row.get("response")), row.get("trial_type")
    if kind not in RESPONSE_PLUGINS or is_empty_cell(response):
        return []
    stated_task = row["task"] if row.get("task") in RESPONSE_TASKS else None
    rt = None if isinstance(_parse_json(row.get("rt")), list) else _convert_to_ms(row.get("rt"), mapping)
    correct = parse_boolean(row.get("correct"))
    if isinstance(response, dict):
        # Likert scales and buttons are counted from 0, ratings from 1.
        return [
            build_response_record(stated_task or "rating", "rating" if name == "Q0" else name, int(value) + 1, correct, rt=rt)
            for name, value in response.items()
            if not is_empty_cell(value)
        ]
    task = stated_task or ("question" if correct is not None else "rating")
    if kind == "html-button-response" and parse_number(response) is not None:
        return [build_response_record(task, task, format_cell(int(response) + 1), correct, rt=rt)]
    if task == "rating" and parse_number(response) is None:
        return []  # a key that goes on
    return [build_response_record(task, task, format_cell(response), correct, rt=rt)]


def _read_mapped_response(row: Row, rule: ResponseRule, mapping: ColumnMapping) -> Record | None:
    mapped_cells = {column: _parse_json(cell) for column, cell in mapping.extract_response(row, rule).items()}
    if isinstance(mapped_cells["response"], (list, dict)):
        return None
    side = None if "side" not in mapped_cells else format_cell(mapped_cells["side"])
    rt = _convert_to_ms(mapped_cells.get("rt"), mapping)
    return build_response_record(
        rule.task,
        rule.prompt_name,
        format_cell(mapped_cells["response"]),
        parse_boolean(mapped_cells.get("correct")),
        rt=rt,
        side=side,
    )
