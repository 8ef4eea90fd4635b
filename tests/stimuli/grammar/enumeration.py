"""Every assignment of a compiled paradigm, one after another: what counting is held against."""

import itertools
from collections.abc import Iterator

from gardenpath.stimuli.grammar.graphs import Alternatives, Derivation, Graph


def derivations(alternatives: Alternatives) -> Iterator[tuple[Derivation, tuple[int, ...]]]:
    """Yield each derivation, with its labels at the ports."""
    for number, member in enumerate(alternatives.members):
        for derivation, seen in _assignments(member.graph, number):
            labels = tuple(
                export.labels[0] if export.variable is None else export.labels[seen[export.variable]]
                for export in member.exports
            )
            yield derivation, labels


def _assignments(graph: Graph, number: int) -> Iterator[tuple[Derivation, dict[str, int]]]:
    classes = [[(v.name, c) for c in range(len(v.classes))] for v in graph.variables]
    phrases = [list(derivations(phrase.alternatives)) for phrase in graph.phrases]
    for words in itertools.product(*classes):
        for inner in itertools.product(*phrases):
            seen = dict(words)
            for phrase, (_, labels) in zip(graph.phrases, inner, strict=True):
                seen |= dict(zip(phrase.ports, labels, strict=True))
            if all(factor.table[tuple(seen[name] for name in factor.variables)] for factor in graph.factors):
                sizes = [range(len(v.classes[seen[v.name]])) for v in graph.variables]
                for members in itertools.product(*sizes):
                    entries = {v.name: (seen[v.name], m) for v, m in zip(graph.variables, members, strict=True)}
                    below = {p.name: d for p, (d, _) in zip(graph.phrases, inner, strict=True)}
                    yield Derivation(number, entries, below), seen
