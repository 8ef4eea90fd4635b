"""A file of our own in the format of BLiMP's vocabulary.csv, read as a lexicon."""

import logging
from pathlib import Path

import pytest

from gardenpath import study
from gardenpath.stimuli.grammar.compilation import compile_paradigm
from gardenpath.stimuli.grammar.derivation_counts import Counts
from gardenpath.stimuli.grammar.grammar_files import read_grammar
from gardenpath.stimuli.grammar.linearisation import linearise_derivation

FOLDER = Path(__file__).parent / "grammar" / "blimp"


def pairs(name: str) -> list[tuple[str, ...]]:
    compiled = compile_paradigm(read_grammar(FOLDER / "grammar.toml"), name)
    counts = Counts().get_phrase_counts(compiled.alternatives)
    items = [linearise_derivation(compiled, counts.unrank(rank), 1) for rank in range(counts.total)]
    return [tuple(sentence.text for sentence in item.sentences.values()) for item in items]


def test_a_grammar_over_a_vocabulary_makes_the_pairs_that_its_restrictions_allow():
    assert pairs("agreement") == [
        ("The aunt mails the letter.", "The pilots mails the letter."),
        ("The uncle mails the letter.", "The pilots mails the letter."),
    ]
    assert pairs("gender") == [
        ("The aunt mailed herself.", "The aunt mailed himself."),
        ("The uncle mailed himself.", "The uncle mailed herself."),
    ]


def test_rows_become_entries_with_our_names(caplog):
    with caplog.at_level(logging.WARNING):
        entries = {entry.form: entry for entry in read_grammar(FOLDER / "grammar.toml").entries}
    assert "zyzzyva" not in entries
    assert entries["didn't"].lemma == "do"
    assert entries["mailed"].category == "TV"
    assert entries["aunt"].features["start_with_vowel"] == {"yes"}
    bare, plural = {"sg": frozenset(["no"])}, {"pl": frozenset(["yes"])}
    assert entries["∅"].demands["arg_1"].is_met_by(plural)
    assert not entries["∅"].demands["arg_1"].is_met_by(bare)
    assert entries["the"].demands["arg_1"].is_met_by({})  # other determiners restrict theirs, so this one takes any
    assert "arg_2" not in entries["the"].demands  # no determiner takes a second one
    assert "present" in caplog.text  # no column: the published file has such conditions too


def test_a_condition_that_cannot_be_read_is_named_with_its_line(tmp_path):
    text = (FOLDER / "vocabulary.csv").read_text().replace("document=1^animate=0", "document^animate=0", 1)
    (tmp_path / "vocabulary.csv").write_text(text)
    (tmp_path / "grammar.toml").write_text((FOLDER / "grammar.toml").read_text())
    with pytest.raises(study.DataError, match=r"vocabulary\.csv, line 7: 'document' in .*; expected column=value"):
        read_grammar(tmp_path / "grammar.toml")
