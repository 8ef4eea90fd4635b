"""Which session begins or is resumed, on which screen, and how the visit to it ends."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gardenpath import study
from gardenpath.study.events import Visit

from ...scripts.list_files import ListFile, build_list_files, parse_list_file
from ...sessions.session_folders import read_stored_list_files
from ...sessions.sessions import Session, replay_session_events
from . import reservations
from .displays import Screen
from .form_answers import check_typing
from .journal import Journal
from .reservations import Reservation
from .visit_runner import ParticipantLeft, VisitRunner


class LabScreen(Screen, Protocol):
    """A screen that can say what it is, and be closed."""

    def describe_machine(self) -> Visit:
        """Return what the event `describe_machine` says."""

    def close(self) -> None:
        """Close the screen."""


Opener = Callable[[ListFile], LabScreen]


KEPT_ENDINGS = ("finished", "stopped", "interrupted")


@dataclass(frozen=True)
class VisitOutcome:
    """How a visit ended: "finished", "stopped" by the participant, "interrupted" by the experimenter; or by an ending to which a
    screen leads, such as "refused" without consent: then nothing is kept, as online.
    """

    session: Session
    ending: str


def read_list_files(source: Path) -> list[ListFile]:
    """Return the lists that a study.toml states, or the one of a list file; `study.DataError` where they cannot run here."""
    is_list_file = source.suffix == ".json"
    files = [parse_list_file(study.files.read_text(source), str(source))] if is_list_file else build_list_files(study.load(source))
    check_typing(files[0].script, str(source))
    return files


def find_unfinished_reservation(folder: Path, participant: str) -> Reservation | None:
    """Return the reservation of a participant's last session where it can be resumed, None where there is none.

    Raises `ValueError` where the last one is finished: nobody is a participant twice by mistake.
    """
    earlier = reservations.find_reservations(folder, participant)
    if not earlier:
        return None
    last = earlier[-1]
    if last.finished is not None:
        raise ValueError(
            f"participant {participant} has finished {last.list_name} at {last.finished[:16].replace('T', ' ')} UTC; "
            "give another label, or --new-session for a further session"
        )
    return last


def begin_session(
    folder: Path, files: Sequence[ListFile], participant: str, opener: Opener, *, first_slot: int = 0
) -> VisitOutcome:
    """Run a new session of the list that is filled least."""
    session = reservations.reserve_slot(folder, files, participant, first_slot=first_slot)
    try:
        return _run_session(folder, session, opener)
    except BaseException:
        # Who never saw the first page has had no session.
        if not (folder / session.id / "events.jsonl").stat().st_size:
            reservations.release_session(folder, session)
        raise


def resume_session(folder: Path, reservation: Reservation, opener: Opener) -> VisitOutcome:
    """Resume an unfinished session: after the last step that was ended, in the list and order that it has."""
    path = folder / reservation.session / "session.json"
    if not path.exists():
        raise FileNotFoundError(f"{path}: the session of {reservation.participant} is missing; begin another with --new-session")
    return _run_session(folder, study.config.parse_dataclass(Session, study.files.read_json(path), where=str(path)), opener)


def _run_session(folder: Path, session: Session, opener: Opener) -> VisitOutcome:
    file = read_stored_list_files(folder)[session.list_sha256]
    with reservations.lock_session(folder, session.id), closing(Journal(folder / session.id / "events.jsonl")) as journal:
        walk = replay_session_events(session, file, tuple(journal.earlier_events))
        with closing(opener(file)) as screen:
            visit = VisitRunner(file.script, walk, screen, journal.append_event, screen.describe_machine())
            try:
                visit.run()
            except ParticipantLeft as departed:
                # Who stops before there is consent has not consented.
                ending = departed.reason if journal.next_seq or departed.reason != "stopped" else "refused"
                if ending != "refused":
                    visit.show_early_end(ending)
            except KeyboardInterrupt:
                if journal.next_seq == 0:
                    raise
                ending = "interrupted"
            else:
                ending = "finished"
                reservations.finish_session(folder, session)
                visit.show_debriefing()
    if ending not in KEPT_ENDINGS:
        reservations.release_session(folder, session)
    return VisitOutcome(session, ending)
