"""Which version an arrival gets: one of those with the fewest completed and running sessions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Filled:
    """How far a version is filled: sessions that count and are finished, and reservations that still hold.

    Among the completed, `late` are those that went on after their lease had run out; `dropped` are neither finished nor live.
    """

    completed: int = 0
    live: int = 0
    late: int = 0
    dropped: int = 0

    @property
    def places(self) -> int:
        """Places that are taken."""
        return self.completed + self.live

    def over(self, quota: int | None) -> int:
        """Completed sessions beyond the quota: of late ones, whose place had been given to somebody else."""
        return 0 if quota is None else max(0, self.completed - quota)


def choose(
    versions: Sequence[str], filled: Mapping[str, Filled], quota: int | None, taken: Collection[str] = ()
) -> str | None:
    """Return the version with the fewest places taken, the first of several by name; None when all have their quota.

    `taken` are versions that this person has had: another experiment comes first, then another version.

    >>> choose(["E1-V1", "E1-V2"], {"E1-V1": Filled(completed=1, live=1), "E1-V2": Filled(live=1)}, quota=2)
    'E1-V2'
    """
    free = [name for name in versions if quota is None or filled.get(name, Filled()).places < quota]
    if not free:
        return None
    experiments = {_experiment(name) for name in taken}

    def rank(name: str) -> tuple[bool, bool, int, str]:
        return _experiment(name) in experiments, name in taken, filled.get(name, Filled()).places, name

    return min(free, key=rank)


def _experiment(name: str) -> str:
    return name.partition("-")[0]
