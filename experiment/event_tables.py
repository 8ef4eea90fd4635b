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
from gardenpath.stimuli import Item, Materials, Paradigm, Trial, conditions_table, items_table, words_table
from gardenpath.stimuli.item_tables import replacements_table
from gardenpath.study.formula_columns import accuracy_of, questions, usable_factors, with_formula_columns
from gardenpath.study.schemas import Column
from gardenpath.study.screens import Form

from .list_coverage import Judged, coverage, judged_in
from .records import record_of
from .script import Placed
from .sessions import Event, Session, SessionRecord, sifted, steps_of
from .tasks import ShownTrial, rows_of
from .versions import VersionFile

log = logging.getLogger("gardenpath")

MADE = ("readings", "responses", "sessions", "demographics")
Cells = Mapping[str, Any]  # by column
Rows = dict[str, list[tuple[Cells, list[dict[str, Any]]]]]  # by table: the cells that rows share, and those of each
DTYPES: Mapping[str, Any] = {"string": "string", "int": "Int64", "float": "float64", "bool": "boolean"}
PART = 20_000  # rows that are made into a frame at once: what a part takes in memory
Tables = dict[str, pd.DataFrame]


def tables_of(records: Sequence[SessionRecord], files: Mapping[str, VersionFile], *, where: str = "sessions") -> Tables:
    """Return the tables of sessions, as `collect` does; `files` holds the versions that they ran, by SHA-256."""
    check_versions(where, files, [record.session for record in records])
    return joined(parts_of(records, files, where=where))


def joined(parts: Iterable[Tables]) -> Tables:
    """Return whole tables from parts whose rows follow each other."""
    made: dict[str, list[pd.DataFrame]] = defaultdict(list)
    for part in parts:
        for name, rows in part.items():
            made[name].append(rows)
    return {name: pd.concat(rows, ignore_index=True) for name, rows in made.items()}


def parts_of(
    records: Iterable[SessionRecord], files: Mapping[str, VersionFile], *, where: str = "sessions"
) -> Iterator[Tables]:
    """Yield the tables of sessions in parts; the first has every table but demographics, those of sessions without a row.

    No record is kept, so that a study of any size takes the same memory. Responses wait in a temporary file, since each
    holds the accuracy of its participant in all sessions.
    """
    materials = materials_of(files.values())
    conditions = conditions_table(materials)
    replaced = replacements_table(materials)
    yield {
        "items": items_table(materials),
        "conditions": conditions,
        "words": words_table(materials),
        **({"replacements": replaced} if len(replaced) else {}),
        **{name: frame(name, [], conditions) for name in ("readings", "responses", "sessions")},
    }
    shown = {sha256: [ShownTrial.of(trial) for trial in file.version.trials] for sha256, file in files.items()}
    sessions: list[pd.DataFrame] = []
    tallies: list[pd.DataFrame] = []
    judged, ran = Judged(), dict[str, VersionFile]()
    made: list[Rows] = []
    read = waiting_rows = 0
    with TemporaryFile() as waiting:

        def part() -> Tables:
            try:
                frames = _frames(made)
            except study.DataError:
                made[:] = [rows for rows in made if _fits(rows)]
                frames = _frames(made)
            sessions.append(frames.pop("sessions"))
            judged.update(judged_in(frames["responses"], sessions[-1]))
            tallies.append(questions(frames["responses"]))
            pickle.dump(frames.pop("responses"), waiting)
            made.clear()
            return {name: table for name, table in frames.items() if len(table)}

        for record in records:
            sha256 = record.session.version_sha256
            ran[record.session.version] = files[sha256]
            if (rows := _made(record, files[sha256], shown[sha256])) is not None:
                made.append(rows)
                waiting_rows += sum(len(of) for table in ("readings", "responses") for _, of in rows[table])
            read += 1
            if waiting_rows >= PART:
                yield part()
                waiting_rows = 0
        yield part()
        recorded = pd.concat(sessions, ignore_index=True)
        if read and not len(recorded):
            raise study.DataError(f"{where}: no session can become tables; the warnings say why of each")
        accuracy = accuracy_of(tallies)
        conditions = usable_factors(conditions, say=False)
        waiting.seek(0)
        for _ in tallies:
            responses = with_formula_columns(pickle.load(waiting), conditions=conditions, accuracy=accuracy)
            yield {"responses": study.check(responses, "responses")}
    covered = coverage([*files.values(), *ran.values()], judged)
    yield {"sessions": study.check(recorded, "sessions"), **({} if covered is None else {"coverage": covered})}


def _made(record: SessionRecord, file: VersionFile, shown: Sequence[ShownTrial]) -> Rows | None:
    """Return a session's rows; one that has none, whatever a stranger sent, takes nobody else's with it."""
    try:
        return _rows_of(record, file, shown)
    except Exception as error:
        _set_aside(record.session.id, error)
        return None


def _fits(rows: Rows) -> bool:
    """Return whether a session's rows make tables by themselves; one whose rows do not is set aside."""
    try:
        _frames([rows])
    except study.DataError as error:
        _set_aside(rows["sessions"][0][0]["session"], error)
        return False
    return True


def _frames(sessions: Sequence[Rows]) -> Tables:
    """Return the tables of the sessions' rows, without what depends on other sessions."""
    return {name: frame(name, [rows for one in sessions for rows in one[name]]) for name in MADE}


def _set_aside(session: str, error: Exception) -> None:
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    log.warning("session %s is set aside: it cannot become tables (%s); please report this", session, what)


def _rows_of(record: SessionRecord, file: VersionFile, shown: Sequence[ShownTrial]) -> Rows:
    """Return a session's rows by table, of the events that its script knows; others are named on the log.

    `shown` is what the version's trials show.
    """
    sift, session, lost = sifted(record, file), record.session, _lost(record)
    if sift.apart:
        first = min(sift.apart)
        number = f"{len(sift.apart)} events are" if len(sift.apart) > 1 else "1 event is"
        log.warning("session %s: %s set apart; first number %d: %s", session.id, number, first, sift.apart[first])
    if session.finished is not None and lost:
        log.warning("session %s was finished, but %s; it counts as incomplete", session.id, lost)
    known = replace(record, events=sift.known)
    steps, starts = steps_of(session, file), _starts(known.events)
    rows: Rows = {name: [] for name in MADE}
    place = _session_place(session)
    for run in _runs(session.id, steps, starts):
        if run.placed.step.trial is None:
            rows["demographics"].append(_demographics(session, run))
        else:
            _add_trial(rows, place, file.version.trials, shown, run)
    complete = session.finished is not None and not lost
    rows["sessions"].append((place, [_session_row(known, steps, starts, complete=complete)]))
    return rows


def check_versions(data: str, files: Mapping[str, VersionFile], sessions: Iterable[Session]) -> None:
    """Raise `DataError` where a session's version is gone."""
    gone = Counter((s.version, s.version_sha256) for s in sessions if s.version_sha256 not in files)
    if gone:
        raise study.DataError(
            f"{data}: {count} session{'s' * (count > 1)} ran {version} ({sha256[:12]}...), whose file is missing; give the "
            "versions that were shown then"
            for (version, sha256), count in sorted(gone.items())
        )


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


def _runs(session: str, steps: Sequence[Placed], starts: Mapping[int, list[list[Event]]]) -> Iterator[_Run]:
    """Yield a session's steps in order; of one begun again after a reload only the last run counts."""
    for number, runs in sorted(starts.items()):
        *aborted, last = runs
        if aborted:
            log.info("session %s: step %d was begun again; its first run is left out", session, number)
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


def _session_place(session: Session) -> Cells:
    experiment, version = session.version.split("-", 1)
    return {"participant": session.participant, "session": session.id, "experiment": experiment, "version": version}


def _add_trial(rows: Rows, session: Cells, trials: Sequence[Trial], shown: Sequence[ShownTrial], run: _Run) -> None:
    """Add the rows of a trial to those of its tables; `session` are the cells that they share with its other trials."""
    step = run.placed.step
    assert step.trial is not None
    trial = trials[step.trial]
    place = {
        **session,
        "trial": run.placed.position,
        "role": trial.role,
        "paradigm": trial.item.paradigm,
        "item": trial.item.id,
    }
    flags = frozenset({"seen_before"} if run.seen_before else ())
    of_screen: dict[int | None, list[Event]] = defaultdict(list)
    for event in run.events:
        of_screen[event.screen].append(event)
    own: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for n, screen in enumerate(step.screens):
        if n in of_screen and screen.task != "page":
            for table, row in rows_of(record_of(screen, of_screen[n], flags=flags), shown[step.trial]):
                own[table].append(row)
    for table, of in own.items():
        rows[table].append((place, of))


def _demographics(session: Session, run: _Run) -> tuple[Cells, list[dict[str, Any]]]:
    """Return a row for each answer to the questions about the participant, and the cells that they share."""
    answers: dict[str, Any] = {}
    for n, screen in enumerate(run.placed.step.screens):
        if isinstance(screen, Form):
            record = record_of(screen, [event for event in run.events if event.screen == n])
            answers |= record.answer if isinstance(record.answer, Mapping) else {}
    who = {"participant": session.participant, "session": session.id}
    return who, [{"field": name, "answer": str(answer)} for name, answer in answers.items()]


def _lost(record: SessionRecord) -> str | None:
    """Return what a finished session lacks: events within it, or its end; None where all is there."""
    seqs = {event.seq for event in record.events} | {one.seq for one in record.apart}
    missing = sorted(set(range(max(seqs, default=-1) + 1)) - seqs)
    if missing:
        return f"{len(missing)} events are missing, first number {missing[0]}"
    return None if any(event.kind == "end" for event in record.events) else "its last events are missing"


def _session_row(
    record: SessionRecord, steps: Sequence[Placed], starts: Mapping[int, list[list[Event]]], *, complete: bool
) -> dict[str, Any]:
    session = record.session
    visit = next((event.value for event in record.events if event.kind == "visit"), {})
    trials = [runs for number, runs in starts.items() if steps[number].position is not None]
    return {
        "slot": session.slot,
        "started": session.started,
        "finished": session.finished,
        "complete": complete,
        "source": session.source,
        "revision": session.revision,
        "late": session.late,
        "excluded": session.excluded,
        "trials": len(trials),
        "aborted": sum(len(runs) - 1 for runs in trials),
        "device": visit.get("device"),
        "refresh_hz": visit.get("refresh_hz"),
    }


def frame(
    name: str, groups: Sequence[tuple[Cells, list[dict[str, Any]]]], conditions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return a checked table of rows, each group with the cells that it shares; that of responses with what formulas need."""
    groups = [(shared, rows) for shared, rows in groups if rows]
    times = [len(rows) for _, rows in groups]
    columns = study.TABLES[name].columns
    own = [column for column in columns if not groups or column.name not in groups[0][0]]
    cells = dict(zip(own, _cells([row for _, rows in groups for row in rows], own), strict=True))
    made = pd.DataFrame(
        {
            column.name: _typed(cells[column], column)
            if column in cells
            else _typed([shared[column.name] for shared, _ in groups], column).repeat(times)
            for column in columns
        }
    )
    return study.check(with_formula_columns(made, made, conditions) if name == "responses" else made, name)


def _cells(rows: Sequence[Cells], columns: Sequence[Column]) -> Iterable[Sequence[Any]]:
    """Return the cells of each column, None where a row has none."""
    names = [column.name for column in columns]
    cells = itemgetter(*names)
    try:
        return zip(*map(cells, rows), strict=True) if rows else [()] * len(names)
    except KeyError:  # rows of readings are whole; to fill them as well would take twice the time
        empty = dict.fromkeys(names)
        return zip(*(cells({**empty, **row}) for row in rows), strict=True)


def _typed(cells: Sequence[Any], column: Column) -> Any:
    """Return cells in their column's type, or as they are where they have another one, which the check then names."""
    try:
        return pd.array(cells, dtype=DTYPES[column.type])
    except (TypeError, ValueError, OverflowError):
        return pd.array(cells, dtype=object)
