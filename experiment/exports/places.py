"""Pre-drawn orders for platforms that cannot state our order rules: every version in as many orders as asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..sessions import open_session, trials_json
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

    def trials(self) -> list[dict[str, Any]]:
        """Return the trials as presented, as the page gets them (docs/api.md)."""
        session = open_session(self.file, self.slot, id="", participant="", started="", source="")
        return list(trials_json(session, self.file))

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
    """Return the places in the order of a platform's counter: all versions in their first order, then in their second."""
    return [Place(file, slot) for slot in range(orders) for file in _named(files)]


def _named(files: Iterable[VersionFile]) -> list[VersionFile]:
    return sorted(files, key=lambda file: file.name)
