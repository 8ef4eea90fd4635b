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

from .order_rules import NOT_APPLICABLE, Blocks, EdgeTrials, Limit, MaxRun, MinGap

Labels = Mapping[str, str]
OrderRule = MinGap | MaxRun | EdgeTrials | Blocks
ClassState = tuple[tuple[int, ...], tuple[int, ...]]  # what is left of each kind, and the marks of the class
State = tuple[tuple[ClassState, ...], tuple[int, ...], tuple[int, ...]]  # classes, marks of other values, quotas of the block
Step = tuple[int, range, int, State]  # ways, the classes that are alike, kind, following state

WORK_PER_STATE, COST_PER_STEP = (40, 4)  # a step costs as much as so many classes; a state of the budget stands for the work of 40
NO_MARK = -1  # the mark of trials that a limit does not concern


class TooManyStates(Exception):
    """Counting would take more than the stated number of states."""


@dataclass(frozen=True)
class StateCounter:
    """Counts and draws the orders of `trials` that obey `rules`; marks are forgotten before the positions `starts`."""

    rules: tuple[OrderRule, ...]
    trials: tuple[Labels, ...]
    starts: frozenset[int]
    budget: int

    def count(self) -> int:
        """Return the exact number of valid orders; raises `TooManyStates` beyond the budget."""
        if self._counts is None:
            raise TooManyStates
        return self._counts[0].get(self._initial_state, 0)

    def sample(self, random: Random) -> list[int]:
        """Return one valid order, each with the same probability, as positions in `trials`."""
        if not self.count():
            raise ValueError("there is no valid order to draw")
        members: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for i, labels in enumerate(self.trials):
            members.setdefault((self._get_class(labels), self._get_kind(labels)), []).append(i)
        for group in members.values():
            random.shuffle(group)
        continuations = self._counts or []
        state: State = self._initial_state
        order: list[int] = []
        named_classes = [
            (self._build_initial_class(name), name) for name, _ in self._classes
        ]  # which value stands behind each class
        for position in range(len(self.trials)):
            steps = list(self._list_steps(state, position))
            weights = [ways * continuations[position + 1].get(following, 0) for ways, _, _, following in steps]
            _, candidates, kind, state = steps[_pick_weighted(weights, random)]
            named_classes = sorted((self._reset_marks(class_state, position), name) for class_state, name in named_classes)
            chosen = random.choice(candidates)
            order.append(members[named_classes[chosen][1], self._kinds[kind]].pop())
            named_classes = [
                (self._update_class(class_state, i == chosen, kind), name) for i, (class_state, name) in enumerate(named_classes)
            ]
        return order

    # The factor whose values are alike, the other factors that rules look at, and the values and kinds there are.

    @cached_property
    def _class_factor(self) -> str | None:
        """The factor with the most values among those that rules look at without naming a value."""
        named = {
            r.factor for r in self.rules if isinstance(r, EdgeTrials) or (isinstance(r, (MinGap, MaxRun)) and r.value is not None)
        }
        named |= {r.factor for r in self.rules if isinstance(r, Blocks) and r.factor is not None}
        free = [r.factor for r in self.rules if isinstance(r, (MinGap, MaxRun)) and r.factor not in named]
        return max(free, key=lambda factor: len({labels[factor] for labels in self.trials}), default=None)

    @cached_property
    def _other_factors(self) -> list[str]:
        return sorted({r.factor for r in self.rules if r.factor is not None} - {self._class_factor})

    def _get_class(self, labels: Labels) -> str:
        return labels[self._class_factor] if self._class_factor is not None else ""

    def _get_kind(self, labels: Labels) -> tuple[str, ...]:
        return tuple(labels[factor] for factor in self._other_factors)

    @cached_property
    def _kinds(self) -> list[tuple[str, ...]]:
        return sorted({self._get_kind(labels) for labels in self.trials})

    @cached_property
    def _classes(self) -> list[tuple[str, Counter[tuple[str, ...]]]]:
        classes: dict[str, Counter[tuple[str, ...]]] = {}
        for labels in self.trials:
            classes.setdefault(self._get_class(labels), Counter())[self._get_kind(labels)] += 1
        return sorted(classes.items())

    @cached_property
    def _class_limits(self) -> list[Limit]:
        """Limits on the factor whose values are alike: their marks stand in the classes."""
        return [r for r in self.rules if isinstance(r, (MinGap, MaxRun)) and r.factor == self._class_factor]

    @cached_property
    def _value_limits(self) -> list[tuple[Limit, int, str]]:
        """Limits on other factors, one entry for each value they watch: limit, place of the factor in a kind, value."""
        limits = [r for r in self.rules if isinstance(r, (MinGap, MaxRun)) and r.factor != self._class_factor]
        return [
            (limit, self._other_factors.index(limit.factor), value)
            for limit in limits
            for value in sorted({kind[self._other_factors.index(limit.factor)] for kind in self._kinds})
            if limit.value in (None, value) and value != NOT_APPLICABLE
        ]

    @cached_property
    def _edges(self) -> list[EdgeTrials]:
        return [r for r in self.rules if isinstance(r, EdgeTrials)]

    @cached_property
    def _blocks(self) -> Blocks | None:
        return next((r for r in self.rules if isinstance(r, Blocks) and r.factor is not None), None)

    @cached_property
    def _quotas(self) -> tuple[int, ...]:
        """How many trials of each kind's balanced value a block holds, by value in sorted order."""
        if self._blocks is None:
            return ()
        factor_index = self._other_factors.index(str(self._blocks.factor))
        counts = Counter(self._get_kind(labels)[factor_index] for labels in self.trials)
        return tuple(counts[value] // self._blocks.count for value in self._balanced_values)

    @cached_property
    def _balanced_values(self) -> list[str]:
        if self._blocks is None:
            return []
        return sorted({kind[self._other_factors.index(str(self._blocks.factor))] for kind in self._kinds})

    def _build_initial_class(self, name: str) -> ClassState:
        counts = dict(self._classes)[name]
        return tuple(counts[kind] for kind in self._kinds), (NO_MARK if name == NOT_APPLICABLE else 0,) * len(self._class_limits)

    @cached_property
    def _initial_state(self) -> State:
        classes = tuple(sorted(self._build_initial_class(name) for name, _ in self._classes))
        return classes, (0,) * len(self._value_limits), self._quotas

    def _list_steps(self, state: State, position: int) -> Iterator[Step]:
        """Yield each trial that may come next: in how many ways, from which class, of which kind, and what follows."""
        classes, marks, quotas = state
        if position in self.starts:
            classes = tuple(sorted(self._reset_marks(class_state, position) for class_state in classes))
            marks = (0,) * len(marks)
        if self._blocks is not None and position in self._blocks.list_starts(len(self.trials))[:-1]:
            quotas = self._quotas
        index = 0
        for class_state, group in groupby(classes):
            n_equal = len(list(group))
            limits = zip(self._class_limits, class_state[1], strict=True)
            if all(mark == NO_MARK or limit.is_allowed(mark) for limit, mark in limits):
                for kind, left in enumerate(class_state[0]):
                    if left and self._is_allowed(kind, marks, quotas, position):
                        following = self._build_next_state(classes, marks, quotas, index, kind)
                        yield n_equal * left, range(index, index + n_equal), kind, following
            index += n_equal

    def _is_allowed(self, kind: int, marks: tuple[int, ...], quotas: tuple[int, ...], position: int) -> bool:
        values = self._kinds[kind]
        for (limit, factor_index, value), mark in zip(self._value_limits, marks, strict=True):
            if values[factor_index] == value and not limit.is_allowed(mark):
                return False
        for edge in self._edges:
            if not edge.is_allowed(position, len(self.trials), values[self._other_factors.index(edge.factor)]):
                return False
        return self._blocks is None or quotas[self._find_quota(kind)] > 0

    def _find_quota(self, kind: int) -> int:
        assert self._blocks is not None
        return self._balanced_values.index(self._kinds[kind][self._other_factors.index(str(self._blocks.factor))])

    def _reset_marks(self, class_state: ClassState, position: int) -> ClassState:
        left, marks = class_state
        return (left, tuple(min(mark, 0) for mark in marks)) if position in self.starts else class_state

    def _update_class(self, class_state: ClassState, is_match: bool, kind: int) -> ClassState:
        left, marks = class_state
        if is_match:
            left = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
        limits = zip(self._class_limits, marks, strict=True)
        return left, tuple(mark if mark == NO_MARK else limit.update_mark(mark, is_match) for limit, mark in limits)

    def _build_next_state(
        self, classes: tuple[ClassState, ...], marks: tuple[int, ...], quotas: tuple[int, ...], chosen: int, kind: int
    ) -> State:
        moved = tuple(sorted(self._update_class(class_state, i == chosen, kind) for i, class_state in enumerate(classes)))
        values = self._kinds[kind]
        named = zip(self._value_limits, marks, strict=True)
        marks = tuple(limit.update_mark(mark, values[factor_index] == value) for (limit, factor_index, value), mark in named)
        if self._blocks is not None:
            spent = self._find_quota(kind)
            quotas = (*quotas[:spent], quotas[spent] - 1, *quotas[spent + 1 :])
        return moved, marks, quotas

    @cached_property
    def _counts(self) -> list[dict[State, int]] | None:
        """For each position, how many ways to go on from each state that can be reached there; None beyond the budget."""
        reached: list[dict[State, None]] = [{self._initial_state: None}]
        states = work = 0
        for position in range(len(self.trials)):
            following: dict[State, None] = {}
            for state in reached[-1]:
                steps = [step[3] for step in self._list_steps(state, position)]
                following |= dict.fromkeys(steps)
                work += len(steps) * (COST_PER_STEP + len(self._classes))
                if work > WORK_PER_STATE * self.budget:
                    return None
            reached.append(following)
            states += len(following)
            if states > self.budget:
                return None
        counts: list[dict[State, int]] = [dict.fromkeys(reached[-1], 1)]
        for position in range(len(self.trials) - 1, -1, -1):
            continuations = counts[-1]
            counts.append({state: self._count_continuations(state, position, continuations) for state in reached[position]})
        return counts[::-1]

    def _count_continuations(self, state: State, position: int, continuations: Mapping[State, int]) -> int:
        return sum(ways * continuations[following] for ways, _, _, following in self._list_steps(state, position))


def _pick_weighted(weights: Sequence[int], random: Random) -> int:
    """Return a position with probability proportional to its weight, in exact integers."""
    point = random.randrange(sum(weights))
    for position, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return position
    raise AssertionError("the weights sum to more than the point")
