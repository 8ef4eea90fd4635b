"""Limits on an order: each watches one factor and keeps, for every value of it, a small number from trial to trial.

A mark is 0 when nothing is to be remembered. `allows(mark)` says whether a trial of a value with that mark may come next;
`after(mark, here)` is the mark when the trial that came was of this value (`here`) or of another, `faded(mark, others)` that
after so many trials of others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FREE = "\0"  # the value of trials that a factor does not apply to: no limit on the factor concerns them


@dataclass(frozen=True)
class Gap:
    """Two trials of one value are at least `distance` positions apart; 2 keeps neighbours different."""

    factor: str
    distance: int
    value: str | None = None

    def __str__(self) -> str:
        what = f"{self.factor} {self.value}" if self.value else f"the same {self.factor}"
        if self.distance == 2:
            return f"no two neighbours of {what}"
        return f"two trials of {what} at least {self.distance} positions apart"

    def allows(self, mark: int) -> bool:
        return mark == 0

    def after(self, mark: int, here: bool) -> int:
        return self.distance - 1 if here else self.faded(mark, 1)

    def faded(self, mark: int, others: int) -> int:
        return max(0, mark - others)

    def impossible(self, counts: Sequence[int], places: int) -> str | None:
        """Return why trials with these counts of each value cannot be kept apart, or None if they can."""
        most = max(counts)
        needed = (most - 1) * self.distance + sum(n == most for n in counts)
        if self.value is not None:
            needed = (counts[0] - 1) * self.distance + 1
        if needed > places:
            return (
                f"{most} trials of one value, {self.distance} positions apart, need {needed} places; there are {places}"
            )
        return None


@dataclass(frozen=True)
class Run:
    """At most `length` trials of one value follow one another."""

    factor: str
    length: int
    value: str | None = None

    def __str__(self) -> str:
        what = f"{self.factor} {self.value}" if self.value else f"the same {self.factor}"
        return f"at most {self.length} trials of {what} in a row"

    def allows(self, mark: int) -> bool:
        return mark < self.length

    def after(self, mark: int, here: bool) -> int:
        return mark + 1 if here else 0

    def faded(self, mark: int, others: int) -> int:
        return 0 if others else mark

    def impossible(self, counts: Sequence[int], places: int) -> str | None:
        """Return why some run must be longer with these counts of each value, or None if none must."""
        most = counts[0] if self.value is not None else max(counts)
        rest = places - most
        if most > (rest + 1) * self.length:
            runs = -(-most // self.length)
            return f"{most} trials of one value in {runs} runs of {self.length} need {runs - 1} others between; there are {rest}"
        return None


Limit = Gap | Run


@dataclass(frozen=True)
class Edge:
    """The first (or last) `count` trials are of one value."""

    factor: str
    value: str
    count: int
    last: bool = False

    def __str__(self) -> str:
        return f"the {'last' if self.last else 'first'} {self.count} of {self.factor} {self.value}"

    def allows(self, position: int, places: int, value: str) -> bool:
        """Whether a trial of that value may stand at that position."""
        inside = position >= places - self.count if self.last else position < self.count
        return not inside or value == self.value


@dataclass(frozen=True)
class Blocks:
    """The order falls into `count` blocks of equal length, with equally many trials of each value in each."""

    count: int
    factor: str | None = None

    def __str__(self) -> str:
        return f"{self.count} blocks" + (f" balanced in {self.factor}" if self.factor else "")

    def starts(self, places: int) -> list[int]:
        """Return the first position of each block, and the end."""
        return [places * b // self.count for b in range(self.count + 1)]


def watched(limit: Limit, trials: Sequence[Mapping[str, str]]) -> dict[str, list[int]]:
    """Return the trials (their numbers) of each value that a limit watches."""
    groups: dict[str, list[int]] = {}
    for number, labels in enumerate(trials):
        value = labels[limit.factor]
        if value != FREE and limit.value in (None, value):
            groups.setdefault(value, []).append(number)
    return groups


def needless(limit: Limit, others: Sequence[Limit], trials: Sequence[Mapping[str, str]]) -> bool:
    """Whether every order obeys a limit, or every order that obeys the others."""
    most = 1 if isinstance(limit, Gap) else limit.length
    groups = [group for group in watched(limit, trials).values() if len(group) > most]
    return not groups or any(_implies(other, limit, groups, trials) for other in others)


def _implies(other: Limit, limit: Limit, groups: Sequence[Sequence[int]], trials: Sequence[Mapping[str, str]]) -> bool:
    """Whether a limit keeps the trials of each of these groups as far apart as another demands of them."""
    if isinstance(other, Gap):
        enough = other.distance >= limit.distance if isinstance(limit, Gap) else other.distance > 1
    elif isinstance(limit, Gap):
        enough = other.length == 1 and limit.distance == 2
    else:
        enough = other.length <= limit.length
    kept_apart = [set(group) for group in watched(other, trials).values()]
    return enough and all(any(whole.issuperset(group) for whole in kept_apart) for group in groups)
