"""Orders in which no two neighbours are alike, counted exactly and drawn uniformly, however many trials there are."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial, prod
from random import Random


@dataclass(frozen=True)
class Arrangements:
    """All orders in which no two neighbours have the same label, or at most `alike` pairs of neighbours do.

    The classes are inserted one after another into the sequence of labels; the state is the number of neighbours
    that are still alike. A class of n, cut into g blocks (C(n-1, g-1) ways), b of which separate alike neighbours
    (C(j, b)) and g - b of which go elsewhere (C(L + 1 - j, g - b)), leaves j - b + n - g alike. Counting this
    forwards and choosing backwards makes every valid order equally likely, with no rejection.

    >>> Arrangements(("a", "a", "b")).count()
    2
    >>> Arrangements(("a", "a", "a", "b")).count()
    0
    >>> Arrangements(("a", "a", "a", "b"), alike=1).count()
    12
    """

    labels: tuple[Hashable, ...]
    alike: int = 0

    @cached_property
    def _classes(self) -> list[tuple[Hashable, int]]:
        return list(Counter(self.labels).items())

    @cached_property
    def _tables(self) -> list[dict[int, int]]:
        """For each number of inserted classes, the number of label sequences with j alike neighbours."""
        tables, length = [{0: 1}], 0
        for _, n in self._classes:
            following: dict[int, int] = defaultdict(int)
            for j, ways in tables[-1].items():
                for g in range(1, n + 1):
                    for b in range(min(g, j) + 1):
                        if more := _ways(length, n, j, g, b):
                            following[j - b + n - g] += ways * more
            tables.append(dict(following))
            length += n
        return tables

    def count(self) -> int:
        """Return the exact number of valid orders; trials with the same label are distinct."""
        return sum(self._patterns) * prod(factorial(n) for _, n in self._classes)

    @property
    def _patterns(self) -> list[int]:
        """The number of label sequences with 0, 1 ... alike neighbours, as far as they are allowed."""
        return [self._tables[-1].get(j, 0) for j in range(self.alike + 1)]

    def sample(self, random: Random) -> list[int]:
        """Return one valid order, as positions in `labels`, each with the same probability.

        Raises `ValueError` with the arithmetic where there is no valid order.
        """
        if not self.count():
            label, most = max(self._classes, key=lambda c: c[1])
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
        return [members[label].pop() for label in self._pattern(random)]

    def _pattern(self, random: Random) -> list[Hashable]:
        """Return a label sequence drawn uniformly: first the numbers of blocks, backwards, then their places."""
        steps, length = [], len(self.labels)
        alike = _choose([(ways, j, 0, 0) for j, ways in enumerate(self._patterns)], random)[1] if self.alike else 0
        for k in range(len(self._classes) - 1, -1, -1):
            n = self._classes[k][1]
            length -= n
            choices = []
            for j, ways in self._tables[k].items():
                wanted = j + n - alike  # g + b: so many blocks, some between alike neighbours, leave as many alike
                for g in range(max(1, wanted - j, (wanted + 1) // 2), min(n, wanted) + 1):
                    choices.append((ways * _ways(length, n, j, g, wanted - g), j, g, wanted - g))
            _, j, g, b = _choose(choices, random)
            steps.append((k, g, b))
            alike = j
        pattern: list[Hashable] = []
        for k, g, b in reversed(steps):
            pattern = _insert(pattern, *self._classes[k], g, b, random)
        return pattern


def _ways(length: int, n: int, j: int, g: int, b: int) -> int:
    return comb(n - 1, g - 1) * comb(j, b) * comb(length + 1 - j, g - b)


def _choose(choices: Sequence[tuple[int, int, int, int]], random: Random) -> tuple[int, int, int, int]:
    """Return one of the choices, with probability proportional to its first number, in exact integers."""
    point = random.randrange(sum(choice[0] for choice in choices))
    for choice in choices:
        point -= choice[0]
        if point < 0:
            return choice
    raise AssertionError("the weights sum to more than the point")


def _insert(pattern: list[Hashable], label: Hashable, n: int, g: int, b: int, random: Random) -> list[Hashable]:
    """Insert n copies of `label` as g blocks, b of them between alike neighbours, the others elsewhere."""
    gaps = range(len(pattern) + 1)
    between = [i for i in gaps if 0 < i < len(pattern) and pattern[i - 1] == pattern[i]]
    taken = set(between)
    elsewhere = [i for i in gaps if i not in taken]
    places = sorted(random.sample(between, b) + random.sample(elsewhere, g - b))
    cuts = sorted(random.sample(range(1, n), g - 1))
    sizes = [end - start for start, end in zip([0, *cuts], [*cuts, n], strict=True)]
    blocks = dict(zip(places, sizes, strict=True))
    return [out for i in gaps for out in ([label] * blocks.get(i, 0) + pattern[i : i + 1])]
