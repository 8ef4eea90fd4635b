"""From an assignment to an item: every condition's template with the entries put in, rewritten, its regions marked."""

from collections.abc import Iterator, Mapping, Sequence

from ..items import Item, Paradigm, Question, Sentence
from .compiling import Compiled, Words
from .grammars import ParadigmRule
from .graphs import Alternatives, Derivation, Graph
from .lexicon import Entry
from .rewriting import MarkedText
from .templates import Marked, Part, Slot, slots_of

# Short names of the rules of `check` that a paradigm waives.
WAIVED = {
    "region": "critical-words",
    "position": "critical-position",
    "length": "word-count",
    "order": "critical-order",
}


def linearise(compiled: Compiled, derivation: Derivation, number: int) -> Item:
    """Return the item of an assignment: a sentence for each condition. `number` counts from 1, for its id and its question."""
    return item_of(compiled, derivation, number, sentences_of(compiled, derivation))


def sentences_of(compiled: Compiled, derivation: Derivation) -> dict[str, Sentence]:
    """Return the sentence of each condition."""
    printer = _Printer(compiled, derivation)
    return {name: printer.sentence(name, levels) for name, levels in compiled.rule.conditions().items()}


def item_of(compiled: Compiled, derivation: Derivation, number: int, sentences: Mapping[str, Sentence]) -> Item:
    """Return an item of these sentences, with its question where it is one of those that have one."""
    rule = compiled.rule
    question = None
    if rule.question and int(number * rule.question.share) > int((number - 1) * rule.question.share):
        text = _Printer(compiled, derivation).question(rule.question.parts)
        question = Question(text, dict(rule.question.answers), rule.question.choices)
    language = compiled.grammar.language.code
    return Item(f"{rule.name}-{number:04}", rule.name, sentences, language, question=question)


def paradigm_of(rule: ParadigmRule) -> Paradigm:
    """Return the paradigm of the items that a rule makes."""
    waivers = {WAIVED.get(name, name): reason for name, reason in rule.waivers.items()}
    return Paradigm(rule.name, rule.phenomenon, dict(rule.factors), rule.references, waivers, rule.predictions)


def entries_of(compiled: Compiled, derivation: Derivation) -> dict[str, Entry]:
    """Return the entry of each slot of an assignment; those inside phrases by their path."""
    return dict(_entries(compiled.words, compiled.alternatives, derivation, ""))


def _entries(
    words: Mapping[Graph, Words], alternatives: Alternatives, derivation: Derivation, prefix: str
) -> Iterator[tuple[str, Entry]]:
    graph = alternatives.members[derivation.alternative].graph
    for slot in words[graph].slots:
        yield prefix + slot, _entry(words[graph], derivation, slot)
    for phrase in graph.phrases:
        yield from _entries(words, phrase.alternatives, derivation.phrases[phrase.name], f"{prefix}{phrase.name}.")


def _entry(words: Words, derivation: Derivation, slot: str) -> Entry:
    variable, position = words.slots[slot]
    of_class, at = derivation.entries[variable]
    return words.classes[variable][of_class][at][position]


class _Printer:
    """Prints the templates of one assignment."""

    def __init__(self, compiled: Compiled, derivation: Derivation) -> None:
        self.compiled = compiled
        self.derivation = derivation
        self.graph = compiled.alternatives.members[derivation.alternative].graph
        self.words = compiled.words[self.graph]

    def sentence(self, condition: str, levels: dict[str, str]) -> Sentence:
        """Return the sentence of a condition."""
        text = self.print(self.words, self.words.templates[condition], self.derivation, self.graph, levels)
        return self.compiled.grammar.language.sentence(text)

    def question(self, parts: Sequence[Part]) -> str:
        """Return the text of a question."""
        text = self.print(self.words, parts, self.derivation, self.graph, {})
        return self.compiled.grammar.language.sentence(text).text

    def print(
        self, words: Words, parts: Sequence[Part], derivation: Derivation, graph: Graph, levels: dict[str, str]
    ) -> MarkedText:
        """Return the text of parts, with regions as spans, and spans that say the onset of words that state theirs."""
        out = MarkedText("")
        for part in parts:
            if isinstance(part, str):
                inner = MarkedText(part)
            elif isinstance(part, Slot):
                inner = self._slot(words, part, derivation, graph, levels)
            elif isinstance(part, Marked):
                inner = self.print(words, part.parts, derivation, graph, levels)
                inner.spans.append([part.region, 0, len(inner.text)])
            else:
                # What remains optional shows columns, and is there where every entry has them.
                shown = [self._slot(words, slot, derivation, graph, levels).text for slot in slots_of(part.parts)]
                inner = self.print(words, part.parts, derivation, graph, levels) if all(shown) else MarkedText("")
            out.spans += [[name, start + len(out.text), end + len(out.text)] for name, start, end in inner.spans]
            out.text += inner.text
        return out

    def _slot(
        self, words: Words, slot: Slot, derivation: Derivation, graph: Graph, levels: dict[str, str]
    ) -> MarkedText:
        name = slot.variable(levels)
        if name in words.slots:
            entry = _entry(words, derivation, name)
            if slot.column is not None:
                return MarkedText(entry.columns.get(slot.column, ""))
            onset = entry.columns.get("onset")
            return MarkedText(entry.printed, [[f"onset={onset}", 0, len(entry.printed)]] if onset else [])
        phrase = next(phrase for phrase in graph.phrases if phrase.name == name)
        inner = derivation.phrases[name]
        inside = phrase.alternatives.members[inner.alternative].graph
        return self.print(self.compiled.words[inside], self.compiled.words[inside].templates[""], inner, inside, levels)
