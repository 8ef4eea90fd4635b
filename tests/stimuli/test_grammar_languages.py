"""The grammars that come with the package: every paradigm has pairs, and what it makes passes `check`."""

import itertools
from importlib.resources import files
from pathlib import Path

import pytest

from gardenpath import stimuli
from gardenpath.stimuli.grammar.generation import generate
from gardenpath.stimuli.grammar.grammar_files import read_grammar
from gardenpath.stimuli.grammar.grammars import Grammar

LANGUAGES = Path(str(files("gardenpath.stimuli.grammar") / "languages"))
# Suijkerbuijk et al. (2025, doi 10.1162/COLI.a.00559), Table 1
PHENOMENA = """adpositional_phrases adverbial_modification anaphor_agreement argument_structure auxiliaries binding_principle_a
complementive crossing_dependencies determiners extraposition finite_argument_clause infinitival_argument_clause nominalization
parasitic_gaps passive quantifiers r_words relativization topicalization verb_second wh_movement wh_movement_restrictions"""
VOWELS = {"a": "aı", "ı": "aı", "o": "au", "u": "au", "e": "ei", "i": "ei", "ö": "eü", "ü": "eü"}  # a suffix's two kinds of vowel


def grammar_of(language: str) -> Grammar:
    return read_grammar(LANGUAGES / language / f"{language}.toml")


@pytest.mark.parametrize(("language", "lemmas", "paradigms", "least"), [("nl", 150, 22, 1000), ("tr", 100, 3, 10_000)])
def test_the_paradigms_of_a_language_make_pairs_that_pass_the_check(language, lemmas, paradigms, least):
    grammar = grammar_of(language)
    assert len({(entry.category, entry.lemma) for entry in grammar.entries}) >= lemmas
    assert len(grammar.paradigms) == paradigms
    made = generate(grammar, 4, seed=1)
    assert {counted.paradigm: counted.total for counted in made.counts if counted.total < least} == {}
    assert [finding for finding in stimuli.check(made.materials, rules="blimp-nl") if finding.severity == "error"] == []
    for item in made.materials.items:
        good, bad = item.sentences.values()
        assert good.text != bad.text
        assert len(good.text.split()) == len(bad.text.split())


def test_dutch_has_a_paradigm_for_each_phenomenon_of_blimp_nl():
    assert sorted(rule.phenomenon for rule in grammar_of("nl").paradigms.values()) == sorted(PHENOMENA.split())


def test_dutch_nouns_have_the_article_of_their_gender():
    for item in generate(grammar_of("nl"), 40, seed=1, paradigms=["determiner_gender"]).materials.items:
        good, bad = (sentence.text.split() for sentence in item.sentences.values())
        assert {good[0], bad[0]} in ({"De", "Het"}, {"Deze", "Dit"}, {"Die", "Dat"})
        neuter = good[2] in {"meisje", "kind", "nichtje", "neefje"}
        assert (good[0] in {"Het", "Dit", "Dat"}) == neuter


def test_turkish_forms_keep_vowel_harmony():
    """Written against the rule, not the paradigm: after a stem's last vowel each suffix vowel is one of the two it allows."""
    grammar = grammar_of("tr")
    loans = {"saat"}  # which harmonise as if their last vowel were a front one
    for entry in grammar.entries:
        if entry.category not in ("N", "V") or entry.lemma in loans:
            continue
        lemma, form = (text.split()[-1] for text in (entry.lemma, entry.form))
        shared = sum(1 for _ in itertools.takewhile(lambda letters: letters[0] == letters[1], zip(lemma, form, strict=False)))
        stem_vowels = sum(letter in VOWELS for letter in form[:shared])
        vowels = [letter for letter in form if letter in VOWELS]
        for before, after in itertools.pairwise(vowels[max(stem_vowels - 1, 0) :]):
            assert after in VOWELS[before], entry
