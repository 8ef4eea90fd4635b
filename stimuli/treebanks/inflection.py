"""The other forms of an agreeing word: those that differ from it in one feature and in nothing else."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .candidates import AGREEING, FINITE, OF_SUBJECT, PARTICLE, THIRD
from .trees import Features, Token

VERBAL = frozenset(("VERB", "AUX"))
TURKIC = frozenset(("tur", "aze", "crh"))  # written with a dotless i beside the dotted one
NOMINAL_ENTRIES = frozenset(("NOUN", "PRON"))
NOMINATIVE = {"Case": frozenset(("Nom",))}
PLAIN = {"Mood": frozenset(("Ind",)), "Voice": frozenset(("Act",))}
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
    @property
    def source(self) -> str: ...


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
    return all(name not in other or name == but or not values.isdisjoint(other[name]) for name, values in one.items())


def settled(features: Features) -> Features:
    """Return the features of a word with what a finite one is where it does not say so: indicative and active."""
    return {**PLAIN, **features} if FINITE in features.get("VerbForm", ()) else features


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

    def swaps(self, word: Token, features: Features, particle: str = "") -> list[Swap]:
        """Return the other forms of a word whose features are these (`transferred`), or one `Swap` with a fault.

        `particle` is that of a separable verb, where it stands apart from it.
        """
        key = word.form, word.lemma, particle, frozenset(features.items())
        if key not in self._found:
            self._found[key] = self._swaps(word, settled(features), particle)
        return self._found[key]

    def _swaps(self, word: Token, features: Features, particle: str) -> list[Swap]:
        here = features.get(self.feature, NOTHING)
        if not here:
            return [Swap(fault="undefined")]
        lemmas = self._lemmas(word, features, particle)
        if not lemmas:
            return [Swap(fault="no-entry")]
        others = [
            entry
            for lemma, apart in lemmas
            for entry in self._verbal(self.forms.of_lemma(lemma), apart)
            if compatible(features, self._of(entry), self.feature)
            and here.isdisjoint(self._of(entry).get(self.feature, here))
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

    def _lemmas(self, word: Token, features: Features, particle: str) -> list[tuple[str, bool]]:
        """Return the lemmas whose entries may be other forms of a word, each with whether its particle stands apart.

        The tree's own lemma comes before all others; of a verb without its particle also the lemma without it.
        """
        own = {word.lemma, word.lemma.replace("_", "")}
        if particle:
            base = word.lemma[len(particle) :].lstrip("_")
            tried = [(lemma, True) for lemma in own] + [(base, False)]
        else:
            tried = [(lemma, False) for lemma in own]
        entries = {apart: self._verbal(self.forms.of_form(word.form), apart) for _, apart in tried}
        known = {
            (entry.lemma, apart)
            for apart in entries
            for entry in entries[apart]
            if compatible(features, self._of(entry))
        }
        return sorted(known.intersection(tried)) or sorted(known)

    def _swap(self, form: str, word: Token, features: Features, here: frozenset[str]) -> Swap:
        if form == word.form:
            return Swap(form, fault="same-form")
        if _script(form) != _script(word.form):
            return Swap(form, fault="other-script")
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

    def _verbal(self, entries: Iterable[Entry], apart: bool | None = None) -> list[Entry]:
        return [e for e in entries if e.upos in VERBAL and apart in (None, PARTICLE in e.features)]

    def _stated(self, entry: Entry, features: Features) -> int:
        return sum(name in features and name in self._of(entry) for name in AGREEING if name != self.feature)

    def _of(self, entry: Entry) -> Features:
        """Return the features of an entry with those that it has from its subjects, under one name."""
        known = self._whole.get(id(entry.features))
        if known is None:
            known = settled({name.removeprefix(OF_SUBJECT): values for name, values in entry.features.items()})
            self._whole[id(entry.features)] = known
        return known


def subject_values(subject: Token, feature: str, forms: Index) -> list[frozenset[str] | None]:
    """Return the values of a feature that each reading of a subject states, in the nominative; None for one that states none.

    The readings are its own features and the entries of its form, or corrections by hand alone where there are some. A noun is of
    the third person.
    """
    entries = [
        e for e in forms.of_form(subject.form) if e.upos in NOMINAL_ENTRIES and compatible(NOMINATIVE, e.features)
    ]
    if corrected := [entry for entry in entries if entry.source == "patch"]:
        return [entry.features.get(feature) for entry in corrected]
    own = _value(subject.upos, subject.features, feature)
    return [own, *(_value(entry.upos, entry.features, feature) for entry in entries)]


def word_values(word: Token, feature: str, forms: Index) -> list[frozenset[str] | None]:
    """Return the values of a feature that each reading of an agreeing word states; None for one that states none."""
    features = settled(word.features)
    entries = (
        e for e in forms.of_form(word.form) if e.upos in VERBAL and compatible(features, settled(e.features), feature)
    )
    return [word.features.get(feature), *(entry.features.get(feature) for entry in entries)]


def _value(upos: str, features: Mapping[str, frozenset[str]], feature: str) -> frozenset[str] | None:
    return features.get(feature, THIRD if feature == "Person" and upos == "NOUN" else None)


def _script(form: str) -> str:
    """Return the script of a form's first letter, as Unicode names it."""
    return next((unicodedata.name(letter, "").partition(" ")[0] for letter in form if letter.isalpha()), "")


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
