"""What holds of every item of a paradigm: proved of its templates, made part of the count, or seen to in each item.

The rules are those of minimal pairs: the members differ, in length by no more than the templates say; and BLiMP-NL's three: the
critical regions have the same words but for counterparts, the same word stands before them, and they stand at most one word
apart. A rule that the templates break is refused unless the paradigm waives it.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gardenpath import study

from ..items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Sentence
from . import controls
from .compilation import CompiledParadigm, WordClasses, compile_paradigm, get_base_slot
from .faults import Line
from .grammars import Grammar
from .lexicon import Entry
from .relations import Relation
from .templates import MarkedRegion, Part, Slot

GuaranteeStatus = Literal["proved", "counted", "each item", "absent", "waived", "broken"]
WAIVER_NAMES = {  # how a paradigm names what it breaks on purpose
    "length": {"length", "word-count"},
    "region": {"region", "critical-words"},
    "word-before": {"word-before"},
    "position": {"position", "critical-position"},
}


@dataclass(frozen=True)
class Guarantee:
    """A rule, how it is known to hold ("counted": pairs that break it are no part of the count), and what it says here."""

    rule: str
    status: GuaranteeStatus
    description: str


@dataclass(frozen=True)
class TemplateToken:
    """A word of a template: slots, by their names, and letters; whether it is in the critical region."""

    pieces: tuple[str, ...]
    is_critical: bool

    def __str__(self) -> str:
        return "".join(f"{piece}>" if piece.startswith("<") else piece for piece in self.pieces)

    @property
    def slot(self) -> str | None:
        """The slot that is the whole word."""
        return self.pieces[0][1:] if len(self.pieces) == 1 and self.pieces[0].startswith("<") else None

    @property
    def kind(self) -> tuple[str, ...]:
        """What counterparts have in common."""
        return tuple(get_base_slot(piece) if piece.startswith("<") else piece for piece in self.pieces)


def compile_with_guarantees(
    grammar: Grammar, name: str, *, lemma_slots: Sequence[str] = ()
) -> tuple[CompiledParadigm, tuple[Guarantee, ...]]:
    """Return a paradigm compiled so that what can be is part of its count, and what holds of it.

    What its templates break without waiving it is a `DataError`.
    """
    compiled = compile_paradigm(grammar, name, lemma_slots=lemma_slots)
    rule = compiled.rule
    found = find_guarantees(compiled)
    if broken := [guarantee for guarantee in found if guarantee.status == "broken"]:
        raise study.DataError([f"{rule.line}: paradigm {name}: {guarantee.description}" for guarantee in broken])
    extra = controls.build_constraints(compiled)
    if "length" not in _find_waived_rules(compiled):
        for one, other in _find_unequal_counterparts(compiled):
            line = Line(rule.line.file, rule.line.number, f"as many words in {one} as in {other}")
            extra.append(Relation((one, other), (_count_words, _count_words), _is_same, line))
    return (compile_paradigm(grammar, name, lemma_slots=lemma_slots, extra=extra) if extra else compiled), found


def find_guarantees(compiled: CompiledParadigm) -> tuple[Guarantee, ...]:
    """Return what is known of every item, and what the templates break."""
    found: dict[str, Guarantee] = {}
    for member in compiled.alternatives.members:
        for guarantee in _check_templates(compiled, compiled.words[member.graph]):
            order = ("proved", "counted", "each item", "absent", "waived", "broken")
            before = found.get(guarantee.rule)
            if before is None or order.index(guarantee.status) > order.index(before.status):
                found[guarantee.rule] = guarantee
    return tuple(found.values())


def is_acceptable(compiled: CompiledParadigm, guarantees: Sequence[Guarantee], sentences: Mapping[str, Sentence]) -> bool:
    """Whether an item keeps what has to be seen to in each: its sentences differ, and so on after rewriting."""
    if not controls.is_within_controls(compiled, sentences):
        return False
    texts = [sentence.text for sentence in sentences.values()]
    if len(set(texts)) < len(texts):
        return False
    for guarantee in guarantees:
        if guarantee.rule == "word-before" and guarantee.status == "each item":
            regions = [(sentence, sentence.find_region(CRITICAL)) for sentence in sentences.values()]
            before = {tuple(sentence.text[: region.start].split()[-1:]) for sentence, region in regions if region}
            if len(before) > 1:
                return False
    return True


def _check_templates(compiled: CompiledParadigm, words: WordClasses) -> Iterator[Guarantee]:
    """Yield what the templates of one variant say; `<X` is a slot among the pieces of a word."""
    levels = compiled.rule.list_conditions()
    tokens = {condition: list(_split_tokens(parts, levels[condition])) for condition, parts in words.templates.items()}
    waived = _find_waived_rules(compiled)

    def judge_rule(rule: str, holds: bool, says: str, broken: str, status: GuaranteeStatus = "proved") -> Guarantee:
        if rule in waived and (not holds or status == "each item"):
            return Guarantee(rule, "waived", "in some items other words stand before the region" if holds else broken)
        if holds:
            return Guarantee(rule, status, says)
        return Guarantee(rule, "broken", f'{broken}; mend the sentences, or waive = ["{rule}"]')

    if len(tokens) < 2:
        return
    same = [(a, b) for a, b in itertools.combinations(tokens, 2) if _list_pieces(tokens[a]) == _list_pieces(tokens[b])]
    if same:
        a, b = same[0]
        yield Guarantee("differ", "broken", f"{a} and {b} are the same sentence; expected a difference between them")
        return
    pairs = itertools.combinations(tokens.values(), 2)
    proved = all(_is_visibly_different(one, other) for one, other in pairs)
    yield Guarantee("differ", "proved" if proved else "each item", "the members differ")
    if set(tokens) != {GRAMMATICAL, UNGRAMMATICAL}:
        return
    good, bad = tokens[GRAMMATICAL], tokens[UNGRAMMATICAL]
    low, high = _bound_length_difference(words, good, bad)
    exact = bool(compiled.rule.settings.get("same_length"))
    difference = "as many words" if low == high == 0 else f"the ungrammatical member has {_format_range(low, high)} words more"
    if exact and (low, high) != (0, 0):
        yield judge_rule("length", False, "", f"{difference}, but same_length = true")
    else:
        status: GuaranteeStatus = "counted" if _find_unequal_counterparts(compiled) and "length" not in waived else "proved"
        yield Guarantee("length", status, difference)
    regions = [[token for token in member if token.is_critical] for member in (good, bad)]
    if not any(regions):
        says = "no region in [ ]: nothing is balanced unless the paradigm says what, and scores compare whole sentences"
        yield Guarantee("region", "absent", says)
        return
    if not all(regions):
        other_member = GRAMMATICAL if regions[1] else UNGRAMMATICAL
        yield judge_rule("region", False, "", f"the {other_member} member has no region in [ ], the other has")
        return
    kinds = [Counter(token.kind for token in region) for region in regions]
    region_texts = " / ".join(" ".join(map(str, region)) for region in regions)
    yield judge_rule(
        "region",
        kinds[0] == kinds[1] or all(t.slot is None for region in regions for t in region),
        "the region has the same words, or counterparts",
        f"the critical regions have other words: {region_texts}",
    )
    starts = [next(i for i, token in enumerate(member) if token.is_critical) for member in (good, bad)]
    before = [str(member[start - 1]) if start else "nothing" for member, start in zip((good, bad), starts, strict=True)]
    rewritten = bool(compiled.grammar.language.rules)
    yield judge_rule(
        "word-before",
        before[0] == before[1],
        "the same word stands before the region",
        f"other words stand before the region: {' / '.join(before)}",
        "each item" if rewritten else "proved",
    )
    low, high = _bound_length_difference(words, good[: starts[0]], bad[: starts[1]])
    is_near = low is not None and high is not None and low >= -1 and high <= 1
    yield judge_rule(
        "position",
        is_near,
        "the region stands at the same place" if low == high == 0 else "the region stands at most a word apart",
        f"the region stands {_format_range(low, high)} words further on in the ungrammatical member",
    )
    same_before = _list_pieces(good[: starts[0]]) == _list_pieces(bad[: starts[1]])
    same_region = _list_pieces(regions[0]) == _list_pieces(regions[1])
    if same_before != same_region:
        method = "one-prefix" if same_before else "two-prefix"
        reason = "the same words before another region" if same_before else "the same region after other words"
        yield Guarantee("prefix", "proved", f"{method}: {reason}")


def _list_pieces(tokens: Sequence[TemplateToken]) -> list[tuple[str, ...]]:
    return [token.pieces for token in tokens]


def _is_visibly_different(one: Sequence[TemplateToken], other: Sequence[TemplateToken]) -> bool:
    """Whether two members can be seen to differ: word by word the same, but for counterparts and letters."""
    if len(one) != len(other):
        return False
    differing = [(a, b) for a, b in zip(one, other, strict=True) if a.pieces != b.pieces]
    return all(a.kind == b.kind or not any("<" in piece for piece in (*a.pieces, *b.pieces)) for a, b in differing)


def _split_tokens(parts: Sequence[Part], levels: dict[str, str]) -> Iterator[TemplateToken]:
    """Yield the words of a template; marks are none."""
    pieces: list[str] = []
    critical = False
    for piece, inside in _split_pieces(parts, levels, False):
        if piece.isspace():
            if pieces:
                yield TemplateToken(tuple(pieces), critical)
            pieces, critical = [], False
        elif piece.startswith("<") or (piece := piece.strip(controls.PUNCTUATION)):
            pieces.append(piece)
            critical = critical or inside
    if pieces:
        yield TemplateToken(tuple(pieces), critical)


def _split_pieces(parts: Sequence[Part], levels: dict[str, str], inside: bool) -> Iterator[tuple[str, bool]]:
    for part in parts:
        if isinstance(part, str):
            yield from ((piece, inside) for piece in re.findall(r"\s+|\S+", part))
        elif isinstance(part, Slot):
            yield f"<{part.get_variable_name(levels)}{f':{part.column}' if part.column else ''}", inside
        else:
            critical = isinstance(part, MarkedRegion) and part.region == CRITICAL
            yield from _split_pieces(part.parts, levels, inside or critical)


def _bound_length_difference(
    words: WordClasses, good: Sequence[TemplateToken], bad: Sequence[TemplateToken]
) -> tuple[int | None, int | None]:
    """Return how many words more the second has at least and at most; None where a phrase in one alone leaves it open."""
    kinds = Counter(token.kind for token in bad)
    kinds.subtract(token.kind for token in good)
    low: int | None = 0
    high: int | None = 0
    for kind, times in kinds.items():
        token = next(token for token in (*good, *bad) if token.kind == kind)
        least, most = _bound_length(words, token)
        if times and most is None:
            return None, None
        if times and low is not None and high is not None and most is not None:
            low += times * (least if times > 0 else most)
            high += times * (most if times > 0 else least)
    return low, high


def _bound_length(words: WordClasses, token: TemplateToken) -> tuple[int, int | None]:
    """Return of how many words a token is at least and at most, None where it is a phrase."""
    if token.slot is None:
        return 1, 1
    names = [name for name in words.slots if name == token.slot or get_base_slot(name) == token.slot]
    if not names:
        return 1, None
    variable, position = words.slots[names[0]]
    numbers = {_count_words(entry[position]) for of in words.classes[variable] for entry in of} or {1}
    return min(numbers), max(numbers)


def _find_unequal_counterparts(compiled: CompiledParadigm) -> list[tuple[str, str]]:
    """Return the slots whose counterparts in the other member may have another number of words."""
    if set(compiled.rule.list_conditions()) != {GRAMMATICAL, UNGRAMMATICAL}:
        return []
    found: dict[tuple[str, str], None] = {}
    for member in compiled.alternatives.members:
        words = compiled.words[member.graph]
        for name in words.slots:
            of = get_base_slot(name)
            if name != of and name.endswith("*") and of in words.slots:
                numbers = {
                    _count_words(entry[words.slots[each][1]])
                    for each in (of, name)
                    for entries in words.classes[words.slots[each][0]]
                    for entry in entries
                }
                if len(numbers) > 1:
                    found[of, name] = None
    return list(found)


def _find_waived_rules(compiled: CompiledParadigm) -> set[str]:
    named = set(compiled.rule.waivers)
    return {rule for rule, names in WAIVER_NAMES.items() if names & named}


def _count_words(entry: Entry) -> int:
    return len(entry.printed_form.split())


def _is_same(one: object, other: object) -> bool:
    return one == other


def _format_range(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return "any number of"
    return str(low) if low == high else f"{low} to {high}"
