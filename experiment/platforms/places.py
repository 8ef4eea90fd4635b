"""Pre-drawn orders for platforms that cannot state our order rules: every version in as many orders as asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..script import Placed, sequence
from ..versions import VersionFile


@dataclass(frozen=True)
class Place:
    """One participant's place: a version in the order of its `slot`, as the server would give it to the slot-th arrival."""

    file: VersionFile
    slot: int

    @property
    def order(self) -> tuple[int, ...]:
        """Positions in the version's trials, as presented."""
        return tuple(self.file.version.order(self.slot))

    def steps(self) -> tuple[Placed, ...]:
        """Return the steps of the session in this place, in order."""
        return sequence(self.file.script, self.order)

    def between(self) -> tuple[Placed, ...]:
        """Return the trials and the pages between them, without steps that depend on how others went."""
        script, steps = self.file.script, self.steps()
        inner = steps[len(script.front) : len(steps) - len(script.end)]
        return tuple(placed for placed in inner if placed.step.when is None)

    def matching(self) -> dict[str, str | int]:
        """Return what every row that comes back has to carry, so that it can be matched with what was shown."""
        return {
            "study": self.file.study,
            "version": self.file.name,
            "version_sha256": self.file.sha256,
            "seed": self.file.version.seed,
            "slot": self.slot,
        }


def places(files: Sequence[VersionFile], orders: int) -> list[Place]:
    """Return the places in the order of a platform's counter: all versions in their first order, then in their second.

    Of small lists each has one place.
    """
    slots = {file.name: len(file.version.lists) or orders for file in files}
    return [
        Place(file, slot) for slot in range(max(slots.values())) for file in _named(files) if slot < slots[file.name]
    ]


def _named(files: Iterable[VersionFile]) -> list[VersionFile]:
    return sorted(files, key=lambda file: file.name)
