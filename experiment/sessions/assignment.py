"""Which list an arrival gets: one of those with the fewest completed and running sessions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SlotCounts:
    """How far a list is filled: sessions that count and are finished, and reservations that still hold.

    Among the completed, `late` are those that went on after their lease had run out; `dropped` are neither finished nor live.
    """

    completed: int = 0
    live: int = 0
    late: int = 0
    dropped: int = 0

    @property
    def taken_slots(self) -> int:
        """Slots that are taken."""
        return self.completed + self.live

    def count_over_quota(self, quota: int | None) -> int:
        """Completed sessions beyond the quota: of late ones, whose slot had been given to somebody else."""
        return 0 if quota is None else max(0, self.completed - quota)


def choose_list(
    list_names: Sequence[str], slot_counts: Mapping[str, SlotCounts], quota: int | None, previous_lists: Collection[str] = ()
) -> str | None:
    """Return the list with the fewest slots taken, the first of several by name; None when all have their quota.

    `previous_lists` are lists that this person has had: another experiment comes first, then another list.

    >>> choose_list(["E1-L1", "E1-L2"], {"E1-L1": SlotCounts(completed=1, live=1), "E1-L2": SlotCounts(live=1)}, quota=2)
    'E1-L2'
    """
    open_lists = [name for name in list_names if quota is None or slot_counts.get(name, SlotCounts()).taken_slots < quota]
    if not open_lists:
        return None
    experiments = {_get_experiment(name) for name in previous_lists}

    def rank(name: str) -> tuple[bool, bool, int, str]:
        return (_get_experiment(name) in experiments, name in previous_lists, slot_counts.get(name, SlotCounts()).taken_slots, name)

    return min(open_lists, key=rank)


def _get_experiment(name: str) -> str:
    return name.partition("-")[0]
