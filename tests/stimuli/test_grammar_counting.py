"""Counts and ranks of grammars, held against enumeration."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gardenpath.stimuli.grammar.derivation_counts import (
    Counts,
    FilteredVariable,
    _contract_tables,
    count_derivations,
    find_blocking_factor_lines,
    list_lines,
)
from gardenpath.stimuli.grammar.graphs import Alternative, Alternatives, Derivation, Export, Factor, Graph, Phrase, Variable


def enumerated(alternatives: Alternatives) -> Iterator[tuple[tuple[int, ...], Derivation]]:
    """Yield every assignment with the labels of the ports, by trying everything."""
    for number, alternative in enumerate(alternatives.members):
        graph = alternative.graph
        slots = [
            [(c, i) for c, members in enumerate(variable.classes) for i in range(len(members))] for variable in graph.variables
        ]
        inner = [list(enumerated(phrase.alternatives)) for phrase in graph.phrases]
        for chosen in itertools.product(*slots):
            for within in itertools.product(*inner):
                values = {variable.name: c for variable, (c, _) in zip(graph.variables, chosen, strict=True)}
                for phrase, (labels, _) in zip(graph.phrases, within, strict=True):
                    values |= dict(zip(phrase.ports, labels, strict=True))
                if all(f.table[tuple(values[name] for name in f.variables)] for f in graph.factors):
                    labels = tuple(
                        export.labels[values[export.variable]] if export.variable is not None else export.labels[0]
                        for export in alternative.exports
                    )
                    entries = {variable.name: entry for variable, entry in zip(graph.variables, chosen, strict=True)}
                    phrases = {p.name: derivation for p, (_, derivation) in zip(graph.phrases, within, strict=True)}
                    yield labels, Derivation(number, entries, phrases)


def combinations(alternatives: Alternatives) -> int:
    """Return how many combinations enumeration has to try."""
    total = 0
    for alternative in alternatives.members:
        tried = math.prod(sum(map(len, variable.classes)) for variable in alternative.graph.variables)
        total += tried * math.prod(combinations(phrase.alternatives) for phrase in alternative.graph.phrases)
    return total


def key(derivation: Derivation) -> object:
    inner = tuple(sorted((name, key(inside)) for name, inside in derivation.phrases.items()))
    return derivation.alternative, tuple(sorted(derivation.entries.items())), inner


@st.composite
def variables(draw: st.DrawFn, name: str) -> Variable:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    return Variable(name, tuple(tuple(f"{name}{c}{i}" for i in range(size)) for c, size in enumerate(sizes)))


@st.composite
def grammars(draw: st.DrawFn, depth: int = 2, ports: tuple[int, ...] = (), slots: int = 3) -> Alternatives:
    """A grammar of a few variables, with factors over one to three of them, and phrases in phrases, one of them used twice."""
    members = []
    for _ in range(draw(st.integers(1, 2))):
        own = tuple(draw(variables(f"v{i}")) for i in range(draw(st.integers(1, slots))))
        classes = {variable.name: len(variable.classes) for variable in own}
        phrases: list[Phrase] = []
        if depth:
            inner_ports = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
            inner = draw(grammars(depth - 1, inner_ports, slots))
            for i in range(draw(st.integers(0, 2))):
                names = tuple(f"p{i}.{n}" for n in range(len(inner_ports)))
                phrases.append(Phrase(f"p{i}", names, inner))
                classes |= dict(zip(names, inner_ports, strict=True))
        factors = []
        for number in range(draw(st.integers(0, 3))):
            over = tuple(draw(st.lists(st.sampled_from(sorted(classes)), min_size=1, max_size=3, unique=True)))
            cells = list(itertools.product(*(range(classes[name]) for name in over)))
            table = np.zeros([classes[name] for name in over], bool)
            for cell in draw(st.lists(st.sampled_from(cells), min_size=len(cells) // 2)):
                table[cell] = True
            factors.append(Factor(over, table, f"line {number}"))
        exports = []
        for labels in ports:
            variable = draw(st.sampled_from([None, *sorted(classes)]))
            n = classes[variable] if variable is not None else 1
            of = draw(st.lists(st.integers(0, labels - 1), min_size=n, max_size=n))
            exports.append(Export(variable, tuple(of)))
        graph = Graph(own, tuple(phrases), tuple(factors))
        members.append(Alternative(draw(st.sampled_from([1, 2, 0.5])), graph, tuple(exports), ""))
    return Alternatives(tuple(members), ports)


def agrees(grammar: Alternatives) -> None:
    everything = [key(derivation) for _, derivation in enumerated(grammar)]
    counts = Counts().get_phrase_counts(grammar)
    assert counts.total == len(everything)
    assert sorted(key(counts.unrank(rank)) for rank in range(counts.total)) == sorted(everything)


@settings(max_examples=60)
@given(grammars(depth=1, slots=2))
def test_counts_are_those_of_enumeration_and_ranks_reach_each_assignment_once(grammar: Alternatives) -> None:
    assume(combinations(grammar) <= 5000)
    agrees(grammar)


@pytest.mark.slow
def test_grammars_of_up_to_a_million_assignments_count_as_by_enumeration(full: bool) -> None:
    """Ten thousand assignments without --full: enumeration takes a minute for a million."""

    @settings(max_examples=8 if full else 2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(grammars(depth=2))
    def agree(grammar: Alternatives) -> None:
        assume(10**3 <= combinations(grammar) <= (10**6 if full else 10**4))
        agrees(grammar)

    agree()


def noun_and_verb(nouns: int = 3, verbs: int = 2) -> Graph:
    """A noun and a verb of two classes each that have to be alike, of so many entries a class."""
    noun = Variable("N", tuple(tuple(f"n{c}{i}" for i in range(nouns)) for c in range(2)))
    verb = Variable("V", tuple(tuple(f"v{c}{i}" for i in range(verbs)) for c in range(2)))
    return Graph((noun, verb), (), (Factor(("N", "V"), np.eye(2, dtype=bool), "line 3: V(N)"),))


def sentence(graph: Graph) -> Alternatives:
    return Alternatives((Alternative(1, graph, (), "<N> <V>"),))


def test_counts_beyond_63_bits_are_exact() -> None:
    slots = tuple(Variable(f"v{i}", (tuple(map(str, range(10**4))), tuple(map(str, range(3))))) for i in range(9))
    factor = Factor(("v0", "v1"), ~np.eye(2, dtype=bool), "line 1")
    counts = Counts().get_phrase_counts(sentence(Graph(slots, (), (factor,))))
    assert counts.total == 2 * 10**4 * 3 * 10003**7
    assert counts.total > 2**100
    last = counts.unrank(counts.total - 1)
    assert {last.entries["v0"][0], last.entries["v1"][0]} == {0, 1}


def test_lines_are_named_counted_without_and_blamed() -> None:
    graph = noun_and_verb()
    assert count_derivations(sentence(graph)) == 12
    assert list_lines(sentence(graph)) == ["line 3: V(N)"]
    assert count_derivations(sentence(graph), dropped_lines=["line 3: V(N)"]) == 24
    wrong = [Factor(("N",), np.array([True, False]), "line 4"), Factor(("V",), np.array([False, True]), "line 5")]
    impossible = sentence(Graph(graph.variables, (), (*graph.factors, *wrong)))
    assert count_derivations(impossible) == 0
    assert find_blocking_factor_lines(impossible) == ["line 3: V(N)"]
    never = [Factor((name,), np.zeros(2, bool), f"line {i}") for i, name in enumerate(["N", "V", "N"])]
    assert find_blocking_factor_lines(sentence(Graph(graph.variables, (), tuple(never)))) == ["line 0", "line 1", "line 2"]
    assert find_blocking_factor_lines(sentence(Graph((Variable("N", ()),), (), ()))) == []


def test_entries_left_out_are_neither_counted_nor_drawn() -> None:
    graph = noun_and_verb()
    noun = graph.variables[0]
    thinned = FilteredVariable("N", noun.classes, ((2,), ()))
    counts = Counts().get_phrase_counts(sentence(Graph((thinned, graph.variables[1]), (), graph.factors)))
    assert counts.total == 2
    assert [counts.unrank(rank).entries["N"] for rank in range(2)] == [(0, 2)] * 2


@pytest.mark.parametrize(("left", "right"), [((3, 0, 2), (3, 1, 2)), ((3, 1, 0), (3, 4, 0)), ((0, 2, 1), (0, 1, 5))])
def test_tables_in_which_a_slot_has_no_class_left_are_contracted_to_the_sum_of_their_product(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    one, other = np.ones(left, np.int64), np.ones(right, np.int64)
    shared = [i for i in (1, 2) if left[i] == right[i]]
    np.testing.assert_array_equal(_contract_tables(one, other, shared), (one * other).sum(axis=0))
