"""Restrictions on entries: `number=sg & gender=m/n | !animate`, read against the features that a grammar declares."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .faults import Fault, unknown

YES = "yes"
FREE = ("lemma", "form")  # what an entry has besides features, with any value
CATEGORY = "category"
TOKEN = re.compile(r"\s*(?:([&|()!=/])|([^\s&|()!=/]+))")

Features = Mapping[str, frozenset[str]]  # of an entry; a feature that does not apply is absent
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Vocabulary:
    """The features of a grammar with their values, and the categories of its lexicon: what a restriction may name."""

    features: Mapping[str, tuple[str, ...]]
    categories: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        owners: dict[str, list[str]] = {}
        for feature, values in self.features.items():
            for value in values:
                owners.setdefault(value, []).append(feature)
        object.__setattr__(self, "owners", owners)

    owners: Mapping[str, list[str]] = field(init=False, repr=False, compare=False)

    def test(self, name: str) -> "Test":
        """Return the test that a bare name stands for; a name that could be two things, or none, is a `Fault`."""
        readings = []
        if name in self.categories:
            readings.append(Test(CATEGORY, frozenset([name])))
        if YES in self.features.get(name, ()):
            readings.append(Test(name, frozenset([YES])))
        readings += [Test(feature, frozenset([name])) for feature in self.owners.get(name, ())]
        if len(readings) == 1:
            return readings[0]
        if readings:
            raise Fault(f"{name!r} may be {' or '.join(str(r) for r in readings)}; write which")
        if name in self.features:
            values = "/".join(self.features[name])
            raise Fault(f"{name!r} is a feature with several values; expected {name}={values}, or one of them")
        raise unknown("feature or value", name, [*self.features, *self.owners, *self.categories])

    def values(self, feature: str, values: Iterable[str]) -> frozenset[str]:
        """Return values of a feature after checking both."""
        values = frozenset(values)
        if feature in FREE:
            return values
        known = self.categories if feature == CATEGORY else self.features.get(feature)
        if known is None:
            raise unknown("feature", feature, [*self.features, *FREE, CATEGORY])
        for value in sorted(values):
            if value not in known:
                raise unknown(f"value of {feature}", value, known)
        return values


@dataclass(frozen=True)
class Test:
    """A feature has one of the values."""

    feature: str
    values: frozenset[str]

    def holds(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        return not self.values.isdisjoint(features.get(self.feature, NOTHING))

    def named(self) -> Iterator["Test"]:
        """Yield every test inside."""
        yield self

    def __str__(self) -> str:
        return f"{self.feature}={'/'.join(sorted(self.values))}"


@dataclass(frozen=True)
class Not:
    """The part does not hold, which includes that its feature does not apply."""

    part: "Restriction"

    def holds(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        return not self.part.holds(features)

    def named(self) -> Iterator[Test]:
        """Yield every test inside."""
        yield from self.part.named()


@dataclass(frozen=True)
class And:
    """All parts hold; without parts, anything does (`*`)."""

    parts: tuple["Restriction", ...] = ()

    def holds(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        for part in self.parts:  # noqa: SIM110 - asked a hundred thousand times; `all` takes twice as long
            if not part.holds(features):
                return False
        return True

    def named(self) -> Iterator[Test]:
        """Yield every test inside."""
        for part in self.parts:
            yield from part.named()


@dataclass(frozen=True)
class Or:
    """One of the parts holds."""

    parts: tuple["Restriction", ...]

    def holds(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        return any(part.holds(features) for part in self.parts)

    def named(self) -> Iterator[Test]:
        """Yield every test inside."""
        for part in self.parts:
            yield from part.named()


Restriction = Test | Not | And | Or
ANYTHING = And()


def read_restriction(text: str, vocabulary: Vocabulary) -> Restriction:
    """Return a restriction as written; anything unknown in it is a `Fault`.

    >>> vocabulary = Vocabulary({"number": ("sg", "pl"), "animate": ("yes", "no")}, frozenset(["N"]))
    >>> read_restriction("N & sg & !animate", vocabulary).holds({"category": frozenset(["N"]), "number": frozenset(["sg"])})
    True
    """
    if text.strip() == "*":
        return ANYTHING
    tokens = [match[1] or match[2] for match in TOKEN.finditer(text.strip())]
    restriction, rest = _disjunction(tokens, vocabulary, text)
    if rest:
        raise Fault(f"{rest[0]!r} is not expected in {text!r}; tests are joined by & and |")
    return restriction


def _disjunction(tokens: list[str], vocabulary: Vocabulary, text: str) -> tuple[Restriction, list[str]]:
    part, rest = _conjunction(tokens, vocabulary, text)
    parts = [part]
    while rest[:1] == ["|"]:
        part, rest = _conjunction(rest[1:], vocabulary, text)
        parts.append(part)
    return (parts[0] if len(parts) == 1 else Or(tuple(parts))), rest


def _conjunction(tokens: list[str], vocabulary: Vocabulary, text: str) -> tuple[Restriction, list[str]]:
    part, rest = _test(tokens, vocabulary, text)
    parts = [part]
    while rest[:1] == ["&"]:
        part, rest = _test(rest[1:], vocabulary, text)
        parts.append(part)
    return (parts[0] if len(parts) == 1 else And(tuple(parts))), rest


def _test(tokens: list[str], vocabulary: Vocabulary, text: str) -> tuple[Restriction, list[str]]:
    if tokens[:1] == ["!"]:
        part, rest = _test(tokens[1:], vocabulary, text)
        return Not(part), rest
    if tokens[:1] == ["("]:
        part, rest = _disjunction(tokens[1:], vocabulary, text)
        if rest[:1] != [")"]:
            raise Fault(f"a parenthesis is not closed in {text!r}")
        return part, rest[1:]
    if not tokens or tokens[0] in "&|)=/":
        got = repr(tokens[0]) if tokens else "the end"
        raise Fault(f"{got} in {text!r}; expected a test as number=sg, !animate or N")
    name, rest = tokens[0], tokens[1:]
    if rest[:1] != ["="]:
        return vocabulary.test(name), rest
    values, rest = rest[1:2], rest[2:]
    while rest[:1] == ["/"]:
        values, rest = values + rest[1:2], rest[2:]
    if not values or any(value in "&|()!=/" for value in values):
        raise Fault(f"a value is missing after {name}= in {text!r}")
    return Test(name, vocabulary.values(name, values)), rest


def violated_in(restriction: Restriction, features: Features, only: Iterable[str], vocabulary: Vocabulary) -> bool:
    """Whether the restriction fails, and would hold if the features `only` had other values, all else being as it is.

    >>> vocabulary = Vocabulary({"number": ("sg", "pl"), "gender": ("m", "f")})
    >>> himself = read_restriction("sg & m", vocabulary)
    >>> herself = {"number": frozenset(["sg"]), "gender": frozenset(["f"])}
    >>> [violated_in(himself, herself, [feature], vocabulary) for feature in ("gender", "number")]
    [True, False]
    """
    if restriction.holds(features):
        return False
    only = list(only)
    values = [[NOTHING, *(frozenset([value]) for value in vocabulary.features.get(f, ()))] for f in only]
    return any(
        restriction.holds({**features, **dict(zip(only, choice, strict=True))}) for choice in itertools.product(*values)
    )
