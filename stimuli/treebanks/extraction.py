"""Agreement pairs of a language: trees and forms in; balanced pairs, the pool they are drawn from, and all that was left out.

The way is that of MultiBLiMP (Jumelet et al. 2025, arXiv 2504.02768): subjects and what agrees with them, other forms of that word, a
test whether the language has the agreement, and a draw that balances what makes pairs easy or hard.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..checks import check
from ..items import Item, Materials, Paradigm
from . import agreement
from .balance import draw, weights
from .candidates import Edge, contradicts, transferred
from .inflection import Inflector, subject_values
from .items import Pair, fused, item, joined, pair
from .trees import Features

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Phenomenon:
    """What agrees with the subject: in which feature, and whether it is a participle or a finite word."""

    feature: str
    participle: bool


PHENOMENA: Mapping[str, Phenomenon] = {
    "sv-number": Phenomenon("Number", False),
    "sv-person": Phenomenon("Person", False),
    "sv-gender": Phenomenon("Gender", False),
    "sp-number": Phenomenon("Number", True),
    "sp-gender": Phenomenon("Gender", True),
}
Condition = tuple[str, str, str, str]  # value, other, order, type


@dataclass(frozen=True, slots=True)
class Rejection:
    """A subject of which no pair was made, and why; `phenomenon` is empty where it is none of any."""

    phenomenon: str
    edge: Edge
    word: str
    swapped: str
    reason: str


@dataclass(frozen=True)
class Extraction:
    """What `extract` returns.

    `materials` are the pairs drawn and `pool` all that there are; `tables` are `agreement`, `conditions_by_language` and `rejected`;
    `notes` say for sidecars what was read, left out and used, and `inputs` are the files.
    """

    materials: Materials
    pool: Materials
    tables: Mapping[str, "pd.DataFrame"]
    notes: Mapping[str, Any]
    inputs: tuple[Path, ...] = field(repr=False)


class _Language:
    """The pairs and rejections of one language, phenomenon by phenomenon."""

    def __init__(self, code: str, found: Sequence[Edge], forms: Any, required: Mapping[str, Features]) -> None:
        self.code = code
        self.edges = found
        self.forms = forms
        self.required = required
        self.rejected = [Rejection("", edge, "", "", edge.fault) for edge in found if edge.fault]
        self.seen: set[tuple[str, str]] = set()

    def pairs(self, name: str) -> list[Pair]:
        """Return the pairs of a phenomenon, and remember why the other subjects give none."""
        phenomenon = PHENOMENA[name]
        inflector = Inflector(self.forms, phenomenon.feature, self.code)
        found: list[Pair] = []
        for edge in self.edges:
            if edge.fault:
                continue
            word = edge.agreeing(phenomenon.participle)
            if word is None:
                self._reject(name, edge, "", "", "no-participle" if phenomenon.participle else "not-finite")
                continue
            features = transferred(word, edge.subject)
            if fault := self._fault(name, edge, features):
                self._reject(name, edge, word.form, "", fault)
                continue
            value = features.get(phenomenon.feature, frozenset())
            for swap in inflector.swaps(word, features, edge.particle if word is edge.head else ""):
                made = pair(edge, word, swap, value, phenomenon.feature)
                fault = swap.fault or self._pair_fault(made, phenomenon.feature)
                if fault:
                    self._reject(name, edge, word.form, swap.form, fault)
                else:
                    self.seen.add(made.texts)
                    found.append(made)
        return found

    def _reject(self, name: str, edge: Edge, word: str, swapped: str, reason: str) -> None:
        self.rejected.append(Rejection(name, edge, word, swapped, reason))

    def _fault(self, name: str, edge: Edge, features: Features) -> str:
        """Return why a subject and a word cannot make a pair of the phenomenon, whatever the other form, or nothing."""
        word = edge.agreeing(PHENOMENA[name].participle)
        if word is not None and contradicts(word, edge.subject):
            return "contradiction"
        required = self.required.get(name, {})
        return "" if all(values & features.get(key, frozenset()) for key, values in required.items()) else "restricted"

    def _pair_fault(self, made: Pair, feature: str) -> str:
        if fused(made.word, made.swap.form):
            return "fused"
        values = subject_values(made.edge.subject, feature, self.forms)
        if values is None or values & made.swap.values:
            return "ambiguous-subject"
        return "duplicate" if made.texts in self.seen else ""
