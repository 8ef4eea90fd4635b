"""Who runs which version on a lab machine (data/places.json), so that versions stay balanced when people drop out or return."""

import contextlib
import dataclasses
import json
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from gardenpath import study

from ...server.assignment import Filled, choose
from ...session_folders import read_files, write_session
from ...sessions import Session, open_session
from ...versions import VersionFile

SCHEMA = 1
# An unfinished session holds its place for as long as this after its last event, as it does on the server.
LEASE = timedelta(minutes=60)
LONGEST = 200  # characters of a participant's label


@dataclass(frozen=True)
class Reservation:
    """A participant's place, the `slot`-th of a version. `left` is that of an unfinished session that a new one has replaced."""

    session: str
    participant: str
    version: str
    version_sha256: str
    slot: int
    started: str
    finished: str | None = None
    left: bool = False


@dataclass(frozen=True)
class Reservations:
    """What places.json holds."""

    schema: int
    places: tuple[Reservation, ...]


def check_folder(folder: Path, files: Sequence[VersionFile]) -> None:
    """Raise `study.DataError` where a folder holds what cannot stand beside sessions of these versions."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; expected a folder for the data (-o)")
    with _locked(folder):
        simulated = sum(session.source == "simulation" for session in _sessions(folder))
        reservations, shown, ours = _read(folder), read_files(folder), files[0].study
    ran = {reservation.version_sha256: reservation for reservation in reservations}
    faults = [
        f"{folder / 'versions' / sha256}.json, which participant {reservation.participant} ran, is missing; put it back, or give "
        "another folder (-o)"
        for sha256, reservation in ran.items()
        if sha256 not in shown
    ]
    for other in sorted({shown[sha256].study for sha256 in ran if sha256 in shown} - {ours}):
        faults.append(f"{folder} has sessions of the study {other!r}, not {ours!r}; give another folder (-o)")
    if simulated:
        faults.append(
            f"{folder} has {simulated} simulated sessions, which would be counted among the real ones; give another folder (-o)"
        )
    if faults:
        raise study.DataError(faults)


def check_label(participant: str) -> None:
    """Raise `ValueError` for what no participant is called by, or what looks like another's label and is not."""
    if not (0 < len(participant) <= LONGEST and participant.isprintable() and participant == participant.strip()):
        shown = participant if len(participant) <= 40 else f"{participant[:40]}... ({len(participant)} characters)"
        raise ValueError(
            f"participant is {shown!r}; expected a label of 1 to {LONGEST} printable characters without a space at its ends"
        )


def of_participant(folder: Path, participant: str) -> list[Reservation]:
    """Return the reservations that a participant has had, first to last."""
    check_label(participant)
    if not folder.is_dir():
        return []
    with _locked(folder):
        return [one for one in _read(folder) if one.participant == participant]


def reserve(
    folder: Path, files: Sequence[VersionFile], participant: str, *, now: datetime | None = None, first_slot: int = 0
) -> Session:
    """Return a new session of the version with the fewest finished and running ones; its place is taken from now on.

    Earlier unfinished sessions of the participant are left behind. Slots count from `first_slot`, so that machines that share
    no folder can show different orders.
    """
    check_label(participant)
    now = now or datetime.now(UTC)
    named = {file.name: file for file in files}
    with _locked(folder):
        reservations = _read(folder)
        earlier = [one for one in reservations if one.participant == participant]
        slots = {file.name: _open_slot(folder, file, reservations, earlier, now, first_slot) for file in files}
        names = sorted(name for name, slot in slots.items() if slot is not None)
        name = choose(names, _filled(folder, reservations, now), None, [one.version for one in earlier])
        if name is None or (slot := slots[name]) is None:
            raise ValueError(
                f"every list is taken or shows what {participant} has judged already; expected somebody else"
            )
        session = open_session(
            named[name],
            slot,
            id=f"s-{secrets.token_hex(8)}",
            participant=participant,
            started=now.isoformat(timespec="milliseconds"),
            source="lab",
        )
        session = replace(session, revision=_revision(reservations, named[name]))
        write_session(folder, session, named[name])
        left = [replace(one, left=one.left or one.finished is None) if one in earlier else one for one in reservations]
        _write(folder, [*left, _reservation(session)])
    return session


def finish(folder: Path, session: Session, *, now: datetime | None = None) -> None:
    """Write down that a session has reached its end."""
    finished = replace(session, finished=(now or datetime.now(UTC)).isoformat(timespec="milliseconds"))
    with _locked(folder):
        write_session(folder, finished)
        _write(folder, _read(folder))


def release(folder: Path, session: Session) -> None:
    """Delete a session to which there was no consent, and give its place back."""
    with _locked(folder):
        reservations = [one for one in _read(folder) if one.session != session.id]
        shutil.rmtree(folder / session.id)
        _write(folder, reservations)


@contextlib.contextmanager
def running(folder: Path, session: str) -> Iterator[None]:
    """Hold a session for this program alone; raises `ValueError` where it runs in another window."""
    with (folder / session / ".running").open("w") as file:
        if not _lock(file, wait=False):
            raise ValueError(f"{folder / session}: this session runs in another window; end it there first")
        yield


def _revision(reservations: Sequence[Reservation], file: VersionFile) -> int:
    """Number what the version has shown: 1, and one more for each change after somebody ran it."""
    ran = list(dict.fromkeys(one.version_sha256 for one in reservations if one.version == file.name))
    return ran.index(file.sha256) + 1 if file.sha256 in ran else len(ran) + 1


def _open_slot(
    folder: Path,
    file: VersionFile,
    reservations: Sequence[Reservation],
    earlier: Sequence[Reservation],
    now: datetime,
    first: int,
) -> int | None:
    """Return the slot that comes next in a version, or of its next list for who had `earlier` ones; None where all are taken."""
    ours = [one for one in reservations if one.version == file.name]
    used = [one.slot for one in ours]
    if not file.version.lists:
        return file.version.open_slot((), used, first=first)
    held = [one.slot for one in ours if one.version_sha256 == file.sha256 and _holds(folder, one, now)]
    shown = {file.sha256: file, **(read_files(folder) if earlier else {})}
    had = [shown[one.version_sha256].version for one in earlier]
    known = frozenset[str]().union(
        *(version.shown_of(version.order(one.slot)) for version, one in zip(had, earlier, strict=True))
    )
    return file.version.open_slot(held, used, known, first)


def _holds(folder: Path, reservation: Reservation, now: datetime) -> bool:
    """Whether a session keeps its place: it is finished, or runs."""
    return reservation.finished is not None or (not reservation.left and _seen(folder, reservation) > now - LEASE)


def _filled(folder: Path, reservations: Sequence[Reservation], now: datetime) -> dict[str, Filled]:
    filled: dict[str, Filled] = {}
    for reservation in reservations:
        before = filled.get(reservation.version, Filled())
        completed = reservation.finished is not None
        live = not completed and _holds(folder, reservation, now)
        filled[reservation.version] = replace(
            before,
            completed=before.completed + completed,
            live=before.live + live,
            dropped=before.dropped + (not completed and not live),
        )
    return filled


def _seen(folder: Path, reservation: Reservation) -> datetime:
    """When the last event of a session was written; its start where it has none."""
    events = folder / reservation.session / "events.jsonl"
    started = datetime.fromisoformat(reservation.started)
    if not events.exists() or events.stat().st_size == 0:
        return started
    return datetime.fromtimestamp(events.stat().st_mtime, UTC)


def _reservation(session: Session) -> Reservation:
    known = {field.name for field in dataclasses.fields(Reservation)}
    return Reservation(session.id, **{name: one for name, one in vars(session).items() if name in known})


def _read(folder: Path) -> list[Reservation]:
    """Return every reservation; a session's own file is believed before the list, which a crash may have left behind."""
    path = folder / "places.json"
    stored = (
        study.config.structure(Reservations, study.files.read_json(path), where=str(path))
        if path.exists()
        else Reservations(SCHEMA, ())
    )
    if stored.schema != SCHEMA:
        raise study.DataError(f"{path}: schema is {stored.schema}, expected {SCHEMA}; use another folder (-o)")
    reservations = {reservation.session: reservation for reservation in stored.places}
    for session in _sessions(folder):
        if session.source == "lab":
            before = reservations.get(session.id)
            reservations[session.id] = replace(_reservation(session), left=before.left if before else False)
    return sorted(reservations.values(), key=lambda reservation: reservation.started)


def _sessions(folder: Path) -> Iterator[Session]:
    for file in sorted(folder.glob("*/session.json")):
        yield study.config.structure(Session, study.files.read_json(file), where=str(file))


def _write(folder: Path, reservations: Sequence[Reservation]) -> None:
    text = json.dumps(dataclasses.asdict(Reservations(SCHEMA, tuple(reservations))), ensure_ascii=False, indent=1)
    study.files.write_text(folder / "places.json", text + "\n")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one program at a time read and write the reservations; the lock of one that dies is gone with it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".places.lock").open("w") as file:
        _lock(file, wait=True)
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str], *, wait: bool) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            if wait:
                raise
            return False
        return True

else:
    import fcntl

    def _lock(file: IO[str], *, wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
