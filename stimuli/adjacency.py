"""Orders in which no two neighbours are alike, counted exactly and drawn uniformly, however many trials there are."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, factorial, prod
from random import Random


@dataclass(frozen=True)
class Arrangements:
    """All orders in which no two neighbours have the same label, or at most `allowed_repeats` pairs of neighbours do.

    The classes are inserted one after another into the sequence of labels; the state is the number of neighbours
    that are still alike. A class of n, cut into g blocks (C(n-1, g-1) ways), b of which separate alike neighbours
    (C(j, b)) and g - b of which go elsewhere (C(L + 1 - j, g - b)), leaves j - b + n - g alike. Counting this
    forwards and choosing backwards makes every valid order equally likely, with no rejection.

    >>> Arrangements(("a", "a", "b")).count()
    2
    >>> Arrangements(("a", "a", "a", "b")).count()
    0
    >>> Arrangements(("a", "a", "a", "b"), allowed_repeats=1).count()
    12
    """

    labels: tuple[Hashable, ...]
    allowed_repeats: int = 0

    @cached_property
    def _label_counts(self) -> list[tuple[Hashable, int]]:
        return list(Counter(self.labels).items())

    @property
    def _sequence_counts(self) -> Sequence[Mapping[int, int]]:
        return _count_sequences(tuple(n for _, n in self._label_counts))

    def count(self) -> int:
        """Return the exact number of valid orders; trials with the same label are distinct."""
        return sum(self._pattern_counts) * prod(factorial(n) for _, n in self._label_counts)

    @property
    def _pattern_counts(self) -> list[int]:
        """The number of label sequences with 0, 1 ... alike neighbours, as far as they are allowed."""
        return [self._sequence_counts[-1].get(j, 0) for j in range(self.allowed_repeats + 1)]

    def sample(self, random: Random) -> list[int]:
        """Return one valid order, as positions in `labels`, each with the same probability.

        Raises `ValueError` with the arithmetic where there is no valid order.
        """
        if not self.count():
            label, most = max(self._label_counts, key=lambda c: c[1])
            rest = len(self.labels) - most
            raise ValueError(
                f"no order keeps the {most} trials of {label!r} apart: {rest} others separate at most {rest + 1}; "
                "show fewer of them, add other trials, or drop the rule no_adjacent"
            )
        members: dict[Hashable, list[int]] = defaultdict(list)
        for position, label in enumerate(self.labels):
            members[label].append(position)
        for positions in members.values():
            random.shuffle(positions)
        return [members[label].pop() for label in self._draw_pattern(random)]

    def _draw_pattern(self, random: Random) -> list[Hashable]:
        """Return a label sequence drawn uniformly: first the numbers of blocks, backwards, then their places."""
        steps, length = [], len(self.labels)
        repeats = (
            _choose_weighted([(ways, j, 0, 0) for j, ways in enumerate(self._pattern_counts)], random)[1]
            if self.allowed_repeats
            else 0
        )
        for k in range(len(self._label_counts) - 1, -1, -1):
            n = self._label_counts[k][1]
            length -= n
            choices = []
            for j, ways in self._sequence_counts[k].items():
                n_splits = j + n - repeats  # g + b: so many blocks, some between alike neighbours, leave as many alike
                for g in range(max(1, n_splits - j, (n_splits + 1) // 2), min(n, n_splits) + 1):
                    choices.append((ways * _count_ways(length, n, j, g, n_splits - g), j, g, n_splits - g))
            _, j, g, b = _choose_weighted(choices, random)
            steps.append((k, g, b))
            repeats = j
        pattern: list[Hashable] = []
        for k, g, b in reversed(steps):
            pattern = _insert_blocks(pattern, *self._label_counts[k], g, b, random)
        return pattern


@lru_cache(maxsize=16)  # the lists of a study have classes of the same sizes
def _count_sequences(sizes: tuple[int, ...]) -> Sequence[Mapping[int, int]]:
    """Return, for each number of inserted classes of these sizes, the number of label sequences with j alike neighbours."""
    tables, length = [{0: 1}], 0
    for n in sizes:
        following: dict[int, int] = defaultdict(int)
        for j, ways in tables[-1].items():
            for g in range(1, n + 1):
                for b in range(min(g, j) + 1):
                    if more := _count_ways(length, n, j, g, b):
                        following[j - b + n - g] += ways * more
        tables.append(dict(following))
        length += n
    return tables


def _count_ways(length: int, n: int, j: int, g: int, b: int) -> int:
    return comb(n - 1, g - 1) * comb(j, b) * comb(length + 1 - j, g - b)


def _choose_weighted(choices: Sequence[tuple[int, int, int, int]], random: Random) -> tuple[int, int, int, int]:
    """Return one of the choices, with probability proportional to its first number, in exact integers."""
    point = random.randrange(sum(choice[0] for choice in choices))
    for choice in choices:
        point -= choice[0]
        if point < 0:
            return choice
    raise AssertionError("the weights sum to more than the point")


def _insert_blocks(pattern: list[Hashable], label: Hashable, n: int, g: int, b: int, random: Random) -> list[Hashable]:
    """Insert n copies of `label` as g blocks, b of them between alike neighbours, the others elsewhere."""
    gaps = range(len(pattern) + 1)
    between = [i for i in gaps if 0 < i < len(pattern) and pattern[i - 1] == pattern[i]]
    taken = set(between)
    elsewhere = [i for i in gaps if i not in taken]
    chosen_gaps = sorted(random.sample(between, b) + random.sample(elsewhere, g - b))
    cuts = sorted(random.sample(range(1, n), g - 1))
    sizes = [end - start for start, end in zip([0, *cuts], [*cuts, n], strict=True)]
    blocks = dict(zip(chosen_gaps, sizes, strict=True))
    return [out for i in gaps for out in ([label] * blocks.get(i, 0) + pattern[i : i + 1])]
