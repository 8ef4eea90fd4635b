"""All pairs of a language, one phenomenon after the other, and what is not one of them, with the reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .candidates import Edge, contradicts, transferred
from .inflection import Index, Inflector, subject_values, word_values
from .items import Pair, fused, pair
from .phenomena import PHENOMENA
from .trees import Features


@dataclass(frozen=True, slots=True)
class Rejection:
    """A subject of which no pair was made, and why; `phenomenon` is empty where it is none of any."""

    phenomenon: str
    edge: Edge
    word: str
    swapped: str
    reason: str


class LanguagePairs:
    """The pairs and rejections of one language, phenomenon by phenomenon."""

    def __init__(self, code: str, found: Sequence[Edge], forms: Index, required: Mapping[str, Features]) -> None:
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
                self.reject(name, edge, "", "", "no-participle" if phenomenon.participle else "not-finite")
                continue
            features = transferred(word, edge.subject)
            if fault := self._fault(name, edge, features):
                self.reject(name, edge, word.form, "", fault)
                continue
            value = features.get(phenomenon.feature, frozenset())
            for swap in inflector.swaps(word, features, edge.particle if word is edge.head else ""):
                made = pair(edge, word, swap, value, phenomenon.feature)
                fault = swap.fault or self._pair_fault(made, phenomenon.feature)
                if fault:
                    self.reject(name, edge, word.form, swap.form, fault)
                else:
                    self.seen.add(made.texts)
                    found.append(made)
        return found

    def values(self, name: str) -> Iterator[tuple[frozenset[str], frozenset[str], str]]:
        """Yield the values of each word and of its subject, and their order, of all subjects: what agreement is measured by.

        Subjects that contradict their words are among them, as they must. What neither states is not there.
        """
        phenomenon = PHENOMENA[name]
        for edge in self.edges:
            word = None if edge.fault else edge.agreeing(phenomenon.participle)
            if word is not None:
                of_word = filter(None, word_values(word, phenomenon.feature, self.forms))
                of_subject = filter(None, subject_values(edge.subject, phenomenon.feature, self.forms))
                order = "SV" if edge.subject.id < word.id else "VS"
                yield frozenset().union(*of_word), frozenset().union(*of_subject), order

    def reject(self, name: str, edge: Edge, word: str, swapped: str, reason: str) -> None:
        """Remember why a subject gives no pair."""
        self.rejected.append(Rejection(name, edge, word, swapped, reason))

    def _fault(self, name: str, edge: Edge, features: Features) -> str:
        """Return why a subject and a word cannot make a pair of the phenomenon, whatever the other form, or nothing."""
        word = edge.agreeing(PHENOMENA[name].participle)
        if word is not None and contradicts(word, edge.subject):
            return "contradiction"
        if word is not None and fused(word, ""):
            return "fused"
        required = self.required.get(name, {})
        return "" if all(values & features.get(key, frozenset()) for key, values in required.items()) else "restricted"

    def _pair_fault(self, made: Pair, feature: str) -> str:
        if fused(made.word, made.swap.form):
            return "fused"
        values = subject_values(made.edge.subject, feature, self.forms)
        if any(value is None or value & made.swap.values for value in values):
            return "ambiguous-subject"
        return "duplicate" if made.texts in self.seen else ""
