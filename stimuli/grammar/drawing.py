"""Draws without repetition and without rejection: ranks of a seeded permutation, in cells that the plan fills.

A cell is a shape (which alternative each phrase has) with, where a slot is balanced or limited, one entry in that slot. How many
come from each cell is settled first, from exact counts; in each, ranks follow a random permutation of all there are, so that a
string that was drawn before is replaced by the next rank.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from .counting import Counts, Shape, Thinned
from .graphs import Alternatives, Derivation, Graph, Variable

Entry = tuple[int, int]  # class and position
PLANS = ("shares", "uniform")
PASSED = 100  # ranks for each that is wanted that may be passed over before giving up
PATIENCE = 2  # ranks of a cell that are passed over, beside a tenth of what is wanted, for sentences that come again


class TooFew(ValueError):
    """Fewer can be drawn than were asked for; `reached` says how many."""

    def __init__(self, message: str, reached: int) -> None:
        super().__init__(message)
        self.reached = reached


@dataclass(frozen=True)
class Plan:
    """What is drawn of all there is.

    With `shares`, each alternative of a phrase has its weight's share of the draws (largest remainder); with `uniform`, every
    assignment is equally likely. Variables in `balanced` have each entry equally often, phrases each lemma of their head; a lemma
    of one in `at_most` comes so often at most.
    """

    kind: str = "shares"
    balanced: tuple[str, ...] = ()
    at_most: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in PLANS:
            raise ValueError(f"plan is {self.kind!r}; expected one of {', '.join(PLANS)}")


@dataclass(frozen=True)
class Drawn:
    """What was drawn, and how many ranks were passed over: for a string drawn before, or because they were not accepted."""

    derivations: list[Derivation]
    collisions: int = 0
    refused: int = 0


def permutation(total: int, random: Random) -> Iterator[int]:
    """Yield 0 to total - 1 in random order, each once; memory grows with what is taken, whatever the total.

    Of the exchanges of a shuffle only those that were made are kept: neither a large total nor taking all of it costs more.

    >>> sorted(permutation(4, Random(1)))
    [0, 1, 2, 3]
    >>> next(permutation(10**30, Random(1))) < 10**30
    True
    """
    moved: dict[int, int] = {}
    for n in range(total):
        other = random.randrange(n, total)
        yield moved.pop(other, other) if other == n else moved.get(other, other)
        if other != n:
            moved[other] = moved.pop(n, n)


def largest_remainder(n: int, weights: Sequence[float], random: Random) -> list[int]:
    """Return how many of n each weight gets, each its share rounded down, what is left to the largest remainders.

    >>> largest_remainder(10, [4, 2, 1], Random(1))
    [6, 3, 1]
    """
    whole = math.fsum(weights)
    exact = [n * weight / whole for weight in weights]
    shares = [math.floor(share + 1e-9) for share in exact]
    order = sorted(range(len(weights)), key=lambda i: (shares[i] - exact[i], random.random()))
    for i in order[: n - sum(shares)]:
        shares[i] += 1
    return shares


def draw(
    alternatives: Alternatives,
    n: int,
    random: Random,
    plan: Plan | None = None,
    *,
    form: Callable[[int, str, Entry], Hashable] | None = None,
    text: Callable[[Derivation], tuple[Hashable, ...] | None] | None = None,
    counts: Counts | None = None,
) -> Drawn:
    """Return n assignments that differ in what they print, and as far as there are any, in each sentence of it.

    `form` says what is printed of an entry of a variable in a top alternative, by which balanced entries are told apart; `text`
    the sentences printed of an assignment, or None where it is not accepted. Raises `TooFew` with what there is.
    """
    plan = plan or Plan()
    counts = counts or Counts()
    total = counts.of(alternatives).total
    if n > total:
        raise TooFew(f"{n} asked for, but there are {total}", total)
    draws = _Draws(alternatives, random, plan, counts, form or (lambda top, name, entry: (name, entry)))
    taken: list[Derivation] = []
    seen: set[Hashable] = set()
    aside: list[tuple[Derivation, Hashable]] = []  # in which a sentence comes again
    collisions = refused = 0
    most = PASSED * n + 10_000

    def take(cell: "_Cell", wanted: int) -> int:
        nonlocal collisions, refused
        patience = wanted // 10 + PATIENCE
        while wanted and collisions + refused < most and (derivation := next(cell.derivations, None)) is not None:
            printed = text(derivation) if text else (len(taken),)
            if printed is None:
                refused += 1
                continue
            sentences = list(enumerate(printed))
            if printed in seen:
                collisions += 1
            elif patience and any(sentence in seen for sentence in sentences):
                patience -= 1
                collisions += 1
                aside.append((derivation, printed))
            else:
                seen.update([printed, *sentences])
                taken.append(derivation)
                wanted -= 1
        return wanted

    wanted = draws.allocate(n)
    short = sum(take(cell, number) for cell, number in wanted.items())
    if short:
        spare = [*wanted]
        random.shuffle(spare)
        for cell in itertools.chain(spare, draws.others()):
            short = take(cell, short)
            if not short:
                break
    for derivation, printed in aside if short else ():
        if short and printed not in seen:
            seen.add(printed)
            taken.append(derivation)
            collisions -= 1
            short -= 1
    if short:
        searched = f"of {total} assignments" if collisions + refused < most else f"after {most} tries"
        raise TooFew(
            f"{n} asked for, but only {n - short} differ: {searched}, {collisions} print a sentence again"
            + (f" and {refused} are not accepted" if refused else ""),
            n - short,
        )
    random.shuffle(taken)
    return Drawn(taken, collisions, refused)


def everything(alternatives: Alternatives, text: Callable[[Derivation], Hashable | None] | None = None) -> Drawn:
    """Return every assignment, by rank, those that print what an earlier one did left out; raises `TooFew` for none."""
    counts = Counts().of(alternatives)
    if not counts.total:
        raise TooFew("all asked for, but there are 0", 0)
    seen: set[Hashable] = set()
    found: list[Derivation] = []
    refused = 0
    for rank in range(counts.total):
        derivation = counts.unrank(rank)
        printed = text(derivation) if text else rank
        if printed is None:
            refused += 1
        elif printed not in seen:
            seen.add(printed)
            found.append(derivation)
    return Drawn(found, counts.total - len(found) - refused, refused)


def sample(alternatives: Alternatives, random: Random) -> Iterator[Derivation]:
    """Yield assignments without end, with repetitions: each alternative by its weight, inside it all equally likely."""
    counts = Counts(weighted=True, random=random).of(alternatives)
    if not counts.table.sum():
        raise TooFew("no assignment meets the restrictions", 0)
    while True:
        yield counts.unrank(None)


def disjoint(
    alternatives: Alternatives, paths: Sequence[str], sizes: Sequence[int], random: Random
) -> list[Alternatives]:
    """Return as many grammars as sizes that share no lemma in the slots at `paths`; larger ones have more lemmas.

    Lemmas are dealt from each group that the restrictions do not tell apart, so that every part has some of each.
    """
    groups: dict[str, set[tuple[str, int, int]]] = {}
    for path in paths:
        for n, variable in enumerate(_at(alternatives, path)):
            for c, members in enumerate(variable.classes):
                for lemma in members:
                    groups.setdefault(lemma, set()).add((path, n, c))
    order = sorted(groups)
    random.shuffle(order)
    order.sort(key=lambda lemma: sorted(groups[lemma]))
    parts: dict[str, int] = {}
    dealt = [0.0] * len(sizes)
    for lemma in order:
        part = min(range(len(sizes)), key=lambda i: (dealt[i] / sizes[i], i))
        dealt[part] += 1
        parts[lemma] = part
    split = []
    for n in range(len(sizes)):
        mine = alternatives
        for path in paths:
            mine = thinned(mine, path, lambda lemma, n=n: parts[lemma] == n)  # type: ignore[misc]
        split.append(mine)
    return split


def thinned(alternatives: Alternatives, path: str, keep: Callable[[str], bool]) -> Alternatives:
    """Return the grammar with only those lemmas in the slot at a path: a slot, a phrase (its head), or a slot inside one (S.N)."""

    def in_graph(graph: Graph, path: str) -> Graph:
        variables = tuple(_thinned(v, keep) if v.name == path else v for v in graph.variables)
        phrases = []
        for phrase in graph.phrases:
            inner = phrase.alternatives
            if path.startswith(f"{phrase.name}."):
                inner = thinned(inner, path.removeprefix(f"{phrase.name}."), keep)
            elif path == phrase.name and path in phrase.ports:
                port = phrase.ports.index(path)
                inner = replace(
                    inner,
                    members=tuple(
                        replace(member, graph=in_graph(member.graph, member.exports[port].variable or ""))
                        for member in inner.members
                    ),
                )
            phrases.append(replace(phrase, alternatives=inner))
        return replace(graph, variables=variables, phrases=tuple(phrases))

    members = tuple(replace(member, graph=in_graph(member.graph, path)) for member in alternatives.members)
    return replace(alternatives, members=members)


def _thinned(variable: Variable, keep: Callable[[str], bool]) -> Variable:
    before = variable.positions if isinstance(variable, Thinned) else [range(len(of)) for of in variable.classes]
    positions = tuple(
        tuple(i for i in there if keep(members[i])) for members, there in zip(variable.classes, before, strict=True)
    )
    return Thinned(variable.name, variable.classes, positions)


def _at(alternatives: Alternatives, path: str) -> Iterator[Variable]:
    """Yield the variables that stand at a path, in each alternative; those that `thinned` would thin."""
    marked = thinned(alternatives, path, lambda lemma: True)

    def walk(inner: Alternatives) -> Iterator[Variable]:
        for member in inner.members:
            yield from (v for v in member.graph.variables if isinstance(v, Thinned))
            for phrase in member.graph.phrases:
                yield from walk(phrase.alternatives)

    return walk(marked)


@dataclass(frozen=True, eq=False)
class _Cell:
    derivations: Iterator[Derivation]


@dataclass(frozen=True, eq=False)
class _Row:
    """A shape with the entries that are settled, and how many are to come from it."""

    shape: Shape | None
    fixed: Mapping[str, Entry]
    n: int


class _Draws:
    """Settles how many assignments come from each cell."""

    def __init__(
        self,
        alternatives: Alternatives,
        random: Random,
        plan: Plan,
        counts: Counts,
        form: Callable[[int, str, Entry], Hashable],
    ) -> None:
        self.alternatives, self.random, self.plan, self.counts, self.form = alternatives, random, plan, counts, form
        self.words = {v.name for member in alternatives.members for v in member.graph.variables}
        # Words are settled before heads of phrases, whose lemmas leave more open.
        self.limited = tuple(sorted(dict.fromkeys([*plan.balanced, *plan.at_most]), key=lambda v: v not in self.words))
        self.met: dict[Hashable, _Cell] = {}

    def allocate(self, n: int) -> dict[_Cell, int]:
        """Return how many of n come from each cell."""
        rows = self.rows(n)
        for variable in self.limited:
            rows = self._filled(rows, variable)
        wanted: Counter[_Cell] = Counter()
        for row in rows:
            wanted[self.cell(row)] += row.n
        return dict(wanted)

    def rows(self, n: int) -> list[_Row]:
        """Return the shapes, and how many of n each has; none has more than there are."""
        top = self.alternatives
        if self.plan.kind == "uniform":
            if not self.limited:
                return [_Row(None, {}, n)]
            shapes: list[Shape] = [(i, (None,) * len(m.graph.phrases)) for i, m in enumerate(top.members)]
            parts = largest_remainder(n, [self.capacity(shape) for shape in shapes], self.random)
            wanted = Counter(dict(zip(shapes, parts, strict=True)))
        else:
            wanted = Counter(self.shapes(top, n, lambda shape: shape))
        short = 0
        for shape in wanted:
            excess = max(0, wanted[shape] - self.capacity(shape))
            wanted[shape] -= excess
            short += excess
        for shape in itertools.chain(list(wanted), every_shape(top)) if short else ():
            more = min(short, self.capacity(shape) - wanted[shape])
            wanted[shape] += more
            short -= more
            if not short:
                break
        return [_Row(shape, {}, number) for shape, number in wanted.items() if number]

    def capacity(self, shape: Shape | None) -> int:
        """Return how many assignments have a shape."""
        if shape is None:
            return self.counts.of(self.alternatives).total
        graph = self.alternatives.members[shape[0]].graph
        keep = tuple(name for name in self.limited if any(v.name == name for v in graph.variables))
        return int(sum(self.counts.inside(graph, shape[1], keep).with_sizes.flat))

    def shapes(self, alternatives: Alternatives, n: int, whole: Callable[[Shape], Shape]) -> list[Shape]:
        """Return n shapes of a phrase: each alternative its share of them, and so on inside, in random order."""
        members = alternatives.members
        empty = [(None,) * len(member.graph.phrases) for member in members]
        possible = [i for i in range(len(members)) if self.capacity(whole((i, empty[i])))]
        if not possible or not n:
            return []
        shapes: list[Shape] = []
        parts = largest_remainder(n, [members[i].weight for i in possible], self.random)
        for i, number in zip(possible, parts, strict=True):
            inside = []
            for j, phrase in enumerate(members[i].graph.phrases):

                def outer(shape: Shape, i: int = i, j: int = j) -> Shape:
                    return whole((i, (*empty[i][:j], shape, *empty[i][j + 1 :])))

                inside.append(self.shapes(phrase.alternatives, number, outer))
            shapes += [(i, tuple(of[k] for of in inside)) for k in range(number)]
        self.random.shuffle(shapes)
        return shapes

    def _filled(self, rows: Sequence[_Row], variable: str) -> list[_Row]:
        """Return the rows with an entry of a variable settled in each."""
        limit = self.plan.at_most.get(variable)
        balanced = variable in self.plan.balanced
        # Of words each form comes equally often, of heads of phrases each lemma.
        by_form = balanced and variable in self.words
        columns: dict[Hashable, int] = {}
        groups: dict[Hashable, int] = {}
        group_of: list[int] = []
        capacities: list[dict[int, tuple[Entry, int]]] = []
        for row in rows:
            capacities.append({})
            for entry, lemma, form, capacity in self._entries(row, variable):
                if form not in columns:
                    columns[form] = len(columns)
                    group_of.append(groups.setdefault(form if by_form else lemma, len(groups)))
                capacities[-1][columns[form]] = entry, capacity
        room = [0] * len(groups)
        for of in capacities:
            for column, (_, capacity) in of.items():
                room[group_of[column]] += capacity
        if limit is not None:
            room = [min(limit, capacity) for capacity in room]
        needed = sum(row.n for row, of in zip(rows, capacities, strict=True) if of)
        if sum(room) < needed:
            raise TooFew(
                f"{needed} asked for, but at_most = {limit} in {variable} leaves {sum(room)}: {len(room)} lemmas",
                sum(room),
            )
        left = np.array(self._level(needed, room) if balanced else room, float)
        settled: Counter[tuple[int, int]] = Counter()
        places = np.array(group_of, int)
        rank = np.array([self.random.random() for _ in columns])
        waiting = 0
        order = sorted(range(len(rows)), key=lambda r: (len(capacities[r]), r))
        for r in order:
            here = np.array(sorted(capacities[r]), int)
            if not len(here):
                continue
            free = np.array([min(capacities[r][c][1], 10**9) for c in here.tolist()], float)
            weight = np.array([float(capacities[r][c][1]) for c in here.tolist()])
            for _ in range(rows[r].n):
                open_ = (free > 0) & (left[places[here]] > 0)
                if not open_.any():
                    waiting += 1
                    continue
                if balanced:
                    score = np.where(open_, left[places[here]] + rank[here] / 2, -1)
                    at = int(score.argmax())
                    if not by_form:
                        alike = np.flatnonzero(open_ & (places[here] == places[here[at]]))
                        at = self.random.choices(alike.tolist(), weight[alike].tolist())[0]
                else:
                    at = self.random.choices(range(len(here)), (weight * open_).tolist())[0]
                free[at] -= 1
                left[places[here[at]]] -= 1
                settled[r, int(here[at])] += 1
        # What its own shape had no room for goes where there is some, first within the quotas.
        for quota in (True, False):
            for r, of in enumerate(capacities) if waiting else ():
                for column, (_, capacity) in of.items():
                    more = min(waiting, capacity - settled[r, column])
                    if quota or limit is not None:
                        more = min(more, int(left[group_of[column]]))
                    if more > 0:
                        settled[r, column] += more
                        left[group_of[column]] -= more
                        waiting -= more
        filled = [row for row, of in zip(rows, capacities, strict=True) if not of]
        for (r, column), number in sorted(settled.items()):
            filled.append(_Row(rows[r].shape, {**rows[r].fixed, variable: capacities[r][column][0]}, number))
        return filled

    def _level(self, n: int, room: Sequence[int]) -> list[int]:
        """Return how many of n each gets, as equal as their room lets them be."""
        got = [0] * len(room)
        order = list(range(len(room)))
        self.random.shuffle(order)
        order.sort(key=lambda i: min(room[i], n))
        for done, i in enumerate(order):
            got[i] = min(room[i], n // (len(order) - done))
            n -= got[i]
        return got

    def _entries(self, row: _Row, variable: str) -> Iterator[tuple[Entry, str, Hashable, int]]:
        """Yield the entries that a variable can have in a row: entry, lemma, what is printed, and how many assignments have it."""
        top, shapes = row.shape or (0, ())
        graph = self.alternatives.members[top].graph
        found = next((v for v in graph.variables if v.name == variable), None)
        heads = next((phrase.lemmas[variable] for phrase in graph.phrases if variable in phrase.lemmas), ())
        if found is None and not heads:
            return
        keep = (*row.fixed, variable)
        joint = self.counts.inside(graph, shapes, keep).joint
        numbers = joint[tuple(of for of, _ in row.fixed.values())].tolist()
        if found is None:  # a phrase whose labels are lemmas of its head
            of_lemma: dict[str, int] = {}
            for label, lemma in enumerate(heads):
                if numbers[label]:
                    of_lemma[lemma] = of_lemma.get(lemma, 0) + 1
                    yield (label, 0), lemma, (lemma, of_lemma[lemma]), numbers[label]
            return
        met: Counter[Hashable] = Counter()
        for of, members in enumerate(found.classes):
            positions = found.positions[of] if isinstance(found, Thinned) else range(len(members))
            for position in positions if numbers[of] else ():
                form = self.form(top, variable, (of, position))
                met[form] += 1
                yield (of, position), members[position], (form, met[form]), numbers[of]

    def cell(self, row: _Row) -> _Cell:
        """Return the cell of a row; its assignments come in the order of a permutation of its own."""
        key = row.shape, tuple(sorted(row.fixed.items()))
        if key not in self.met:
            self.met[key] = _Cell(self._derivations(row))
        return self.met[key]

    def _derivations(self, row: _Row) -> Iterator[Derivation]:
        if not row.fixed:
            counted = self.counts.of(self.alternatives, row.shape)
            return (counted.unrank(rank) for rank in permutation(counted.total, self.random))
        top, shapes = row.shape or (0, ())
        inside = self.counts.inside(self.alternatives.members[top].graph, shapes, tuple(row.fixed))
        kept = {name: of for name, (of, _) in row.fixed.items()}
        total = int(inside.joint[tuple(kept.values())])
        words = {name: entry for name, entry in row.fixed.items() if name in inside.variables}
        return (inside.unrank(kept, rank, words, top) for rank in permutation(total, self.random))

    def others(self) -> Iterator[_Cell]:
        """Yield the cells that nothing was to come from; with a limit there are none, since they would pass it."""
        if self.plan.at_most or (self.plan.kind == "uniform" and not self.limited):
            return
        for shape in every_shape(self.alternatives):
            if not self.capacity(shape):
                continue
            rows = [_Row(shape, {}, 0)]
            for variable in self.limited:
                rows = [
                    _Row(shape, {**row.fixed, variable: entry}, 0)
                    for row in rows
                    for entry, *_ in self._entries(row, variable)
                ] or rows
            for row in rows:
                if (row.shape, tuple(sorted(row.fixed.items()))) not in self.met:
                    yield self.cell(row)


def every_shape(alternatives: Alternatives) -> Iterator[Shape]:
    """Yield every shape there is."""
    for i, member in enumerate(alternatives.members):
        for inside in itertools.product(*(list(every_shape(phrase.alternatives)) for phrase in member.graph.phrases)):
            yield i, inside
