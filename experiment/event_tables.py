"""Tables from events: one reader for sessions of the server, of the lab and of simulations."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import Item, Materials, Paradigm, conditions_table, items_table, words_table
from gardenpath.study.formula_columns import with_formula_columns
from gardenpath.study.screens import Form

from .records import record_of
from .script import Placed
from .sessions import Event, Session, SessionRecord, sifted, steps_of
from .tasks import ShownTrial, rows_of
from .versions import VersionFile

log = logging.getLogger("gardenpath")

MADE = ("readings", "responses", "sessions", "demographics")
Rows = dict[str, list[dict[str, Any]]]  # by table


def tables_of(
    records: Sequence[SessionRecord], files: Mapping[str, VersionFile], *, where: str = "sessions"
) -> dict[str, pd.DataFrame]:
    """Return the tables of sessions, as `collect` does; `files` holds the versions that they ran, by SHA-256."""
    _check(where, files, records)
    materials = materials_of(files.values())
    conditions = conditions_table(materials)
    made = [rows for record in records if (rows := _made(record, files[record.session.version_sha256])) is not None]
    try:
        tables = _frames(made, conditions)
    except study.DataError:
        made = [rows for rows in made if _fits(rows, conditions)]
        tables = _frames(made, conditions)
    if records and not made:
        raise study.DataError(f"{where}: no session can become tables; the warnings say why of each")
    return {"items": items_table(materials), "conditions": conditions, "words": words_table(materials), **tables}


def _made(record: SessionRecord, file: VersionFile) -> Rows | None:
    """Return a session's rows; one that has none, whatever a stranger sent, takes nobody else's with it."""
    try:
        return _rows_of(record, file)
    except Exception as error:
        _set_aside(record.session.id, error)
        return None


def _fits(rows: Rows, conditions: pd.DataFrame) -> bool:
    """Return whether a session's rows make tables by themselves; one whose rows do not is set aside."""
    try:
        _frames([rows], conditions)
    except study.DataError as error:
        _set_aside(rows["sessions"][0]["session"], error)
        return False
    return True


def _set_aside(session: str, error: Exception) -> None:
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    log.warning("session %s is set aside: it cannot become tables (%s); please report this", session, what)


def _frames(sessions: Sequence[Rows], conditions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of the sessions' rows; demographics only where there are any."""
    rows = {name: [row for one in sessions for row in one[name]] for name in MADE}
    frames = {name: frame(name, of, conditions if name == "responses" else None) for name, of in rows.items()}
    return {name: table for name, table in frames.items() if name != "demographics" or len(table)}


def _rows_of(record: SessionRecord, file: VersionFile) -> Rows:
    """Return a session's rows by table, of the events that its script knows; others are named on the log."""
    sift, session = sifted(record, file), record.session
    if sift.apart:
        first = min(sift.apart)
        number = f"{len(sift.apart)} events are" if len(sift.apart) > 1 else "1 event is"
        log.warning("session %s: %s set apart; first number %d: %s", session.id, number, first, sift.apart[first])
    known = replace(record, events=sift.known)
    rows: Rows = {name: [] for name in MADE}
    for run in _runs(known, file):
        for table, row in _rows(session, file, run):
            rows[table].append(row)
    rows["sessions"].append(
        {**_session_row(known, file), "complete": session.finished is not None and not _lost(record)}
    )
    return rows


def _check(data: str, files: Mapping[str, VersionFile], records: Sequence[SessionRecord]) -> None:
    """Raise `DataError` where a session's version is gone, and say which finished sessions have lost events."""
    gone = Counter(
        (r.session.version, r.session.version_sha256) for r in records if r.session.version_sha256 not in files
    )
    if gone:
        raise study.DataError(
            f"{data}: {count} session{'s' * (count > 1)} ran {version} ({sha256[:12]}...), whose file is missing; give the "
            "versions that were shown then"
            for (version, sha256), count in sorted(gone.items())
        )
    for record in records:
        if record.session.finished is not None and (what := _lost(record)):
            log.warning("session %s was finished, but %s; it counts as incomplete", record.session.id, what)


def materials_of(files: Iterable[VersionFile]) -> Materials:
    """Return every item that some version shows, targets and practice alike, in the order of the versions' names."""
    paradigms: dict[str, Paradigm] = {}
    items: dict[str, Item] = {}
    for file in sorted(files, key=lambda file: file.name):
        for trial in file.version.trials:
            item = items.setdefault(trial.item.id, trial.item)
            if item != trial.item:
                log.warning("item %s differs between versions of the study; the tables show the first", item.id)
            paradigms.setdefault(item.paradigm, _paradigm(item, file))
    return Materials(tuple(paradigms.values()), tuple(items.values()))


def _paradigm(item: Item, file: VersionFile) -> Paradigm:
    declared = next((p for p in file.paradigms if p.id == item.paradigm), None)
    return declared or Paradigm(item.paradigm, item.paradigm, {"condition": tuple(item.sentences)})


@dataclass(frozen=True)
class _Run:
    """One step as it was run to its end, or as far as it went: the events of its last start.

    `seen_before`: an earlier run, broken off by a reload, had shown some of it.
    """

    placed: Placed
    events: tuple[Event, ...]
    seen_before: bool


def _runs(record: SessionRecord, file: VersionFile) -> Iterator[_Run]:
    """Yield a session's steps in order; of one begun again after a reload only the last run counts."""
    steps = steps_of(record.session, file)
    for number, runs in sorted(_starts(record.events).items()):
        *aborted, last = runs
        if aborted:
            log.info("session %s: step %d was begun again; its first run is left out", record.session.id, number)
        seen = any(event.kind in ("word", "outcome") for run in aborted for event in run)
        yield _Run(steps[number], tuple(last), seen)


def _starts(events: Iterable[Event]) -> dict[int, list[list[Event]]]:
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


def _session_place(session: Session) -> dict[str, Any]:
    experiment, version = session.version.split("-", 1)
    return {"participant": session.participant, "session": session.id, "experiment": experiment, "version": version}


def _rows(session: Session, file: VersionFile, run: _Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a step, with the table that each belongs to."""
    step = run.placed.step
    if step.trial is None:
        yield from _demographics(session, run)
        return
    trial = file.version.trials[step.trial]
    place = {
        **_session_place(session),
        "trial": run.placed.position,
        "role": trial.role,
        "paradigm": trial.item.paradigm,
        "item": trial.item.id,
    }
    shown = ShownTrial.of(trial)
    flags = frozenset({"seen_before"} if run.seen_before else ())
    for n, screen in enumerate(step.screens):
        events = [event for event in run.events if event.screen == n]
        if events and screen.task != "page":
            record = record_of(screen, events, flags=flags)
            for table, row in rows_of(record, shown):
                yield table, {**place, **row}


def _demographics(session: Session, run: _Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the answers to the questions about the participant."""
    for n, screen in enumerate(run.placed.step.screens):
        if isinstance(screen, Form):
            record = record_of(screen, [event for event in run.events if event.screen == n])
            answers = record.answer if isinstance(record.answer, Mapping) else {}
            who = {"participant": session.participant, "session": session.id}
            for name, answer in answers.items():
                yield "demographics", {**who, "field": name, "answer": str(answer)}


def _lost(record: SessionRecord) -> str | None:
    """Return what a finished session lacks: events within it, or its end; None where all is there."""
    seqs = {event.seq for event in record.events} | {one.seq for one in record.apart}
    missing = sorted(set(range(max(seqs, default=-1) + 1)) - seqs)
    if missing:
        return f"{len(missing)} events are missing, first number {missing[0]}"
    return None if any(event.kind == "end" for event in record.events) else "its last events are missing"


def _session_row(record: SessionRecord, file: VersionFile) -> dict[str, Any]:
    session = record.session
    visit = next((event.value for event in record.events if event.kind == "visit"), {})
    steps = steps_of(session, file)
    starts = [runs for number, runs in _starts(record.events).items() if steps[number].position is not None]
    return {
        **_session_place(session),
        "slot": session.slot,
        "started": session.started,
        "finished": session.finished,
        "source": session.source,
        "revision": session.revision,
        "late": session.late,
        "excluded": session.excluded,
        "trials": len(starts),
        "aborted": sum(len(runs) - 1 for runs in starts),
        "device": visit.get("device"),
        "refresh_hz": visit.get("refresh_hz"),
    }


def frame(name: str, rows: list[dict[str, Any]], conditions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return a checked table of these rows, that of responses with what formulas need."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for column, value in row.items():
            columns[column].append(value)
    made = pd.DataFrame(columns, columns=study.TABLES[name].names)
    return study.check(with_formula_columns(made, made, conditions) if name == "responses" else made, name)
