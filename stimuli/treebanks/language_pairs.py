"""All pairs of a language, one phenomenon after the other, and what is not one of them, with the reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .candidates import Edge, has_contradiction, transfer_features
from .inflection import FormLookup, Inflector, find_subject_values, find_word_values
from .pairs import Pair, build_pair, is_fused
from .phenomena import PHENOMENA
from .trees import Features


@dataclass(frozen=True, slots=True)
class Rejection:
    """A subject of which no pair was made, and why; `phenomenon` is empty where it is none of any."""

    phenomenon: str
    edge: Edge
    word: str
    other_form: str
    reason: str


class LanguagePairs:
    """The pairs and rejections of one language, phenomenon by phenomenon."""

    def __init__(self, code: str, found: Sequence[Edge], forms: FormLookup, required: Mapping[str, Features]) -> None:
        self.code = code
        self.edges = found
        self.forms = forms
        self.required_features = required
        self.rejections = [Rejection("", edge, "", "", edge.fault) for edge in found if edge.fault]
        self.seen_texts: set[tuple[str, str]] = set()

    def build_pairs(self, name: str) -> list[Pair]:
        """Return the pairs of a phenomenon, and remember why the other subjects give none."""
        phenomenon = PHENOMENA[name]
        inflector = Inflector(self.forms, phenomenon.feature, self.code)
        found: list[Pair] = []
        for edge in self.edges:
            if edge.fault:
                continue
            word = edge.find_agreeing_word(phenomenon.is_participle)
            if word is None:
                self.reject_subject(name, edge, "", "", "no-participle" if phenomenon.is_participle else "not-finite")
                continue
            features = transfer_features(word, edge.subject)
            if fault := self._find_fault(name, edge, features):
                self.reject_subject(name, edge, word.form, "", fault)
                continue
            value = features.get(phenomenon.feature, frozenset())
            for swap in inflector.find_swaps(word, features, edge.particle if word is edge.head else ""):
                new_pair = build_pair(edge, word, swap, value, phenomenon.feature)
                fault = swap.fault or self._find_pair_fault(new_pair, phenomenon.feature)
                if fault:
                    self.reject_subject(name, edge, word.form, swap.form, fault)
                else:
                    self.seen_texts.add(new_pair.texts)
                    found.append(new_pair)
        return found

    def iterate_values(self, name: str) -> Iterator[tuple[frozenset[str], frozenset[str], str]]:
        """Yield the values of each word and of its subject, and their order, of all subjects: what agreement is measured by.

        Subjects that contradict their words are among them, as they must. What neither states is not there.
        """
        phenomenon = PHENOMENA[name]
        for edge in self.edges:
            word = None if edge.fault else edge.find_agreeing_word(phenomenon.is_participle)
            if word is not None:
                of_word = filter(None, find_word_values(word, phenomenon.feature, self.forms))
                of_subject = filter(None, find_subject_values(edge.subject, phenomenon.feature, self.forms))
                order = "SV" if edge.subject.id < word.id else "VS"
                yield frozenset().union(*of_word), frozenset().union(*of_subject), order

    def reject_subject(self, name: str, edge: Edge, word: str, other_form: str, reason: str) -> None:
        """Remember why a subject gives no pair."""
        self.rejections.append(Rejection(name, edge, word, other_form, reason))

    def _find_fault(self, name: str, edge: Edge, features: Features) -> str:
        """Return why a subject and a word cannot make a pair of the phenomenon, whatever the other form, or nothing."""
        word = edge.find_agreeing_word(PHENOMENA[name].is_participle)
        if word is not None and has_contradiction(word, edge.subject):
            return "contradiction"
        if word is not None and is_fused(word, ""):
            return "fused"
        required = self.required_features.get(name, {})
        return "" if all(values & features.get(key, frozenset()) for key, values in required.items()) else "restricted"

    def _find_pair_fault(self, new_pair: Pair, feature: str) -> str:
        if is_fused(new_pair.word, new_pair.swap.form):
            return "fused"
        values = find_subject_values(new_pair.edge.subject, feature, self.forms)
        if any(value is None or value & new_pair.swap.values for value in values):
            return "ambiguous-subject"
        return "duplicate" if new_pair.texts in self.seen_texts else ""
