"""Limits on an order: each watches one factor and keeps, for every value of it, a small number from trial to trial.

A mark is 0 when nothing is to be remembered. `is_allowed(mark)` says whether a trial of a value with that mark may come next;
`update_mark(mark, is_match)` is the mark when the trial that came was of this value (`is_match`) or of another,
`decay_mark(mark, others)` that after so many trials of others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NOT_APPLICABLE = "\0"  # the value of trials that a factor does not apply to: no limit on the factor concerns them


@dataclass(frozen=True)
class MinGap:
    """Two trials of one value are at least `distance` positions apart; 2 keeps neighbours different."""

    factor: str
    distance: int
    value: str | None = None

    def __str__(self) -> str:
        what = f"{self.factor} {self.value}" if self.value else f"the same {self.factor}"
        if self.distance == 2:
            return f"no two neighbours of {what}"
        return f"two trials of {what} at least {self.distance} positions apart"

    def is_allowed(self, mark: int) -> bool:
        return mark == 0

    def update_mark(self, mark: int, is_match: bool) -> int:
        return self.distance - 1 if is_match else self.decay_mark(mark, 1)

    def decay_mark(self, mark: int, others: int) -> int:
        return max(0, mark - others)

    def explain_impossibility(self, counts: Sequence[int], n_trials: int) -> str | None:
        """Return why trials with these counts of each value cannot be kept apart, or None if they can."""
        most = max(counts)
        needed = (most - 1) * self.distance + sum(n == most for n in counts)
        if self.value is not None:
            needed = (counts[0] - 1) * self.distance + 1
        if needed > n_trials:
            return f"{most} trials of one value, {self.distance} positions apart, need {needed} positions; there are {n_trials}"
        return None


@dataclass(frozen=True)
class MaxRun:
    """At most `length` trials of one value follow one another."""

    factor: str
    length: int
    value: str | None = None

    def __str__(self) -> str:
        what = f"{self.factor} {self.value}" if self.value else f"the same {self.factor}"
        return f"at most {self.length} trials of {what} in a row"

    def is_allowed(self, mark: int) -> bool:
        return mark < self.length

    def update_mark(self, mark: int, is_match: bool) -> int:
        return mark + 1 if is_match else 0

    def decay_mark(self, mark: int, others: int) -> int:
        return 0 if others else mark

    def explain_impossibility(self, counts: Sequence[int], n_trials: int) -> str | None:
        """Return why some run must be longer with these counts of each value, or None if none must."""
        most = counts[0] if self.value is not None else max(counts)
        rest = n_trials - most
        if most > (rest + 1) * self.length:
            runs = -(-most // self.length)
            return f"{most} trials of one value in {runs} runs of {self.length} need {runs - 1} others between; there are {rest}"
        return None


Limit = MinGap | MaxRun


@dataclass(frozen=True)
class EdgeTrials:
    """The first (or last) `count` trials are of one value."""

    factor: str
    value: str
    count: int
    at_end: bool = False

    def __str__(self) -> str:
        return f"the {'last' if self.at_end else 'first'} {self.count} of {self.factor} {self.value}"

    def is_allowed(self, position: int, n_trials: int, value: str) -> bool:
        """Whether a trial of that value may stand at that position."""
        inside = position >= n_trials - self.count if self.at_end else position < self.count
        return not inside or value == self.value


@dataclass(frozen=True)
class Blocks:
    """The order falls into `count` blocks of equal length, with equally many trials of each value in each."""

    count: int
    factor: str | None = None

    def __str__(self) -> str:
        return f"{self.count} blocks" + (f" balanced in {self.factor}" if self.factor else "")

    def list_starts(self, n_trials: int) -> list[int]:
        """Return the first position of each block, and the end."""
        return [n_trials * b // self.count for b in range(self.count + 1)]


def group_watched_trials(limit: Limit, trials: Sequence[Mapping[str, str]]) -> dict[str, list[int]]:
    """Return the trials (their numbers) of each value that a limit watches."""
    groups: dict[str, list[int]] = {}
    for number, labels in enumerate(trials):
        value = labels[limit.factor]
        if value != NOT_APPLICABLE and limit.value in (None, value):
            groups.setdefault(value, []).append(number)
    return groups


def is_redundant(limit: Limit, others: Sequence[Limit], trials: Sequence[Mapping[str, str]]) -> bool:
    """Whether every order obeys a limit, or every order that obeys the others."""
    most = 1 if isinstance(limit, MinGap) else limit.length
    groups = [group for group in group_watched_trials(limit, trials).values() if len(group) > most]
    return not groups or any(_implies(other, limit, groups, trials) for other in others)


def _implies(other: Limit, limit: Limit, groups: Sequence[Sequence[int]], trials: Sequence[Mapping[str, str]]) -> bool:
    """Whether a limit keeps the trials of each of these groups as far apart as another demands of them."""
    if isinstance(other, MinGap):
        enough = other.distance >= limit.distance if isinstance(limit, MinGap) else other.distance > 1
    elif isinstance(limit, MinGap):
        enough = other.length == 1 and limit.distance == 2
    else:
        enough = other.length <= limit.length
    watched_groups = [set(group) for group in group_watched_trials(other, trials).values()]
    return enough and all(any(whole.issuperset(group) for whole in watched_groups) for group in groups)
