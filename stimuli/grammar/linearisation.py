"""From an assignment to an item: every condition's template with the entries put in, rewritten, its regions marked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..items import Item, Paradigm, Question, Sentence
from .compilation import CompiledParadigm, WordClasses
from .faults import format_choices
from .grammars import ParadigmRule, QuestionRule
from .graphs import Alternatives, Derivation, Graph
from .lexicon import Entry
from .rewrite_rules import ONSET_PREFIX, MarkedText
from .templates import MarkedRegion, OptionalPart, Part, find_slots

# Short names of the rules of `check` that a paradigm waives.
WAIVER_RULES = {"region": "critical-words", "position": "critical-position", "length": "word-count", "order": "critical-order"}


def linearise_derivation(compiled: CompiledParadigm, derivation: Derivation, number: int) -> Item:
    """Return the item of an assignment: a sentence for each condition. `number` counts from 1, for its id and its question."""
    return build_item(compiled, derivation, number, build_sentences(compiled, derivation))


def build_sentences(compiled: CompiledParadigm, derivation: Derivation) -> dict[str, Sentence]:
    """Return the sentence of each condition."""
    printer = _Printer(compiled, derivation)
    return {name: printer.print_sentence(name, levels) for name, levels in compiled.conditions.items()}


def build_item(compiled: CompiledParadigm, derivation: Derivation, number: int, sentences: Mapping[str, Sentence]) -> Item:
    """Return an item of these sentences, with its question where it is one of those that have one."""
    rule = compiled.rule
    question = None
    if rule.question and int(number * rule.question.share) > int((number - 1) * rule.question.share):
        question = _Printer(compiled, derivation).print_question(rule.question)
    language = compiled.grammar.language.code
    return Item(f"{rule.name}-{number:04}", rule.name, sentences, language, question=question, extra={"origin": "grammar"})


def build_paradigm(rule: ParadigmRule) -> Paradigm:
    """Return the paradigm of the items that a rule makes."""
    waivers = {WAIVER_RULES.get(name, name): reason for name, reason in rule.waivers.items()}
    return Paradigm(rule.name, rule.phenomenon, dict(rule.factors), rule.references, waivers, rule.predictions)


def find_entries(compiled: CompiledParadigm, derivation: Derivation) -> dict[str, Entry]:
    """Return the entry of each slot of an assignment; those inside phrases by their path."""
    return dict(_iterate_entries(compiled.words, compiled.alternatives, derivation, ""))


def _iterate_entries(
    words: Mapping[Graph, WordClasses], alternatives: Alternatives, derivation: Derivation, prefix: str
) -> Iterator[tuple[str, Entry]]:
    graph = alternatives.members[derivation.alternative].graph
    for slot in words[graph].slots:
        yield prefix + slot, _find_entry(words[graph], derivation, slot)
    for phrase in graph.phrases:
        yield from _iterate_entries(words, phrase.alternatives, derivation.phrases[phrase.name], f"{prefix}{phrase.name}.")


def _find_entry(words: WordClasses, derivation: Derivation, slot: str) -> Entry:
    variable, position = words.slots[slot]
    of_class, at = derivation.entries[variable]
    return words.classes[variable][of_class][at][position]


class _Printer:
    """Prints the templates of one assignment."""

    def __init__(self, compiled: CompiledParadigm, derivation: Derivation) -> None:
        self.compiled = compiled
        self.derivation = derivation
        self.graph = compiled.alternatives.members[derivation.alternative].graph
        self.printed_phrases: dict[int, tuple[str, list[list[Any]]]] = {}  # by their derivation: the same in every condition

    def print_sentence(self, condition: str, levels: Mapping[str, str]) -> Sentence:
        """Return the sentence of a condition."""
        return self._build_sentence(self.compiled.words[self.graph].templates[condition], levels)

    def print_question(self, rule: QuestionRule) -> Question:
        """Return a question with its choices; raises `ValueError` where the answer is none of them."""
        choices = tuple(self._print_phrase(parts) for parts in rule.choices)
        answers = {condition: self._print_phrase(parts) for condition, parts in rule.answers.items()}
        if odd := [answer for answer in answers.values() if answer not in choices]:
            raise ValueError(f"{rule.line}: the answer {odd[0]!r} is no choice; expected {format_choices(choices)}")
        if len(set(choices)) < len(choices):
            choice_list = ", ".join(choices)
            raise ValueError(f"{rule.line}: choices are equal: {choice_list}; expected slots that a line keeps apart, as S != O")
        return Question(self._build_sentence(rule.parts, {}).text, answers, choices)

    def _print_phrase(self, parts: Sequence[Part]) -> str:
        """Return what is printed as inside a sentence."""
        text = self._mark_text(parts, {})
        language = self.compiled.grammar.language
        language.rewrite(text)
        return text.text.replace(" ", language.separator)

    def _build_sentence(self, parts: Sequence[Part], levels: Mapping[str, str]) -> Sentence:
        return self.compiled.grammar.language.build_sentence(self._mark_text(parts, levels))

    def _mark_text(self, parts: Sequence[Part], levels: Mapping[str, str]) -> MarkedText:
        pieces: list[str] = []
        spans: list[list[Any]] = []
        self._print_parts(parts, self.derivation, self.graph, levels, pieces, spans, 0)
        return MarkedText("".join(pieces), spans)

    def _print_parts(
        self,
        parts: Sequence[Part],
        derivation: Derivation,
        graph: Graph,
        levels: Mapping[str, str],
        pieces: list[str],
        spans: list[list[Any]],
        at: int,
    ) -> int:
        """Add the text of parts to the pieces, and regions and stated onsets to the spans; return where the text ends."""
        words = self.compiled.words[graph]
        for part in parts:
            start = at
            if isinstance(part, str):
                pieces.append(part)
                at += len(part)
            elif isinstance(part, MarkedRegion):
                at = self._print_parts(part.parts, derivation, graph, levels, pieces, spans, at)
                spans.append([part.region, start, at])
            elif isinstance(part, OptionalPart):
                # What remains optional shows columns, and is there where every entry has them.
                entries = [
                    (_find_entry(words, derivation, slot.get_variable_name(levels)), slot) for slot in find_slots(part.parts)
                ]
                if all(entry.columns.get(slot.column or "") for entry, slot in entries):
                    at = self._print_parts(part.parts, derivation, graph, levels, pieces, spans, at)
            elif (name := part.get_variable_name(levels)) in words.slots:
                entry = _find_entry(words, derivation, name)
                pieces.append(entry.printed_form if part.column is None else entry.columns.get(part.column, ""))
                at += len(pieces[-1])
                if "onset" in entry.columns and part.column is None:
                    spans.append([f"{ONSET_PREFIX}{entry.columns['onset']}", start, at])
            else:
                inner = derivation.phrases[name]
                if id(inner) not in self.printed_phrases:
                    phrase = next(phrase for phrase in graph.phrases if phrase.name == name)
                    inside = phrase.alternatives.members[inner.alternative].graph
                    template = self.compiled.words[inside].templates[""]
                    printed: list[str] = []
                    phrase_spans: list[list[Any]] = []
                    self._print_parts(template, inner, inside, levels, printed, phrase_spans, 0)
                    self.printed_phrases[id(inner)] = "".join(printed), phrase_spans
                text, within = self.printed_phrases[id(inner)]
                pieces.append(text)
                spans += [[region, start + first, start + last] for region, first, last in within]
                at += len(text)
        return at
