"""A study for other platforms: each is a module with NAME, FEATURE_SUPPORT, list_losses and write, listed here in one tuple.

NAME                                      what --platform says
FEATURE_SUPPORT                           what it does with each feature that screens can have (features.py)
list_losses(files) -> list[str]           what this platform cannot do of the study, a sentence each
write(files, assignments, folder, online)      writes what the platform takes; its counter n runs assignments[n % len(assignments)]
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gardenpath import study

from ..scripts.list_files import ListFile, build_list_files
from ..sessions.recruitment import complete_online_section
from .features import FeatureSupport, refuse_unsupported
from .gorilla import export as gorilla
from .jatos import export as jatos
from .jspsych import export as jspsych
from .list_slots import ListSlot, describe_slot_rule, enumerate_slots
from .pcibex import export as pcibex
from .psychopy import export as psychopy


class ExportPlatform(Protocol):
    """What each of the modules below is; `online` says with which code and address a participant is sent back."""

    NAME: str
    FEATURE_SUPPORT: FeatureSupport

    def list_losses(self, files: Sequence[ListFile]) -> list[str]: ...

    def write(
        self, files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection
    ) -> object: ...


# Files whose number depends on the study: of an earlier export none may stay, for it would be taken for one of this.
STALE_FILE_PATTERNS = (
    "lists/E*-L*.json",
    "conditions/assignment-*.csv",
    "spreadsheets/E*-L*-*.csv",
    "chunk_includes/instructions-*.html",
)
QUOTA_LOSS = "The screener's quotas do not hold: only a server knows everybody's answers. Set them where you recruit."
SHORT_LIST_LOSS = (
    "Lists go out in turn: none opens again when it is abandoned, and a participant's next one may share items with earlier ones. "
    "Let each person take one."
)
EXPORTS: tuple[ExportPlatform, ...] = (jspsych, jatos, pcibex, gorilla, psychopy)

__all__ = ["EXPORTS", "ExportPlatform", "ExportSummary", "ListSlot", "enumerate_slots", "export"]


@dataclass(frozen=True)
class ExportSummary:
    """What an export holds, where a counter leads, and what of the procedure the platform cannot do, a sentence each."""

    list_count: int
    order_count: int
    slot_count: int
    slot_rule: str
    losses: tuple[str, ...]


def export(config: study.Study, platform: str, out: str | Path, orders: int | None = None) -> ExportSummary:
    """Write a study as `platform` takes it into the folder `out`, with its list files, so that what comes back can be
    collected from the export alone.

    Each list goes out in `orders` pre-drawn orders, by default in as many as `online.quota` lets take part, each short list
    once. A study that the platform cannot run raises `study.DataError` with all that it cannot, and the screens that have it.
    """
    platforms = {one.NAME: one for one in EXPORTS}
    if platform not in platforms:
        raise ValueError(f"platform is {platform!r}; expected one of {', '.join(platforms)}")
    folder, files = Path(out), build_list_files(config)
    short_list_count = max(len(file.trial_list.short_lists) for file in files)
    if short_list_count and orders is not None:
        raise ValueError(f"orders is {orders} beside design.short_lists; expected none: each short list goes out once")
    orders = orders or config.required_online.quota or short_list_count
    if not orders:
        raise ValueError(
            f"{config.path}: online.quota is not stated, so how many orders each list needs is open; expected --orders N, "
            "the participants planned for each list"
        )
    refuse_unsupported(files, platforms[platform].FEATURE_SUPPORT, platform)
    slots = enumerate_slots(files, orders)
    with _stage_folder(folder) as target:
        for pattern in STALE_FILE_PATTERNS:
            for old in target.glob(pattern):
                old.unlink()
        for file in files:
            file.write(target / "lists")
        platforms[platform].write(files, slots, target, complete_online_section(config))
    screened = [QUOTA_LOSS] if any(one.quotas for one in config.procedure.screener) else []
    losses = [*platforms[platform].list_losses(files), *screened, *([SHORT_LIST_LOSS] if short_list_count else [])]
    return ExportSummary(len(files), orders, len(slots), describe_slot_rule(files), tuple(losses))


@contextmanager
def _stage_folder(folder: Path) -> Iterator[Path]:
    """Give a folder beside that becomes `folder` only if the block ends without an error; one that is there is written in."""
    if folder.exists():
        yield folder
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        target = Path(temporary) / folder.name
        target.mkdir()
        yield target
        target.rename(folder)
