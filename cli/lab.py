"""gardenpath lab: run a session on a lab machine."""

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment import ListFile
    from gardenpath.experiment.players.lab.window import Window


def _parse_size(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch(r"(\d{2,5})[xX×](\d{2,5})", value)
    if match is None:
        raise click.BadParameter(f"{value!r}; expected WIDTHxHEIGHT in pixels, such as 1280x800")
    return int(match[1]), int(match[2])


def _format_minute(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def format_resume_command(source: Path, participant: str, out: Path) -> str:
    """Return the command that goes on with a session, as a shell takes it.

    >>> format_resume_command(Path("study.toml"), "P 01", Path("data"))
    "gardenpath lab study.toml --participant 'P 01' -o data --resume"
    """
    return shlex.join(["gardenpath", "lab", str(source), "--participant", participant, "-o", str(out), "--resume"])


@click.command("lab")
@click.argument("source", metavar="STUDY.toml|LIST.json", type=click.Path(path_type=Path))
@click.option("--participant", metavar="LABEL", required=True, help="Label of the participant, such as P01; no name.")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder of the data.")
@click.option("--window", metavar="WxH", callback=_parse_size, help="A window of this size in px [default: the whole screen].")
@click.option("--screen", default=0, show_default=True, type=click.IntRange(min=0), help="Number of the screen.")
@click.option("--font", metavar="FAMILY", help="Font of every text [default: the first that has all characters].")
@click.option("--resume/--new-session", "resume", default=None, help="Go on with an unfinished session, or begin another.")
@click.option(
    "--first-slot", default=0, show_default=True, type=click.IntRange(min=0), help="Number of this machine's first order."
)
def command(
    source: Path,
    participant: str,
    out: Path,
    window: tuple[int, int] | None,
    screen: int,
    font: str | None,
    resume: bool | None,
    first_slot: int,
) -> None:
    """Run one session of STUDY.toml in PsychoPy; every event is on disk as it happens.

    The participant gets the list with the fewest finished and running sessions in the folder given by -o.
    """
    from gardenpath.experiment.players.lab import reservations, session_launch
    from gardenpath.experiment.players.lab import window as psychopy

    files = session_launch.read_list_files(source)
    reservations.check_folder(out, files)
    reservations.check_label(participant)
    unfinished = None if resume is False else session_launch.find_unfinished_reservation(out, participant)
    if unfinished is None:
        _refuse_previous_participant(source, participant)
    if resume and unfinished is None:
        raise click.UsageError(f"--resume: participant {participant} has no session in {out}")
    needs_confirmation = unfinished is not None and resume is None
    session_text = ""
    if unfinished is not None:
        session_text = f"participant {participant} began {unfinished.list_name} at {_format_minute(unfinished.started)}"
    if needs_confirmation and not sys.stdin.isatty():
        raise click.UsageError(f"{session_text} and did not finish it; give --resume to go on or --new-session to begin another")
    psychopy.check_machine()
    if needs_confirmation and not click.confirm(f"{session_text}. Resume it?", default=True, err=True):
        unfinished = None

    def open_window(file: "ListFile") -> "Window":
        return psychopy.Window(file, size=window, screen=screen, font=font)

    if unfinished is not None:
        outcome = session_launch.resume_session(out, unfinished, open_window)
    else:
        outcome = session_launch.begin_session(out, files, participant, open_window, first_slot=first_slot)
    session = outcome.session
    if outcome.ending not in session_launch.KEPT_ENDINGS:
        reason = "no consent" if outcome.ending == "refused" else outcome.ending.replace("_", " ")
        click.echo(f"{participant}: {reason}; nothing is kept")
    else:
        click.echo(f"{out / session.id}: {participant}, {session.list_name}, slot {session.slot}, {outcome.ending}")
    if outcome.ending in ("stopped", "interrupted"):
        options.print_notice(f"to go on:  {format_resume_command(source, participant, out)}")
    if outcome.ending == "interrupted":
        sys.exit(130)


def _refuse_previous_participant(source: Path, participant: str) -> None:
    """Raise `DataError` for a code under which somebody took part in a study whose participants are excluded."""
    from gardenpath import study
    from gardenpath.experiment.collection.previous_participants import read_previous_participants

    config = None if source.suffix == ".json" else study.load(source)
    if config is None or config.online is None:
        return
    for previous_study in read_previous_participants(config.online.excluded_participants, config.folder):
        if previous_study.has_participant(participant):
            raise study.DataError(
                f"{source}: participant {participant} took part in {previous_study.source}, whose participants are "
                "excluded (online.excluded_participants); "
                "expected somebody else, or another code where it is somebody else"
            )
