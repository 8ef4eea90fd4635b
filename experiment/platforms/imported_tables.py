"""Sessions become tables: words come from the items where these are known, and are held against the file's own."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import build_conditions_table, build_items_table, build_words_table
from gardenpath.stimuli.item_tables import build_replacements_table
from gardenpath.study.events import Record
from gardenpath.study.responses import RATING_TASKS, parse_rating

from ..sessions.event_tables import build_frame
from ..sessions.judgment_counts import compute_judgment_counts, count_judgments
from ..tasks import build_record_rows
from .cell_values import is_identifying, parse_number
from .imported_sessions import ImportedSession, ImportedTrial
from .materials_agreement import MaterialsAgreement
from .plausibility import (
    check_word_numbering,
    infer_completeness,
    log_odd_cells,
    log_repeated_items,
    log_unread_words,
    remove_negative_times,
)
from .shown_materials import ShownMaterials

log = logging.getLogger("gardenpath")

# What stands where the files and the mapping say nothing.
DEFAULT_VALUES = {"experiment": "E1", "list": "L1", "paradigm": "imported", "role": "target"}
# What a file may lack without its rows being of no use; said once a file.
OPTIONAL_COLUMNS = {
    "readings": ("text", "rt", "rt_onset"),
    "responses": ("rt",),
    "sessions": ("slot", "started", "finished", "device", "refresh_hz"),
}
MAX_AGE_LENGTH = 4
Row = dict[str, Any]


def build_tables(
    sessions: Sequence[ImportedSession], shown_materials: ShownMaterials | None, pseudonymise: Callable[[str], str]
) -> dict[str, pd.DataFrame]:
    """Return the tables readings, responses and sessions, items, conditions and words where these are known, and
    demographics where there are any.

    `pseudonymise` makes of a platform's id what is written. A trial whose item is not in the materials, or whose words in the file
    differ from the item's in text, or in number where the file does not number them, is left out of readings and responses and
    named on the log; the rest goes on.
    """
    _check_trial_lists(sessions, shown_materials)
    _check_cells(sessions)
    sessions = _leave_out_refused_numbers(sessions)
    if shown_materials is None and (nameless := next((s for s in sessions for t in s.trials if not t.item), None)):
        raise study.DataError(f"{nameless.where}: names sentences and no items; give the materials they are from (--materials)")
    agreement = MaterialsAgreement.from_shown_materials(shown_materials)
    sessions = agreement.resolve_word_numbering(remove_negative_times(sessions))
    check_word_numbering(sessions, agreement.count_sentence_words())
    sessions = infer_completeness(sessions, len(agreement.items), pseudonymise)
    log_repeated_items(sessions, pseudonymise)
    log_odd_cells(sessions)
    rows = [(session, _build_rows(session, agreement, pseudonymise)) for session in sessions]
    agreement.report_left_out(sum(len(session.trials) for session in sessions))
    _log_absent_columns(rows)
    log_unread_words(
        ((session.where, session_tables["readings"]) for session, session_tables in rows if session.word_numbering),
        agreement.count_sentence_words(),
    )
    tables: dict[str, pd.DataFrame] = {}
    if shown_materials is not None:
        tables["items"] = build_items_table(shown_materials.materials)
        tables["conditions"] = build_conditions_table(shown_materials.materials)
        tables["words"] = build_words_table(shown_materials.materials)
        if len(replacements := build_replacements_table(shown_materials.materials)):
            tables["replacements"] = replacements
    else:
        log.info(
            "no materials are given: words are as the files have them, regions stay empty unless the mapping names them, and "
            "there are no tables items, conditions and words"
        )
    for table in ("readings", "responses", "sessions", "demographics"):
        table_rows = [row for _, session_tables in rows for row in session_tables[table]]
        if table_rows or table != "demographics":
            tables[table] = build_frame(table, [({}, table_rows)], tables.get("conditions"))
    if shown_materials is not None:
        judgment_table = compute_judgment_counts(
            shown_materials.files.values(), count_judgments(tables["responses"], tables["sessions"])
        )
        tables |= {} if judgment_table is None else {"judgment_counts": judgment_table}
    return tables


def _check_trial_lists(sessions: Iterable[ImportedSession], shown_materials: ShownMaterials | None) -> None:
    """Raise `DataError` where sessions ran texts that are not those given, or different ones under one name."""
    hashes_by_list: dict[str, set[str]] = defaultdict(set)
    faults = []
    for session in sessions:
        if session.list_sha256 is None:
            continue
        hashes_by_list[session.list_name or "?"].add(session.list_sha256)
        if shown_materials is not None and shown_materials.files and session.list_sha256 not in shown_materials.files:
            exported = ", ".join(f"{file.name} {sha[:12]}" for sha, file in shown_materials.files.items())
            faults.append(
                f"{session.where}: ran {session.list_name} {session.list_sha256[:12]}; {shown_materials.where} has {exported}: "
                "give the lists that were exported then"
            )
    for trial_list, hashes in hashes_by_list.items():
        if len(hashes) > 1 and not faults:
            faults.append(
                f"sessions ran {len(hashes)} different texts of {trial_list} ({', '.join(sorted(h[:12] for h in hashes))}); "
                "collect each with its own lists (--materials)"
            )
    if faults:
        raise study.DataError(dict.fromkeys(faults))


def _check_cells(sessions: Iterable[ImportedSession]) -> None:
    """Raise `DataError` for roles that are none of ours, times that cannot be read and ratings that are no numbers."""
    faults: Counter[str] = Counter()
    for session in sessions:
        for name, time in (("started", session.started), ("finished", session.finished)):
            if time is not None and pd.isna(pd.to_datetime(time, utc=True, format="ISO8601", errors="coerce")):
                faults[
                    f"{session.where}: {name} is {time!r}, expected an ISO 8601 time such as 2026-03-01T12:30:05Z; correct it "
                    "(in the file, or by [[repairs]]), or leave the column out of the mapping"
                ] += 1
        for trial in session.trials:
            if trial.role not in (None, *study.config.ROLES):
                faults[f"{session.where}: role is {trial.role!r}, expected one of {', '.join(study.config.ROLES)}"] += 1
            for record in trial.records:
                if _is_rating(record) and RATING_TASKS[record.task] == "none" and parse_number(record.answer) is None:
                    faults[f"{session.where}: a rating is {record.answer!r}, expected a number"] += 1
    if faults:
        raise study.DataError(f"{fault} ({n} times)" if n > 1 else fault for fault, n in faults.items())


def _is_rating(record: Record) -> bool:
    return record.task in RATING_TASKS and record.answer is not None


def _leave_out_refused_numbers(sessions: Sequence[ImportedSession]) -> Sequence[ImportedSession]:
    """Return sessions without typed answers that are no number above 0, which our own page refuses, and name these on the log."""
    refused: dict[tuple[str, str], list[str]] = defaultdict(list)
    for session in sessions:
        for record in (record for trial in session.trials for record in trial.records if _is_refused(record)):
            refused[session.where, record.name].append(str(record.answer))
    for (where, name), answers in refused.items():
        numbers = f"{len(answers)} answers" if len(answers) > 1 else "1 answer"
        log.warning("%s: %s to %s, first %r, expected a number above 0; left out", where, numbers, name, answers[0])
    return [replace(one, trials=tuple(map(_leave_out_refused, one.trials))) for one in sessions] if refused else sessions


def _leave_out_refused(trial: ImportedTrial) -> ImportedTrial:
    return replace(trial, records=tuple(record for record in trial.records if not _is_refused(record)))


def _is_refused(record: Record) -> bool:
    return _is_rating(record) and parse_rating(record.task, record.answer) is None


def _build_rows(
    session: ImportedSession, agreement: MaterialsAgreement, pseudonymise: Callable[[str], str]
) -> dict[str, list[Row]]:
    participant_cells = {"participant": pseudonymise(session.participant), "session": pseudonymise(session.id)}
    session_cells = {**participant_cells, **_find_experiment_and_list(session)}
    rows: dict[str, list[Row]] = {
        "readings": [],
        "responses": [],
        "sessions": [{**session_cells, **_build_session_cells(session)}],
        "demographics": [{**participant_cells, "question": f, "response": a} for f, a in _list_demographics(session, pseudonymise)],
    }
    for trial in map(agreement.locate_trial, session.trials):
        if fault := agreement.find_fault(trial, has_word_numbers=session.word_numbering is not None):
            agreement.leave_out(trial, fault)
            continue
        trial_cells, shown_trial = ({**session_cells, **_build_trial_cells(trial, agreement)}, agreement.build_shown_trial(trial))
        for record in map(_convert_rating, trial.records):
            for table, row in build_record_rows(agreement.judge_record(session, trial, record), shown_trial):
                rows[table].append({**trial_cells, **row})
    return rows


def _list_demographics(session: ImportedSession, pseudonymise: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield what a session says of its participant; ids that were typed are hashed; what was left empty has no row."""
    for question, answer in session.demographics.items():
        if not answer.strip():
            continue
        # A short number may as well be an age.
        is_typed_id = answer == session.participant and len(answer) > MAX_AGE_LENGTH
        yield question, pseudonymise(answer) if is_typed_id or is_identifying(question, answer) else answer


def _find_experiment_and_list(session: ImportedSession) -> dict[str, str]:
    """Return experiment and list; a list file's name, E1-L1, says both."""
    experiment, list_name = session.experiment, session.list_name
    if experiment is None and list_name is not None and "-" in list_name:
        experiment, list_name = list_name.split("-", 1)
    return {"experiment": experiment or DEFAULT_VALUES["experiment"], "list": list_name or DEFAULT_VALUES["list"]}


def _build_trial_cells(trial: ImportedTrial, agreement: MaterialsAgreement) -> Row:
    item = agreement.items.get(trial.item)
    return {
        "trial": trial.position,
        "role": agreement.roles.get(trial.item) or trial.role or DEFAULT_VALUES["role"],
        "paradigm": item.paradigm if item else trial.paradigm or DEFAULT_VALUES["paradigm"],
        "item": trial.item,
    }


def _convert_rating(record: Record) -> Record:
    """Return a rating as the number that its file writes, 6 for 6.0; other records as they are."""
    if not _is_rating(record):
        return record
    number = float(str(record.answer))
    return replace(record, answer=int(number) if number.is_integer() else number)


def _build_session_cells(session: ImportedSession) -> Row:
    return {
        "slot": session.slot,
        "started": session.started,
        "finished": session.finished,
        "complete": session.complete,
        "source": session.source,
        "revision": 1,
        "lease_expired": False,
        "exclusion_reason": None,
        "n_trials": len({trial.position for trial in session.trials}),
        "n_aborted_trials": 0,
        "device": session.device,
        "refresh_hz": session.refresh_hz,
    }


def _log_absent_columns(rows: Iterable[tuple[ImportedSession, dict[str, list[Row]]]]) -> None:
    """Say, once a file, which cells it leaves empty."""
    by_file: dict[str, dict[str, list[Row]]] = {}
    for session, session_tables in rows:
        file_rows = by_file.setdefault(session.where, {table: [] for table in OPTIONAL_COLUMNS})
        for table in OPTIONAL_COLUMNS:
            file_rows[table] += session_tables[table]
    files_by_columns: dict[str, list[str]] = defaultdict(list)
    for file, file_rows in by_file.items():
        absent = [
            f"{table}.{column}"
            for table, names in OPTIONAL_COLUMNS.items()
            for column in names
            if file_rows[table] and all(row[column] is None for row in file_rows[table])
        ]
        if absent:
            files_by_columns[", ".join(absent)].append(file)
    for columns, files in files_by_columns.items():
        more = f" and {len(files) - 1} more files hold" if len(files) > 1 else " holds"
        log.info("%s%s no %s; these cells stay empty", files[0], more, columns)
