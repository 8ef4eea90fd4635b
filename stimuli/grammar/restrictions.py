"""Restrictions on entries: `number=sg & gender=m/n | !animate`, read against the features that a grammar declares."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .faults import Fault, build_unknown_fault

YES = "yes"
FREE_FEATURES = ("lemma", "form")  # what an entry has besides features, with any value
CATEGORY = "category"
TOKEN_PATTERN = re.compile(r"\s*(?:([&|()!=/])|([^\s&|()!=/]+))")

Features = Mapping[str, frozenset[str]]  # of an entry; a feature that does not apply is absent
NO_VALUES: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Vocabulary:
    """The features of a grammar with their values, and the categories of its lexicon: what a restriction may name."""

    features: Mapping[str, tuple[str, ...]]
    categories: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        features_by_value: dict[str, list[str]] = {}
        for feature, values in self.features.items():
            for value in values:
                features_by_value.setdefault(value, []).append(feature)
        object.__setattr__(self, "features_by_value", features_by_value)

    features_by_value: Mapping[str, list[str]] = field(init=False, repr=False, compare=False)

    def find_test(self, name: str) -> "FeatureTest":
        """Return the test that a bare name stands for; a name that could be two things, or none, is a `Fault`."""
        readings = []
        if name in self.categories:
            readings.append(FeatureTest(CATEGORY, frozenset([name])))
        if YES in self.features.get(name, ()):
            readings.append(FeatureTest(name, frozenset([YES])))
        readings += [FeatureTest(feature, frozenset([name])) for feature in self.features_by_value.get(name, ())]
        if len(readings) == 1:
            return readings[0]
        if readings:
            raise Fault(f"{name!r} may be {' or '.join(str(r) for r in readings)}; write which")
        if name in self.features:
            values = "/".join(self.features[name])
            raise Fault(f"{name!r} is a feature with several values; expected {name}={values}, or one of them")
        raise build_unknown_fault("feature or value", name, [*self.features, *self.features_by_value, *self.categories])

    def check_values(self, feature: str, values: Iterable[str]) -> frozenset[str]:
        """Return values of a feature after checking both."""
        values = frozenset(values)
        if feature in FREE_FEATURES:
            return values
        known = self.categories if feature == CATEGORY else self.features.get(feature)
        if known is None:
            raise build_unknown_fault("feature", feature, [*self.features, *FREE_FEATURES, CATEGORY])
        for value in sorted(values):
            if value not in known:
                raise build_unknown_fault(f"value of {feature}", value, known)
        return values


@dataclass(frozen=True)
class FeatureTest:
    """A feature has one of the values."""

    feature: str
    values: frozenset[str]

    def is_met_by(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        return not self.values.isdisjoint(features.get(self.feature, NO_VALUES))

    def iterate_tests(self) -> Iterator["FeatureTest"]:
        """Yield every test inside."""
        yield self

    def __str__(self) -> str:
        return f"{self.feature}={'/'.join(sorted(self.values))}"


@dataclass(frozen=True)
class Not:
    """The part does not hold, which includes that its feature does not apply."""

    part: "Restriction"

    def is_met_by(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        return not self.part.is_met_by(features)

    def iterate_tests(self) -> Iterator[FeatureTest]:
        """Yield every test inside."""
        yield from self.part.iterate_tests()


@dataclass(frozen=True)
class And:
    """All parts hold; without parts, anything does (`*`)."""

    parts: tuple["Restriction", ...] = ()

    def is_met_by(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        for part in self.parts:  # noqa: SIM110 - asked a hundred thousand times; `all` takes twice as long
            if not part.is_met_by(features):
                return False
        return True

    def iterate_tests(self) -> Iterator[FeatureTest]:
        """Yield every test inside."""
        for part in self.parts:
            yield from part.iterate_tests()


@dataclass(frozen=True)
class Or:
    """One of the parts holds."""

    parts: tuple["Restriction", ...]

    def is_met_by(self, features: Features) -> bool:
        """Whether an entry with these features passes."""
        return any(part.is_met_by(features) for part in self.parts)

    def iterate_tests(self) -> Iterator[FeatureTest]:
        """Yield every test inside."""
        for part in self.parts:
            yield from part.iterate_tests()


Restriction = FeatureTest | Not | And | Or
NO_RESTRICTION = And()


def read_restriction(text: str, vocabulary: Vocabulary) -> Restriction:
    """Return a restriction as written; anything unknown in it is a `Fault`.

    >>> vocabulary = Vocabulary({"number": ("sg", "pl"), "animate": ("yes", "no")}, frozenset(["N"]))
    >>> read_restriction("N & sg & !animate", vocabulary).is_met_by({"category": frozenset(["N"]), "number": frozenset(["sg"])})
    True
    """
    if text.strip() == "*":
        return NO_RESTRICTION
    tokens = [match[1] or match[2] for match in TOKEN_PATTERN.finditer(text.strip())]
    restriction, rest = _read_disjunction(tokens, vocabulary, text)
    if rest:
        raise Fault(f"{rest[0]!r} is not expected in {text!r}; tests are joined by & and |")
    return restriction


def _read_disjunction(tokens: list[str], vocabulary: Vocabulary, text: str) -> tuple[Restriction, list[str]]:
    part, rest = _read_conjunction(tokens, vocabulary, text)
    parts = [part]
    while rest[:1] == ["|"]:
        part, rest = _read_conjunction(rest[1:], vocabulary, text)
        parts.append(part)
    return (parts[0] if len(parts) == 1 else Or(tuple(parts))), rest


def _read_conjunction(tokens: list[str], vocabulary: Vocabulary, text: str) -> tuple[Restriction, list[str]]:
    part, rest = _read_test(tokens, vocabulary, text)
    parts = [part]
    while rest[:1] == ["&"]:
        part, rest = _read_test(rest[1:], vocabulary, text)
        parts.append(part)
    return (parts[0] if len(parts) == 1 else And(tuple(parts))), rest


def _read_test(tokens: list[str], vocabulary: Vocabulary, text: str) -> tuple[Restriction, list[str]]:
    if tokens[:1] == ["!"]:
        part, rest = _read_test(tokens[1:], vocabulary, text)
        return Not(part), rest
    if tokens[:1] == ["("]:
        part, rest = _read_disjunction(tokens[1:], vocabulary, text)
        if rest[:1] != [")"]:
            raise Fault(f"a parenthesis is not closed in {text!r}")
        return part, rest[1:]
    if not tokens or tokens[0] in "&|)=/":
        got = repr(tokens[0]) if tokens else "the end"
        raise Fault(f"{got} in {text!r}; expected a test as number=sg, !animate or N")
    name, rest = tokens[0], tokens[1:]
    if rest[:1] != ["="]:
        return vocabulary.find_test(name), rest
    values, rest = rest[1:2], rest[2:]
    while rest[:1] == ["/"]:
        values, rest = values + rest[1:2], rest[2:]
    if not values or any(value in "&|()!=/" for value in values):
        raise Fault(f"a value is missing after {name}= in {text!r}")
    return FeatureTest(name, vocabulary.check_values(name, values)), rest


def is_violated_in(restriction: Restriction, features: Features, violated_features: Iterable[str], vocabulary: Vocabulary) -> bool:
    """Whether the restriction fails, and would hold if the features `violated_features` had other values, all else being as it is.

    >>> vocabulary = Vocabulary({"number": ("sg", "pl"), "gender": ("m", "f")})
    >>> himself = read_restriction("sg & m", vocabulary)
    >>> herself = {"number": frozenset(["sg"]), "gender": frozenset(["f"])}
    >>> [is_violated_in(himself, herself, [feature], vocabulary) for feature in ("gender", "number")]
    [True, False]
    """
    if restriction.is_met_by(features):
        return False
    violated_features = list(violated_features)
    values = [[NO_VALUES, *(frozenset([value]) for value in vocabulary.features.get(f, ()))] for f in violated_features]
    return any(
        restriction.is_met_by({**features, **dict(zip(violated_features, choice, strict=True))})
        for choice in itertools.product(*values)
    )
