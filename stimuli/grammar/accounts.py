"""What a paradigm comes to: entries of each slot before and after its restrictions, and what each line excludes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .compiling import Compiled, categories_only, compile_paradigm, filtered
from .counting import Counts, count
from .faults import Line
from .graphs import Graph, Phrase
from .lexicon import Entry


@dataclass(frozen=True)
class SlotCount:
    """How many entries a slot has by its category (a phrase: heads), by its own restriction, and in some assignment."""

    slot: str
    category: int
    restricted: int
    used: int


@dataclass(frozen=True)
class Excluded:
    """A line, and how many assignments more there would be without it."""

    line: Line
    assignments: int


def slot_counts(compiled: Compiled) -> list[SlotCount]:
    """Return the entries of each slot of the sentences, before and after what restricts them."""
    counts = Counts()
    used: dict[str, set[Entry]] = {}
    for member in compiled.alternatives.members:
        graph = member.graph
        words = compiled.words[graph]
        for variable in graph.variables:
            possible = np.flatnonzero(counts.inside(graph, keep=(variable.name,)).joint).tolist()
            for slot, (name, position) in words.slots.items():
                if name == variable.name:
                    there = (entry for c in possible for entry in words.classes[name][c])
                    used.setdefault(slot, set()).update(entry[position] for entry in there)
        for phrase in graph.phrases:
            if phrase.name in phrase.ports:
                used.setdefault(phrase.name, set()).update(_heads(compiled, counts, graph, phrase))
    found = []
    for slot, entries in compiled.entries.items():
        spec = compiled.rule.slots[slot]
        free: Sequence[Entry] = (
            entries if spec.phrase is not None else filtered(compiled.grammar, categories_only(compiled.grammar, spec))
        )
        shown = next((name for name in used if name.split("@")[0] == slot), slot)
        after = used.get(shown, set(entries) if spec.phrase is not None else set())
        found.append(SlotCount(slot, len(free), len(entries), len(after)))
    return found


def _heads(compiled: Compiled, counts: Counts, graph: Graph, phrase: Phrase) -> Iterator[Entry]:
    """Yield the heads that a phrase has in some assignment of the graph it stands in."""
    labels = set(np.flatnonzero(counts.inside(graph, keep=(phrase.name,)).joint).tolist())
    port = phrase.ports.index(phrase.name)
    for option in counts.of(phrase.alternatives).options:
        member = phrase.alternatives.members[option.number]
        export = member.exports[port]
        classes = compiled.words[member.graph].classes.get(export.variable or "", ())
        for c, entries in enumerate(classes):
            if export.labels[c] in labels:
                yield from (entry for (entry,) in entries)


def exclusions(compiled: Compiled) -> list[Excluded]:
    """Return for each line how many assignments it alone excludes; the paradigm is compiled again without each."""
    total = count(compiled.alternatives)
    found = []
    for line in compiled.lines:
        without = compile_paradigm(compiled.grammar, compiled.rule.name, without=frozenset({line}))
        found.append(Excluded(line, count(without.alternatives) - total))
    return found
