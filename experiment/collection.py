"""Tables from events: one reader for sessions of the server, of the lab and of simulations."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import (
    GRAMMATICAL,
    UNGRAMMATICAL,
    Item,
    Materials,
    Paradigm,
    Trial,
    conditions_table,
    items_table,
    words_table,
)

from .quality import as_expected
from .sessions import Event, Record, Session
from .versions import VersionFile

log = logging.getLogger("gardenpath")


def tables_of(
    records: Sequence[Record], files: Mapping[str, VersionFile], *, where: str = "sessions"
) -> dict[str, pd.DataFrame]:
    """Return the tables of sessions, as `collect` does; `files` holds the versions that they ran, by SHA-256."""
    _check(where, files, records)
    materials = materials_of(files.values())
    runs = [(r.session, run) for r in records for run in _runs(r, files[r.session.version_sha256])]
    readings = [row for session, run in runs for row in _readings(session, run)]
    responses = [row for session, run in runs for row in _responses(session, run)]
    sessions = [_session_row(record) for record in records]
    demographics = [row for record in records for row in _demographics(record)]
    return {
        "items": items_table(materials),
        "conditions": conditions_table(materials),
        "words": words_table(materials),
        "readings": frame("readings", readings),
        "responses": frame("responses", responses),
        "sessions": frame("sessions", sessions),
        **({"demographics": frame("demographics", demographics)} if demographics else {}),
    }


def _check(data: str, files: Mapping[str, VersionFile], records: Sequence[Record]) -> None:
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
            log.warning("session %s was finished, but %s; it counts as not complete", record.session.id, what)


def materials_of(files: Iterable[VersionFile]) -> Materials:
    """Return every item that some version shows, targets and practice alike."""
    paradigms: dict[str, Paradigm] = {}
    items: dict[str, Item] = {}
    for file in files:
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
    """One trial as it was run to its end, or as far as it went: the events of its last start.

    `seen_before`: an earlier run, broken off by a reload, had shown some of it.
    """

    number: int
    trial: Trial
    events: tuple[Event, ...]
    seen_before: bool


def _runs(record: Record, file: VersionFile) -> Iterator[_Run]:
    """Yield a session's trials in order; of one begun again after a reload only the last run counts."""
    for number, runs in sorted(_starts(record.events).items()):
        *aborted, last = runs
        if aborted:
            log.info("session %s: trial %d was begun again; its first run is left out", record.session.id, number)
        seen = any(event.kind in ("start", "reading", "response") for run in aborted for event in run)
        yield _Run(number, file.version.trials[record.session.order[number]], tuple(last), seen)


def _starts(events: Iterable[Event]) -> dict[int, list[list[Event]]]:
    """Return the events of each trial, apart for each time that it was begun."""
    starts: dict[int, list[list[Event]]] = defaultdict(list)
    current: int | None = None
    for event in events:
        if event.kind == "trial" and event.trial is not None:
            current = event.trial
            starts[current].append([])
        if current is not None:
            starts[current][-1].append(event)
        if event.kind == "trial_end":
            current = None
    return starts


def _sitting(session: Session) -> dict[str, Any]:
    experiment, version = session.version.split("-", 1)
    return {"participant": session.participant, "session": session.id, "experiment": experiment, "version": version}


def _place(session: Session, run: _Run, condition: str) -> dict[str, Any]:
    return {
        **_sitting(session),
        "trial": run.number,
        "role": run.trial.role,
        "paradigm": run.trial.item.paradigm,
        "item": run.trial.item.id,
        "condition": condition,
    }


def _readings(session: Session, run: _Run) -> Iterator[dict[str, Any]]:
    words = {condition: sentence.words() for condition, sentence in run.trial.shown}
    again = {"seen_before"} if run.seen_before else set()
    before: Event | None = None
    flags: set[str] = set()
    for event in run.events:
        if event.kind == "interruption":
            flags.add("interrupted")
        if event.kind == "press":
            flags.add(event.value["reason"])
        if event.kind == "word" and before is not None:
            condition, _ = run.trial.shown[event.value.get("sentence", 0)]
            word = words[condition][event.value["word"]]
            frame = event.value["frame"]
            flags |= {"repeats"} if event.value.get("repeats") else set()
            yield {
                **_place(session, run, condition),
                "word": word.index,
                "text": word.text,
                "region": word.region,
                "rt": event.t - before.t,
                "rt_onset": None if frame is None else event.t - frame,
                "flags": " ".join(sorted(flags | again)),
            }
        if event.kind in ("start", "word"):
            before, flags = event, set()


def _responses(session: Session, run: _Run) -> Iterator[dict[str, Any]]:
    """Yield the answers, and the time of each text that was read at once as a response of the task `reading`."""
    for event in run.events:
        if event.kind not in ("response", "reading"):
            continue
        value = event.value
        shown = value["frame"] if value["frame"] is not None else value["request"]
        row = {"side": None, "correct": None, "rt": event.t - shown}
        if event.kind == "reading":
            nth = value.get("sentence", 0)
            pair = value["what"] == "sentence" and len(run.trial.shown) > 1
            condition = run.trial.shown[nth][0] if pair else run.trial.condition
            prompt = f"sentence {nth + 1}" if pair else value["what"]
            yield {
                **_place(session, run, condition),
                "task": "reading",
                "prompt": prompt,
                "response": "read",
                **row,
            }
        else:
            yield {
                **_place(session, run, run.trial.condition),
                **{key: value[key] for key in ("task", "prompt", "response")},
                **row,
                "side": value.get("side"),
                "correct": correct(run.trial, value),
            }


def correct(trial: Trial, value: Mapping[str, Any]) -> bool | None:
    """Return whether a response is right: as the question says, as the attention item expects, or the grammatical one."""
    if value["task"] == "question":
        return None if trial.answer() is None else bool(value["response"] == trial.answer())
    if trial.expected:
        return as_expected(trial, value["response"])
    if value["task"] == "choice" and {name for name, _ in trial.shown} == {GRAMMATICAL, UNGRAMMATICAL}:
        return bool(value["response"] == GRAMMATICAL)
    return None


def _demographics(record: Record) -> Iterator[dict[str, Any]]:
    """Yield the answers to the questions about the participant; of two fillings the last counts."""
    sitting = {"participant": record.session.participant, "session": record.session.id}
    answers: dict[str, Any] = {}
    for event in record.events:
        if event.kind == "demographics":
            answers = event.value["answers"]
    for name, answer in answers.items():
        yield {**sitting, "field": name, "answer": str(answer)}


def _lost(record: Record) -> str | None:
    """Return what a finished session lacks: events within it, or its end; None where all is there."""
    seqs = {event.seq for event in record.events}
    missing = sorted(set(range(max(seqs, default=-1) + 1)) - seqs)
    if missing:
        return f"{len(missing)} events are missing, first number {missing[0]}"
    return None if any(event.kind == "end" for event in record.events) else "its last events are missing"


def _session_row(record: Record) -> dict[str, Any]:
    session = record.session
    visit = next((event.value for event in record.events if event.kind == "visit"), {})
    starts = _starts(record.events)
    return {
        **_sitting(session),
        "slot": session.slot,
        "started": session.started,
        "finished": session.finished,
        "complete": session.finished is not None and not _lost(record),
        "source": session.source,
        "revision": session.revision,
        "late": session.late,
        "excluded": session.excluded,
        "trials": len(starts),
        "aborted": sum(len(runs) - 1 for runs in starts.values()),
        "device": visit.get("device"),
        "refresh_hz": visit.get("refresh_hz"),
    }


def frame(name: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a checked table of these rows."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for column, value in row.items():
            columns[column].append(value)
    return study.check(pd.DataFrame(columns, columns=study.TABLES[name].names), name)
