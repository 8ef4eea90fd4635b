"""Sentence templates: `the <N> that <A> {not} <V> [ever] (<Adv>)?.` as a tree of words, slots, regions and optional parts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..items import CRITICAL, CUE
from .faults import Fault

SLOT_PATTERN = re.compile(r"<\s*([^\W\d]\w*)\s*(?:(\*)|((?:@\s*\w+\s*)+))?\s*(?::\s*(\w+))?\s*>")
INNER_SLOT_PATTERN = re.compile(r"<\s*([^\W\d]\w*)\.(?:\w+\.)*(\w+)[^<>]*>")
NAMED_REGION_PATTERN = re.compile(r"\[\s*([\w-]+)\s*\|")
JINJA_PATTERN = re.compile(r"\{\{|\{%|\{#")
OPENING_BRACKETS = {"]": "[", "}": "{", ")?": "("}


@dataclass(frozen=True)
class Slot:
    """A reference to a slot: its counterpart (`*`), its levels of factors, or one of its columns instead of its form."""

    name: str
    is_counterpart: bool = False
    factors: tuple[str, ...] = ()
    column: str | None = None

    def get_variable_name(self, levels: Mapping[str, str]) -> str:
        """Return the name of the slot that is meant in a condition with these levels."""
        if self.factors:
            return "@".join([self.name, *(levels[factor] for factor in self.factors)])
        return f"{self.name}*" if self.is_counterpart else self.name


@dataclass(frozen=True)
class MarkedRegion:
    """A part that is a region."""

    region: str
    parts: tuple["Part", ...]


@dataclass(frozen=True)
class OptionalPart:
    """A part that is there or not, in all conditions alike; of columns only, it is there where the entry has them."""

    parts: tuple["Part", ...]

    @property
    def choice(self) -> str:
        """What identifies the choice in all templates of a paradigm; empty where the entries decide."""
        slots = list(find_slots(self.parts))
        if slots and all(slot.column for slot in slots):
            return ""
        return " ".join(sorted({slot.name for slot in slots})) or "".join(str(part) for part in self.parts).strip()


Part = str | Slot | MarkedRegion | OptionalPart


def read_template(text: str) -> tuple[Part, ...]:
    """Return the parts of a template; what cannot be read is a `Fault`.

    >>> read_template("No <N> left.")
    ('No ', Slot(name='N', is_counterpart=False, factors=(), column=None), ' left.')
    >>> read_template("It has [ever] left.")
    ('It has ', MarkedRegion(region='critical', parts=('ever',)), ' left.')
    """
    if JINJA_PATTERN.search(text):
        raise Fault(
            f"{text!r} is a jinja2 template; expected slots as <S>: what a program prints cannot be counted, so that neither the "
            "number of its pairs is known nor whether its members differ; write alternatives as phrases, optional parts as ( )?"
        )
    if not text.strip():
        raise Fault("an empty template; expected a sentence with slots as <S>")
    return _read_parts(text, 0, None)[0]


def _read_parts(text: str, at: int, opened: str | None) -> tuple[tuple[Part, ...], int]:
    parts: list[Part] = []
    literal = ""

    def close_literal() -> None:
        nonlocal literal
        if literal:
            parts.append(literal)
        literal = ""

    while at < len(text):
        mark = ")?" if text.startswith(")?", at) else text[at]
        if mark == "<":
            match = SLOT_PATTERN.match(text, at)
            if match is None:
                if deeper := INNER_SLOT_PATTERN.match(text, at):
                    raise Fault(
                        f"{deeper[0]} in {text!r} is a slot inside the phrase {deeper[1]}, which a sentence shows as a "
                        f"whole; write the phrase out in the sentence, and its word as a slot of its own, <{deeper[2]}*>"
                    )
                raise Fault(
                    f"{text[at : at + 12]!r} in {text!r} is no slot; expected <X>, <X*>, <X@factor>, <X@one@other> or <X:column>"
                )
            close_literal()
            parts.append(Slot(match[1], match[2] is not None, _split_factors(match[3]), match[4]))
            at = match.end()
        elif mark in OPENING_BRACKETS and (opened is not None or mark != ")?"):
            if opened != OPENING_BRACKETS[mark]:
                raise Fault(f"{mark!r} in {text!r} closes nothing")
            close_literal()
            return tuple(parts), at + len(mark)
        elif mark == "[" or mark == "{" or (mark == "(" and _is_optional(text, at)):
            close_literal()
            named = NAMED_REGION_PATTERN.match(text, at) if mark == "[" else None
            inside, end = _read_parts(text, named.end() if named else at + 1, mark)
            region = named[1] if named else CRITICAL if mark == "[" else CUE
            parts.append(OptionalPart(inside) if mark == "(" else MarkedRegion(region, inside))
            at = end
        elif mark == ">":
            raise Fault(f"'>' in {text!r} closes nothing; slots are written <X>")
        else:
            literal += text[at]
            at += 1
    if opened is not None:
        raise Fault(f"{opened!r} is not closed in {text!r}")
    close_literal()
    return tuple(parts), at


def _split_factors(text: str | None) -> tuple[str, ...]:
    return tuple(factor.strip() for factor in text.split("@")[1:]) if text else ()


def _is_optional(text: str, at: int) -> bool:
    """Whether the parenthesis there ends in `)?`."""
    depth = 0
    for n in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 0:
            return text.startswith(")?", n)
    return False


def find_slots(parts: Sequence[Part]) -> Iterator[Slot]:
    """Yield the slots of a template, from left to right."""
    for part in parts:
        if isinstance(part, Slot):
            yield part
        elif not isinstance(part, str):
            yield from find_slots(part.parts)


def find_choices(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the choices that a template leaves, from left to right, outer before inner."""
    for part in parts:
        if isinstance(part, OptionalPart) and part.choice:
            yield part.choice
        if isinstance(part, OptionalPart | MarkedRegion):
            yield from find_choices(part.parts)


def resolve_choices(parts: Sequence[Part], chosen: frozenset[str]) -> tuple[Part, ...]:
    """Return the template with optional parts of the chosen ones only; those that entries decide stay optional."""
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, OptionalPart) and part.choice:
            if part.choice in chosen:
                kept += resolve_choices(part.parts, chosen)
        elif isinstance(part, MarkedRegion):
            kept.append(MarkedRegion(part.region, resolve_choices(part.parts, chosen)))
        else:
            kept.append(part)
    return tuple(kept)
