"""The other forms of an agreeing word: those that differ from it in one feature and in nothing else."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .candidates import AGREEMENT_FEATURES, FINITE_FORM, PARTICLE_FEATURE, SUBJECT_PREFIX, THIRD_PERSON
from .trees import Features, Token

VERBAL_UPOS = frozenset(("VERB", "AUX"))
TURKIC_LANGUAGES = frozenset(("tur", "aze", "crh"))  # written with a dotless i beside the dotted one
NOMINAL_ENTRY_UPOS = frozenset(("NOUN", "PRON"))
NOMINATIVE = {"Case": frozenset(("Nom",))}
FINITE_DEFAULTS = {"Mood": frozenset(("Ind",)), "Voice": frozenset(("Act",))}
NO_VALUES: frozenset[str] = frozenset()


class FormEntry(Protocol):
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


class FormLookup(Protocol):
    """What is asked of the forms: the entries of a form, and those of a lemma."""

    def find_by_form(self, form: str) -> Iterable[FormEntry]: ...
    def find_by_lemma(self, lemma: str) -> Iterable[FormEntry]: ...


@dataclass(frozen=True, slots=True)
class Swap:
    """Another form of a word and its values of the feature, or why there is none."""

    form: str = ""
    values: frozenset[str] = NO_VALUES
    fault: str = ""


def is_compatible(one: Features, other: Features, except_feature: str = "") -> bool:
    """Whether two sets of features contradict each other nowhere, or only in `except_feature`; what is absent is any value."""
    return all(name not in other or name == except_feature or not values.isdisjoint(other[name]) for name, values in one.items())


def add_finite_defaults(features: Features) -> Features:
    """Return the features of a word with what a finite one is where it does not say so: indicative and active."""
    return {**FINITE_DEFAULTS, **features} if FINITE_FORM in features.get("VerbForm", ()) else features


@dataclass
class Inflector:
    """Finds the other forms of words in the forms of a language, the same words once.

    `feature` is the one that changes.
    """

    forms: FormLookup
    feature: str
    language: str = ""
    _swaps_by_word: dict[tuple[object, ...], list[Swap]] = field(default_factory=dict)
    _features_by_id: dict[int, Features] = field(default_factory=dict)

    def find_swaps(self, word: Token, features: Features, particle: str = "") -> list[Swap]:
        """Return the other forms of a word whose features are these (`transfer_features`), or one `Swap` with a fault.

        `particle` is that of a separable verb, where it stands apart from it.
        """
        key = word.form, word.lemma, particle, frozenset(features.items())
        if key not in self._swaps_by_word:
            self._swaps_by_word[key] = self._search_swaps(word, add_finite_defaults(features), particle)
        return self._swaps_by_word[key]

    def _search_swaps(self, word: Token, features: Features, particle: str) -> list[Swap]:
        here = features.get(self.feature, NO_VALUES)
        if not here:
            return [Swap(fault="undefined")]
        lemmas = self._find_lemmas(word, features, particle)
        if not lemmas:
            return [Swap(fault="no-entry")]
        others = [
            entry
            for lemma, is_separate in lemmas
            for entry in self._filter_verbal(self.forms.find_by_lemma(lemma), is_separate)
            if is_compatible(features, self._complete_features(entry), self.feature)
            and here.isdisjoint(self._complete_features(entry).get(self.feature, here))
        ]
        if not others:
            return [Swap(fault="no-form")]
        # An entry that does not state the person may be any of the verb: those that state most are nearest.
        most = max(self._count_stated_features(entry, features) for entry in others)
        forms = dict.fromkeys(
            match_capitals(entry.form, word.form, self.language)
            for entry in others
            if self._count_stated_features(entry, features) == most
        )
        return [self._build_swap(form, word, features, here) for form in forms]

    def _find_lemmas(self, word: Token, features: Features, particle: str) -> list[tuple[str, bool]]:
        """Return the lemmas whose entries may be other forms of a word, each with whether its particle stands apart.

        The tree's own lemma comes before all others; of a verb without its particle also the lemma without it.
        """
        own = {word.lemma, word.lemma.replace("_", "")}
        if particle:
            base = word.lemma[len(particle) :].lstrip("_")
            tried = [(lemma, True) for lemma in own] + [(base, False)]
        else:
            tried = [(lemma, False) for lemma in own]
        entries = {is_separate: self._filter_verbal(self.forms.find_by_form(word.form), is_separate) for _, is_separate in tried}
        known = {
            (entry.lemma, is_separate)
            for is_separate in entries
            for entry in entries[is_separate]
            if is_compatible(features, self._complete_features(entry))
        }
        return sorted(known.intersection(tried)) or sorted(known)

    def _build_swap(self, form: str, word: Token, features: Features, here: frozenset[str]) -> Swap:
        if form == word.form:
            return Swap(form, fault="same-form")
        if _find_script(form) != _find_script(word.form):
            return Swap(form, fault="other-script")
        if len(form.split()) != 1:
            return Swap(form, fault="several-words")
        readings = [
            self._complete_features(e)
            for e in self._filter_verbal(self.forms.find_by_form(form))
            if is_compatible(features, self._complete_features(e), self.feature)
        ]
        if any(self.feature not in reading for reading in readings):
            return Swap(form, fault="undefined")
        values = frozenset().union(*(reading[self.feature] for reading in readings))
        return Swap(form, values, "values-overlap" if values & here else "")

    def _filter_verbal(self, entries: Iterable[FormEntry], is_separate: bool | None = None) -> list[FormEntry]:
        return [e for e in entries if e.upos in VERBAL_UPOS and is_separate in (None, PARTICLE_FEATURE in e.features)]

    def _count_stated_features(self, entry: FormEntry, features: Features) -> int:
        return sum(
            name in features and name in self._complete_features(entry) for name in AGREEMENT_FEATURES if name != self.feature
        )

    def _complete_features(self, entry: FormEntry) -> Features:
        """Return the features of an entry with those that it has from its subjects, under one name."""
        known = self._features_by_id.get(id(entry.features))
        if known is None:
            known = add_finite_defaults({name.removeprefix(SUBJECT_PREFIX): values for name, values in entry.features.items()})
            self._features_by_id[id(entry.features)] = known
        return known


def find_subject_values(subject: Token, feature: str, forms: FormLookup) -> list[frozenset[str] | None]:
    """Return the values of a feature that each reading of a subject states, in the nominative; None for one that states none.

    The readings are its own features and the entries of its form, or corrections by hand alone where there are some. A noun is of
    the third person.
    """
    entries = [
        e for e in forms.find_by_form(subject.form) if e.upos in NOMINAL_ENTRY_UPOS and is_compatible(NOMINATIVE, e.features)
    ]
    if corrected := [entry for entry in entries if entry.source == "patch"]:
        return [entry.features.get(feature) for entry in corrected]
    own = _get_value(subject.upos, subject.features, feature)
    return [own, *(_get_value(entry.upos, entry.features, feature) for entry in entries)]


def find_word_values(word: Token, feature: str, forms: FormLookup) -> list[frozenset[str] | None]:
    """Return the values of a feature that each reading of an agreeing word states; None for one that states none."""
    features = add_finite_defaults(word.features)
    entries = (
        e
        for e in forms.find_by_form(word.form)
        if e.upos in VERBAL_UPOS and is_compatible(features, add_finite_defaults(e.features), feature)
    )
    return [word.features.get(feature), *(entry.features.get(feature) for entry in entries)]


def _get_value(upos: str, features: Mapping[str, frozenset[str]], feature: str) -> frozenset[str] | None:
    return features.get(feature, THIRD_PERSON if feature == "Person" and upos == "NOUN" else None)


def _find_script(form: str) -> str:
    """Return the script of a form's first letter, as Unicode names it."""
    return next((unicodedata.name(letter, "").partition(" ")[0] for letter in form if letter.isalpha()), "")


def match_capitals(form: str, word: str, language: str = "") -> str:
    """Return a form with the capitals of the word in whose place it stands: of its first letter, or of all of several.

    >>> match_capitals("zijn", "Is"), match_capitals("zijn", "IS"), match_capitals("McDonald", "x")
    ('Zijn', 'ZIJN', 'mcDonald')
    """

    def upper(text: str) -> str:
        return (text.replace("i", "İ") if language in TURKIC_LANGUAGES else text).upper()

    if len(word) > 1 and word.isupper():
        return upper(form)
    first = form[:1]
    if word[:1].isupper():
        first = upper(first)
    elif word[:1].islower():
        first = first.lower()
    return first + form[1:]
