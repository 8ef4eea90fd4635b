"""Tables from events: one reader for sessions of the server, of the lab and of simulations."""

import logging
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from tempfile import TemporaryFile
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import Item, Materials, Paradigm, Trial, build_conditions_table, build_items_table, build_words_table
from gardenpath.stimuli.item_tables import build_replacements_table
from gardenpath.study.formula_columns import (
    add_formula_columns,
    compute_question_accuracy,
    count_question_responses,
    select_usable_factors,
)
from gardenpath.study.schemas import Column
from gardenpath.study.screens import Form

from ..scripts.list_files import ListFile
from ..scripts.script import TimelineStep
from ..tasks import ShownTrial, build_record_rows, escape_controls
from .judgment_counts import JudgmentCounts, compute_judgment_counts, count_judgments
from .plausibility import list_session_flags
from .records import build_record
from .sessions import Event, RecordedSession, Session, build_session_timeline, validate_session_events

log = logging.getLogger("gardenpath")

EVENT_TABLES = ("readings", "responses", "sessions", "demographics")
Cells = Mapping[str, Any]  # by column
Rows = dict[str, list[tuple[Cells, list[dict[str, Any]]]]]  # by table: the cells that rows share, and those of each
DTYPES: Mapping[str, Any] = {"string": "string", "int": "Int64", "float": "float64", "bool": "boolean"}
ROWS_PER_PART = 20_000  # rows that are made into a frame at once: what a part takes in memory
Tables = dict[str, pd.DataFrame]


def build_session_tables(
    recorded_sessions: Sequence[RecordedSession], files: Mapping[str, ListFile], *, where: str = "sessions"
) -> Tables:
    """Return the tables of sessions, as `collect` does; `files` holds the lists that they ran, by SHA-256."""
    check_list_files(where, files, [recorded_session.session for recorded_session in recorded_sessions])
    return concatenate_parts(build_table_parts(recorded_sessions, files, where=where))


def concatenate_parts(parts: Iterable[Tables]) -> Tables:
    """Return whole tables from parts whose rows follow each other."""
    frames_by_table: dict[str, list[pd.DataFrame]] = defaultdict(list)
    for part in parts:
        for name, rows in part.items():
            frames_by_table[name].append(rows)
    return {name: pd.concat(rows, ignore_index=True) for name, rows in frames_by_table.items()}


def build_table_parts(
    recorded_sessions: Iterable[RecordedSession], files: Mapping[str, ListFile], *, where: str = "sessions"
) -> Iterator[Tables]:
    """Yield the tables of sessions in parts; the first has every table but demographics, those of sessions without a row.

    No record is kept, so that a study of any size takes the same memory. Responses wait in a temporary file, since each
    holds the accuracy of its participant in all sessions.
    """
    materials = collect_materials(files.values())
    conditions = build_conditions_table(materials)
    replacements = build_replacements_table(materials)
    yield {
        "items": build_items_table(materials),
        "conditions": conditions,
        "words": build_words_table(materials),
        **({"replacements": replacements} if len(replacements) else {}),
        **{name: build_frame(name, [], conditions) for name in ("readings", "responses", "sessions")},
    }
    shown_trials = {sha256: [ShownTrial.from_trial(trial) for trial in file.trial_list.trials] for sha256, file in files.items()}
    sessions: list[pd.DataFrame] = []
    tallies: list[pd.DataFrame] = []
    judgment_counts, files_by_list = JudgmentCounts(), dict[str, ListFile]()
    session_rows: list[Rows] = []
    session_count = pending_rows = 0
    with TemporaryFile() as response_file:

        def build_part() -> Tables:
            try:
                frames = _build_frames(session_rows)
            except study.DataError:
                session_rows[:] = [rows for rows in session_rows if _can_build_frames(rows)]
                frames = _build_frames(session_rows)
            sessions.append(frames.pop("sessions"))
            judgment_counts.update(count_judgments(frames["responses"], sessions[-1]))
            tallies.append(count_question_responses(frames["responses"]))
            pickle.dump(frames.pop("responses"), response_file)
            session_rows.clear()
            return {name: table for name, table in frames.items() if len(table)}

        for recorded_session in recorded_sessions:
            sha256 = recorded_session.session.list_sha256
            files_by_list[recorded_session.session.list_name] = files[sha256]
            if (rows := _build_rows_or_skip(recorded_session, files[sha256], shown_trials[sha256])) is not None:
                session_rows.append(rows)
                pending_rows += sum(len(table_rows) for table in ("readings", "responses") for _, table_rows in rows[table])
            session_count += 1
            if pending_rows >= ROWS_PER_PART:
                yield build_part()
                pending_rows = 0
        yield build_part()
        session_table = pd.concat(sessions, ignore_index=True)
        if session_count and not len(session_table):
            raise study.DataError(f"{where}: no session can become tables; the warnings say why of each")
        accuracy = compute_question_accuracy(tallies)
        conditions = select_usable_factors(conditions, log_faults=False)
        response_file.seek(0)
        for _ in tallies:
            responses = add_formula_columns(pickle.load(response_file), conditions=conditions, accuracy=accuracy)
            yield {"responses": study.check(responses, "responses")}
    count_table = compute_judgment_counts([*files.values(), *files_by_list.values()], judgment_counts)
    yield {"sessions": study.check(session_table, "sessions"), **({} if count_table is None else {"judgment_counts": count_table})}


def _build_rows_or_skip(recorded_session: RecordedSession, file: ListFile, shown_trials: Sequence[ShownTrial]) -> Rows | None:
    """Return a session's rows; one that has none, whatever a stranger sent, takes nobody else's with it."""
    try:
        return _build_rows(recorded_session, file, shown_trials)
    except Exception as error:
        _log_unusable_session(recorded_session.session.id, error)
        return None


def _can_build_frames(rows: Rows) -> bool:
    """Return whether a session's rows make tables by themselves; one whose rows do not is set aside."""
    try:
        _build_frames([rows])
    except study.DataError as error:
        _log_unusable_session(rows["sessions"][0][0]["session"], error)
        return False
    return True


def _build_frames(sessions: Sequence[Rows]) -> Tables:
    """Return the tables of the sessions' rows, without what depends on other sessions."""
    return {name: build_frame(name, [rows for one in sessions for rows in one[name]]) for name in EVENT_TABLES}


def _log_unusable_session(session: str, error: Exception) -> None:
    message = f"{type(error).__name__}: {error}".partition("\n")[0]
    log.warning("session %s is set aside: it cannot become tables (%s); please report this", session, message)


def _build_rows(recorded_session: RecordedSession, file: ListFile, shown_trials: Sequence[ShownTrial]) -> Rows:
    """Return a session's rows by table, of the events that its script knows; others are named on the log.

    `shown_trials` is what the list's trials show.
    """
    validated, session, loss = (
        validate_session_events(recorded_session, file),
        recorded_session.session,
        _describe_lost_events(recorded_session),
    )
    if validated.rejection_reasons:
        first = min(validated.rejection_reasons)
        number = f"{len(validated.rejection_reasons)} events are" if len(validated.rejection_reasons) > 1 else "1 event is"
        log.warning("session %s: %s set apart; first number %d: %s", session.id, number, first, validated.rejection_reasons[first])
    if session.finished is not None and loss:
        log.warning("session %s was finished, but %s; it counts as incomplete", session.id, loss)
    valid_session = replace(recorded_session, events=validated.valid_events)
    steps, starts = build_session_timeline(session, file), _group_events_by_start(valid_session.events)
    rows: Rows = {name: [] for name in EVENT_TABLES}
    session_cells = _build_session_cells(session)
    for run in _list_step_runs(session.id, steps, starts):
        if run.timeline_step.step.trial is None:
            rows["demographics"].append(_build_demographics_rows(session, run))
        else:
            _add_trial_rows(rows, session_cells, file.trial_list.trials, shown_trials, run)
    complete = session.finished is not None and not loss
    rows["sessions"].append((session_cells, [_build_session_row(valid_session, steps, starts, complete=complete)]))
    return rows


def check_list_files(data: str, files: Mapping[str, ListFile], sessions: Iterable[Session]) -> None:
    """Raise `DataError` where a session's list is gone."""
    missing = Counter((s.list_name, s.list_sha256) for s in sessions if s.list_sha256 not in files)
    if missing:
        raise study.DataError(
            f"{data}: {count} session{'s' * (count > 1)} ran {list_name} ({sha256[:12]}...), whose file is missing; give the "
            "lists that were shown then"
            for (list_name, sha256), count in sorted(missing.items())
        )


def collect_materials(files: Iterable[ListFile]) -> Materials:
    """Return every item that some list shows, targets and practice alike, in the order of the lists' names."""
    paradigms: dict[str, Paradigm] = {}
    items: dict[str, Item] = {}
    for file in sorted(files, key=lambda file: file.name):
        for trial in file.trial_list.trials:
            item = items.setdefault(trial.item.id, trial.item)
            if item != trial.item:
                log.warning("item %s differs between lists of the study; the tables show the first", item.id)
            paradigms.setdefault(item.paradigm, _find_paradigm(item, file))
    return Materials(tuple(paradigms.values()), tuple(items.values()))


def _find_paradigm(item: Item, file: ListFile) -> Paradigm:
    declared = next((p for p in file.paradigms if p.id == item.paradigm), None)
    return declared or Paradigm(item.paradigm, item.paradigm, {"condition": tuple(item.sentences)})


@dataclass(frozen=True)
class _StepRun:
    """One step as it was run to its end, or as far as it went: the events of its last start.

    `was_seen_before`: an earlier run, broken off by a reload, had shown some of it.
    """

    timeline_step: TimelineStep
    events: tuple[Event, ...]
    was_seen_before: bool


def _list_step_runs(session: str, steps: Sequence[TimelineStep], starts: Mapping[int, list[list[Event]]]) -> Iterator[_StepRun]:
    """Yield a session's steps in order; of one begun again after a reload only the last run counts."""
    for number, runs in sorted(starts.items()):
        *aborted, last = runs
        if aborted:
            log.info("session %s: step %d was begun again; its first run is left out", session, number)
        was_seen = any(event.kind in ("word", "outcome") for run in aborted for event in run)
        yield _StepRun(steps[number], tuple(last), was_seen)


def _group_events_by_start(events: Iterable[Event]) -> dict[int, list[list[Event]]]:
    """Return the events of each step, apart for each time that it was begun."""
    starts: dict[int, list[list[Event]]] = defaultdict(list)
    for event in events:
        if event.step is None:
            continue
        if event.kind == "begin":
            starts[event.step].append([])
        if event.step in starts:
            starts[event.step][-1].append(event)
    return starts


def _build_session_cells(session: Session) -> Cells:
    experiment, list_name = session.list_name.split("-", 1)
    return {"participant": session.participant, "session": session.id, "experiment": experiment, "list": list_name}


def _add_trial_rows(
    rows: Rows, session_cells: Cells, trials: Sequence[Trial], shown_trials: Sequence[ShownTrial], run: _StepRun
) -> None:
    """Add the rows of a trial to those of its tables; `session_cells` are the cells that they share with its other trials."""
    step = run.timeline_step.step
    assert step.trial is not None
    trial = trials[step.trial]
    trial_cells = {
        **session_cells,
        "trial": run.timeline_step.position,
        "role": trial.role,
        "paradigm": trial.item.paradigm,
        "item": trial.item.id,
    }
    flags = frozenset({"seen_before"} if run.was_seen_before else ())
    events_by_screen: dict[int | None, list[Event]] = defaultdict(list)
    for event in run.events:
        events_by_screen[event.screen].append(event)
    rows_by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for n, screen in enumerate(step.screens):
        if n in events_by_screen and screen.task != "page":
            for table, row in build_record_rows(build_record(screen, events_by_screen[n], flags=flags), shown_trials[step.trial]):
                rows_by_table[table].append({**row})
    for name, table_rows in rows_by_table.items():
        rows[name].append((trial_cells, table_rows))


def _build_demographics_rows(session: Session, run: _StepRun) -> tuple[Cells, list[dict[str, Any]]]:
    """Return a row for each answer to the questions about the participant, and the cells that they share."""
    answers: dict[str, Any] = {}
    for n, screen in enumerate(run.timeline_step.step.screens):
        if isinstance(screen, Form):
            record = build_record(screen, [event for event in run.events if event.screen == n])
            answers |= record.answer if isinstance(record.answer, Mapping) else {}
    session_cells = {"participant": session.participant, "session": session.id}
    return session_cells, [{"question": name, "response": escape_controls(str(answer))} for name, answer in answers.items()]


def _describe_lost_events(recorded_session: RecordedSession) -> str | None:
    """Return what a finished session lacks: events within it, or its end; None where all is there."""
    seqs = {event.seq for event in recorded_session.events} | {one.seq for one in recorded_session.rejected_events}
    missing = sorted(set(range(max(seqs, default=-1) + 1)) - seqs)
    if missing:
        return f"{len(missing)} events are missing, first number {missing[0]}"
    return None if any(event.kind == "end" for event in recorded_session.events) else "its last events are missing"


def _build_session_row(
    recorded_session: RecordedSession, steps: Sequence[TimelineStep], starts: Mapping[int, list[list[Event]]], *, complete: bool
) -> dict[str, Any]:
    session = recorded_session.session
    visit = next((event.value for event in recorded_session.events if event.kind == "visit"), None)
    trials = [runs for number, runs in starts.items() if steps[number].position is not None]
    return {
        "slot": session.slot,
        "started": session.started,
        "finished": session.finished,
        "complete": complete,
        "source": session.source,
        "revision": session.revision,
        "lease_expired": session.lease_expired,
        "exclusion_reason": session.exclusion_reason,
        "n_trials": len(trials),
        "n_aborted_trials": sum(len(runs) - 1 for runs in trials),
        "device": visit and visit["device"],
        "refresh_hz": visit and visit["refresh_hz"],
        "session_flags": " ".join(list_session_flags(steps, recorded_session.events)),
    }


def build_frame(
    name: str, groups: Sequence[tuple[Cells, list[dict[str, Any]]]], conditions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return a checked table of rows, each group with the cells that it shares; that of responses with what formulas need."""
    groups = [(shared, rows) for shared, rows in groups if rows]
    times = [len(rows) for _, rows in groups]
    columns = study.TABLES[name].columns
    own_columns = [column for column in columns if not groups or column.name not in groups[0][0]]
    cells = dict(zip(own_columns, _list_column_cells([row for _, rows in groups for row in rows], own_columns), strict=True))
    table = pd.DataFrame(
        {
            column.name: _convert_cells(cells[column], column)
            if column in cells
            else _convert_cells([shared[column.name] for shared, _ in groups], column).repeat(times)
            for column in columns
        }
    )
    return study.check(add_formula_columns(table, table, conditions) if name == "responses" else table, name)


def _list_column_cells(rows: Sequence[Cells], columns: Sequence[Column]) -> Iterable[Sequence[Any]]:
    """Return the cells of each column, None where a row has none."""
    names = [column.name for column in columns]
    cells = itemgetter(*names)
    try:
        return zip(*map(cells, rows), strict=True) if rows else [()] * len(names)
    except KeyError:  # rows of readings are whole; to fill them as well would take twice the time
        empty = dict.fromkeys(names)
        return zip(*(cells({**empty, **row}) for row in rows), strict=True)


def _convert_cells(cells: Sequence[Any], column: Column) -> Any:
    """Return cells in their column's type, or as they are where they have another one, which the check then names."""
    try:
        return pd.array(cells, dtype=DTYPES[column.type])
    except (TypeError, ValueError, OverflowError):
        return pd.array(cells, dtype=object)
