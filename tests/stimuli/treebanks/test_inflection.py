"""Other forms of a word: the right ones, and a reason where there is none."""

from typing import NamedTuple

import pytest

from gardenpath.stimuli.treebanks.candidates import SEPARATE_PARTICLE, SUBJECT_PREFIX
from gardenpath.stimuli.treebanks.inflection import Inflector, Swap, find_subject_values, match_capitals
from gardenpath.stimuli.treebanks.trees import Features, Token, parse_features


class Entry(NamedTuple):
    lemma: str
    form: str
    upos: str
    features: Features
    source: str = "trees"


class Forms:
    """Entries in a list, looked up one after the other."""

    def __init__(self, *lines: str) -> None:
        cells = [line.split() for line in lines]
        self.entries = [Entry(lemma, form, upos, parse_features(features)) for lemma, form, upos, features in cells]

    def find_by_form(self, form: str) -> list[Entry]:
        return [e for e in self.entries if e.form in (form, form[:1].lower() + form[1:])]

    def find_by_lemma(self, lemma: str) -> list[Entry]:
        return [e for e in self.entries if e.lemma == lemma]


def word(form: str, lemma: str, features: str, upos: str = "VERB") -> Token:
    return Token(1, form, lemma, upos, parse_features(features), 0, "root", 0, len(form), None)


PRESENT = "VerbForm=Fin|Tense=Pres"
BE = Forms(
    f"be is AUX Number=Sing|Person=3|{PRESENT}",
    f"be am AUX Number=Sing|Person=1|{PRESENT}",
    f"be are AUX Number=Sing|Person=2|{PRESENT}",
    f"be are AUX Number=Plur|{PRESENT}",
    "be was AUX Number=Sing|Person=1,3|VerbForm=Fin|Tense=Past",
    "be were AUX Number=Plur|VerbForm=Fin|Tense=Past",
    "be be AUX VerbForm=Inf",
)


def found(forms: Forms, feature: str, token: Token, particle: str = "") -> set[tuple[str, str, str]]:
    swaps: list[Swap] = Inflector(forms, feature).find_swaps(token, token.features, particle)
    return {(swap.form, ",".join(sorted(swap.values)), swap.fault) for swap in swaps}


def test_all_other_values_give_pairs() -> None:
    """He is: are of number; am and are of person, and only what differs in the person alone."""
    token = word("is", "be", f"Number=Sing|Person=3|{PRESENT}")
    assert found(BE, "Number", token) == {("are", "Plur", "")}
    assert found(BE, "Person", token) == {("am", "1", ""), ("are", "2", "")}
    assert found(BE, "Number", word("Is", "be", f"Number=Sing|Person=3|{PRESENT}")) == {("Are", "Plur", "")}


def test_a_form_of_several_values_states_them() -> None:
    forms = Forms(f"run runs VERB Number=Sing|Person=3|{PRESENT}", f"run run VERB Number=Sing|Person=1,2|{PRESENT}")
    assert found(forms, "Person", word("runs", "run", f"Number=Sing|Person=3|{PRESENT}")) == {("run", "1,2", "")}


@pytest.mark.parametrize(
    ("lines", "token", "expected"),
    [
        ([], "sees see Number=Sing", {("", "", "no-entry")}),
        (["see sees VERB Number=Sing"], "sees see Number=Sing", {("", "", "no-form")}),
        (["see sees VERB Number=Sing"], "sees see Person=3", {("", "", "undefined")}),
        (["put put VERB Number=Sing", "put put VERB Number=Plur"], "put put Number=Sing", {("put", "", "same-form")}),
        (["see sees VERB Number=Sing", "see see VERB Number=Plur", "see see VERB Number=Sing"], "sees see Number=Sing", {("see", "Plur,Sing", "values-overlap")}),
        (["see sees VERB Number=Sing", "see see VERB Number=Plur", "see see VERB Person=3"], "sees see Number=Sing", {("see", "", "undefined")}),
        (["see sees VERB Number=Sing", "see see\u00a0to VERB Number=Plur"], "sees see Number=Sing", {("see\u00a0to", "", "several-words")}),
        (["see sees VERB Number=Sing|Tense=Pres", "see saw VERB Number=Plur|Tense=Past"], "sees see Number=Sing|Tense=Pres", {("", "", "no-form")}),
    ],
    ids=["no entry", "no form", "undefined", "same form", "overlap", "any value", "several words", "another tense"],
)  # fmt: skip
def test_every_rejection_has_its_reason(lines: list[str], token: str, expected: set[tuple[str, str, str]]) -> None:
    lines = [line.replace("see\u00a0to", "see_to") for line in lines]
    forms = Forms(*lines)
    forms.entries = [entry._replace(form=entry.form.replace("see_to", "see\u00a0to")) for entry in forms.entries]
    assert found(forms, "Number", word(*token.split())) == expected


def test_an_imperative_is_no_reading_of_an_indicative() -> None:
    """Dutch werkt is also an old imperative of the plural; a finite verb without mood is an indicative."""
    forms = Forms(
        "werken werkt VERB Mood=Ind|Number=Sing|Person=3|VerbForm=Fin",
        "werken werkt VERB Mood=Imp|Number=Plur|VerbForm=Fin",
        "werken werken VERB Mood=Ind|Number=Plur|VerbForm=Fin",
    )
    assert found(forms, "Number", word("werken", "werken", "Number=Plur|Person=3|VerbForm=Fin")) == {("werkt", "Sing", "")}


def test_of_forms_that_do_not_say_the_person_those_that_do_are_nearer() -> None:
    """Dutch trees have no person: is has it from its subjects, ben has none here, and the word's own is from its subject too."""
    forms = Forms(
        f"zijn zijn AUX Number=Plur|{PRESENT}", f"zijn is AUX Number=Sing|{PRESENT}", f"zijn ben AUX Number=Sing|{PRESENT}"
    )
    token = word("zijn", "zijn", f"Number=Plur|Person=3|{PRESENT}")
    assert found(forms, "Number", token) == {("is", "Sing", ""), ("ben", "Sing", "")}
    third = {**forms.entries[1].features, SUBJECT_PREFIX + "Person": frozenset("3")}
    forms.entries[1] = forms.entries[1]._replace(features=third)
    assert found(forms, "Number", token) == {("is", "Sing", "")}


def test_a_verb_without_its_particle_is_not_one_with_it() -> None:
    """Dutch: die voorkomen, not *die komt; ze komen voor gives komt, of the separated entry or of the plain verb."""
    forms = Forms(
        "voor_komen voorkomen VERB Number=Plur", "voor_komen komen VERB Number=Plur", "voor_komen komt VERB Number=Sing",
        "komen komen VERB Number=Plur", "komen kwam VERB Number=Sing",
    )  # fmt: skip
    forms.entries[1:3] = [entry._replace(features={**entry.features, **SEPARATE_PARTICLE}) for entry in forms.entries[1:3]]
    assert found(forms, "Number", word("voorkomen", "voor_komen", "Number=Plur")) == {("", "", "no-form")}
    assert found(forms, "Number", word("komen", "voor_komen", "Number=Plur"), "voor") == {
        ("komt", "Sing", ""),
        ("kwam", "Sing", ""),
    }


def test_a_subject_may_be_what_any_of_its_forms_says() -> None:
    forms = Forms("sheep sheep NOUN Number=Sing", "sheep sheep NOUN Number=Plur", "sie sie PRON Case=Acc|Number=Plur|Person=3")
    assert find_subject_values(word("sheep", "sheep", "Number=Sing", "NOUN"), "Number", forms) == [{"Sing"}, {"Sing"}, {"Plur"}]
    assert find_subject_values(word("dog", "dog", "Number=Sing", "NOUN"), "Person", forms) == [{"3"}]
    assert find_subject_values(word("sie", "sie", "Case=Nom|Number=Sing", "PRON"), "Number", forms) == [
        {"Sing"}
    ]  # Acc is no subject
    assert find_subject_values(word("die", "die", "_", "PRON"), "Number", forms) == [None]  # any
    forms.entries.append(Entry("hij", "hij", "PRON", parse_features("Number=Sing"), "patch"))
    assert find_subject_values(word("hij", "hij", "_", "PRON"), "Number", forms) == [{"Sing"}]  # a correction by hand decides


@pytest.mark.parametrize(
    ("form", "before", "language", "expected"),
    [
        ("zijn", "is", "nld", "zijn"), ("zijn", "Is", "nld", "Zijn"), ("zijn", "IS", "nld", "ZIJN"), ("mcDonald", "X", "eng", "McDonald"),
        ("istiyor", "İSTEDİ", "tur", "İSTİYOR"), ("istiyor", "Istedi", "tur", "İstiyor"), ("są", "Jest", "pol", "Są"), ("он", "Она", "rus", "Он"),
        ("אני", "הוא", "heb", "אני"),
    ],
)  # fmt: skip
def test_a_form_is_written_as_the_word_was(form: str, before: str, language: str, expected: str) -> None:
    assert match_capitals(form, before, language) == expected
