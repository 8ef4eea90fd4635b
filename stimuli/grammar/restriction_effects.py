"""What a paradigm comes to: entries of each slot before and after its restrictions, and what each line excludes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .compilation import CompiledParadigm, compile_paradigm, filter_entries, restrict_to_categories
from .derivation_counts import Counts, count_derivations
from .faults import Line
from .graphs import Graph, Phrase
from .lexicon import Entry


@dataclass(frozen=True)
class SlotCount:
    """How many entries a slot has by its category (a phrase: heads), by its own restriction, and in some assignment."""

    slot: str
    category_entries: int
    restricted_entries: int
    used_entries: int


@dataclass(frozen=True)
class ExclusionCount:
    """A line, and how many assignments more there would be without it."""

    line: Line
    derivations: int


def count_slot_entries(compiled: CompiledParadigm) -> list[SlotCount]:
    """Return the entries of each slot of the sentences, before and after what restricts them."""
    counts = Counts()
    used: dict[str, set[Entry]] = {}
    for member in compiled.alternatives.members:
        graph = member.graph
        words = compiled.words[graph]
        for variable in graph.variables:
            possible = np.flatnonzero(counts.get_graph_counts(graph, keep=(variable.name,)).joint).tolist()
            for slot, (name, position) in words.slots.items():
                if name == variable.name:
                    there = (entry for c in possible for entry in words.classes[name][c])
                    used.setdefault(slot, set()).update(entry[position] for entry in there)
        for phrase in graph.phrases:
            if phrase.name in phrase.ports:
                used.setdefault(phrase.name, set()).update(_find_heads(compiled, counts, graph, phrase))
    found = []
    for slot, entries in compiled.entries.items():
        spec = compiled.rule.slots[slot]
        free: Sequence[Entry] = (
            entries if spec.phrase is not None else filter_entries(compiled.grammar, restrict_to_categories(compiled.grammar, spec))
        )
        shown = next((name for name in used if name.split("@")[0] == slot), slot)
        after = used.get(shown, set(entries) if spec.phrase is not None else set())
        found.append(SlotCount(slot, len(free), len(entries), len(after)))
    return found


def _find_heads(compiled: CompiledParadigm, counts: Counts, graph: Graph, phrase: Phrase) -> Iterator[Entry]:
    """Yield the heads that a phrase has in some assignment of the graph it stands in."""
    labels = set(np.flatnonzero(counts.get_graph_counts(graph, keep=(phrase.name,)).joint).tolist())
    port = phrase.ports.index(phrase.name)
    for option in counts.get_phrase_counts(phrase.alternatives).alternative_counts:
        member = phrase.alternatives.members[option.number]
        export = member.exports[port]
        classes = compiled.words[member.graph].classes.get(export.variable or "", ())
        for c, entries in enumerate(classes):
            if export.labels[c] in labels:
                yield from (entry for (entry,) in entries)


def count_excluded_derivations(compiled: CompiledParadigm) -> list[ExclusionCount]:
    """Return for each line how many assignments it alone excludes; the paradigm is compiled again without each."""
    total = count_derivations(compiled.alternatives)
    found = []
    for line in compiled.lines:
        relaxed = compile_paradigm(compiled.grammar, compiled.rule.name, dropped_lines=frozenset({line}))
        found.append(ExclusionCount(line, count_derivations(relaxed.alternatives) - total))
    return found
