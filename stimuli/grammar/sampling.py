"""Draws without repetition and without rejection: ranks of a seeded permutation, in cells that the sampling scheme fills.

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

from .derivation_counts import Counts, FilteredVariable, Shape
from .graphs import Alternatives, Derivation, Graph, Variable

EntryPosition = tuple[int, int]  # class and position
SCHEME_KINDS = ("shares", "uniform")
MAX_PASSED_RANKS = 100  # ranks for each that is wanted that may be passed over before giving up
MIN_PATIENCE = 2  # ranks of a cell that are passed over, beside a tenth of what is wanted, for sentences that come again


class TooFewError(ValueError):
    """Fewer can be drawn than were asked for; `available` says how many."""

    def __init__(self, message: str, available: int) -> None:
        super().__init__(message)
        self.available = available


@dataclass(frozen=True)
class SamplingScheme:
    """What is drawn of all there is.

    With `shares`, each alternative of a phrase has its weight's share of the draws (largest remainder); with `uniform`, every
    assignment is equally likely. Variables in `balanced_variables` have each entry equally often, phrases each lemma of their head;
    a lemma of one in `max_per_lemma` comes so often at most.
    """

    kind: str = "shares"
    balanced_variables: tuple[str, ...] = ()
    max_per_lemma: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in SCHEME_KINDS:
            raise ValueError(f"sampling is {self.kind!r}; expected one of {', '.join(SCHEME_KINDS)}")


@dataclass(frozen=True)
class DerivationSample:
    """What was drawn, and how many ranks were passed over: for a string drawn before, or because they were not accepted."""

    derivations: list[Derivation]
    collisions: int = 0
    refusals: int = 0


def permute_ranks(total: int, random: Random) -> Iterator[int]:
    """Yield 0 to total - 1 in random order, each once; memory grows with what is taken, whatever the total.

    Of the exchanges of a shuffle only those that were made are kept: neither a large total nor taking all of it costs more.

    >>> sorted(permute_ranks(4, Random(1)))
    [0, 1, 2, 3]
    >>> next(permute_ranks(10**30, Random(1))) < 10**30
    True
    """
    moved: dict[int, int] = {}
    for n in range(total):
        other = random.randrange(n, total)
        yield moved.pop(other, other) if other == n else moved.get(other, other)
        if other != n:
            moved[other] = moved.pop(n, n)


def apportion_items(n: int, weights: Sequence[float], random: Random) -> list[int]:
    """Return how many of n each weight gets, each its share rounded down, what is left to the largest remainders.

    >>> apportion_items(10, [4, 2, 1], Random(1))
    [6, 3, 1]
    """
    whole = math.fsum(weights)
    exact = [n * weight / whole for weight in weights]
    shares = [math.floor(share + 1e-9) for share in exact]
    order = sorted(range(len(weights)), key=lambda i: (shares[i] - exact[i], random.random()))
    for i in order[: n - sum(shares)]:
        shares[i] += 1
    return shares


def draw_derivations(
    alternatives: Alternatives,
    n: int,
    random: Random,
    scheme: SamplingScheme | None = None,
    *,
    form: Callable[[int, str, EntryPosition], Hashable] | None = None,
    text: Callable[[Derivation], tuple[Hashable, ...] | None] | None = None,
    counts: Counts | None = None,
) -> DerivationSample:
    """Return n assignments that differ in what they print, and as far as there are any, in each sentence of it.

    `form` says what is printed of an entry of a variable in a top alternative, by which balanced entries are told apart; `text`
    the sentences printed of an assignment, or None where it is not accepted. Raises `TooFewError` with what there is.
    """
    scheme = scheme or SamplingScheme()
    counts = counts or Counts()
    total = counts.get_phrase_counts(alternatives).total
    if n > total:
        raise TooFewError(f"{n} asked for, but there are {total}", total)
    draws = _Allocator(alternatives, random, scheme, counts, form or (lambda top, name, entry: (name, entry)))
    taken: list[Derivation] = []
    seen: set[Hashable] = set()
    repeats: list[tuple[Derivation, Hashable]] = []  # in which a sentence comes again
    collisions = refused = 0
    max_passed = MAX_PASSED_RANKS * n + 10_000

    def take_derivations(cell: "_Cell", wanted: int) -> int:
        nonlocal collisions, refused
        patience = wanted // 10 + MIN_PATIENCE
        while wanted and collisions + refused < max_passed and (derivation := next(cell.derivations, None)) is not None:
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
                repeats.append((derivation, printed))
            else:
                seen.update([printed, *sentences])
                taken.append(derivation)
                wanted -= 1
        return wanted

    wanted = draws.allocate(n)
    short = sum(take_derivations(cell, number) for cell, number in wanted.items())
    if short:
        spare = [*wanted]
        random.shuffle(spare)
        for cell in itertools.chain(spare, draws.find_unused_cells()):
            short = take_derivations(cell, short)
            if not short:
                break
    for derivation, printed in repeats if short else ():
        if short and printed not in seen:
            seen.add(printed)
            taken.append(derivation)
            collisions -= 1
            short -= 1
    if short:
        searched = f"of {total} assignments" if collisions + refused < max_passed else f"after {max_passed} tries"
        raise TooFewError(
            f"{n} asked for, but only {n - short} differ: {searched}, {collisions} print a sentence again"
            + (f" and {refused} are not accepted" if refused else ""),
            n - short,
        )
    random.shuffle(taken)
    return DerivationSample(taken, collisions, refused)


def enumerate_derivations(
    alternatives: Alternatives, text: Callable[[Derivation], Hashable | None] | None = None
) -> DerivationSample:
    """Return every assignment, by rank, those that print what an earlier one did left out; raises `TooFewError` for none."""
    counts = Counts().get_phrase_counts(alternatives)
    if not counts.total:
        raise TooFewError("all asked for, but there are 0", 0)
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
    return DerivationSample(found, counts.total - len(found) - refused, refused)


def sample_derivations(alternatives: Alternatives, random: Random) -> Iterator[Derivation]:
    """Yield assignments without end, with repetitions: each alternative by its weight, inside it all equally likely."""
    counts = Counts(weighted=True, random=random).get_phrase_counts(alternatives)
    if not counts.table.sum():
        raise TooFewError("no assignment meets the restrictions", 0)
    while True:
        yield counts.unrank(None)


def split_by_lemma(alternatives: Alternatives, paths: Sequence[str], sizes: Sequence[int], random: Random) -> list[Alternatives]:
    """Return as many grammars as sizes that share no lemma in the slots at `paths`; larger ones have more lemmas.

    Lemmas are dealt from each group that the restrictions do not tell apart, so that every part has some of each.
    """
    groups: dict[str, set[tuple[str, int, int]]] = {}
    for path in paths:
        for n, variable in enumerate(_find_variables(alternatives, path)):
            for c, members in enumerate(variable.classes):
                for lemma in members:
                    groups.setdefault(lemma, set()).add((path, n, c))
    order = sorted(groups)
    random.shuffle(order)
    order.sort(key=lambda lemma: sorted(groups[lemma]))
    parts: dict[str, int] = {}
    assigned = [0.0] * len(sizes)
    for lemma in order:
        part = min(range(len(sizes)), key=lambda i: (assigned[i] / sizes[i], i))
        assigned[part] += 1
        parts[lemma] = part
    split = []
    for n in range(len(sizes)):
        mine = alternatives
        for path in paths:
            mine = filter_lemmas(mine, path, lambda lemma, n=n: parts[lemma] == n)  # type: ignore[misc]
        split.append(mine)
    return split


def filter_lemmas(alternatives: Alternatives, path: str, keep: Callable[[str], bool]) -> Alternatives:
    """Return the grammar with only those lemmas in the slot at a path: a slot, a phrase (its head), or a slot inside one (S.N)."""

    def filter_graph(graph: Graph, path: str) -> Graph:
        variables = tuple(_filter_variable(v, keep) if v.name == path else v for v in graph.variables)
        phrases = []
        for phrase in graph.phrases:
            inner = phrase.alternatives
            if path.startswith(f"{phrase.name}."):
                inner = filter_lemmas(inner, path.removeprefix(f"{phrase.name}."), keep)
            elif path == phrase.name and path in phrase.ports:
                port = phrase.ports.index(path)
                inner = replace(
                    inner,
                    members=tuple(
                        replace(member, graph=filter_graph(member.graph, member.exports[port].variable or ""))
                        for member in inner.members
                    ),
                )
            phrases.append(replace(phrase, alternatives=inner))
        return replace(graph, variables=variables, phrases=tuple(phrases))

    members = tuple(replace(member, graph=filter_graph(member.graph, path)) for member in alternatives.members)
    return replace(alternatives, members=members)


def _filter_variable(variable: Variable, keep: Callable[[str], bool]) -> Variable:
    before = variable.positions if isinstance(variable, FilteredVariable) else [range(len(of)) for of in variable.classes]
    positions = tuple(tuple(i for i in there if keep(members[i])) for members, there in zip(variable.classes, before, strict=True))
    return FilteredVariable(variable.name, variable.classes, positions)


def _find_variables(alternatives: Alternatives, path: str) -> Iterator[Variable]:
    """Yield the variables that stand at a path, in each alternative; those that `filter_lemmas` would thin."""
    filtered = filter_lemmas(alternatives, path, lambda lemma: True)

    def walk(inner: Alternatives) -> Iterator[Variable]:
        for member in inner.members:
            yield from (v for v in member.graph.variables if isinstance(v, FilteredVariable))
            for phrase in member.graph.phrases:
                yield from walk(phrase.alternatives)

    return walk(filtered)


@dataclass(frozen=True, eq=False)
class _Cell:
    derivations: Iterator[Derivation]


@dataclass(frozen=True, eq=False)
class _Allocation:
    """A shape with the entries that are settled, and how many are to come from it."""

    shape: Shape | None
    fixed_entries: Mapping[str, EntryPosition]
    n: int


class _Allocator:
    """Settles how many assignments come from each cell."""

    def __init__(
        self,
        alternatives: Alternatives,
        random: Random,
        scheme: SamplingScheme,
        counts: Counts,
        form: Callable[[int, str, EntryPosition], Hashable],
    ) -> None:
        self.alternatives, self.random, self.scheme, self.counts, self.form = alternatives, random, scheme, counts, form
        self.word_variables = {v.name for member in alternatives.members for v in member.graph.variables}
        # Words are settled before heads of phrases, whose lemmas leave more open.
        self.limited_variables = tuple(
            sorted(dict.fromkeys([*scheme.balanced_variables, *scheme.max_per_lemma]), key=lambda v: v not in self.word_variables)
        )
        self.cells: dict[Hashable, _Cell] = {}

    def allocate(self, n: int) -> dict[_Cell, int]:
        """Return how many of n come from each cell."""
        rows = self.allocate_shapes(n)
        for variable in self.limited_variables:
            rows = self._settle_entries(rows, variable)
        wanted: Counter[_Cell] = Counter()
        for row in rows:
            wanted[self.get_cell(row)] += row.n
        return dict(wanted)

    def allocate_shapes(self, n: int) -> list[_Allocation]:
        """Return the shapes, and how many of n each has; none has more than there are."""
        top = self.alternatives
        if self.scheme.kind == "uniform":
            if not self.limited_variables:
                return [_Allocation(None, {}, n)]
            shapes: list[Shape] = [(i, (None,) * len(m.graph.phrases)) for i, m in enumerate(top.members)]
            parts = apportion_items(n, [self.count_capacity(shape) for shape in shapes], self.random)
            wanted = Counter(dict(zip(shapes, parts, strict=True)))
        else:
            wanted = Counter(self.draw_shapes(top, n, lambda shape: shape))
        short = 0
        for shape in wanted:
            excess = max(0, wanted[shape] - self.count_capacity(shape))
            wanted[shape] -= excess
            short += excess
        for shape in itertools.chain(list(wanted), enumerate_shapes(top)) if short else ():
            more = min(short, self.count_capacity(shape) - wanted[shape])
            wanted[shape] += more
            short -= more
            if not short:
                break
        return [_Allocation(shape, {}, number) for shape, number in wanted.items() if number]

    def count_capacity(self, shape: Shape | None) -> int:
        """Return how many assignments have a shape."""
        if shape is None:
            return self.counts.get_phrase_counts(self.alternatives).total
        graph = self.alternatives.members[shape[0]].graph
        keep = tuple(name for name in self.limited_variables if any(v.name == name for v in graph.variables))
        return int(sum(self.counts.get_graph_counts(graph, shape[1], keep).sized_table.flat))

    def draw_shapes(self, alternatives: Alternatives, n: int, whole: Callable[[Shape], Shape]) -> list[Shape]:
        """Return n shapes of a phrase: each alternative its share of them, and so on inside, in random order."""
        members = alternatives.members
        empty = [(None,) * len(member.graph.phrases) for member in members]
        possible = [i for i in range(len(members)) if self.count_capacity(whole((i, empty[i])))]
        if not possible or not n:
            return []
        shapes: list[Shape] = []
        parts = apportion_items(n, [members[i].weight for i in possible], self.random)
        for i, number in zip(possible, parts, strict=True):
            inside = []
            for j, phrase in enumerate(members[i].graph.phrases):

                def build_outer_shape(shape: Shape, i: int = i, j: int = j) -> Shape:
                    return whole((i, (*empty[i][:j], shape, *empty[i][j + 1 :])))

                inside.append(self.draw_shapes(phrase.alternatives, number, build_outer_shape))
            shapes += [(i, tuple(of[k] for of in inside)) for k in range(number)]
        self.random.shuffle(shapes)
        return shapes

    def _settle_entries(self, rows: Sequence[_Allocation], variable: str) -> list[_Allocation]:
        """Return the rows with an entry of a variable settled in each."""
        limit = self.scheme.max_per_lemma.get(variable)
        balanced = variable in self.scheme.balanced_variables
        # Of words each form comes equally often, of heads of phrases each lemma.
        by_form = balanced and variable in self.word_variables
        columns: dict[Hashable, int] = {}
        groups: dict[Hashable, int] = {}
        group_of: list[int] = []
        capacities: list[dict[int, tuple[EntryPosition, int]]] = []
        for row in rows:
            capacities.append({})
            for entry, lemma, form, capacity in self._find_entries(row, variable):
                if form not in columns:
                    columns[form] = len(columns)
                    group_of.append(groups.setdefault(form if by_form else lemma, len(groups)))
                capacities[-1][columns[form]] = entry, capacity
        group_capacities = [0] * len(groups)
        for of in capacities:
            for column, (_, capacity) in of.items():
                group_capacities[group_of[column]] += capacity
        if limit is not None:
            group_capacities = [min(limit, capacity) for capacity in group_capacities]
        needed = sum(row.n for row, of in zip(rows, capacities, strict=True) if of)
        if sum(group_capacities) < needed:
            raise TooFewError(
                f"{needed} asked for, but at_most = {limit} in {variable} leaves {sum(group_capacities)}: "
                f"{len(group_capacities)} lemmas",
                sum(group_capacities),
            )
        left = np.array(self._share_evenly(needed, group_capacities) if balanced else group_capacities, float)
        settled: Counter[tuple[int, int]] = Counter()
        group_indices = np.array(group_of, int)
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
                open_ = (free > 0) & (left[group_indices[here]] > 0)
                if not open_.any():
                    waiting += 1
                    continue
                if balanced:
                    score = np.where(open_, left[group_indices[here]] + rank[here] / 2, -1)
                    at = int(score.argmax())
                    if not by_form:
                        same_group = np.flatnonzero(open_ & (group_indices[here] == group_indices[here[at]]))
                        at = self.random.choices(same_group.tolist(), weight[same_group].tolist())[0]
                else:
                    at = self.random.choices(range(len(here)), (weight * open_).tolist())[0]
                free[at] -= 1
                left[group_indices[here[at]]] -= 1
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
            filled.append(_Allocation(rows[r].shape, {**rows[r].fixed_entries, variable: capacities[r][column][0]}, number))
        return filled

    def _share_evenly(self, n: int, capacities: Sequence[int]) -> list[int]:
        """Return how many of n each gets, as equal as their room lets them be."""
        got = [0] * len(capacities)
        order = list(range(len(capacities)))
        self.random.shuffle(order)
        order.sort(key=lambda i: min(capacities[i], n))
        for done, i in enumerate(order):
            got[i] = min(capacities[i], n // (len(order) - done))
            n -= got[i]
        return got

    def _find_entries(self, row: _Allocation, variable: str) -> Iterator[tuple[EntryPosition, str, Hashable, int]]:
        """Yield the entries that a variable can have in a row: entry, lemma, what is printed, and how many assignments have it."""
        top, shapes = row.shape or (0, ())
        graph = self.alternatives.members[top].graph
        found = next((v for v in graph.variables if v.name == variable), None)
        heads = next((phrase.lemmas[variable] for phrase in graph.phrases if variable in phrase.lemmas), ())
        if found is None and not heads:
            return
        keep = (*row.fixed_entries, variable)
        joint = self.counts.get_graph_counts(graph, shapes, keep).joint
        numbers = joint[tuple(of for of, _ in row.fixed_entries.values())].tolist()
        if found is None:  # a phrase whose labels are lemmas of its head
            of_lemma: dict[str, int] = {}
            for label, lemma in enumerate(heads):
                if numbers[label]:
                    of_lemma[lemma] = of_lemma.get(lemma, 0) + 1
                    yield (label, 0), lemma, (lemma, of_lemma[lemma]), numbers[label]
            return
        met: Counter[Hashable] = Counter()
        for of, members in enumerate(found.classes):
            positions = found.positions[of] if isinstance(found, FilteredVariable) else range(len(members))
            for position in positions if numbers[of] else ():
                form = self.form(top, variable, (of, position))
                met[form] += 1
                yield (of, position), members[position], (form, met[form]), numbers[of]

    def get_cell(self, row: _Allocation) -> _Cell:
        """Return the cell of a row; its assignments come in the order of a permutation of its own."""
        key = row.shape, tuple(sorted(row.fixed_entries.items()))
        if key not in self.cells:
            self.cells[key] = _Cell(self._permute_derivations(row))
        return self.cells[key]

    def _permute_derivations(self, row: _Allocation) -> Iterator[Derivation]:
        if not row.fixed_entries:
            counted = self.counts.get_phrase_counts(self.alternatives, row.shape)
            return (counted.unrank(rank) for rank in permute_ranks(counted.total, self.random))
        top, shapes = row.shape or (0, ())
        inside = self.counts.get_graph_counts(self.alternatives.members[top].graph, shapes, tuple(row.fixed_entries))
        kept = {name: of for name, (of, _) in row.fixed_entries.items()}
        total = int(inside.joint[tuple(kept.values())])
        words = {name: entry for name, entry in row.fixed_entries.items() if name in inside.variables}
        return (inside.unrank(kept, rank, words, top) for rank in permute_ranks(total, self.random))

    def find_unused_cells(self) -> Iterator[_Cell]:
        """Yield the cells that nothing was to come from; with a limit there are none, since they would pass it."""
        if self.scheme.max_per_lemma or (self.scheme.kind == "uniform" and not self.limited_variables):
            return
        for shape in enumerate_shapes(self.alternatives):
            if not self.count_capacity(shape):
                continue
            rows = [_Allocation(shape, {}, 0)]
            for variable in self.limited_variables:
                rows = [
                    _Allocation(shape, {**row.fixed_entries, variable: entry}, 0)
                    for row in rows
                    for entry, *_ in self._find_entries(row, variable)
                ] or rows
            for row in rows:
                if (row.shape, tuple(sorted(row.fixed_entries.items()))) not in self.cells:
                    yield self.get_cell(row)


def enumerate_shapes(alternatives: Alternatives) -> Iterator[Shape]:
    """Yield every shape there is."""
    for i, member in enumerate(alternatives.members):
        for inside in itertools.product(*(list(enumerate_shapes(phrase.alternatives)) for phrase in member.graph.phrases)):
            yield i, inside
