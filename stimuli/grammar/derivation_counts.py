"""Exact counts of a grammar's assignments, and the assignment of a rank, both by eliminating one variable after the other.

A graph's count is a sum of products: over the classes of its variables, of the factors, the class sizes and the tables of its
phrases. Eliminating a variable sums it out of the product of the terms that mention it, which leaves a message over the others;
a rank goes the way back, its position among the prefix sums choosing the class, and what is left of it being shared out over
the terms by division. Numbers that might pass 63 bits are Python's own, so every count is exact.
"""

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .graphs import Alternative, Alternatives, Derivation, Factor, Graph, Phrase, Variable

CountTable = npt.NDArray[Any]  # of int64, of Python integers, or of floats where alternatives are weighted
Shape = tuple[int, tuple["Shape | None", ...]]  # the alternative taken, and the shape of each phrase in it; None is any
EntryPositions = dict[str, tuple[int, int]]
Rank = int | None  # None draws by chance
T = TypeVar("T")

MAX_INT64_COUNT = 2**62
MAX_EXACT_FLOAT = 2**53  # floats, whose matrices are multiplied fast, hold whole numbers up to here


@dataclass(frozen=True, eq=False)
class FilteredVariable(Variable):
    """A variable of which some entries are left out: those of class `c` that remain stand at `positions[c]`."""

    positions: tuple[tuple[int, ...], ...] = ()


def get_class_sizes(variable: Variable) -> tuple[int, ...]:
    """Return how many entries each class has."""
    return tuple(map(len, variable.positions if isinstance(variable, FilteredVariable) else variable.classes))


class Counts:
    """The counts of everything inside one grammar; tables are made once, whatever asks for them.

    `dropped_lines` are lines whose factors do not count. `weighted` makes the tables probabilities: each alternative has its
    weight's share, and what is inside it is equally likely.
    """

    def __init__(self, dropped_lines: Iterable[str] = (), *, weighted: bool = False, random: Random | None = None) -> None:
        self.dropped_lines = frozenset(dropped_lines)
        self.weighted = weighted
        self.random = random
        self._counts: dict[tuple[Any, ...], Any] = {}
        self._terms: dict[tuple[Any, ...], Term] = {}  # by what they are made of, and how

    def get_phrase_counts(self, alternatives: Alternatives, shape: Shape | None = None) -> "PhraseCounts":
        """Return the counts of a phrase or a paradigm, of one shape or of all."""
        key = (alternatives, shape)
        if key not in self._counts:
            self._counts[key] = PhraseCounts(self, alternatives, shape)
        phrase_counts: PhraseCounts = self._counts[key]
        return phrase_counts

    def get_graph_counts(self, graph: Graph, shapes: tuple[Shape | None, ...] = (), keep: tuple[str, ...] = ()) -> "GraphCounts":
        """Return the counts of a graph whose phrases have these shapes, for each class of the variables to keep."""
        shapes = shapes or (None,) * len(graph.phrases)
        key = (graph, shapes, keep)
        if key not in self._counts:
            self._counts[key] = GraphCounts(self, graph, shapes, keep)
        graph_counts: GraphCounts = self._counts[key]
        return graph_counts

    def get_term(self, make: "Callable[..., Term]", *key: Any) -> "Term":
        """Return the term that is made of these, made when it is first asked for."""
        if (make, key) not in self._terms:
            self._terms[make, key] = make(*key)
        return self._terms[make, key]

    def pick_position(self, sums: list[Any], rank: Rank) -> tuple[int, Rank]:
        """Return the position among prefix sums that a rank falls on, and what is left of the rank."""
        if rank is None:
            assert self.random is not None
            return min(bisect_right(sums, self.random.random() * sums[-1]), len(sums) - 1), None
        position = bisect_right(sums, rank)
        return position, rank - (sums[position - 1] if position else 0)


@dataclass(frozen=True, eq=False)
class PhraseCounts:
    """The counts of a phrase's alternatives: `table` holds them by the labels of its ports."""

    counts: Counts
    alternatives: Alternatives
    shape: Shape | None
    _sums: dict[tuple[int, ...], list[Any]] = field(default_factory=dict)

    @cached_property
    def alternative_counts(self) -> "list[AlternativeCounts]":
        """The alternatives that this shape allows, each with its counts."""
        chosen, shapes = self.shape or (None, ())
        return [
            AlternativeCounts(n, alternative, self.alternatives.ports, self.counts, shapes)
            for n, alternative in enumerate(self.alternatives.members)
            if chosen in (None, n)
        ]

    @cached_property
    def table(self) -> CountTable:
        """The number of assignments for each combination of labels; with weights, their probability."""
        return _add_tables([option.table for option in self.alternative_counts], self.alternatives.ports)

    @property
    def total(self) -> int:
        """The number of assignments, whatever the labels."""
        return int(sum(self.table.flat))

    def unrank(self, rank: Rank, labels: tuple[int, ...] = ()) -> Derivation:
        """Return the assignment of that rank, from 0, among those with these labels."""
        if labels not in self._sums:
            numbers = (option.table[labels] for option in self.alternative_counts)
            self._sums[labels] = list(itertools.accumulate(n.item() if isinstance(n, np.generic) else n for n in numbers))
        position, rest = self.counts.pick_position(self._sums[labels], rank)
        return self.alternative_counts[position].unrank(rest, labels)


class AlternativeCounts:
    """One alternative of a phrase, its counts seen through the ports."""

    def __init__(self, number: int, alternative: Alternative, ports: tuple[int, ...], counts: Counts, shapes: Any) -> None:
        self.number, self.ports, self.exports = number, ports, alternative.exports
        self.kept_variables = tuple(dict.fromkeys(e.variable for e in self.exports if e.variable is not None))
        self.graph_counts = counts.get_graph_counts(alternative.graph, shapes, self.kept_variables)
        self.sized_table = self.graph_counts.sized_table
        self.counts = counts
        self._sums: dict[tuple[int, ...], tuple[list[Any], list[tuple[int, ...]]]] = {}
        labels = []
        for export in self.exports:
            axis = self.kept_variables.index(export.variable) if export.variable is not None else 0
            shape = [-1 if i == axis and export.variable is not None else 1 for i in range(len(self.kept_variables))]
            labels.append(np.asarray(export.labels).reshape(shape))
        table: CountTable = np.zeros(ports, _find_exact_type([self.sized_table], self.sized_table.size))
        np.add.at(table, tuple(np.broadcast_arrays(*labels, self.sized_table)[:-1]) if labels else (), self.sized_table)
        if counts.weighted and (total := table.sum()) > 0:
            table = table * (alternative.weight / total)
        self.table = table

    def unrank(self, rank: Rank, labels: tuple[int, ...]) -> Derivation:
        """Return the assignment of that rank among those of this alternative with these labels."""
        if labels not in self._sums:
            self._sums[labels] = self._find_combinations(labels)
        sums, combinations = self._sums[labels]
        position, rest = self.counts.pick_position(sums, rank)
        entries: EntryPositions = {}
        kept = dict(zip(self.kept_variables, combinations[position], strict=True))
        for name, chosen in kept.items():
            if name in self.graph_counts.variables:
                entries[name], rest = self.graph_counts.pick_entry(name, chosen, rest)
        return self.graph_counts.unrank(kept, rest, entries, self.number)

    def _find_combinations(self, labels: tuple[int, ...]) -> tuple[list[Any], list[tuple[int, ...]]]:
        """Return what the classes behind these labels can be, with the prefix sums of their counts."""
        allowed = [np.ones(self.sized_table.shape[axis], bool) for axis in range(len(self.kept_variables))]
        for export, label in zip(self.exports, labels, strict=True):
            if export.variable is not None:
                allowed[self.kept_variables.index(export.variable)] &= np.asarray(export.labels) == label
        block = (self.sized_table[np.ix_(*allowed)] if allowed else self.sized_table).astype(self.table.dtype)
        there = [np.flatnonzero(some) for some in allowed]
        found = np.argwhere(block)
        combinations = list(zip(*(names[axis].tolist() for names, axis in zip(there, found.T, strict=True)), strict=True))
        return _compute_prefix_sums(block[block != 0].reshape(-1)), combinations or [()]


@dataclass(frozen=True, eq=False)
class Term:
    """A factor of the product that is summed: a table over some variables, and what its numbers count.

    `source` is a phrase, a message, or nothing: a factor, of which nothing is left to choose, or the class sizes of
    `sized_variable`.
    """

    scope: tuple[str, ...]
    table: CountTable
    source: "tuple[Phrase, PhraseCounts] | Message | None" = None
    sized_variable: str = ""

    def get_counts(self, values: Mapping[str, int], free: str = "") -> Any:
        """Return the number at these classes; with a variable left free, the numbers of its classes."""
        return self.table[tuple(values[name] if name != free else slice(None) for name in self.scope)]


@dataclass(frozen=True, eq=False)
class Message:
    """What eliminating a variable leaves: the terms that were multiplied, to go the way back."""

    variable: str
    scope: tuple[str, ...]
    terms: tuple[Term, ...]
    kind: type
    _sums: dict[tuple[int, ...], list[Any]] = field(default_factory=dict)

    def get_sums(self, values: Mapping[str, int]) -> list[Any]:
        """Return the prefix sums over the classes of the variable, where the others have these."""
        key = tuple([values[name] for name in self.scope])
        if key not in self._sums:
            tables = [term.get_counts(values, self.variable) for term in self.terms]
            product, *others = [_convert_table(table, object) for table in tables] if self.kind is object else tables
            for table in others:
                product = product * table
            self._sums[key] = _compute_prefix_sums(product)
        return self._sums[key]


class GraphCounts:
    """The counts of a graph by the classes of the variables to keep, whose own entries are not among what is counted."""

    def __init__(self, counts: Counts, graph: Graph, shapes: tuple[Shape | None, ...], keep: tuple[str, ...]) -> None:
        self.counts, self.graph, self.kept_variables = counts, graph, keep
        self.variables = {variable.name: variable for variable in graph.variables}
        self.sizes = {name: get_class_sizes(variable) for name, variable in self.variables.items()}
        self.classes = {name: len(of) for name, of in self.sizes.items()}
        for phrase in graph.phrases:
            self.classes |= dict(zip(phrase.ports, phrase.alternatives.ports, strict=True))
        self.terms = self._eliminate_variables([*self._build_own_terms(), *self._build_phrase_terms(shapes)])
        self.joint = _multiply_terms(self.terms, keep, self.classes)

    @cached_property
    def sized_table(self) -> CountTable:
        """The counts by the classes to keep, times the number of entries of each."""
        sized = [
            Term((name,), np.array(get_class_sizes(self.variables[name]))) for name in self.kept_variables if name in self.variables
        ]
        return _multiply_terms([Term(self.kept_variables, self.joint), *sized], self.kept_variables, self.classes)

    def pick_entry(self, name: str, chosen: int, rank: Rank) -> tuple[tuple[int, int], Rank]:
        """Return the entry of a class that a rank names, and what is left of the rank."""
        variable = self.variables[name]
        if rank is None:
            assert self.counts.random is not None
            rest, position = None, self.counts.random.randrange(self.sizes[name][chosen])
        else:
            rest, position = divmod(rank, self.sizes[name][chosen])
        return (chosen, variable.positions[chosen][position] if isinstance(variable, FilteredVariable) else position), rest

    def unrank(self, kept: Mapping[str, int], rank: Rank, entries: EntryPositions, number: int = 0) -> Derivation:
        """Return the assignment of that rank among those with these classes; `entries` are those of the variables to keep."""
        values, entries, phrases = dict(kept), dict(entries), {}
        stack: list[tuple[Sequence[Term], Rank]] = [(self.terms, rank)]
        while stack:
            terms, rest = stack.pop()
            for term in terms:
                if not term.sized_variable and term.source is None:
                    continue
                part = None
                if term.sized_variable:
                    entries[term.sized_variable], rest = self.pick_entry(term.sized_variable, values[term.sized_variable], rest)
                    continue
                if rest is not None:
                    rest, part = divmod(rest, int(term.table.item(*[values[name] for name in term.scope])))
                if isinstance(term.source, Message):
                    message = term.source
                    values[message.variable], left = self.counts.pick_position(message.get_sums(values), part)
                    stack.append((message.terms, left))
                elif term.source is not None:
                    phrase, inner = term.source
                    phrases[phrase.name] = inner.unrank(part, tuple(values[port] for port in phrase.ports))
        return Derivation(number, entries, phrases)

    def _build_own_terms(self) -> Iterable[Term]:
        """Yield the sizes of the classes and the factors, the same objects for every shape."""
        for name, variable in self.variables.items():
            if name not in self.kept_variables:
                yield self.counts.get_term(_build_size_term, variable)
        for factor in self.graph.factors:
            if factor.line not in self.counts.dropped_lines:
                yield self.counts.get_term(_build_factor_term, factor)

    def _build_phrase_terms(self, shapes: tuple[Shape | None, ...]) -> Iterable[Term]:
        """Yield the tables of the phrases in their shapes."""
        for phrase, shape in zip(self.graph.phrases, shapes, strict=True):
            yield self.counts.get_term(_build_phrase_term, phrase, self.counts.get_phrase_counts(phrase.alternatives, shape))

    def _eliminate_variables(self, terms: list[Term]) -> list[Term]:
        """Return terms over the variables to keep: the others are summed out, first the one that joins the fewest others anew.

        What was summed out before, for another shape or other variables to keep, is not summed again.
        """
        left = set(self.classes) - set(self.kept_variables)
        while left:
            variable = min(left, key=lambda name: (self._count_fill_in(name, terms), name))
            left.remove(variable)
            bucket = tuple(term for term in terms if variable in term.scope)
            terms = [term for term in terms if variable not in term.scope]
            around = dict.fromkeys(name for term in bucket for name in term.scope if name != variable)
            classes = tuple((name, self.classes[name]) for name in (variable, *around))
            terms.append(self.counts.get_term(_build_sum_term, classes, *bucket))
        return terms

    def _count_fill_in(self, variable: str, terms: Sequence[Term]) -> tuple[int, int]:
        """Return how many pairs of variables eliminating this one would join anew, and the cells of what it leaves."""
        scopes = [set(term.scope) for term in terms]
        around = sorted(set().union(*(scope for scope in scopes if variable in scope)) - {variable})
        anew = sum(not any({a, b} <= scope for scope in scopes) for a, b in itertools.combinations(around, 2))
        cells = 1
        for name in around:
            cells *= self.classes[name]
        return anew, cells


def _build_size_term(variable: Variable) -> Term:
    return Term((variable.name,), np.array(get_class_sizes(variable)), sized_variable=variable.name)


def _build_factor_term(factor: Factor) -> Term:
    return Term(factor.variables, factor.table.astype(np.int64))


def _build_phrase_term(phrase: Phrase, counted: PhraseCounts) -> Term:
    return Term(phrase.ports, counted.table, (phrase, counted))


def _build_sum_term(classes: tuple[tuple[str, int], ...], *bucket: Term) -> Term:
    """Return terms summed over the first of the variables that stand here with their numbers of classes."""
    variable, *scope = (name for name, _ in classes)
    table, kind = _sum_out_variable(bucket, tuple(scope), variable, dict(classes))
    return Term(tuple(scope), table, Message(variable, tuple(scope), bucket, kind))


def _compute_prefix_sums(numbers: CountTable) -> list[Any]:
    """Return the sums of the first one, two, three numbers, as Python's own; they are known to fit the array's type."""
    return list(itertools.accumulate(numbers.tolist())) if numbers.dtype == object else numbers.cumsum().tolist()


def _find_exact_type(tables: Sequence[CountTable], summands: int = 1) -> type:
    """Return the type that holds sums of so many products of these tables exactly."""
    if any(table.dtype == np.float64 for table in tables):
        return float
    return np.int64 if _compute_bound(tables, summands) < MAX_INT64_COUNT else object


def _compute_bound(tables: Sequence[CountTable], summands: int) -> int:
    """Return a number that no sum of so many products of these tables passes."""
    bound = summands
    for table in tables:
        bound *= max(1, int(table.max(initial=0)))
    return bound


def _convert_table(table: Any, kind: type) -> Any:
    """Return a table, or one number of it, as that type."""
    if isinstance(table, np.ndarray):
        return table.astype(kind, copy=False)
    return int(table) if kind is object else kind(table)


def _align_term(term: Term, scope: Sequence[str], kind: type) -> CountTable:
    """Return the term's table with an axis for each variable of the scope, of length 1 where it does not mention it."""
    order = sorted(range(len(term.scope)), key=lambda i: scope.index(term.scope[i]))
    shape = [term.table.shape[term.scope.index(name)] if name in term.scope else 1 for name in scope]
    aligned: CountTable = _convert_table(term.table.transpose(order).reshape(shape), kind)
    return aligned


def _multiply_terms(terms: Sequence[Term], scope: Sequence[str], classes: Mapping[str, int]) -> CountTable:
    """Return the product of terms over a scope that holds all their variables."""
    kind = _find_exact_type([term.table for term in terms])
    product: CountTable = np.ones([classes[name] for name in scope], kind)
    for term in terms:
        product = product * _align_term(term, scope, kind)
    return np.asarray(product, kind)


def _sum_out_variable(
    bucket: Sequence[Term], scope: tuple[str, ...], variable: str, classes: Mapping[str, int]
) -> tuple[CountTable, type]:
    """Return the product of terms summed over a variable, and the type that it was computed in."""
    kind = _find_exact_type([term.table for term in bucket], classes[variable])
    exact = kind is np.int64 and _compute_bound([term.table for term in bucket], classes[variable]) < MAX_EXACT_FLOAT
    # Classes that a term over the variable alone makes 0 add nothing.
    there = np.ones(classes[variable], bool)
    for term in bucket:
        if term.scope == (variable,):
            there &= term.table != 0
    tables: dict[frozenset[str], CountTable] = {}
    for term in bucket:
        table = _align_term(term, (variable, *scope), np.float64 if exact else kind)[there]
        names = frozenset(term.scope)
        tables[names] = tables[names] * table if names in tables else table
    # A table over fewer variables goes into one that has them all; of the rest, two at a time are joined, then summed as matrices.
    for names in sorted(tables, key=len):
        wider = [other for other in tables if names < other]
        if wider:
            into = min(wider, key=len)
            tables[into] = tables[into] * tables.pop(names)
    while len(tables) > 2:
        first, second = sorted(tables, key=lambda names: tables[names].size)[:2]
        combined = tables.pop(first) * tables.pop(second)
        names = first | second
        tables[names] = tables[names] * combined if names in tables else combined
    if len(tables) == 1:
        ((names, table),) = tables.items()
        total = table.sum(axis=0)
    else:
        (one, left), (other, right) = tables.items()
        total = _contract_tables(left, right, [i for i, name in enumerate(scope, 1) if name in one and name in other])
    total = np.rint(total).astype(np.int64) if exact else np.asarray(total, kind)
    return np.broadcast_to(total, [classes[name] for name in scope]), kind


def _contract_tables(left: CountTable, right: CountTable, shared: Sequence[int]) -> CountTable:
    """Return the sum over the first axis of the product of two tables that have the axes `shared` in common."""
    axes = range(1, left.ndim)
    left_axes = [i for i in axes if i not in shared and left.shape[i] != 1]  # also of length 0: a slot may have no class left
    right_axes = [i for i in axes if i not in (*shared, *left_axes) and right.shape[i] != 1]
    rest = [i for i in axes if i not in (*shared, *left_axes, *right_axes)]
    a = left.transpose([*shared, *left_axes, 0, *right_axes, *rest])
    b = right.transpose([*shared, 0, *right_axes, *left_axes, *rest])
    batch = a.shape[: len(shared)]
    summed = left.shape[0]
    one, other = (math.prod(table.shape[i] for i in own) for table, own in ((left, left_axes), (right, right_axes)))
    product = np.matmul(a.reshape(*batch, one, summed), b.reshape(*batch, summed, other))
    order = [*shared, *left_axes, *right_axes, *rest]
    lengths = np.broadcast_shapes(left.shape, right.shape)
    shaped = product.reshape([lengths[i] for i in order])
    contracted: CountTable = shaped.transpose(np.argsort(order).tolist()) if order else shaped
    return contracted


def _add_tables(tables: Sequence[CountTable], shape: tuple[int, ...]) -> CountTable:
    kind = float if any(table.dtype == np.float64 for table in tables) else object
    if kind is object and sum(int(table.max(initial=0)) for table in tables) < MAX_INT64_COUNT:
        kind = np.int64
    total: CountTable = np.zeros(shape, kind)
    for table in tables:
        total = total + _convert_table(table, kind)
    return np.asarray(total, kind)


def list_lines(alternatives: Alternatives) -> list[str]:
    """Return the lines whose factors restrict what is inside, each once, in their order."""
    found: dict[str, None] = {}
    met: set[int] = set()

    def walk(inner: Alternatives) -> None:
        if id(inner) not in met:
            met.add(id(inner))
            for alternative in inner.members:
                found.update((factor.line, None) for factor in alternative.graph.factors if factor.line)
                for phrase in alternative.graph.phrases:
                    walk(phrase.alternatives)

    walk(alternatives)
    return list(found)


def count_derivations(alternatives: Alternatives, dropped_lines: Iterable[str] = ()) -> int:
    """Return the exact number of assignments, also where these lines did not hold."""
    return Counts(dropped_lines).get_phrase_counts(alternatives).total


def find_blocking_factor_lines(alternatives: Alternatives) -> list[str]:
    """Return a minimal set of lines without which the count is above 0: of one or two where that will do.

    The list is empty where no set of lines is to blame: a slot has no entry at all.
    """
    known = list_lines(alternatives)
    if not count_derivations(alternatives, known):
        return []
    for size in (1, 2):
        for some in itertools.combinations(known, size):
            if count_derivations(alternatives, some):
                return list(some)
    blamed = list(known)
    for line in known:
        fewer = [other for other in blamed if other != line]
        if count_derivations(alternatives, fewer):
            blamed = fewer
    return blamed
