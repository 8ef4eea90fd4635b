"""A participant sits down: which session begins or goes on, on which screen, and how it ends."""

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
from .visit import Departed, Sitting


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
    files = [parse_version(study.read_text(source), str(source))] if is_version else version_files(study.load(source))
    check_typing(files[0].script, str(source))
    return files


def unfinished(folder: Path, participant: str) -> reservations.Place | None:
    """Return the place of a participant's last session where that can be gone on with, None where there is none.

    Raises `ValueError` where the last one is finished: nobody is a participant twice by mistake.
    """
    had = reservations.of_participant(folder, participant)
    if not had:
        return None
    if had[-1].finished is not None:
        raise ValueError(
            f"participant {participant} has finished {had[-1].version} at {had[-1].finished[:16].replace('T', ' ')} UTC; "
            "give another label, or --new for a further session"
        )
    return had[-1]


def begin(
    folder: Path, files: Sequence[VersionFile], participant: str, opener: Opener, *, first_slot: int = 0
) -> Outcome:
    """Run a new session of the version that is filled least."""
    session = reservations.reserve(folder, files, participant, first_slot=first_slot)
    try:
        return _sit(folder, session, opener)
    except BaseException:
        # Who never saw the first page has had no session.
        if not (folder / session.id / "events.jsonl").stat().st_size:
            reservations.release(folder, session)
        raise


def go_on(folder: Path, place: reservations.Place, opener: Opener) -> Outcome:
    """Go on with an unfinished session: after the last step that was ended, in the version and order that it has."""
    path = folder / place.session / "session.json"
    if not path.exists():
        raise FileNotFoundError(f"{path}: the session of {place.participant} is gone; begin anew with --new")
    return _sit(folder, study.structure(Session, study.read_json(path), where=str(path)), opener)


def _sit(folder: Path, session: Session, opener: Opener) -> Outcome:
    file = read_files(folder)[session.version_sha256]
    with reservations.running(folder, session.id), closing(Journal(folder / session.id / "events.jsonl")) as journal:
        stand = walked(session, file, tuple(journal.left))
        with closing(opener(file)) as screen:
            sitting = Sitting(file.script, stand, screen, journal.record, screen.visit())
            try:
                sitting.run()
            except Departed as departed:
                # Who stops before there is consent has not consented.
                how = departed.reason if journal.next_seq or departed.reason != "stopped" else "refused"
                if how != "refused":
                    sitting.part()
            except KeyboardInterrupt:
                if journal.next_seq == 0:
                    raise
                how = "interrupted"
            else:
                how = "finished"
                reservations.finish(folder, session)
                sitting.debrief()
    if how not in KEPT:
        reservations.release(folder, session)
    return Outcome(session, how)
