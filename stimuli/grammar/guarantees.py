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
from .compiling import Compiled, Words, base, compile_paradigm
from .faults import Line
from .grammars import Grammar
from .lexicon import Entry
from .relations import Relation
from .templates import Marked, Part, Slot

Status = Literal["proved", "counted", "each item", "absent", "waived", "broken"]
WAIVERS = {  # how a paradigm names what it breaks on purpose
    "length": {"length", "word-count"},
    "region": {"region", "critical-words"},
    "word-before": {"word-before"},
    "position": {"position", "critical-position"},
}


@dataclass(frozen=True)
class Guarantee:
    """A rule, how it is known to hold ("counted": pairs that break it are no part of the count), and what it says here."""

    rule: str
    status: Status
    says: str


@dataclass(frozen=True)
class Token:
    """A word of a template: slots, by their names, and letters; whether it is in the critical region."""

    pieces: tuple[str, ...]
    critical: bool

    def __str__(self) -> str:
        return "".join(f"{piece}>" if piece.startswith("<") else piece for piece in self.pieces)

    @property
    def slot(self) -> str | None:
        """The slot that is the whole word."""
        return self.pieces[0][1:] if len(self.pieces) == 1 and self.pieces[0].startswith("<") else None

    @property
    def kind(self) -> tuple[str, ...]:
        """What counterparts have in common."""
        return tuple(base(piece) if piece.startswith("<") else piece for piece in self.pieces)


def guaranteed(grammar: Grammar, name: str, *, apart: Sequence[str] = ()) -> tuple[Compiled, tuple[Guarantee, ...]]:
    """Return a paradigm compiled so that what can be is part of its count, and what holds of it.

    What its templates break without waiving it is a `DataError`.
    """
    compiled = compile_paradigm(grammar, name, apart=apart)
    rule = compiled.rule
    found = guarantees_of(compiled)
    if broken := [guarantee for guarantee in found if guarantee.status == "broken"]:
        raise study.DataError([f"{rule.line}: paradigm {name}: {guarantee.says}" for guarantee in broken])
    extra = controls.constraints(compiled)
    if "length" not in _waived(compiled):
        for one, other in _unequal_counterparts(compiled):
            line = Line(rule.line.file, rule.line.number, f"as many words in {one} as in {other}")
            extra.append(Relation((one, other), (_word_count, _word_count), _same, line))
    return (compile_paradigm(grammar, name, apart=apart, extra=extra) if extra else compiled), found


def guarantees_of(compiled: Compiled) -> tuple[Guarantee, ...]:
    """Return what is known of every item, and what the templates break."""
    found: dict[str, Guarantee] = {}
    for member in compiled.alternatives.members:
        for guarantee in _of_templates(compiled, compiled.words[member.graph]):
            order = ("proved", "counted", "each item", "absent", "waived", "broken")
            before = found.get(guarantee.rule)
            if before is None or order.index(guarantee.status) > order.index(before.status):
                found[guarantee.rule] = guarantee
    return tuple(found.values())


def kept(compiled: Compiled, guarantees: Sequence[Guarantee], sentences: Mapping[str, Sentence]) -> bool:
    """Whether an item keeps what has to be seen to in each: its sentences differ, and so on after rewriting."""
    if not controls.fits(compiled, sentences):
        return False
    texts = [sentence.text for sentence in sentences.values()]
    if len(set(texts)) < len(texts):
        return False
    for guarantee in guarantees:
        if guarantee.rule == "word-before" and guarantee.status == "each item":
            regions = [(sentence, sentence.region(CRITICAL)) for sentence in sentences.values()]
            before = {tuple(sentence.text[: region.start].split()[-1:]) for sentence, region in regions if region}
            if len(before) > 1:
                return False
    return True


def _of_templates(compiled: Compiled, words: Words) -> Iterator[Guarantee]:
    """Yield what the templates of one variant say; `<X` is a slot among the pieces of a word."""
    levels = compiled.rule.conditions()
    tokens = {condition: list(_tokens(parts, levels[condition])) for condition, parts in words.templates.items()}
    waived = _waived(compiled)

    def judged(rule: str, holds: bool, says: str, broken: str, status: Status = "proved") -> Guarantee:
        if rule in waived and (not holds or status == "each item"):
            return Guarantee(rule, "waived", "in some items other words stand before the region" if holds else broken)
        if holds:
            return Guarantee(rule, status, says)
        return Guarantee(rule, "broken", f'{broken}; mend the sentences, or waive = ["{rule}"]')

    if len(tokens) < 2:
        return
    same = [(a, b) for a, b in itertools.combinations(tokens, 2) if _pieces(tokens[a]) == _pieces(tokens[b])]
    if same:
        a, b = same[0]
        yield Guarantee("differ", "broken", f"{a} and {b} are the same sentence; expected a difference between them")
        return
    pairs = itertools.combinations(tokens.values(), 2)
    proved = all(_differ_in_place(one, other) for one, other in pairs)
    yield Guarantee("differ", "proved" if proved else "each item", "the members differ")
    if set(tokens) != {GRAMMATICAL, UNGRAMMATICAL}:
        return
    good, bad = tokens[GRAMMATICAL], tokens[UNGRAMMATICAL]
    low, high = _difference(words, good, bad)
    exact = bool(compiled.rule.settings.get("same_length"))
    difference = "as many words" if low == high == 0 else f"the ungrammatical member has {_range(low, high)} words more"
    if exact and (low, high) != (0, 0):
        yield judged("length", False, "", f"{difference}, but same_length = true")
    else:
        status: Status = "counted" if _unequal_counterparts(compiled) and "length" not in waived else "proved"
        yield Guarantee("length", status, difference)
    regions = [[token for token in member if token.critical] for member in (good, bad)]
    if not any(regions):
        says = "no region in [ ]: nothing is balanced unless the paradigm says what, and scores compare whole sentences"
        yield Guarantee("region", "absent", says)
        return
    if not all(regions):
        without = GRAMMATICAL if regions[1] else UNGRAMMATICAL
        yield judged("region", False, "", f"the {without} member has no region in [ ], the other has")
        return
    kinds = [Counter(token.kind for token in region) for region in regions]
    shown = " / ".join(" ".join(map(str, region)) for region in regions)
    yield judged(
        "region",
        kinds[0] == kinds[1] or all(t.slot is None for region in regions for t in region),
        "the region has the same words, or counterparts",
        f"the critical regions have other words: {shown}",
    )
    starts = [next(i for i, token in enumerate(member) if token.critical) for member in (good, bad)]
    before = [str(member[start - 1]) if start else "nothing" for member, start in zip((good, bad), starts, strict=True)]
    rewritten = bool(compiled.grammar.language.rules)
    yield judged(
        "word-before",
        before[0] == before[1],
        "the same word stands before the region",
        f"other words stand before the region: {' / '.join(before)}",
        "each item" if rewritten else "proved",
    )
    low, high = _difference(words, good[: starts[0]], bad[: starts[1]])
    near = low is not None and high is not None and low >= -1 and high <= 1
    yield judged(
        "position",
        near,
        "the region stands at the same place" if low == high == 0 else "the region stands at most a word apart",
        f"the region stands {_range(low, high)} words further on in the ungrammatical member",
    )
    same_before = _pieces(good[: starts[0]]) == _pieces(bad[: starts[1]])
    same_region = _pieces(regions[0]) == _pieces(regions[1])
    if same_before != same_region:
        method = "one-prefix" if same_before else "two-prefix"
        reason = "the same words before another region" if same_before else "the same region after other words"
        yield Guarantee("prefix", "proved", f"{method}: {reason}")


def _pieces(tokens: Sequence[Token]) -> list[tuple[str, ...]]:
    return [token.pieces for token in tokens]


def _differ_in_place(one: Sequence[Token], other: Sequence[Token]) -> bool:
    """Whether two members can be seen to differ: word by word the same, but for counterparts and letters."""
    if len(one) != len(other):
        return False
    differing = [(a, b) for a, b in zip(one, other, strict=True) if a.pieces != b.pieces]
    return all(a.kind == b.kind or not any("<" in piece for piece in (*a.pieces, *b.pieces)) for a, b in differing)


def _tokens(parts: Sequence[Part], levels: dict[str, str]) -> Iterator[Token]:
    """Yield the words of a template; marks are none."""
    pieces: list[str] = []
    critical = False
    for piece, inside in _stream(parts, levels, False):
        if piece.isspace():
            if pieces:
                yield Token(tuple(pieces), critical)
            pieces, critical = [], False
        elif piece.startswith("<") or (piece := piece.strip(controls.MARKS)):
            pieces.append(piece)
            critical = critical or inside
    if pieces:
        yield Token(tuple(pieces), critical)


def _stream(parts: Sequence[Part], levels: dict[str, str], inside: bool) -> Iterator[tuple[str, bool]]:
    for part in parts:
        if isinstance(part, str):
            yield from ((piece, inside) for piece in re.findall(r"\s+|\S+", part))
        elif isinstance(part, Slot):
            yield f"<{part.variable(levels)}{f':{part.column}' if part.column else ''}", inside
        else:
            critical = isinstance(part, Marked) and part.region == CRITICAL
            yield from _stream(part.parts, levels, inside or critical)


def _difference(words: Words, good: Sequence[Token], bad: Sequence[Token]) -> tuple[int | None, int | None]:
    """Return how many words more the second has at least and at most; None where a phrase in one alone leaves it open."""
    kinds = Counter(token.kind for token in bad)
    kinds.subtract(token.kind for token in good)
    low: int | None = 0
    high: int | None = 0
    for kind, times in kinds.items():
        token = next(token for token in (*good, *bad) if token.kind == kind)
        least, most = _lengths(words, token)
        if times and most is None:
            return None, None
        if times and low is not None and high is not None and most is not None:
            low += times * (least if times > 0 else most)
            high += times * (most if times > 0 else least)
    return low, high


def _lengths(words: Words, token: Token) -> tuple[int, int | None]:
    """Return of how many words a token is at least and at most, None where it is a phrase."""
    if token.slot is None:
        return 1, 1
    names = [name for name in words.slots if name == token.slot or base(name) == token.slot]
    if not names:
        return 1, None
    variable, position = words.slots[names[0]]
    numbers = {_word_count(entry[position]) for of in words.classes[variable] for entry in of} or {1}
    return min(numbers), max(numbers)


def _unequal_counterparts(compiled: Compiled) -> list[tuple[str, str]]:
    """Return the slots whose counterparts in the other member may have another number of words."""
    if set(compiled.rule.conditions()) != {GRAMMATICAL, UNGRAMMATICAL}:
        return []
    found: dict[tuple[str, str], None] = {}
    for member in compiled.alternatives.members:
        words = compiled.words[member.graph]
        for name in words.slots:
            of = base(name)
            if name != of and name.endswith("*") and of in words.slots:
                numbers = {
                    _word_count(entry[words.slots[each][1]])
                    for each in (of, name)
                    for entries in words.classes[words.slots[each][0]]
                    for entry in entries
                }
                if len(numbers) > 1:
                    found[of, name] = None
    return list(found)


def _waived(compiled: Compiled) -> set[str]:
    named = set(compiled.rule.waivers)
    return {rule for rule, names in WAIVERS.items() if names & named}


def _word_count(entry: Entry) -> int:
    return len(entry.printed.split())


def _same(one: object, other: object) -> bool:
    return one == other


def _range(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return "any number of"
    return str(low) if low == high else f"{low} to {high}"
