"""Orders under several rules at once, counted exactly over the states that trials pass through.

A state is what the rules remember and what is left to show. Values of one factor that no rule names are alike: a state
keeps, for each of them, what is left of it and its marks, sorted, so that orders which differ only in which value is which are
counted together. Counting runs backwards from the end; drawing runs forwards, each step with the probability that its
continuations have among all: every valid order is equally likely.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from random import Random

from .order_rules import FREE, Blocks, Edge, Gap, Limit, Run

Labels = Mapping[str, str]
Rule = Gap | Run | Edge | Blocks
Class = tuple[tuple[int, ...], tuple[int, ...]]  # what is left of each kind, and the marks of the class
State = tuple[
    tuple[Class, ...], tuple[int, ...], tuple[int, ...]
]  # classes, marks of other values, quotas of the block
Step = tuple[int, range, int, State]  # ways, the classes that are alike, kind, following state

WORK, STEP = 40, 4  # a step costs as much as so many classes; a state of the budget stands for the work of 40
UNMARKED = -1  # the mark of trials that a limit does not concern


class TooManyStates(Exception):
    """Counting would take more than the stated number of states."""


@dataclass(frozen=True)
class StateCounts:
    """Counts and draws the orders of `trials` that obey `rules`; marks are forgotten before the positions `starts`."""

    rules: tuple[Rule, ...]
    trials: tuple[Labels, ...]
    starts: frozenset[int]
    budget: int

    def count(self) -> int:
        """Return the exact number of valid orders; raises `TooManyStates` beyond the budget."""
        if self._counts is None:
            raise TooManyStates
        return self._counts[0].get(self._first, 0)

    def sample(self, random: Random) -> list[int]:
        """Return one valid order, each with the same probability, as positions in `trials`."""
        if not self.count():
            raise ValueError("there is no valid order to draw")
        members: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for i, labels in enumerate(self.trials):
            members.setdefault((self._class_of(labels), self._kind_of(labels)), []).append(i)
        for group in members.values():
            random.shuffle(group)
        after = self._counts or []
        state: State = self._first
        order: list[int] = []
        behind = [(self._left(name), name) for name, _ in self._classes]  # which value stands behind each class
        for position in range(len(self.trials)):
            steps = list(self._steps(state, position))
            weights = [ways * after[position + 1].get(following, 0) for ways, _, _, following in steps]
            _, alike, kind, state = steps[_pick(weights, random)]
            behind = sorted((self._forgotten(known, position), name) for known, name in behind)
            chosen = random.choice(alike)
            order.append(members[behind[chosen][1], self._kinds[kind]].pop())
            behind = [(self._moved(known, i == chosen, kind), name) for i, (known, name) in enumerate(behind)]
        return order

    # The factor whose values are alike, the other factors that rules look at, and the values and kinds there are.

    @cached_property
    def _alike(self) -> str | None:
        """The factor with the most values among those that rules look at without naming a value."""
        named = {
            r.factor for r in self.rules if isinstance(r, Edge) or (isinstance(r, (Gap, Run)) and r.value is not None)
        }
        named |= {r.factor for r in self.rules if isinstance(r, Blocks) and r.factor is not None}
        free = [r.factor for r in self.rules if isinstance(r, (Gap, Run)) and r.factor not in named]
        return max(free, key=lambda factor: len({labels[factor] for labels in self.trials}), default=None)

    @cached_property
    def _others(self) -> list[str]:
        return sorted({r.factor for r in self.rules if r.factor is not None} - {self._alike})

    def _class_of(self, labels: Labels) -> str:
        return labels[self._alike] if self._alike is not None else ""

    def _kind_of(self, labels: Labels) -> tuple[str, ...]:
        return tuple(labels[factor] for factor in self._others)

    @cached_property
    def _kinds(self) -> list[tuple[str, ...]]:
        return sorted({self._kind_of(labels) for labels in self.trials})

    @cached_property
    def _classes(self) -> list[tuple[str, Counter[tuple[str, ...]]]]:
        classes: dict[str, Counter[tuple[str, ...]]] = {}
        for labels in self.trials:
            classes.setdefault(self._class_of(labels), Counter())[self._kind_of(labels)] += 1
        return sorted(classes.items())

    @cached_property
    def _alike_limits(self) -> list[Limit]:
        """Limits on the factor whose values are alike: their marks stand in the classes."""
        return [r for r in self.rules if isinstance(r, (Gap, Run)) and r.factor == self._alike]

    @cached_property
    def _named(self) -> list[tuple[Limit, int, str]]:
        """Limits on other factors, one entry for each value they watch: limit, place of the factor in a kind, value."""
        limits = [r for r in self.rules if isinstance(r, (Gap, Run)) and r.factor != self._alike]
        return [
            (limit, self._others.index(limit.factor), value)
            for limit in limits
            for value in sorted({kind[self._others.index(limit.factor)] for kind in self._kinds})
            if limit.value in (None, value) and value != FREE
        ]

    @cached_property
    def _edges(self) -> list[Edge]:
        return [r for r in self.rules if isinstance(r, Edge)]

    @cached_property
    def _blocks(self) -> Blocks | None:
        return next((r for r in self.rules if isinstance(r, Blocks) and r.factor is not None), None)

    @cached_property
    def _quotas(self) -> tuple[int, ...]:
        """How many trials of each kind's balanced value a block holds, by value in sorted order."""
        if self._blocks is None:
            return ()
        place = self._others.index(str(self._blocks.factor))
        counts = Counter(self._kind_of(labels)[place] for labels in self.trials)
        return tuple(counts[value] // self._blocks.count for value in self._balanced)

    @cached_property
    def _balanced(self) -> list[str]:
        if self._blocks is None:
            return []
        return sorted({kind[self._others.index(str(self._blocks.factor))] for kind in self._kinds})

    def _left(self, name: str) -> Class:
        counts = dict(self._classes)[name]
        return tuple(counts[kind] for kind in self._kinds), (UNMARKED if name == FREE else 0,) * len(self._alike_limits)

    @cached_property
    def _first(self) -> State:
        classes = tuple(sorted(self._left(name) for name, _ in self._classes))
        return classes, (0,) * len(self._named), self._quotas

    def _steps(self, state: State, position: int) -> Iterator[Step]:
        """Yield each trial that may come next: in how many ways, from which class, of which kind, and what follows."""
        classes, marks, quotas = state
        if position in self.starts:
            classes = tuple(sorted(self._forgotten(known, position) for known in classes))
            marks = (0,) * len(marks)
        if self._blocks is not None and position in self._blocks.starts(len(self.trials))[:-1]:
            quotas = self._quotas
        at = 0
        for known, group in groupby(classes):
            alike = len(list(group))
            limits = zip(self._alike_limits, known[1], strict=True)
            if all(mark == UNMARKED or limit.allows(mark) for limit, mark in limits):
                for kind, left in enumerate(known[0]):
                    if left and self._may(kind, marks, quotas, position):
                        following = self._following(classes, marks, quotas, at, kind)
                        yield alike * left, range(at, at + alike), kind, following
            at += alike

    def _may(self, kind: int, marks: tuple[int, ...], quotas: tuple[int, ...], position: int) -> bool:
        values = self._kinds[kind]
        for (limit, place, value), mark in zip(self._named, marks, strict=True):
            if values[place] == value and not limit.allows(mark):
                return False
        for edge in self._edges:
            if not edge.allows(position, len(self.trials), values[self._others.index(edge.factor)]):
                return False
        return self._blocks is None or quotas[self._quota_of(kind)] > 0

    def _quota_of(self, kind: int) -> int:
        assert self._blocks is not None
        return self._balanced.index(self._kinds[kind][self._others.index(str(self._blocks.factor))])

    def _forgotten(self, known: Class, position: int) -> Class:
        left, marks = known
        return (left, tuple(min(mark, 0) for mark in marks)) if position in self.starts else known

    def _moved(self, known: Class, here: bool, kind: int) -> Class:
        left, marks = known
        if here:
            left = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
        limits = zip(self._alike_limits, marks, strict=True)
        return left, tuple(mark if mark == UNMARKED else limit.after(mark, here) for limit, mark in limits)

    def _following(
        self,
        classes: tuple[Class, ...],
        marks: tuple[int, ...],
        quotas: tuple[int, ...],
        chosen: int,
        kind: int,
    ) -> State:
        moved = tuple(sorted(self._moved(known, i == chosen, kind) for i, known in enumerate(classes)))
        values = self._kinds[kind]
        named = zip(self._named, marks, strict=True)
        marks = tuple(limit.after(mark, values[place] == value) for (limit, place, value), mark in named)
        if self._blocks is not None:
            spent = self._quota_of(kind)
            quotas = (*quotas[:spent], quotas[spent] - 1, *quotas[spent + 1 :])
        return moved, marks, quotas

    @cached_property
    def _counts(self) -> list[dict[State, int]] | None:
        """For each position, how many ways to go on from each state that can be reached there; None beyond the budget."""
        reached: list[dict[State, None]] = [{self._first: None}]
        states = work = 0
        for position in range(len(self.trials)):
            following: dict[State, None] = {}
            for state in reached[-1]:
                steps = [step[3] for step in self._steps(state, position)]
                following |= dict.fromkeys(steps)
                work += len(steps) * (STEP + len(self._classes))
                if work > WORK * self.budget:
                    return None
            reached.append(following)
            states += len(following)
            if states > self.budget:
                return None
        counts: list[dict[State, int]] = [dict.fromkeys(reached[-1], 1)]
        for position in range(len(self.trials) - 1, -1, -1):
            after = counts[-1]
            counts.append({state: self._going_on(state, position, after) for state in reached[position]})
        return counts[::-1]

    def _going_on(self, state: State, position: int, after: Mapping[State, int]) -> int:
        return sum(ways * after[following] for ways, _, _, following in self._steps(state, position))


def _pick(weights: Sequence[int], random: Random) -> int:
    """Return a position with probability proportional to its weight, in exact integers."""
    point = random.randrange(sum(weights))
    for position, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return position
    raise AssertionError("the weights sum to more than the point")
