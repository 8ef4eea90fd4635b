"""gardenpath lab: run a session on a lab machine."""

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.experiment import VersionFile
    from gardenpath.experiment.players.lab.window import Window


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch(r"(\d{2,5})[xX×](\d{2,5})", value)
    if match is None:
        raise click.BadParameter(f"{value!r}; expected WIDTHxHEIGHT in pixels, such as 1280x800")
    return int(match[1]), int(match[2])


def _minute(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def again(source: Path, participant: str, out: Path) -> str:
    """Return the command that goes on with a session, as a shell takes it.

    >>> again(Path("study.toml"), "P 01", Path("data"))
    "gardenpath lab study.toml --participant 'P 01' -o data --resume"
    """
    return shlex.join(["gardenpath", "lab", str(source), "--participant", participant, "-o", str(out), "--resume"])


@click.command("lab")
@click.argument("source", metavar="STUDY.toml|VERSION.json", type=click.Path(path_type=Path))
@click.option("--participant", metavar="LABEL", required=True, help="Label of the participant, such as P01; no name.")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder of the data.")
@click.option(
    "--window", metavar="WxH", callback=_size, help="A window of this size in px [default: the whole screen]."
)
@click.option("--screen", default=0, show_default=True, type=click.IntRange(min=0), help="Number of the screen.")
@click.option("--font", metavar="FAMILY", help="Font of every text [default: the first that has all characters].")
@click.option("--resume/--new", "resume", default=None, help="Go on with an unfinished session, or begin another.")
@click.option(
    "--first-slot",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Number of this machine's first order.",
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

    The participant gets the version with the fewest finished and running sessions in the folder given by -o.
    """
    from gardenpath.experiment.players.lab import launch, reservations
    from gardenpath.experiment.players.lab import window as psychopy

    files = launch.files_of(source)
    reservations.check_folder(out, files)
    reservations.check_label(participant)
    unfinished = None if resume is False else launch.unfinished(out, participant)
    if unfinished is None:
        _refuse_barred(source, participant)
    if resume and unfinished is None:
        raise click.UsageError(f"--resume: participant {participant} has no session in {out}")
    asks = unfinished is not None and resume is None
    begun = ""
    if unfinished is not None:
        begun = f"participant {participant} began {unfinished.version} at {_minute(unfinished.started)}"
    if asks and not sys.stdin.isatty():
        raise click.UsageError(f"{begun} and did not finish it; give --resume to go on or --new to begin another")
    psychopy.check()
    if asks and not click.confirm(f"{begun}. Resume it?", default=True, err=True):
        unfinished = None

    def opener(file: "VersionFile") -> "Window":
        return psychopy.Window(file, size=window, screen=screen, font=font)

    if unfinished is not None:
        outcome = launch.resume(out, unfinished, opener)
    else:
        outcome = launch.begin(out, files, participant, opener, first_slot=first_slot)
    session = outcome.session
    if outcome.how not in launch.KEPT:
        why = "no consent" if outcome.how == "refused" else outcome.how.replace("_", " ")
        click.echo(f"{participant}: {why}; nothing is kept")
    else:
        click.echo(f"{out / session.id}: {participant}, {session.version}, slot {session.slot}, {outcome.how}")
    if outcome.how in ("stopped", "interrupted"):
        options.talk(f"to go on:  {again(source, participant, out)}")
    if outcome.how == "interrupted":
        sys.exit(130)


def _refuse_barred(source: Path, participant: str) -> None:
    """Raise `DataError` for a code under which somebody took part in a study whose participants are barred."""
    from gardenpath import study
    from gardenpath.experiment.barring import read_barred

    plan = None if source.suffix == ".json" else study.load(source)
    if plan is None or plan.online is None:
        return
    for one in read_barred(plan.online.barred, plan.folder):
        if one.holds(participant):
            raise study.DataError(
                f"{source}: participant {participant} took part in {one.source}, whose participants are barred (online.barred); "
                "expected somebody else, or another code where it is somebody else"
            )
