"""Pre-drawn orders for platforms that cannot state our order rules: every list in as many orders as asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..scripts.list_files import ListFile
from ..scripts.script import TimelineStep, build_timeline


@dataclass(frozen=True)
class ListSlot:
    """One participant's assignment: a list in the order of its `number`, as the server would give it to the slot-th arrival."""

    file: ListFile
    number: int

    @property
    def order(self) -> tuple[int, ...]:
        """Positions in the list's trials, as presented."""
        return tuple(self.file.trial_list.order_trials(self.number))

    def build_steps(self) -> tuple[TimelineStep, ...]:
        """Return the steps of the session in this assignment, in order."""
        return build_timeline(self.file.script, self.order)

    def list_trial_steps(self) -> tuple[TimelineStep, ...]:
        """Return the trials and the pages between them, without steps that depend on how others went."""
        script, steps = self.file.script, self.build_steps()
        inner = steps[len(script.front) : len(steps) - len(script.end)]
        return tuple(timeline_step for timeline_step in inner if timeline_step.step.when is None)

    def build_matching_columns(self) -> dict[str, str | int]:
        """Return what every row that comes back has to carry, so that it can be matched with what was shown."""
        return {
            "study": self.file.study,
            "list_name": self.file.name,
            "list_sha256": self.file.sha256,
            "seed": self.file.trial_list.seed,
            "slot": self.number,
        }


def enumerate_slots(files: Sequence[ListFile], orders: int) -> list[ListSlot]:
    """Return the assignments in the order of a platform's counter: all lists in their first order, then in their second.

    Of short lists each has one assignment.
    """
    slot_counts = {file.name: len(file.trial_list.short_lists) or orders for file in files}
    return [
        ListSlot(file, number)
        for number in range(max(slot_counts.values()))
        for file in _sort_by_name(files)
        if number < slot_counts[file.name]
    ]


def describe_slot_rule(files: Sequence[ListFile]) -> str:
    """Return which assignment a platform's counter leads to, in a sentence."""
    if any(file.trial_list.short_lists for file in files):
        return "Assignment n runs short list n: the first of each list in the order of their names, then the second, and so on."
    list_count = len(files)
    return f"Assignment n runs list n mod {list_count} in its order n div {list_count}; the lists come in the order of their names."


def _sort_by_name(files: Iterable[ListFile]) -> list[ListFile]:
    return sorted(files, key=lambda file: file.name)
