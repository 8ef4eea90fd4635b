"""Sessions on disk, without a server: data/versions/<sha256>.json and data/<session>/{session.json,events.jsonl,apart.jsonl}."""

import dataclasses
import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from gardenpath import study

from .sessions import Apart, Event, Session, SessionRecord
from .versions import VersionFile, parse_version

log = logging.getLogger("gardenpath")

Kind = TypeVar("Kind", Event, Apart)
APART = "apart.jsonl"  # beside the events, where some were set apart as they came


def write_record(folder: Path, record: SessionRecord, file: VersionFile) -> None:
    """Write a session with its events and, once, the version it ran."""
    for name, text in record_texts(record).items():
        study.files.write_text(folder / record.session.id / name, text)
    write_session(folder, record.session, file)


def write_session(folder: Path, session: Session, file: VersionFile | None = None) -> None:
    """Write a session without its events, which may come later, and the version it runs where that is not there yet."""
    if file is not None and not (version := folder / "versions" / f"{file.sha256}.json").exists():
        study.files.write_text(version, file.text)
    events = folder / session.id / "events.jsonl"
    if not events.exists():
        study.files.write_text(events, "")
    study.files.write_text(folder / session.id / "session.json", session_text(session))


def session_text(session: Session) -> str:
    """Return the content of a session's session.json."""
    return json.dumps(dataclasses.asdict(session), indent=1) + "\n"


def record_texts(record: SessionRecord) -> dict[str, str]:
    """Return the files of what a session left, by name: an event a line, and what was set apart where there is any."""
    left: dict[str, Iterable[Event | Apart]] = {"events.jsonl": record.events}
    if record.apart:
        left[APART] = record.apart
    line = json.JSONEncoder(ensure_ascii=False).encode
    return {name: "".join(f"{line(vars(event))}\n" for event in events) for name, events in left.items()}


def read_files(folder: Path) -> dict[str, VersionFile]:
    """Return the versions that sessions of this folder ran, by SHA-256."""
    paths = sorted((folder / "versions").glob("*.json"))
    faults = [
        f"{path}: its content does not have the SHA-256 of its name; it was changed after sessions ran it"
        for path in paths
        if study.files.sha256(path) != path.stem
    ]
    if faults:
        raise study.DataError(faults)
    return {path.stem: parse_version(path.read_text("utf-8"), str(path)) for path in paths}


def read_sessions(folder: Path) -> list[Session]:
    """Return the sessions of a folder without their events, ordered by start."""
    paths = sorted(folder.glob("*/session.json"))
    for orphan in sorted({path.parent for path in folder.glob("*/events.jsonl")} - {path.parent for path in paths}):
        log.warning("%s: events without a session.json; this session is left out", orphan)
    sessions = [study.config.structure(Session, study.files.read_json(path), where=str(path)) for path in paths]
    return sorted(sessions, key=lambda s: (s.started, s.id))


def read_records(folder: Path, sessions: Iterable[Session] | None = None) -> Iterator[SessionRecord]:
    """Yield the sessions of a folder, or these of them, ordered by start."""
    for session in read_sessions(folder) if sessions is None else sessions:
        path = folder / session.id / "events.jsonl"
        yield SessionRecord(session, tuple(_events(path)), tuple(_apart(path.with_name(APART))))


def _events(path: Path) -> Iterator[Event]:
    raw = path.read_bytes()
    whole = whole_lines(raw)
    if len(whole) < len(raw):
        log.warning("%s: its last line was cut short by a crash and is left out", path)
    for number, line in enumerate(study.files.decode(whole, path).rstrip("\n").split("\n"), start=1):
        if line:  # of a session without events
            yield parse_event(line, path, number)


def _apart(path: Path) -> Iterator[Apart]:
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.exists() else (), start=1):
        yield _parsed(Apart, line, path, number)


def whole_lines(raw: bytes) -> bytes:
    """Return the lines of a file of events without a last one that a crash cut short.

    >>> whole_lines(b'{"seq": 0}\\n{"se')
    b'{"seq": 0}\\n'
    """
    head, newline, last = raw.rpartition(b"\n")
    try:
        json.loads(last)
    except ValueError:
        return head + newline
    return raw


def parse_event(line: str, path: Path, number: int) -> Event:
    """Return the event that a line holds; raises `study.DataError` naming the line where it holds none."""
    return _parsed(Event, line, path, number)


def _parsed(kind: type[Kind], line: str, path: Path, number: int) -> Kind:
    try:
        return kind(**json.loads(line))
    except (json.JSONDecodeError, TypeError) as error:
        raise study.DataError(
            f"{path}, line {number}: not an event ({error}); expected one JSON object a line"
        ) from None
