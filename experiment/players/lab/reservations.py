"""Who runs which list on a lab machine (data/reservations.json): lists stay balanced when people drop out or return."""

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

from ...scripts.list_files import ListFile
from ...sessions.assignment import SlotCounts, choose_list
from ...sessions.session_folders import read_stored_list_files, write_session
from ...sessions.sessions import Session, open_session

SCHEMA = 1
# An unfinished session holds its place for as long as this after its last event, as it does on the server.
LEASE = timedelta(minutes=60)
MAX_LABEL_LENGTH = 200  # characters of a participant's label


@dataclass(frozen=True)
class Reservation:
    """A participant's place, the `slot`-th of a list. `left` is that of an unfinished session that a new one has replaced."""

    session: str
    participant: str
    list_name: str
    list_sha256: str
    slot: int
    started: str
    finished: str | None = None
    left: bool = False


@dataclass(frozen=True)
class Reservations:
    """What reservations.json holds."""

    schema: int
    reservations: tuple[Reservation, ...]


def check_folder(folder: Path, files: Sequence[ListFile]) -> None:
    """Raise `study.DataError` where a folder holds what cannot stand beside sessions of these lists."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; expected a folder for the data (-o)")
    with _lock_folder(folder):
        simulated = sum(session.source == "simulation" for session in _read_sessions(folder))
        reservations, files_by_hash, study_name = (_read_reservations(folder), read_stored_list_files(folder), files[0].study)
    reservations_by_hash = {reservation.list_sha256: reservation for reservation in reservations}
    faults = [
        f"{folder / 'lists' / sha256}.json, which participant {reservation.participant} ran, is missing; put it back, or give "
        "another folder (-o)"
        for sha256, reservation in reservations_by_hash.items()
        if sha256 not in files_by_hash
    ]
    for other in sorted({files_by_hash[sha256].study for sha256 in reservations_by_hash if sha256 in files_by_hash} - {study_name}):
        faults.append(f"{folder} has sessions of the study {other!r}, not {study_name!r}; give another folder (-o)")
    if simulated:
        faults.append(
            f"{folder} has {simulated} simulated sessions, which would be counted among the real ones; give another folder (-o)"
        )
    if faults:
        raise study.DataError(faults)


def check_label(participant: str) -> None:
    """Raise `ValueError` for what no participant is called by, or what looks like another's label and is not."""
    if not (0 < len(participant) <= MAX_LABEL_LENGTH and participant.isprintable() and participant == participant.strip()):
        shown_label = participant if len(participant) <= 40 else f"{participant[:40]}... ({len(participant)} characters)"
        raise ValueError(
            f"participant is {shown_label!r}; expected a label of 1 to {MAX_LABEL_LENGTH} printable characters "
            "without a space at its ends"
        )


def find_reservations(folder: Path, participant: str) -> list[Reservation]:
    """Return the reservations that a participant has had, first to last."""
    check_label(participant)
    if not folder.is_dir():
        return []
    with _lock_folder(folder):
        return [one for one in _read_reservations(folder) if one.participant == participant]


def reserve_slot(
    folder: Path, files: Sequence[ListFile], participant: str, *, now: datetime | None = None, first_slot: int = 0
) -> Session:
    """Return a new session of the list with the fewest finished and running ones; its place is taken from now on.

    Earlier unfinished sessions of the participant are left behind. Slots count from `first_slot`, so that machines that share
    no folder can show different orders.
    """
    check_label(participant)
    now = now or datetime.now(UTC)
    named = {file.name: file for file in files}
    with _lock_folder(folder):
        reservations = _read_reservations(folder)
        earlier = [one for one in reservations if one.participant == participant]
        slots = {file.name: _find_open_slot(folder, file, reservations, earlier, now, first_slot) for file in files}
        names = sorted(name for name, slot in slots.items() if slot is not None)
        name = choose_list(names, _count_filled(folder, reservations, now), None, [one.list_name for one in earlier])
        if name is None or (slot := slots[name]) is None:
            raise ValueError(f"every list is taken or shows what {participant} has judged already; expected somebody else")
        session = open_session(
            named[name],
            slot,
            id=f"s-{secrets.token_hex(8)}",
            participant=participant,
            started=now.isoformat(timespec="milliseconds"),
            source="lab",
        )
        session = replace(session, revision=_find_revision(reservations, named[name]))
        write_session(folder, session, named[name])
        earlier_marked = [replace(one, left=one.left or one.finished is None) if one in earlier else one for one in reservations]
        _write_reservations(folder, [*earlier_marked, _build_reservation(session)])
    return session


def finish_session(folder: Path, session: Session, *, now: datetime | None = None) -> None:
    """Write down that a session has reached its end."""
    finished = replace(session, finished=(now or datetime.now(UTC)).isoformat(timespec="milliseconds"))
    with _lock_folder(folder):
        write_session(folder, finished)
        _write_reservations(folder, _read_reservations(folder))


def release_session(folder: Path, session: Session) -> None:
    """Delete a session to which there was no consent, and give its place back."""
    with _lock_folder(folder):
        reservations = [one for one in _read_reservations(folder) if one.session != session.id]
        shutil.rmtree(folder / session.id)
        _write_reservations(folder, reservations)


@contextlib.contextmanager
def lock_session(folder: Path, session: str) -> Iterator[None]:
    """Hold a session for this program alone; raises `ValueError` where it runs in another window."""
    with (folder / session / ".running").open("w") as file:
        if not _lock(file, wait=False):
            raise ValueError(f"{folder / session}: this session runs in another window; end it there first")
        yield


def _find_revision(reservations: Sequence[Reservation], file: ListFile) -> int:
    """Number what the list has shown: 1, and one more for each change after somebody ran it."""
    run_hashes = list(dict.fromkeys(one.list_sha256 for one in reservations if one.list_name == file.name))
    return run_hashes.index(file.sha256) + 1 if file.sha256 in run_hashes else len(run_hashes) + 1


def _find_open_slot(
    folder: Path, file: ListFile, reservations: Sequence[Reservation], earlier: Sequence[Reservation], now: datetime, first: int
) -> int | None:
    """Return the slot that comes next in a list, or of its next short list for who had `earlier` ones; None where all are taken."""
    list_reservations = [one for one in reservations if one.list_name == file.name]
    used_slots = [one.slot for one in list_reservations]
    if not file.trial_list.short_lists:
        return file.trial_list.find_open_slot((), used_slots, first_slot=first)
    held_slots = [one.slot for one in list_reservations if one.list_sha256 == file.sha256 and _is_slot_held(folder, one, now)]
    files_by_hash = {file.sha256: file, **(read_stored_list_files(folder) if earlier else {})}
    earlier_lists = [files_by_hash[one.list_sha256].trial_list for one in earlier]
    shown_items = frozenset[str]().union(
        *(
            trial_list.collect_contents(trial_list.order_trials(one.slot))
            for trial_list, one in zip(earlier_lists, earlier, strict=True)
        )
    )
    return file.trial_list.find_open_slot(held_slots, used_slots, shown_items, first)


def _is_slot_held(folder: Path, reservation: Reservation, now: datetime) -> bool:
    """Whether a session keeps its place: it is finished, or runs."""
    return reservation.finished is not None or (not reservation.left and _find_last_event_time(folder, reservation) > now - LEASE)


def _count_filled(folder: Path, reservations: Sequence[Reservation], now: datetime) -> dict[str, SlotCounts]:
    filled: dict[str, SlotCounts] = {}
    for reservation in reservations:
        before = filled.get(reservation.list_name, SlotCounts())
        completed = reservation.finished is not None
        live = not completed and _is_slot_held(folder, reservation, now)
        filled[reservation.list_name] = replace(
            before,
            completed=before.completed + completed,
            live=before.live + live,
            dropped=before.dropped + (not completed and not live),
        )
    return filled


def _find_last_event_time(folder: Path, reservation: Reservation) -> datetime:
    """When the last event of a session was written; its start where it has none."""
    events = folder / reservation.session / "events.jsonl"
    started = datetime.fromisoformat(reservation.started)
    if not events.exists() or events.stat().st_size == 0:
        return started
    return datetime.fromtimestamp(events.stat().st_mtime, UTC)


def _build_reservation(session: Session) -> Reservation:
    known = {field.name for field in dataclasses.fields(Reservation)}
    return Reservation(session.id, **{name: one for name, one in vars(session).items() if name in known})


def _read_reservations(folder: Path) -> list[Reservation]:
    """Return every reservation; a session's own file is believed before the list, which a crash may have left behind."""
    path = folder / "reservations.json"
    stored = (
        study.config.parse_dataclass(Reservations, study.files.read_json(path), where=str(path))
        if path.exists()
        else Reservations(SCHEMA, ())
    )
    if stored.schema != SCHEMA:
        raise study.DataError(f"{path}: schema is {stored.schema}, expected {SCHEMA}; use another folder (-o)")
    reservations = {reservation.session: reservation for reservation in stored.reservations}
    for session in _read_sessions(folder):
        if session.source == "lab":
            before = reservations.get(session.id)
            reservations[session.id] = replace(_build_reservation(session), left=before.left if before else False)
    return sorted(reservations.values(), key=lambda reservation: reservation.started)


def _read_sessions(folder: Path) -> Iterator[Session]:
    for file in sorted(folder.glob("*/session.json")):
        yield study.config.parse_dataclass(Session, study.files.read_json(file), where=str(file))


def _write_reservations(folder: Path, reservations: Sequence[Reservation]) -> None:
    text = json.dumps(dataclasses.asdict(Reservations(SCHEMA, tuple(reservations))), ensure_ascii=False, indent=1)
    study.files.write_text(folder / "reservations.json", text + "\n")


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Let one program at a time read and write the reservations; the lock of one that dies is gone with it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".reservations.lock").open("w") as file:
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
