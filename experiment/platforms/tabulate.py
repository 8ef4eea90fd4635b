"""Sessions become tables: words come from the items where these are known, and are held against the file's own."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import conditions_table, items_table, words_table
from gardenpath.stimuli.item_tables import replacements_table
from gardenpath.study.screens import Record

from ..event_tables import frame
from ..list_coverage import coverage, judged_in
from ..tasks import rows_of
from .agreement import Known
from .cell_values import as_number, names_person
from .imported import ImportedSession, ImportedTrial
from .materials import Shown
from .plausibility import check_counting, completed, say_odd_cells, say_repeated, say_unread, without_negative_times

log = logging.getLogger("gardenpath")

# What stands where the files and the mapping say nothing.
STANDARD = {"experiment": "E1", "version": "V1", "paradigm": "imported", "role": "target"}
# What a file may lack without its rows being of no use; said once a file.
OPTIONAL = {
    "readings": ("text", "rt", "rt_onset"),
    "responses": ("rt",),
    "sessions": ("slot", "started", "finished", "device", "refresh_hz"),
}
MOST_DIGITS = 4
Row = dict[str, Any]


def tabulate(
    sessions: Sequence[ImportedSession], shown: Shown | None, name: Callable[[str], str]
) -> dict[str, pd.DataFrame]:
    """Return the tables readings, responses and sessions, items, conditions and words where these are known, and
    demographics where there are any.

    `name` makes of a platform's id what is written. A trial whose item is not in the materials, or whose words in the file
    differ from the item's in text, or in number where the file does not number them, is left out of readings and responses and
    named on the log; the rest goes on.
    """
    _check_versions(sessions, shown)
    _check_cells(sessions)
    if shown is None and (nameless := next((s for s in sessions for t in s.trials if not t.item), None)):
        raise study.DataError(
            f"{nameless.where}: names sentences and no items; give the materials they are from (--materials)"
        )
    known = Known.of(shown)
    sessions = without_negative_times(sessions)
    check_counting(sessions, known.lengths())
    sessions = completed(sessions, len(known.items), name)
    say_repeated(sessions, name)
    say_odd_cells(sessions)
    rows = [(session, _rows(session, known, name)) for session in sessions]
    known.report(sum(len(session.trials) for session in sessions))
    _say_absent(rows)
    say_unread(((session.where, of["readings"]) for session, of in rows if session.counting), known.lengths())
    made: dict[str, pd.DataFrame] = {}
    if shown is not None:
        made["items"] = items_table(shown.materials)
        made["conditions"] = conditions_table(shown.materials)
        made["words"] = words_table(shown.materials)
        if len(replaced := replacements_table(shown.materials)):
            made["replacements"] = replaced
    else:
        log.info(
            "no materials are given: words are as the files have them, regions stay empty unless the mapping names them, and "
            "there are no tables items, conditions and words"
        )
    for table in ("readings", "responses", "sessions", "demographics"):
        table_rows = [row for _, of in rows for row in of[table]]
        if table_rows or table != "demographics":
            made[table] = frame(table, [({}, table_rows)], made.get("conditions"))
    if shown is not None:
        covered = coverage(shown.files.values(), judged_in(made["responses"], made["sessions"]))
        made |= {} if covered is None else {"coverage": covered}
    return made


def _check_versions(sessions: Iterable[ImportedSession], shown: Shown | None) -> None:
    """Raise `DataError` where sessions ran texts that are not those given, or different ones under one name."""
    ran: dict[str, set[str]] = defaultdict(set)
    faults = []
    for session in sessions:
        if session.version_sha256 is None:
            continue
        ran[session.version or "?"].add(session.version_sha256)
        if shown is not None and shown.files and session.version_sha256 not in shown.files:
            exported = ", ".join(f"{file.name} {sha[:12]}" for sha, file in shown.files.items())
            faults.append(
                f"{session.where}: ran {session.version} {session.version_sha256[:12]}; {shown.where} has {exported}: "
                "give the versions that were exported then"
            )
    for version, hashes in ran.items():
        if len(hashes) > 1 and not faults:
            faults.append(
                f"sessions ran {len(hashes)} different texts of {version} ({', '.join(sorted(h[:12] for h in hashes))}); "
                "collect each with its own versions (--materials)"
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
                if _is_rating(record) and as_number(record.answer) is None:
                    faults[f"{session.where}: a rating is {record.answer!r}, expected a number"] += 1
    if faults:
        raise study.DataError(f"{fault} ({n} times)" if n > 1 else fault for fault, n in faults.items())


def _is_rating(record: Record) -> bool:
    return record.task == "rating" and record.answer is not None


def _rows(session: ImportedSession, known: Known, name: Callable[[str], str]) -> dict[str, list[Row]]:
    person = {"participant": name(session.participant), "session": name(session.id)}
    place = {**person, **_version(session)}
    rows: dict[str, list[Row]] = {
        "readings": [],
        "responses": [],
        "sessions": [{**place, **_session(session)}],
        "demographics": [{**person, "field": f, "answer": a} for f, a in _about(session, name)],
    }
    for trial in map(known.placed, session.trials):
        if fault := known.fault(trial, numbered=session.counting is not None):
            known.leave_out(trial, fault)
            continue
        where, shown = {**place, **_place(trial, known)}, known.shown(trial)
        for record in map(_numeric, trial.records):
            for table, row in rows_of(known.judged(session, trial, record), shown):
                rows[table].append({**where, **row})
    return rows


def _about(session: ImportedSession, name: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield what a session says of its participant; ids that were typed are hashed; what was left empty has no row."""
    for asked, answer in session.demographics.items():
        if not answer.strip():
            continue
        # A short number may as well be an age.
        typed = answer == session.participant and len(answer) > MOST_DIGITS
        yield asked, name(answer) if typed or names_person(asked, answer) else answer


def _version(session: ImportedSession) -> dict[str, str]:
    """Return experiment and version; a version file's name, E1-V1, says both."""
    experiment, version = session.experiment, session.version
    if experiment is None and version is not None and "-" in version:
        experiment, version = version.split("-", 1)
    return {"experiment": experiment or STANDARD["experiment"], "version": version or STANDARD["version"]}


def _place(trial: ImportedTrial, known: Known) -> Row:
    item = known.items.get(trial.item)
    return {
        "trial": trial.position,
        "role": known.roles.get(trial.item) or trial.role or STANDARD["role"],
        "paradigm": item.paradigm if item else trial.paradigm or STANDARD["paradigm"],
        "item": trial.item,
    }


def _numeric(record: Record) -> Record:
    """Return a rating as the number that its file writes, 6 for 6.0; other records as they are."""
    if not _is_rating(record):
        return record
    number = float(str(record.answer))
    return replace(record, answer=int(number) if number.is_integer() else number)


def _session(session: ImportedSession) -> Row:
    return {
        "slot": session.slot,
        "started": session.started,
        "finished": session.finished,
        "complete": session.complete,
        "source": session.source,
        "revision": 1,
        "late": False,
        "excluded": None,
        "trials": len({trial.position for trial in session.trials}),
        "aborted": 0,
        "device": session.device,
        "refresh_hz": session.refresh_hz,
    }


def _say_absent(rows: Iterable[tuple[ImportedSession, dict[str, list[Row]]]]) -> None:
    """Say, once a file, which cells it leaves empty."""
    by_file: dict[str, dict[str, list[Row]]] = {}
    for session, of in rows:
        file_rows = by_file.setdefault(session.where, {table: [] for table in OPTIONAL})
        for table in OPTIONAL:
            file_rows[table] += of[table]
    alike: dict[str, list[str]] = defaultdict(list)
    for file, file_rows in by_file.items():
        absent = [
            f"{table}.{column}"
            for table, names in OPTIONAL.items()
            for column in names
            if file_rows[table] and all(row[column] is None for row in file_rows[table])
        ]
        if absent:
            alike[", ".join(absent)].append(file)
    for columns, files in alike.items():
        more = f" and {len(files) - 1} more files hold" if len(files) > 1 else " holds"
        log.info("%s%s no %s; these cells stay empty", files[0], more, columns)
