"""A study for other platforms: each is a module with NAME, PLAYS, loses and write, listed here in one tuple.

NAME                                      what --to says
PLAYS                                     what it does with each feature that screens can have (features.py)
loses(files) -> list[str]                 what this platform cannot do of the study, a sentence each
write(files, places, folder, online)      writes what the platform takes; counter n there runs places[n % len(places)]
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gardenpath import study

from ..recruitment import online_section
from ..versions import VersionFile, version_files
from .features import Plays, refuse
from .gorilla import export as gorilla
from .jatos import export as jatos
from .jspsych import export as jspsych
from .pcibex import export as pcibex
from .places import Place, places
from .psychopy import export as psychopy


class Export(Protocol):
    """What each of the modules below is; `online` says with which code and address a participant is sent back."""

    NAME: str
    PLAYS: Plays

    def loses(self, files: Sequence[VersionFile]) -> list[str]: ...

    def write(
        self, files: Sequence[VersionFile], places: Sequence[Place], folder: Path, online: study.config.OnlineSection
    ) -> object: ...


# Files whose number depends on the study: of an earlier export none may stay, for it would be taken for one of this.
ONE_EACH = (
    "versions/E*-V*.json",
    "conditions/place-*.csv",
    "spreadsheets/E*-V*-*.csv",
    "chunk_includes/instructions-*.html",
)
QUOTAS = "The screener's quotas do not hold: only a server knows everybody's answers. Set them where you recruit."
LISTS = (
    "Lists go out in turn: none opens again when it is abandoned, and a reader's next one may share items with earlier ones. "
    "Let each person take one."
)
EXPORTS: tuple[Export, ...] = (jspsych, jatos, pcibex, gorilla, psychopy)

__all__ = ["EXPORTS", "Export", "Exported", "Place", "export", "places"]


@dataclass(frozen=True)
class Exported:
    """What an export holds, and what its platform cannot do of the study's procedure, a sentence each."""

    versions: int
    orders: int
    places: int
    loses: tuple[str, ...]


def export(plan: study.Study, platform: str, out: str | Path, orders: int | None = None) -> Exported:
    """Write a study as `platform` takes it into the folder `out`, with its version files, so that what comes back can be
    collected from the export alone.

    Each version goes out in `orders` pre-drawn orders, by default in as many as `online.quota` lets take part, each small list
    once. A study that the platform cannot run raises `study.DataError` with all that it cannot, and the screens that have it.
    """
    made = {one.NAME: one for one in EXPORTS}
    if platform not in made:
        raise ValueError(f"platform is {platform!r}; expected one of {', '.join(made)}")
    folder, files = Path(out), version_files(plan)
    lists = max(len(file.version.lists) for file in files)
    if lists and orders is not None:
        raise ValueError(f"orders is {orders} beside design.lists; expected none: each list goes out once")
    orders = orders or plan.served.quota or lists
    if not orders:
        raise ValueError(
            f"{plan.path}: online.quota is not stated, so how many orders each version needs is open; expected --orders N, "
            "the participants planned for each version"
        )
    refuse(files, made[platform].PLAYS, platform)
    drawn = places(files, orders)
    with _whole(folder) as target:
        for pattern in ONE_EACH:
            for old in target.glob(pattern):
                old.unlink()
        for file in files:
            file.write(target / "versions")
        made[platform].write(files, drawn, target, online_section(plan))
    screened = [QUOTAS] if any(one.quotas for one in plan.procedure.screener) else []
    loses = [*made[platform].loses(files), *screened, *([LISTS] if lists else [])]
    return Exported(len(files), orders, len(drawn), tuple(loses))


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """Give a folder beside that becomes `folder` only if the block ends without an error; one that is there is written in."""
    if folder.exists():
        yield folder
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        target = Path(beside) / folder.name
        target.mkdir()
        yield target
        target.rename(folder)
