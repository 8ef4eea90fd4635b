"""How many words the critical region of a paradigm can hold."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..items import CRITICAL
from .compiling import Compiled
from .counting import Counts
from .graphs import Graph
from .templates import Marked, Part, Slot


def critical_words(compiled: Compiled) -> frozenset[str]:
    """Return the words that stand in `[ ]` in some assignment and condition: forms of slots, words of phrases, literals."""
    counts = Counts()
    found: set[str] = set()
    for member in compiled.alternatives.members:
        for condition, parts in compiled.words[member.graph].templates.items():
            levels = compiled.rule.conditions()[condition]
            for part in _critical(parts):
                found.update(
                    part.split()
                    if isinstance(part, str)
                    else _words(compiled, counts, member.graph, part.variable(levels))
                )
    return frozenset(found - {""})


def _critical(parts: Sequence[Part], inside: bool = False) -> Iterator[str | Slot]:
    """Yield the literals and slots inside critical regions; of a phrase, which is inside as a whole, all."""
    for part in parts:
        if not isinstance(part, str | Slot):
            yield from _critical(part.parts, inside or (isinstance(part, Marked) and part.region == CRITICAL))
        elif inside:
            yield part


def _words(compiled: Compiled, counts: Counts, graph: Graph, slot: str) -> Iterator[str]:
    """Yield the words of a slot that some assignment has, or those of a phrase."""
    words = compiled.words[graph]
    if slot in words.slots:
        variable, position = words.slots[slot]
        for possible in np.flatnonzero(counts.inside(graph, keep=(variable,)).joint):
            yield from (row[position].printed for row in words.classes[variable][possible])
        return
    for phrase in graph.phrases:
        if phrase.name == slot:
            for member in phrase.alternatives.members:
                for part in _critical(compiled.words[member.graph].templates[""], inside=True):
                    yield from (
                        part.split() if isinstance(part, str) else _words(compiled, counts, member.graph, part.name)
                    )
