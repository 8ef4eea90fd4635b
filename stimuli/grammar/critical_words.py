"""How many words the critical region of a paradigm can hold."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..items import CRITICAL
from .compilation import CompiledParadigm
from .derivation_counts import Counts
from .graphs import Graph
from .templates import MarkedRegion, Part, Slot


def find_critical_words(compiled: CompiledParadigm) -> frozenset[str]:
    """Return the words that stand in `[ ]` in some assignment and condition: forms of slots, words of phrases, literals."""
    counts = Counts()
    found: set[str] = set()
    for member in compiled.alternatives.members:
        for condition, parts in compiled.words[member.graph].templates.items():
            levels = compiled.rule.list_conditions()[condition]
            for part in _find_critical_parts(parts):
                found.update(
                    part.split()
                    if isinstance(part, str)
                    else _find_slot_words(compiled, counts, member.graph, part.get_variable_name(levels))
                )
    return frozenset(found - {""})


def _find_critical_parts(parts: Sequence[Part], inside: bool = False) -> Iterator[str | Slot]:
    """Yield the literals and slots inside critical regions; of a phrase, which is inside as a whole, all."""
    for part in parts:
        if not isinstance(part, str | Slot):
            yield from _find_critical_parts(part.parts, inside or (isinstance(part, MarkedRegion) and part.region == CRITICAL))
        elif inside:
            yield part


def _find_slot_words(compiled: CompiledParadigm, counts: Counts, graph: Graph, slot: str) -> Iterator[str]:
    """Yield the words of a slot that some assignment has, or those of a phrase."""
    words = compiled.words[graph]
    if slot in words.slots:
        variable, position = words.slots[slot]
        for possible in np.flatnonzero(counts.get_graph_counts(graph, keep=(variable,)).joint):
            yield from (row[position].printed_form for row in words.classes[variable][possible])
        return
    for phrase in graph.phrases:
        if phrase.name == slot:
            for member in phrase.alternatives.members:
                for part in _find_critical_parts(compiled.words[member.graph].templates[""], inside=True):
                    yield from (
                        part.split() if isinstance(part, str) else _find_slot_words(compiled, counts, member.graph, part.name)
                    )
