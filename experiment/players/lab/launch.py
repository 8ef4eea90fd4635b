"""Which session begins or is resumed, on which screen, and how the visit to it ends."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gardenpath import study

from ...session_folders import read_files
from ...sessions import Json, Session, walked
from ...versions import VersionFile, parse_version, version_files
from . import reservations
from .displays import Screen
from .form import check_typing
from .journal import Journal
from .reservations import Reservation
from .visit import Departed, Visit


class Machine(Screen, Protocol):
    """A screen that can say what it is, and be closed."""

    def visit(self) -> Json:
        """Return what the event `visit` says."""

    def close(self) -> None:
        """Close the screen."""


Opener = Callable[[VersionFile], Machine]


KEPT = ("finished", "stopped", "interrupted")


@dataclass(frozen=True)
class Outcome:
    """How a visit ended: "finished", "stopped" by the participant, "interrupted" by the experimenter; or by an ending to which a
    screen leads, such as "refused" without consent: then nothing is kept, as online.
    """

    session: Session
    how: str


def files_of(source: Path) -> list[VersionFile]:
    """Return the versions that a study.toml states, or the one of a version file; `study.DataError` where they cannot run here."""
    is_version = source.suffix == ".json"
    files = (
        [parse_version(study.files.read_text(source), str(source))] if is_version else version_files(study.load(source))
    )
    check_typing(files[0].script, str(source))
    return files


def unfinished(folder: Path, participant: str) -> Reservation | None:
    """Return the reservation of a participant's last session where it can be resumed, None where there is none.

    Raises `ValueError` where the last one is finished: nobody is a participant twice by mistake.
    """
    earlier = reservations.of_participant(folder, participant)
    if not earlier:
        return None
    last = earlier[-1]
    if last.finished is not None:
        raise ValueError(
            f"participant {participant} has finished {last.version} at {last.finished[:16].replace('T', ' ')} UTC; "
            "give another label, or --new for a further session"
        )
    return last


def begin(
    folder: Path, files: Sequence[VersionFile], participant: str, opener: Opener, *, first_slot: int = 0
) -> Outcome:
    """Run a new session of the version that is filled least."""
    session = reservations.reserve(folder, files, participant, first_slot=first_slot)
    try:
        return _run(folder, session, opener)
    except BaseException:
        # Who never saw the first page has had no session.
        if not (folder / session.id / "events.jsonl").stat().st_size:
            reservations.release(folder, session)
        raise


def resume(folder: Path, reservation: Reservation, opener: Opener) -> Outcome:
    """Resume an unfinished session: after the last step that was ended, in the version and order that it has."""
    path = folder / reservation.session / "session.json"
    if not path.exists():
        raise FileNotFoundError(
            f"{path}: the session of {reservation.participant} is missing; begin another with --new"
        )
    return _run(folder, study.config.structure(Session, study.files.read_json(path), where=str(path)), opener)


def _run(folder: Path, session: Session, opener: Opener) -> Outcome:
    file = read_files(folder)[session.version_sha256]
    with reservations.running(folder, session.id), closing(Journal(folder / session.id / "events.jsonl")) as journal:
        stand = walked(session, file, tuple(journal.left))
        with closing(opener(file)) as screen:
            visit = Visit(file.script, stand, screen, journal.record, screen.visit())
            try:
                visit.run()
            except Departed as departed:
                # Who stops before there is consent has not consented.
                how = departed.reason if journal.next_seq or departed.reason != "stopped" else "refused"
                if how != "refused":
                    visit.part(how)
            except KeyboardInterrupt:
                if journal.next_seq == 0:
                    raise
                how = "interrupted"
            else:
                how = "finished"
                reservations.finish(folder, session)
                visit.debrief()
    if how not in KEPT:
        reservations.release(folder, session)
    return Outcome(session, how)
