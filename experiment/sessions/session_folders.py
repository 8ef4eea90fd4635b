"""Sessions on disk, without a server: data/lists/<sha256>.json, and in data/<session> session.json, events.jsonl and
rejected_events.jsonl.
"""

import dataclasses
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from gardenpath import study
from gardenpath.study.events import create_event

from ..scripts.list_files import ListFile, parse_list_file
from .sessions import Event, RecordedSession, RejectedEvent, Session

log = logging.getLogger("gardenpath")

Parsed = TypeVar("Parsed")
REJECTED_EVENTS_FILE = "rejected_events.jsonl"  # beside the events, where some were set apart as they came


def write_recorded_session(folder: Path, recorded_session: RecordedSession, file: ListFile) -> None:
    """Write a session with its events and, once, the list it ran."""
    for name, text in format_session_files(recorded_session).items():
        study.files.write_text(folder / recorded_session.session.id / name, text)
    write_session(folder, recorded_session.session, file)


def write_session(folder: Path, session: Session, file: ListFile | None = None) -> None:
    """Write a session without its events, which may come later, and the list it runs where that is not there yet."""
    if file is not None and not (list_path := folder / "lists" / f"{file.sha256}.json").exists():
        study.files.write_text(list_path, file.text)
    events = folder / session.id / "events.jsonl"
    if not events.exists():
        study.files.write_text(events, "")
    study.files.write_text(folder / session.id / "session.json", format_session(session))


def format_session(session: Session) -> str:
    """Return the content of a session's session.json."""
    return json.dumps(dataclasses.asdict(session), indent=1) + "\n"


def format_session_files(recorded_session: RecordedSession) -> dict[str, str]:
    """Return the files of what a session left, by name: an event a line, and what was set apart where there is any."""
    entries_by_file: dict[str, Iterable[Event | RejectedEvent]] = {"events.jsonl": recorded_session.events}
    if recorded_session.rejected_events:
        entries_by_file[REJECTED_EVENTS_FILE] = recorded_session.rejected_events
    line = json.JSONEncoder(ensure_ascii=False).encode
    return {name: "".join(f"{line(vars(event))}\n" for event in events) for name, events in entries_by_file.items()}


def read_stored_list_files(folder: Path) -> dict[str, ListFile]:
    """Return the lists that sessions of this folder ran, by SHA-256."""
    paths = sorted((folder / "lists").glob("*.json"))
    faults = [
        f"{path}: its content does not have the SHA-256 of its name; it was changed after sessions ran it"
        for path in paths
        if study.files.hash_file(path) != path.stem
    ]
    if faults:
        raise study.DataError(faults)
    return {path.stem: parse_list_file(path.read_text("utf-8"), str(path)) for path in paths}


def read_sessions(folder: Path) -> list[Session]:
    """Return the sessions of a folder without their events, ordered by start."""
    if (folder / "versions").is_dir() and not (folder / "lists").is_dir():
        raise study.DataError(
            f"{folder}: versions/ is now lists/, and the files in it have other keys: these sessions ran with another release of "
            "gardenpath; collect them with that one"
        )
    paths = sorted(folder.glob("*/session.json"))
    for orphan in sorted({path.parent for path in folder.glob("*/events.jsonl")} - {path.parent for path in paths}):
        log.warning("%s: events without a session.json; this session is left out", orphan)
    sessions = [study.config.parse_dataclass(Session, study.files.read_json(path), where=str(path)) for path in paths]
    return sorted(sessions, key=lambda s: (s.started, s.id))


def read_recorded_sessions(folder: Path, sessions: Iterable[Session] | None = None) -> Iterator[RecordedSession]:
    """Yield the sessions of a folder, or these of them, ordered by start."""
    for session in read_sessions(folder) if sessions is None else sessions:
        path = folder / session.id / "events.jsonl"
        yield RecordedSession(
            session, tuple(_read_events(path)), tuple(_read_rejected_events(path.with_name(REJECTED_EVENTS_FILE)))
        )


def _read_events(path: Path) -> Iterator[Event]:
    raw = path.read_bytes()
    complete = drop_cut_line(raw)
    if len(complete) < len(raw):
        log.warning("%s: its last line was cut short by a crash and is left out", path)
    for number, line in enumerate(study.files.decode_text(complete, path).rstrip("\n").split("\n"), start=1):
        if line:  # of a session without events
            yield parse_event_line(line, path, number)


def _read_rejected_events(path: Path) -> Iterator[RejectedEvent]:
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.exists() else (), start=1):
        yield _parse_line(RejectedEvent, line, path, number)


def drop_cut_line(raw: bytes) -> bytes:
    """Return the lines of a file of events without a last one that a crash cut short.

    >>> drop_cut_line(b'{"seq": 0}\\n{"se')
    b'{"seq": 0}\\n'
    """
    head, newline, last = raw.rpartition(b"\n")
    try:
        json.loads(last)
    except ValueError:
        return head + newline
    return raw


def parse_event_line(line: str, path: Path, number: int) -> Event:
    """Return the event that a line holds; raises `study.DataError` naming the line where it holds none."""
    return _parse_line(create_event, line, path, number)


def _parse_line(build: Callable[..., Parsed], line: str, path: Path, number: int) -> Parsed:
    try:
        return build(**json.loads(line))
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise study.DataError(f"{path}, line {number}: not an event ({error}); expected one JSON object a line") from None
