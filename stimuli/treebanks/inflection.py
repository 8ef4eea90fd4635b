"""The other forms of an agreeing word: those that differ from it in one feature and in nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .candidates import AGREEING, OF_SUBJECT, THIRD
from .trees import Features, Token

VERBAL = frozenset(("VERB", "AUX"))
TURKIC = frozenset(("tur", "aze", "crh"))  # written with a dotless i beside the dotted one
NOTHING: frozenset[str] = frozenset()


class Entry(Protocol):
    """What is read of an entry of the forms."""

    @property
    def lemma(self) -> str: ...
    @property
    def form(self) -> str: ...
    @property
    def upos(self) -> str: ...
    @property
    def features(self) -> Features: ...


class Index(Protocol):
    """What is asked of the forms: the entries of a form, and those of a lemma."""

    def of_form(self, form: str) -> Iterable[Entry]: ...
    def of_lemma(self, lemma: str) -> Iterable[Entry]: ...


@dataclass(frozen=True, slots=True)
class Swap:
    """Another form of a word and its values of the feature, or why there is none."""

    form: str = ""
    values: frozenset[str] = NOTHING
    fault: str = ""


def compatible(one: Features, other: Features, but: str = "") -> bool:
    """Whether two sets of features contradict each other nowhere, or only in the feature `but`; what is absent is any value."""
    return all(name == but or name not in other or not values.isdisjoint(other[name]) for name, values in one.items())


@dataclass
class Inflector:
    """Finds the other forms of words in the forms of a language, the same words once.

    `feature` is the one that changes.
    """

    forms: Index
    feature: str
    language: str = ""
    _found: dict[tuple[object, ...], list[Swap]] = field(default_factory=dict)
    _whole: dict[int, Features] = field(default_factory=dict)

    def swaps(self, word: Token, features: Features) -> list[Swap]:
        """Return the other forms of a word whose features are these (`transferred`), or one `Swap` with a fault."""
        key = word.form, word.lemma, frozenset(features.items())
        if key not in self._found:
            self._found[key] = self._swaps(word, features)
        return self._found[key]

    def _swaps(self, word: Token, features: Features) -> list[Swap]:
        here = features.get(self.feature, NOTHING)
        if not here:
            return [Swap(fault="undefined")]
        known = [e for e in self._verbal(self.forms.of_form(word.form)) if compatible(features, self._of(e))]
        lemmas = {entry.lemma for entry in known}
        if not lemmas:
            return [Swap(fault="no-entry")]
        if word.lemma in lemmas:
            lemmas = {word.lemma}
        others = [
            entry
            for lemma in sorted(lemmas)
            for entry in self._verbal(self.forms.of_lemma(lemma))
            if compatible(features, self._of(entry), self.feature)
            and self.feature in self._of(entry)
            and here.isdisjoint(self._of(entry)[self.feature])
        ]
        if not others:
            return [Swap(fault="no-form")]
        # An entry that does not state the person may be any of the verb: those that state most are nearest.
        most = max(self._stated(entry, features) for entry in others)
        forms = dict.fromkeys(
            as_written(entry.form, word.form, self.language)
            for entry in others
            if self._stated(entry, features) == most
        )
        return [self._swap(form, word, features, here) for form in forms]

    def _swap(self, form: str, word: Token, features: Features, here: frozenset[str]) -> Swap:
        if form == word.form:
            return Swap(form, fault="same-form")
        if len(form.split()) != 1:
            return Swap(form, fault="several-words")
        readings = [
            self._of(e)
            for e in self._verbal(self.forms.of_form(form))
            if compatible(features, self._of(e), self.feature)
        ]
        if any(self.feature not in reading for reading in readings):
            return Swap(form, fault="undefined")
        values = frozenset().union(*(reading[self.feature] for reading in readings))
        return Swap(form, values, "values-overlap" if values & here else "")

    def _verbal(self, entries: Iterable[Entry]) -> list[Entry]:
        return [entry for entry in entries if entry.upos in VERBAL]

    def _stated(self, entry: Entry, features: Features) -> int:
        return sum(name in features and name in self._of(entry) for name in AGREEING if name != self.feature)

    def _of(self, entry: Entry) -> Features:
        """Return the features of an entry with those that it has from its subjects, under one name."""
        known = self._whole.get(id(entry.features))
        if known is None:
            known = {name.removeprefix(OF_SUBJECT): values for name, values in entry.features.items()}
            self._whole[id(entry.features)] = known
        return known


def subject_values(subject: Token, feature: str, forms: Index) -> frozenset[str] | None:
    """Return the values that a subject may have in the nominative by its form; None where an entry states none, which is any.

    A noun is of the third person.
    """
    nominative = {"Case": frozenset(("Nom",))}
    readings = [
        entry
        for entry in forms.of_form(subject.form)
        if entry.upos in ("NOUN", "PRON") and compatible(nominative, entry.features)
    ]
    values = [_value(entry.upos, entry.features, feature) for entry in readings]
    values.append(_value(subject.upos, subject.features, feature))
    return None if None in values else frozenset().union(*(value for value in values if value))


def _value(upos: str, features: Mapping[str, frozenset[str]], feature: str) -> frozenset[str] | None:
    return features.get(feature, THIRD if feature == "Person" and upos == "NOUN" else None)


def as_written(form: str, word: str, language: str = "") -> str:
    """Return a form with the capitals of the word in whose place it stands: of its first letter, or of all of several.

    >>> as_written("zijn", "Is"), as_written("zijn", "IS"), as_written("McDonald", "x")
    ('Zijn', 'ZIJN', 'mcDonald')
    """

    def upper(text: str) -> str:
        return (text.replace("i", "İ") if language in TURKIC else text).upper()

    if len(word) > 1 and word.isupper():
        return upper(form)
    first = form[:1]
    if word[:1].isupper():
        first = upper(first)
    elif word[:1].islower():
        first = first.lower()
    return first + form[1:]
